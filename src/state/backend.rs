//! Where a state is kept.

use std::path::PathBuf;
use std::time::Duration;

use super::lock::{LockError, LockInfo, UnlockError};
use crate::fs::PathError;

/// A place that keeps one state: a snapshot and a journal, each a sequence of bytes, and a lock.
///
/// `tests/backends.rs` says what every implementation must do.
pub trait Backend: Send + Sync {
    /// Names the state in messages.
    fn place(&self) -> String;

    /// What is kept. Needs no lock; the journal is read first, so that none of its entries is missed if a run ends meanwhile.
    fn read(&self) -> Result<Contents, BackendError>;

    /// Takes the lock, waiting up to `timeout` for its holder.
    fn lock(&self, info: &LockInfo, timeout: Duration) -> Result<Box<dyn LockGuard>, LockError>;

    /// Breaks the lock with this id; its holder can write no more.
    fn unlock(&self, id: &str) -> Result<(), UnlockError>;
}

/// What a backend keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The state file; `None` if there never was one.
    pub snapshot: Option<Vec<u8>>,
    /// The journal; empty if there is none.
    pub journal: Vec<u8>,
}

/// The lock of a state, freed when dropped; only who has it can write. When a method returns, what it did is durable.
pub trait LockGuard: Send {
    /// What is kept. A later [`write`](Self::write) replaces exactly this: if somebody else writes meanwhile, it fails.
    fn read(&mut self) -> Result<Contents, BackendError>;

    /// Replaces the snapshot, all or nothing; keeps the one that was there before this run as a backup.
    fn write(&mut self, snapshot: &[u8]) -> Result<(), BackendError>;

    /// Adds `bytes` to the journal behind its first `at` bytes. What was behind them is the rest of an append that failed,
    /// and goes.
    fn append(&mut self, at: u64, bytes: &[u8]) -> Result<(), BackendError>;

    /// Removes the journal.
    fn remove_journal(&mut self) -> Result<(), BackendError>;

    /// Frees the lock: like dropping, for those who want to know whether it went well. Nothing can be written afterwards.
    fn free(&mut self) -> Result<(), BackendError> {
        Ok(())
    }
}

/// A place failed.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// The file system said no.
    #[error(transparent)]
    Path(#[from] PathError),
    /// Somebody broke our lock.
    #[error("the lock of the state {place} was broken: nothing more is written to it")]
    LockLost {
        /// Which state.
        place: String,
    },
    /// Somebody wrote without asking for the lock.
    #[error(
        "the state {place} was changed by somebody else since it was read: nothing is written over it"
    )]
    Conflict {
        /// Which state.
        place: String,
    },
    /// What keeps the state refused, or could not be reached.
    #[error("the state {place}: {problem}")]
    Remote {
        /// Which state.
        place: String,
        /// What happened.
        problem: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// A run came to its end, but not its state to its place.
    #[error("{error}; what was done is kept on this machine")]
    Kept {
        /// What went wrong.
        error: Box<BackendError>,
        /// A file with the whole state.
        copy: PathBuf,
    },
    /// The lock stays.
    #[error("the state is saved, but its lock is not freed: {error}")]
    NotFreed {
        /// What went wrong.
        error: Box<BackendError>,
        /// Id of the lock.
        id: String,
    },
}

impl BackendError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Path(_) | Self::LockLost { .. } => None,
            Self::Conflict { .. } => {
                Some("look who writes to it without its lock, then run again".to_owned())
            }
            Self::Remote { hint, .. } => hint.clone(),
            Self::Kept { copy, .. } => Some(format!(
                "the next run in this folder saves it; if this machine goes away, keep {}",
                copy.display()
            )),
            Self::NotFreed { id, .. } => Some(format!("free it with `nivis unlock {id}`")),
        }
    }
}
