//! Build derivations: what they make is in the store afterwards, and stays there for the run.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::cli::{CallError, Nix, call};
use crate::ir::Build;
use crate::process::{ProcessError, Tail, indented};

/// A build gave no result.
#[derive(Debug, thiserror::Error)]
pub enum RealiseError {
    /// Nix did not run.
    #[error("cannot build: {0}")]
    Process(#[from] ProcessError),
    /// Nix could not build, or not fetch.
    #[error("{message}{}", indented(log))]
    Nix {
        /// What failed.
        message: String,
        /// The last lines that the builds of this call printed.
        log: String,
        /// The derivation, if Nix names one.
        derivation: Option<String>,
    },
    /// Something has to be built, and the user does not want that.
    #[error("{} to be built:{}", if .0.len() == 1 { "a derivation has" } else { "derivations have" }, indented(&.0.join("\n")))]
    NotAllowed(Vec<String>),
    /// Building a derivation did not make the path that the plan names.
    #[error("building {drv} does not make {path}")]
    OtherPath {
        /// The derivation.
        drv: String,
        /// What the plan names.
        path: String,
    },
}

impl RealiseError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Nix {
                derivation: Some(derivation),
                ..
            } => Some(format!("the whole log: nix log {derivation}")),
            Self::NotAllowed(_) => Some("run it without `--no-build`".to_owned()),
            _ => None,
        }
    }
}

/// What to build.
#[derive(Clone, Copy, Debug)]
pub struct RealiseInput<'a> {
    /// Which Nix.
    pub nix: &'a Nix,
    /// The builds, in any order; they go to Nix together.
    pub builds: &'a [&'a Build],
    /// A folder for links that keep the results from being garbage-collected while they exist.
    pub roots: &'a Path,
    /// Where one build fails, finish those that do not need it.
    pub keep_going: bool,
}

/// Makes every path of `builds` exist. A build without a derivation can only be fetched. Log lines of builds go to
/// `on_message`.
pub fn realise(
    input: &RealiseInput<'_>,
    on_message: &mut dyn FnMut(&str),
) -> Result<(), RealiseError> {
    let wanted: BTreeSet<String> = input
        .builds
        .iter()
        .map(|build| installable(build))
        .collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let mut command = input.nix.command("nix-store")?.arg("--realise");
    if input.keep_going {
        command = command.arg("--keep-going");
    }
    let command = command
        .args(wanted)
        .arg("--add-root")
        .arg(input.roots.join(root_name()))
        .arg("--indirect");
    let mut log = Tail::default();
    let called = call(&command, &mut |line| {
        log.push(line);
        on_message(line);
    });
    called.map_err(|error| match error {
        CallError::Process(source) => source.into(),
        CallError::Nix(_)
            if input.nix.options().no_build && input.builds.iter().any(|b| !is_made(b)) =>
        {
            let missing = input.builds.iter().filter(|b| !is_made(b));
            let missing: BTreeSet<String> = missing
                .map(|b| b.drv.clone().unwrap_or_else(|| b.path.clone()))
                .collect();
            RealiseError::NotAllowed(missing.into_iter().collect())
        }
        CallError::Nix(failure) => RealiseError::Nix {
            derivation: derivation(&failure.message),
            message: failure.message,
            log: log.text(),
        },
    })?;
    match input.builds.iter().find(|build| !is_made(build)) {
        None => Ok(()),
        Some(build) => Err(RealiseError::OtherPath {
            drv: installable(build),
            path: build.path.clone(),
        }),
    }
}

/// Whether the path of a build exists.
pub fn is_made(build: &Build) -> bool {
    Path::new(&build.path).exists()
}

/// A name that no other call in this process uses: a second link of the same name would free the first result.
fn root_name() -> String {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    format!("build-{}", CALLS.fetch_add(1, Ordering::Relaxed))
}

/// What `nix-store --realise` calls a build.
fn installable(build: &Build) -> String {
    match &build.drv {
        Some(drv) => format!("{drv}!{}", build.output.as_deref().unwrap_or("out")),
        None => store_path(&build.path).to_owned(),
    }
}

/// The store path that a path is in: its first four components, `/nix/store/<name>`.
fn store_path(path: &str) -> &str {
    path.match_indices('/')
        .nth(3)
        .map_or(path, |(end, _)| &path[..end])
}

