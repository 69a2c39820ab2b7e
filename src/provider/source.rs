//! From a provider's `source` to the program to start.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::launch::Launch;
use crate::fs;
use crate::registry::{Address, AddressError, InstallError, Installer, Platform};

/// `argv[0]` under which our own binary serves the `builtin` provider.
pub const BUILTIN_ARGV0: &str = "terraform-provider-builtin";

const PREFIX: &str = "terraform-provider-";
/// Folders of a packaged provider that hold one of the known layouts: itself, nixpkgs, plain Go packages.
const ROOTS: [&str; 3] = ["", "libexec/terraform-providers", "bin"];
/// Depth of a filesystem mirror: host, namespace, type, version, platform.
const MIRROR_DEPTH: usize = 5;

/// What relative sources are relative to.
#[derive(Clone, Debug)]
pub struct Places {
    /// Base of relative paths.
    pub working_dir: PathBuf,
    /// What `~` stands for.
    pub home: Option<PathBuf>,
    /// Our own binary, which serves `builtin`.
    pub executable: PathBuf,
}

/// Why a source names no program.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// It is neither `builtin` nor a path, nor an address.
    #[error("provider {id}: source {source}")]
    Address {
        /// Id of the provider.
        id: String,
        /// What is wrong with it as an address.
        source: AddressError,
    },
    /// It could not be installed.
    #[error("provider {id}: {source}")]
    Install {
        /// Id of the provider.
        id: String,
        /// Why.
        source: Arc<InstallError>,
    },
    /// `~` without a home folder.
    #[error("provider {id}: source {source_text:?} needs a home folder, and there is none")]
    NoHome {
        /// Id of the provider.
        id: String,
        /// The source.
        source_text: String,
    },
    /// Nothing there.
    #[error("provider {id}: source {} does not exist", .path.display())]
    Missing {
        /// Id of the provider.
        id: String,
        /// The path.
        path: PathBuf,
    },
    /// A folder without a provider for this machine.
    #[error("provider {id}: no {PREFIX}* for {} in {}", Platform::current(), .path.display())]
    Empty {
        /// Id of the provider.
        id: String,
        /// The folder.
        path: PathBuf,
    },
    /// A folder with several providers, none named as the id.
    #[error("provider {id}: {} has several providers: {}", .path.display(), .types.join(", "))]
    Ambiguous {
        /// Id of the provider.
        id: String,
        /// The folder.
        path: PathBuf,
        /// Types of the providers found.
        types: Vec<String>,
    },
    /// The folder cannot be read.
    #[error("provider {id}: {source}")]
    Read {
        /// Id of the provider.
        id: String,
        /// What failed.
        source: fs::PathError,
    },
}

impl SourceError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Address { source, .. } => source.hint(),
            Self::Install { source, .. } => source.hint(),
            Self::Ambiguous { .. } => Some("name the program itself".to_owned()),
            _ => None,
        }
    }
}

/// Finds the program of the provider whose source is an address in a registry, installing it if need be. Blocks.
pub(super) fn install(
    id: &str,
    source: &str,
    installer: &Installer,
) -> Result<Launch, SourceError> {
    let address = address(id, source, installer.default_host())?;
    let program = installer.program(&address);
    let id = id.to_owned();
    program
        .map(Launch::program)
        .map_err(|source| SourceError::Install { id, source })
}

fn address(id: &str, source: &str, default_host: &str) -> Result<Address, SourceError> {
    let id = id.to_owned();
    Address::parse(source, default_host).map_err(|source| SourceError::Address { id, source })
}

/// Finds the program of the provider `id` on this machine.
///
/// `source` is `builtin`, the path of an executable, or the path of a folder: one that contains `terraform-provider-*`,
/// a nixpkgs package, or an unpacked filesystem mirror. Of several versions the greatest is taken; of several providers
/// the one whose type is `id`.
pub fn resolve(id: &str, source: &str, places: &Places) -> Result<Launch, SourceError> {
    if source == "builtin" {
        return Ok(Launch {
            argv0: Some(BUILTIN_ARGV0.into()),
            ..Launch::program(&places.executable)
        });
    }
    let id = id.to_owned();
    let path = match (source.strip_prefix('~'), &places.home) {
        (Some(""), Some(home)) => home.clone(),
        (Some(rest), Some(home)) if rest.starts_with('/') => home.join(&rest[1..]),
        (Some(_), None) => {
            let source_text = source.to_owned();
            return Err(SourceError::NoHome { id, source_text });
        }
        _ => places.working_dir.join(source),
    };
    if path.is_dir() {
        return in_folder(id, path).map(Launch::program);
    }
    if !path.exists() {
        return Err(SourceError::Missing { id, path });
    }
    Ok(Launch::program(path))
}

/// A provider program found in a folder.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    version: Vec<u64>,
    ty: String,
    program: PathBuf,
}

fn in_folder(id: String, folder: PathBuf) -> Result<PathBuf, SourceError> {
    let mut found = Vec::new();
    for root in ROOTS {
        let root = folder.join(root);
        if !root.is_dir() {
            continue;
        }
        if let Err(source) = search(&root, MIRROR_DEPTH, &mut found) {
            return Err(SourceError::Read { id, source });
        }
        if !found.is_empty() {
            break;
        }
    }
    let mut types: Vec<String> = found.iter().map(|f| f.ty.clone()).collect();
    types.sort();
    types.dedup();
    let ty = match &types[..] {
        [] => return Err(SourceError::Empty { id, path: folder }),
        [only] => only.clone(),
        several if several.contains(&id) => id.clone(),
        _ => {
            let path = folder;
            return Err(SourceError::Ambiguous { id, path, types });
        }
    };
    found
        .into_iter()
        .filter(|f| f.ty == ty)
        .reduce(|best, f| if f.version > best.version { f } else { best })
        .map(|f| f.program)
        .ok_or(SourceError::Empty { id, path: folder })
}

