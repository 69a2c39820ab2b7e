//! What goes wrong, and what a person sees of it. After every failure the state is whole: it still names what exists.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::{Output, Workspace, fake_provider, overwrite};

fn nix_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A stack with the fake provider `fake` in scope, and `thing name config`.
fn stack(workspace: &Workspace, body: &str) {
    let source = nix_string(fake_provider().to_str().unwrap());
    workspace.stack(&format!(
        r#"let
          fake = n.provider {{ id = "fake"; source = {source}; }};
          thing = name: config: n.resource {{
            provider = fake; type = "fake_thing"; inherit name; config = {{ inherit name; }} // config;
          }};
        in {body}"#
    ));
}

fn apply(workspace: &Workspace) -> Output {
    workspace.run_stack("apply", &["--auto-approve"])
}

/// Ids in the state.
fn listed(workspace: &Workspace) -> Vec<String> {
    let output = workspace
        .run(["state", "list", "--file", "stack.nix"])
        .success();
    output.stdout.lines().map(str::to_owned).collect()
}

/// Ids of things that the record says exist.
fn existing(workspace: &Workspace) -> usize {
    let text = fs::read_to_string(workspace.path("record")).unwrap_or_default();
    let mut alive = std::collections::BTreeSet::new();
    for line in text.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let id = line["id"].as_str().unwrap().to_owned();
        if line["op"] == "delete" {
            alive.remove(&id)
        } else {
            alive.insert(id)
        };
    }
    alive.len()
}

/// Each row: what the author wrote instead of a good stack, and what he must be told.
#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn mistakes_in_the_configuration_are_named_and_change_nothing() {
    let good = r#"{ resources = [ (thing "a" { value = "x"; }) ]; }"#;
    let rows: &[(&str, &[&str])] = &[
        (r"{ resources = [ ; }", &["stack.nix", "syntax error"]),
        (
            r#"{ resources = [ (thing "a" { valeu = "x"; }) ]; }"#,
            &["fake.fake_thing.a", "valeu", "did you mean `value`?"],
        ),
        (
            r#"{ resources = [ (thing "a" { size = "many"; }) ]; }"#,
            &["fake.fake_thing.a", "size", "number"],
        ),
        (
            r#"{ resources = [ (thing "a" { rule = [ { } ]; }) ]; }"#,
            &["fake.fake_thing.a", "rule[0]", "port"],
        ),
        (
            r#"{ resources = [ (n.resource { provider = fake; type = "fake_thin"; name = "a"; config = { }; }) ]; }"#,
            &[
                "fake.fake_thing.a",
                "fake_thin",
                "did you mean `fake_thing`?",
            ],
        ),
        (
            r#"{ resources = [ (thing "a" { value = n.ref "fake.fake_thing.b" "id"; }) ]; }"#,
            &["fake.fake_thing.a", "fake.fake_thing.b"],
        ),
        (
            r#"let b = thing "b" { }; in { resources = [ b (thing "a" { value = b.ref "idd"; }) ]; }"#,
            &["fake.fake_thing.a", "idd", "did you mean `id`?"],
        ),
        (
            r#"let a = thing "a" { value = b.ref "id"; }; b = thing "b" { value = a.ref "id"; }; in { resources = [ a b ]; }"#,
            &["cycle", "fake.fake_thing.a", "fake.fake_thing.b"],
        ),
        (
            r#"let a = thing "a" { value = n.derive { x = b.ref "id"; } ({ x }: x); };
                   b = thing "b" { value = n.derive { x = a.ref "id"; } ({ x }: x); };
               in { resources = [ a b ]; }"#,
            &["cycle", "fake.fake_thing.a", "fake.fake_thing.b"],
        ),
        (
            r#"{ resources = [ (thing "a" { }) (thing "a" { }) ]; }"#,
            &["fake.fake_thing.a"],
        ),
        (
            r#"{ resources = [ (n.resource {
                 provider = n.provider { id = "lost"; source = "/nowhere/terraform-provider-lost"; };
                 type = "lost_thing"; name = "a"; config = { };
               }) ]; }"#,
            &["provider.lost", "/nowhere/terraform-provider-lost"],
        ),
        (
            r#"{ resources = [ (n.resource {
                 provider = n.provider { id = "far"; source = "127.0.0.1:1/a/far"; };
                 type = "far_thing"; name = "a"; config = { };
               }) ]; }"#,
            &["provider.far", "127.0.0.1:1/a/far"],
        ),
    ];
    let workspace = Workspace::with_fake();
    stack(&workspace, good);
    apply(&workspace).success();
    let state = fs::read(workspace.path(".nivis/stack/state.json")).unwrap();
    for (body, said) in rows {
        stack(&workspace, body);
        for verb in [&["plan"][..], &["apply", "--auto-approve"]] {
            let mut output = workspace.run_stack(verb[0], &verb[1..]).exits(1);
            for text in *said {
                // A resource type that the provider lacks makes another id.
                let text = if body.contains("fake_thin\"") {
                    text.replace("fake.fake_thing.a", "fake.fake_thin.a")
                } else {
                    (*text).to_owned()
                };
                output = output.says(&text);
            }
            output.is_silent_about("panicked");
        }
        assert_eq!(
            fs::read(workspace.path(".nivis/stack/state.json")).unwrap(),
            state,
            "{body}"
        );
    }
    assert_eq!(existing(&workspace), 1);
}