/// The first derivation that a message names.
fn derivation(message: &str) -> Option<String> {
    message
        .split(['\'', '"', ' '])
        .find(|word| word.starts_with('/') && Path::new(word).extension() == Some("drv".as_ref()))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::{PrivateDir, atomic_write, read};
    use crate::nix::cli::for_tests;
    use crate::nix::{EvalInput, NixOptions, Target, evaluate};

    /// A build made by evaluating a derivation whose `script` makes `$out`.
    fn build(nix: &Nix, dir: &Path, name: &str, script: &str) -> Build {
        // The folder's random name makes a path that no run before has built.
        let salt = dir.file_name().unwrap().to_string_lossy();
        let text = format!(
            r#"{{ ledger, ... }}: let drv = derivation {{
              name = "{name}"; system = builtins.currentSystem; builder = "/bin/sh"; PATH = "/bin:/usr/bin";
              args = [ "-c" "{script} # {salt}" ];
            }}; in {{ path = drv.outPath; drv = drv.drvPath; }}"#
        );
        let file = dir.join(format!("{name}.nix"));
        atomic_write(&file, text.as_bytes(), 0o600).unwrap();
        let input = EvalInput {
            nix,
            target: &Target::file(&file, None, dir).unwrap(),
            ledger: None,
            secrets: None,
            instantiate: true,
            restricted: false,
        };
        let json = evaluate(&input, &mut |_| ()).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let text = |name: &str| value[name].as_str().unwrap().to_owned();
        Build {
            path: text("path"),
            drv: Some(text("drv")),
            output: None,
        }
    }

    fn realised(builds: &[&Build], dir: &Path) -> (Result<(), RealiseError>, Vec<String>) {
        let input = RealiseInput {
            nix: &for_tests(NixOptions::default()),
            builds,
            roots: dir,
            keep_going: false,
        };
        let mut log = Vec::new();
        let result = realise(&input, &mut |line| log.push(line.to_owned()));
        (result, log)
    }

    #[test]
    fn builds_go_to_nix_together_and_are_held() {
        let dir = PrivateDir::new(&[std::env::temp_dir()]).unwrap();
        let nix = for_tests(NixOptions::default());
        let one = build(&nix, dir.path(), "one", "echo working; echo 1 > $out");
        let mut two = build(&nix, dir.path(), "two", "mkdir $out; echo 2 > $out/file");
        two.path.push_str("/file");
        assert!(!Path::new(&one.path).exists() && !Path::new(&two.path).exists());
        let (result, log) = realised(&[&one, &two, &one], dir.path());
        result.unwrap();
        assert_eq!(log.iter().filter(|line| *line == "working").count(), 1);
        assert_eq!(read(Path::new(&one.path)).unwrap(), b"1\n");
        assert_eq!(read(Path::new(&two.path)).unwrap(), b"2\n");
        let links = std::fs::read_dir(dir.path()).unwrap();
        let held = links.filter_map(|e| std::fs::read_link(e.unwrap().path()).ok());
        let mut held: Vec<_> = held.map(|p| p.to_string_lossy().into_owned()).collect();
        held.sort_unstable();
        let mut expected = [one.path.as_str(), store_path(&two.path)];
        expected.sort_unstable();
        assert_eq!(held, expected);
    }

    #[test]
    fn a_failed_build_shows_its_log_and_names_the_derivation() {
        let dir = PrivateDir::new(&[std::env::temp_dir()]).unwrap();
        let nix = for_tests(NixOptions::default());
        let bad = build(&nix, dir.path(), "bad", "echo last words; exit 7");
        let error = realised(&[&bad], dir.path()).0.unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("failed with exit code 7") && text.contains("last words"),
            "{text}"
        );
        let drv = bad.drv.unwrap();
        assert_eq!(
            error.hint().unwrap(),
            format!("the whole log: nix log {drv}")
        );
    }

    #[test]
    fn a_build_that_makes_another_path_is_an_error() {
        let dir = PrivateDir::new(&[std::env::temp_dir()]).unwrap();
        let nix = for_tests(NixOptions::default());
        let mut build = build(&nix, dir.path(), "three", "mkdir $out");
        build.path.push_str("/missing");
        let error = realised(&[&build], dir.path()).0.unwrap_err().to_string();
        assert!(
            error.ends_with(&format!("!out does not make {}", build.path)),
            "{error}"
        );
    }

    #[test]
    fn nothing_to_build_needs_no_nix() {
        let dir = PrivateDir::new(&[std::env::temp_dir()]).unwrap();
        realised(&[], dir.path()).0.unwrap();
    }

    #[test]
    fn the_store_path_of_a_file_is_its_first_part() {
        assert_eq!(store_path("/nix/store/abc-x/bin/y"), "/nix/store/abc-x");
        assert_eq!(store_path("/nix/store/abc-x"), "/nix/store/abc-x");
    }
}
