//! The plugin side of a plugin: its environment, handshake, socket and end (go-plugin, gRPC flavour).

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

use super::rpc::{ProviderServer, Router};
use crate::fs::{PathError, PrivateDir};
use crate::provider::tls::TlsIdentity;
use crate::provider::{MAGIC_COOKIE, TlsError};

/// How often to look whether the host is still there.
const PARENT_POLL: Duration = Duration::from_secs(1);

/// How long the answer to the host's last call may take to leave.
const LAST_ANSWER: Duration = Duration::from_millis(50);

/// Why a plugin cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A person started it.
    #[error(
        "this program is a provider plugin: it is started by nivis, OpenTofu or Terraform, not by hand"
    )]
    NoHost,
    /// The socket has no place.
    #[error("no place for the socket: {0}")]
    Directory(#[from] PathError),
    /// No TLS with this host.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The system refuses.
    #[error("cannot listen on {path}: {source}", path = path.display())]
    Listen {
        /// The socket.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The host cannot be told where to connect, or signals cannot be handled.
    #[error("cannot start: {0}")]
    Start(std::io::Error),
}

/// What the host says through the environment of the plugin process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostEnvironment {
    /// `TF_PLUGIN_MAGIC_COOKIE`.
    pub cookie: String,
    /// `PLUGIN_PROTOCOL_VERSIONS`: protocols the host speaks, in any order.
    pub protocols: Vec<u32>,
    /// `PLUGIN_CLIENT_CERT`: the host's certificate in PEM; with it the connection is encrypted.
    pub certificate: Option<String>,
    /// `PLUGIN_UNIX_SOCKET_DIR`: where the socket is to be.
    pub socket_dir: Option<PathBuf>,
}

impl HostEnvironment {
    /// Picks the variables of the plugin interface from an environment; others are ignored, and so is what is not text.
    pub fn from_vars(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut environment = Self::default();
        for (name, value) in vars {
            if name == "PLUGIN_UNIX_SOCKET_DIR" && !value.is_empty() {
                environment.socket_dir = Some(value.into());
                continue;
            }
            let (Some(name), Ok(value)) = (name.to_str(), value.into_string()) else {
                continue;
            };
            match name {
                "TF_PLUGIN_MAGIC_COOKIE" => environment.cookie = value,
                "PLUGIN_PROTOCOL_VERSIONS" => {
                    let versions = value.split(',').filter_map(|v| v.trim().parse().ok());
                    environment.protocols = versions.collect();
                }
                "PLUGIN_CLIENT_CERT" if !value.is_empty() => environment.certificate = Some(value),
                _ => {}
            }
        }
        environment
    }

    /// The greatest of `ours` that the host speaks; without a match the least, which the host then refuses by itself.
    fn negotiate(&self, ours: &[u32]) -> u32 {
        let common = ours.iter().filter(|v| self.protocols.contains(v)).max();
        common.or(ours.iter().min()).copied().unwrap_or_default()
    }
}

/// Serves `server` in `protocols` (5, 6 or both) to the host that started this process, until the host asks for the end
/// or is gone.
///
/// Prints the handshake line to stdout. Interrupts are ignored: a terminal sends them to host and plugin alike, and it is
/// for the host to decide what becomes of running operations.
pub async fn serve<P: ProviderServer>(
    server: P,
    protocols: &[u32],
    environment: &HostEnvironment,
) -> Result<(), ServeError> {
    if environment.cookie != MAGIC_COOKIE.1 {
        return Err(ServeError::NoHost);
    }
    let _interrupts = signal(SignalKind::interrupt()).map_err(ServeError::Start)?;
    let parent = parent_id();
    let tls = environment.certificate.as_deref().map(encrypt);
    let (acceptor, certificate) = tls.transpose()?.unzip();
    let parent_dir = environment.socket_dir.clone();
    let directory = PrivateDir::new(&[parent_dir.unwrap_or_else(std::env::temp_dir)])?;
    let socket = directory.path().join("plugin");
    let listener = listen(&socket)?;
    let protocol = environment.negotiate(protocols);
    announce(&format!(
        "1|{protocol}|unix|{}|grpc|{}\n",
        socket.display(),
        certificate.unwrap_or_default()
    ))?;
    let shutdown = Arc::new(Notify::new());
    let router = Router::new(server, shutdown.clone());
    tokio::select! {
        () = accept(&listener, acceptor, router) => {}
        () = orphaned(parent) => {}
        () = shutdown.notified() => tokio::time::sleep(LAST_ANSWER).await,
    }
    Ok(())
}

