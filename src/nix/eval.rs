//! Evaluate a plan: its IR as JSON.

use std::path::{Path, PathBuf};

use super::cli::{CallError, Nix, call};
use super::explain::{Explained, explain, needs_store};
use super::log::NixFailure;
use super::target::{Source, Target};
use crate::process::{Command, ProcessError};

/// The Nix expression that selects a plan and applies it to a ledger.
pub(super) const CALL: &str = include_str!("../../nix/call.nix");

/// How the line begins by which [`CALL`] says where the source of a flake is in the store.
const SOURCE_MARK: &str = "trace: nivis-source: ";

/// A plan has no value.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// Nix did not run.
    #[error("cannot evaluate {target}: {source}")]
    Process {
        /// The plan, as the user named it.
        target: String,
        /// What happened.
        source: ProcessError,
    },
    /// Nix refused the plan in an evaluation with secrets.
    #[error(
        "cannot evaluate {target}: a function given to `deriveSensitive` failed{}",
        on_own_lines(context)
    )]
    Secret {
        /// The plan, as the user named it.
        target: String,
        /// The position; may be empty.
        context: String,
    },
    /// Nix refused the plan.
    #[error("cannot evaluate {target}: {message}{}", on_own_lines(context))]
    Nix {
        /// The plan, as the user named it.
        target: String,
        /// What is wrong.
        message: String,
        /// Position, source lines and, if asked for, the trace; may be empty.
        context: String,
        /// What to do about it.
        hint: Option<String>,
    },
}

impl EvalError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Nix { hint, .. } => hint.as_deref(),
            Self::Secret { .. } => Some(
                "what Nix says about it is not shown, because it may hold the secret; try the function with a value of no worth",
            ),
            Self::Process { .. } => None,
        }
    }
}

fn on_own_lines(context: &str) -> String {
    if context.is_empty() {
        String::new()
    } else {
        format!("\n{context}")
    }
}

/// What one evaluation needs.
#[derive(Clone, Copy, Debug)]
pub struct EvalInput<'a> {
    /// Which Nix.
    pub nix: &'a Nix,
    /// Which plan.
    pub target: &'a Target,
    /// The ledger file; none in the first phase of a new stack.
    pub ledger: Option<&'a Path>,
    /// The file with secrets, if this evaluation may see them. It writes nothing to the store then, and nothing that Nix says is
    /// passed on, because it may show a secret.
    pub secrets: Option<&'a Path>,
    /// Write derivations and the sources that strings mention to the store, so that they can be built and read. Without it
    /// nothing is written but the source of a flake.
    pub instantiate: bool,
    /// See nothing but the flake, its inputs and the ledger: no environment, no other files.
    pub restricted: bool,
}

/// Evaluates a plan once. Gives the IR as JSON; warnings and traces go to `on_message`, line by line.
///
/// A plan that reads the result of a build while it is evaluated needs a writable store: it is evaluated again with one if
/// `instantiate` did not ask for it.
pub fn evaluate(
    input: &EvalInput<'_>,
    on_message: &mut dyn FnMut(&str),
) -> Result<Vec<u8>, EvalError> {
    match attempt(input, on_message) {
        Err(EvalError::Nix { message, .. })
            if !input.instantiate && input.secrets.is_none() && needs_store(&message) =>
        {
            let again = EvalInput {
                instantiate: true,
                ..*input
            };
            attempt(&again, on_message)
        }
        result => result,
    }
}

/// Evaluates once, as asked for.
pub(super) fn attempt(
    input: &EvalInput<'_>,
    on_message: &mut dyn FnMut(&str),
) -> Result<Vec<u8>, EvalError> {
    let failed = |source| EvalError::Process {
        target: input.target.to_string(),
        source,
    };
    let command = command(input).map_err(failed)?;
    let mut positions = Positions::default();
    let called = call(&command, &mut |line| {
        if let Some(path) = line.strip_prefix(SOURCE_MARK) {
            positions.learn(path, input.target);
        } else if input.secrets.is_none() {
            on_message(&positions.shown(line));
        }
    });
    called.map_err(|error| match error {
        CallError::Process(source) => failed(source),
        CallError::Nix(failure) => {
            let failure = positions.in_failure(&failure);
            let Explained { message, hint } = explain(&failure);
            // Where our own checks live in the library is of no use to the author.
            let ours = message.starts_with("nivis") && !input.nix.options().show_trace;
            if input.secrets.is_some() && !message.starts_with("nivis.plan: ") {
                return EvalError::Secret {
                    target: input.target.to_string(),
                    context: position(&failure.context),
                };
            }
            EvalError::Nix {
                target: input.target.to_string(),
                message,
                context: if ours { String::new() } else { failure.context },
                hint,
            }
        }
    })
}

