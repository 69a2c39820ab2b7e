//! Preconditions, postconditions and checks: when they are evaluated, and what they stop.

use std::fs;

use serde_json::{Value as Json, json};

use crate::support::{Output, Workspace, fake_provider};

/// A stack with `thing name config meta`, `data name meta` and `holds condition` (which says "not held") in scope.
fn stack(workspace: &Workspace, body: &str) {
    let source = Json::from(fake_provider().to_str().unwrap());
    workspace.stack(&format!(
        r#"let
          fake = n.provider {{ id = "fake"; source = {source}; }};
          of = kind: name: config: meta: kind {{
            provider = fake; type = "fake_thing"; inherit name meta; config = {{ inherit name; }} // config;
          }};
          thing = of n.resource;
          data = of n.data;
          holds = condition: [ {{ inherit condition; message = "not held"; }} ];
        in {body}"#
    ));
}

fn plan(workspace: &Workspace) -> Output {
    workspace.run_stack("plan", &["--detailed-exitcode"])
}

fn apply(workspace: &Workspace) -> Output {
    workspace.run_stack("apply", &["--auto-approve"])
}

fn lines(workspace: &Workspace, file: &str) -> Vec<Json> {
    let text = fs::read_to_string(workspace.path(file)).unwrap_or_default();
    text.lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

/// What was done to the world during a run, in order.
fn during(workspace: &Workspace, act: impl FnOnce()) -> Vec<String> {
    let before = lines(workspace, "record").len();
    act();
    let after = lines(workspace, "record").split_off(before);
    let entry = |l: &Json| {
        format!(
            "{} {}",
            l["op"].as_str().unwrap(),
            l["id"].as_str().unwrap()
        )
    };
    after.iter().map(entry).collect()
}

/// Calls that were made about the thing of this name.
fn calls(workspace: &Workspace, rpc: &str, name: &str) -> usize {
    let about = |c: &&Json| c["rpc"] == rpc && c["config"]["name"] == name;
    lines(workspace, "calls").iter().filter(about).count()
}

/// Somebody else changes the world.
fn outside(workspace: &Workspace, op: &str, name: &str) {
    let mut record = fs::read_to_string(workspace.path("record")).unwrap_or_default();
    let line = json!({"op": op, "type": "fake_thing", "id": format!("{name}-1"), "object": {"name": name}});
    record.push_str(&format!("{line}\n"));
    workspace.write("record", &record);
}

/// Each row: what guards `b`, whose `a` has the value "x"; and what is said if it does not hold, while planning.
#[test]
fn what_is_known_is_judged_while_planning() {
    let rows = [
        (r"preconditions = holds true;", ""),
        (
            r"preconditions = holds false;",
            "Resource precondition failed",
        ),
        (
            r#"preconditions = holds (n.derive (a.ref "echo") (echo: echo == "X"));"#,
            "",
        ),
        (
            r#"preconditions = holds (n.derive (a.ref "echo") (echo: echo == "Y"));"#,
            "Resource precondition failed",
        ),
        (
            r#"preconditions = [ { condition = false; message = "echo is ${a.ref "echo"}"; } ];"#,
            "echo is X",
        ),
        (
            r#"preconditions = [ { condition = false; message = n.derive (a.ref "echo") (echo: "it is <${echo}>"); } ];"#,
            "it is <X>",
        ),
        (
            r#"preconditions = holds (a.ref "echo");"#,
            "Invalid condition",
        ),
        (r#"preconditions = holds (a.ref "extra");"#, "it is null"),
        (
            r#"postconditions = self: holds (n.derive (self.ref "value") (v: v == "y"));"#,
            "",
        ),
        (
            r#"postconditions = self: holds (n.derive (self.ref "value") (v: v == "z"));"#,
            "Resource postcondition failed",
        ),
        (
            r#"postconditions = self: [ { condition = false; message = "${self.ref "echo"} is wrong"; } ];"#,
            "Y is wrong",
        ),
    ];
    for (meta, said) in rows {
        let workspace = Workspace::with_fake();
        let body = r#"let a = thing "a" { value = "x"; } { }; b = thing "b" { value = "y"; } { META };
          in { resources = [ a b (thing "c" { value = b.ref "id"; } { }) ]; }"#;
        stack(&workspace, &body.replace("META", meta));
        if said.is_empty() {
            plan(&workspace).exits(2).says("3 to add");
            apply(&workspace).success();
            plan(&workspace).success();
            continue;
        }
        for verb in [plan, apply] {
            verb(&workspace)
                .exits(1)
                .says(said)
                .says("with fake.fake_thing.b, at p")
                .says("conditions[0]");
        }
        assert_eq!(lines(&workspace, "record").len(), 0, "{meta}");
        // What Nix has to compute first is known after a first round of planning.
        if meta.starts_with("pre") && !meta.contains("derive") {
            assert_eq!(calls(&workspace, "PlanResourceChange", "b"), 0, "{meta}");
        }
    }
}

#[test]
fn a_precondition_that_apply_tells_stops_the_change() {
    let workspace = Workspace::with_fake();
    let with = |id: &str, value: &str| {
        let body = r#"let a = thing "a" { } { };
            b = thing "b" { value = "VALUE"; } { preconditions = [ {
              condition = n.derive (a.ref "id") (id: id == "ID");
              message = "a is ${a.ref "id"}";
            } ]; };
          in { resources = [ a b (thing "c" { value = b.ref "id"; } { }) (thing "d" { } { }) ]; }"#;
        stack(&workspace, &body.replace("ID", id).replace("VALUE", value));
    };
    with("other", "1");
    plan(&workspace).exits(2).says("4 to add");
    let mut done = during(&workspace, || {
        let failed = apply(&workspace).exits(1);
        failed
            .says("Resource precondition failed")
            .says("with fake.fake_thing.b, at preconditions[0]")
            .says("a is a-1")
            .says("create or update fake.fake_thing.c");
    });
    done.sort();
    assert_eq!(done, ["create a-1", "create d-1"]);
    assert_eq!(calls(&workspace, "ApplyResourceChange", "b"), 0);
    plan(&workspace).exits(1).says("a is a-1");
    with("a-1", "1");
    let done = during(&workspace, || drop(apply(&workspace).success()));
    assert_eq!(done, ["create b-1", "create c-1"]);
    with("other", "2");
    assert_eq!(
        during(&workspace, || drop(apply(&workspace).exits(1))),
        [""; 0]
    );
}

#[test]
fn a_postcondition_that_does_not_hold_stops_what_depends_on_it() {
    let workspace = Workspace::with_fake();
    let with = |id: &str| {
        let body = r#"let
            b = thing "b" { } { postconditions = self: [ {
              condition = n.derive (self.ref "id") (id: id == "ID");
              message = "it became ${self.ref "id"}";
            } ]; };
          in { resources = [ b (thing "c" { value = b.ref "id"; } { }) (thing "d" { } { }) ]; }"#;
        stack(&workspace, &body.replace("ID", id));
    };
    with("other");
    plan(&workspace).exits(2);
    let mut done = during(&workspace, || {
        let failed = apply(&workspace).exits(1);
        failed
            .says("Resource postcondition failed")
            .says("with fake.fake_thing.b, at postconditions[0]")
            .says("it became b-1")
            .says("not done (1)")
            .says("create or update fake.fake_thing.c");
    });
    done.sort();
    assert_eq!(done, ["create b-1", "create d-1"]);
    plan(&workspace).exits(1).says("it became b-1");
    with("b-1");
    let done = during(&workspace, || drop(apply(&workspace).success()));
    assert_eq!(done, ["create c-1"], "b is whole");
    plan(&workspace).success();
}

#[test]
fn an_object_that_stays_is_judged_by_what_changes() {
    let workspace = Workspace::with_fake();
    let with = |force: &str, id: &str| {
        let body = r#"let
            a = thing "a" { force_new = "FORCE"; } { };
            is = n.derive (a.ref "id") (id: id == "ID");
            seen = data "d" { } { postconditions = holds is; };
          in {
            resources = [ a (thing "b" { } { preconditions = holds is; }) ];
            data = [ seen ];
          }"#;
        stack(&workspace, &body.replace("ID", id).replace("FORCE", force));
    };
    with("1", "a-1");
    apply(&workspace).success();
    with("2", "a-2");
    plan(&workspace)
        .exits(2)
        .says("1 to add, 0 to change, 1 to destroy");
    let done = during(&workspace, || drop(apply(&workspace).success()));
    assert_eq!(done, ["delete a-1", "create a-2"]);
    with("3", "a-1");
    let done = during(&workspace, || {
        let failed = apply(&workspace).exits(1);
        failed
            .says("with fake.fake_thing.b, at preconditions[0]")
            .says("with data.fake.fake_thing.d, at postconditions[0]");
    });
    assert_eq!(done, ["delete a-2", "create a-3"]);
}

#[test]
fn data_sources_are_guarded_too() {
    let workspace = Workspace::with_fake();
    let with = |meta: &str| {
        let body = r#"let seen = data "seen" { } { META };
          in { resources = [ (thing "a" { value = seen.ref "id"; } { }) ]; data = [ seen ]; }"#;
        stack(&workspace, &body.replace("META", meta));
    };
    with("preconditions = holds false;");
    plan(&workspace)
        .exits(1)
        .says("with data.fake.fake_thing.seen, at preconditions[0]");
    assert_eq!(calls(&workspace, "ReadDataSource", "seen"), 0);
    with(r#"postconditions = self: holds (self.ref "exists");"#);
    plan(&workspace)
        .exits(1)
        .says("with data.fake.fake_thing.seen, at postconditions[0]");
    assert_eq!(calls(&workspace, "PlanResourceChange", "a"), 0);
    outside(&workspace, "create", "seen");
    apply(&workspace).success();
    // What a guarded data source depends on changes: it is read when that is done.
    stack(
        &workspace,
        r#"let late = data "late" { } { preconditions = holds (n.derive (late'.ref "id") (id: id != "")); };
               late' = thing "late" { } { };
          in { resources = [ late' ]; data = [ late ]; outputs.exists = late.ref "exists"; }"#,
    );
    plan(&workspace).exits(2).says("will be read during apply");
    apply(&workspace).success().says("exists = true");
}

/// What Nix computed from the last run's outputs may not decide.
#[test]
fn a_condition_is_judged_by_what_is_true_now() {
    let workspace = Workspace::with_fake();
    let with = |condition: &str| {
        let body = r#"let seen = data "other" { } { };
            is = n.derive (seen.ref "exists") (exists: CONDITION);
          in {
            resources = [ (thing "b" { } { preconditions = holds is; postconditions = holds is; }) ];
            data = [ seen ];
          }"#;
        stack(&workspace, &body.replace("CONDITION", condition));
    };
    with("exists");
    plan(&workspace).exits(1);
    outside(&workspace, "create", "other");
    apply(&workspace).success();
    outside(&workspace, "delete", "other");
    plan(&workspace).exits(1).says("not held");
    with("!exists");
    apply(&workspace).success();
    outside(&workspace, "create", "other");
    with("exists");
    plan(&workspace).success().is_silent_about("not held");
}

#[test]
fn checks_warn_and_never_stop() {
    let workspace = Workspace::with_fake();
    stack(
        &workspace,
        r#"let a = thing "a" { value = "x"; } { }; in {
          resources = [ a ];
          checks = [
            (n.check { name = "known"; condition = n.derive (a.ref "value") (v: v == "y"); message = "value is ${a.ref "value"}"; })
            (n.check { name = "late"; condition = n.derive (a.ref "id") (id: id != "a-1"); message = "id is ${a.ref "id"}"; })
            (n.check { name = "broken"; condition = a.ref "value"; message = "-"; })
            (n.check { name = "fine"; condition = true; message = "never said"; })
          ];
        }"#,
    );
    let planned = plan(&workspace).exits(2);
    planned
        .says("warning: Check assertion failed\n  with check.known\n  value is x")
        .says("warning: Invalid condition\n  with check.broken")
        .is_silent_about("check.late")
        .is_silent_about("never said");
    let applied = apply(&workspace).success();
    applied
        .says("with check.known\n  value is x")
        .says("with check.late\n  id is a-1")
        .is_silent_about("never said");
    plan(&workspace).success().says("id is a-1");
    let state = fs::read(workspace.path(".nivis/stack/state.json")).unwrap();
    let state: Json = serde_json::from_slice(&state).unwrap();
    let results = json!([
        {"check": "broken", "status": "error"},
        {"check": "fine", "status": "pass"},
        {"check": "known", "status": "fail", "messages": ["value is x"]},
        {"check": "late", "status": "fail", "messages": ["id is a-1"]},
    ]);
    assert_eq!(state["check_results"], results);
}

#[test]
fn conditions_do_not_keep_from_destroying_and_warn_while_refreshing() {
    let workspace = Workspace::with_fake();
    let with = |holds: &str| {
        let body = r#"let a = thing "a" { value = "x"; } { postconditions = self: holds HOLDS; };
          in {
            resources = [ a (thing "b" { value = a.ref "id"; } { preconditions = holds HOLDS; }) ];
            checks = [ (n.check { name = "c"; condition = HOLDS; message = "unchecked"; }) ];
          }"#;
        stack(&workspace, &body.replace("HOLDS", holds));
    };
    with("true");
    apply(&workspace).success();
    with("false");
    plan(&workspace).exits(1);
    let refreshed = workspace
        .run_stack("refresh", &["--auto-approve"])
        .success();
    refreshed
        .says("warning: Resource precondition failed\n  with fake.fake_thing.b")
        .says("warning: Resource postcondition failed\n  with fake.fake_thing.a")
        .says("warning: Check assertion failed");
    let done = during(&workspace, || {
        let destroyed = workspace.run_stack("destroy", &["--auto-approve"]);
        destroyed.success().is_silent_about("held");
    });
    assert_eq!(done, ["delete b-1", "delete a-1"]);
}

#[test]
fn instances_and_secrets() {
    let workspace = Workspace::with_fake();
    stack(
        &workspace,
        r#"let
          each = n.forEach [ "a" "b" ] (key: _: thing "t" { name = key; password = "hush"; } {
            postconditions = self: [ {
              condition = n.derive (self.ref "id") (id: id != "b-1");
              message = "instance ${self.ref "password"}";
            } ];
          });
        in { resources = each; }"#,
    );
    let failed = apply(&workspace).exits(1);
    failed
        .says("with fake.fake_thing.t__b, at postconditions[0]")
        .says("(the message holds sensitive values)")
        .is_silent_about("fake.fake_thing.t__a,")
        .is_silent_about("hush");
}

#[test]
fn conditions_may_look_at_secrets_and_tell_whether_they_hold() {
    let workspace = Workspace::with_fake();
    let body = |least: u32| {
        format!(
            r#"let
              longer = x: n.deriveSensitive (x.ref "password") (p: builtins.stringLength p >= {least});
              a = thing "a" {{ }} {{ postconditions = self: holds (longer self); }};
              b = thing "b" {{ }} {{ preconditions = holds (longer a); }};
            in {{ resources = [ a b ]; }}"#
        )
    };
    // The password of `a` is `pw-a-1`.
    stack(&workspace, &body(6));
    let done = during(&workspace, || {
        apply(&workspace).success();
    });
    assert_eq!(done, ["create a-1", "create b-1"]);
    plan(&workspace).success();

    stack(&workspace, &body(7));
    let planned = plan(&workspace).exits(1);
    planned
        .says("Resource postcondition failed")
        .is_silent_about("pw-a");
}
