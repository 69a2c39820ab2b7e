//! What becomes of objects as the configuration changes.

use std::fs;

use crate::support::{Output, Workspace, fake_provider};

/// A stack with `thing name config meta` in scope of the list `resources`.
fn stack(workspace: &Workspace, resources: &str) {
    let source = serde_json::Value::from(fake_provider().to_str().unwrap());
    workspace.stack(&format!(
        r#"let
          fake = n.provider {{ id = "fake"; source = {source}; }};
          thing = name: config: meta: n.resource {{
            provider = fake; type = "fake_thing"; inherit name meta; config = {{ inherit name; }} // config;
          }};
        in {{ resources = {resources}; }}"#
    ));
}

fn apply(workspace: &Workspace) -> Output {
    workspace.run_stack("apply", &["--auto-approve"])
}

/// What was done to the remote world so far: `create a-1`, `update a-1`, `delete a-1`.
fn done(workspace: &Workspace) -> Vec<String> {
    let text = fs::read_to_string(workspace.path("record")).unwrap_or_default();
    let entry = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        format!(
            "{} {}",
            line["op"].as_str().unwrap(),
            line["id"].as_str().unwrap()
        )
    };
    text.lines().map(entry).collect()
}

/// What a run did.
fn during(workspace: &Workspace, run: impl FnOnce()) -> Vec<String> {
    let before = done(workspace).len();
    run();
    done(workspace).split_off(before)
}

#[track_caller]
fn converged(workspace: &Workspace) {
    workspace
        .run_stack("plan", &["--detailed-exitcode"])
        .success()
        .says("No changes");
}

#[test]
fn what_leaves_the_configuration_is_destroyed_dependants_first() {
    let workspace = Workspace::with_fake();
    stack(
        &workspace,
        r#"let a = thing "a" { } { }; b = thing "b" { value = a.ref "id"; } { }; in [
          a b (thing "c" { value = b.ref "id"; } { }) (thing "d" { } { })
        ]"#,
    );
    apply(&workspace).success().says("4 added");
    converged(&workspace);
    stack(&workspace, r#"[ (thing "d" { } { }) ]"#);
    let planned = workspace
        .run_stack("plan", &["--detailed-exitcode"])
        .exits(2);
    planned
        .says("0 to add, 0 to change, 3 to destroy")
        .says("is not in the configuration");
    let run = || drop(apply(&workspace).success());
    assert_eq!(
        during(&workspace, run),
        ["delete c-1", "delete b-1", "delete a-1"]
    );
    converged(&workspace);
}

#[test]
fn updates_in_place_and_replacements() {
    let workspace = Workspace::with_fake();
    let with = |value: &str, force: &str| {
        format!(
            r#"let a = thing "a" {{ value = "{value}"; force_new = "{force}"; }} {{ }}; in [
              a (thing "b" {{ value = a.ref "id"; }} {{ }})
            ]"#
        )
    };
    stack(&workspace, &with("1", "1"));
    apply(&workspace).success();
    stack(&workspace, &with("2", "1"));
    workspace
        .run_stack("plan", &[])
        .success()
        .says("updated in place")
        .says("\"1\" -> \"2\"");
    let run = || drop(apply(&workspace).success());
    assert_eq!(during(&workspace, run), ["update a-1"]);
    converged(&workspace);
    stack(&workspace, &with("2", "2"));
    workspace
        .run_stack("plan", &[])
        .success()
        .says("# forces replacement");
    let run = || drop(apply(&workspace).success());
    assert_eq!(
        during(&workspace, run),
        ["delete a-1", "create a-2", "update b-1"]
    );
    converged(&workspace);
    let replace = ["--auto-approve", "--replace", "fake.fake_thing.b"];
    let run = || drop(workspace.run_stack("apply", &replace).success());
    assert_eq!(during(&workspace, run), ["delete b-1", "create b-2"]);
    let typo = workspace
        .run_stack("plan", &["--replace", "fake.fake_thing.bb"])
        .exits(1);
    typo.says("did you mean `fake.fake_thing.b`?");
}

#[test]
fn data_about_something_that_changes_is_read_after_it() {
    let workspace = Workspace::with_fake();
    let source = serde_json::Value::from(fake_provider().to_str().unwrap());
    // The name is known before the thing is there; so is that of what hangs on it.
    workspace.stack(&format!(
        r#"let
          fake = n.provider {{ id = "fake"; source = {source}; }};
          node = declare: name: config: declare {{ provider = fake; type = "fake_thing"; inherit name config; }};
          a = node n.resource "a" {{ name = "a"; }};
          b = node n.resource "b" {{ name = "b"; value = a.ref "name"; }};
          direct = node n.data "direct" {{ name = a.ref "name"; }};
          indirect = node n.data "indirect" {{ name = "a"; value = b.ref "value"; }};
        in {{
          resources = [ a b ];
          data = [ direct indirect ];
          outputs.direct = direct.ref "exists";
          outputs.indirect = indirect.ref "exists";
        }}"#
    ));
    apply(&workspace).success();
    workspace
        .run_stack("output", &[])
        .success()
        .says("direct   = true\nindirect = true");
    converged(&workspace);
}

