//! Which resources there are depends on outputs: parts of the stack that are planned and applied once these are known.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::support::{Output, Workspace, fake_provider};

/// A stack with `thing name config`, `words text` (a text cut at spaces) in scope of `body`.
fn stack(workspace: &Workspace, body: &str) {
    let source = serde_json::Value::from(fake_provider().to_str().unwrap());
    workspace.stack(&format!(
        r#"let
          fake = n.provider {{ id = "fake"; source = {source}; }};
          thing = name: config: n.resource {{
            provider = fake; type = "fake_thing"; inherit name; config = {{ inherit name; }} // config;
          }};
          words = text: builtins.filter (x: builtins.isString x && x != "") (builtins.split " " text);
        in {body}"#
    ));
}

/// One `node` per word of what `source` says once it exists; a new `source` for each new text.
fn nodes(words: &str) -> String {
    format!(
        r#"let
          source = thing "source" {{ value = "{words}"; force_new = "{words}"; }};
          nodes = n.derive {{ id = source.ref "id"; text = source.ref "value"; }} ({{ id, text }}:
            n.forEach (words text) (key: _: thing "node" {{ value = "${{key}} of ${{id}}"; force_new = key; }}));
          balancer = thing "balancer" {{
            extra = n.derive {{ inherit nodes; }} ({{ nodes }}: map (x: x.ref "id") (builtins.attrValues nodes));
          }};
          front = thing "front" {{ value = balancer.ref "id"; }};
        in {{
          resources = {{ inherit source nodes balancer front; }};
          outputs.nodes = n.derive {{ inherit nodes; }} ({{ nodes }}: builtins.mapAttrs (_: x: x.ref "id") nodes);
        }}"#
    )
}

/// What was done to the remote world during a run: `create a-1`, `update a-1`, `delete a-1`.
fn during(workspace: &Workspace, run: impl FnOnce() -> Output) -> (Vec<String>, Output) {
    let done = || -> Vec<String> {
        let text = fs::read_to_string(workspace.path("record")).unwrap_or_default();
        let entry = |line: &str| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| line[key].as_str().unwrap().to_owned();
            format!("{} {}", text("op"), text("id"))
        };
        text.lines().map(entry).collect()
    };
    let before = done().len();
    let output = run();
    (done().split_off(before), output)
}

fn apply(workspace: &Workspace) -> (Vec<String>, Output) {
    during(workspace, || {
        workspace.run_stack("apply", &["--auto-approve"]).success()
    })
}

/// A further plan has nothing to do and evaluates once.
#[track_caller]
fn converged(workspace: &Workspace) {
    let before = workspace.evaluations();
    let planned = workspace.run_stack("plan", &["--detailed-exitcode"]);
    planned.success().says("No changes");
    assert_eq!(workspace.evaluations() - before, 1);
}

fn sorted(mut list: Vec<String>) -> Vec<String> {
    list.sort();
    list
}

