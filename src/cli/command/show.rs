//! `nivis show`.

use std::path::Path;

use crate::cli::args::StackArgs;
use crate::cli::command::Ended;
use crate::cli::report::Exit;
use crate::cli::stack;
use crate::cli::ui::Ui;
use crate::ops;
use crate::ops::saved;
use crate::render;

/// Show the state: every object and output. Or a saved plan: `nivis show FILE`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    stack: StackArgs,
}

pub(crate) async fn run(args: Args, ui: Ui) -> Ended {
    if let Some(path) = args.stack.plan_file() {
        return plan(&args, &path, ui).await;
    }
    let stack = stack::stack(&args.stack)?;
    let state = stack.read_state()?;
    let pool = stack::pool(&stack)?;
    let doc = ops::document::state_document(&state, &pool).await;
    pool.shutdown_all().await;
    ui.out(&render::state(&doc?, ui.out_style()));
    Ok(Exit::Success)
}

/// Shows a saved plan. Its providers are asked for their schemas only.
async fn plan(args: &Args, path: &Path, ui: Ui) -> Ended {
    args.stack.fits_saved_plan()?;
    let file = saved::load(path)?;
    let stack = stack::stack(&args.stack.of_plan(&file.origin))?;
    stack.want(&file.plan.ir)?;
    let pool = stack::pool(&stack)?;
    let doc = ops::document::plan_document(&file.plan, &file.state, &pool).await;
    pool.shutdown_all().await;
    ui.out(&render::plan(&doc, ui.out_style()));
    Ok(Exit::Success)
}
