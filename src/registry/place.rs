//! Where packages may come from: registries, network mirrors, filesystem mirrors.

use std::fmt;
use std::path::{Path, PathBuf};

use super::address::Address;
use super::direct::{Direct, DirectError};
use super::folder;
use super::http::Client;
use super::mirror::{self, MirrorError};
use super::offer::{Offer, Package};
use super::platform::Platform;
use super::release::Release;
use super::url::{Url, UrlError};
use crate::fs::PathError;

/// A place that packages may come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The registry that the provider's address names.
    Direct,
    /// A network mirror; its URL ends in `/`.
    Mirror(Url),
    /// A filesystem mirror.
    Folder(PathBuf),
}

/// A place could not be used.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// A registry.
    #[error(transparent)]
    Direct(#[from] DirectError),
    /// A network mirror.
    #[error(transparent)]
    Mirror(#[from] MirrorError),
    /// A filesystem mirror.
    #[error(transparent)]
    Folder(#[from] PathError),
}

impl PlaceError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Direct(DirectError::Http(error)) | Self::Mirror(MirrorError::Http(error)) => {
                error.hint()
            }
            Self::Direct(DirectError::Signature { .. } | DirectError::Unlisted { .. }) => Some(
                "do not use this package; tell the registry and the provider's authors".to_owned(),
            ),
            _ => None,
        }
    }
}

impl Place {
    /// Reads a list separated by commas: the word `direct`, URLs of network mirrors, folders of filesystem mirrors.
    pub fn parse_list(text: &str, working_dir: &Path) -> Result<Vec<Self>, UrlError> {
        let items = text.split(',').map(str::trim).filter(|t| !t.is_empty());
        let place = |item: &str| {
            if item == "direct" {
                return Ok(Self::Direct);
            }
            if !item.contains("://") {
                return Ok(Self::Folder(working_dir.join(item)));
            }
            let slash = if item.ends_with('/') { "" } else { "/" };
            Url::parse(&format!("{item}{slash}")).map(Self::Mirror)
        };
        items.map(place).collect()
    }

    /// The versions of a provider that the place has; `None` if it does not know the provider.
    pub(super) fn versions(
        &self,
        net: &Net,
        address: &Address,
    ) -> Result<Option<Vec<Offer>>, PlaceError> {
        Ok(match self {
            Self::Direct => net.direct.versions(&net.client, address)?,
            Self::Mirror(base) => mirror::versions(&net.client, base, address)?,
            Self::Folder(root) => folder::versions(root, address)?,
        })
    }

    /// A package; `None` if the place does not have it.
    pub(super) fn package(
        &self,
        net: &Net,
        release: &Release,
        platform: &Platform,
    ) -> Result<Option<Package>, PlaceError> {
        Ok(match self {
            Self::Direct => net.direct.package(&net.client, release, platform)?,
            Self::Mirror(base) => mirror::package(&net.client, base, release, platform)?,
            Self::Folder(root) => folder::package(root, release, platform)?,
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Direct => f.write_str("its registry"),
            Self::Mirror(url) => write!(f, "the mirror {url}"),
            Self::Folder(path) => write!(f, "the mirror {}", path.display()),
        }
    }
}

/// What reaching places takes.
pub(super) struct Net {
    pub(super) client: Client,
    pub(super) direct: Direct,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_places_are_read() {
        let places = Place::parse_list(
            "mirror, /srv/mirror,https://m.example.org/p, direct,",
            Path::new("/work"),
        )
        .unwrap();
        let shown: Vec<String> = places.iter().map(Place::to_string).collect();
        let expected = [
            "the mirror /work/mirror",
            "the mirror /srv/mirror",
            "the mirror https://m.example.org/p/",
            "its registry",
        ];
        assert_eq!(shown, expected);
        assert!(Place::parse_list("http://m.example.org/", Path::new("/")).is_err());
    }
}
