//! `nivis ir`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::cli::args::StackArgs;
use crate::cli::command::Ended;
use crate::cli::report::Exit;
use crate::cli::stack;
use crate::cli::ui::Ui;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::eval::ledger::{Ledger, Question};
use crate::fs;
use crate::ir;
use crate::ops::stack::Store;

/// Print the JSON document that Nix hands to nivis (docs/IR-CONTRACT.md).
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    stack: StackArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check a file with such a document.
    Check {
        /// The file; `-` is standard input.
        file: PathBuf,
    },
}

pub(crate) fn run(args: &Args, ui: Ui) -> Ended {
    match &args.command {
        None => {
            let ledger = Ledger::default();
            let question = Question::whole(&ledger, 1);
            let mut json = stack::stack(&args.stack)?.evaluate_json(question, Store::Read)?;
            json.push(b'\n');
            ui.out(&String::from_utf8_lossy(&json));
        }
        Some(Command::Check { file }) => {
            let bytes = read(file)?;
            ir::parse(&bytes).map_err(Diagnostics::from)?;
            ui.err(&format!("{}: valid\n", file.display()));
        }
    }
    Ok(Exit::Success)
}

fn read(file: &std::path::Path) -> Result<Vec<u8>, Diagnostics> {
    if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        return match std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes) {
            Ok(_) => Ok(bytes),
            Err(e) => Err(Diagnostic::error("Cannot read standard input")
                .detail(e.to_string())
                .into()),
        };
    }
    fs::read(file).map_err(|e| {
        Diagnostic::error("Cannot read the document")
            .detail(e.to_string())
            .into()
    })
}
