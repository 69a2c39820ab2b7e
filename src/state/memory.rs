//! A state that is forgotten with the process: for tests and trials.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::backend::{Backend, BackendError, Contents, LockGuard};
use super::lock::{LockError, LockInfo, UnlockError, check_unlock};

/// A state in memory; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    inner: Mutex<Inner>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    contents: Contents,
    holder: Option<LockInfo>,
}

impl Memory {
    /// A place with these contents.
    pub fn with(contents: Contents) -> Self {
        let memory = Self::default();
        memory.0.inner().contents = contents;
        memory
    }
}

impl Shared {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Every change is a single assignment: there is nothing half-done to fear after a panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What [`Memory::place`] says.
const PLACE: &str = "in memory";

impl Backend for Memory {
    fn place(&self) -> String {
        PLACE.to_owned()
    }

    fn read(&self) -> Result<Contents, BackendError> {
        Ok(self.0.inner().contents.clone())
    }

    fn lock(&self, info: &LockInfo, timeout: Duration) -> Result<Box<dyn LockGuard>, LockError> {
        let held = |inner: &mut Inner| inner.holder.is_some();
        let (mut inner, waited) = self
            .0
            .freed
            .wait_timeout_while(self.0.inner(), timeout, held)
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return Err(LockError::Held {
                place: self.place(),
                holder: inner.holder.clone().map(Box::new),
            });
        }
        inner.holder = Some(info.clone());
        Ok(Box::new(MemoryGuard {
            shared: Arc::clone(&self.0),
            id: info.id.clone(),
        }))
    }

    fn unlock(&self, id: &str) -> Result<(), UnlockError> {
        let mut inner = self.0.inner();
        check_unlock(inner.holder.clone(), id, self.place())?;
        inner.holder = None;
        self.0.freed.notify_one();
        Ok(())
    }
}

struct MemoryGuard {
    shared: Arc<Shared>,
    id: String,
}

impl MemoryGuard {
    fn with<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> Result<T, BackendError> {
        let mut inner = self.shared.inner();
        match &inner.holder {
            Some(holder) if holder.id == self.id => Ok(change(&mut inner)),
            _ => Err(BackendError::LockLost {
                place: PLACE.to_owned(),
            }),
        }
    }
}

impl LockGuard for MemoryGuard {
    fn read(&mut self) -> Result<Contents, BackendError> {
        Ok(self.shared.inner().contents.clone())
    }

    fn write(&mut self, snapshot: &[u8]) -> Result<(), BackendError> {
        self.with(|inner| inner.contents.snapshot = Some(snapshot.to_vec()))
    }

    fn append(&mut self, at: u64, bytes: &[u8]) -> Result<(), BackendError> {
        self.with(|inner| {
            let journal = &mut inner.contents.journal;
            journal.truncate(usize::try_from(at).unwrap_or(usize::MAX));
            journal.extend(bytes);
        })
    }

    fn remove_journal(&mut self) -> Result<(), BackendError> {
        self.with(|inner| inner.contents.journal.clear())
    }
}

impl Drop for MemoryGuard {
    fn drop(&mut self) {
        // A broken lock is not ours to free.
        let _ = self.with(|inner| inner.holder = None);
        self.shared.freed.notify_one();
    }
}
