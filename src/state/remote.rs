//! A state whose file lies elsewhere. Its journal stays on this machine, so that an operation costs no round trip, and covers
//! what could not be written there.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use super::backend::{Backend, BackendError, Contents, LockGuard};
use super::local::{Local, LocalGuard};
use super::lock::{LockError, LockInfo, UnlockError};
use crate::fs::{self, PRIVATE};

/// What keeps a state file for many machines.
pub(super) trait Store: Send + Sync {
    /// Names the state in messages, and tells it from every other; holds no secret.
    fn place(&self) -> String;

    /// The state file; `None` if there never was one. Needs no lock.
    fn read(&self) -> Result<Option<Vec<u8>>, BackendError>;

    /// Takes the lock if it is free; otherwise gives the holder, as far as it is known.
    fn try_lock(&self, info: &LockInfo) -> Result<Attempt, BackendError>;

    /// Breaks the lock with this id.
    fn unlock(&self, id: &str) -> Result<(), UnlockError>;
}

/// What came of trying to lock.
pub(super) enum Attempt {
    /// The lock is ours.
    Locked(Box<dyn StoreGuard>),
    /// It is somebody else's.
    Held(Option<Box<LockInfo>>),
}

/// The lock of a state file.
pub(super) trait StoreGuard: Send {
    /// The state file.
    fn read(&mut self) -> Result<Option<Vec<u8>>, BackendError>;

    /// Replaces what the last call of this guard read or wrote; [`BackendError::Conflict`] if something else is there.
    fn write(&mut self, snapshot: &[u8]) -> Result<(), BackendError>;

    /// Frees the lock, if it is still ours.
    fn free(&mut self) -> Result<(), BackendError>;
}

/// How often a taken lock is tried again at first, and later.
const POLL: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// A whole state that could not be written.
const ERRORED: &str = "state.errored.json";

/// A store for the state file, and a folder of this machine for the rest.
pub(super) struct Remote {
    store: Box<dyn Store>,
    local: Local,
    folder: PathBuf,
}

impl Remote {
    pub(super) fn new(store: Box<dyn Store>, folder: &Path) -> Self {
        Self {
            store,
            local: Local::new(folder),
            folder: folder.to_owned(),
        }
    }
}

impl Backend for Remote {
    fn place(&self) -> String {
        self.store.place()
    }

    fn read(&self) -> Result<Contents, BackendError> {
        let journal = self.local.read_journal()?;
        let snapshot = self.store.read()?;
        Ok(Contents { snapshot, journal })
    }

    fn lock(&self, info: &LockInfo, timeout: Duration) -> Result<Box<dyn LockGuard>, LockError> {
        let start = Instant::now();
        // First the one that costs nothing. It also keeps runs of this machine apart after a lock was broken.
        let local = self.local.acquire(info, timeout);
        let local = local.map_err(|error| self.ours(error))?;
        let mut pause = POLL.0;
        loop {
            let holder = match self.store.try_lock(info)? {
                Attempt::Locked(store) => {
                    return Ok(Box::new(RemoteGuard {
                        store,
                        local,
                        journal: self.local.clone(),
                        errored: self.folder.join(ERRORED),
                        id: info.id.clone(),
                        held: true,
                        attempted: None,
                    }));
                }
                Attempt::Held(holder) => holder,
            };
            let left = timeout.saturating_sub(start.elapsed());
            if left.is_zero() {
                let place = self.place();
                return Err(LockError::Held { place, holder });
            }
            std::thread::sleep(left.min(pause));
            pause = (pause * 2).min(POLL.1);
        }
    }

    fn unlock(&self, id: &str) -> Result<(), UnlockError> {
        let local = self.local.unlock(id);
        match self.store.unlock(id) {
            Err(UnlockError::NotLocked { .. }) if local.is_ok() => Ok(()),
            other => other,
        }
    }
}

impl Remote {
    /// The error about the lock on this machine as one about the state.
    fn ours(&self, error: LockError) -> LockError {
        match error {
            LockError::Held { holder, .. } => LockError::Held {
                place: self.place(),
                holder,
            },
            other @ LockError::Backend(_) => other,
        }
    }
}

fn sum(snapshot: &[u8]) -> [u8; 32] {
    Sha256::digest(snapshot).into()
}

struct RemoteGuard {
    store: Box<dyn StoreGuard>,
    local: LocalGuard,
    journal: Local,
    errored: PathBuf,
    id: String,
    held: bool,
    /// Checksum of what was written last, whether or not that went well.
    attempted: Option<[u8; 32]>,
}

impl RemoteGuard {
    /// What looks like somebody else's write is ours if the answer to it was lost.
    fn try_write(&mut self, snapshot: &[u8], before: Option<[u8; 32]>) -> Result<(), BackendError> {
        match self.store.write(snapshot) {
            Err(conflict @ BackendError::Conflict { .. }) => {
                let there = self.store.read()?.as_deref().map(sum);
                if there == Some(sum(snapshot)) {
                    Ok(())
                } else if there.is_some() && there == before {
                    self.store.write(snapshot)
                } else {
                    Err(conflict)
                }
            }
            other => other,
        }
    }
}

impl LockGuard for RemoteGuard {
    fn read(&mut self) -> Result<Contents, BackendError> {
        let journal = self.journal.read_journal()?;
        let snapshot = self.store.read()?;
        Ok(Contents { snapshot, journal })
    }

    fn write(&mut self, snapshot: &[u8]) -> Result<(), BackendError> {
        self.local.check()?;
        let before = self.attempted.take();
        self.attempted = Some(sum(snapshot));
        let Err(error) = self.try_write(snapshot, before) else {
            return fs::remove(&self.errored).map_err(BackendError::from);
        };
        // The journal has it all and the next run here goes on from it; this is for a machine that goes away.
        fs::atomic_write(&self.errored, snapshot, PRIVATE)?;
        Err(BackendError::Kept {
            error: Box::new(error),
            copy: self.errored.clone(),
        })
    }

    fn append(&mut self, at: u64, bytes: &[u8]) -> Result<(), BackendError> {
        self.local.append(at, bytes)
    }

    fn remove_journal(&mut self) -> Result<(), BackendError> {
        self.local.remove_journal()
    }

    fn free(&mut self) -> Result<(), BackendError> {
        if !std::mem::take(&mut self.held) {
            return Ok(());
        }
        self.store.free().map_err(|error| BackendError::NotFreed {
            error: Box::new(error),
            id: self.id.clone(),
        })
    }
}

impl Drop for RemoteGuard {
    fn drop(&mut self) {
        if let Err(error) = self.free() {
            tracing::warn!(%error, "lock not freed");
        }
    }
}
