//! The network mirror protocol: `index.json` and one document for each version, below one URL for all hosts.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::address::Address;
use super::direct::found;
use super::http::{Answer, Client, HttpError};
use super::offer::{Content, Offer, Package, Voucher};
use super::platform::Platform;
use super::release::Release;
use super::url::{Url, UrlError};

/// How long a document may be, in bytes.
const LONGEST_DOCUMENT: u64 = 4 << 20;

/// Why a mirror could not be used.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// The server cannot be asked.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// An answer is not what the protocol says.
    #[error("{url} is not what a provider mirror answers: {source}")]
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
}

#[derive(Deserialize)]
struct Index {
    versions: BTreeMap<String, Json>,
}

/// The document of one version.
#[derive(Default, Deserialize, Serialize)]
pub(super) struct Archives {
    pub(super) archives: BTreeMap<String, ArchiveEntry>,
}

/// One package in it.
#[derive(Deserialize, Serialize)]
pub(super) struct ArchiveEntry {
    pub(super) url: String,
    #[serde(default)]
    pub(super) hashes: Vec<String>,
}

/// The versions of a provider; `None` if the mirror does not have it.
pub(super) fn versions(
    client: &Client,
    base: &Url,
    address: &Address,
) -> Result<Option<Vec<Offer>>, MirrorError> {
    let url = join(base, &format!("{address}/index.json"))?;
    let Some(answer) = found(client.get(&url, LONGEST_DOCUMENT))? else {
        return Ok(None);
    };
    let index: Index = read(&answer)?;
    let versions = index.versions.keys().filter_map(|text| text.parse().ok());
    let offer = |version| Offer {
        version,
        protocols: None,
        platforms: None,
    };
    Ok(Some(versions.map(offer).collect()))
}

/// The package of a version; `None` if there is none for the platform.
pub(super) fn package(
    client: &Client,
    base: &Url,
    release: &Release,
    platform: &Platform,
) -> Result<Option<Package>, MirrorError> {
    let Release { address, version } = release;
    let url = join(base, &format!("{address}/{version}.json"))?;
    let Some(answer) = found(client.get(&url, LONGEST_DOCUMENT))? else {
        return Ok(None);
    };
    let mut document: Archives = read(&answer)?;
    let Some(entry) = document.archives.remove(&platform.to_string()) else {
        return Ok(None);
    };
    Ok(Some(Package {
        content: Content::Remote(join(&answer.url, &entry.url)?),
        // Of hashes of another kind we could not tell whether they fit.
        hashes: entry.hashes.iter().filter_map(|h| h.parse().ok()).collect(),
        signed: Vec::new(),
        voucher: Voucher::Mirror,
    }))
}

fn read<T: DeserializeOwned>(answer: &Answer) -> Result<T, MirrorError> {
    serde_json::from_slice(&answer.body).map_err(|source| MirrorError::Answer {
        url: answer.url.clone(),
        source,
    })
}

fn join(base: &Url, text: &str) -> Result<Url, MirrorError> {
    base.join(text).map_err(|source| MirrorError::Url {
        url: base.clone(),
        source,
    })
}
