//! `nivis state pull` and `push`: the state as a document.

use std::path::PathBuf;

use super::read_file;
use crate::cli::args::{LockArgs, StackArgs};
use crate::cli::locked::locked;
use crate::cli::stack;
use crate::cli::ui::Ui;
use crate::diagnostic::Diagnostics;
use crate::ops;

/// Print the state as it is stored. Sensitive values are in it.
#[derive(Debug, clap::Args)]
pub(super) struct Pull {
    #[command(flatten)]
    stack: StackArgs,
}

/// Put a state in the place of the stack's own: a later version of it, as `pull` printed it and you changed it.
///
/// Raise its `serial`. It must have the lineage of the present state, unless there is none yet.
#[derive(Debug, clap::Args)]
pub(super) struct Push {
    /// The state.
    state: PathBuf,

    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    lock: LockArgs,

    /// Replace the present state even by an older version of it, or by one of another lineage. It is kept as a backup.
    #[arg(long)]
    force: bool,
}

pub(super) fn pull(pull: &Pull, ui: Ui) -> Result<(), Diagnostics> {
    let state = stack::stack(&pull.stack)?.read_state()?;
    ui.out(&String::from_utf8_lossy(&ops::state::text(&state)?));
    Ok(())
}

pub(super) fn push(push: &Push, ui: Ui) -> Result<(), Diagnostics> {
    let text = read_file(&push.state)?;
    let state = ops::state::parse(&text, &push.state.display().to_string())?;
    let serial = locked((&push.stack, &push.lock), "state push", ui, |session| {
        ops::state::push(session, state, push.force)
    })?;
    match serial {
        Some(serial) => ui.err(&format!("The state has serial {serial} from now on.\n")),
        None => ui.err("The state is this one already.\n"),
    }
    Ok(())
}
