//! `nivis state`.

use clap::Subcommand;

use crate::cli::args::StackArgs;
use crate::cli::command::Ended;
use crate::cli::report::Exit;
use crate::cli::stack;
use crate::cli::ui::Ui;
use crate::diagnostic::Diagnostic;
use crate::ops;
use crate::render;

/// Look into the state.
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
}

pub(crate) async fn run(args: Args, ui: Ui) -> Ended {
    match args.command {
        Command::List { stack } => {
            let state = stack::stack(&stack)?.read_state()?;
            let lines: String = state.resources.keys().map(|id| format!("{id}\n")).collect();
            ui.out(&lines);
        }
        Command::Show { id, stack } => {
            let mut state = stack::stack(&stack)?.read_state()?;
            if !state.resources.contains_key(id.as_str()) {
                let d = Diagnostic::error("Resource not found")
                    .detail(format!("the state has no resource `{id}`"));
                let d = d.hint("`nivis state list` shows what there is");
                return Err(d
                    .suggest(&id, state.resources.keys().map(crate::addr::Id::as_str))
                    .into());
            }
            state.resources.retain(|key, _| key.as_str() == id);
            state.outputs.clear();
            let pool = stack::pool()?;
            let doc = ops::document::state_document(&state, &pool).await;
            pool.shutdown_all().await;
            ui.out(&render::state(&doc?, ui.out_style()));
        }
    }
    Ok(Exit::Success)
}
