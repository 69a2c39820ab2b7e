//! The rules of `meta.lifecycle`, case by case: from one configuration to the next, and what that does to the world.

use std::fs;

use serde_json::Value as Json;

use crate::support::{Output, Workspace, fake_provider};

/// Two configurations, and what the step from the first to the second does.
struct Case {
    /// What it is about.
    rule: &'static str,
    /// Resources before and after; `thing name config lifecycle` is in scope.
    before: &'static str,
    after: &'static str,
    /// More flags of the second plan and apply.
    flags: &'static [&'static str],
    /// What is done, in order, or nothing; `!` for an error.
    does: &'static str,
    /// What the plan, or the error, says.
    says: &'static str,
}

const CASE: Case = Case {
    rule: "",
    before: "",
    after: "",
    flags: &[],
    does: "",
    says: "",
};

fn workspace() -> Workspace {
    let mut workspace = Workspace::new();
    for (name, file) in [("FAKE_RECORD", "record"), ("FAKE_FAULTS", "faults")] {
        let path = workspace.path(file);
        workspace.set_env(name, path);
    }
    workspace
}

fn stack(workspace: &Workspace, resources: &str) {
    let source = Json::from(fake_provider().to_str().unwrap());
    workspace.stack(&format!(
        r#"let
          fake = n.provider {{ id = "fake"; source = {source}; }};
          thing = name: config: lifecycle: n.resource {{
            provider = fake; type = "fake_thing"; inherit name; config = {{ inherit name; }} // config; meta = {{ inherit lifecycle; }};
          }};
        in {{ resources = {resources}; }}"#
    ));
}

fn apply(workspace: &Workspace, flags: &[&str]) -> Output {
    workspace.run_stack("apply", &[&["--auto-approve"], flags].concat())
}

