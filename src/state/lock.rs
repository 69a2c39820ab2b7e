//! Who works on a state: one run at a time.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::backend::BackendError;
use super::time::rfc3339;

/// What a lock says about its holder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockInfo {
    /// Made for this lock (UUID); `unlock` asks for it.
    pub id: String,
    /// What the holder does: `apply`, `state rm`, …
    pub operation: String,
    /// `user@host`.
    pub who: String,
    /// Process id on that host; 0 if the lock does not say.
    pub pid: u32,
    /// Since when (RFC 3339).
    pub created: String,
    /// Which state.
    pub path: String,
}

impl LockInfo {
    /// A lock of this process, as of now, for the state at `path`.
    pub fn new(operation: &str, who: &str, path: &str) -> Self {
        Self {
            id: uuid::Uuid::new_v4().to_string(),
            operation: operation.to_owned(),
            who: who.to_owned(),
            pid: std::process::id(),
            created: rfc3339(SystemTime::now()),
            path: path.to_owned(),
        }
    }

    /// As a lock file has it.
    pub(super) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Of a lock file; `None` while its holder has not written it yet.
    pub(super) fn from_json(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

/// A lock could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else has it.
    #[error("the state {place} is locked by {}", describe(.holder.as_deref()))]
    Held {
        /// Which state.
        place: String,
        /// Who; unknown in the instant in which a lock is taken.
        holder: Option<Box<LockInfo>>,
    },
    /// It cannot be known who has it.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

impl LockError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Held { holder, .. } => {
                let unlock = holder.as_ref().map_or(String::new(), |holder| {
                    format!(
                        "; if it hangs, end it, or break its lock with `nivis unlock {}`",
                        holder.id
                    )
                });
                Some(format!("wait for it with --lock-timeout{unlock}"))
            }
            Self::Backend(error) => error.hint(),
        }
    }
}

fn describe(holder: Option<&LockInfo>) -> String {
    holder.map_or("another run".to_owned(), |holder| {
        let LockInfo {
            operation,
            who,
            pid,
            created,
            ..
        } = holder;
        let process = match pid {
            0 => String::new(),
            pid => format!(" (process {pid})"),
        };
        format!("`nivis {operation}` of {who}{process} since {created}")
    })
}

/// A lock could not be broken.
#[derive(Debug, thiserror::Error)]
pub enum UnlockError {
    /// Nobody has one.
    #[error("the state {place} is not locked")]
    NotLocked {
        /// Which state.
        place: String,
    },
    /// The present lock is another one.
    #[error("the lock of the state {place} is {}, not {asked}", .holder.id)]
    OtherLock {
        /// Which state.
        place: String,
        /// The id that was asked for.
        asked: String,
        /// The present lock.
        holder: Box<LockInfo>,
    },
    /// The lock cannot be reached.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

/// Checks that the present lock is the one that is to be broken.
pub(super) fn check_unlock(
    holder: Option<LockInfo>,
    id: &str,
    place: String,
) -> Result<(), UnlockError> {
    match holder {
        None => Err(UnlockError::NotLocked { place }),
        Some(holder) if holder.id == id => Ok(()),
        Some(holder) => Err(UnlockError::OtherLock {
            place,
            asked: id.to_owned(),
            holder: Box::new(holder),
        }),
    }
}
