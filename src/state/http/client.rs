//! Requests and their repetition.

use std::io::Read as _;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Method, StatusCode, Uri};
use rustls::crypto::aws_lc_rs;
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Proxy};

use crate::state::config::{ConfigError, Settings};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// Longest silence of a server.
const SILENCE: Duration = Duration::from_secs(60);
/// What repetition is without a setting, as in OpenTofu.
const RETRY_MAX: u32 = 2;
const RETRY_WAIT: (u32, u32) = (1, 30);

/// What goes to the server.
pub(super) struct Request<'a> {
    pub(super) method: &'a Method,
    pub(super) address: &'a Uri,
    pub(super) body: &'a [u8],
    pub(super) content_md5: Option<String>,
}

impl<'a> Request<'a> {
    pub(super) fn get(address: &'a Uri) -> Self {
        Self {
            method: &Method::GET,
            address,
            body: &[],
            content_md5: None,
        }
    }
}

/// What came back.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) content_md5: Option<String>,
    pub(super) body: Vec<u8>,
}

/// How to talk to the server.
pub(super) struct Options {
    headers: Vec<(String, String)>,
    retries: u32,
    wait: (Duration, Duration),
    tls: TlsConfig,
    proxy: Option<String>,
}

impl Options {
    pub(super) fn read(settings: &Settings<'_>, address: &Uri) -> Result<Self, ConfigError> {
        let mut headers: Vec<_> = settings.texts("headers")?.into_iter().collect();
        if let Some((name, _)) = headers.iter().find(|(name, value)| {
            http::HeaderName::try_from(name).is_err() || http::HeaderValue::try_from(value).is_err()
        }) {
            return Err(invalid("headers", format!("`{name}` is no header")));
        }
        if let Some(user) = settings.text("username")? {
            let password = settings.text("password")?.unwrap_or_default();
            let secret = BASE64.encode(format!("{user}:{password}"));
            headers.push((AUTHORIZATION.to_string(), format!("Basic {secret}")));
        }
        let seconds = |key, default| {
            let seconds = settings.number(key)?.unwrap_or(default);
            Ok(Duration::from_secs(seconds.into()))
        };
        let host = address.host().unwrap_or_default();
        Ok(Self {
            headers,
            retries: settings.number("retry_max")?.unwrap_or(RETRY_MAX),
            wait: (
                seconds("retry_wait_min", RETRY_WAIT.0)?,
                seconds("retry_wait_max", RETRY_WAIT.1)?,
            ),
            tls: tls(settings)?,
            proxy: settings.network().proxy_to(host).map(str::to_owned),
        })
    }
}

/// Trust in the authority of the settings, or in those of the system; our own certificate, if there is one.
fn tls(settings: &Settings<'_>) -> Result<TlsConfig, ConfigError> {
    let trusted = match settings.text("client_ca_certificate_pem")? {
        Some(pem) => certificates("client_ca_certificate_pem", pem.as_bytes())?,
        None => settings
            .network()
            .certificates()
            .and_then(|pem| certificates("", &pem).ok())
            .unwrap_or_default(),
    };
    let own = match settings.text("client_certificate_pem")? {
        Some(pem) => {
            let key = settings.need("client_private_key_pem")?;
            let key = PrivateKey::from_pem(key.as_bytes())
                .map_err(|e| invalid("client_private_key_pem", e.to_string()))?;
            let chain = certificates("client_certificate_pem", pem.as_bytes())?;
            Some(ClientCert::new_with_certs(&chain, key))
        }
        None => None,
    };
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&trusted))
        .client_cert(own)
        .disable_verification(settings.flag("skip_cert_verification")?)
        .unversioned_rustls_crypto_provider(Arc::new(aws_lc_rs::default_provider()))
        .build())
}

fn certificates(key: &str, pem: &[u8]) -> Result<Vec<Certificate<'static>>, ConfigError> {
    let found: Vec<_> = parse_pem(pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if found.is_empty() {
        return Err(invalid(key, "has no certificate in PEM form".to_owned()));
    }
    Ok(found)
}

fn invalid(key: &str, problem: String) -> ConfigError {
    ConfigError::Invalid {
        key: key.to_owned(),
        problem,
    }
}