fn record(workspace: &Workspace) -> Vec<Json> {
    let text = fs::read_to_string(workspace.path("record")).unwrap_or_default();
    text.lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

fn done(workspace: &Workspace, since: usize) -> String {
    let entry = |l: &Json| {
        format!(
            "{} {}",
            l["op"].as_str().unwrap(),
            l["id"].as_str().unwrap()
        )
    };
    let entries: Vec<_> = record(workspace)[since..].iter().map(entry).collect();
    entries.join(", ")
}

fn check(cases: &[Case]) {
    for case in cases {
        let Case {
            rule,
            before,
            after,
            flags,
            does,
            says,
        } = case;
        let workspace = workspace();
        stack(&workspace, before);
        apply(&workspace, &[]).success();
        let since = record(&workspace).len();
        stack(&workspace, after);
        let planned = workspace.run_stack("plan", &[&["--detailed-exitcode"], *flags].concat());
        let fails = *does == "!";
        let code = match *does {
            "!" => 1,
            "" => 0,
            _ => 2,
        };
        eprintln!("{rule}");
        planned.exits(code).says(says);
        apply(&workspace, flags).exits(i32::from(fails));
        assert_eq!(done(&workspace, since), does.trim_matches('!'), "{rule}");
        if !fails && flags.is_empty() {
            let again = workspace.run_stack("plan", &["--detailed-exitcode"]);
            again.success().says("No changes");
        }
    }
}

/// `b`, which a change of `a` replaces.
macro_rules! triggered {
    ($a:literal, $trigger:literal) => {
        concat!(
            r#"let a = thing "a" { "#,
            $a,
            r#" } { }; in [ a (thing "b" { } { replaceTriggeredBy = [ "#,
            $trigger,
            " ]; }) ]"
        )
    };
}

#[test]
fn replace_triggered_by() {
    check(&[
        Case {
            rule: "a resource that is updated",
            before: triggered!(r#"value = "1";"#, "a"),
            after: triggered!(r#"value = "2";"#, "a"),
            does: "delete b-1, update a-1, create b-2",
            says: "fake.fake_thing.b will be replaced because of what triggers it",
            ..CASE
        },
        Case {
            rule: "a resource that is replaced",
            before: triggered!(r#"force_new = "1";"#, "a"),
            after: triggered!(r#"force_new = "2";"#, "a"),
            does: "delete b-1, delete a-1, create a-2, create b-2",
            ..CASE
        },
        Case {
            rule: "a resource that stays",
            before: triggered!(r#"value = "1";"#, "a"),
            after: triggered!(r#"value = "1";"#, "a"),
            ..CASE
        },
        Case {
            rule: "a resource that is new",
            before: r#"[ (thing "b" { } { }) ]"#,
            after: triggered!("", "a"),
            does: "create a-1",
            ..CASE
        },
        Case {
            rule: "an output that changes",
            before: triggered!(r#"value = "1";"#, r#"(a.ref "value")"#),
            after: triggered!(r#"value = "2";"#, r#"(a.ref "value")"#),
            does: "delete b-1, update a-1, create b-2",
            ..CASE
        },
        Case {
            rule: "an output that stays while others change",
            before: triggered!(r#"value = "1";"#, r#"(a.ref "id")"#),
            after: triggered!(r#"value = "2";"#, r#"(a.ref "id")"#),
            does: "update a-1",
            ..CASE
        },
        Case {
            rule: "an output that only apply tells",
            before: triggered!(r#"force_new = "1";"#, r#"(a.ref "id")"#),
            after: triggered!(r#"force_new = "2";"#, r#"(a.ref "id")"#),
            does: "delete b-1, delete a-1, create a-2, create b-2",
            ..CASE
        },
        Case {
            rule: "a request goes the same way",
            before: r#"[ (thing "a" { } { }) ]"#,
            after: r#"[ (thing "a" { } { }) ]"#,
            flags: &["--replace", "fake.fake_thing.a"],
            does: "delete a-1, create a-2",
            says: "fake.fake_thing.a will be replaced, as requested",
        },
    ]);
}

#[test]
fn ignore_changes() {
    check(&[
        Case {
            rule: "everything, required arguments too",
            before: r#"[ (thing "a" { value = "1"; } { ignoreChanges = [ "*" ]; }) ]"#,
            after: r#"[ (thing "a" { name = "z"; value = "2"; force_new = "x"; rule = [ { port = 1; } ]; } { ignoreChanges = [ "*" ]; }) ]"#,
            ..CASE
        },
        Case {
            rule: "one argument of a block",
            before: r#"[ (thing "a" { rule = [ { port = 1; transport = "udp"; } ]; } { ignoreChanges = [ "rule.0.port" ]; }) ]"#,
            after: r#"[ (thing "a" { rule = [ { port = 2; transport = "udp"; } ]; } { ignoreChanges = [ "rule.0.port" ]; }) ]"#,
            ..CASE
        },
        Case {
            rule: "a key that is new, and one that is gone",
            before: r#"[ (thing "a" { tags = { k = "1"; }; } { ignoreChanges = [ "tags.k" "tags.l" ]; }) ]"#,
            after: r#"[ (thing "a" { tags = { l = "2"; }; } { ignoreChanges = [ "tags.k" "tags.l" ]; }) ]"#,
            ..CASE
        },
        Case {
            rule: "what would replace",
            before: r#"[ (thing "a" { force_new = "1"; } { ignoreChanges = [ "force_new" ]; }) ]"#,
            after: r#"[ (thing "a" { force_new = "2"; } { ignoreChanges = [ "force_new" ]; }) ]"#,
            ..CASE
        },
        Case {
            rule: "a path that leads nowhere",
            before: r#"[ (thing "a" { } { }) ]"#,
            after: r#"[ (thing "a" { } { ignoreChanges = [ "valeu" ]; }) ]"#,
            does: "!",
            says: "did you mean `value`?",
            ..CASE
        },
        Case {
            rule: "what the provider decides anyway",
            before: r#"[ (thing "a" { } { }) ]"#,
            after: r#"[ (thing "a" { } { ignoreChanges = [ "id" ]; }) ]"#,
            says: "warning: Redundant entry in ignoreChanges\n  with fake.fake_thing.a",
            ..CASE
        },
    ]);
}

/// A new object is made as the configuration says.
#[test]
fn ignored_arguments_count_for_a_new_object() {
    let workspace = workspace();
    let with = |value: &str, force: &str| {
        let body = r#"[ (thing "a" { value = "VALUE"; force_new = "FORCE"; } { ignoreChanges = [ "value" ]; }) ]"#;
        stack(
            &workspace,
            &body.replace("VALUE", value).replace("FORCE", force),
        );
        apply(&workspace, &[]).success();
        let last = record(&workspace).pop().unwrap();
        (last["op"].clone(), last["object"]["value"].clone())
    };
    assert_eq!(with("1", "1"), ("create".into(), "1".into()));
    assert_eq!(
        with("2", "1"),
        ("create".into(), "1".into()),
        "nothing was done"
    );
    assert_eq!(
        with("2", "2"),
        ("create".into(), "2".into()),
        "it was replaced"
    );
}

#[test]
fn prevent_destroy() {
    const KEPT: &str = r#"[ (thing "a" { } { preventDestroy = true; }) (thing "b" { } { }) ]"#;
    check(&[
        Case {
            rule: "an update in place",
            before: KEPT,
            after: r#"[ (thing "a" { value = "1"; } { preventDestroy = true; }) (thing "b" { } { }) ]"#,
            does: "update a-1",
            ..CASE
        },
        Case {
            rule: "a replacement, and nothing else is done either",
            before: KEPT,
            after: r#"[ (thing "a" { force_new = "1"; } { preventDestroy = true; }) (thing "b" { value = "1"; } { }) ]"#,
            does: "!",
            says: "a change of `force_new` would replace it",
            ..CASE
        },
        Case {
            rule: "a request",
            before: KEPT,
            after: KEPT,
            flags: &["--replace", "fake.fake_thing.a"],
            does: "!",
            says: "a replacement was asked for",
        },
        Case {
            rule: "a trigger",
            before: KEPT,
            after: r#"let b = thing "b" { value = "1"; } { }; in [ b (thing "a" { } { preventDestroy = true; replaceTriggeredBy = [ b ]; }) ]"#,
            does: "!",
            says: "a replacement was asked for",
            ..CASE
        },
        Case {
            rule: "out of the configuration, rule and all",
            before: KEPT,
            after: r#"[ (thing "b" { } { }) ]"#,
            does: "delete a-1",
            ..CASE
        },
    ]);
}

#[test]
fn what_is_protected_can_be_left_out_of_a_destruction() {
    let workspace = workspace();
    stack(
        &workspace,
        r#"let a = thing "a" { } { preventDestroy = true; }; in [ a (thing "b" { value = a.ref "id"; } { }) ]"#,
    );
    apply(&workspace, &[]).success();
    let destroy =
        |flags: &[&str]| workspace.run_stack("destroy", &[&["--auto-approve"], flags].concat());
    destroy(&[]).exits(1).says("preventDestroy");
    destroy(&["--exclude", "fake.fake_thing.b"]).success();
    assert_eq!(record(&workspace).len(), 2, "b needs a, so both stay");
    destroy(&["--exclude", "fake.fake_thing.a"]).success();
    assert_eq!(done(&workspace, 2), "delete b-1");
}

#[test]
fn a_tainted_object_is_protected_too() {
    let workspace = workspace();
    stack(
        &workspace,
        r#"[ (thing "a" { } { preventDestroy = true; }) ]"#,
    );
    workspace.write("faults", r#"[{"on":"create","do":"error_with_object"}]"#);
    apply(&workspace, &[]).exits(1);
    workspace.write("faults", "[]");
    apply(&workspace, &[])
        .exits(1)
        .says("it is tainted and would be replaced");
    assert_eq!(record(&workspace).len(), 1);
}

/// `b` uses `a`; each row says how both change.
#[test]
fn create_before_destroy() {
    check(&[
        Case {
            rule: "both replaced, neither first",
            before: r#"let a = thing "a" { force_new = "1"; } { }; in [ a (thing "b" { force_new = a.ref "id"; } { }) ]"#,
            after: r#"let a = thing "a" { force_new = "2"; } { }; in [ a (thing "b" { force_new = a.ref "id"; } { }) ]"#,
            does: "delete b-1, delete a-1, create a-2, create b-2",
            says: "-/+ resource",
            ..CASE
        },
        Case {
            rule: "replaced first, its user updated",
            before: r#"let a = thing "a" { force_new = "1"; } { createBeforeDestroy = true; }; in [ a (thing "b" { value = a.ref "id"; } { }) ]"#,
            after: r#"let a = thing "a" { force_new = "2"; } { createBeforeDestroy = true; }; in [ a (thing "b" { value = a.ref "id"; } { }) ]"#,
            does: "create a-2, update b-1, delete a-1",
            says: "+/- resource",
            ..CASE
        },
        Case {
            rule: "both replaced, what is used first",
            before: r#"let a = thing "a" { force_new = "1"; } { createBeforeDestroy = true; }; in [ a (thing "b" { force_new = a.ref "id"; } { }) ]"#,
            after: r#"let a = thing "a" { force_new = "2"; } { createBeforeDestroy = true; }; in [ a (thing "b" { force_new = a.ref "id"; } { }) ]"#,
            does: "delete b-1, create a-2, create b-2, delete a-1",
            ..CASE
        },
        Case {
            rule: "its user is of the kind, so it is too",
            before: r#"let a = thing "a" { force_new = "1"; } { }; in [ a (thing "b" { force_new = a.ref "id"; } { createBeforeDestroy = true; }) ]"#,
            after: r#"let a = thing "a" { force_new = "2"; } { }; in [ a (thing "b" { force_new = a.ref "id"; } { createBeforeDestroy = true; }) ]"#,
            does: "create a-2, create b-2, delete b-1, delete a-1",
            ..CASE
        },
        Case {
            rule: "it is gone and its user no longer uses it",
            before: r#"let a = thing "a" { } { createBeforeDestroy = true; }; in [ a (thing "b" { value = a.ref "id"; } { }) ]"#,
            after: r#"[ (thing "b" { value = "1"; } { }) ]"#,
            does: "update b-1, delete a-1",
            ..CASE
        },
        Case {
            rule: "the same without the rule",
            before: r#"let a = thing "a" { } { }; in [ a (thing "b" { value = a.ref "id"; } { }) ]"#,
            after: r#"[ (thing "b" { value = "1"; } { }) ]"#,
            does: "delete a-1, update b-1",
            ..CASE
        },
        Case {
            rule: "it is updated and its user goes",
            before: r#"let a = thing "a" { } { }; in [ a (thing "b" { value = a.ref "id"; } { }) ]"#,
            after: r#"[ (thing "a" { value = "1"; } { }) ]"#,
            does: "delete b-1, update a-1",
            ..CASE
        },
    ]);
}

/// A data source that is read during apply may give what it gave before: then the update planned for its sake is none.
#[test]
fn an_update_that_turns_out_to_be_none_does_not_count() {
    let workspace = workspace();
    let source = Json::from(fake_provider().to_str().unwrap());
    let stack = |value: &str| {
        workspace.stack(&format!(
            r#"let
              fake = n.provider {{ id = "fake"; source = {source}; }};
              thing = name: config: n.resource {{
                provider = fake; type = "fake_thing"; inherit name; config = {{ inherit name; }} // config;
              }};
              a = thing "a" {{ value = "{value}"; }};
              d = n.data {{
                provider = fake; type = "fake_thing"; name = "d"; config.name = "d"; meta.dependsOn = [ a ];
              }};
            in {{ data = [ d ]; resources = [ a (thing "b" {{ value = d.ref "id"; }}) ]; }}"#
        ));
    };
    stack("x");
    apply(&workspace, &[]).success();
    let before = record(&workspace).len();
    stack("y");
    let plan = workspace.run_stack("plan", &[]).success();
    plan.says("2 to change");
    apply(&workspace, &[])
        .success()
        .says("fake.fake_thing.b: nothing to do after all")
        .says("Apply complete: 0 added, 1 changed, 0 destroyed.");
    assert_eq!(done(&workspace, before), "update a-1");
}
