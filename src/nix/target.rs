//! What to evaluate: a plan in a flake or in a file, in the form that `call.nix` takes.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::fs::{self, PathError};

/// Folder of local state; it must never get into the Nix store, where everybody can read it.
const STATE_FOLDER: &str = ".nivis";

/// What the user named cannot be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// No `flake.nix` in the folder, nor above it.
    #[error("no flake.nix in {} or a folder above it", .0.display())]
    NoFlake(PathBuf),
    /// The folder or file does not exist.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// The part behind `#` is no attribute path.
    #[error("'{0}' is not an attribute path")]
    AttrPath(String),
    /// The path cannot be given to Nix.
    #[error("the path {} is not UTF-8", .0.display())]
    NotText(PathBuf),
    /// The flake could not be made ready for Nix.
    #[error(transparent)]
    Path(#[from] PathError),
}

impl TargetError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoFlake(_) => {
                Some("create one with an output `nivis.default`, or name a Nix file with --file")
            }
            Self::AttrPath(_) => Some("write names joined by dots, such as `.#staging`"),
            Self::Missing(_) | Self::NotText(_) | Self::Path(_) => None,
        }
    }
}

/// Where the plan is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A flake.
    Flake {
        /// The absolute flake reference for `getFlake`.
        reference: String,
        /// The folder it was made from, for flakes on this machine: what Nix calls `/nix/store/…-source`.
        folder: Option<PathBuf>,
    },
    /// A Nix file, or a folder with a `default.nix`; absolute.
    File(PathBuf),
}

/// A plan to evaluate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Where it is written.
    pub source: Source,
    /// Names below the flake output `nivis`, or below the value of the file.
    pub attr_path: Vec<String>,
    /// The folder that holds the `flake.nix` or the file, if it is on this machine.
    pub folder: Option<PathBuf>,
    shown: String,
}

impl fmt::Display for Target {
    /// As the user named it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl Target {
    /// The plan of an installable: `.#staging` is the output `nivis.staging` of the flake in this folder; without `#`, the
    /// output is `nivis.default`.
    ///
    /// A relative path starts at `folder`. `scratch` is a private folder that outlives the target: a flake that is not in
    /// a git repository is copied there without local state.
    pub fn flake(installable: &str, folder: &Path, scratch: &Path) -> Result<Self, TargetError> {
        let (flake, attr) = installable.split_once('#').unwrap_or((installable, ""));
        let local = flake.strip_prefix("path:").unwrap_or(flake);
        let is_local = local.is_empty() || local.starts_with(['.', '/']);
        let (source, folder) = if is_local && !local.contains('?') {
            let (source, folder) = local_flake(&folder.join(local), scratch)?;
            (source, Some(folder))
        } else {
            let source = Source::Flake {
                reference: flake.to_owned(),
                folder: None,
            };
            (source, None)
        };
        let attr = attr.strip_prefix("nivis.").unwrap_or(attr);
        Ok(Self {
            source,
            attr_path: attr_path(attr)?,
            folder,
            shown: installable.to_owned(),
        })
    }

    /// The plan in a Nix file, or the one at an attribute path of the file's value.
    pub fn file(path: &Path, attr: Option<&str>, folder: &Path) -> Result<Self, TargetError> {
        let absolute = folder.join(path);
        if !absolute.exists() {
            return Err(TargetError::Missing(absolute));
        }
        let shown = match attr {
            Some(attr) => format!("{}#{attr}", path.display()),
            None => path.display().to_string(),
        };
        let folder = if absolute.is_dir() {
            Some(absolute.clone())
        } else {
            absolute.parent().map(Path::to_owned)
        };
        Ok(Self {
            source: Source::File(absolute),
            attr_path: attr_path(attr.unwrap_or_default())?,
            folder,
            shown,
        })
    }

    /// What messages of Nix call the flake or file.
    pub(super) fn origin(&self) -> String {
        match &self.source {
            Source::Flake {
                folder: Some(folder),
                ..
            } => format!("flake '{}'", folder.display()),
            Source::Flake { reference, .. } => format!("flake '{reference}'"),
            Source::File(path) => format!("file '{}'", path.display()),
        }
    }
}

