//! `nivis providers`.

use std::path::PathBuf;

use clap::Subcommand;
use tokio::task::block_in_place;

use crate::cli::args::StackArgs;
use crate::cli::command::Ended;
use crate::cli::report::Exit;
use crate::cli::stack;
use crate::cli::ui::Ui;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::eval::ledger::{Ledger, Question};
use crate::ir::Ir;
use crate::ops;
use crate::ops::stack::{Stack, Store};
use crate::registry::{Platform, Relock};

/// List the providers of the stack, the versions it wants and those that are locked.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(flatten)]
    stack: StackArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Choose versions and write them with the hashes of their packages to the lock file.
    ///
    /// Locked versions stay as long as the stack wants them. Entries of providers that neither the stack nor its state
    /// needs are removed.
    Lock {
        #[command(flatten)]
        stack: StackArgs,

        /// Collect hashes for this platform, such as `linux_arm64`, instead of this machine's; may be given more than once.
        #[arg(long, value_name = "PLATFORM")]
        platform: Vec<Platform>,

        /// Choose the newest versions again.
        #[arg(long)]
        upgrade: bool,
    },
    /// Write the packages of all locked providers to a folder that serves as a mirror, on disk or behind a web server.
    Mirror {
        /// The folder.
        folder: PathBuf,

        #[command(flatten)]
        stack: StackArgs,

        /// Take the packages for this platform instead of this machine's; may be given more than once.
        #[arg(long, value_name = "PLATFORM")]
        platform: Vec<Platform>,
    },
    /// Print what the providers accept as JSON, in the form of `terraform providers schema -json`.
    Schema {
        #[command(flatten)]
        stack: StackArgs,

        /// Print JSON; there is no other form.
        #[arg(long, required = true)]
        json: bool,
    },
}

pub(crate) async fn run(args: Args, ui: Ui) -> Ended {
    match args.command {
        None => list(&stack::stack(&args.stack)?, ui),
        Some(Command::Lock {
            stack,
            platform,
            upgrade,
        }) => block_in_place(|| lock(&stack::stack(&stack)?, &here_if_none(platform), upgrade, ui)),
        Some(Command::Mirror {
            folder,
            stack,
            platform,
        }) => block_in_place(|| {
            let stack = stack::stack(&stack)?;
            evaluate(&stack)?;
            lock_if_needed(&stack)?;
            let written = stack.installer.mirror(&folder, &here_if_none(platform))?;
            ui.err(&format!(
                "{} packages are in {}.\n",
                written.len(),
                folder.display()
            ));
            Ok(Exit::Success)
        }),
        Some(Command::Schema { stack, .. }) => schema(&stack::stack(&stack)?, ui).await,
    }
}

fn evaluate(stack: &Stack) -> Result<Ir, Diagnostics> {
    stack.evaluate(Question::whole(&Ledger::default(), 1), Store::Read)
}

fn here_if_none(platforms: Vec<Platform>) -> Vec<Platform> {
    if platforms.is_empty() {
        vec![Platform::current()]
    } else {
        platforms
    }
}

fn list(stack: &Stack, ui: Ui) -> Ended {
    let ir = evaluate(stack)?;
    let locked = stack.installer.locked()?;
    let listed = ops::providers::list(&ir, &locked, stack.installer.default_host());
    ui.out(&ops::providers::table(&listed));
    Ok(Exit::Success)
}

fn lock(stack: &Stack, platforms: &[Platform], upgrade: bool, ui: Ui) -> Ended {
    evaluate(stack)?;
    let keep = ops::providers::stored(&stack.read_state()?, stack.installer.default_host());
    let locked = stack.installer.relock(&Relock {
        platforms,
        upgrade,
        keep: &keep,
    })?;
    for (address, locked) in &locked.providers {
        ui.err(&format!("{address} is locked to {}\n", locked.version));
    }
    Ok(Exit::Success)
}

/// A mirror holds what is locked.
fn lock_if_needed(stack: &Stack) -> Result<(), Diagnostics> {
    let installed = stack.installer.install_all();
    installed.map_err(|error| ops::providers::problem(&error).into())
}

async fn schema(stack: &Stack, ui: Ui) -> Ended {
    let ir = evaluate(stack)?;
    let pool = stack::pool(stack)?;
    let schemas = ops::providers::schemas(&ir, &pool, stack.installer.default_host()).await;
    pool.shutdown_all().await;
    let text = serde_json::to_string(&schemas?)
        .map_err(|e| Diagnostic::error("Cannot write the schemas").detail(e.to_string()))?;
    ui.out(&format!("{text}\n"));
    Ok(Exit::Success)
}
