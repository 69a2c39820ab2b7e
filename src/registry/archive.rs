//! Unpacking archives of packages.

use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::fs::{self, PathError, tree};

/// How many files and folders an archive may have. Packages have a handful.
const MOST_ENTRIES: usize = 1_000;
/// How long all files together may be, in bytes. The largest package today has less than 1 GB.
const MOST_BYTES: u64 = 4 << 30;

/// Why an archive is not accepted.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It is no ZIP archive, or a damaged one.
    #[error("{} is no whole ZIP archive: {source}", .path.display())]
    Damaged {
        /// The archive.
        path: PathBuf,
        /// What is wrong.
        source: ZipError,
    },
    /// A name leads out of the folder, or cannot be a name here.
    #[error("the archive names a file {0:?}, which is not below the package")]
    Escape(String),
    /// An entry is neither file nor folder.
    #[error("the archive holds {0:?}, which is neither a file nor a folder")]
    Kind(String),
    /// Two entries have one name.
    #[error("the archive holds two files of one name")]
    Twice,
    /// It has too many entries.
    #[error("the archive has {0} entries, more than the {MOST_ENTRIES} that are allowed")]
    Entries(usize),
    /// It becomes too long.
    #[error("the files in the archive have more than the {MOST_BYTES} bytes that are allowed")]
    Bytes,
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] PathError),
}

/// Unpacks `archive` into the folder `to`, which exists and is empty. On an error, part of it is there.
pub(super) fn unpack(archive: &Path, to: &Path) -> Result<(), ArchiveError> {
    let damaged = |source| ArchiveError::Damaged {
        path: archive.to_owned(),
        source,
    };
    let mut zip = ZipArchive::new(tree::open(archive)?).map_err(damaged)?;
    if zip.has_duplicate_names() {
        return Err(ArchiveError::Twice);
    }
    if zip.len() > MOST_ENTRIES {
        return Err(ArchiveError::Entries(zip.len()));
    }
    let mut left = MOST_BYTES;
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).map_err(damaged)?;
        let name = entry.name().map_err(damaged)?.into_owned();
        let path = to.join(relative(&name)?);
        if entry.is_dir() {
            fs::create_dir(&path)?;
            continue;
        }
        if !entry.is_file() {
            return Err(ArchiveError::Kind(name));
        }
        fs::create_dir(path.parent().unwrap_or(to))?;
        let executable = entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
        let mut file = tree::create(&path, if executable { 0o755 } else { 0o644 })?;
        // One byte more than allowed shows that there is more.
        let length = io::copy(&mut entry.by_ref().take(left + 1), &mut file)
            .map_err(|source| damaged(source.into()))?;
        left = left.checked_sub(length).ok_or(ArchiveError::Bytes)?;
    }
    Ok(())
}

/// The name of an entry as a path that stays below the folder it is joined to.
fn relative(name: &str) -> Result<PathBuf, ArchiveError> {
    let escape = || ArchiveError::Escape(name.to_owned());
    if name.is_empty() || name.contains(['\\', '\0', '\n']) {
        return Err(escape());
    }
    let path = PathBuf::from(name);
    let plain = |part| matches!(part, Component::Normal(_));
    if path.components().all(plain) {
        Ok(path)
    } else {
        Err(escape())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    fn zip_of(folder: &Path, entries: &[(&str, &[u8])]) -> PathBuf {
        let path = folder.join("a.zip");
        let mut zip = ZipWriter::new(tree::create(&path, 0o644).unwrap());
        for (name, bytes) in entries {
            let mode = if name.starts_with("terraform-") {
                0o755
            } else {
                0o644
            };
            let options = SimpleFileOptions::default().unix_permissions(mode);
            zip.start_file(*name, options).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap();
        path
    }

    #[test]
    fn files_are_unpacked_with_their_mode() {
        let temp = tempfile::tempdir().unwrap();
        let long = vec![b'x'; 1 << 20];
        let archive = zip_of(
            temp.path(),
            &[("terraform-provider-x", &long), ("docs/LICENSE", b"free")],
        );
        let to = temp.path().join("to");
        fs::create_dir(&to).unwrap();
        unpack(&archive, &to).unwrap();
        assert_eq!(
            tree::files(&to).unwrap(),
            ["docs/LICENSE", "terraform-provider-x"]
        );
        let program = to.join("terraform-provider-x");
        assert_eq!(fs::read(&program).unwrap(), long);
        assert_eq!(fs::mode(&program).unwrap() & 0o111, 0o111);
        assert_eq!(fs::mode(&to.join("docs/LICENSE")).unwrap() & 0o111, 0);
    }

    #[test]
    fn names_that_lead_out_are_refused_and_nothing_is_written_there() {
        for name in [
            "../out",
            "/out",
            "a/../../out",
            "a\\..\\out",
            "./../out",
            "..",
        ] {
            let temp = tempfile::tempdir().unwrap();
            let archive = zip_of(temp.path(), &[(name, b"x")]);
            let to = temp.path().join("deep/to");
            fs::create_dir(&to).unwrap();
            let error = unpack(&archive, &to).unwrap_err();
            assert!(matches!(error, ArchiveError::Escape(_)), "{name}: {error}");
            assert!(tree::files(temp.path()).unwrap() == ["a.zip"], "{name}");
        }
    }

    #[test]
    fn links_are_refused() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a.zip");
        let mut zip = ZipWriter::new(tree::create(&path, 0o644).unwrap());
        let options = SimpleFileOptions::default();
        zip.add_symlink("terraform-provider-x", "/bin/sh", options)
            .unwrap();
        zip.finish().unwrap();
        let to = temp.path().join("to");
        fs::create_dir(&to).unwrap();
        let error = unpack(&path, &to).unwrap_err();
        assert!(matches!(error, ArchiveError::Kind(_)), "{error}");
    }

    #[test]
    fn a_damaged_archive_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let archive = zip_of(temp.path(), &[("a", &[7; 4096])]);
        let whole = fs::read(&archive).unwrap();
        let to = temp.path().join("to");
        fs::create_dir(&to).unwrap();
        let mut flipped = whole.clone();
        // Inside the first entry's name and data.
        flipped[33] ^= 0xff;
        for bytes in [&whole[..whole.len() / 2], &flipped, b"not a zip"] {
            fs::atomic_write(&archive, bytes, 0o644).unwrap();
            assert!(matches!(
                unpack(&archive, &to),
                Err(ArchiveError::Damaged { .. })
            ));
        }
    }
}
