//! The provider registry protocol: service discovery, versions, packages with signed checksums.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::address::Address;
use super::hash::{Hash, HashError};
use super::http::{Answer, Client, HttpError};
use super::offer::{Content, Offer, Package, Voucher};
use super::platform::Platform;
use super::release::Release;
use super::signature::{self, SignatureError};
use super::url::{Url, UrlError};

/// How long a document may be, in bytes. The longest list of versions has about 1 MB.
const LONGEST_DOCUMENT: u64 = 16 << 20;

/// Why a registry could not be used.
#[derive(Debug, thiserror::Error)]
pub enum DirectError {
    /// The server cannot be asked.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The host has no providers.
    #[error("{0} is no provider registry")]
    NoRegistry(String),
    /// An answer is not what the protocol says.
    #[error("{url} is not what a provider registry answers: {source}")]
    Answer {
        /// What was asked for.
        url: Url,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// An answer names a URL that cannot be used.
    #[error("{url} names a URL that cannot be used: {source}")]
    Url {
        /// What was asked for.
        url: Url,
        /// What is wrong.
        source: UrlError,
    },
    /// The list of checksums does not have the package, or not with the same checksum.
    #[error("{url} does not list {file} with the checksum that the registry names")]
    Unlisted {
        /// The list.
        url: Url,
        /// Name of the archive.
        file: String,
    },
    /// A checksum is none.
    #[error("{url}: {source}")]
    Checksum {
        /// The list.
        url: Url,
        /// What is wrong.
        source: HashError,
    },
    /// The list of checksums is not signed as it must be.
    #[error("{url}: {source}")]
    Signature {
        /// The list.
        url: Url,
        /// What is wrong.
        source: SignatureError,
    },
}

#[derive(Deserialize)]
struct Versions {
    versions: Vec<VersionEntry>,
}

#[derive(Deserialize)]
struct VersionEntry {
    #[serde(rename = "version")]
    number: String,
    #[serde(default)]
    protocols: Option<Vec<String>>,
    #[serde(default)]
    platforms: Option<Vec<PlatformEntry>>,
}

#[derive(Deserialize)]
struct PlatformEntry {
    os: String,
    arch: String,
}

#[derive(Deserialize)]
struct PackageEntry {
    filename: String,
    download_url: String,
    shasum: String,
    shasums_url: String,
    shasums_signature_url: String,
    #[serde(default)]
    signing_keys: SigningKeys,
}

#[derive(Default, Deserialize)]
struct SigningKeys {
    #[serde(default)]
    gpg_public_keys: Vec<Key>,
}

#[derive(Deserialize)]
struct Key {
    ascii_armor: String,
}

/// Registries, by host.
#[derive(Default)]
pub(super) struct Direct {
    /// Where the hosts asked so far have their providers.
    services: Mutex<BTreeMap<String, Url>>,
}

impl Direct {
    /// The versions of a provider; `None` if the registry does not know it.
    pub(super) fn versions(
        &self,
        client: &Client,
        address: &Address,
    ) -> Result<Option<Vec<Offer>>, DirectError> {
        let base = self.service(client, &address.host)?;
        let url = join(
            &base,
            &format!("{}/{}/versions", address.namespace, address.ty),
        )?;
        let Some(answer) = found(client.get(&url, LONGEST_DOCUMENT))? else {
            return Ok(None);
        };
        let document: Versions = read(&answer)?;
        let offers = document.versions.into_iter().filter_map(|entry| {
            let platforms = entry.platforms.map(|platforms| {
                let platform = |PlatformEntry { os, arch }| Platform { os, arch };
                platforms.into_iter().map(platform).collect()
            });
            Some(Offer {
                // What is no version can be asked for by nobody.
                version: entry.number.parse().ok()?,
                protocols: entry.protocols.filter(|all| !all.is_empty()),
                platforms,
            })
        });
        Ok(Some(offers.collect()))
    }