/// TLS with the host whose certificate this is, and our certificate as the handshake carries it.
fn encrypt(host: &str) -> Result<(TlsAcceptor, String), TlsError> {
    let identity = TlsIdentity::generate()?;
    let certificate = STANDARD_NO_PAD.encode(&identity.certificate);
    let config = identity.server_config(host)?;
    Ok((TlsAcceptor::from(Arc::new(config)), certificate))
}

fn listen(socket: &Path) -> Result<UnixListener, ServeError> {
    UnixListener::bind(socket).map_err(|source| ServeError::Listen {
        path: socket.to_owned(),
        source,
    })
}

fn announce(line: &str) -> Result<(), ServeError> {
    let mut stdout = std::io::stdout().lock();
    stdout
        .write_all(line.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(ServeError::Start)
}

/// Serves every connection, each in its own task.
async fn accept<P: ProviderServer>(
    listener: &UnixListener,
    acceptor: Option<TlsAcceptor>,
    router: Router<P>,
) {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(LAST_ANSWER).await;
                continue;
            }
        };
        let (acceptor, router) = (acceptor.clone(), router.clone());
        tokio::spawn(async move {
            match acceptor {
                None => connection(stream, router).await,
                Some(acceptor) => match acceptor.accept(stream).await {
                    Ok(stream) => connection(stream, router).await,
                    Err(error) => tracing::warn!(%error, "TLS with the host failed"),
                },
            }
        });
    }
}

async fn connection<P: ProviderServer>(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router<P>,
) {
    let service = tower::service_fn(move |request| {
        let router = router.clone();
        async move { Ok::<_, Infallible>(router.answer(request).await) }
    });
    let served = auto::Builder::new(TokioExecutor::new())
        .http2_only()
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service))
        .await;
    if let Err(error) = served {
        tracing::debug!(error, "connection ended");
    }
}

/// Returns once the process has another parent: the host died.
async fn orphaned(parent: u32) {
    while parent_id() == parent {
        tokio::time::sleep(PARENT_POLL).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(vars: &[(&str, &str)]) -> HostEnvironment {
        HostEnvironment::from_vars(vars.iter().map(|(k, v)| (k.into(), v.into())))
    }

    #[test]
    fn reads_the_plugin_interface_only() {
        let read = environment(&[
            ("HOME", "/root"),
            ("TF_PLUGIN_MAGIC_COOKIE", "abc"),
            ("PLUGIN_PROTOCOL_VERSIONS", "6, 5,x"),
            ("PLUGIN_CLIENT_CERT", ""),
            ("PLUGIN_UNIX_SOCKET_DIR", "/run/p"),
        ]);
        let expected = HostEnvironment {
            cookie: "abc".to_owned(),
            protocols: vec![6, 5],
            certificate: None,
            socket_dir: Some("/run/p".into()),
        };
        assert_eq!(read, expected);
    }

    #[test]
    fn negotiates_the_greatest_common_protocol() {
        for (host, ours, expected) in [
            ("5,6", &[5, 6][..], 6),
            ("6,5", &[5], 5),
            ("5", &[6, 5], 5),
            ("4", &[6, 5], 5),
            ("", &[6], 6),
        ] {
            let environment = environment(&[("PLUGIN_PROTOCOL_VERSIONS", host)]);
            assert_eq!(environment.negotiate(ours), expected, "{host} {ours:?}");
        }
    }

    #[tokio::test]
    async fn a_person_is_told_what_this_is() {
        struct Nothing;
        impl ProviderServer for Nothing {}
        let result = serve(Nothing, &[6], &HostEnvironment::default()).await;
        assert!(matches!(result, Err(ServeError::NoHost)));
    }
}
