//! `nivis validate`.

use crate::cli::args::StackArgs;
use crate::cli::command::Ended;
use crate::cli::report::{self, Exit};
use crate::cli::stack;
use crate::cli::ui::Ui;
use crate::eval::ledger::{Ledger, Question};
use crate::ops;
use crate::ops::stack::Store;

/// Check the configuration against itself and against the providers' schemas; touches neither state nor world.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    stack: StackArgs,
}

pub(crate) async fn run(args: Args, ui: Ui) -> Ended {
    let stack = stack::stack(&args.stack)?;
    let ledger = Ledger::default();
    let question = Question {
        compare: true,
        ..Question::whole(&ledger, 1)
    };
    let ir = stack.evaluate(question, Store::Read)?;
    let pool = stack::pool(&stack)?;
    let checked = ops::validate::validate(&ir, &pool).await;
    pool.shutdown_all().await;
    report::show(ui, checked?);
    let (resources, data) = (ir.resources.len(), ir.data_sources.len());
    ui.err(&format!(
        "The configuration is valid: {resources} resources, {data} data sources.\n"
    ));
    Ok(Exit::Success)
}
