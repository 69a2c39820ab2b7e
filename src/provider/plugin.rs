//! A plugin process: started, connected to, listened to, and ended.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::Child;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;
use tonic::transport::Channel;

use super::connect::{connect, drain_output};
use super::handshake::{Address, Handshake};
use super::launch::{Launch, LaunchError, spawn};
use super::proto::plugin;
use super::reattach::Running;
use super::rpc::{Protocol, connection, unary};
use super::stderr::Stderr;
use super::tls::{TlsError, TlsIdentity};

/// How long a plugin may take from its start to its handshake.
const START_TIMEOUT: Duration = Duration::from_mins(1);
/// How long a plugin may take to end by itself.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest handshake line.
const LINE_BYTES: u64 = 64 << 10;

/// A running plugin. Dropping it kills the process.
pub(super) struct Process {
    /// The connection to its services.
    pub(super) channel: Channel,
    /// The protocol it speaks.
    pub(super) protocol: Protocol,
    stderr: Option<Stderr>,
    /// None if it was running already.
    child: Option<Supervised>,
    /// Whether it goes on when we are done with it.
    stays: bool,
}

impl Process {
    /// Starts a plugin and connects to it. `name` marks its log lines.
    pub(super) async fn start(launch: &Launch, name: &str) -> Result<Self, LaunchError> {
        match &launch.running {
            Some(running) => Self::attach(running, launch, name).await,
            None => Self::start_within(START_TIMEOUT, launch, name).await,
        }
    }

    /// Connects to a plugin that runs already.
    async fn attach(running: &Running, launch: &Launch, name: &str) -> Result<Self, LaunchError> {
        let channel =
            connect(&running.address, None)
                .await
                .map_err(|source| LaunchError::Connect {
                    program: launch.program.clone(),
                    source,
                })?;
        tokio::spawn(drain_output(channel.clone(), name.to_owned()));
        Ok(Self {
            channel,
            protocol: running.protocol,
            stderr: None,
            child: None,
            stays: running.stays,
        })
    }

    async fn start_within(
        limit: Duration,
        launch: &Launch,
        name: &str,
    ) -> Result<Self, LaunchError> {
        let program = || launch.program.clone();
        let tls = |source| LaunchError::Tls {
            program: program(),
            source,
        };
        let identity = TlsIdentity::generate().map_err(tls)?;
        let mut child = spawn(launch, &identity.pem)?;
        let stderr = child.stderr.take();
        let stderr = stderr.map(|pipe| Stderr::follow(pipe, name.to_owned()));
        let line = match timeout(limit, first_line(&mut child)).await {
            Err(_elapsed) => {
                return Err(LaunchError::Timeout {
                    program: program(),
                    seconds: limit.as_secs(),
                    stderr: last_words(stderr.as_ref()).await,
                });
            }
            Ok(Some(line)) => line,
            Ok(None) => return Err(exited(launch, child, stderr.as_ref()).await),
        };
        let handshake = Handshake::parse(&line).map_err(|source| LaunchError::Handshake {
            program: program(),
            source,
        })?;
        let child = Supervised::new(child, &handshake.address);
        let certificate = handshake.certificate.ok_or(TlsError::NoCertificate);
        let config = certificate
            .and_then(|c| identity.client_config(c))
            .map_err(tls)?;
        let channel = connect(&handshake.address, Some(config))
            .await
            .map_err(|source| LaunchError::Connect {
                program: program(),
                source,
            })?;
        tokio::spawn(drain_output(channel.clone(), name.to_owned()));
        Ok(Self {
            channel,
            protocol: handshake.protocol,
            stderr,
            child: Some(child),
            stays: false,
        })
    }

    /// How the process ended; waits a moment for an end that is under way. `None` while it runs.
    pub(super) async fn exit_status(&self) -> Option<String> {
        let mut exit = self.child.as_ref()?.exit.clone();
        let ended = timeout(EXIT_TIMEOUT, exit.wait_for(Option::is_some)).await;
        ended.ok()?.ok()?.clone()
    }

    /// The panic it printed, or else its last plain lines.
    pub(super) async fn last_words(&self) -> Vec<String> {
        last_words(self.stderr.as_ref()).await
    }

