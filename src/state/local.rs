//! A state in a folder: `state.json`, with journal, backup and lock beside it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::backend::{Backend, BackendError, Contents, LockGuard};
use super::lock::{LockError, LockInfo, UnlockError, check_unlock};
use crate::fs::{self, AppendFile, FileLock, PRIVATE, PathError};

/// The state of one stack in a folder of its own, usually `.nivis/<stack>`.
#[derive(Clone, Debug)]
pub struct Local {
    folder: PathBuf,
    backups: u32,
}

impl Local {
    /// The state in `folder`, which need not exist. Touches nothing.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            backups: 1,
        }
    }

    /// The same, with so many states from before the last runs kept.
    #[must_use]
    pub fn keeping(mut self, backups: u32) -> Self {
        self.backups = backups;
        self
    }

    fn snapshot(&self) -> PathBuf {
        self.folder.join("state.json")
    }

    /// The state before the run that was so many runs ago, from 1.
    fn backup(&self, age: u32) -> PathBuf {
        self.folder.join(match age {
            1 => "state.json.backup".to_owned(),
            _ => format!("state.json.backup.{age}"),
        })
    }

    /// Keeps the present snapshot, and lets the oldest go.
    fn back_up(&self) -> Result<(), BackendError> {
        for age in (1..self.backups).rev() {
            if self.backup(age).exists() {
                fs::tree::rename(&self.backup(age), &self.backup(age + 1))?;
            }
        }
        if self.backups > 0 {
            fs::keep_copy(&self.snapshot(), &self.backup(1))?;
        }
        Ok(())
    }

    fn journal(&self) -> PathBuf {
        self.folder.join("journal.jsonl")
    }

    fn lock_file(&self) -> PathBuf {
        self.folder.join("lock")
    }

    /// What happened since the snapshot.
    pub(super) fn read_journal(&self) -> Result<Vec<u8>, BackendError> {
        Ok(fs::read_optional(&self.journal())?.unwrap_or_default())
    }

    /// [`Backend::lock`], whose guard can say whether it still holds.
    pub(super) fn acquire(
        &self,
        info: &LockInfo,
        timeout: Duration,
    ) -> Result<LocalGuard, LockError> {
        fs::create_private_dir(&self.folder).map_err(BackendError::from)?;
        match FileLock::acquire(&self.lock_file(), timeout).map_err(BackendError::from)? {
            Some(mut lock) => {
                lock.note(&info.to_json()).map_err(BackendError::from)?;
                self.tidy()?;
                Ok(LocalGuard {
                    local: self.clone(),
                    lock,
                    journal: None,
                    backed_up: false,
                })
            }
            None => Err(LockError::Held {
                place: self.place(),
                holder: self.holder()?.map(Box::new),
            }),
        }
    }

    /// Removes what a run left behind that died while it wrote a file, and keeps a new folder out of version control: states
    /// contain secrets. Needs the lock.
    fn tidy(&self) -> Result<(), BackendError> {
        fs::remove_temporary(&self.folder)?;
        if fs::list(&self.folder)? == [self.lock_file()] {
            fs::atomic_write(&self.folder.join(".gitignore"), b"*\n", PRIVATE)?;
        }
        Ok(())
    }

    fn holder(&self) -> Result<Option<LockInfo>, BackendError> {
        let note = fs::read_optional(&self.lock_file())?;
        Ok(note.and_then(|note| LockInfo::from_json(&note)))
    }
}

/// Makes a folder for what belongs to a state. A new one is kept out of version control: states contain secrets.
pub fn create_folder(folder: &Path) -> Result<(), PathError> {
    fs::create_private_dir(folder)?;
    if fs::list(folder)?.is_empty() {
        fs::atomic_write(&folder.join(".gitignore"), b"*\n", PRIVATE)?;
    }
    Ok(())
}

impl Backend for Local {
    fn place(&self) -> String {
        self.snapshot().display().to_string()
    }

    fn read(&self) -> Result<Contents, BackendError> {
        // In this order a journal that disappears meanwhile is contained in the snapshot.
        let journal = self.read_journal()?;
        let snapshot = fs::read_optional(&self.snapshot())?;
        Ok(Contents { snapshot, journal })
    }

    fn lock(&self, info: &LockInfo, timeout: Duration) -> Result<Box<dyn LockGuard>, LockError> {
        Ok(Box::new(self.acquire(info, timeout)?))
    }

    fn unlock(&self, id: &str) -> Result<(), UnlockError> {
        check_unlock(self.holder()?, id, self.place())?;
        Ok(fs::remove(&self.lock_file()).map_err(BackendError::from)?)
    }
}

pub(super) struct LocalGuard {
    local: Local,
    lock: FileLock,
    /// Open from the first append on.
    journal: Option<AppendFile>,
    backed_up: bool,
}

impl LocalGuard {
    /// Whether the lock is still ours.
    pub(super) fn check(&self) -> Result<(), BackendError> {
        if self.lock.is_held() {
            return Ok(());
        }
        let place = self.local.place();
        Err(BackendError::LockLost { place })
    }
}

impl LockGuard for LocalGuard {
    fn read(&mut self) -> Result<Contents, BackendError> {
        self.local.read()
    }

