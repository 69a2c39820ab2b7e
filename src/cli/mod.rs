//! Flags, environment, output, exit codes.

mod args;
mod command;
mod env;
mod interrupt;
mod locked;
mod plugin;
mod progress;
mod report;
mod run;
mod stack;
mod ui;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::report::Exit;
use self::ui::Ui;

/// Nix-native infrastructure: declares resources in Nix, drives unmodified Terraform and OpenTofu providers.
#[derive(Debug, Parser)]
#[command(name = "nivis", version, about, max_term_width = 100)]
struct Cli {
    /// Plain text, no colours; setting `NO_COLOR` does the same.
    #[arg(long, global = true)]
    no_color: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Plan(command::plan::Args),
    Apply(command::apply::Args),
    Destroy(command::destroy::Args),
    Refresh(command::refresh::Args),
    Show(command::show::Args),
    Output(command::output::Args),
    State(command::state::Args),
    Import(command::import::Args),
    Taint(command::taint::Taint),
    Untaint(command::taint::Untaint),
    Validate(command::validate::Args),
    Ir(command::ir::Args),
    Graph(command::graph::Args),
    Providers(command::providers::Args),
    Unlock(command::unlock::Args),
}

/// Runs the command line of this process; returns its exit code.
///
/// Started under the name `terraform-provider-builtin`, the program is that provider instead.
pub fn run() -> ExitCode {
    if let Some(exit) = plugin::run() {
        return exit;
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let failed = error.use_stderr();
            drop(error.print());
            return if failed {
                Exit::Usage.into()
            } else {
                Exit::Success.into()
            };
        }
    };
    let ui = Ui::new(cli.no_color || env::no_color());
    env::logging(ui);
    #[cfg(feature = "test-fakes")]
    if let Err(problem) = env::fault() {
        ui.err(&format!("error: NIVIS_FAULT: {problem}\n"));
        return Exit::Usage.into();
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => {
            ui.err(&format!("error: cannot start the runtime: {error}\n"));
            return Exit::Failure.into();
        }
    };
    let ended = runtime.block_on(cli.command.run(ui));
    // Blocking work of an abandoned operation must not keep the process alive.
    runtime.shutdown_background();
    match ended {
        Ok(exit) => exit.into(),
        Err(diagnostics) => {
            report::show(ui, diagnostics);
            Exit::Failure.into()
        }
    }
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
}

impl Command {
    async fn run(self, ui: Ui) -> command::Ended {
        match self {
            Self::Plan(args) => command::plan::run(args, ui).await,
            Self::Apply(args) => command::apply::run(args, ui).await,
            Self::Destroy(args) => command::destroy::run(args, ui).await,
            Self::Refresh(args) => command::refresh::run(args, ui).await,
            Self::Show(args) => command::show::run(args, ui).await,
            Self::Output(args) => command::output::run(&args, ui),
            Self::State(args) => command::state::run(args, ui).await,
            Self::Import(args) => command::import::run(args, ui).await,
            Self::Taint(args) => command::taint::taint(&args, ui),
            Self::Untaint(args) => command::taint::untaint(&args, ui),
            Self::Validate(args) => command::validate::run(args, ui).await,
            Self::Ir(args) => command::ir::run(&args, ui),
            Self::Graph(args) => command::graph::run(&args, ui),
            Self::Providers(args) => command::providers::run(args, ui).await,
            Self::Unlock(args) => command::unlock::run(&args, ui),
        }
    }
}
