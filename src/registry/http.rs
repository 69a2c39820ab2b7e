//! The HTTP client: timeouts, retries, proxies, redirects, limits, tokens.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use http::StatusCode;
use http::header::{ACCEPT_ENCODING, AUTHORIZATION, LOCATION, RETRY_AFTER};
use rustls::crypto::aws_lc_rs;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, Proxy};

use super::url::{Url, UrlError, is_loopback};
use crate::fs;

/// How often a request is made at most.
const ATTEMPTS: u32 = 3;
/// Pause before the first repetition; it doubles.
const PAUSE: Duration = Duration::from_millis(400);
/// Longest pause that a server may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// Longest silence of a server.
const SILENCE: Duration = Duration::from_secs(30);
const REDIRECTS: usize = 5;

/// How to reach servers.
#[derive(Clone, Default)]
pub struct Network {
    /// URL of the proxy for everything that leaves the machine.
    pub proxy: Option<String>,
    /// Hosts that are reached without the proxy, separated by commas; `*` stands for all.
    pub no_proxy: String,
    /// Files with the certificates of trusted authorities in PEM form; the first that exists counts.
    pub authorities: Vec<PathBuf>,
    /// Bearer tokens by host name, in lower case; each is for all ports of the host.
    pub tokens: BTreeMap<String, String>,
}

impl Network {
    /// URL of the proxy through which a host is reached, if one is; this machine is reached without.
    pub fn proxy_to(&self, host: &str) -> Option<&str> {
        if is_loopback(host) || excepted(host, &self.no_proxy) {
            return None;
        }
        self.proxy.as_deref()
    }

    /// The certificates of trusted authorities in PEM form, if there is a file with them.
    pub fn certificates(&self) -> Option<Vec<u8>> {
        self.authorities.iter().find_map(|path| fs::read(path).ok())
    }
}

/// Why nothing was got.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The server has no such thing.
    #[error("{url}: not found")]
    NotFound {
        /// What was asked for.
        url: Url,
    },
    /// The server refused.
    #[error("{url}: the server says {}", shown(*.status))]
    Status {
        /// What was asked for.
        url: Url,
        /// Its answer.
        status: StatusCode,
    },
    /// No answer.
    #[error("{url}: {problem}")]
    Transport {
        /// What was asked for.
        url: Url,
        /// What happened.
        problem: String,
    },
    /// The answer does not end.
    #[error("{url}: the answer has more than {limit} bytes")]
    TooLong {
        /// What was asked for.
        url: Url,
        /// How much was allowed.
        limit: u64,
    },
    /// The answer could not be put where it belongs.
    #[error("cannot keep {url}: {source}")]
    Keep {
        /// What was asked for.
        url: Url,
        /// What failed.
        source: io::Error,
    },
    /// The server sent us to a place where we do not go.
    #[error("{url} redirects to a URL that cannot be used: {source}")]
    Redirect {
        /// Who sent us.
        url: Url,
        /// What is wrong.
        source: UrlError,
    },
    /// The server sends us around.
    #[error("{url}: more than {REDIRECTS} redirects")]
    Redirects {
        /// What was asked for.
        url: Url,
    },
    /// The proxy's URL cannot be read.
    #[error("the proxy setting is no URL of a proxy")]
    Proxy,
}

