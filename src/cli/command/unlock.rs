//! `nivis unlock`.

use crate::cli::args::StackArgs;
use crate::cli::command::Ended;
use crate::cli::report::Exit;
use crate::cli::stack;
use crate::cli::ui::Ui;

/// Break the lock of a run that cannot end. A lock whose process is gone needs no breaking.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the lock, as the message about it says.
    id: String,
    #[command(flatten)]
    stack: StackArgs,
}

pub(crate) fn run(args: &Args, ui: Ui) -> Ended {
    stack::stack(&args.stack)?.unlock(&args.id)?;
    ui.err("The lock is broken; whoever held it can write no more.\n");
    Ok(Exit::Success)
}
