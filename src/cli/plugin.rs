//! nivis started under the name of its own provider: it is the plugin then.

use std::io::Write as _;
use std::process::ExitCode;

use tokio::runtime::Runtime;

use crate::builtin::{self, HostEnvironment};

/// Serves the builtin provider if this process was started under its name; `None` if it was not.
pub(super) fn run() -> Option<ExitCode> {
    if !builtin::is_provider(&std::env::args_os().next()?) {
        return None;
    }
    let environment = HostEnvironment::from_vars(std::env::vars_os());
    let served = Runtime::new()
        .map_err(|e| format!("cannot start: {e}"))
        .and_then(|runtime| {
            let served = runtime.block_on(builtin::serve_builtin(&environment));
            served.map_err(|e| e.to_string())
        });
    Some(match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    })
}