    fn write(&mut self, snapshot: &[u8]) -> Result<(), BackendError> {
        self.check()?;
        let path = self.local.snapshot();
        if !self.backed_up && path.exists() {
            self.local.back_up()?;
        }
        fs::atomic_write(&path, snapshot, PRIVATE)?;
        self.backed_up = true;
        Ok(())
    }

    fn append(&mut self, at: u64, bytes: &[u8]) -> Result<(), BackendError> {
        self.check()?;
        let journal = match &mut self.journal {
            Some(journal) => journal,
            closed => closed.insert(AppendFile::open(&self.local.journal())?),
        };
        Ok(journal.append(at, bytes)?)
    }

    fn remove_journal(&mut self) -> Result<(), BackendError> {
        self.check()?;
        self.journal = None;
        Ok(fs::remove(&self.local.journal())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::Id;
    use crate::state::testing::plain;
    use crate::state::{Outcome, Session, StateError};
    use std::os::unix::fs::MetadataExt as _;

    /// A folder in which there is a state of its own.
    fn place() -> (tempfile::TempDir, Local) {
        let folder = tempfile::tempdir().unwrap();
        let local = Local::new(&folder.path().join(".nivis/default"));
        (folder, local)
    }

    fn open(local: &Local) -> Result<Session, StateError> {
        let info = LockInfo::new("apply", "anna@example", &local.place());
        Session::open(local, &info, Duration::ZERO)
    }

    fn outcome(name: &str) -> Outcome {
        Outcome {
            id: Id::from(name),
            deposed: None,
            resource: Some(plain(name)),
        }
    }

    #[test]
    fn everything_is_private_and_kept_out_of_version_control() {
        let (_folder, local) = place();
        for name in ["a", "b"] {
            let mut session = open(&local).unwrap();
            session.finish(outcome(name)).unwrap();
            session.close().unwrap();
        }
        let mut session = open(&local).unwrap();
        session.finish(outcome("c")).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
        let files = fs::list(&local.folder).unwrap();
        let names: Vec<_> = files
            .iter()
            .map(|f| f.file_name().unwrap().to_str().unwrap())
            .collect();
        assert_eq!(
            names,
            [
                ".gitignore",
                "journal.jsonl",
                "lock",
                "state.json",
                "state.json.backup"
            ]
        );
        for file in &files {
            assert_eq!(mode(file), 0o600, "{}", file.display());
        }
        assert_eq!(mode(&local.folder), 0o700);
        assert_eq!(mode(local.folder.parent().unwrap()), 0o700);
        assert_eq!(fs::read(&local.folder.join(".gitignore")).unwrap(), b"*\n");
    }

    #[test]
    fn a_folder_with_other_things_gets_no_ignore_file() {
        let (_folder, local) = place();
        fs::create_private_dir(&local.folder).unwrap();
        fs::atomic_write(&local.folder.join("stack.nix"), b"", PRIVATE).unwrap();
        open(&local).unwrap();
        assert!(!local.folder.join(".gitignore").exists());
    }

    #[test]
    fn what_a_dead_run_left_behind_is_removed() {
        let (_folder, local) = place();
        fs::create_private_dir(&local.folder).unwrap();
        for name in ["lock", ".tmp-a1B2c3"] {
            fs::atomic_write(&local.folder.join(name), b"", PRIVATE).unwrap();
        }
        drop(open(&local).unwrap());
        let ignored = [local.folder.join(".gitignore")];
        assert_eq!(fs::list(&local.folder).unwrap(), ignored);
    }

    #[test]
    fn the_backup_is_the_state_before_the_run() {
        let (_folder, local) = place();
        let snapshot = || fs::read_optional(&local.snapshot()).unwrap();
        for run in ["a", "b", "c"] {
            let before = snapshot();
            let mut session = open(&local).unwrap();
            for step in ["1", "2"] {
                session.finish(outcome(&format!("{run}{step}"))).unwrap();
                session.save().unwrap();
            }
            assert_ne!(snapshot(), before);
            assert_eq!(fs::read_optional(&local.backup(1)).unwrap(), before);
        }
    }

    #[test]
    fn as_many_backups_are_kept_as_wanted() {
        for wanted in 0..4 {
            let (_folder, local) = place();
            let local = local.keeping(wanted);
            let mut snapshots = Vec::new();
            for run in ["a", "b", "c", "d"] {
                let mut session = open(&local).unwrap();
                session.finish(outcome(run)).unwrap();
                session.close().unwrap();
                snapshots.push(fs::read(&local.snapshot()).unwrap());
            }
            snapshots.reverse();
            for age in 1..=4 {
                let kept = fs::read_optional(&local.backup(age)).unwrap();
                let expected = snapshots.get(age as usize).filter(|_| age <= wanted);
                assert_eq!(kept.as_ref(), expected, "{age} of {wanted}");
            }
        }
    }

    #[test]
    fn a_state_that_cannot_be_read_is_no_new_state() {
        let (_folder, local) = place();
        fs::create_private_dir(&local.snapshot()).unwrap();
        let expected = format!("cannot read {}: is a directory", local.place());
        assert_eq!(open(&local).err().unwrap().to_string(), expected);
        assert_eq!(Session::read(&local).unwrap_err().to_string(), expected);
    }
}
