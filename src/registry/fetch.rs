//! One package: from a place through all checks into the cache.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::archive::{self, ArchiveError};
use super::cache::Slot;
use super::error::InstallError;
use super::hash::Hash;
use super::offer::{Content, Package, Voucher};
use super::place::{Net, Place};
use super::platform::Platform;
use super::release::Release;
use crate::fs::{self, FileLock, PathError, tree};

/// How long an archive may be, in bytes. The longest today has about 200 MB.
const LONGEST_ARCHIVE: u64 = 2 << 30;

/// How long to wait for another run that is fetching the same package.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// What to get, and what it must be.
pub(super) struct Job<'a> {
    pub(super) release: &'a Release,
    pub(super) platform: &'a Platform,
    /// One of these it must have; anything will do if there are none.
    pub(super) locked: &'a BTreeSet<Hash>,
    /// Where to look, first one first.
    pub(super) places: &'a [Place],
    /// Root of the cache.
    pub(super) cache: &'a Path,
}

/// An archive that passed all checks.
pub(super) struct Verified {
    pub(super) archive: PathBuf,
    /// What is in it.
    pub(super) unpacked: PathBuf,
    pub(super) hashes: BTreeSet<Hash>,
}

/// An unpacked package that passed all checks.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) folder: PathBuf,
    /// Its own hashes.
    pub(super) hashes: BTreeSet<Hash>,
    /// Archives of the same version, signed.
    pub(super) signed: BTreeSet<Hash>,
    /// Who vouched for it; `None` if it was in the cache.
    pub(super) voucher: Option<Voucher>,
}

