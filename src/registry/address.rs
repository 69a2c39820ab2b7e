//! A provider's address in a registry: `[host/]namespace/type`.

use std::fmt;

/// The registry of addresses that name none.
pub const DEFAULT_HOST: &str = "registry.opentofu.org";

/// Where a provider is published, such as `registry.opentofu.org/hashicorp/random`. All parts are in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// Name of the registry's host, with its port if that is not 443.
    pub host: String,
    /// Whose provider it is.
    pub namespace: String,
    /// What it is called; its program is `terraform-provider-<type>`.
    pub ty: String,
}

/// A text is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It has one part, or more than three.
    #[error("{0:?} is not `[<host>/]<namespace>/<type>`")]
    Parts(String),
    /// The host is no host name.
    #[error("{0:?} is no host name")]
    Host(String),
    /// A namespace or type has characters that it must not have.
    #[error(
        "{0:?} is no name: letters, digits, `-` and `_` are allowed, at the ends letters and digits only"
    )]
    Name(String),
}

impl AddressError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Parts(text) if is_name(text) => Some(format!(
                "write \"hashicorp/{text}\" for the provider of that name; a path starts with ./ or /"
            )),
            Self::Parts(_) => Some("a path starts with ./ or /".to_owned()),
            _ => None,
        }
    }
}

impl Address {
    /// Reads an address; one without a host is at `default_host`.
    pub fn parse(text: &str, default_host: &str) -> Result<Self, AddressError> {
        let parts: Vec<&str> = text.split('/').collect();
        let (host, namespace, ty) = match parts[..] {
            [namespace, ty] => (default_host, namespace, ty),
            [host, namespace, ty] => (host, namespace, ty),
            _ => return Err(AddressError::Parts(text.to_owned())),
        };
        if !is_host(host) {
            return Err(AddressError::Host(host.to_owned()));
        }
        for name in [namespace, ty] {
            if !is_name(name) {
                return Err(AddressError::Name(name.to_owned()));
            }
        }
        Ok(Self {
            host: host.to_ascii_lowercase(),
            namespace: namespace.to_ascii_lowercase(),
            ty: ty.to_ascii_lowercase(),
        })
    }

    /// Whether `text` can only be meant as an address: nothing about it says path.
    pub fn is_meant(text: &str) -> bool {
        text != "builtin" && !text.starts_with(['/', '.', '~'])
    }
}

impl fmt::Display for Address {
    /// With the host, as the lock file writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.namespace, self.ty)
    }
}

fn is_name(text: &str) -> bool {
    let alphanumeric = |c: &u8| c.is_ascii_alphanumeric();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(alphanumeric)
        && bytes.last().is_some_and(alphanumeric)
        && bytes.iter().all(|c| alphanumeric(c) || b"-_".contains(c))
}

/// A DNS name or IPv4 address, perhaps with a port. International names are written in their ASCII form.
fn is_host(text: &str) -> bool {
    let (name, port) = match text.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (text, None),
    };
    // A name without a dot is a namespace written where the host belongs, except for this machine's own.
    let dotted = name.contains('.') || name.eq_ignore_ascii_case("localhost") || port.is_some();
    dotted
        && name
            .split('.')
            .all(|label| is_name(label) && !label.contains('_'))
        && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let rows = [
            ("hashicorp/random", "registry.opentofu.org/hashicorp/random"),
            ("HashiCorp/Random", "registry.opentofu.org/hashicorp/random"),
            ("registry.example.org/a/b-c", "registry.example.org/a/b-c"),
            ("127.0.0.1:8080/ns/fake", "127.0.0.1:8080/ns/fake"),
            ("localhost/ns/fake", "localhost/ns/fake"),
        ];
        for (text, expected) in rows {
            let address = Address::parse(text, DEFAULT_HOST).unwrap();
            assert_eq!(address.to_string(), expected, "{text}");
        }
        let elsewhere = Address::parse("a/b", "mirror.example.org:8443").unwrap();
        assert_eq!(elsewhere.to_string(), "mirror.example.org:8443/a/b");
    }

    #[test]
    fn other_texts_are_refused() {
        let rows = [
            ("random", "is not `[<host>/]", Some("\"hashicorp/random\"")),
            ("a/b/c/d", "is not `[<host>/]", Some("./ or /")),
            ("", "is not", Some("./")),
            ("hashicorp/", "\"\" is no name", None),
            ("-a/b", "\"-a\" is no name", None),
            ("a/b c", "\"b c\" is no name", None),
            ("a/../b", "\"a\" is no host name", None),
            ("host/ns/type", "\"host\" is no host name", None),
            ("h.org:0/ns/type", "\"h.org:0\" is no host name", None),
            ("h..org/ns/type", "\"h..org\" is no host name", None),
            ("münchen.de/ns/type", "is no host name", None),
        ];
        for (text, message, hint) in rows {
            let error = Address::parse(text, DEFAULT_HOST).unwrap_err();
            assert!(error.to_string().contains(message), "{text}: {error}");
            match hint {
                Some(hint) => assert!(error.hint().unwrap().contains(hint), "{text}"),
                None => assert_eq!(error.hint(), None, "{text}"),
            }
        }
    }
}