/// The names in `a.b."c.d"`; `default` if there is none.
fn attr_path(text: &str) -> Result<Vec<String>, TargetError> {
    if text.is_empty() {
        return Ok(vec!["default".to_owned()]);
    }
    let wrong = || TargetError::AttrPath(text.to_owned());
    let mut names = Vec::new();
    let mut rest = text;
    loop {
        let (name, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or_else(wrong)?,
            None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
        };
        if name.contains('"') || name.is_empty() && !rest.starts_with('"') {
            return Err(wrong());
        }
        names.push(name.to_owned());
        if after.is_empty() {
            return Ok(names);
        }
        rest = after.strip_prefix('.').ok_or_else(wrong)?;
    }
}

/// A flake on this machine. In a git repository Nix sees what git tracks; any other folder would go into the Nix store
/// with all it holds, so Nix gets a copy without state. With it comes the folder of its `flake.nix`.
fn local_flake(start: &Path, scratch: &Path) -> Result<(Source, PathBuf), TargetError> {
    let start = fs::canonical(start)?;
    let folder = flake_folder(&start).ok_or_else(|| TargetError::NoFlake(start.clone()))?;
    let Some(root) = folder.ancestors().find(|dir| dir.join(".git").exists()) else {
        let copy = scratch.join("flake");
        fs::copy_tree(folder, &copy, STATE_FOLDER)?;
        let source = Source::Flake {
            reference: format!("path:{}", text(&copy)?),
            folder: Some(folder.to_owned()),
        };
        return Ok((source, folder.to_owned()));
    };
    let mut query = Vec::new();
    let below = folder.strip_prefix(root).unwrap_or(Path::new(""));
    if below != Path::new("") {
        query.push(format!("dir={}", percent_encoded(text(below)?)));
    }
    if root.join(".git/shallow").exists() {
        query.push("shallow=1".to_owned());
    }
    let plain = text(root)?;
    let reachable = if plain.chars().all(is_plain) {
        plain.to_owned()
    } else {
        // Nix 2.8 takes %-encoded paths literally, and others not at all.
        let link = scratch.join("repository");
        fs::symlink(root, &link)?;
        text(&link)?.to_owned()
    };
    let query = if query.is_empty() {
        String::new()
    } else {
        format!("?{}", query.join("&"))
    };
    let source = Source::Flake {
        reference: format!("git+file://{reachable}{query}"),
        folder: Some(root.to_owned()),
    };
    Ok((source, folder.to_owned()))
}

/// The nearest folder with a `flake.nix`, from `start` upwards, without leaving a git repository.
fn flake_folder(start: &Path) -> Option<&Path> {
    for dir in start.ancestors() {
        if dir.join("flake.nix").exists() {
            return Some(dir);
        }
        if dir.join(".git").exists() {
            return None;
        }
    }
    None
}

fn text(path: &Path) -> Result<&str, TargetError> {
    path.to_str()
        .ok_or_else(|| TargetError::NotText(path.to_owned()))
}

/// Whether a character means itself in the URL of a flake reference.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "/-._~+".contains(c)
}

