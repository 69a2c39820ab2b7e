//! `nivis taint` and `nivis untaint`.

use crate::addr::Id;
use crate::cli::args::{LockArgs, StackArgs};
use crate::cli::command::Ended;
use crate::cli::locked::locked;
use crate::cli::report::Exit;
use crate::cli::ui::Ui;
use crate::ops;
use crate::state::Status;

/// Mark a resource to be replaced by the next apply.
#[derive(Debug, clap::Args)]
pub(crate) struct Taint {
    #[command(flatten)]
    args: Args,
}

/// Take the mark of `taint`, or of a creation that failed half-way, away from a resource.
#[derive(Debug, clap::Args)]
pub(crate) struct Untaint {
    #[command(flatten)]
    args: Args,
}

#[derive(Debug, clap::Args)]
struct Args {
    /// Id of the resource, as `state list` prints it.
    id: String,
    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    lock: LockArgs,
}

pub(crate) fn taint(taint: &Taint, ui: Ui) -> Ended {
    mark(&taint.args, ui, Status::Tainted)
}

pub(crate) fn untaint(untaint: &Untaint, ui: Ui) -> Ended {
    mark(&untaint.args, ui, Status::Ready)
}

fn mark(args: &Args, ui: Ui, status: Status) -> Ended {
    let id = Id::from(args.id.as_str());
    let (operation, done) = match status {
        Status::Tainted => ("taint", "is tainted: the next apply replaces it"),
        Status::Ready => ("untaint", "is no longer tainted"),
    };
    locked((&args.stack, &args.lock), operation, ui, |session| {
        ops::state::mark(session, &id, status)
    })?;
    ui.err(&format!("{id} {done}.\n"));
    Ok(Exit::Success)
}
