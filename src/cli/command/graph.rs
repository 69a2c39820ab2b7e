//! `nivis graph`.

use crate::cli::args::StackArgs;
use crate::cli::command::Ended;
use crate::cli::report::Exit;
use crate::cli::stack;
use crate::cli::ui::Ui;
use crate::eval::ledger::{Ledger, Question};
use crate::json;
use crate::ops::stack::Store;
use crate::render;

/// Print the dependency graph of resources and data sources in DOT, the language of Graphviz.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    stack: StackArgs,
}

pub(crate) fn run(args: &Args, ui: Ui) -> Ended {
    let ir =
        stack::stack(&args.stack)?.evaluate(Question::whole(&Ledger::default(), 1), Store::Read)?;
    ui.out(&render::dot(&json::graph::graph(&ir)));
    Ok(Exit::Success)
}