/// The line that says where it happened.
fn position(context: &str) -> String {
    let mut lines = context
        .lines()
        .filter(|line| line.trim_start().starts_with("at "));
    lines.next().unwrap_or_default().to_owned()
}

/// The command line; every value is an argument of the expression.
fn command(input: &EvalInput<'_>) -> Result<Command, ProcessError> {
    let target = input.target;
    let attr_path = serde_json::Value::from(target.attr_path.clone()).to_string();
    let mut command = input
        .nix
        .command("nix-instantiate")?
        .args(["--eval", "--strict", "--json", "--expr"])
        .long_arg(CALL, "«call.nix»")
        .args(["--argstr", "attrPath", &attr_path])
        .args(["--argstr", "origin", &target.origin()]);
    if input.instantiate {
        command = command.arg("--read-write-mode");
    }
    if input.restricted {
        // What the search path leads to is allowed.
        let folder = input.ledger.and_then(Path::parent);
        command = command
            .args(["--option", "restrict-eval", "true"])
            .env("NIX_PATH", "");
        if let Some(folder) = folder {
            command = command
                .args(["-I"])
                .arg(format!("nivis-ledger={}", folder.display()));
        }
    }
    command = match &target.source {
        Source::Flake { reference, .. } => command.args(["--argstr", "flake", reference]),
        Source::File(path) => command.args(["--argstr", "file"]).arg(path),
    };
    if let Some(ledger) = input.ledger {
        command = command.args(["--argstr", "ledger"]).arg(ledger);
    }
    if let Some(secrets) = input.secrets {
        command = command.args(["--argstr", "secrets"]).arg(secrets);
    }
    let overrides: serde_json::Map<_, _> = input
        .nix
        .options()
        .override_inputs
        .iter()
        .cloned()
        .map(|(name, reference)| (name, reference.into()))
        .collect();
    if !overrides.is_empty() {
        let overrides = serde_json::Value::from(overrides).to_string();
        command = command.args(["--argstr", "overrides", &overrides]);
    }
    Ok(command)
}

/// Turns positions in the store's copy of a flake into positions in the author's folder.
#[derive(Default)]
struct Positions(Option<(String, PathBuf)>);

impl Positions {
    fn learn(&mut self, store_path: &str, target: &Target) {
        if let Source::Flake {
            folder: Some(folder),
            ..
        } = &target.source
        {
            self.0 = Some((store_path.to_owned(), folder.clone()));
        }
    }

    fn shown(&self, text: &str) -> String {
        match &self.0 {
            Some((store_path, folder)) => text.replace(store_path, &folder.to_string_lossy()),
            None => text.to_owned(),
        }
    }

