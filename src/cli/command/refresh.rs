//! `nivis refresh`.

use crate::cli::args::{LockArgs, RefreshArgs, StackArgs};
use crate::cli::command::Ended;
use crate::cli::run::{self, Run};
use crate::cli::ui::Ui;

/// Bring the state up to what is found in the world, without changing anything there: `apply --refresh-only`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    refresh: RefreshArgs,
    #[command(flatten)]
    lock: LockArgs,

    /// Do not ask before recording what was found.
    #[arg(long)]
    auto_approve: bool,
}

pub(crate) async fn run(args: Args, ui: Ui) -> Ended {
    let options = args.refresh.options();
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