    /// The package of a version, its checksum verified to be signed; `None` if there is none for the platform.
    pub(super) fn package(
        &self,
        client: &Client,
        release: &Release,
        platform: &Platform,
    ) -> Result<Option<Package>, DirectError> {
        let Release { address, version } = release;
        let base = self.service(client, &address.host)?;
        let Address { namespace, ty, .. } = address;
        let Platform { os, arch } = platform;
        let url = join(
            &base,
            &format!("{namespace}/{ty}/{version}/download/{os}/{arch}"),
        )?;
        let Some(answer) = found(client.get(&url, LONGEST_DOCUMENT))? else {
            return Ok(None);
        };
        let download: PackageEntry = read(&answer)?;
        let sums_url = join(&answer.url, &download.shasums_url)?;
        let sums = client.get(&sums_url, LONGEST_DOCUMENT)?.body;
        let voucher = if download.signing_keys.gpg_public_keys.is_empty() {
            Voucher::Unsigned
        } else {
            let url = join(&answer.url, &download.shasums_signature_url)?;
            let signature = client.get(&url, LONGEST_DOCUMENT)?.body;
            let keys = download.signing_keys.gpg_public_keys.into_iter();
            let keys: Vec<String> = keys.map(|key| key.ascii_armor).collect();
            let key = signature::verify(&sums, &signature, &keys);
            Voucher::Key(key.map_err(|source| {
                let url = sums_url.clone();
                DirectError::Signature { url, source }
            })?)
        };
        let checksum = |source| {
            let url = sums_url.clone();
            DirectError::Checksum { url, source }
        };
        let listed = checksums(&sums).map_err(checksum)?;
        let expected = Hash::from_hex(&download.shasum).map_err(checksum)?;
        if listed.get(&download.filename) != Some(&expected) {
            return Err(DirectError::Unlisted {
                url: sums_url,
                file: download.filename,
            });
        }
        let archives = listed.into_iter().filter(|(name, _)| is_zip(name));
        Ok(Some(Package {
            content: Content::Remote(join(&answer.url, &download.download_url)?),
            hashes: vec![expected],
            signed: archives.map(|(_, hash)| hash).collect(),
            voucher,
        }))
    }

    /// Where a host has its providers, asked once.
    fn service(&self, client: &Client, host: &str) -> Result<Url, DirectError> {
        let mut services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(base) = services.get(host) {
            return Ok(base.clone());
        }
        let no_registry = || DirectError::NoRegistry(host.to_owned());
        let root = Url::of_host(host).map_err(|_| no_registry())?;
        let url = join(&root, "/.well-known/terraform.json")?;
        let answer = found(client.get(&url, LONGEST_DOCUMENT))?.ok_or_else(no_registry)?;
        let document: BTreeMap<String, serde_json::Value> = read(&answer)?;
        let base = document.get("providers.v1").and_then(|base| base.as_str());
        let base = join(&answer.url, base.ok_or_else(no_registry)?)?;
        services.insert(host.to_owned(), base.clone());
        Ok(base)
    }
}

/// `None` instead of the error that there is none.
pub(super) fn found(answer: Result<Answer, HttpError>) -> Result<Option<Answer>, HttpError> {
    match answer {
        Err(HttpError::NotFound { .. }) => Ok(None),
        answer => answer.map(Some),
    }
}

fn read<T: DeserializeOwned>(answer: &Answer) -> Result<T, DirectError> {
    serde_json::from_slice(&answer.body).map_err(|source| DirectError::Answer {
        url: answer.url.clone(),
        source,
    })
}

fn join(base: &Url, text: &str) -> Result<Url, DirectError> {
    base.join(text).map_err(|source| DirectError::Url {
        url: base.clone(),
        source,
    })
}

fn is_zip(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, end)| end == "zip")
}

/// The lines of a checksum file: 64 digits, two characters, a name.
fn checksums(text: &[u8]) -> Result<BTreeMap<String, Hash>, HashError> {
    let text = String::from_utf8_lossy(text);
    let lines = text.lines().filter_map(|line| {
        let (digits, name) = line.split_once(char::is_whitespace)?;
        let name = name.trim_start().trim_start_matches('*');
        Some(Hash::from_hex(digits).map(|hash| (name.to_owned(), hash)))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_files_are_read() {
        let (a, b) = ("a".repeat(64), "b".repeat(64));
        let text = format!("{a}  one.zip\n{b} *two.json\n\n");
        let sums = checksums(text.as_bytes()).unwrap();
        let shown: Vec<_> = sums.iter().map(|(n, h)| format!("{n} {h}")).collect();
        assert_eq!(
            shown,
            [format!("one.zip zh:{a}"), format!("two.json zh:{b}")]
        );
        assert!(checksums(b"abc  one.zip\n").is_err());
    }
}