#[test]
fn replacements_create_first_where_asked_and_for_what_that_depends_on() {
    let workspace = Workspace::with_fake();
    let with = |force: &str| {
        format!(
            r#"let a = thing "a" {{ force_new = "{force}"; }} {{ }}; in [
              a (thing "b" {{ value = a.ref "id"; force_new = a.ref "id"; }} {{ lifecycle.createBeforeDestroy = true; }})
            ]"#
        )
    };
    stack(&workspace, &with("1"));
    apply(&workspace).success();
    stack(&workspace, &with("2"));
    // The successor of `b` cannot be made: what there was stays.
    workspace.write(
        "faults",
        r#"[{"on":"create","match":{"name":"b"},"do":"error"}]"#,
    );
    let run = || drop(apply(&workspace).exits(1));
    assert_eq!(during(&workspace, run), ["create a-2"]);
    workspace.write("faults", "[]");
    let run = || drop(apply(&workspace).success());
    assert_eq!(
        during(&workspace, run),
        ["create b-2", "delete b-1", "delete a-1"]
    );
    converged(&workspace);
    let list = workspace
        .run(["state", "list", "--file", "stack.nix"])
        .success();
    assert_eq!(list.stdout.lines().count(), 2);
}

#[test]
fn what_is_protected_is_not_destroyed() {
    let workspace = Workspace::with_fake();
    let with = |force: &str| {
        format!(
            r#"[ (thing "a" {{ force_new = "{force}"; }} {{ lifecycle.preventDestroy = true; }}) (thing "b" {{ }} {{ }}) ]"#
        )
    };
    stack(&workspace, &with("1"));
    apply(&workspace).success();
    stack(&workspace, &with("2"));
    let run = || {
        apply(&workspace)
            .exits(1)
            .says("preventDestroy")
            .says("`force_new`");
        workspace
            .run_stack("destroy", &["--auto-approve"])
            .exits(1)
            .says("preventDestroy");
    };
    assert_eq!(during(&workspace, run), [""; 0]);
}

#[test]
fn ignored_changes_are_left_alone() {
    let workspace = Workspace::with_fake();
    let with = |value: &str, ignore: &str| {
        format!(
            r#"[ (thing "a" {{ value = "{value}"; tags = {{ k = "{value}"; l = "{value}"; }}; }}
                 {{ lifecycle.ignoreChanges = {ignore}; }}) ]"#
        )
    };
    stack(&workspace, &with("1", "[ ]"));
    apply(&workspace).success();
    stack(&workspace, &with("2", r#"[ "value" "tags.k" "tags.l" ]"#));
    converged(&workspace);
    stack(&workspace, &with("2", r#"[ "*" ]"#));
    converged(&workspace);
    stack(&workspace, &with("2", r#"[ "value" "tags.l" ]"#));
    let run = || drop(apply(&workspace).success());
    assert_eq!(during(&workspace, run), ["update a-1"]);
    let shown = workspace
        .run(["state", "show", "fake.fake_thing.a", "--file", "stack.nix"])
        .success();
    shown.says(r#"k = "2""#).says(r#"l = "1""#);
}

#[test]
fn explicit_dependencies_order_creation_and_destruction() {
    let workspace = Workspace::with_fake();
    stack(
        &workspace,
        r#"let z = thing "z" { } { }; in [ (thing "a" { } { dependsOn = [ z ]; }) z ]"#,
    );
    let run = || drop(apply(&workspace).success());
    assert_eq!(during(&workspace, run), ["create z-1", "create a-1"]);
    let run = || {
        let destroyed = workspace.run_stack("destroy", &["--auto-approve"]);
        destroyed.success();
    };
    assert_eq!(during(&workspace, run), ["delete a-1", "delete z-1"]);
}

#[test]
fn drift_is_shown_and_undone_and_what_is_gone_is_made_again() {
    let workspace = Workspace::with_fake();
    stack(
        &workspace,
        r#"[ (thing "a" { value = "x"; } { }) (thing "b" { } { }) ]"#,
    );
    apply(&workspace).success();
    let mut record = fs::read_to_string(workspace.path("record")).unwrap();
    record.push_str("{\"op\":\"update\",\"type\":\"fake_thing\",\"id\":\"a-1\",\"object\":{\"value\":\"drifted\"}}\n");
    record.push_str("{\"op\":\"delete\",\"type\":\"fake_thing\",\"id\":\"b-1\",\"object\":null}\n");
    workspace.write("record", &record);
    let planned = workspace.run_stack("plan", &[]).success();
    planned
        .says("Note: objects have changed outside of nivis")
        .says("drifted")
        .says("is gone")
        .says("1 to add, 1 to change");
    workspace
        .run_stack("plan", &["--no-refresh", "--detailed-exitcode"])
        .success();
    let run = || drop(apply(&workspace).success());
    let mut did = during(&workspace, run);
    did.sort();
    assert_eq!(did, ["create b-2", "update a-1"]);
    converged(&workspace);
}