/// Collects the programs in a folder, or, if it has none, in the folders below it, in the order of their names.
fn search(folder: &Path, depth: usize, found: &mut Vec<Found>) -> Result<(), fs::PathError> {
    let entries = fs::list(folder)?;
    let before = found.len();
    let files = entries.iter().filter(|path| path.is_file());
    found.extend(files.filter_map(|path| provider(path)));
    if found.len() > before || depth == 0 {
        return Ok(());
    }
    for path in entries.iter().filter(|path| path.is_dir()) {
        // The last level of a mirror is the platform.
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if depth > 1 || name == Platform::current().to_string() {
            search(path, depth - 1, found)?;
        }
    }
    Ok(())
}

/// What a file's name and place say, if it is a provider: `<type>/<version>/<platform>/terraform-provider-<type>_v<version>`.
fn provider(program: &Path) -> Option<Found> {
    let name = program.file_name()?.to_str()?.strip_prefix(PREFIX)?;
    if Path::new(name).extension().is_some_and(|e| e == "zip") {
        return None;
    }
    let (ty, rest) = name.split_at(name.find(['_', '.']).unwrap_or(name.len()));
    let folder = program.ancestors().nth(2).and_then(Path::file_name);
    let version = numbers(rest.trim_start_matches(['_', 'v']))
        .or_else(|| numbers(folder?.to_str()?))
        .unwrap_or_default();
    Some(Found {
        version,
        ty: ty.to_owned(),
        program: program.to_owned(),
    })
}

/// The numbers of a version such as `5.1.0` or `5.1.0_x5`; `None` for other text.
fn numbers(text: &str) -> Option<Vec<u64>> {
    let version = text.split(['_', '-', '+']).next()?;
    version.split('.').map(|n| n.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(root: &Path, file: &str) {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::File::create(&path).unwrap();
    }

    fn places(root: &Path) -> Places {
        Places {
            working_dir: root.to_owned(),
            home: Some(root.join("home")),
            executable: "/bin/nivis".into(),
        }
    }

    fn found(root: &Path, id: &str, source: &str) -> String {
        let launch = resolve(id, source, &places(root)).unwrap();
        let program = launch.program.strip_prefix(root).unwrap();
        program.to_str().unwrap().replace("./", "")
    }

    #[test]
    fn finds_programs_in_every_layout() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        let platform = Platform::current();
        let packaged = format!(
            "libexec/terraform-providers/registry.terraform.io/hashicorp/random/3.7.2/{platform}/terraform-provider-random_3.7.2"
        );
        let old = format!("registry.opentofu.org/x/tls/3.9.0/{platform}/terraform-provider-tls");
        let new = format!("registry.opentofu.org/x/tls/3.10.0/{platform}/terraform-provider-tls");
        touch(root, &format!("package/{packaged}"));
        touch(root, &format!("mirror/{old}"));
        touch(root, &format!("mirror/{new}"));
        touch(
            root,
            "mirror/registry.opentofu.org/x/tls/4.0.0/plan9_mips/terraform-provider-tls",
        );
        touch(root, "flat/terraform-provider-aws_v5.1.0_x5");
        touch(root, "flat/terraform-provider-aws_v5.10.0_x5");
        touch(root, "flat/terraform-provider-aws_v6.0.0.zip");
        touch(root, "two/terraform-provider-a");
        touch(root, "two/terraform-provider-b");
        touch(root, "go/bin/terraform-provider-x");
        touch(root, "home/p/terraform-provider-y");
        touch(root, "anything");
        let package = format!("package/{packaged}");
        let mirror = format!("mirror/{new}");
        let cases = [
            ("random", "./package", package.as_str()),
            ("t", "./mirror", &mirror),
            ("aws", "./flat", "flat/terraform-provider-aws_v5.10.0_x5"),
            ("b", "./two", "two/terraform-provider-b"),
            ("x", "./go", "go/bin/terraform-provider-x"),
            ("y", "~/p", "home/p/terraform-provider-y"),
            ("z", "./anything", "anything"),
        ];
        for (id, source, expected) in cases {
            assert_eq!(found(root, id, source), expected, "{source}");
        }
        let absolute = root.join("anything");
        let launch = resolve("z", absolute.to_str().unwrap(), &places(root)).unwrap();
        assert_eq!(launch, Launch::program(absolute));
    }

    #[test]
    fn builtin_is_this_program() {
        let launch = resolve("b", "builtin", &places(Path::new("/"))).unwrap();
        assert_eq!(launch.program, Path::new("/bin/nivis"));
        assert_eq!(launch.argv0.unwrap(), BUILTIN_ARGV0);
    }

    #[test]
    fn says_why_there_is_none() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        touch(root, "two/terraform-provider-a");
        touch(root, "two/terraform-provider-b");
        touch(root, "empty/readme");
        let cases = [
            ("./nothing", "does not exist"),
            ("./empty", "no terraform-provider-*"),
            ("./two", "several providers: a, b"),
        ];
        for (source, message) in cases {
            let error = resolve("p", source, &places(root)).expect_err(source);
            let text = error.to_string();
            assert!(
                text.starts_with("provider p: ") && text.contains(message),
                "{text}"
            );
        }
        let nowhere = Places {
            home: None,
            ..places(root)
        };
        assert!(matches!(
            resolve("p", "~/x", &nowhere),
            Err(SourceError::NoHome { .. })
        ));
    }
}
