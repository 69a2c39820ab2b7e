//! Providers that run already, started by a developer or a test (`TF_REATTACH_PROVIDERS`).

use std::collections::BTreeMap;

use serde::Deserialize;

use super::address::provider_address;
use super::handshake::Address;
use super::rpc::Protocol;

/// The providers that run already, by source address or by their id in the stack.
#[derive(Clone, Debug, Default)]
pub struct Reattach(BTreeMap<String, Running>);

/// A provider that runs already.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Running {
    /// Where it listens, without encryption.
    pub address: Address,
    /// What it speaks.
    pub protocol: Protocol,
    /// Whether it goes on when we are done with it.
    pub stays: bool,
}

/// Why the text does not describe running providers.
#[derive(Debug, thiserror::Error)]
pub enum ReattachError {
    /// Not JSON, or not of that shape.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A protocol or network that is not supported.
    #[error("{provider}: {what} {found:?} is not supported")]
    Unsupported {
        /// Its key.
        provider: String,
        /// What it is about.
        what: &'static str,
        /// What was found.
        found: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    protocol: String,
    #[serde(default)]
    protocol_version: u64,
    #[serde(default)]
    test: bool,
    addr: Listening,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Listening {
    network: String,
    string: String,
}

impl Reattach {
    /// Reads the JSON object that plugins print when they are started for debugging.
    ///
    /// # Examples
    ///
    /// ```
    /// use nivis::provider::Reattach;
    ///
    /// let text = r#"{"hashicorp/random": {"Protocol": "grpc", "ProtocolVersion": 6, "Pid": 7, "Test": true,
    ///     "Addr": {"Network": "unix", "String": "/tmp/plugin7"}}}"#;
    /// let running = Reattach::parse(text).unwrap();
    /// assert!(running.find("random", "registry.terraform.io/hashicorp/random").is_some());
    /// assert!(running.find("dice", "hashicorp/time").is_none());
    /// ```
    pub fn parse(text: &str) -> Result<Self, ReattachError> {
        let entries: BTreeMap<String, Entry> = serde_json::from_str(text)?;
        let running = entries.into_iter().map(|(provider, entry)| {
            let unsupported = |what, found: &str| ReattachError::Unsupported {
                provider: provider.clone(),
                what,
                found: found.to_owned(),
            };
            if entry.protocol != "grpc" {
                return Err(unsupported("protocol", &entry.protocol));
            }
            let protocol = match entry.protocol_version {
                0 | 5 => Protocol::V5,
                6 => Protocol::V6,
                other => return Err(unsupported("protocol version", &other.to_string())),
            };
            let address = match entry.addr.network.as_str() {
                "unix" => Address::Unix(entry.addr.string.into()),
                "tcp" => Address::Tcp(entry.addr.string),
                other => return Err(unsupported("network", other)),
            };
            let stays = entry.test;
            let running = Running {
                address,
                protocol,
                stays,
            };
            Ok((provider, running))
        });
        running.collect::<Result<_, _>>().map(Self)
    }

    /// The running process for the provider `id` with this source.
    pub fn find(&self, id: &str, source: &str) -> Option<&Running> {
        let full = |source: &str| provider_address(source, None).map(|address| address.text);
        let wanted = full(source);
        let is_it = |key: &str| key == id || key == source || full(key) == wanted;
        self.0
            .iter()
            .find(|(key, _)| is_it(key))
            .map(|(_, running)| running)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_used_says_why() {
        let entry = |protocol: &str, version: u64, network: &str| {
            format!(
                r#"{{"p":{{"Protocol":"{protocol}","ProtocolVersion":{version},"Addr":{{"Network":"{network}","String":"x"}}}}}}"#
            )
        };
        for (text, message) in [
            ("{", "EOF"),
            (r#"{"p":{"Protocol":"grpc"}}"#, "missing field `Addr`"),
            (&entry("netrpc", 5, "unix"), "p: protocol \"netrpc\" is not"),
            (
                &entry("grpc", 4, "unix"),
                "p: protocol version \"4\" is not",
            ),
            (&entry("grpc", 5, "udp"), "p: network \"udp\" is not"),
        ] {
            let error = Reattach::parse(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn the_version_is_5_unless_given_and_ids_count_as_well() {
        let text = r#"{"p":{"Protocol":"grpc","Addr":{"Network":"tcp","String":"127.0.0.1:1"}}}"#;
        let running = Reattach::parse(text).unwrap();
        let found = running.find("p", "/some/where").unwrap();
        assert_eq!(found.protocol, Protocol::V5);
        assert!(!found.stays);
        assert_eq!(running.find("q", "/some/where"), None);
    }
}