fn percent_encoded(text: &str) -> String {
    let encode = |b: u8| {
        let c = char::from(b);
        if is_plain(c) {
            c.to_string()
        } else {
            format!("%{b:02X}")
        }
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::{PrivateDir, atomic_write, create_private_dir};

    fn folder() -> PrivateDir {
        PrivateDir::new(&[std::env::temp_dir()]).unwrap()
    }

    fn touch(path: &Path) {
        create_private_dir(path.parent().unwrap()).unwrap();
        atomic_write(path, b"", 0o600).unwrap();
    }

    fn reference(target: Result<Target, TargetError>) -> String {
        match target.unwrap().source {
            Source::Flake { reference, .. } => reference,
            Source::File(path) => panic!("a file: {}", path.display()),
        }
    }

    #[test]
    fn attribute_paths_are_names_joined_by_dots() {
        let table: [(&str, Option<&[&str]>); 10] = [
            ("", Some(&["default"])),
            ("a", Some(&["a"])),
            ("a.b", Some(&["a", "b"])),
            ("a.\"b.c\".d", Some(&["a", "b.c", "d"])),
            ("\"\".a", Some(&["", "a"])),
            ("\"a", None),
            (".", None),
            ("a.", None),
            (".a", None),
            ("a..b", None),
        ];
        for (text, expected) in table {
            let expected = expected.map(|names| names.iter().map(ToString::to_string).collect());
            assert_eq!(attr_path(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn an_installable_names_an_output_below_nivis() {
        let (cwd, scratch) = (folder(), folder());
        touch(&cwd.path().join("flake.nix"));
        let target = |text| Target::flake(text, cwd.path(), scratch.path()).unwrap();
        for (text, expected) in [
            (".", "default"),
            ("", "default"),
            (".#", "default"),
            (".#prod", "prod"),
            ("#nivis.prod", "prod"),
        ] {
            assert_eq!(target(text).attr_path, [expected], "{text}");
        }
        let remote = target("github:o/r#x");
        let expected = Source::Flake {
            reference: "github:o/r".into(),
            folder: None,
        };
        assert_eq!(remote.source, expected);
        assert_eq!(remote.to_string(), "github:o/r#x");
        assert_eq!(remote.origin(), "flake 'github:o/r'");
    }

    #[test]
    fn a_flake_in_git_is_found_upwards_and_named_by_its_repository() {
        let (cwd, scratch) = (folder(), folder());
        let root = cwd.path().join("repo");
        touch(&root.join(".git/HEAD"));
        touch(&root.join("my infra/flake.nix"));
        create_private_dir(&root.join("my infra/deep")).unwrap();
        let found = |at: &str| Target::flake(".", &root.join(at), scratch.path());
        let expected = format!("git+file://{}?dir=my%20infra", root.display());
        let target = found("my infra/deep").unwrap();
        assert_eq!(target.folder, Some(root.join("my infra")));
        assert_eq!(reference(Ok(target)), expected);
        let error = found(".").unwrap_err().to_string();
        assert_eq!(
            error,
            format!("no flake.nix in {} or a folder above it", root.display())
        );
        touch(&root.join(".git/shallow"));
        assert_eq!(reference(found("my infra")), expected + "&shallow=1");
    }

    #[test]
    fn a_repository_with_an_odd_name_is_reached_through_a_link() {
        let (cwd, scratch) = (folder(), folder());
        let root = cwd.path().join("it's \"odd\" ü");
        touch(&root.join(".git/HEAD"));
        touch(&root.join("flake.nix"));
        let link = scratch.path().join("repository");
        let found = Target::flake(".", &root, scratch.path());
        assert_eq!(reference(found), format!("git+file://{}", link.display()));
        assert_eq!(fs::canonical(&link).unwrap(), root);
    }

    #[test]
    fn a_flake_outside_of_git_is_copied_without_state_and_caches() {
        let (cwd, scratch) = (folder(), folder());
        for file in [
            "flake.nix",
            "sub/a.nix",
            ".nivis/default/state.json",
            "sub/.nivis/x",
            "target/CACHEDIR.TAG",
        ] {
            touch(&cwd.path().join(file));
        }
        let target = Target::flake("path:.", cwd.path(), scratch.path()).unwrap();
        let copy = scratch.path().join("flake");
        assert_eq!(target.folder.as_deref(), Some(cwd.path()), "not the copy");
        assert_eq!(reference(Ok(target)), format!("path:{}", copy.display()));
        for (file, there) in [
            ("flake.nix", true),
            ("sub/a.nix", true),
            (".nivis", false),
            ("sub/.nivis", false),
            ("target", false),
        ] {
            assert_eq!(copy.join(file).exists(), there, "{file}");
        }
    }

    #[test]
    fn a_missing_folder_or_file_is_named() {
        let (cwd, scratch) = (folder(), folder());
        let error = Target::file(Path::new("no.nix"), None, cwd.path()).unwrap_err();
        let path = cwd.path().join("no.nix");
        assert_eq!(
            error.to_string(),
            format!("{} does not exist", path.display())
        );
        let error = Target::flake("./no", cwd.path(), scratch.path()).unwrap_err();
        assert!(error.to_string().contains("/no: no such file"), "{error}");
    }
}
