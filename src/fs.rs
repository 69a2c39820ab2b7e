//! Read files and replace them atomically, lock them; the one place that touches the file system.

mod append;
mod digest;
pub mod fault;
mod lock;
pub mod tree;

pub use digest::sha256;

use std::error::Error;
use std::fmt;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

pub use append::AppendFile;
pub use lock::FileLock;

/// File mode: for the owner only.
pub const PRIVATE: u32 = 0o600;

/// How names of files begin that are not finished yet.
const TEMPORARY: &str = ".tmp-";

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
        fault::before("create", path)?;
        let mut temp = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .tempfile_in(folder_of(path))?;
        fault::before("write", path)?;
        temp.write_all(bytes)?;
        temp.as_file()
            .set_permissions(Permissions::from_mode(mode))?;
        fault::before("sync", path)?;
        temp.as_file().sync_all()?;
        fault::before("rename", path)?;
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
        fault::before("link", copy)?;
        let temp = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .make_in(folder, |temp| fs::hard_link(path, temp))?;
        fault::before("rename", copy)?;
        let temp = temp.into_temp_path();
        // Of two names of one file, as an earlier run may have left them, neither goes: then the temporary one is removed below.
        fs::rename(&temp, copy)?;
        drop(temp);
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
    match fault::before("remove", path).and_then(|()| fs::remove_file(path)) {
        Ok(()) => sync_folder_of(path).map_err(failed("remove", path)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(failed("remove", path)(e)),
    }
}

/// Removes the files that [`atomic_write`] and [`keep_copy`] had not finished in a folder when their process died. Nobody may be
/// at work there.
pub fn remove_temporary(folder: &Path) -> Result<(), PathError> {
    let is_temporary = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default();
        name.as_encoded_bytes().starts_with(TEMPORARY.as_bytes())
    };
    list(folder)?
        .iter()
        .filter(is_temporary)
        .try_for_each(|path| remove(path))
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

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Makes renames, new and removed names in the folder of `path` survive a power failure.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    fault::before("sync-folder", path)?;
    File::open(folder_of(path))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

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
            keep_copy(&path, &copy).unwrap();
            atomic_write(&path, b"new", PRIVATE).unwrap();
            assert_eq!(read(&copy).unwrap(), contents);
        }
        assert_eq!(names(folder.path()), ["copy", "f"]);
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
}
