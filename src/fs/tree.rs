//! Folders as wholes: listed, moved, removed, filled file by file.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::{PathError, failed, list, sync_folder_of};

/// The files in a folder and below, as paths relative to it with `/` between the names, sorted by their bytes.
///
/// Anything but files and folders, and names that are not UTF-8, are errors.
pub fn files(folder: &Path) -> Result<Vec<String>, PathError> {
    let mut found = Vec::new();
    collect(folder, "", &mut found)?;
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<String>) -> Result<(), PathError> {
    for path in list(folder)? {
        let metadata = fs::symlink_metadata(&path).map_err(failed("look at", &path))?;
        let name = path.file_name().and_then(|name| name.to_str());
        let unfit = || failed("take", &path)(io::ErrorKind::InvalidInput.into());
        let name = format!("{prefix}{}", name.ok_or_else(unfit)?);
        if metadata.is_dir() {
            collect(&path, &format!("{name}/"), found)?;
        } else if metadata.is_file() {
            found.push(name);
        } else {
            return Err(unfit());
        }
    }
    Ok(())
}

/// Opens a file to read it.
pub fn open(path: &Path) -> Result<File, PathError> {
    File::open(path).map_err(failed("open", path))
}

/// Makes a file that does not exist yet, with these permissions, to write into it.
pub fn create(path: &Path, mode: u32) -> Result<File, PathError> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).mode(mode);
    file.open(path).map_err(failed("create", path))
}

/// Makes a file executable for all.
pub fn make_executable(path: &Path) -> Result<(), PathError> {
    fs::set_permissions(path, Permissions::from_mode(0o755)).map_err(failed("change", path))
}

/// Makes a file readable for all, and writable for its owner.
pub fn make_readable(path: &Path) -> Result<(), PathError> {
    fs::set_permissions(path, Permissions::from_mode(0o644)).map_err(failed("change", path))
}

/// Makes what is at `from` be at `to` instead, at once. A folder at `to` must be empty; a file is replaced.
pub fn rename(from: &Path, to: &Path) -> Result<(), PathError> {
    fs::rename(from, to)
        .and_then(|()| sync_folder_of(to))
        .map_err(failed("create", to))
}

/// Copies a file, with its permissions.
pub fn copy(from: &Path, to: &Path) -> Result<(), PathError> {
    fs::copy(from, to).map(drop).map_err(failed("copy", from))
}

/// Removes a folder with all it holds; nothing happens if there is none.
pub fn remove(path: &Path) -> Result<(), PathError> {
    match fs::remove_dir_all(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed("remove", path)(e)),
        _ => Ok(()),
    }
}