#[test]
fn what_depends_on_outputs_is_planned_and_applied_in_the_same_run() {
    let workspace = Workspace::with_fake();
    stack(&workspace, &nodes("a b"));
    let before = workspace.evaluations();
    let planned = workspace
        .run_stack("plan", &["--detailed-exitcode"])
        .exits(2);
    planned
        .says("3 to add")
        .says("resources.nodes\n    # more resources after fake.fake_thing.source.id, fake.fake_thing.source.value are known");
    assert_eq!(workspace.evaluations() - before, 1);

    let before = workspace.evaluations();
    let (done, output) = apply(&workspace);
    output
        .says("4 to add")
        .says("Apply complete: 5 added, 0 changed, 0 destroyed.")
        .is_silent_about("not done");
    assert_eq!(done[0], "create source-1");
    // Both nodes are instances of `node`.
    assert_eq!(
        sorted(done[1..3].to_vec()),
        ["create node-1", "create node-2"]
    );
    assert_eq!(done[3..], ["create balancer-1", "create front-1"]);
    assert_eq!(workspace.evaluations() - before, 2);
    converged(&workspace);
    let outputs = workspace.run_stack("output", &["--json"]).success().json();
    let nodes = outputs["nodes"]["value"].as_object().unwrap();
    assert_eq!(nodes.keys().collect::<Vec<_>>(), ["a", "b"]);
    let shown = workspace.run([
        "state",
        "show",
        "fake.fake_thing.node__a",
        "--file",
        "stack.nix",
    ]);
    shown.success().says("a of source-1");

    let (done, _) = during(&workspace, || {
        workspace
            .run_stack("destroy", &["--auto-approve"])
            .success()
    });
    assert_eq!(done[..2], ["delete front-1", "delete balancer-1"]);
    assert_eq!(
        sorted(done[2..4].to_vec()),
        ["delete node-1", "delete node-2"]
    );
    assert_eq!(done[4..], ["delete source-1"]);
}

#[test]
fn elements_come_and_go_and_those_that_may_stay_are_not_touched_before_that_is_known() {
    let workspace = Workspace::with_fake();
    stack(&workspace, &nodes("a b"));
    apply(&workspace);

    stack(&workspace, &nodes("b c"));
    let planned = workspace.run_stack("plan", &[]).success();
    planned
        .says("resources.nodes")
        .says("fake.fake_thing.node__a\n    # stays until then: it may be declared there")
        .says("1 to add, 1 to change, 1 to destroy");
    let (done, output) = apply(&workspace);
    output.says("Apply complete: 2 added, 2 changed, 2 destroyed.");
    assert_eq!(done[..2], ["delete source-1", "create source-2"]);
    assert!(done.contains(&"create node-3".to_owned()), "{done:?}");
    let gone = done.iter().filter(|d| d.starts_with("delete node")).count();
    let kept = done.iter().filter(|d| d.starts_with("update node")).count();
    assert_eq!((gone, kept), (1, 1), "{done:?}");
    assert_eq!(done.last().unwrap(), "update balancer-1");
    converged(&workspace);

    stack(&workspace, &nodes(""));
    let (done, _) = apply(&workspace);
    let gone = done.iter().filter(|d| d.starts_with("delete node")).count();
    assert_eq!(gone, 2, "{done:?}");
    converged(&workspace);

    // Without the part everything that it declared goes, after what used it.
    stack(&workspace, &nodes("x"));
    apply(&workspace);
    stack(
        &workspace,
        r#"{ resources = [ (thing "source" { value = "x"; force_new = "x"; }) ]; }"#,
    );
    let (done, output) = apply(&workspace);
    output.says("0 added, 0 changed, 3 destroyed");
    assert_eq!(done.last().unwrap(), "delete node-4");
    converged(&workspace);
}

#[test]
fn parts_inside_of_parts_are_planned_one_after_the_other() {
    let workspace = Workspace::with_fake();
    stack(
        &workspace,
        r#"let
          source = thing "source" { value = "a b"; };
          nodes = n.derive { id = source.ref "id"; text = source.ref "value"; } ({ id, text }:
            n.forEach (words text) (key: _: thing "node" { value = "${key} ${key}${key}"; }));
          disks = n.derive { inherit nodes; } ({ nodes }: builtins.mapAttrs (key: node:
            n.derive { id = node.ref "id"; text = node.ref "value"; } ({ id, text }:
              n.forEach (words text) (size: _: thing "disk-${key}" { value = "${size} of ${id}"; }))) nodes);
        in { resources = { inherit source nodes disks; }; }"#,
    );
    let before = workspace.evaluations();
    let (done, output) = apply(&workspace);
    output
        .says("resources.disks.a\n    # more resources after fake.fake_thing.node__a.id")
        .says("Apply complete: 7 added");
    assert_eq!(done.len(), 7);
    assert_eq!(workspace.evaluations() - before, 3);
    converged(&workspace);
    let (done, _) = during(&workspace, || {
        workspace
            .run_stack("destroy", &["--auto-approve"])
            .success()
    });
    assert!(
        done[..4].iter().all(|d| d.starts_with("delete disk")),
        "{done:?}"
    );
    assert_eq!(done[6], "delete source-1");
}

