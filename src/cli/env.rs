//! Every environment variable nivis itself reads. `docs/reference/environment.md` is made from the constants here.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::cli::ui::Ui;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::provider::Reattach;
use crate::registry::Network;

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
/// How many states from before the last runs are kept beside a local state; 1 without it.
const NIVIS_STATE_BACKUPS: &str = "NIVIS_STATE_BACKUPS";
/// Name of the user, for the lock of the state.
const USER: &str = "USER";
/// Where providers come from instead of their registries: URLs and folders of mirrors, and the word `direct`, separated
/// by commas. The first that knows a provider counts.
const NIVIS_PROVIDER_MIRROR: &str = "NIVIS_PROVIDER_MIRROR";
/// Host of the registry that provider addresses without a host mean; `registry.opentofu.org` without it.
const NIVIS_REGISTRY: &str = "NIVIS_REGISTRY";
/// Where unpacked providers are kept; `nivis/providers` among the caches without it.
const NIVIS_PROVIDER_CACHE: &str = "NIVIS_PROVIDER_CACHE";
/// Whether evaluations of locked flakes are kept, as by `--eval-cache`: any value but `0`.
const NIVIS_EVAL_CACHE: &str = "NIVIS_EVAL_CACHE";
/// Begin of the names of variables with tokens for registries and mirrors: the host follows, `.` written `_`, `-` written
/// `__`.
const TF_TOKEN: &str = "TF_TOKEN_";
/// Proxy for HTTPS; in capitals too. `all_proxy` does the same.
const PROXIES: [&str; 4] = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
/// Hosts that are reached without the proxy, separated by commas; in capitals too.
const NO_PROXIES: [&str; 2] = ["no_proxy", "NO_PROXY"];
/// Files with the certificates of trusted authorities; the first that is set counts.
const AUTHORITIES: [&str; 2] = ["SSL_CERT_FILE", "NIX_SSL_CERT_FILE"];
/// Where systems keep that file.
const SYSTEM_AUTHORITIES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// How to reach a state: [backends](backends.md) says which ones and what they mean.
const BACKENDS: [&str; 14] = [
    "TF_HTTP_",
    "PG_",
    "PGHOST",
    "PGPORT",
    "PGDATABASE",
    "PGUSER",
    "PGPASSWORD",
    "PGSSLMODE",
    "PGSSLROOTCERT",
    "AWS_",
    "GOOGLE_",
    "STORAGE_EMULATOR_HOST",
    "ARM_",
    "AZURE_",
];

/// Provider processes that run already, as JSON; what a provider prints when it is started for debugging.
const TF_REATTACH_PROVIDERS: &str = "TF_REATTACH_PROVIDERS";

#[expect(clippy::disallowed_methods, reason = "the one door to the environment")]
fn var(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Value of the variable of a stack whose name follows; the latter wins.
const VARIABLES: [&str; 2] = ["TF_VAR_", "NIVIS_VAR_"];

/// Everything in the environment that is UTF-8.
fn all() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// What says how to reach a state.
pub(super) fn backend() -> BTreeMap<String, String> {
    let known = |name: &str| BACKENDS.iter().any(|begin| name.starts_with(begin));
    all()
        .filter(|(name, value)| known(name) && !value.is_empty())
        .collect()
}

/// Values for variables of the stack: (name in the environment, name, value). What is not UTF-8 is left out.
pub(super) fn variables() -> Vec<(String, String, String)> {
    let all: Vec<(String, String)> = all().collect();
    let with = |prefix: &'static str| {
        all.iter().filter_map(move |(name, value)| {
            let rest = name.strip_prefix(prefix).filter(|rest| !rest.is_empty())?;
            Some((name.clone(), rest.to_owned(), value.clone()))
        })
    };
    VARIABLES.into_iter().flat_map(with).collect()
}

