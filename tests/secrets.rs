//! A canary: a secret that the provider makes is looked for everywhere but where it belongs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::Workspace;

/// A secret that goes into a file and into an output, beside outputs that Nix may know.
const STACK: &str = r#"let
  builtin = n.provider { id = "builtin"; source = "builtin"; };
  make = type: name: config: n.resource { provider = builtin; inherit type name config; };
  key = make "builtin_random" "key" { kind = "secret"; length = 32; };
  id = n.derive { id = key.ref "id"; } ({ id }: "id of ${id}");
in {
  resources = [
    key
    (make "builtin_file" "whole" { filename = "./made/whole"; mode = "0600"; sensitive_content = key.ref "secret"; })
    (make "builtin_file" "part" { filename = "./made/part"; mode = "0600"; sensitive_content = "token=${key.ref "secret"}"; })
    (make "builtin_file" "id" { filename = "./made/id"; content = id; })
  ];
  outputs.token = { value = key.ref "secret"; sensitive = true; };
}"#;

/// Every regular file below `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|e| e.unwrap());
    let below = entries.flat_map(|entry| {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files(&entry.path())
        } else if kind.is_file() {
            vec![entry.path()]
        } else {
            Vec::new()
        }
    });
    below.collect()
}

fn contains(path: &Path, text: &str) -> bool {
    let bytes = fs::read(path).unwrap();
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

#[test]
fn a_secret_stays_where_it_belongs() {
    let mut workspace = Workspace::new();
    workspace.set_env("NIVIS_LOG", "trace");
    workspace.stack(STACK);
    let applied = workspace.run_stack("apply", &["--auto-approve"]).success();
    let secret = fs::read_to_string(workspace.path("made/whole")).unwrap();
    assert!(secret.len() >= 32, "{secret:?} is too short to look for");
    let part = fs::read_to_string(workspace.path("made/part")).unwrap();
    assert_eq!(part, format!("token={secret}"));

    applied.is_silent_about(&secret);
    for verb in ["plan", "show", "output", "ir", "graph", "validate"] {
        workspace
            .run_stack(verb, &[])
            .success()
            .is_silent_about(&secret);
    }

    let calls = workspace.nix_calls();
    assert!(calls.len() > 5 && !calls.join("\n").contains(&secret));
    let ledgers = files(&workspace.root().join("ledgers"));
    assert!(
        !ledgers.is_empty(),
        "Nix was given no ledger: the test tests nothing"
    );

    let own = [workspace.path(".nivis"), workspace.path("made")];
    let mut found = 0;
    for file in files(workspace.root())
        .iter()
        .filter(|file| contains(file, &secret))
    {
        assert!(
            own.iter().any(|folder| file.starts_with(folder)),
            "{} has it",
            file.display()
        );
        let mode = fs::metadata(file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{} has it", file.display());
        found += 1;
    }
    assert!(
        found >= 3,
        "only {found} files have it: the state or a file is missing"
    );

    workspace
        .run_stack("destroy", &["--auto-approve"])
        .success()
        .is_silent_about(&secret);
}

#[test]
fn a_ledger_is_private_and_gone_afterwards() {
    let workspace = Workspace::new();
    workspace.stack(STACK);
    workspace.run_stack("apply", &["--auto-approve"]).success();
    for copy in files(&workspace.root().join("ledgers")) {
        let mode = fs::metadata(&copy).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", copy.display());
    }
    for folder in ["run", "tmp"] {
        let left = files(&workspace.root().join(folder));
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}
