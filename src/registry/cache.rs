//! Unpacked packages shared by all stacks of a user: `<host>/<namespace>/<type>/<version>/<platform>/`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::hash::Hash;
use super::platform::Platform;
use super::release::Release;
use crate::fs::{self, FileLock, PathError, PrivateDir, tree};

/// The place of one package in the cache.
pub(super) struct Slot {
    /// The unpacked package.
    pub(super) folder: PathBuf,
    /// What is known of it.
    record: PathBuf,
    lock: PathBuf,
    /// Where the next one is unpacked.
    staging: PathBuf,
}

/// What is written beside a package.
#[derive(Serialize, Deserialize)]
struct Record {
    /// Its hashes when it was unpacked.
    hashes: Vec<String>,
    /// What its files looked like when they were hashed last; hashing hundreds of megabytes for each run takes too long.
    files: BTreeMap<String, String>,
}

impl Slot {
    /// The place of a package in the cache at `root`. Makes the folder that holds it.
    pub(super) fn new(
        root: &Path,
        release: &Release,
        platform: &Platform,
    ) -> Result<Self, PathError> {
        let Release { address, version } = release;
        let parent = root
            .join(&address.host)
            .join(&address.namespace)
            .join(&address.ty)
            .join(version.to_string());
        fs::create_dir(&parent)?;
        let at = |end: &str| parent.join(format!("{platform}{end}"));
        Ok(Self {
            folder: at(""),
            record: at(".json"),
            lock: at(".lock"),
            staging: at(".new"),
        })
    }

    /// Keeps other runs from changing it; `None` if one holds it for longer than `patience`.
    pub(super) fn exclusive(&self, patience: Duration) -> Result<Option<FileLock>, PathError> {
        FileLock::acquire(&self.lock, patience)
    }

    /// Hashes of the package; `None` if there is none, or if it is not what it was when it was unpacked.
    pub(super) fn hashes(&self) -> Result<Option<BTreeSet<Hash>>, PathError> {
        let Some(bytes) = fs::read_optional(&self.record)? else {
            return Ok(None);
        };
        let Ok(record) = serde_json::from_slice::<Record>(&bytes) else {
            return Ok(None);
        };
        let hashes: Result<BTreeSet<Hash>, _> = record.hashes.iter().map(|h| h.parse()).collect();
        let (Ok(hashes), true) = (hashes, self.folder.is_dir()) else {
            return Ok(None);
        };
        if fingerprints(&self.folder)? == record.files {
            return Ok(Some(hashes));
        }
        if !hashes.contains(&Hash::of_folder(&self.folder)?) {
            tracing::warn!(folder = %self.folder.display(), "a cached package was changed");
            return Ok(None);
        }
        self.note(&hashes)?;
        Ok(Some(hashes))
    }

    /// An empty folder to unpack a package in. What a run that was killed has left of it is removed.
    pub(super) fn staging(&self) -> Result<PrivateDir, PathError> {
        tree::remove(&self.staging)?;
        fs::create_dir(&self.staging)?;
        PrivateDir::new(std::slice::from_ref(&self.staging))
    }

    /// Takes an unpacked package in, in place of what is there.
    pub(super) fn store(&self, unpacked: &Path, hashes: &BTreeSet<Hash>) -> Result<(), PathError> {
        fs::remove(&self.record)?;
        tree::remove(&self.folder)?;
        tree::rename(unpacked, &self.folder)?;
        self.note(hashes)
    }

    fn note(&self, hashes: &BTreeSet<Hash>) -> Result<(), PathError> {
        let record = Record {
            hashes: hashes.iter().map(Hash::to_string).collect(),
            files: fingerprints(&self.folder)?,
        };
        let bytes = serde_json::to_vec(&record).map_err(|error| PathError {
            operation: "write",
            path: self.record.clone(),
            source: error.into(),
        })?;
        fs::atomic_write(&self.record, &bytes, 0o644)
    }
}

fn fingerprints(folder: &Path) -> Result<BTreeMap<String, String>, PathError> {
    let files = tree::files(folder)?.into_iter().map(|name| {
        let fingerprint = fs::fingerprint(&folder.join(&name))?;
        Ok((name, fingerprint))
    });
    files.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Address;

    #[test]
    fn a_changed_package_is_not_used() {
        let temp = tempfile::tempdir().unwrap();
        let address = Address::parse("ns/x", "example.org").unwrap();
        let version = "1.0.0".parse().unwrap();
        let release = Release { address, version };
        let slot = Slot::new(temp.path(), &release, &Platform::current()).unwrap();
        assert_eq!(slot.hashes().unwrap(), None);
        let unpacked = temp.path().join("unpacked");
        fs::create_dir(&unpacked).unwrap();
        fs::atomic_write(&unpacked.join("p"), b"one", 0o755).unwrap();
        let hashes = BTreeSet::from([Hash::of_folder(&unpacked).unwrap()]);
        slot.store(&unpacked, &hashes).unwrap();
        assert_eq!(slot.hashes().unwrap(), Some(hashes.clone()));
        // The same contents in another file: hashed again, and still good.
        fs::atomic_write(&slot.folder.join("p"), b"one", 0o755).unwrap();
        assert_eq!(slot.hashes().unwrap(), Some(hashes));
        fs::atomic_write(&slot.folder.join("p"), b"two", 0o755).unwrap();
        assert_eq!(slot.hashes().unwrap(), None);
    }
}
