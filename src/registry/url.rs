//! Addresses on the web: what is allowed, and how a relative one is read.

use std::fmt;

use http::Uri;

/// An absolute URL: `https`, or `http` on this machine, where nobody is in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url(Box<Uri>);

/// A text is no URL that may be fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// It cannot be read.
    #[error("{0:?} is no URL")]
    Syntax(String),
    /// Its scheme is not allowed.
    #[error("{0:?} is not encrypted: only https is allowed, and http on this machine")]
    Scheme(String),
}

impl Url {
    /// Reads an absolute URL.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let without_fragment = text.split('#').next().unwrap_or(text);
        let uri: Uri = without_fragment
            .parse()
            .map_err(|_| UrlError::Syntax(text.to_owned()))?;
        let host = uri.host().unwrap_or_default();
        match uri.scheme_str() {
            Some("https") if !host.is_empty() => Ok(Self(Box::new(uri))),
            Some("http") if is_loopback(host) => Ok(Self(Box::new(uri))),
            Some("http") => Err(UrlError::Scheme(text.to_owned())),
            _ => Err(UrlError::Syntax(text.to_owned())),
        }
    }

    /// The root of a registry's host. A port on this machine is spoken to without encryption.
    pub fn of_host(host: &str) -> Result<Self, UrlError> {
        let local = host
            .split_once(':')
            .is_some_and(|(name, _)| is_loopback(name));
        let scheme = if local { "http" } else { "https" };
        Self::parse(&format!("{scheme}://{host}/"))
    }

    /// The URL that `text`, found at this one, stands for (RFC 3986, section 5).
    pub fn join(&self, text: &str) -> Result<Self, UrlError> {
        let scheme = self.0.scheme_str().unwrap_or("https");
        // A query may hold another URL.
        let start = text.split(['/', '?']).next().unwrap_or_default();
        if start.ends_with(':') {
            return Self::parse(text);
        }
        if text.starts_with("//") {
            return Self::parse(&format!("{scheme}:{text}"));
        }
        let (path, query) = match text.find('?') {
            Some(at) => text.split_at(at),
            None => (text, ""),
        };
        let folder = match self.0.path().rfind('/') {
            Some(last) if !path.starts_with('/') => &self.0.path()[..=last],
            _ => "",
        };
        let path = without_dots(&format!("{folder}{path}"));
        let authority = self.0.authority().map_or("", http::uri::Authority::as_str);
        Self::parse(&format!("{scheme}://{authority}{path}{query}"))
    }

    /// The host with its port, in lower case, as provider addresses and tokens name it.
    pub fn host(&self) -> String {
        let host = self.0.host().unwrap_or_default().to_ascii_lowercase();
        match self.0.port_u16() {
            Some(port) => format!("{host}:{port}"),
            None => host,
        }
    }

    /// The host without its port.
    pub fn host_name(&self) -> &str {
        self.0.host().unwrap_or_default()
    }

    /// Whether it is on this machine.
    pub fn is_local(&self) -> bool {
        is_loopback(self.host_name())
    }

    /// As the HTTP client takes it.
    pub(super) fn uri(&self) -> &Uri {
        &self.0
    }
}

impl fmt::Display for Url {
    /// Without what may be secret: user and query.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.0.scheme_str().unwrap_or_default();
        write!(f, "{scheme}://{}{}", self.host(), self.0.path())
    }
}

/// Whether the host is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .any(|local| host.eq_ignore_ascii_case(local))
}

/// The path with `.` and `..` carried out.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    for (i, part) in parts.iter().enumerate() {
        let last = i + 1 == parts.len();
        match *part {
            "." | ".." => {
                if *part == ".." {
                    kept.pop();
                }
                // A path that ends in a folder ends in a slash.
                if last {
                    kept.push("");
                }
            }
            part => kept.push(part),
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_urls_are_read_at_their_place() {
        let base = Url::parse("https://Host.org:8443/a/b/c.json?x=1").unwrap();
        let rows = [
            ("d.zip", "https://host.org:8443/a/b/d.zip"),
            ("./d.zip", "https://host.org:8443/a/b/d.zip"),
            ("../d/", "https://host.org:8443/a/d/"),
            ("../../../..", "https://host.org:8443/"),
            ("/d?y=2", "https://host.org:8443/d"),
            ("/d?at=https://x.org", "https://host.org:8443/d"),
            ("//other.org/d", "https://other.org/d"),
            ("https://other.org/d", "https://other.org/d"),
            ("http://127.0.0.1:1/d", "http://127.0.0.1:1/d"),
        ];
        for (text, expected) in rows {
            assert_eq!(base.join(text).unwrap().to_string(), expected, "{text}");
        }
        let with_query = base.join("/d?y=2").unwrap();
        assert_eq!(with_query.uri().query(), Some("y=2"));
    }

    #[test]
    fn only_encrypted_urls_leave_the_machine() {
        for text in [
            "https://host.org",
            "http://localhost/x",
            "http://[::1]:8080/",
        ] {
            assert!(Url::parse(text).is_ok(), "{text}");
        }
        for text in [
            "http://host.org/",
            "http://127.0.0.1.host.org/",
            "http://localhost.org/",
        ] {
            assert!(
                matches!(Url::parse(text), Err(UrlError::Scheme(_))),
                "{text}"
            );
        }
        for text in [
            "",
            "/x",
            "file:///etc/passwd",
            "ftp://host.org/",
            "https://",
            "https://a b/",
        ] {
            assert!(
                matches!(Url::parse(text), Err(UrlError::Syntax(_))),
                "{text}"
            );
        }
        let base = Url::parse("https://host.org/").unwrap();
        assert!(base.join("http://host.org/x").is_err());
    }

    #[test]
    fn the_root_of_a_host() {
        for (host, expected) in [
            ("registry.opentofu.org", "https://registry.opentofu.org/"),
            ("host.org:8443", "https://host.org:8443/"),
            ("localhost", "https://localhost/"),
            ("127.0.0.1:8080", "http://127.0.0.1:8080/"),
        ] {
            assert_eq!(Url::of_host(host).unwrap().to_string(), expected);
        }
    }
}
