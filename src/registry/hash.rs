//! Hashes of packages: `zh:`, of the archive as published, and `h1:`, of what is in it.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::fs::{PathError, tree};

/// What a package must be, in one of the two notations of Terraform's lock file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hash {
    /// `h1:`: SHA-256 of the listing of the unpacked files, each line the file's SHA-256 and name, in the order of the
    /// names. Known as Hash1 of Go's dirhash.
    Contents([u8; 32]),
    /// `zh:`: SHA-256 of the archive.
    Archive([u8; 32]),
}

/// A text is no hash of either kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no hash: it starts with neither `h1:` nor `zh:`, or is cut short")]
pub struct HashError(String);

impl Hash {
    /// The `h1:` hash of an unpacked package.
    pub fn of_folder(folder: &Path) -> Result<Self, PathError> {
        let mut listing = String::new();
        for name in tree::files(folder)? {
            let path = folder.join(&name);
            let digest = digest(&mut tree::open(&path)?).map_err(|source| PathError {
                operation: "read",
                path,
                source,
            })?;
            listing.push_str(&format!("{}  {name}\n", hex(&digest)));
        }
        Ok(Self::Contents(Sha256::digest(listing).into()))
    }

    /// The `zh:` hash of an archive on disk.
    pub fn of_archive(path: &Path) -> Result<Self, PathError> {
        let digest = digest(&mut tree::open(path)?).map_err(|source| PathError {
            operation: "read",
            path: path.to_owned(),
            source,
        })?;
        Ok(Self::Archive(digest))
    }

    /// An archive's hash from its SHA-256 in hexadecimal digits.
    pub fn from_hex(text: &str) -> Result<Self, HashError> {
        let bytes = unhex(text).ok_or_else(|| HashError(text.to_owned()))?;
        Ok(Self::Archive(bytes))
    }
}

/// SHA-256 of all there is to read.
fn digest(from: &mut impl Read) -> io::Result<[u8; 32]> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().into()),
            n => hasher.update(&buffer[..n]),
        }
    }
}

impl FromStr for Hash {
    type Err = HashError;

    fn from_str(text: &str) -> Result<Self, HashError> {
        let wrong = || HashError(text.to_owned());
        if let Some(base64) = text.strip_prefix("h1:") {
            let bytes = STANDARD.decode(base64).map_err(|_| wrong())?;
            return Ok(Self::Contents(bytes.try_into().map_err(|_| wrong())?));
        }
        let digits = text.strip_prefix("zh:").ok_or_else(wrong)?;
        Ok(Self::Archive(unhex(digits).ok_or_else(wrong)?))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Contents(bytes) => write!(f, "h1:{}", STANDARD.encode(bytes)),
            Self::Archive(bytes) => write!(f, "zh:{}", hex(bytes)),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    let mut bytes = [0; 32];
    if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs;

    /// The expected value is what `sha256sum` and `base64` make of the same files:
    /// `(cd folder; sha256sum -- a sub/b) | sha256sum | xxd -r -p | base64`.
    #[test]
    fn contents_are_hashed_as_go_does() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        fs::atomic_write(&folder.path().join("a"), b"one\n", 0o644).unwrap();
        fs::atomic_write(&folder.path().join("sub/b"), b"two\n", 0o755).unwrap();
        let hash = Hash::of_folder(folder.path()).unwrap();
        assert_eq!(
            hash.to_string(),
            "h1:hCNKCCiV8DBSAkYWnX/rQp77wbKNGKkjOSduGMjDN8I="
        );
        assert_eq!(hash.to_string().parse(), Ok(hash));
    }

    #[test]
    fn archives_are_hashed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        fs::atomic_write(&path, b"abc", 0o644).unwrap();
        let digits = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let hash = Hash::of_archive(&path).unwrap();
        assert_eq!(hash.to_string(), format!("zh:{digits}"));
        assert_eq!(Hash::from_hex(digits), Ok(hash.clone()));
        assert_eq!(Hash::from_hex(&digits.to_uppercase()), Ok(hash));
    }

    #[test]
    fn other_texts_are_refused() {
        let short = format!("zh:{}", "0".repeat(63));
        let odd = format!("zh:{}", "g".repeat(64));
        for text in ["", "h1:", "h1:AAAA", "h2:AAAA", "zh:", &short, &odd] {
            assert!(text.parse::<Hash>().is_err(), "{text}");
        }
    }
}
