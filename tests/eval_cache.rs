//! `--eval-cache`: a locked flake that did not change is not evaluated again.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::support::{Output, Workspace, overwrite};

/// A flake with the library in it; `body` as for [`Workspace::stack`].
fn flake(workspace: &Workspace, body: &str) {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("nix/lib");
    for entry in fs::read_dir(lib).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        workspace.write(&format!("lib/{name}"), &text);
    }
    workspace.write(
        "flake.nix",
        &format!(
            "{{ outputs = _: {{ nivis.default = (import ./lib).plan ({{ n, vars, ... }}:\n{body}); }}; }}"
        ),
    );
}

const STACK: &str = r#"let
  builtin = n.provider { id = "builtin"; source = "builtin"; };
  dice = n.resource { provider = builtin; type = "builtin_random"; name = "dice"; config = { kind = "integer"; min = 1; max = 6; }; };
in {
  variables.word = { type = "string"; default = "hello"; };
  resources = [
    dice
    (n.resource {
      provider = builtin; type = "builtin_file"; name = "page";
      config = { filename = "./page"; content = builtins.trace "a trace" (n.derive (dice.ref "result") (r: "${vars.word} ${toString r}")); };
    })
  ];
}"#;

/// Runs `nivis plan --eval-cache`; gives what it printed and how often Nix evaluated.
fn plan(workspace: &Workspace, args: &[&str]) -> (Output, usize) {
    let before = workspace.evaluations();
    let output = workspace.run([&["plan", "--eval-cache"], args].concat());
    (output, workspace.evaluations() - before)
}

fn entries(workspace: &Workspace) -> Vec<PathBuf> {
    let folder = workspace.root().join("home/.cache/nivis/evaluations");
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn the_second_plan_of_an_unchanged_flake_evaluates_nothing() {
    let workspace = Workspace::new();
    flake(&workspace, STACK);
    let (first, evaluations) = plan(&workspace, &[]);
    assert_eq!(evaluations, 1, "{first}");
    let (second, evaluations) = plan(&workspace, &[]);
    assert_eq!(evaluations, 0, "{second}");
    assert_eq!(first.success(), second.says("a trace"));

    // After an apply, Nix is told more.
    workspace.run(["apply", "--auto-approve"]).success();
    assert_eq!(plan(&workspace, &[]).1, 1);
    let (converged, evaluations) = plan(&workspace, &["--detailed-exitcode"]);
    assert_eq!(evaluations, 0);
    converged.success();

    // Everything that matters does.
    assert_eq!(plan(&workspace, &["--var", "word=bye"]).1, 1);
    assert_eq!(plan(&workspace, &[]).1, 1);
    workspace.write("other", "");
    assert_eq!(plan(&workspace, &[]).1, 1);
    assert_eq!(plan(&workspace, &[]).1, 0);
    let before = workspace.evaluations();
    workspace.run(["plan"]).success();
    assert_eq!(workspace.evaluations(), before + 1, "without the flag");
}

#[test]
fn entries_are_private_and_a_damaged_one_is_made_again() {
    let workspace = Workspace::new();
    flake(&workspace, STACK);
    plan(&workspace, &[]).0.success();
    let entry = entries(&workspace).pop().expect("an entry");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(&entry), mode(entry.parent().unwrap())),
        (0o600, 0o700)
    );
    let mut bytes = fs::read(&entry).unwrap();
    let last = bytes.len() - 3;
    bytes[last] ^= 1;
    overwrite(&entry, &bytes).unwrap();
    let (output, evaluations) = plan(&workspace, &[]);
    output.success();
    assert_eq!((evaluations, plan(&workspace, &[]).1), (1, 0));
}

#[test]
fn what_can_change_without_the_flake_is_never_kept() {
    let outside = tempfile::NamedTempFile::new().unwrap();
    let reads = format!("builtins.readFile {}", outside.path().display());
    let table = [
        (
            "a file outside of the flake",
            STACK.replace("\"hello\"", &reads),
        ),
        (
            "the search path",
            STACK.replace("\"hello\"", "toString <nixpkgs>"),
        ),
    ];
    for (what, stack) in table {
        let mut workspace = Workspace::new();
        workspace.set_env("NIX_PATH", "nixpkgs=/etc");
        flake(&workspace, &stack);
        plan(&workspace, &[]).0.success();
        let (output, evaluations) = plan(&workspace, &[]);
        output.success();
        assert!(evaluations > 0 && entries(&workspace).is_empty(), "{what}");
    }
}

#[test]
fn a_stack_with_a_sensitive_variable_leaves_nothing() {
    let mut workspace = Workspace::new();
    workspace.set_env("NIVIS_VAR_word", "correct-horse-battery");
    let stack = STACK
        .replace("default = \"hello\"", "sensitive = true")
        .replace(
            "n.derive (dice.ref \"result\") (r: \"${vars.word} ${toString r}\")",
            "\"x\"",
        );
    flake(&workspace, &stack);
    plan(&workspace, &[]).0.success();
    assert!(entries(&workspace).is_empty());
    assert_eq!(plan(&workspace, &[]).1, 1);
}