#[test]
fn programs_that_are_no_providers_are_named() {
    let workspace = Workspace::with_fake();
    let write = |name: &str, text: &str, mode: u32| {
        workspace.write(name, text);
        fs::set_permissions(workspace.path(name), fs::Permissions::from_mode(mode)).unwrap();
        nix_string(workspace.path(name).to_str().unwrap())
    };
    let rows = [
        (write("locked", "#!/bin/sh\n", 0o644), "may not be executed"),
        (
            write("talks", "#!/bin/sh\necho hello\n", 0o755),
            "which is not a plugin handshake",
        ),
        (
            write("ends", "#!/bin/sh\necho no libfoo >&2\nexit 3\n", 0o755),
            "no libfoo",
        ),
    ];
    for (source, said) in rows {
        workspace.stack(&format!(
            r#"{{ resources = [ (n.resource {{
                 provider = n.provider {{ id = "odd"; source = {source}; }}; type = "odd_thing"; name = "a"; config = {{ }};
               }}) ]; }}"#
        ));
        let output = workspace.run_stack("plan", &[]).exits(1);
        output
            .says("provider.odd")
            .says(said)
            .is_silent_about("panicked");
    }
}

#[test]
fn a_provider_that_dies_while_planning_changes_nothing() {
    let workspace = Workspace::with_fake();
    stack(
        &workspace,
        r#"{ resources = [ (thing "a" { }) (thing "b" { }) ]; }"#,
    );
    workspace.write(
        "faults",
        r#"[{"on":"plan","match":{"name":"a"},"do":"die"}]"#,
    );
    let output = apply(&workspace).exits(1);
    output
        .says("Plugin did not respond")
        .says("fake.fake_thing.a")
        .is_silent_about("panicked at src");
    assert_eq!((listed(&workspace).len(), existing(&workspace)), (0, 0));
}

#[test]
fn a_provider_that_dies_while_applying_is_recovered_from() {
    let workspace = Workspace::with_fake();
    stack(
        &workspace,
        r#"let a = thing "a" { }; in { resources = [ a (thing "b" { value = a.ref "id"; }) (thing "c" { value = "${a.ref "id"}!"; }) ]; }"#,
    );
    workspace.write(
        "faults",
        r#"[{"on":"create","match":{"name":"b"},"do":"die"}]"#,
    );
    apply(&workspace)
        .exits(1)
        .says("Plugin did not respond")
        .says("fake.fake_thing.b");
    assert!(listed(&workspace).contains(&"fake.fake_thing.a".to_owned()));
    workspace.write("faults", "[]");
    apply(&workspace).success();
    assert_eq!((listed(&workspace).len(), existing(&workspace)), (3, 3));
    workspace
        .run_stack("plan", &["--detailed-exitcode"])
        .success();
}

