//! `nivis apply`.

use crate::cli::args::{LockArgs, PlanArgs, StackArgs};
use crate::cli::command::Ended;
use crate::cli::run::{self, Run};
use crate::cli::ui::Ui;
use crate::ops::saved;

/// Make the world match the configuration: plan, ask, carry out. Or carry out a saved plan: `nivis apply FILE`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    lock: LockArgs,

    /// Do not ask before acting.
    #[arg(long)]
    auto_approve: bool,
}

pub(crate) async fn run(args: Args, ui: Ui) -> Ended {
    if let Some(path) = args.stack.plan_file() {
        args.stack.fits_saved_plan()?;
        args.plan.fits_saved_plan()?;
        let mut file = saved::load(&path)?;
        file.options.parallelism = args.plan.parallelism();
        return run::saved(file, &args.stack, args.lock, ui).await;
    }
    let options = args.plan.options(false);
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
