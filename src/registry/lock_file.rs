//! The lock file: which version of each provider a stack runs, and the hashes of its packages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::address::Address;
use super::hash::{Hash, HashError};
use super::version::{Version, VersionError};
use crate::fs::{self, PathError};

/// Its name, beside the flake or file that declares the stack.
pub const LOCK_FILE: &str = "nivis.lock.json";

/// Version of the format.
const FORMAT: u32 = 1;

/// What is locked, by address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockFile {
    /// One entry for each provider.
    pub providers: BTreeMap<Address, Locked>,
}

/// The choice for one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locked {
    /// The only version that is run.
    pub version: Version,
    /// What was asked for when it was chosen; for people.
    pub constraints: String,
    /// What a package must match one of.
    pub hashes: BTreeSet<Hash>,
}

/// A lock file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LockFileError {
    /// It cannot be read or written.
    #[error(transparent)]
    File(#[from] PathError),
    /// It is no JSON of the right shape.
    #[error("{}: {source}", .path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A later nivis wrote it.
    #[error("{}: the format is version {found}, and this nivis knows version {FORMAT}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// A key is no address.
    #[error("{}: {key:?} is no provider address with a host", .path.display())]
    Address {
        /// The file.
        path: PathBuf,
        /// The key.
        key: String,
    },
    /// A version is none.
    #[error("{}: {address}: {source}", .path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Whose.
        address: Box<Address>,
        /// What is wrong.
        source: VersionError,
    },
    /// A hash is none.
    #[error("{}: {address}: {source}", .path.display())]
    Hash {
        /// The file.
        path: PathBuf,
        /// Whose.
        address: Box<Address>,
        /// What is wrong.
        source: HashError,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    providers: BTreeMap<String, Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    version: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    constraints: String,
    hashes: Vec<String>,
}

/// All that is looked at before the rest.
#[derive(Deserialize)]
struct Head {
    version: u32,
}

impl LockFile {
    /// Reads a lock file; without one, nothing is locked.
    pub fn read(path: &Path) -> Result<Self, LockFileError> {
        let Some(bytes) = fs::read_optional(path)? else {
            return Ok(Self::default());
        };
        let syntax = |source| LockFileError::Syntax {
            path: path.to_owned(),
            source,
        };
        let head: Head = serde_json::from_slice(&bytes).map_err(syntax)?;
        if head.version != FORMAT {
            return Err(LockFileError::Format {
                path: path.to_owned(),
                found: head.version,
            });
        }
        let document: Document = serde_json::from_slice(&bytes).map_err(syntax)?;
        let entries = document.providers.into_iter();
        let providers = entries.map(|(key, entry)| locked(path, &key, entry));
        Ok(Self {
            providers: providers.collect::<Result<_, _>>()?,
        })
    }

    /// Writes it, unless it says the same already.
    pub fn write(&self, path: &Path) -> Result<(), LockFileError> {
        let entries = self.providers.iter().map(|(address, locked)| {
            let entry = Entry {
                version: locked.version.to_string(),
                constraints: locked.constraints.clone(),
                hashes: locked.hashes.iter().map(Hash::to_string).collect(),
            };
            (address.to_string(), entry)
        });
        let document = Document {
            version: FORMAT,
            providers: entries.collect(),
        };
        let mut bytes =
            serde_json::to_vec_pretty(&document).map_err(|source| LockFileError::Syntax {
                path: path.to_owned(),
                source,
            })?;
        bytes.push(b'\n');
        if fs::read_optional(path)?.as_ref() != Some(&bytes) {
            fs::atomic_write(path, &bytes, 0o644)?;
        }
        Ok(())
    }
}

fn locked(path: &Path, key: &str, entry: Entry) -> Result<(Address, Locked), LockFileError> {
    let path = || path.to_owned();
    // A host must be there: what is locked does not change with a setting.
    let address = Address::parse(key, "").map_err(|_| LockFileError::Address {
        path: path(),
        key: key.to_owned(),
    })?;
    let version = entry.version.parse().map_err(|source| {
        let address = Box::new(address.clone());
        LockFileError::Version {
            path: path(),
            address,
            source,
        }
    })?;
    let hashes = entry.hashes.iter().map(|text| text.parse());
    let hashes = hashes.collect::<Result<_, _>>().map_err(|source| {
        let address = Box::new(address.clone());
        LockFileError::Hash {
            path: path(),
            address,
            source,
        }
    })?;
    let locked = Locked {
        version,
        constraints: entry.constraints,
        hashes,
    };
    Ok((address, locked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK_FILE);
        assert_eq!(LockFile::read(&path).unwrap(), LockFile::default());
        let address = Address::parse("a/b", "example.org").unwrap();
        let zh = format!("zh:{}", "0".repeat(64));
        let locked = Locked {
            version: "1.2.3".parse().unwrap(),
            constraints: "~> 1.2".to_owned(),
            hashes: [zh.parse().unwrap()].into(),
        };
        let file = LockFile {
            providers: [(address, locked)].into(),
        };
        file.write(&path).unwrap();
        assert_eq!(LockFile::read(&path).unwrap(), file);
        let text = String::from_utf8(fs::read(&path).unwrap()).unwrap();
        assert!(
            text.contains("\"example.org/a/b\": {\n      \"version\": \"1.2.3\""),
            "{text}"
        );
        let before = fs::fingerprint(&path).unwrap();
        file.write(&path).unwrap();
        assert_eq!(fs::fingerprint(&path).unwrap(), before, "nothing to write");
    }

    #[test]
    fn mistakes_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK_FILE);
        let entry = |version: &str, hash: &str| {
            format!(
                r#"{{"version":1,"providers":{{"h.org/a/b":{{"version":"{version}","hashes":["{hash}"]}}}}}}"#
            )
        };
        let rows = [
            ("{", "EOF"),
            (r#"{"providers":{}}"#, "missing field `version`"),
            (r#"{"version":2,"new":1}"#, "the format is version 2"),
            (r#"{"version":1,"providers":{},"x":1}"#, "unknown field `x`"),
            (
                r#"{"version":1,"providers":{"a/b":{"version":"1.0.0","hashes":[]}}}"#,
                "\"a/b\" is no provider address",
            ),
            (&entry("1.0", "h1:AA=="), "h.org/a/b: \"1.0\" is no version"),
            (
                &entry("1.0.0", "h1:AA=="),
                "h.org/a/b: \"h1:AA==\" is no hash",
            ),
        ];
        for (text, message) in rows {
            fs::atomic_write(&path, text.as_bytes(), 0o644).unwrap();
            let error = LockFile::read(&path).unwrap_err().to_string();
            assert!(
                error.contains("nivis.lock.json: ") && error.contains(message),
                "{error}"
            );
        }
    }
}
