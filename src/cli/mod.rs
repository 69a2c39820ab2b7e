//! Flags, environment, output, exit codes.

use std::process::ExitCode;

/// Runs the command line; returns the exit code.
pub fn run() -> ExitCode {
    ExitCode::SUCCESS
}
