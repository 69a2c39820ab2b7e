//! `nivis state mv` and `rm`.

use std::path::PathBuf;

use crate::addr::Id;
use crate::cli::args::{LockArgs, StackArgs};
use crate::cli::locked::locked;
use crate::cli::stack;
use crate::cli::ui::Ui;
use crate::diagnostic::Diagnostics;
use crate::ops;

/// Give a resource, or all instances of it, another id. Most moves are better written down in `moved`.
#[derive(Debug, clap::Args)]
pub(super) struct Mv {
    /// Id that the resource has.
    from: String,
    /// Id that it is to have, of the same type.
    to: String,
    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    lock: LockArgs,
    /// Only say what would be done.
    #[arg(long)]
    dry_run: bool,
}

/// Forget resources: their objects stay, but nivis no longer manages them.
#[derive(Debug, clap::Args)]
pub(super) struct Rm {
    /// Ids of the resources, as `state list` prints them; one without a key stands for all instances, and `*` in one for
    /// anything.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,

    /// Flake and stack, as other commands take them without a flag.
    #[arg(long, default_value = ".", value_name = "INSTALLABLE")]
    stack: String,

    /// The Nix file of the stack, instead of a flake.
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,

    /// The attribute path of the stack in the file's value.
    #[arg(long, value_name = "PATH", requires = "file")]
    attr: Option<String>,

    #[command(flatten)]
    lock: LockArgs,

    /// Only say what would be done.
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn mv(mv: &Mv, ui: Ui) -> Result<(), Diagnostics> {
    let (from, to) = (Id::from(mv.from.as_str()), Id::from(mv.to.as_str()));
    if mv.dry_run {
        let state = stack::stack(&mv.stack)?.read_state()?;
        for (old, new) in ops::state::renamed(&state, &from, &to)?.1 {
            ui.out(&format!("would move {old} to {new}\n"));
        }
        return Ok(());
    }
    let moved = locked((&mv.stack, &mv.lock), "state mv", ui, |session| {
        ops::state::rename(session, &from, &to)
    })?;
    for (_, new) in moved {
        ui.err(&format!("{new} has its new id.\n"));
    }
    Ok(())
}

pub(super) fn rm(rm: Rm, ui: Ui) -> Result<(), Diagnostics> {
    let stack = StackArgs::named(rm.stack, rm.file, rm.attr);
    if rm.dry_run {
        let state = stack::stack(&stack)?.read_state()?;
        for id in ops::state::select(&state, &rm.ids)? {
            ui.out(&format!("would forget {id}\n"));
        }
        return Ok(());
    }
    let forgotten = locked((&stack, &rm.lock), "state rm", ui, |session| {
        ops::state::remove(session, &rm.ids)
    })?;
    for id in forgotten {
        ui.err(&format!("{id} is forgotten; its object stays.\n"));
    }
    Ok(())
}
