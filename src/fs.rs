//! Read files and replace them atomically, lock them; the one place that touches the file system.

mod digest;
pub mod tree;

pub use digest::sha256;

use std::error::Error;
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// File mode: for the owner only.
pub const PRIVATE: u32 = 0o600;

/// How often a taken lock is tried again.
const LOCK_POLL: Duration = Duration::from_millis(50);

/// An operation on a path failed: `cannot write /x/y: no space left on device`.
///
/// The message contains the cause, so [`Error::source`] is empty.
#[derive(Debug)]
pub struct PathError {
    /// What was tried, as a verb: `read`, `write`, …
    pub operation: &'static str,
    /// On what.
    pub path: PathBuf,
    /// Why it failed.
    pub source: io::Error,
}

impl PathError {
    /// The kind of the cause.
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }
}

impl Error for PathError {}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            operation,
            path,
            source,
        } = self;
        write!(
            f,
            "cannot {operation} {}: {}",
            path.display(),
            reason(source)
        )
    }
}

/// The system's words, without number and capital letter.
fn reason(error: &io::Error) -> String {
    // `tempfile` wraps the cause to name a temporary path that means nothing to anybody.
    let cause = error
        .get_ref()
        .and_then(|e| e.source())
        .and_then(|e| e.downcast_ref::<io::Error>())
        .unwrap_or(error)
        .to_string();
    let text = cause.split(" (os error").next().unwrap_or(&cause);
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_lowercase().chain(chars).collect())
        .unwrap_or_default()
}

/// For `map_err`: attaches the operation and the path.
fn failed(operation: &'static str, path: &Path) -> impl Fn(io::Error) -> PathError {
    let path = path.to_owned();
    move |source| PathError {
        operation,
        path: path.clone(),
        source,
    }
}

/// The contents of a file.
pub fn read(path: &Path) -> Result<Vec<u8>, PathError> {
    fs::read(path).map_err(failed("read", path))
}

/// The contents of a file; `None` if there is no such file. Every other failure is an error.
pub fn read_optional(path: &Path) -> Result<Option<Vec<u8>>, PathError> {
    match read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Makes `path` contain `bytes` with exactly this mode: a crash at any moment leaves either the old contents or the new.
/// When it returns, the new contents are on disk.
pub fn atomic_write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), PathError> {
    let write = || {
        let mut temp = tempfile::Builder::new()
            .prefix(".tmp-")
            .tempfile_in(folder_of(path))?;
        temp.write_all(bytes)?;
        temp.as_file()
            .set_permissions(Permissions::from_mode(mode))?;
        temp.as_file().sync_all()?;
        temp.persist(path)?;
        sync_folder_of(path)
    };
    write().map_err(failed("write", path))
}

/// Makes `copy` a second file with the present contents of `path`, atomically. Later [`atomic_write`]s to `path` do not
/// change the copy.
pub fn keep_copy(path: &Path, copy: &Path) -> Result<(), PathError> {
    let folder = folder_of(copy);
    let link = || {
        let temp = tempfile::Builder::new()
            .prefix(".tmp-")
            .make_in(folder, |temp| fs::hard_link(path, temp))?;
        temp.into_temp_path().persist(copy)?;
        sync_folder_of(copy)
    };
    // Not every file system has links.
    match link() {
        Ok(()) => Ok(()),
        Err(_) => atomic_write(copy, &read(path)?, PRIVATE),
    }
}

/// The paths of everything in a folder, sorted.
pub fn list(path: &Path) -> Result<Vec<PathBuf>, PathError> {
    let list = || {
        let entries = fs::read_dir(path)?.map(|entry| entry.map(|e| e.path()));
        let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        Ok(paths)
    };
    list().map_err(failed("list", path))
}

/// Removes a file; nothing happens if there is none.
pub fn remove(path: &Path) -> Result<(), PathError> {
    match fs::remove_file(path) {
        Ok(()) => sync_folder_of(path).map_err(failed("remove", path)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(failed("remove", path)(e)),
    }
}

/// Makes a folder, and those above it, where they do not exist: for the owner only.
pub fn create_private_dir(path: &Path) -> Result<(), PathError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(failed("create", path))
}