impl HttpError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Status { url, status } if [401, 403].contains(&status.as_u16()) => {
                let name = url.host_name().replace('-', "__").replace('.', "_");
                Some(format!("a token for this host goes into TF_TOKEN_{name}"))
            }
            Self::Transport { problem, .. } if problem.contains("certificate") => Some(
                "the file with the certificates to trust is named by SSL_CERT_FILE".to_owned(),
            ),
            Self::Transport { .. } => Some(
                "is the network reachable? A proxy goes into HTTPS_PROXY, a mirror into NIVIS_PROVIDER_MIRROR"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

fn shown(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} ({reason})", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

/// An answer in whole.
#[derive(Debug)]
pub(super) struct Answer {
    /// Where it came from in the end.
    pub(super) url: Url,
    /// What it says.
    pub(super) body: Vec<u8>,
}

/// A client for the servers of one run.
pub(super) struct Client {
    direct: Agent,
    proxied: Option<Agent>,
    no_proxy: String,
    tokens: BTreeMap<String, String>,
}

impl Client {
    pub(super) fn new(network: &Network) -> Result<Self, HttpError> {
        let proxy = match &network.proxy {
            Some(url) => Some(Proxy::new(url).map_err(|_| HttpError::Proxy)?),
            None => None,
        };
        let tls = tls(network);
        Ok(Self {
            direct: agent(tls.clone(), None),
            proxied: proxy.map(|proxy| agent(tls, Some(proxy))),
            no_proxy: network.no_proxy.clone(),
            tokens: network.tokens.clone(),
        })
    }

    /// What is at `url`, of at most `limit` bytes.
    pub(super) fn get(&self, url: &Url, limit: u64) -> Result<Answer, HttpError> {
        let mut body = Vec::new();
        let url = self.download(url, limit, &mut body)?;
        Ok(Answer { url, body })
    }

    /// Writes what is at `url`, of at most `limit` bytes, to `to`; gives the URL that it came from in the end.
    pub(super) fn download(
        &self,
        url: &Url,
        limit: u64,
        to: &mut impl Write,
    ) -> Result<Url, HttpError> {
        let mut here = url.clone();
        for _ in 0..=REDIRECTS {
            let answer = self.ask(&here)?;
            let status = answer.status();
            if status.is_redirection() {
                let location = answer.headers().get(LOCATION).and_then(|l| l.to_str().ok());
                let next = location.map(|l| here.join(l));
                let next = next.ok_or_else(|| HttpError::Status {
                    url: here.clone(),
                    status,
                })?;
                here = next.map_err(|source| HttpError::Redirect { url: here, source })?;
                continue;
            }
            keep(answer.into_body(), &here, limit, to)?;
            return Ok(here);
        }
        Err(HttpError::Redirects { url: url.clone() })
    }

    /// The answer to a request, which is repeated as long as that may help.
    fn ask(&self, url: &Url) -> Result<http::Response<Body>, HttpError> {
        let mut pause = PAUSE;
        for attempt in 1.. {
            let last = attempt >= ATTEMPTS;
            let problem = match self.request(url) {
                Ok(answer) => {
                    let status = answer.status();
                    let again = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
                    if status.is_success() || status.is_redirection() {
                        return Ok(answer);
                    }
                    if let Some(asked) = retry_after(&answer) {
                        pause = asked.min(LONGEST_PAUSE);
                    }
                    let url = url.clone();
                    let error = match status {
                        StatusCode::NOT_FOUND => HttpError::NotFound { url },
                        status => HttpError::Status { url, status },
                    };
                    if !again {
                        return Err(error);
                    }
                    error
                }
                Err(error) => HttpError::Transport {
                    url: url.clone(),
                    problem: plain(&error),
                },
            };
            if last {
                return Err(problem);
            }
            tracing::debug!(attempt, %problem, "request failed");
            sleep(pause);
            pause *= 2;
        }
        Err(HttpError::Redirects { url: url.clone() })
    }

    fn request(&self, url: &Url) -> Result<http::Response<Body>, ureq::Error> {
        let agent = match &self.proxied {
            Some(agent) if !url.is_local() && !excepted(url.host_name(), &self.no_proxy) => agent,
            _ => &self.direct,
        };
        // Archives are hashed as they are.
        let mut request = agent
            .get(url.uri().clone())
            .header(ACCEPT_ENCODING, "identity");
        if let Some(token) = self.tokens.get(&url.host_name().to_ascii_lowercase()) {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        request.call()
    }
}

fn agent(tls: TlsConfig, proxy: Option<Proxy>) -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        // Redirects are followed here, where each target is looked at.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(proxy)
        .tls_config(tls)
        .user_agent(concat!("nivis/", env!("CARGO_PKG_VERSION")))
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_recv_response(Some(SILENCE))
        .timeout_per_read(Some(SILENCE))
        .build()
        .into()
}

/// Trust in the first file of authorities there is.
fn tls(network: &Network) -> TlsConfig {
    let bundle = network.certificates();
    let authorities: Vec<Certificate<'static>> = bundle
        .iter()
        .flat_map(|pem| parse_pem(pem))
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&authorities))
        .unversioned_rustls_crypto_provider(Arc::new(aws_lc_rs::default_provider()))
        .build()
}