/// Providers that run already.
pub(super) fn running_providers() -> Result<Reattach, Diagnostics> {
    let Some(text) = var(TF_REATTACH_PROVIDERS) else {
        return Ok(Reattach::default());
    };
    Reattach::parse(&text.to_string_lossy()).map_err(|e| {
        Diagnostic::error(format!("Invalid {TF_REATTACH_PROVIDERS}"))
            .detail(e.to_string())
            .into()
    })
}

/// Lets a test disturb this run: see [`fault::arm`](crate::fs::fault::arm).
#[cfg(feature = "test-fakes")]
pub(super) fn fault() -> Result<(), String> {
    text("NIVIS_FAULT").map_or(Ok(()), |order| crate::fs::fault::arm(&order))
}

/// How many states from before the last runs are kept beside a local state.
pub(super) fn state_backups() -> Result<u32, Diagnostics> {
    let count = text(NIVIS_STATE_BACKUPS).map_or(Ok(1), |text| text.parse());
    count.map_err(|_| {
        Diagnostic::error(format!("Invalid {NIVIS_STATE_BACKUPS}"))
            .detail("it is not a number of states to keep, such as 5")
            .into()
    })
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
    Some(caches()?.join("nivis/schemas"))
}

/// Where evaluations are kept, if the flag or the environment asks for it; `None` without a home folder.
pub(super) fn eval_cache(flag: bool) -> Option<PathBuf> {
    let wanted = flag || var(NIVIS_EVAL_CACHE).is_some_and(|value| value != "0");
    Some(caches().filter(|_| wanted)?.join("nivis/evaluations"))
}

/// Where unpacked providers are kept; `None` without a home folder.
pub(super) fn provider_cache() -> Option<PathBuf> {
    let own = var(NIVIS_PROVIDER_CACHE).map(PathBuf::from);
    own.or_else(|| Some(caches()?.join("nivis/providers")))
}

fn caches() -> Option<PathBuf> {
    let own = var(XDG_CACHE_HOME).map(PathBuf::from);
    own.or_else(|| Some(home()?.join(".cache")))
}

/// Where providers come from, if not from their registries.
pub(super) fn provider_mirror() -> Option<String> {
    text(NIVIS_PROVIDER_MIRROR)
}

/// The registry of addresses without a host, if it is another.
pub(super) fn registry() -> Option<String> {
    text(NIVIS_REGISTRY)
}

/// How to reach registries and mirrors.
pub(super) fn network() -> Network {
    let chosen = AUTHORITIES.iter().find_map(|name| var(name));
    let authorities = match chosen {
        Some(file) => vec![file.into()],
        None => SYSTEM_AUTHORITIES.map(PathBuf::from).into(),
    };
    Network {
        proxy: PROXIES.iter().find_map(|name| text(name)),
        no_proxy: NO_PROXIES
            .iter()
            .find_map(|name| text(name))
            .unwrap_or_default(),
        authorities,
        tokens: tokens(std::env::vars_os()),
    }
}

/// Tokens by host name.
fn tokens(vars: impl Iterator<Item = (OsString, OsString)>) -> BTreeMap<String, String> {
    vars.filter_map(|(name, value)| {
        let host = name.to_str()?.strip_prefix(TF_TOKEN)?;
        let host = host.replace("__", "-").replace('_', ".");
        Some((host.to_ascii_lowercase(), value.into_string().ok()?))
    })
    .collect()
}

fn text(name: &str) -> Option<String> {
    var(name)?.into_string().ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_tokens() {
        let vars = [
            ("TF_TOKEN_my__registry_example_org", "secret"),
            ("TF_TOKEN_Example_ORG", "other"),
            ("TF_VAR_x", "1"),
        ];
        let tokens = tokens(vars.iter().map(|(k, v)| (k.into(), v.into())));
        let expected = [
            ("example.org", "other"),
            ("my-registry.example.org", "secret"),
        ];
        let found: Vec<_> = tokens
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .collect();
        assert_eq!(found, expected);
    }
}
