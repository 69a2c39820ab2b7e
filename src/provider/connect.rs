//! The connection to a plugin: one stream, TLS over it, gRPC over that.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::Uri;
use http::uri::PathAndQuery;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tonic::Request;
use tonic::transport::{Channel, Endpoint};
use tonic_prost::ProstCodec;

use super::handshake::Address;
use super::proto::plugin::StdioData;
use super::rpc::connection;
use super::tls::SERVER_NAME;

/// How long a plugin that said where it listens may take to accept.
const CONNECT_TIMEOUT: Duration = Duration::from_mins(1);
/// How much of one piece of stray output is logged.
const STRAY_BYTES: usize = 1024;

/// Why there is no connection to a plugin.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The socket does not accept, or TLS fails.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// HTTP/2 fails.
    #[error("{0}")]
    Http(#[from] tonic::transport::Error),
    /// Our own name for the other side is not a name.
    #[error("{0}")]
    Name(#[from] rustls::pki_types::InvalidDnsNameError),
    /// It took too long.
    #[error("no answer within {} seconds", CONNECT_TIMEOUT.as_secs())]
    Timeout,
}

/// Anything bytes go through.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Connects to a plugin that listens at `address`; without a configuration, without encryption.
pub(super) async fn connect(
    address: &Address,
    config: Option<ClientConfig>,
) -> Result<Channel, ConnectError> {
    match tokio::time::timeout(CONNECT_TIMEOUT, open(address, config)).await {
        Ok(result) => result,
        Err(_elapsed) => Err(ConnectError::Timeout),
    }
}

async fn open(address: &Address, config: Option<ClientConfig>) -> Result<Channel, ConnectError> {
    let plain: Box<dyn Stream> = match address {
        Address::Unix(path) => Box::new(UnixStream::connect(path).await?),
        Address::Tcp(address) => Box::new(TcpStream::connect(address).await?),
    };
    let stream = match config {
        Some(config) => {
            let name = ServerName::try_from(SERVER_NAME)?;
            let connector = TlsConnector::from(Arc::new(config));
            Box::new(connector.connect(name, plain).await?)
        }
        None => plain,
    };
    // A plugin serves one connection for its whole life: what comes after it is not the same plugin.
    let once = Arc::new(Mutex::new(Some(TokioIo::new(stream))));
    let connector = tower::service_fn(move |_: Uri| {
        let stream = once.lock().unwrap_or_else(PoisonError::into_inner).take();
        async move { stream.ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected)) }
    });
    Ok(Endpoint::from_static("http://localhost")
        .connect_with_connector(connector)
        .await?)
}

/// Reads what the plugin prints outside its log, to the end: without a reader it would block.
pub(super) async fn drain_output(channel: Channel, name: String) {
    let mut grpc = connection(channel);
    if grpc.ready().await.is_err() {
        return;
    }
    let path = PathAndQuery::from_static("/plugin.GRPCStdio/StreamStdio");
    let call = grpc.server_streaming(Request::new(()), path, ProstCodec::<(), StdioData>::new());
    // Servers without this service answer with an error, and have no output to read.
    let Ok(response) = call.await else { return };
    let mut output = response.into_inner();
    while let Ok(Some(piece)) = output.message().await {
        let shown = &piece.data[..piece.data.len().min(STRAY_BYTES)];
        let text = String::from_utf8_lossy(shown);
        tracing::warn!(target: "provider", provider = name, "unexpected output: {}", text.trim_end());
    }
}