    fn in_failure(&self, failure: &NixFailure) -> NixFailure {
        NixFailure {
            message: self.shown(&failure.message),
            context: self.shown(&failure.context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::{PrivateDir, atomic_write, create_private_dir};
    use crate::nix::NixOptions;
    use crate::nix::cli::for_tests;

    fn folder() -> PrivateDir {
        PrivateDir::new(&[std::env::temp_dir()]).unwrap()
    }

    fn write(path: &Path, text: &str) {
        create_private_dir(path.parent().unwrap()).unwrap();
        atomic_write(path, text.as_bytes(), 0o600).unwrap();
    }

    /// Evaluates; gives the JSON and what the author was told.
    fn run(
        target: &Target,
        options: NixOptions,
        ledger: Option<&Path>,
    ) -> (Result<String, EvalError>, Vec<String>) {
        let input = EvalInput {
            nix: &for_tests(options),
            target,
            ledger,
            secrets: None,
            instantiate: false,
            restricted: false,
        };
        let mut told = Vec::new();
        let json = evaluate(&input, &mut |line| told.push(line.to_owned()));
        (
            json.map(|bytes| String::from_utf8(bytes).unwrap().trim_end().to_owned()),
            told,
        )
    }

    fn run_file(text: &str, options: NixOptions) -> (Result<String, String>, Vec<String>) {
        let dir = folder();
        let path = dir.path().join("stack.nix");
        write(&path, text);
        let target = Target::file(Path::new("stack.nix"), None, dir.path()).unwrap();
        let (json, told) = run(&target, options, None);
        let show = |text: String| text.replace(&*dir.path().to_string_lossy(), "DIR");
        (json.map_err(|e| show(e.to_string())), told)
    }

    #[test]
    fn odd_paths_and_names_reach_nix_as_they_are() {
        let dir = folder();
        let odd = dir.path().join("it's \"odd\" ${x} ü");
        write(
            &odd.join("s.nix"),
            r#"{ "a.b".c = { ledger ? null, ... }: { l = builtins.fromJSON (builtins.readFile ledger); }; }"#,
        );
        write(&odd.join("l.json"), "[1]");
        let target = Target::file(Path::new("s.nix"), Some("\"a.b\".c"), &odd).unwrap();
        let (json, told) = run(&target, NixOptions::default(), Some(&odd.join("l.json")));
        assert_eq!((json.unwrap().as_str(), told.len()), (r#"{"l":[1]}"#, 0));
    }

    #[test]
    fn warnings_and_traces_are_told_once() {
        let text = r#"{ ledger, ... }: builtins.trace "one\ntwo" { a = 1; }"#;
        let (json, told) = run_file(text, NixOptions::default());
        assert_eq!(json.unwrap(), r#"{"a":1}"#);
        assert_eq!(told, ["trace: one", "two"]);
    }

    #[test]
    fn errors_keep_message_and_position() {
        let table = [
            (
                "{ ledger, ... }: {\n  a = 1\n}",
                "syntax error, unexpected '}', expecting ';'\nat DIR/stack.nix:3:1:",
            ),
            (
                "{ ledger, ... }: { a = foo; }",
                "undefined variable 'foo'\nat DIR/stack.nix:1:24:",
            ),
            (
                "{ ledger, ... }: let a = a; in { inherit a; }",
                "infinite recursion encountered\nat DIR/stack.nix:1:26:",
            ),
            (
                "{ ledger, ... }: { a = { x = 1; }.xx; }",
                "attribute 'xx' missing\nat DIR/stack.nix:1:24:",
            ),
            (
                "{ ledger, ... }: throw \"nivis.resource: no\"",
                "nivis.resource: no",
            ),
            ("{ ledger, ... }: throw \"mine\"", "mine"),
            (
                "{ ledger, ... }: let f = x: 1 + f x; in { a = f 1; }",
                "stack overflow",
            ),
            (
                "{ prod = 1; dev = 1; }",
                "nivis: file 'DIR/stack.nix' has no plan 'default'; name one of: dev, prod",
            ),
            (
                "{ default = 1; }",
                "nivis: 'default' of file 'DIR/stack.nix' is not a plan",
            ),
        ];
        for (text, expected) in table {
            let error = run_file(text, NixOptions::default()).0.unwrap_err();
            let expected = format!("cannot evaluate stack.nix: {expected}");
            assert!(error.starts_with(&expected), "{error}");
        }
    }

    #[test]
    fn a_trace_is_shown_on_request() {
        let text = r#"{ ledger, ... }: { a = builtins.addErrorContext "on the way" (1 + { }); }"#;
        let show_trace = NixOptions {
            show_trace: true,
            ..NixOptions::default()
        };
        let without = run_file(text, NixOptions::default()).0.unwrap_err();
        let with = run_file(text, show_trace).0.unwrap_err();
        assert!(
            !without.contains("on the way") && with.contains("on the way"),
            "{with}"
        );
    }

    #[test]
    fn a_derivation_that_ate_a_reference_gets_a_hint() {
        let dir = folder();
        let lib = concat!(env!("CARGO_MANIFEST_DIR"), "/nix/lib");
        let text = format!(
            r#"(import "{lib}").plan ({{ n, ... }}: let
              p = n.provider {{ id = "p"; source = "p"; }};
              make = name: config: n.resource {{ provider = p; type = "t"; inherit name config; }};
              a = make "a" {{ }};
              img = derivation {{ name = "img"; system = "x"; builder = "b"; arg = "${{a.ref "id"}}"; }};
            in {{ resources = [ a (make "b" {{ source = n.drv img; }}) ]; }})"#
        );
        write(&dir.path().join("s.nix"), &text);
        let target = Target::file(Path::new("s.nix"), None, dir.path()).unwrap();
        let error = run(&target, NixOptions::default(), None).0.unwrap_err();
        assert!(
            error
                .to_string()
                .contains("which is known only after apply")
                || error.to_string().contains("that is known only after apply"),
            "{error}"
        );
        assert!(error.hint().unwrap().contains("inside `derive`"));
    }

    #[test]
    fn reading_the_result_of_a_build_makes_the_store_writable() {
        let text = r#"{ ledger, ... }: {
          a = import (derivation {
            name = "made-by-a-build"; system = builtins.currentSystem; builder = "/bin/sh"; args = [ "-c" "echo 42 > $out" ];
          });
        }"#;
        assert_eq!(
            run_file(text, NixOptions::default()).0.unwrap(),
            r#"{"a":42}"#
        );
    }

    /// A flake whose input cannot be fetched, but is locked.
    fn flake(dir: &Path) {
        write(
            &dir.join("flake.nix"),
            r#"{
          inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-25.11";
          outputs = { self, nixpkgs }: {
            nivis.default = { ledger ? null, ... }: { inherit ledger; };
            nivis.forced = { ledger ? null, ... }: { inherit (nixpkgs) answer; own = self.nivis ? default; };
            nivis.bad = { ledger ? null, ... }: import ./bad.nix;
          };
        }"#,
        );
        write(&dir.join("bad.nix"), "1 + { }");
        write(
            &dir.join("flake.lock"),
            r#"{
          "nodes": {
            "nixpkgs": {
              "locked": {
                "lastModified": 1778430510, "narHash": "sha256-Ti+ZBvW6yrWWAg2szExVTwCd4qOJ3KlVr1tFHfyfi8Q=",
                "owner": "NixOS", "repo": "nixpkgs", "rev": "8fd9daa3db09ced9700431c5b7ad0e8ba199b575", "type": "github"
              },
              "original": { "owner": "NixOS", "ref": "nixos-25.11", "repo": "nixpkgs", "type": "github" }
            },
            "root": { "inputs": { "nixpkgs": "nixpkgs" } }
          },
          "root": "root", "version": 7
        }"#,
        );
    }

    #[test]
    fn a_flake_is_evaluated_without_fetching_inputs_that_nobody_uses() {
        let (dir, scratch) = (folder(), folder());
        flake(dir.path());
        let lock = crate::fs::read(&dir.path().join("flake.lock")).unwrap();
        let target = Target::flake(".", dir.path(), scratch.path()).unwrap();
        let (json, told) = run(&target, NixOptions::default(), None);
        assert_eq!(
            (json.unwrap().as_str(), told.len()),
            (r#"{"ledger":""}"#, 0)
        );
        assert_eq!(
            crate::fs::read(&dir.path().join("flake.lock")).unwrap(),
            lock
        );
    }

    #[test]
    fn positions_in_a_flake_are_in_the_authors_folder() {
        let (dir, scratch) = (folder(), folder());
        flake(dir.path());
        let target = Target::flake(".#bad", dir.path(), scratch.path()).unwrap();
        let error = run(&target, NixOptions::default(), None)
            .0
            .unwrap_err()
            .to_string();
        let position = format!("at {}/bad.nix:1:", dir.path().display());
        assert!(
            error.starts_with("cannot evaluate .#bad: cannot add a set to an integer"),
            "{error}"
        );
        assert!(error.contains(&position), "{error}");
    }

    #[test]
    fn an_input_can_be_overridden() {
        let (dir, scratch, other) = (folder(), folder(), folder());
        flake(dir.path());
        write(
            &other.path().join("flake.nix"),
            "{ outputs = _: { answer = 42; }; }",
        );
        let options = |name: &str| NixOptions {
            override_inputs: vec![(name.to_owned(), format!("path:{}", other.path().display()))],
            ..NixOptions::default()
        };
        let target = Target::flake(".#forced", dir.path(), scratch.path()).unwrap();
        let json = run(&target, options("nixpkgs"), None).0.unwrap();
        assert_eq!(json, r#"{"answer":42,"own":true}"#);
        let error = run(&target, options("nixpgs"), None)
            .0
            .unwrap_err()
            .to_string();
        assert!(
            error.ends_with("has no input 'nixpgs' to override; its inputs are: nixpkgs"),
            "{error}"
        );
    }

    #[test]
    fn a_flake_without_plans_says_what_to_add() {
        let (dir, scratch) = (folder(), folder());
        write(&dir.path().join("flake.nix"), "{ outputs = _: { }; }");
        let target = Target::flake(".", dir.path(), scratch.path()).unwrap();
        let error = run(&target, NixOptions::default(), None)
            .0
            .unwrap_err()
            .to_string();
        let expected = format!(
            "nivis: flake '{}' has no output 'nivis'; add `nivis.default = ",
            dir.path().display()
        );
        assert!(error.contains(&expected), "{error}");
    }
}