#[test]
fn a_creation_that_fails_halfway_is_tainted_and_replaced() {
    let workspace = Workspace::with_fake();
    stack(
        &workspace,
        r#"let a = thing "a" { }; in { resources = [ a (thing "b" { value = a.ref "id"; }) (thing "c" { }) ]; }"#,
    );
    workspace.write(
        "faults",
        r#"[{"on":"create","match":{"name":"a"},"do":"error_with_object"}]"#,
    );
    let failed = apply(&workspace).exits(1);
    failed.says("not done").says("fake.fake_thing.b");
    assert_eq!(
        listed(&workspace),
        ["fake.fake_thing.a", "fake.fake_thing.c"],
        "c does not depend on a"
    );
    workspace.write("faults", "[]");
    workspace
        .run_stack("plan", &[])
        .success()
        .says("tainted")
        .says("2 to add, 0 to change, 1 to destroy");
    apply(&workspace).success();
    assert_eq!((listed(&workspace).len(), existing(&workspace)), (3, 3));
}

/// Each row: a fault, and the summary under which users will search for it.
#[test]
fn broken_promises_of_a_provider_are_named() {
    let rows = [
        ("plan", "forbidden_plan", "Provider produced invalid plan"),
        (
            "create",
            "inconsistent",
            "Provider produced inconsistent result after apply",
        ),
        (
            "create",
            "unknown_after_apply",
            "Provider returned invalid result object after apply",
        ),
        (
            "create",
            "null",
            "Provider produced inconsistent result after apply",
        ),
        ("create", "wrong_type", "Provider produced invalid object"),
    ];
    for (on, fault, summary) in rows {
        let workspace = Workspace::with_fake();
        stack(
            &workspace,
            r#"{ resources = [ (thing "a" { value = "x"; }) ]; }"#,
        );
        workspace.write("faults", &format!(r#"[{{"on":"{on}","do":"{fault}"}}]"#));
        let output = apply(&workspace).exits(1);
        output
            .says(summary)
            .says("fake.fake_thing.a")
            .is_silent_about("panicked");
    }
}

#[test]
fn a_damaged_state_is_an_error_and_stays_as_it_is() {
    let workspace = Workspace::with_fake();
    stack(&workspace, r#"{ resources = [ (thing "a" { }) ]; }"#);
    apply(&workspace).success();
    let path = workspace.path(".nivis/stack/state.json");
    let whole = fs::read(&path).unwrap();
    for damaged in [&whole[..whole.len() / 2], b"", b"{}"] {
        overwrite(&path, damaged).unwrap();
        for verb in ["plan", "show", "output"] {
            workspace.run_stack(verb, &[]).exits(1).says("state.json");
        }
        apply(&workspace).exits(1).says("state.json");
        assert_eq!(fs::read(&path).unwrap(), damaged);
    }
    overwrite(&path, &whole).unwrap();
    workspace
        .run_stack("plan", &["--detailed-exitcode"])
        .success();
    assert_eq!(existing(&workspace), 1);
}

/// Starts an apply that hangs in a creation until it is told to stop; gives the child once it is there.
fn hanging(workspace: &Workspace) -> std::process::Child {
    stack(
        workspace,
        r#"{ resources = [ (thing "a" { }) (thing "b" { }) ]; }"#,
    );
    workspace.write(
        "faults",
        r#"[{"on":"create","match":{"name":"b"},"do":"wait_stop"}]"#,
    );
    let mut command = workspace.command(["apply", "--file", "stack.nix", "--auto-approve"]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let calls = workspace.path("calls");
    let begun = Instant::now();
    let both = |text: String| text.matches("ApplyResourceChange").count() >= 2;
    let journal = workspace.path(".nivis/stack/journal.jsonl");
    let settled = |text: String| text.contains(r#"{"outcome""#);
    while !fs::read_to_string(&calls).is_ok_and(both)
        || !fs::read_to_string(&journal).is_ok_and(settled)
    {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "the apply does not get there"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

fn signal(child: &std::process::Child, name: &str) {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests send signals as a user does"
    )]
    let sent = std::process::Command::new("kill")
        .args([name, &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

#[test]
fn a_state_in_use_is_locked() {
    let workspace = Workspace::with_fake();
    let child = hanging(&workspace);
    let held = apply(&workspace).exits(1);
    held.says("State is locked").says("tester@").says("apply");
    workspace.run_stack("plan", &[]).success();
    signal(&child, "-INT");
    child.wait_with_output().unwrap();
    workspace.write("faults", "[]");
    apply(&workspace).success();
}

#[test]
fn an_interrupt_stops_what_runs_and_keeps_what_was_done() {
    for name in ["-INT", "-TERM", "-HUP"] {
        let workspace = Workspace::with_fake();
        let child = hanging(&workspace);
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(130), "{name}: {stderr}");
        assert!(stderr.contains("interrupted"), "{stderr}");
        assert_eq!(listed(&workspace), ["fake.fake_thing.a"], "{name}");
        workspace.write("faults", "[]");
        apply(&workspace).success();
        assert_eq!(
            (listed(&workspace).len(), existing(&workspace)),
            (2, 2),
            "{name}"
        );
    }
}

#[test]
fn a_killed_run_loses_nothing_and_names_what_was_in_flight() {
    let workspace = Workspace::with_fake();
    let mut child = hanging(&workspace);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(listed(&workspace), ["fake.fake_thing.a"]);
    workspace.write("faults", "[]");
    let output = apply(&workspace).success();
    output
        .says("State was recovered")
        .says("Operation was interrupted")
        .says("fake.fake_thing.b");
    assert_eq!((listed(&workspace).len(), existing(&workspace)), (2, 2));
}

/// A small file system stands for a full disk.
#[test]
fn a_full_disk_loses_nothing() {
    let workspace = Workspace::with_fake();
    let folder = workspace.path(".nivis");
    fs::create_dir(&folder).unwrap();
    let Some(_mounted) = Tmpfs::mount(&folder) else {
        return;
    };
    let things: String = (0..6)
        .map(|i| format!(r#"(thing "t{i}" {{ value = "x"; }}) "#))
        .collect();
    stack(&workspace, &format!("{{ resources = [ {things} ]; }}"));
    apply(&workspace).success();
    let fill = folder.join("fill");
    let mut size = 1 << 20;
    while size > 256 {
        let mut all = fs::read(&fill).unwrap_or_default();
        all.resize(all.len() + size, 0);
        if overwrite(&fill, &all).is_err() {
            size /= 2;
        }
    }
    let more: String = (0..6)
        .map(|i| format!(r#"(thing "t{i}" {{ value = "y"; }}) "#))
        .collect();
    stack(&workspace, &format!("{{ resources = [ {more} ]; }}"));
    apply(&workspace)
        .exits(1)
        .says("no space left on device")
        .is_silent_about("panicked");
    fs::remove_file(&fill).unwrap();
    assert_eq!(listed(&workspace).len(), 6);
    apply(&workspace).success();
    workspace
        .run_stack("plan", &["--detailed-exitcode"])
        .success();
    assert_eq!(existing(&workspace), 6);
}

/// A file system of 1 MiB in memory, gone when dropped.
struct Tmpfs(std::path::PathBuf);

impl Tmpfs {
    #[expect(
        clippy::disallowed_methods,
        reason = "only a mount makes a small file system"
    )]
    fn mount(path: &std::path::Path) -> Option<Self> {
        let status = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(path)
            .status();
        if status.is_ok_and(|s| s.success()) {
            return Some(Self(path.to_owned()));
        }
        crate::support::skip("a tmpfs needs root");
        None
    }
}

impl Drop for Tmpfs {
    #[expect(clippy::disallowed_methods, reason = "only umount undoes a mount")]
    fn drop(&mut self) {
        drop(
            std::process::Command::new("umount")
                .arg("-l")
                .arg(&self.0)
                .status(),
        );
    }
}
