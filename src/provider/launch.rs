//! Starting a plugin's process: the environment it expects, and why it may fail.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::{Child, Command};

use super::connect::ConnectError;
use super::handshake::HandshakeError;
use super::reattach::Running;
use super::rpc::Protocol;
use super::stderr::verbosity;
use super::tls::TlsError;

/// Tells a program that it is started as a provider plugin; the same in all protocol versions.
pub(crate) const MAGIC_COOKIE: (&str, &str) = (
    "TF_PLUGIN_MAGIC_COOKIE",
    "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
);

/// How to start a provider.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Launch {
    /// The executable.
    pub program: PathBuf,
    /// `argv[0]`, if it is to differ from `program`.
    pub argv0: Option<OsString>,
    /// The process to use instead of starting one.
    pub running: Option<Running>,
    /// Variables to set beside the inherited environment and those every plugin gets; they win over both.
    pub env: Vec<(OsString, OsString)>,
}

impl Launch {
    /// Starts an executable as it is.
    pub fn program(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            argv0: None,
            running: None,
            env: Vec::new(),
        }
    }
}

/// Why a provider could not be started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// There is no such file.
    #[error("there is no provider program {}", .program.display())]
    Missing {
        /// The executable.
        program: PathBuf,
    },
    /// The file is there, but what it needs to run (dynamic loader, interpreter) is not.
    #[error("provider program {} needs a loader or interpreter that is not there", .program.display())]
    LoaderMissing {
        /// The executable.
        program: PathBuf,
    },
    /// The file is not executable.
    #[error("provider program {} may not be executed", .program.display())]
    Permission {
        /// The executable.
        program: PathBuf,
    },
    /// The file is not a program for this machine.
    #[error("provider program {} is not an executable for this machine", .program.display())]
    Format {
        /// The executable.
        program: PathBuf,
    },
    /// It could not be started for another reason.
    #[error("cannot start provider program {}: {source}", .program.display())]
    Spawn {
        /// The executable.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It ended before its handshake.
    #[error("provider program {} ended ({status}) before its handshake{}", .program.display(), quoted(.stderr))]
    Exited {
        /// The executable.
        program: PathBuf,
        /// Exit status or signal.
        status: String,
        /// The last lines it printed to stderr.
        stderr: Vec<String>,
    },
    /// It gave no handshake in time.
    #[error("provider program {} gave no handshake within {} seconds{}", .program.display(), .seconds, quoted(.stderr))]
    Timeout {
        /// The executable.
        program: PathBuf,
        /// How long it was given.
        seconds: u64,
        /// The last lines it printed to stderr.
        stderr: Vec<String>,
    },
    /// What it printed cannot be used.
    #[error("provider program {} cannot be used: {source}", .program.display())]
    Handshake {
        /// The executable.
        program: PathBuf,
        /// What is wrong.
        source: HandshakeError,
    },
    /// Encryption could not be set up.
    #[error("no TLS with provider program {}: {source}", .program.display())]
    Tls {
        /// The executable.
        program: PathBuf,
        /// What is wrong.
        source: TlsError,
    },
    /// The connection failed.
    #[error("no connection to provider program {}: {source}", .program.display())]
    Connect {
        /// The executable.
        program: PathBuf,
        /// What is wrong.
        source: ConnectError,
    },
}

impl LaunchError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::LoaderMissing { .. } => Some(
                "programs built for other distributions do not run on NixOS: take the provider from nixpkgs, or run it \
                 with nix-ld",
            ),
            Self::Permission { .. } => Some("make it executable with `chmod +x`"),
            Self::Format { .. } => {
                Some("take the provider's build for this operating system and processor")
            }
            Self::Handshake {
                source: HandshakeError::NotAPlugin { .. },
                ..
            } => Some("a provider is a program named `terraform-provider-<type>`"),
            _ => None,
        }
    }
}

fn quoted(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    format!("; it printed:\n{}", lines.join("\n"))
}

/// Starts the process with the environment a plugin expects.
pub(super) fn spawn(launch: &Launch, certificate: &str) -> Result<Child, LaunchError> {
    #[expect(
        clippy::disallowed_methods,
        reason = "plugins outlive the call that starts them: their life is kept here"
    )]
    let mut command = Command::new(&launch.program);
    if let Some(argv0) = &launch.argv0 {
        command.arg0(argv0);
    }
    command
        .env(MAGIC_COOKIE.0, MAGIC_COOKIE.1)
        .env("PLUGIN_MIN_PORT", "10000")
        .env("PLUGIN_MAX_PORT", "25000")
        .env("PLUGIN_PROTOCOL_VERSIONS", Protocol::OFFER)
        .env("PLUGIN_CLIENT_CERT", certificate)
        // Set by a host that is a plugin itself, these would change the handshake.
        .env_remove("PLUGIN_MULTIPLEX_GRPC")
        .env_remove("PLUGIN_UNIX_SOCKET_DIR")
        .env_remove("PLUGIN_UNIX_SOCKET_GROUP")
        // Without these the libraries of a provider write dozens of trace lines for each call, read or not.
        .env("TF_LOG_SDK", verbosity())
        .env("TF_LOG_PROVIDER", verbosity())
        .envs(launch.env.iter().map(|(k, v)| (k, v)))
        // Standard input is where the person answers our questions.
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command.spawn().map_err(|e| spawn_error(&launch.program, e))
}

fn spawn_error(program: &Path, source: io::Error) -> LaunchError {
    const ENOEXEC: i32 = 8;
    let program = program.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound if program.exists() => LaunchError::LoaderMissing { program },
        io::ErrorKind::NotFound => LaunchError::Missing { program },
        io::ErrorKind::PermissionDenied => LaunchError::Permission { program },
        _ if source.raw_os_error() == Some(ENOEXEC) => LaunchError::Format { program },
        _ => LaunchError::Spawn { program, source },
    }
}