/// Copies a body to where it belongs.
fn keep(body: Body, url: &Url, limit: u64, to: &mut impl Write) -> Result<(), HttpError> {
    let mut reader = body.into_with_config().limit(u64::MAX).reader();
    let mut buffer = vec![0; 1 << 16];
    let mut length = 0;
    loop {
        let n = reader
            .read(&mut buffer)
            .map_err(|error| HttpError::Transport {
                url: url.clone(),
                problem: format!("the answer broke off: {error}"),
            })?;
        if n == 0 {
            return Ok(());
        }
        length += n as u64;
        let url = || url.clone();
        if length > limit {
            return Err(HttpError::TooLong { url: url(), limit });
        }
        to.write_all(&buffer[..n])
            .map_err(|source| HttpError::Keep { url: url(), source })?;
    }
}

/// How many seconds the server asks to wait. The form with a date is not read: our clock may be wrong.
fn retry_after(answer: &http::Response<Body>) -> Option<Duration> {
    let text = answer.headers().get(RETRY_AFTER)?.to_str().ok()?;
    text.trim().parse().ok().map(Duration::from_secs)
}

/// What happened, in the system's words, without the client's frame.
fn plain(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::HostNotFound => "the host is not known".to_owned(),
        ureq::Error::Timeout(_) => "no answer in time".to_owned(),
        ureq::Error::Rustls(error) => error.to_string(),
        error => error.to_string(),
    }
}

/// Whether a list of exceptions names the host or a domain that it is in.
fn excepted(host: &str, list: &str) -> bool {
    list.split(',').map(str::trim).any(|entry| {
        let domain = entry.trim_start_matches("*.").trim_start_matches('.');
        let inside = host
            .len()
            .checked_sub(domain.len())
            .filter(|_| !domain.is_empty())
            .is_some_and(|at| {
                host.is_char_boundary(at)
                    && host[at..].eq_ignore_ascii_case(domain)
                    && (at == 0 || host[..at].ends_with('.'))
            });
        entry == "*" || inside
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_from_the_proxy() {
        let rows = [
            ("example.org", "example.org", true),
            ("a.example.org", "x, example.org", true),
            ("a.example.org", ".example.org", true),
            ("a.example.org", "*.example.org", true),
            ("A.Example.org", "example.org", true),
            ("anexample.org", "example.org", false),
            ("example.org", "a.example.org", false),
            ("example.org", "", false),
            ("example.org", ",", false),
            ("example.org", "*", true),
        ];
        for (host, list, expected) in rows {
            assert_eq!(excepted(host, list), expected, "{host} in {list:?}");
        }
    }

    #[test]
    fn a_refused_request_says_where_the_token_goes() {
        let error = HttpError::Status {
            url: Url::parse("https://my-registry.example.org/x").unwrap(),
            status: StatusCode::UNAUTHORIZED,
        };
        assert_eq!(
            error.to_string(),
            "https://my-registry.example.org/x: the server says 401 (Unauthorized)"
        );
        let hint = error.hint().unwrap();
        assert!(
            hint.ends_with("TF_TOKEN_my__registry_example_org"),
            "{hint}"
        );
    }
}
