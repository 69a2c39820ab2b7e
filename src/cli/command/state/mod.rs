//! `nivis state`.

mod edit;
mod tfstate;
mod transfer;

use std::path::Path;

use clap::Subcommand;

use crate::cli::args::StackArgs;
use crate::cli::command::Ended;
use crate::cli::report::Exit;
use crate::cli::stack;
use crate::cli::ui::Ui;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::render;
use crate::{fs, ops};

/// Look at the state, change it, hand it over.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(List),
    Show(Show),
    Mv(edit::Mv),
    Rm(edit::Rm),
    Pull(transfer::Pull),
    Push(transfer::Push),
    ImportTfstate(tfstate::Import),
    ExportTfstate(tfstate::Export),
}

/// List the ids of all resources, one per line.
#[derive(Debug, clap::Args)]
struct List {
    #[command(flatten)]
    stack: StackArgs,

    /// Only these: an id, the id of a repeated resource for all its instances, or a pattern in which `*` stands for
    /// anything; may be given more than once.
    #[arg(long, value_name = "ID")]
    only: Vec<String>,

    /// Print a JSON array with an object for each resource.
    #[arg(long)]
    json: bool,
}

/// Show the attributes of resources.
#[derive(Debug, clap::Args)]
struct Show {
    /// Id of the resource, as `state list` prints it, or a pattern in which `*` stands for anything.
    id: String,

    #[command(flatten)]
    stack: StackArgs,

    /// Print JSON, in the form of `terraform show -json`. Sensitive values are in it.
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: Args, ui: Ui) -> Ended {
    match args.command {
        Command::List(list) => self::list(&list, ui)?,
        Command::Show(show) => self::show(show, ui).await?,
        Command::Mv(mv) => edit::mv(&mv, ui)?,
        Command::Rm(rm) => edit::rm(rm, ui)?,
        Command::Pull(pull) => transfer::pull(&pull, ui)?,
        Command::Push(push) => transfer::push(&push, ui)?,
        Command::ImportTfstate(import) => tfstate::import(&import, ui)?,
        Command::ExportTfstate(export) => tfstate::export(&export, ui)?,
    }
    Ok(Exit::Success)
}

fn list(list: &List, ui: Ui) -> Result<(), Diagnostics> {
    let state = stack::stack(&list.stack)?.read_state()?;
    let ids = ops::state::select(&state, &list.only)?;
    if list.json {
        ui.out(&ops::state::list_json(&state, &ids));
    } else {
        let lines: String = ids.iter().map(|id| format!("{id}\n")).collect();
        ui.out(&lines);
    }
    Ok(())
}

async fn show(show: Show, ui: Ui) -> Result<(), Diagnostics> {
    let stack = stack::stack(&show.stack)?;
    let mut state = stack.read_state()?;
    let ids = ops::state::select(&state, &[show.id])?;
    state.resources.retain(|id, _| ids.contains(id));
    state.outputs.clear();
    let pool = stack::pool(&stack)?;
    let doc = ops::document::state_document(&state, &pool).await;
    pool.shutdown_all().await;
    let doc = doc?;
    if show.json {
        let text = serde_json::to_string(&doc)
            .map_err(|e| Diagnostic::error("Cannot write the state").detail(e.to_string()))?;
        ui.out(&format!("{text}\n"));
    } else {
        ui.out(&render::state(&doc, ui.out_style()));
    }
    Ok(())
}

/// A file that a flag names.
fn read_file(path: &Path) -> Result<Vec<u8>, Diagnostics> {
    let problem = |e: fs::PathError| Diagnostic::error("Cannot read a file").detail(e.to_string());
    Ok(fs::read(path).map_err(problem)?)
}
