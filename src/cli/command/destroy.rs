//! `nivis destroy`.

use crate::cli::args::{DestroyArgs, LockArgs, StackArgs};
use crate::cli::command::Ended;
use crate::cli::run::{self, Run};
use crate::cli::ui::Ui;

/// Destroy everything in the state: plan, ask, carry out.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    destroy: DestroyArgs,
    #[command(flatten)]
    lock: LockArgs,

    /// Do not ask before acting.
    #[arg(long)]
    auto_approve: bool,
}

pub(crate) async fn run(args: Args, ui: Ui) -> Ended {
    let options = args.destroy.options();
    run::run(
        Run {
            stack: args.stack,
            lock: args.lock,
            options,
            auto_approve: args.auto_approve,
        },
        ui,
    )
    .await
}