/// Makes a folder, and those above it, where they do not exist.
pub fn create_dir(path: &Path) -> Result<(), PathError> {
    fs::create_dir_all(path).map_err(failed("create", path))
}

/// Text that differs between any two files, and between a file before and after any change to it.
pub fn fingerprint(path: &Path) -> Result<String, PathError> {
    let real = fs::canonicalize(path).map_err(failed("look at", path))?;
    let metadata = fs::metadata(&real).map_err(failed("look at", path))?;
    Ok(format!(
        "{} {} {} {}.{} {}.{} {}",
        metadata.dev(),
        metadata.ino(),
        metadata.len(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
        real.display(),
    ))
}

/// The permission bits of a file, including set-user-id, set-group-id and sticky.
pub fn mode(path: &Path) -> Result<u32, PathError> {
    let metadata = fs::metadata(path).map_err(failed("look at", path))?;
    Ok(metadata.permissions().mode() & 0o7777)
}

/// Removes what a dead process left of its socket. Nothing happens if it is gone or is no socket.
pub fn remove_socket(path: &Path) {
    use std::os::unix::fs::FileTypeExt as _;
    if fs::symlink_metadata(path).is_ok_and(|m| m.file_type().is_socket()) {
        // Another process may be quicker, and a leftover harms nobody.
        let _ = fs::remove_file(path);
    }
}

/// The absolute path without links and `..`; the file must exist.
pub fn canonical(path: &Path) -> Result<PathBuf, PathError> {
    fs::canonicalize(path).map_err(failed("find", path))
}

/// Makes a symbolic link at `link`, in place of what is there.
pub fn symlink(target: &Path, link: &Path) -> Result<(), PathError> {
    remove(link)?;
    std::os::unix::fs::symlink(target, link).map_err(failed("create", link))
}

/// What a folder holds whose contents can be made again at any time (<https://bford.info/cachedir/>), such as cargo's.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// Copies a folder to `to`, which must not exist, without files and folders named `skip` and without caches. Links stay
/// links; sockets and the like are left out.
pub fn copy_tree(from: &Path, to: &Path, skip: &str) -> Result<(), PathError> {
    create_private_dir(to)?;
    for entry in fs::read_dir(from).map_err(failed("read", from))? {
        let entry = entry.map_err(failed("read", from))?;
        let (source, copy) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name() == skip {
            continue;
        }
        let kind = entry.file_type().map_err(failed("read", &source))?;
        if kind.is_dir() && source.join(CACHE_TAG).exists() {
            continue;
        }
        if kind.is_dir() {
            copy_tree(&source, &copy, skip)?;
        } else if kind.is_symlink() {
            let target = fs::read_link(&source).map_err(failed("read", &source))?;
            symlink(&target, &copy)?;
        } else if kind.is_file() {
            fs::copy(&source, &copy).map_err(failed("copy", &source))?;
        }
    }
    Ok(())
}

/// A folder for the owner only, removed with everything in it when dropped.
#[derive(Debug)]
pub struct PrivateDir(tempfile::TempDir);

impl PrivateDir {
    /// Makes one in the first of `parents` that can have one. Secrets go into such folders, so the caller puts memory-backed
    /// parents first. The error is that of the last parent.
    pub fn new(parents: &[PathBuf]) -> Result<Self, PathError> {
        let mut error = failed("create a folder in", Path::new(""))(io::ErrorKind::NotFound.into());
        for parent in parents {
            let made = tempfile::Builder::new()
                .prefix("nivis-")
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(parent);
            match made {
                Ok(dir) => return Ok(Self(dir)),
                Err(e) => error = failed("create a folder in", parent)(e),
            }
        }
        Err(error)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

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
            (&self.file).write_all(bytes)?;
            self.file.sync_data()
        };
        append().map_err(failed("append to", &self.path))
    }
}

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
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(PRIVATE)
                .open(path)
                .map_err(&failed)?;
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
        self.file
            .set_len(0)
            .and_then(|()| self.file.write_all_at(bytes, 0))
            .map_err(failed("write", &self.path))
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        if self.is_held() {
            // Left behind, the file does no harm: the lock itself goes with the open file.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Makes renames, new and removed names in the folder of `path` survive a power failure.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    fn names(folder: &Path) -> Vec<String> {
        let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
        list(folder).unwrap().into_iter().map(name).collect()
    }

    #[test]
    fn a_write_replaces_contents_and_mode_and_leaves_nothing_else() {
        let folder = folder();
        let path = folder.path().join("f");
        atomic_write(&path, b"one", 0o644).unwrap();
        assert_eq!(
            (read(&path).unwrap(), mode(&path)),
            (b"one".to_vec(), 0o644)
        );
        atomic_write(&path, b"two", PRIVATE).unwrap();
        assert_eq!(
            (read(&path).unwrap(), mode(&path)),
            (b"two".to_vec(), 0o600)
        );
        assert_eq!(names(folder.path()), ["f"]);
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_temporary_one() {
        let folder = folder();
        let path = folder.path().join("taken");
        fs::create_dir(&path).unwrap();
        let error = atomic_write(&path, b"x", PRIVATE).unwrap_err();
        let expected = format!("cannot write {}: is a directory", path.display());
        assert_eq!(error.to_string(), expected);
        assert_eq!(names(folder.path()), ["taken"]);
    }

    #[test]
    fn errors_name_the_path_and_the_cause() {
        let folder = folder();
        let path = folder.path().join("no/such");
        let shown = path.display();
        let table = [
            (read(&path).unwrap_err(), "read"),
            (list(&path).unwrap_err(), "list"),
            (atomic_write(&path, b"", PRIVATE).unwrap_err(), "write"),
            (AppendFile::open(&path).unwrap_err(), "open"),
            (
                FileLock::acquire(&path, Duration::ZERO).unwrap_err(),
                "lock",
            ),
        ];
        for (error, operation) in table {
            let expected = format!("cannot {operation} {shown}: no such file or directory");
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn only_a_missing_file_is_optional() {
        let folder = folder();
        assert_eq!(read_optional(&folder.path().join("none")).unwrap(), None);
        let error = read_optional(folder.path()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn a_kept_copy_does_not_follow_the_original() {
        let folder = folder();
        let (path, copy) = (folder.path().join("f"), folder.path().join("copy"));
        for contents in [b"one", b"two"] {
            atomic_write(&path, contents, PRIVATE).unwrap();
            keep_copy(&path, &copy).unwrap();
            atomic_write(&path, b"new", PRIVATE).unwrap();
            assert_eq!(read(&copy).unwrap(), contents);
        }
        assert_eq!(names(folder.path()), ["copy", "f"]);
    }

    #[test]
    fn appending_cuts_off_the_remains_of_a_failed_append() {
        let folder = folder();
        let path = folder.path().join("log");
        let mut file = AppendFile::open(&path).unwrap();
        file.append(0, b"one\n").unwrap();
        file.append(4, b"tw").unwrap();
        let mut file = AppendFile::open(&path).unwrap();
        file.append(4, b"three\n").unwrap();
        assert_eq!(read(&path).unwrap(), b"one\nthree\n");
        assert_eq!(mode(&path), 0o600);
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

    #[test]
    fn removing_what_is_not_there_is_fine() {
        let folder = folder();
        let path = folder.path().join("f");
        atomic_write(&path, b"", PRIVATE).unwrap();
        remove(&path).unwrap();
        remove(&path).unwrap();
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn private_folders_are_private_and_go_away() {
        let folder = folder();
        let nested = folder.path().join("a/b");
        create_private_dir(&nested).unwrap();
        create_private_dir(&nested).unwrap();
        assert_eq!(mode(&nested), 0o700);

        let parents = [folder.path().join("missing"), nested.clone()];
        let temp = PrivateDir::new(&parents).unwrap();
        assert_eq!(temp.path().parent(), Some(nested.as_path()));
        assert_eq!(mode(temp.path()), 0o700);
        atomic_write(&temp.path().join("secret"), b"x", PRIVATE).unwrap();
        drop(temp);
        assert!(names(&nested).is_empty());

        let error = PrivateDir::new(&parents[..1]).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("missing: no such file or directory")
        );
    }

    #[test]
    fn one_holder_at_a_time() {
        let folder = folder();
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
        let folder = folder();
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
        let folder = folder();
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
