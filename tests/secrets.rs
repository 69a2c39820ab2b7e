//! A canary: a secret that the provider makes is looked for everywhere but where it belongs.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::Workspace;

/// A secret that a provider makes goes into files, through functions, and into an output, beside outputs that Nix may know; and
/// so does one that comes from outside.
const STACK: &str = r#"let
  builtin = n.provider { id = "builtin"; source = "builtin"; };
  make = type: name: config: n.resource { provider = builtin; inherit type name config; };
  key = make "builtin_random" "key" { kind = "secret"; length = 32; };
  id = n.derive { id = key.ref "id"; } ({ id }: "id of ${id}");
  both = n.deriveSensitive { secret = key.ref "secret"; inherit (vars) password; } (
    { secret, password }: builtins.toJSON { user = "${secret}/${password}"; }
  );
in {
  variables.password = {
    type = "string";
    sensitive = true;
    validation = { condition = value: builtins.stringLength value > 8; message = "it is too short"; };
  };
  resources = [
    key
    (make "builtin_file" "whole" { filename = "./made/whole"; mode = "0600"; sensitive_content = key.ref "secret"; })
    (make "builtin_file" "part" { filename = "./made/part"; mode = "0600"; sensitive_content = "token=${key.ref "secret"}"; })
    (make "builtin_file" "both" { filename = "./made/both"; mode = "0600"; sensitive_content = both; })
    (make "builtin_file" "id" { filename = "./made/id"; content = id; })
  ];
  outputs.token = { value = key.ref "secret"; sensitive = true; };
  outputs.both = { value = both; sensitive = true; };
}"#;

/// What comes from outside.
const PASSWORD: &str = "correct-horse-battery";

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
    holds(&fs::read(path).unwrap(), text)
}

/// Runs a command to its end, and samples the arguments of all processes of this machine while it runs.
fn run_sampling_arguments(command: &mut Command) -> (std::process::Output, BTreeSet<Vec<u8>>) {
    let running = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = running.spawn().unwrap();
    let running = std::thread::spawn(|| running.wait_with_output().unwrap());
    let mut seen = BTreeSet::new();
    while !running.is_finished() {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        seen.extend(processes.filter_map(|p| fs::read(p.path().join("cmdline")).ok()));
        std::thread::sleep(Duration::from_millis(20));
    }
    (running.join().unwrap(), seen)
}

fn holds(bytes: &[u8], text: &str) -> bool {
    let mut windows = bytes.windows(text.len());
    windows.any(|window| window == text.as_bytes())
}