impl Job<'_> {
    /// Gets the package: from the cache if it is there and fits the lock, else from the first place that has it.
    pub(super) fn run<'n>(
        &self,
        net: impl FnOnce() -> Result<&'n Net, InstallError>,
        tell: fn(&str),
    ) -> Result<Fetched, InstallError> {
        let slot = Slot::new(self.cache, self.release, self.platform)?;
        let _lock = self.exclusive(&slot, tell)?;
        if !self.locked.is_empty()
            && let Some(hashes) = slot.hashes()?
            && !hashes.is_disjoint(self.locked)
        {
            return Ok(Fetched {
                folder: slot.folder,
                hashes,
                signed: BTreeSet::new(),
                voucher: None,
            });
        }
        let net = net()?;
        let (place, package) = self.find(net)?;
        if let Content::Folder(folder) = package.content {
            let hashes = BTreeSet::from([Hash::of_folder(&folder)?]);
            self.check_lock(&hashes, place)?;
            return Ok(Fetched {
                folder,
                hashes,
                signed: BTreeSet::new(),
                voucher: Some(package.voucher),
            });
        }
        if !package.hashes.is_empty()
            && let Some(hashes) = slot.hashes()?
            && self.check_place(&hashes, &package.hashes, place).is_ok()
            && self.check_lock(&hashes, place).is_ok()
        {
            return Ok(Fetched {
                folder: slot.folder,
                hashes,
                signed: package.signed.into_iter().collect(),
                voucher: Some(package.voucher),
            });
        }
        tell(&format!(
            "fetching {} for {} from {place}",
            self.release, self.platform
        ));
        self.store(net, place, package, &slot)
    }

    /// Keeps other runs from changing the package, waiting for one that is fetching it.
    fn exclusive(&self, slot: &Slot, tell: fn(&str)) -> Result<FileLock, InstallError> {
        if let Some(lock) = slot.exclusive(Duration::ZERO)? {
            return Ok(lock);
        }
        tell(&format!(
            "another run is fetching {}: waiting",
            self.release
        ));
        let lock = slot.exclusive(PATIENCE)?;
        lock.ok_or_else(|| InstallError::Busy {
            release: self.boxed(),
        })
    }

    /// The first place that has the package, and the package.
    pub(super) fn find(&self, net: &Net) -> Result<(&Place, Package), InstallError> {
        for place in self.places {
            let package = place.package(net, self.release, self.platform);
            let package = package.map_err(|source| InstallError::Place {
                address: Box::new(self.release.address.clone()),
                source,
            })?;
            if let Some(package) = package {
                return Ok((place, package));
            }
        }
        Err(InstallError::NoPackage {
            release: self.boxed(),
            platform: self.platform.clone(),
            places: named(self.places),
        })
    }

    /// Gets an archive through all checks into the cache.
    fn store(
        &self,
        net: &Net,
        place: &Place,
        package: Package,
        slot: &Slot,
    ) -> Result<Fetched, InstallError> {
        let staging = slot.staging()?;
        let verified = self.verified(net, place, &package, staging.path())?;
        let Verified {
            unpacked, hashes, ..
        } = verified;
        // Some archives are made where files have no modes.
        tree::make_executable(&program(&unpacked, self.release)?)?;
        slot.store(&unpacked, &hashes)?;
        Ok(Fetched {
            folder: slot.folder.clone(),
            hashes,
            signed: package.signed.into_iter().collect(),
            voucher: Some(package.voucher),
        })
    }

    /// The archive of a package, and what is in it, in the empty `folder`, after all checks.
    pub(super) fn verified(
        &self,
        net: &Net,
        place: &Place,
        package: &Package,
        folder: &Path,
    ) -> Result<Verified, InstallError> {
        let archive = self.archive(net, &package.content, folder)?;
        // What is not what it should be is not even looked into.
        let archive_hash = Hash::of_archive(&archive)?;
        self.check_place(&[archive_hash.clone()].into(), &package.hashes, place)?;
        let unpacked = folder.join("package");
        fs::create_dir(&unpacked)?;
        let failed = |source: ArchiveError| InstallError::Archive {
            release: self.boxed(),
            source,
        };
        archive::unpack(&archive, &unpacked).map_err(failed)?;
        let hashes = BTreeSet::from([archive_hash, Hash::of_folder(&unpacked)?]);
        self.check_place(&hashes, &package.hashes, place)?;
        self.check_lock(&hashes, place)?;
        Ok(Verified {
            archive,
            unpacked,
            hashes,
        })
    }

    /// The archive on this machine, fetched into `folder` if need be.
    fn archive(
        &self,
        net: &Net,
        content: &Content,
        folder: &Path,
    ) -> Result<PathBuf, InstallError> {
        match content {
            Content::Archive(path) => Ok(path.clone()),
            Content::Remote(url) => {
                let path = folder.join("archive.zip");
                let mut file = tree::create(&path, fs::PRIVATE)?;
                let fetched = net.client.download(url, LONGEST_ARCHIVE, &mut file);
                fetched.map_err(|source| InstallError::Download {
                    release: self.boxed(),
                    source,
                })?;
                Ok(path)
            }
            Content::Folder(path) => Err(InstallError::Unpacked {
                release: self.boxed(),
                place: path.display().to_string(),
            }),
        }
    }

    /// The package is what the place says: of each kind of hash that it names, one fits.
    fn check_place(
        &self,
        found: &BTreeSet<Hash>,
        expected: &[Hash],
        place: &Place,
    ) -> Result<(), InstallError> {
        for own in found {
            let of_kind = |h: &&Hash| std::mem::discriminant(*h) == std::mem::discriminant(own);
            let mut expected = expected.iter().filter(of_kind).peekable();
            let Some(first) = expected.peek().map(ToString::to_string) else {
                continue;
            };
            if !expected.any(|hash| hash == own) {
                return Err(InstallError::Checksum {
                    release: self.boxed(),
                    place: place.to_string(),
                    expected: first,
                    found: own.to_string(),
                });
            }
        }
        Ok(())
    }

    fn boxed(&self) -> Box<Release> {
        Box::new(self.release.clone())
    }

    /// The package is one of those that were locked.
    fn check_lock(&self, found: &BTreeSet<Hash>, place: &Place) -> Result<(), InstallError> {
        if self.locked.is_empty() || !found.is_disjoint(self.locked) {
            return Ok(());
        }
        Err(InstallError::Locked {
            release: self.boxed(),
            place: place.to_string(),
            found: found
                .iter()
                .next()
                .map_or_else(String::new, Hash::to_string),
            locked: self.locked.len(),
        })
    }
}

/// The program in an unpacked package.
pub(super) fn program(folder: &Path, release: &Release) -> Result<PathBuf, InstallError> {
    let prefix = format!("terraform-provider-{}", release.address.ty);
    let files: Result<Vec<PathBuf>, PathError> = fs::list(folder);
    let is_program = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let rest = name.and_then(|name| name.strip_prefix(&prefix));
        path.is_file() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']))
    };
    files?
        .into_iter()
        .find(is_program)
        .ok_or_else(|| InstallError::NoProgram {
            release: Box::new(release.clone()),
        })
}

/// Several places in words.
pub(super) fn named(places: &[Place]) -> String {
    let all: Vec<String> = places.iter().map(Place::to_string).collect();
    all.join(" or ")
}
