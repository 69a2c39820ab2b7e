//! `nivis show`.

use crate::cli::args::StackArgs;
use crate::cli::command::Ended;
use crate::cli::report::Exit;
use crate::cli::stack;
use crate::cli::ui::Ui;
use crate::ops;
use crate::render;

/// Show the state: every object and output.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    stack: StackArgs,
}

pub(crate) async fn run(args: Args, ui: Ui) -> Ended {
    let stack = stack::stack(&args.stack)?;
    let state = stack.read_state()?;
    let pool = stack::pool(&stack)?;
    let doc = ops::document::state_document(&state, &pool).await;
    pool.shutdown_all().await;
    ui.out(&render::state(&doc?, ui.out_style()));
    Ok(Exit::Success)
}