/// The address that a setting has.
pub(super) fn address(key: &str, text: &str) -> Result<Uri, ConfigError> {
    let uri: Uri = text.parse().map_err(|_| {
        let problem = "is no URL".to_owned();
        invalid(key, problem)
    })?;
    let authority = uri.authority().map(http::uri::Authority::as_str);
    match (uri.scheme_str(), authority) {
        // What is part of an address is shown in messages.
        (_, Some(authority)) if authority.contains('@') => Err(invalid(
            key,
            "has credentials in it; they go into `username` and `password`".to_owned(),
        )),
        (Some("http" | "https"), Some(_)) => Ok(uri),
        _ => Err(invalid(key, "is no URL of http or https".to_owned())),
    }
}

/// The address with one more parameter; `value` has only characters that mean nothing in a URL.
pub(super) fn with_query(address: &Uri, name: &str, value: &str) -> Uri {
    let separator = if address.query().is_some() { '&' } else { '?' };
    let text = format!("{address}{separator}{name}={value}");
    text.parse().unwrap_or_else(|_| address.clone())
}

/// Asks one server.
pub(super) struct Client {
    agent: Agent,
    headers: Vec<(String, String)>,
    retries: u32,
    wait: (Duration, Duration),
}

impl Client {
    pub(super) fn new(options: Options, address: &Uri) -> Result<Self, ConfigError> {
        let proxy = match options.proxy {
            Some(url) => Some(Proxy::new(&url).map_err(|_| {
                invalid(
                    "address",
                    format!("the proxy to {address} is no URL of a proxy"),
                )
            })?),
            None => None,
        };
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            // A redirected POST would become a GET, and nothing would be written.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(proxy)
            .tls_config(options.tls)
            .user_agent(concat!("nivis/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_recv_response(Some(SILENCE))
            .timeout_per_read(Some(SILENCE))
            .build()
            .into();
        Ok(Self {
            agent,
            headers: options.headers,
            retries: options.retries,
            wait: options.wait,
        })
    }

    /// The answer to a request, which is repeated while the server is in trouble or cannot be reached. An error says what
    /// happened to the last repetition.
    pub(super) fn ask(&self, request: &Request<'_>) -> Result<Answer, String> {
        let mut wait = self.wait.0;
        for _ in 0..self.retries {
            match self.ask_once(request) {
                Ok(answer) if !in_trouble(answer.status) => return Ok(answer),
                Ok(answer) => tracing::debug!(status = %answer.status, "request failed"),
                Err(problem) => tracing::debug!(problem, "request failed"),
            }
            sleep(wait.min(self.wait.1));
            wait *= 2;
        }
        self.ask_once(request)
    }

    fn ask_once(&self, request: &Request<'_>) -> Result<Answer, String> {
        let mut builder = http::Request::builder()
            .method(request.method)
            .uri(request.address);
        if !request.body.is_empty() {
            builder = builder.header(CONTENT_TYPE, "application/json");
        }
        if let Some(sum) = &request.content_md5 {
            builder = builder.header("Content-MD5", sum);
        }
        for (name, value) in &self.headers {
            builder = builder.header(name, value);
        }
        let answer = if request.body.is_empty() {
            let request = builder.body(()).map_err(|e| e.to_string())?;
            self.agent.run(request)
        } else {
            let request = builder.body(request.body).map_err(|e| e.to_string())?;
            self.agent.run(request)
        };
        let answer = answer.map_err(|error| plain(&error))?;
        let header = answer.headers().get("Content-MD5");
        let content_md5 = header.and_then(|h| h.to_str().ok()).map(str::to_owned);
        let status = answer.status();
        let mut body = Vec::new();
        let mut reader = answer
            .into_body()
            .into_with_config()
            .limit(u64::MAX)
            .reader();
        reader
            .read_to_end(&mut body)
            .map_err(|e| format!("the answer broke off: {e}"))?;
        Ok(Answer {
            status,
            content_md5,
            body,
        })
    }
}

fn in_trouble(status: StatusCode) -> bool {
    status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS
}

fn plain(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::HostNotFound => "the host is not known".to_owned(),
        ureq::Error::Timeout(_) => "no answer in time".to_owned(),
        error => error.to_string(),
    }
}
