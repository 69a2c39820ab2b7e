//! What a place has to offer: versions of a provider, and the package of one.

use std::path::PathBuf;

use super::hash::Hash;
use super::platform::Platform;
use super::url::Url;
use super::version::Version;

/// One version of a provider. What a place does not tell before the package is asked for is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    pub(super) version: Version,
    /// Plugin protocols, such as `5.0`.
    pub(super) protocols: Option<Vec<String>>,
    pub(super) platforms: Option<Vec<Platform>>,
}

/// The package of one version for one platform.
#[derive(Clone, Debug)]
pub(super) struct Package {
    pub(super) content: Content,
    /// What the place says the package is: it must match one of each kind. Empty if it says nothing.
    pub(super) hashes: Vec<Hash>,
    /// Archives of the same version for all platforms, vouched for by a signature.
    pub(super) signed: Vec<Hash>,
    /// Who vouches for it, for people.
    pub(super) voucher: Voucher,
}

/// Where a package's bytes are.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// An archive to be fetched.
    Remote(Url),
    /// An archive on this machine.
    Archive(PathBuf),
    /// An unpacked package on this machine, to be used where it is.
    Folder(PathBuf),
}

/// Who vouches for a package beyond the place it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Voucher {
    /// The key with this id.
    Key(String),
    /// The registry names no keys for this provider.
    Unsigned,
    /// Mirrors do not sign.
    Mirror,
}