#[test]
fn a_part_over_a_data_source_is_there_in_the_first_plan() {
    let workspace = Workspace::with_fake();
    stack(
        &workspace,
        r#"let
          found = n.data { provider = fake; type = "fake_thing"; name = "found"; config = { name = "x"; value = "p q"; }; };
        in {
          resources = n.derive (found.ref "value") (text: map (name: thing name { }) (words text));
          data = [ found ];
        }"#,
    );
    let planned = workspace.run_stack("plan", &[]).success();
    planned
        .says("2 to add")
        .is_silent_about("more resources after");
    let (done, _) = apply(&workspace);
    assert_eq!(sorted(done), ["create p-1", "create q-1"]);
    converged(&workspace);
}

/// An apply on a terminal, with these answers.
#[expect(
    clippy::disallowed_methods,
    reason = "`script` is the terminal, and none of nivis"
)]
fn answered(workspace: &Workspace, answers: &str) -> String {
    let run = workspace.command(["apply", "--file", "stack.nix"]);
    let line = format!("{} apply --file stack.nix", run.get_program().display());
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).env_clear();
    script.envs(run.get_envs().filter_map(|(k, v)| Some((k, v?))));
    script.current_dir(workspace.path(""));
    let mut script = script
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    script
        .stdin
        .take()
        .unwrap()
        .write_all(answers.as_bytes())
        .unwrap();
    String::from_utf8(script.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn the_new_part_is_asked_about_and_a_later_run_goes_on() {
    let workspace = Workspace::with_fake();
    stack(&workspace, &nodes("a b"));
    let mut said = String::new();
    let (done, _) = during(&workspace, || {
        said = answered(&workspace, "yes\nno\n");
        workspace.run_stack("show", &[])
    });
    assert_eq!(done, ["create source-1"], "{said}");
    assert_eq!(said.matches("Only `yes` is a yes").count(), 2, "{said}");
    assert!(said.contains("Nothing more was changed."), "{said}");
    assert!(said.contains("Stopped before the end: 1 added"), "{said}");

    workspace.run_stack("plan", &[]).success().says("4 to add");
    let refused = workspace.run_stack("apply", &[]).exits(1);
    refused.says("Cannot ask for approval");
    let (done, _) = apply(&workspace);
    assert_eq!(done.len(), 4);
    converged(&workspace);
}

#[test]
fn an_unusable_part_is_explained() {
    let workspace = Workspace::with_fake();
    for (resources, message) in [
        (
            r#"{ source = thing "source" { }; nodes = n.derive (n.ref "fake.fake_thing.source" "id") (x: x); }"#,
            "'resources.nodes' is a string; list values made by `resource` or `data`",
        ),
        (
            r#"{ source = thing "source" { }; nodes = n.derive (n.ref "fake.fake_thing.source" "password") (x: [ ]); user =
                 n.derive (n.ref "fake.fake_thing.source" "password") (x: if x == "" then [ ] else [ ]); }"#,
            "a secret is used",
        ),
        (
            r#"{ source = thing "source" { }; nodes = n.derive (n.ref "fake.fake_thing.source" "force_new") (x: [ ]);
                 use = thing "use" { value = n.ref "fake.fake_thing.node" "id"; }; }"#,
            "'fake.fake_thing.node', which is not declared",
        ),
    ] {
        stack(&workspace, &format!("{{ resources = {resources}; }}"));
        workspace
            .run_stack("apply", &["--auto-approve"])
            .exits(1)
            .says(message);
    }
}
