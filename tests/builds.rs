//! Nix builds in configurations, with real Nix: listed, built in one batch, refused with `--no-build`, reported where they fail.

use std::fs;
use std::path::PathBuf;

use crate::support::Workspace;

/// A stack with `build name script` in scope, which makes a derivation that no run before has built, and `file name content`.
fn stack(workspace: &Workspace, resources: &str) {
    let salt = workspace.root().file_name().unwrap().to_str().unwrap();
    workspace.stack(&format!(
        r#"let
          builtin = n.provider {{ id = "builtin"; source = "builtin"; }};
          build = name: script: derivation {{
            inherit name; system = builtins.currentSystem; builder = "/bin/sh"; PATH = "/bin:/usr/bin";
            args = [ "-c" script ]; salt = "{salt}";
          }};
          file = name: content: n.resource {{
            provider = builtin; type = "builtin_file"; inherit name; config = {{ filename = "./made/${{name}}"; inherit content; }};
          }};
          one = build "one" "echo words of one; echo 1 > $out";
          two = build "two" "mkdir $out; echo 2 > $out/file";
          bad = build "bad" "echo last words of bad; exit 3";
        in {{ resources = [ {resources} ]; }}"#
    ));
}

/// A file that is one build's path, and one that mentions another.
const BOTH: &str = r#"(file "path" (n.drv one)) (file "text" "cat ${two}/file")"#;

/// The paths of builds that the files made by an apply hold.
fn path_in(workspace: &Workspace, name: &str) -> PathBuf {
    let content = fs::read_to_string(workspace.path("made").join(name)).unwrap();
    content.trim_start_matches("cat ").into()
}

/// The path of the first build leaf of the document.
fn planned_path(workspace: &Workspace) -> PathBuf {
    let ir = workspace.run_stack("ir", &[]).success().json();
    let path = &ir["resources"][0]["config"]["content"]["__build"]["path"];
    path.as_str().unwrap().into()
}

fn realising(workspace: &Workspace) -> Vec<String> {
    let mut calls = workspace.nix_calls();
    calls.retain(|call| call.starts_with("nix-store") && call.contains("--realise"));
    calls
}

#[test]
fn plan_lists_builds_and_apply_makes_them_in_one_batch() {
    let workspace = Workspace::new();
    stack(&workspace, BOTH);
    let one = planned_path(&workspace);
    assert!(!one.exists(), "{} is there already", one.display());
    workspace
        .run_stack("plan", &[])
        .success()
        .says("To be built:")
        .says("-one.drv\n")
        .says("-two.drv\n")
        .says("2 derivations to build.");
    assert!(!one.exists() && realising(&workspace).is_empty());

    workspace
        .run_stack("apply", &["--auto-approve"])
        .success()
        .says("building 2 derivation(s)...")
        .says("-one.drv'")
        .says("words of one");
    assert_eq!(path_in(&workspace, "path"), one);
    assert_eq!(fs::read_to_string(&one).unwrap(), "1\n");
    let two = fs::read_to_string(path_in(&workspace, "text")).unwrap();
    assert_eq!(two, "2\n");
    let calls = realising(&workspace);
    assert_eq!(calls.len(), 1, "{calls:?}");
    for setting in ["substitut", "builders", "max-jobs", "cores"] {
        assert!(!calls[0].contains(setting), "the user's own: {}", calls[0]);
    }
    workspace
        .run_stack("plan", &[])
        .success()
        .is_silent_about("to build")
        .is_silent_about("To be built");
}

#[test]
fn without_builds_nothing_is_changed_and_what_is_needed_is_named() {
    let workspace = Workspace::new();
    stack(&workspace, BOTH);
    let one = planned_path(&workspace);
    workspace
        .run_stack("plan", &["--no-build"])
        .success()
        .says("2 derivations to build.");
    workspace
        .run_stack("apply", &["--auto-approve", "--no-build"])
        .exits(1)
        .says("derivations have to be built:")
        .says("-one.drv\n")
        .says("-two.drv\n")
        .says("run it without `--no-build`");
    assert!(!one.exists() && !workspace.path("made").exists());
    workspace.run_stack("apply", &["--auto-approve"]).success();

    // What is built already can be used.
    fs::remove_dir_all(workspace.path("made")).unwrap();
    workspace
        .run_stack("apply", &["--auto-approve", "--no-build"])
        .success();
    assert_eq!(path_in(&workspace, "path"), one);
}

#[test]
fn a_failed_build_shows_its_log_and_what_does_not_need_it_is_done() {
    let workspace = Workspace::new();
    stack(
        &workspace,
        r#"(file "bad" (n.drv bad)) (file "good" (n.drv one))"#,
    );
    assert!(!planned_path(&workspace).exists());
    workspace
        .run_stack("apply", &["--auto-approve"])
        .exits(1)
        .says("failed with exit code 3")
        .says("last words of bad")
        .says("the whole log: nix log /nix/store/");
    assert!(path_in(&workspace, "good").exists());
    assert!(!workspace.path("made/bad").exists());
}

#[test]
fn only_the_output_that_is_needed_is_asked_for() {
    let workspace = Workspace::new();
    let salt = workspace.root().file_name().unwrap().to_str().unwrap();
    workspace.stack(&format!(
        r#"let
          builtin = n.provider {{ id = "builtin"; source = "builtin"; }};
          both = derivation {{
            name = "both"; system = builtins.currentSystem; builder = "/bin/sh"; PATH = "/bin:/usr/bin";
            outputs = [ "out" "dev" ]; args = [ "-c" "echo 1 > $out; echo 2 > $dev" ]; salt = "{salt}";
          }};
        in {{ resources = [ (n.resource {{
          provider = builtin; type = "builtin_file"; name = "dev";
          config = {{ filename = "./made/dev"; content = n.drv both.dev; }};
        }}) ]; }}"#
    ));
    assert!(!planned_path(&workspace).exists());
    workspace.run_stack("apply", &["--auto-approve"]).success();
    let calls = realising(&workspace);
    assert!(
        calls.len() == 1 && calls[0].contains("-both.drv!dev"),
        "{calls:?}"
    );
    assert!(!calls[0].contains("drv!out"), "{calls:?}");
    assert_eq!(
        fs::read_to_string(path_in(&workspace, "dev")).unwrap(),
        "2\n"
    );
    let path = path_in(&workspace, "dev");
    assert!(path.to_string_lossy().ends_with("-both-dev"));
}
