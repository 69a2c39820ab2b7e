//! Digests of files.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::{PathError, failed};

/// The SHA-256 of a file's contents, in hexadecimal digits; it is not held in memory as a whole.
pub fn sha256(path: &Path) -> Result<String, PathError> {
    let mut file = File::open(path).map_err(failed("read", path))?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => digest.update(&buffer[..n]),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(failed("read", path)(e)),
        }
    }
    let digest = digest.finalize();
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}
