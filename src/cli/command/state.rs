//! `nivis state`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::addr::Id;
use crate::cli::args::{LockArgs, StackArgs};
use crate::cli::command::Ended;
use crate::cli::locked::locked;
use crate::cli::report::Exit;
use crate::cli::stack;
use crate::cli::ui::Ui;
use crate::diagnostic::Diagnostics;
use crate::ops;
use crate::render;

/// Look into the state, or change what it knows without touching the world.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the ids of all resources, one per line.
    List {
        #[command(flatten)]
        stack: StackArgs,
    },
    /// Show the attributes of one resource.
    Show {
        /// Id of the resource, as `state list` prints it.
        id: String,
        #[command(flatten)]
        stack: StackArgs,
    },
    /// Give a resource, or all instances of it, another id. Most moves are better written down in `moved`.
    Mv {
        /// Id that the resource has.
        from: String,
        /// Id that it is to have, of the same type.
        to: String,
        #[command(flatten)]
        stack: StackArgs,
        #[command(flatten)]
        lock: LockArgs,
    },
    /// Forget resources: their objects stay, but nivis no longer manages them.
    Rm(Rm),
}

#[derive(Debug, clap::Args)]
struct Rm {
    /// Ids of the resources, as `state list` prints them; one without a key stands for all instances.
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
}

pub(crate) async fn run(args: Args, ui: Ui) -> Ended {
    match args.command {
        Command::List { stack } => {
            let state = stack::stack(&stack)?.read_state()?;
            let lines: String = state.resources.keys().map(|id| format!("{id}\n")).collect();
            ui.out(&lines);
        }
        Command::Show { id, stack } => {
            let stack = stack::stack(&stack)?;
            let mut state = stack.read_state()?;
            if !state.resources.contains_key(id.as_str()) {
                return Err(ops::state::not_found(&state, &Id::from(id)));
            }
            state.resources.retain(|key, _| key.as_str() == id);
            state.outputs.clear();
            let pool = stack::pool(&stack)?;
            let doc = ops::document::state_document(&state, &pool).await;
            pool.shutdown_all().await;
            ui.out(&render::state(&doc?, ui.out_style()));
        }
        Command::Mv {
            from,
            to,
            stack,
            lock,
        } => {
            let (from, to) = (Id::from(from), Id::from(to));
            let moved = locked((&stack, &lock), "state mv", ui, |session| {
                ops::state::rename(session, &from, &to)
            })?;
            for id in moved {
                ui.err(&format!("{id} has its new id.\n"));
            }
        }
        Command::Rm(rm) => remove(rm, ui)?,
    }
    Ok(Exit::Success)
}

fn remove(rm: Rm, ui: Ui) -> Result<(), Diagnostics> {
    let ids: Vec<Id> = rm.ids.into_iter().map(Id::from).collect();
    let stack = StackArgs::named(rm.stack, rm.file, rm.attr);
    let forgotten = locked((&stack, &rm.lock), "state rm", ui, |session| {
        ops::state::remove(session, &ids)
    })?;
    for id in forgotten {
        ui.err(&format!("{id} is forgotten; its object stays.\n"));
    }
    Ok(())
}
