//! Why a provider could not be installed.

use std::path::PathBuf;

use super::address::Address;
use super::archive::ArchiveError;
use super::http::HttpError;
use super::lock_file::LockFileError;
use super::place::PlaceError;
use super::platform::Platform;
use super::release::Release;
use super::select::{SelectError, Wants};
use crate::fs::PathError;

/// Why a provider could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// A place could not be used.
    #[error("{address}: {source}")]
    Place {
        /// The provider.
        address: Box<Address>,
        /// What happened.
        source: PlaceError,
    },
    /// Nobody knows the provider.
    #[error("{address} is not known to {places}")]
    Unknown {
        /// The provider.
        address: Box<Address>,
        /// Who was asked.
        places: String,
    },
    /// No version can be chosen.
    #[error(transparent)]
    Select(#[from] Box<SelectError>),
    /// Nobody has the package.
    #[error("{release} for {platform} is not to be had from {places}")]
    NoPackage {
        /// The version.
        release: Box<Release>,
        /// For what.
        platform: Platform,
        /// Who was asked.
        places: String,
    },
    /// The archive could not be fetched.
    #[error("{release}: {source}")]
    Download {
        /// The version.
        release: Box<Release>,
        /// What happened.
        source: HttpError,
    },
    /// The archive is not what the place says.
    #[error(
        "the package of {release} from {place} has the hash {found}, but should have {expected}"
    )]
    Checksum {
        /// The version.
        release: Box<Release>,
        /// Where it is from.
        place: String,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// The package is not the one that was locked.
    #[error(
        "the package of {release} from {place} has the hash {found}, which is none of the {locked} in the lock file"
    )]
    Locked {
        /// The version.
        release: Box<Release>,
        /// Where it is from.
        place: String,
        /// What it is.
        found: String,
        /// How many hashes are locked.
        locked: usize,
    },
    /// The locked version is not wanted any more.
    #[error("{} is locked to {}, which is not {wants}", .release.address, .release.version)]
    LockedVersion {
        /// The version in the lock file.
        release: Box<Release>,
        /// What is wanted.
        wants: Wants,
    },
    /// The archive cannot be unpacked.
    #[error("{release}: {source}")]
    Archive {
        /// The version.
        release: Box<Release>,
        /// What is wrong.
        source: ArchiveError,
    },
    /// The package has no program.
    #[error("the package of {release} has no file terraform-provider-{}*", .release.address.ty)]
    NoProgram {
        /// The version.
        release: Box<Release>,
    },
    /// A mirror is made of archives.
    #[error("{release} is only there unpacked, in {place}, and a mirror takes archives")]
    Unpacked {
        /// The version.
        release: Box<Release>,
        /// Where it is.
        place: String,
    },
    /// Another run does not let go of the cache.
    #[error("another run has been fetching {release} for too long")]
    Busy {
        /// The version.
        release: Box<Release>,
    },
    /// The lock file has to stay as it is.
    #[error("{} would have to change, and is read-only: {}", .path.display(), .changes.join("; "))]
    ReadOnly {
        /// The lock file.
        path: PathBuf,
        /// What would have to change.
        changes: Vec<String>,
    },
    /// There is nowhere to put packages.
    #[error("there is no folder for a cache of providers")]
    NoCache,
    /// The lock file.
    #[error(transparent)]
    LockFile(#[from] LockFileError),
    /// There can be no HTTP client.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The cache, or the mirror that is made.
    #[error(transparent)]
    File(#[from] PathError),
}

impl InstallError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Place { source, .. } => return source.hint(),
            Self::Select(error) => return error.hint(),
            Self::Unknown { address, .. } => {
                return Some(format!(
                    "is `{}/{}` spelled as its registry has it? A path starts with ./ or /",
                    address.namespace, address.ty
                ));
            }
            Self::Checksum { .. } => {
                "the download or the place is damaged; do not use this package if that stays so"
            }
            Self::Locked { .. } => {
                "if it was locked on another platform, run `nivis providers lock --platform` with both; \
                 otherwise somebody has changed a published package: do not use it"
            }
            Self::LockedVersion { .. } => "run `nivis providers lock` to choose another version",
            Self::NoPackage { .. } => {
                "run `nivis providers lock --upgrade` to choose a version that is there"
            }
            Self::ReadOnly { .. } => {
                "run `nivis providers lock` without `--lockfile=readonly`, and keep the lock file with the configuration"
            }
            Self::NoCache => "set NIVIS_PROVIDER_CACHE or HOME",
            Self::Unpacked { .. } => "name a registry in NIVIS_PROVIDER_MIRROR: `direct`",
            Self::LockFile(LockFileError::Format { .. }) => "use a newer nivis",
            Self::LockFile(_) => {
                "restore the lock file, or remove it and run `nivis providers lock`"
            }
            Self::Http(source) | Self::Download { source, .. } => return source.hint(),
            Self::Archive { .. } | Self::NoProgram { .. } | Self::Busy { .. } | Self::File(_) => {
                return None;
            }
        };
        Some(text.to_owned())
    }
}
