//! Every environment variable nivis itself reads (docs/reference/environment.md is made from this list).

use std::ffi::OsString;
use std::path::PathBuf;

use crate::cli::ui::Ui;

/// Turns colours off, whatever its value.
const NO_COLOR: &str = "NO_COLOR";
/// What to log on stderr: a level (`error` … `trace`) or `tracing` directives such as `nivis=debug,provider=info`.
const NIVIS_LOG: &str = "NIVIS_LOG";
/// Where private run files go, preferably a folder in memory.
const XDG_RUNTIME_DIR: &str = "XDG_RUNTIME_DIR";
/// Where caches go; `~/.cache` without it.
const XDG_CACHE_HOME: &str = "XDG_CACHE_HOME";
/// Home folder, for `~` in provider paths.
const HOME: &str = "HOME";
/// Name of the user, for the state lock.
const USER: &str = "USER";

#[expect(clippy::disallowed_methods, reason = "the one door to the environment")]
fn var(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Whether colours are unwanted.
pub(super) fn no_color() -> bool {
    var(NO_COLOR).is_some()
}

/// Where private run files may go, best first.
pub(super) fn run_folders() -> Vec<PathBuf> {
    let own = var(XDG_RUNTIME_DIR).map(PathBuf::from);
    own.into_iter()
        .chain([PathBuf::from("/dev/shm"), std::env::temp_dir()])
        .collect()
}

/// The home folder.
pub(super) fn home() -> Option<PathBuf> {
    var(HOME).map(PathBuf::from)
}

/// Where provider schemas are kept from run to run; `None` without a home folder.
pub(super) fn schema_cache() -> Option<PathBuf> {
    let caches = var(XDG_CACHE_HOME)
        .map(PathBuf::from)
        .or_else(|| Some(home()?.join(".cache")));
    Some(caches?.join("nivis/schemas"))
}

/// `user@host`, for the state lock.
pub(super) fn who() -> String {
    let user = var(USER)
        .and_then(|u| u.into_string().ok())
        .unwrap_or_else(|| "unknown".to_owned());
    let host = crate::fs::read(std::path::Path::new("/proc/sys/kernel/hostname")).ok();
    let host = host.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned());
    format!("{user}@{}", host.unwrap_or_else(|| "localhost".to_owned()))
}

/// Starts logging to stderr, as far as asked for.
pub(super) fn logging(ui: Ui) {
    use tracing_subscriber::EnvFilter;
    let directives = var(NIVIS_LOG)
        .and_then(|v| v.into_string().ok())
        .unwrap_or_else(|| "off".to_owned());
    let filter = EnvFilter::try_new(&directives).unwrap_or_else(|error| {
        ui.err(&format!("warning: {NIVIS_LOG}: {error}\n"));
        EnvFilter::new("off")
    });
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
}
