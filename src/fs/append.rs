//! A file that only grows.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::{PRIVATE, PathError, failed, fault, sync_folder_of};

/// A file that grows at its end.
#[derive(Debug)]
pub struct AppendFile {
    file: File,
    path: PathBuf,
}

impl AppendFile {
    /// Opens the file, or creates it with mode 0600.
    pub fn open(path: &Path) -> Result<Self, PathError> {
        let open = || {
            fault::before("open", path)?;
            let mut options = OpenOptions::new();
            let file = options.append(true).create(true).mode(PRIVATE).open(path)?;
            sync_folder_of(path)?;
            Ok(file)
        };
        Ok(Self {
            file: open().map_err(failed("open", path))?,
            path: path.to_owned(),
        })
    }

    /// Adds `bytes` behind the first `at` bytes, in one write; when it returns, they are on disk. What was behind `at` is
    /// cut off: the remains of an append that failed.
    pub fn append(&mut self, at: u64, bytes: &[u8]) -> Result<(), PathError> {
        let append = || {
            let len = self.file.metadata()?.len();
            if len < at {
                let problem = format!("it lost its bytes after {len}");
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem));
            }
            if len > at {
                self.file.set_len(at)?;
            }
            fault::before("append", &self.path)?;
            (&self.file).write_all(bytes)?;
            fault::before("sync", &self.path)?;
            self.file.sync_data()?;
            fault::before("appended", &self.path)
        };
        append().map_err(failed("append to", &self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::{mode, read};

    #[test]
    fn appending_cuts_off_the_remains_of_a_failed_append() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut file = AppendFile::open(&path).unwrap();
        file.append(0, b"one\n").unwrap();
        file.append(4, b"tw").unwrap();
        let mut file = AppendFile::open(&path).unwrap();
        file.append(4, b"three\n").unwrap();
        assert_eq!(read(&path).unwrap(), b"one\nthree\n");
        assert_eq!(mode(&path).unwrap(), 0o600);
        let error = file.append(11, b"four\n").unwrap_err().to_string();
        assert!(
            error.ends_with("log: it lost its bytes after 10"),
            "{error}"
        );
    }

    #[test]
    fn a_full_disk_is_named() {
        let mut file = AppendFile::open(Path::new("/dev/full")).unwrap();
        let error = file.append(0, b"x").unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot append to /dev/full: no space left on device"
        );
    }
}
