//! The line a plugin prints to say where it listens (go-plugin handshake).
//!
//! `core version | app version | network | address [| rpc protocol [| certificate [| multiplexing]]]`

use std::path::PathBuf;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::rpc::Protocol;

/// Version of the handshake line itself.
const CORE_VERSION: &str = "1";

/// A certificate field this short is not one: old servers put other text there.
const LONGEST_JUNK: usize = 50;

/// Go writes the certificate without padding; be liberal in what is read.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What a plugin says at its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// Protocol it chose among those offered.
    pub protocol: Protocol,
    /// Where it listens.
    pub address: Address,
    /// DER of the certificate it will present; `None` if it speaks plain text.
    pub certificate: Option<Vec<u8>>,
}

/// Where a plugin listens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// A Unix domain socket.
    Unix(PathBuf),
    /// `host:port`.
    Tcp(String),
}

/// Why a line is not a usable handshake.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// The line has another form altogether.
    #[error("it printed {line:?}, which is not a plugin handshake")]
    NotAPlugin {
        /// What was printed, shortened.
        line: String,
    },
    /// The handshake is of another generation.
    #[error("it speaks version {0:?} of the plugin handshake, version {CORE_VERSION} is supported")]
    CoreVersion(String),
    /// Neither protocol 5 nor 6.
    #[error("it speaks provider protocol {0:?}, versions 5 and 6 are supported")]
    Protocol(String),
    /// Neither a Unix socket nor TCP.
    #[error("it listens on network {0:?}, \"unix\" and \"tcp\" are supported")]
    Network(String),
    /// Not gRPC.
    #[error("it speaks {0:?} instead of gRPC")]
    Rpc(String),
    /// The certificate field cannot be decoded.
    #[error("the certificate in its handshake is not base64")]
    Certificate,
}

impl Handshake {
    /// Reads the first line a plugin printed.
    ///
    /// # Examples
    ///
    /// ```
    /// use nivis::provider::{Address, Handshake};
    ///
    /// let handshake = Handshake::parse("1|6|unix|/tmp/plugin1|grpc|\n").unwrap();
    /// assert_eq!(handshake.address, Address::Unix("/tmp/plugin1".into()));
    /// ```
    pub fn parse(line: &str) -> Result<Self, HandshakeError> {
        let fields: Vec<&str> = line.trim().split('|').collect();
        let [core, protocol, network, address, ..] = fields[..] else {
            return Err(HandshakeError::NotAPlugin {
                line: shorten(line.trim()),
            });
        };
        if core.parse::<u64>().is_err() {
            return Err(HandshakeError::NotAPlugin {
                line: shorten(line.trim()),
            });
        }
        if core != CORE_VERSION {
            return Err(HandshakeError::CoreVersion(core.to_owned()));
        }
        let protocol = Protocol::from_number(protocol)
            .ok_or_else(|| HandshakeError::Protocol(protocol.to_owned()))?;
        let address = match network {
            "unix" => Address::Unix(address.into()),
            "tcp" => Address::Tcp(address.to_owned()),
            other => return Err(HandshakeError::Network(other.to_owned())),
        };
        match fields.get(4).copied().unwrap_or("netrpc") {
            "grpc" => {}
            other => return Err(HandshakeError::Rpc(other.to_owned())),
        }
        let certificate = match fields.get(5) {
            Some(text) if text.len() > LONGEST_JUNK => Some(
                BASE64
                    .decode(text)
                    .map_err(|_| HandshakeError::Certificate)?,
            ),
            _ => None,
        };
        Ok(Self {
            protocol,
            address,
            certificate,
        })
    }
}

/// The beginning of a line that may be anything.
fn shorten(line: &str) -> String {
    const LIMIT: usize = 200;
    match line.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good(line: &str) -> Handshake {
        Handshake::parse(line).unwrap_or_else(|e| panic!("{line}: {e}"))
    }

    #[test]
    fn accepts_what_plugins_print() {
        let plain = Handshake {
            protocol: Protocol::V5,
            address: Address::Unix("/tmp/plugin123".into()),
            certificate: None,
        };
        for line in [
            "1|5|unix|/tmp/plugin123|grpc",
            "1|5|unix|/tmp/plugin123|grpc|\n",
            "  1|5|unix|/tmp/plugin123|grpc||false\r\n",
            "1|5|unix|/tmp/plugin123|grpc|old servers put junk here",
        ] {
            assert_eq!(good(line), plain, "{line}");
        }
        let tcp = good("1|6|tcp|127.0.0.1:10000|grpc|");
        assert_eq!(tcp.protocol, Protocol::V6);
        assert_eq!(tcp.address, Address::Tcp("127.0.0.1:10000".to_owned()));
    }

    #[test]
    fn decodes_the_certificate_with_and_without_padding() {
        let der = vec![7; 40];
        for text in [
            "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBw",
            "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBw==",
        ] {
            let line = format!("1|6|unix|/tmp/p|grpc|{text}");
            assert_eq!(good(&line).certificate, Some(der.clone()), "{text}");
        }
    }

    #[test]
    fn refuses_with_the_reason() {
        let not_a_plugin = |line: &str| HandshakeError::NotAPlugin {
            line: line.to_owned(),
        };
        let bad_base64 = format!("1|6|unix|/tmp/p|grpc|{}", "!".repeat(60));
        let cases = [
            ("", not_a_plugin("")),
            ("hello", not_a_plugin("hello")),
            ("1|5|unix", not_a_plugin("1|5|unix")),
            ("a|b|c|d", not_a_plugin("a|b|c|d")),
            (
                "2|5|unix|/p|grpc",
                HandshakeError::CoreVersion("2".to_owned()),
            ),
            ("1|4|unix|/p|grpc", HandshakeError::Protocol("4".to_owned())),
            ("1|7|unix|/p|grpc", HandshakeError::Protocol("7".to_owned())),
            (
                "1|6|pipe|/p|grpc",
                HandshakeError::Network("pipe".to_owned()),
            ),
            ("1|6|unix|/p", HandshakeError::Rpc("netrpc".to_owned())),
            (
                "1|6|unix|/p|netrpc",
                HandshakeError::Rpc("netrpc".to_owned()),
            ),
            (&bad_base64, HandshakeError::Certificate),
        ];
        for (line, error) in cases {
            assert_eq!(Handshake::parse(line), Err(error), "{line}");
        }
    }

    #[test]
    fn shows_only_the_beginning_of_a_long_line() {
        let error = Handshake::parse(&"ä".repeat(1000)).unwrap_err();
        assert!(error.to_string().len() < 500, "{error}");
    }
}