fn store_paths() -> BTreeSet<PathBuf> {
    let entries = fs::read_dir("/nix/store").unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_secret_stays_where_it_belongs() {
    let mut workspace = Workspace::new();
    workspace.set_env("NIVIS_LOG", "trace");
    workspace.set_env("NIVIS_VAR_password", PASSWORD);
    workspace.stack(STACK);
    let store_before = store_paths();
    let mut apply = workspace.command(["apply", "--file", "stack.nix", "--auto-approve"]);
    let (applied, arguments) = run_sampling_arguments(&mut apply);
    assert!(applied.status.success(), "{applied:?}");
    let secret = fs::read_to_string(workspace.path("made/whole")).unwrap();
    assert!(secret.len() >= 32, "{secret:?} is too short to look for");
    let part = fs::read_to_string(workspace.path("made/part")).unwrap();
    assert_eq!(part, format!("token={secret}"));

    let both = fs::read_to_string(workspace.path("made/both")).unwrap();
    assert_eq!(both, format!(r#"{{"user":"{secret}/{PASSWORD}"}}"#));

    for canary in [secret.as_str(), PASSWORD] {
        assert!(!holds(&applied.stdout, canary) && !holds(&applied.stderr, canary));
        assert!(
            !arguments.iter().any(|all| holds(all, canary)),
            "a process has it as an argument"
        );
        let new = store_paths();
        for path in new.difference(&store_before).filter(|path| path.is_file()) {
            assert!(!contains(path, canary), "{} has it", path.display());
        }
        for verb in ["plan", "show", "output", "ir", "graph", "validate"] {
            workspace
                .run_stack(verb, &[])
                .success()
                .is_silent_about(canary);
        }
        let calls = workspace.nix_calls();
        assert!(calls.len() > 5 && !calls.join("\n").contains(canary));
    }
    let told = |file: &PathBuf| file.extension().is_some_and(|e| e == "secrets");
    let ledgers = files(&workspace.root().join("ledgers"));
    assert!(
        ledgers.iter().any(|file| !told(file)),
        "Nix was given no ledger: the test tests nothing"
    );
    assert!(
        ledgers
            .iter()
            .filter(|file| told(file))
            .all(|file| contains(file, &secret)),
        "Nix was told no secret: the test tests nothing"
    );
    assert!(
        !ledgers
            .iter()
            .any(|file| !told(file) && contains(file, &secret)),
        "a ledger has the secret"
    );
    only_private_files_have(&workspace, &secret, 5);
    only_private_files_have(&workspace, PASSWORD, 2);

    workspace
        .run_stack("destroy", &["--auto-approve"])
        .success()
        .is_silent_about(&secret);
}

/// Of all files of a run, only those in places for secrets, and of the owner alone, hold one; at least `at_least` of them do.
fn only_private_files_have(workspace: &Workspace, secret: &str, at_least: usize) {
    let ledgers = workspace.root().join("ledgers");
    let own = [workspace.path(".nivis"), workspace.path("made"), ledgers];
    let mut found = 0;
    for file in files(workspace.root())
        .iter()
        .filter(|file| contains(file, secret))
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
        found >= at_least,
        "only {found} files have it: the state or a file is missing"
    );
}

#[test]
fn a_ledger_is_private_and_gone_afterwards() {
    let mut workspace = Workspace::new();
    workspace.set_env("NIVIS_VAR_password", PASSWORD);
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

/// A stack whose only file holds `leaf`, which may use `key`, a resource with a `secret`.
fn stack_with(leaf: &str) -> String {
    format!(
        r#"let
          builtin = n.provider {{ id = "builtin"; source = "builtin"; }};
          make = type: name: config: n.resource {{ provider = builtin; inherit type name config; }};
          key = make "builtin_random" "key" {{ kind = "secret"; length = 32; }};
          image = content: derivation {{
            name = "image"; system = builtins.currentSystem; builder = "/bin/sh"; inherit content;
          }};
        in {{
          resources = [ key (make "builtin_file" "leaf" {{ filename = "./leaf"; sensitive_content = {leaf}; }}) ];
        }}"#
    )
}

#[test]
fn what_would_leak_a_secret_is_refused_with_what_to_do() {
    let table = [
        (
            r#"n.derive (key.ref "secret") (secret: secret + "!")"#,
            "a secret is used; its inputs are 'builtin.builtin_random.key.secret'; use `deriveSensitive`",
        ),
        (
            r#"builtins.replaceStrings [ "a" ] [ "b" ] "${key.ref "secret"}""#,
            "computes with the secret 'builtin.builtin_random.key.secret'; use `deriveSensitive`",
        ),
        (
            r#"n.deriveSensitive (key.ref "secret") (secret: image secret)"#,
            "uses a Nix build inside `deriveSensitive`; builds are in the store, where everybody can read them",
        ),
        (
            r#"n.deriveSensitive (key.ref "secret") (secret: "${image secret}/x")"#,
            "uses a Nix build inside `deriveSensitive`",
        ),
        (
            r#"n.deriveSensitive (key.ref "secret") (secret: throw "it is ${secret}")"#,
            "a function given to `deriveSensitive` failed",
        ),
        (
            r#"n.deriveSensitive (key.ref "secret") (secret: builtins.trace secret (secret + 1))"#,
            "a function given to `deriveSensitive` failed",
        ),
    ];
    for (leaf, message) in table {
        let workspace = Workspace::new();
        workspace.stack(&stack_with(leaf));
        let before = store_paths();
        let output = workspace.run_stack("apply", &["--auto-approve"]).exits(1);
        let state = fs::read_to_string(workspace.path(".nivis/stack/state.json")).unwrap();
        let state: serde_json::Value = serde_json::from_str(&state).unwrap();
        let secret = find_secret(&state).expect("the state has the secret");
        output.says(message).is_silent_about(&secret);
        for path in store_paths()
            .difference(&before)
            .filter(|path| path.is_file())
        {
            assert!(!contains(path, &secret), "{} has it", path.display());
        }
    }
}

/// The member `secret` somewhere in a document.
fn find_secret(json: &serde_json::Value) -> Option<String> {
    match json {
        serde_json::Value::Object(members) => (members.get("secret"))
            .and_then(|secret| secret.as_str().map(str::to_owned))
            .or_else(|| members.values().find_map(find_secret)),
        serde_json::Value::Array(items) => items.iter().find_map(find_secret),
        _ => None,
    }
}
