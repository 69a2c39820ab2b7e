//! A lock that the system frees when its holder dies.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{PRIVATE, PathError, failed, fault};

/// How often a taken lock is tried again.
const LOCK_POLL: Duration = Duration::from_millis(50);

/// An exclusive lock on a path: the file exists while someone holds it. The system frees the lock of a dead process.
#[derive(Debug)]
pub struct FileLock {
    file: File,
    path: PathBuf,
}

impl FileLock {
    /// Takes the lock, waiting up to `timeout` for whoever holds it; `None` if that was not enough.
    pub fn acquire(path: &Path, timeout: Duration) -> Result<Option<Self>, PathError> {
        let failed = failed("lock", path);
        let start = Instant::now();
        loop {
            fault::before("open", path).map_err(&failed)?;
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(PRIVATE)
                .open(path)
                .map_err(&failed)?;
            fault::before("lock", path).map_err(&failed)?;
            match file.try_lock() {
                Ok(()) => {
                    let lock = Self {
                        file,
                        path: path.to_owned(),
                    };
                    // The holder before may have removed the file after we opened it: then others lock another file.
                    if lock.is_held() {
                        return Ok(Some(lock));
                    }
                    continue;
                }
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(e)) => return Err(failed(e)),
            }
            let left = timeout.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Ok(None);
            }
            std::thread::sleep(left.min(LOCK_POLL));
        }
    }

    /// Whether the lock is still ours: it is lost when somebody removes the file.
    pub fn is_held(&self) -> bool {
        match (self.file.metadata(), fs::metadata(&self.path)) {
            (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
            _ => false,
        }
    }

    /// Replaces what the file says, for those who find it locked.
    pub fn note(&mut self, bytes: &[u8]) -> Result<(), PathError> {
        fault::before("write", &self.path)
            .and_then(|()| self.file.set_len(0))
            .and_then(|()| self.file.write_all_at(bytes, 0))
            .map_err(failed("write", &self.path))
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        if self.is_held() {
            // Left behind, the file does no harm: the lock itself goes with the open file.
            let _ = fault::before("remove", &self.path).and_then(|()| fs::remove_file(&self.path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::{read, remove};
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    #[test]
    fn one_holder_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let mut first = FileLock::acquire(&path, Duration::ZERO).unwrap().unwrap();
        first.note(b"me, at some length").unwrap();
        first.note(b"me").unwrap();
        assert_eq!(read(&path).unwrap(), b"me");
        assert!(FileLock::acquire(&path, Duration::ZERO).unwrap().is_none());
        drop(first);
        assert!(!path.exists());
        assert!(FileLock::acquire(&path, Duration::ZERO).unwrap().is_some());
    }

    #[test]
    fn a_removed_lock_is_lost_to_its_holder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = FileLock::acquire(&path, Duration::ZERO).unwrap().unwrap();
        remove(&path).unwrap();
        let second = FileLock::acquire(&path, Duration::ZERO).unwrap().unwrap();
        assert!(!first.is_held());
        drop(first);
        assert!(
            second.is_held(),
            "dropping a lost lock must not free the next one"
        );
    }

    #[test]
    fn waiting_holders_take_turns() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let lock = FileLock::acquire(&path, Duration::from_secs(60)).unwrap();
                    assert_eq!(inside.fetch_add(1, SeqCst), 0);
                    std::thread::sleep(Duration::from_millis(5));
                    inside.fetch_sub(1, SeqCst);
                    drop(lock.expect("waited long enough"));
                });
            }
        });
    }
}