    /// Asks it to end, and kills it if it does not and is our own.
    pub(super) async fn shutdown(&self) {
        if self.stays {
            return;
        }
        let ask = unary::<_, plugin::Empty>(
            connection(self.channel.clone()),
            "/plugin.GRPCController/Shutdown",
            plugin::Empty {},
        );
        // A plugin that ends at once may leave the call unanswered, one that hangs does not answer at all.
        let _ = timeout(EXIT_TIMEOUT, ask).await;
        let ended = self.exit_status().await.is_some();
        if let (false, Some(child)) = (ended, &self.child) {
            child.kill.notify_one();
            self.exit_status().await;
        }
    }
}

async fn last_words(stderr: Option<&Stderr>) -> Vec<String> {
    match stderr {
        Some(stderr) => stderr.last_words().await,
        None => Vec::new(),
    }
}

/// The first line of the child's stdout; `None` if it ends without one. The rest is read and dropped for as long as the
/// child lives, as it would block on a full pipe.
async fn first_line(child: &mut Child) -> Option<String> {
    let mut stdout = BufReader::new(child.stdout.take()?);
    let line = read_line(&mut stdout).await;
    tokio::spawn(async move {
        // An error means the same as the end of the output.
        let _ = tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await;
    });
    line
}

async fn read_line(input: &mut (impl AsyncBufRead + Unpin)) -> Option<String> {
    let mut line = Vec::new();
    input
        .take(LINE_BYTES)
        .read_until(b'\n', &mut line)
        .await
        .ok()?;
    (!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned())
}

/// The error for a child that closed its stdout without a handshake.
async fn exited(launch: &Launch, mut child: Child, stderr: Option<&Stderr>) -> LaunchError {
    let status = match timeout(EXIT_TIMEOUT, child.wait()).await {
        Ok(Ok(status)) => status.to_string(),
        Ok(Err(e)) => e.to_string(),
        Err(_elapsed) => "closed its output".to_owned(),
    };
    LaunchError::Exited {
        program: launch.program.clone(),
        status,
        stderr: last_words(stderr).await,
    }
}

/// A child that is waited for from the beginning, and killed when this is dropped.
struct Supervised {
    /// How it ended, once it has.
    exit: watch::Receiver<Option<String>>,
    kill: Arc<Notify>,
}

impl Supervised {
    /// `address` names the file to remove afterwards, should the child have no chance to.
    fn new(mut child: Child, address: &Address) -> Self {
        let socket = match address {
            Address::Unix(path) => Some(path.clone()),
            Address::Tcp(_) => None,
        };
        let kill = Arc::new(Notify::new());
        let (ended, exit) = watch::channel(None);
        let killed = kill.clone();
        tokio::spawn(async move {
            let status = tokio::select! {
                status = child.wait() => status,
                () = killed.notified() => match child.kill().await {
                    Ok(()) => child.wait().await,
                    Err(e) => Err(e),
                },
            };
            if let Some(socket) = socket {
                crate::fs::remove_socket(&socket);
            }
            ended.send_replace(Some(match status {
                Ok(status) => status.to_string(),
                Err(e) => e.to_string(),
            }));
        });
        Self { exit, kill }
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.kill.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn fixture(name: &str) -> Launch {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/plugins");
        Launch::program(folder.join(name))
    }

    async fn failure(name: &str) -> String {
        let limit = Duration::from_secs(if name == "silent.sh" { 1 } else { 60 });
        match Process::start_within(limit, &fixture(name), "p").await {
            Ok(_) => panic!("{name} started"),
            Err(e) => e.to_string(),
        }
    }

    #[tokio::test]
    async fn says_why_a_program_is_no_provider() {
        let cases = [
            ("absent", "there is no provider program"),
            ("not-executable.sh", "may not be executed"),
            ("no-program", "is not an executable for this machine"),
            ("no-interpreter.sh", "needs a loader or interpreter"),
            (
                "exits.sh",
                "ended (exit status: 3) before its handshake; it printed:\nlibfoo is missing",
            ),
            (
                "talks.sh",
                "it printed \"Usage: talks [options]\", which is not a plugin handshake",
            ),
            (
                "silent.sh",
                "gave no handshake within 1 seconds; it printed:\nthinking",
            ),
            ("protocol4.sh", "speaks provider protocol \"4\""),
            ("netrpc.sh", "speaks \"netrpc\" instead of gRPC"),
            ("plain-text.sh", "did not answer with a certificate"),
            ("nobody-listens.sh", "no connection to provider program"),
        ];
        for (name, message) in cases {
            let error = failure(name).await;
            assert!(error.contains(message), "{name}: {error}");
        }
    }
}
