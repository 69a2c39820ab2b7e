//! `nivis plan`.

use crate::cli::args::{PlanArgs, StackArgs};
use crate::cli::command::Ended;
use crate::cli::report::{self, Exit};
use crate::cli::stack;
use crate::cli::ui::Ui;
use crate::ops;
use crate::ops::plan::PlanInput;
use crate::ops::stack::Store;
use crate::render;

/// Show what apply would do; changes nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    plan: PlanArgs,

    /// Plan the removal of everything in the state.
    #[arg(long, conflicts_with = "refresh_only")]
    destroy: bool,

    /// Exit with 0 if there is nothing to do, 2 if there is, 1 on errors.
    #[arg(long)]
    detailed_exitcode: bool,
}

pub(crate) async fn run(args: Args, ui: Ui) -> Ended {
    let stack = stack::stack(&args.stack)?;
    let pool = stack::pool(&stack)?;
    let options = args.plan.options(args.destroy);
    let state = stack.read_state()?;
    let builder = stack::builder(&stack)?;
    let mut phases = stack.phases(&state, Store::Read)?;
    let input = PlanInput {
        state: &state,
        pool: &pool,
        builder: &builder,
        options: &options,
    };
    let planned = ops::plan::plan(input, &mut phases).await;
    let doc = match &planned {
        Ok(plan) => Some(ops::document::plan_document(plan, &state, &pool).await),
        Err(_) => None,
    };
    pool.shutdown_all().await;
    let (plan, doc) = (planned?, doc.unwrap_or_default());
    ui.out(&render::plan(&doc, ui.out_style()));
    report::show(ui, plan.warnings);
    Ok(if args.detailed_exitcode && doc.has_changes() {
        Exit::Changes
    } else {
        Exit::Success
    })
}
