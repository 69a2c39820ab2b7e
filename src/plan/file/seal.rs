//! The first line of a plan file: what it is, its version, and the digest of the rest.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// What the member `format` says.
const FORMAT: &str = "nivis-plan";

/// Longer first lines are not looked at.
const LONGEST_LINE: usize = 1024;

/// Bytes that are no whole plan file.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SealError {
    /// Something else.
    #[error("it is not a plan of nivis")]
    Foreign,
    /// Written by a later program.
    #[error("it has format version {version}; this nivis reads version {known}")]
    Newer {
        /// Its version.
        version: u64,
        /// Ours.
        known: u64,
    },
    /// Cut off or changed after it was written.
    #[error("it is damaged: its content does not match its digest")]
    Damaged,
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u64,
    sha256: String,
}

/// Whether a file that begins so claims to be a plan.
pub fn is_plan(bytes: &[u8]) -> bool {
    header(bytes).is_some_and(|(header, _)| header.format == FORMAT)
}

/// The content with its first line before it.
pub fn seal(content: &[u8], version: u64) -> Vec<u8> {
    let header = Header {
        format: FORMAT.to_owned(),
        version,
        sha256: digest(content),
    };
    // Two texts and a number have a JSON form.
    let mut bytes = serde_json::to_vec(&header).unwrap_or_default();
    bytes.push(b'\n');
    bytes.extend_from_slice(content);
    bytes
}

/// The content, if it is what was sealed, in the version that is known.
pub fn unseal(bytes: &[u8], known: u64) -> Result<&[u8], SealError> {
    let (header, content) = header(bytes).ok_or(SealError::Foreign)?;
    if header.format != FORMAT {
        return Err(SealError::Foreign);
    }
    if header.version != known {
        let version = header.version;
        return Err(SealError::Newer { version, known });
    }
    if header.sha256 != digest(content) {
        return Err(SealError::Damaged);
    }
    Ok(content)
}

fn header(bytes: &[u8]) -> Option<(Header, &[u8])> {
    let start = &bytes[..bytes.len().min(LONGEST_LINE)];
    let end = start.iter().position(|b| *b == b'\n')?;
    let header = serde_json::from_slice(&bytes[..end]).ok()?;
    Some((header, &bytes[end + 1..]))
}

fn digest(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_comes_back_and_nothing_else() {
        let sealed = seal(b"{}", 1);
        assert!(is_plan(&sealed));
        assert_eq!(unseal(&sealed, 1), Ok(&b"{}"[..]));
        let newer = SealError::Newer {
            version: 1,
            known: 2,
        };
        assert_eq!(unseal(&sealed, 2), Err(newer));
        assert_eq!(
            unseal(&sealed[..sealed.len() - 1], 1),
            Err(SealError::Damaged)
        );
        let mut more = sealed.clone();
        more.push(b'\n');
        assert_eq!(unseal(&more, 1), Err(SealError::Damaged));
        for foreign in [&b""[..], b"{}", b"{}\n{}", b"PK\x03\x04\n", &sealed[1..]] {
            assert!(!is_plan(foreign));
            assert_eq!(unseal(foreign, 1), Err(SealError::Foreign));
        }
    }
}
