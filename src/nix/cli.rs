//! Which Nix, and the flags that every call gets.

use std::fmt;
use std::path::{Path, PathBuf};

use super::log::{self, NixFailure};
use crate::process::{Command, ProcessError, Tail};

/// The oldest Nix that works: the one of Debian 12.
const MINIMUM: Version = Version(2, 8);

/// Major and minor version of Nix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u32, u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// There is no Nix to call.
#[derive(Debug, thiserror::Error)]
pub enum NixError {
    /// A program of Nix is missing or does not run.
    #[error("cannot use Nix: {0}")]
    Process(#[from] ProcessError),
    /// It says something odd about its version.
    #[error("`{command}` answers {answer:?}, which names no version of Nix")]
    UnknownVersion {
        /// The command line.
        command: String,
        /// What it printed.
        answer: String,
    },
    /// It is too old.
    #[error("Nix {found} is too old; nivis needs Nix {MINIMUM} or newer")]
    TooOld {
        /// Its version.
        found: Version,
    },
}

impl NixError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Process(ProcessError::NotFound { .. }) => {
                Some("install Nix (https://nixos.org/download, or `apt install nix-bin`)")
            }
            Self::TooOld { .. } => Some("install a newer Nix: https://nixos.org/download"),
            Self::Process(_) | Self::UnknownVersion { .. } => None,
        }
    }
}

/// What the user wants every call of Nix to be told.
#[derive(Clone, Debug, Default)]
pub struct NixOptions {
    /// Show the trace of evaluation errors.
    pub show_trace: bool,
    /// Settings of Nix by name, as `nix --option` takes them.
    pub settings: Vec<(String, String)>,
    /// Flake references by name of the flake's input that they replace, as `nix --override-input` takes them.
    pub override_inputs: Vec<(String, String)>,
    /// Build nothing, here or elsewhere. What is built already, and what caches have, can be used.
    pub no_build: bool,
}

/// A Nix that is there and new enough.
#[derive(Clone, Debug)]
pub struct Nix {
    folder: Option<PathBuf>,
    options: NixOptions,
    answer: String,
}

impl Nix {
    /// Finds Nix in `folder`, or else where the shell would, and asks for its version.
    pub fn find(folder: Option<&Path>, options: NixOptions) -> Result<Self, NixError> {
        let mut nix = Self {
            folder: folder.map(Path::to_owned),
            options,
            answer: String::new(),
        };
        let command = nix.program("nix-instantiate")?.arg("--version");
        let answer = String::from_utf8_lossy(&command.output()?)
            .trim()
            .to_owned();
        match parse_version(&answer) {
            Some(found) if found >= MINIMUM => {
                nix.answer = answer;
                Ok(nix)
            }
            Some(found) => Err(NixError::TooOld { found }),
            None => Err(NixError::UnknownVersion {
                command: command.to_string(),
                answer,
            }),
        }
    }

    /// What it says about its version.
    pub(super) fn version(&self) -> &str {
        &self.answer
    }

    /// What the user wants every call to be told.
    pub fn options(&self) -> &NixOptions {
        &self.options
    }

    /// A program of Nix with the flags that every call gets.
    pub(super) fn command(&self, program: &str) -> Result<Command, ProcessError> {
        let mut command = self
            .program(program)?
            .args(["--extra-experimental-features", "nix-command flakes"])
            .args(["--option", "warn-dirty", "false"])
            .args(["--log-format", "internal-json"]);
        if self.options.show_trace {
            command = command.arg("--show-trace");
        }
        for (name, value) in &self.options.settings {
            command = command.arg("--option").arg(name).arg(value);
        }
        if self.options.no_build {
            command = command.args(["--option", "max-jobs", "0", "--option", "builders", ""]);
        }
        Ok(command)
    }

    fn program(&self, name: &str) -> Result<Command, ProcessError> {
        match &self.folder {
            Some(folder) => Ok(Command::new(folder.join(name))),
            None => Command::find(name),
        }
    }
}

/// Why a call of Nix gave no result.
pub(super) enum CallError {
    /// Nix said what is wrong.
    Nix(NixFailure),
    /// It said nothing that could be understood.
    Process(ProcessError),
}

/// Runs a command made by [`Nix::command`]: its stdout. Warnings, traces and build logs go to `on_message`, line by line.
pub(super) fn call(
    command: &Command,
    on_message: &mut dyn FnMut(&str),
) -> Result<Vec<u8>, CallError> {
    let mut failure = None;
    let mut plain = Tail::default();
    let finished = command
        .run(&mut |line| match log::parse(line) {
            log::Line::Failure(f) => failure = Some(f),
            log::Line::Message(text) => text.lines().for_each(&mut *on_message),
            log::Line::Plain(text) => plain.push(&text),
            log::Line::Ignored => {}
        })
        .map_err(CallError::Process)?;
    if finished.status.success() {
        plain.text().lines().for_each(on_message);
        return Ok(finished.stdout);
    }
    let stderr_tail = plain.text();
    Err(match failure.or_else(|| log::plain_failure(&stderr_tail)) {
        Some(failure) => CallError::Nix(failure),
        None => CallError::Process(ProcessError::Failed {
            command: command.to_string(),
            status: finished.status,
            stderr_tail,
        }),
    })
}

/// The version in `nix-instantiate (Nix) 2.8.0`, or in `… (Determinate Nix 3.1) 2.28.1`.
fn parse_version(answer: &str) -> Option<Version> {
    let mut numbers = answer
        .rsplit(' ')
        .next()?
        .split(|c: char| !c.is_ascii_digit());
    Some(Version(
        numbers.next()?.parse().ok()?,
        numbers.next()?.parse().ok()?,
    ))
}

/// A Nix for tests: it builds as root, without a daemon and without the network.
#[cfg(test)]
pub(super) fn for_tests(options: NixOptions) -> Nix {
    let settings = [
        ("build-users-group", ""),
        ("sandbox", "false"),
        ("substituters", ""),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Nix::find(
        None,
        NixOptions {
            settings: options.settings.into_iter().chain(settings).collect(),
            ..options
        },
    )
    .unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_the_many_kinds_of_nix_print_them() {
        let table = [
            ("nix-instantiate (Nix) 2.8.0", Some(Version(2, 8))),
            ("nix (Nix) 2.24.14", Some(Version(2, 24))),
            ("nix (Nix) 2.30pre20250521_76a4d4c", Some(Version(2, 30))),
            ("nix (Determinate Nix 3.11.2) 2.31.1", Some(Version(2, 31))),
            ("nix (Lix, like Nix) 2.93.3", Some(Version(2, 93))),
            ("nix (Nix) 2", None),
            ("", None),
        ];
        for (answer, expected) in table {
            assert_eq!(parse_version(answer), expected, "{answer}");
        }
        assert!(Version(2, 10) > MINIMUM && Version(2, 7) < MINIMUM && Version(3, 0) > MINIMUM);
    }

    #[test]
    fn a_missing_nix_is_an_error_with_a_hint() {
        let folder = Path::new("/no/such/folder");
        let error = Nix::find(Some(folder), NixOptions::default()).unwrap_err();
        let expected = "cannot use Nix: cannot run `/no/such/folder/nix-instantiate --version`: ";
        assert!(error.to_string().starts_with(expected), "{error}");
        let missing = NixError::from(ProcessError::NotFound {
            program: "nix-store".into(),
            path: "/bin".into(),
        });
        assert!(missing.hint().unwrap().contains("install Nix"));
    }
}
