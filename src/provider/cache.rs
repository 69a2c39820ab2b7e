//! Schemas kept on disk: large providers take seconds to tell theirs, and theirs never changes.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use prost::Message;
use sha2::{Digest as _, Sha256};

use super::told::Told;
use crate::fs;

/// Length of the checksum at the end of a file.
const SUM: usize = 4;

/// A folder of schemas, each named after the program that told it and our version, as another version may read other
/// fields. Its files may be removed at any time.
#[derive(Clone, Debug)]
pub(super) struct SchemaCache {
    folder: PathBuf,
}

impl SchemaCache {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// What this very program told before. Whatever goes wrong, it can be asked again.
    pub(super) fn get(&self, program: &Path) -> Option<Told> {
        let mut bytes = Bytes::from(fs::read(&self.file(program)?).ok()?);
        let sum = bytes.split_off(bytes.len().checked_sub(SUM)?);
        // Most of it is not looked at before it is used.
        if crc32fast::hash(&bytes).to_le_bytes() != *sum {
            return None;
        }
        Told::decode(bytes).ok()
    }

    /// Keeps what the program told, if it allows not to be asked each time.
    pub(super) fn put(&self, program: &Path, told: &Told) {
        let optional = told.schema.server_capabilities;
        if !optional.is_some_and(|c| c.get_provider_schema_optional) {
            return;
        }
        let Some(file) = self.file(program) else {
            return;
        };
        let mut bytes = told.encode_to_vec();
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        let written = fs::create_private_dir(&self.folder)
            .and_then(|()| fs::atomic_write(&file, &bytes, fs::PRIVATE));
        if let Err(e) = written {
            tracing::debug!(target: "provider", "schema not cached: {e}");
        }
    }

    fn file(&self, program: &Path) -> Option<PathBuf> {
        let version = env!("CARGO_PKG_VERSION");
        let program = fs::fingerprint(program).ok()?;
        let digest = Sha256::digest(format!("{version} {program}"));
        Some(self.folder.join(URL_SAFE_NO_PAD.encode(digest)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::proto::tfplugin6 as pb;
    use super::*;

    fn told(optional: bool) -> Told {
        let mut told = Told::default();
        told.schema.provider = Some(Bytes::new());
        told.schema.server_capabilities = Some(pb::ServerCapabilities {
            get_provider_schema_optional: optional,
            ..Default::default()
        });
        let identity = pb::ResourceIdentitySchema::default();
        let identities = [("x_y".to_owned(), identity)];
        told.identities.identity_schemas = identities.into();
        told
    }

    #[test]
    fn a_schema_is_found_until_the_program_changes() {
        let temp = tempfile::tempdir().unwrap();
        let program = temp.path().join("program");
        fs::atomic_write(&program, b"1", 0o755).unwrap();
        let cache = SchemaCache::new(temp.path().join("a/b"));
        assert_eq!(cache.get(&program), None);
        cache.put(&program, &told(true));
        assert_eq!(cache.get(&program), Some(told(true)));
        fs::atomic_write(&program, b"2", 0o755).unwrap();
        assert_eq!(cache.get(&program), None);
        assert_eq!(cache.get(&temp.path().join("other")), None);
    }

    #[test]
    fn a_provider_that_has_to_be_asked_is_not_kept() {
        let temp = tempfile::tempdir().unwrap();
        let program = temp.path().join("program");
        fs::atomic_write(&program, b"1", 0o755).unwrap();
        let cache = SchemaCache::new(temp.path().join("cache"));
        cache.put(&program, &told(false));
        assert_eq!(cache.get(&program), None);
    }

    #[test]
    fn a_spoilt_file_is_no_schema() {
        let temp = tempfile::tempdir().unwrap();
        let program = temp.path().join("program");
        fs::atomic_write(&program, b"1", 0o755).unwrap();
        let cache = SchemaCache::new(temp.path().join("cache"));
        cache.put(&program, &told(true));
        let file = cache.file(&program).unwrap();
        let bytes = fs::read(&file).unwrap();
        for end in 0..bytes.len() {
            fs::atomic_write(&file, &bytes[..end], 0o600).unwrap();
            assert_eq!(cache.get(&program), None, "{end}");
        }
    }
}
