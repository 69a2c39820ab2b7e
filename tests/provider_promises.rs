//! What a provider promises and does not keep, on both protocols: each broken promise is told with its address and its
//! place, and what exists is kept.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value as Json, json};

use crate::support::{Output, Workspace, fake_provider};

/// One thing and one mistake that its provider makes.
#[derive(Clone, Copy)]
struct Row {
    /// Name of the thing.
    name: &'static str,
    /// Its configuration beside the name; `up` is a thing that is there already.
    config: &'static str,
    /// The mistake: in which call, and what.
    on: &'static str,
    fault: &'static str,
    /// The answer is marked as that of an old SDK.
    legacy: bool,
    /// What is told: the summary and, after `@`, the place; nothing where the mistake is tolerated.
    told: &'static str,
}

const fn row(name: &'static str, on: &'static str, fault: &'static str, told: &'static str) -> Row {
    Row {
        name,
        config: r#"value = "x";"#,
        on,
        fault,
        legacy: false,
        told,
    }
}

const fn legacy(row: Row) -> Row {
    Row {
        legacy: true,
        ..row
    }
}

fn workspace(protocol: &str) -> Workspace {
    let mut workspace = Workspace::with_fake();
    workspace.set_env("FAKE_PROTOCOL", protocol);
    workspace
}

/// A stack with `fake` and `thing name config` in scope.
fn stack(workspace: &Workspace, body: &str) {
    let source = Json::from(fake_provider().to_str().unwrap());
    workspace.stack(&format!(
        r#"let
          fake = n.provider {{ id = "fake"; source = {source}; }};
          thing = name: config: n.resource {{
            provider = fake; type = "fake_thing"; inherit name; config = {{ inherit name; }} // config;
          }};
        in {body}"#
    ));
}

/// One thing for each row.
fn things(workspace: &Workspace, rows: &[Row]) {
    let thing = |row: &Row| format!("(thing {:?} {{ {} }})", row.name, row.config);
    let all: Vec<String> = rows.iter().map(thing).collect();
    stack(
        workspace,
        &format!("{{ resources = [ {} ]; }}", all.join(" ")),
    );
}

fn faults(workspace: &Workspace, rows: &[Row]) {
    let fault = |row: &Row| json!({ "on": row.on, "do": row.fault, "legacy": row.legacy, "match": { "name": row.name } });
    let all: Vec<Json> = rows.iter().map(fault).collect();
    workspace.write("faults", &Json::from(all).to_string());
}

fn apply(workspace: &Workspace) -> Output {
    workspace.run_stack("apply", &["--auto-approve"])
}

/// Every row is told as it must be, under its own address.
#[track_caller]
fn told(output: &Output, severity: &str, rows: &[Row]) {
    for row in rows.iter().filter(|r| !r.told.is_empty()) {
        let (summary, place) = row.told.split_once(" @ ").unwrap_or((row.told, ""));
        let place = match place {
            "" => String::new(),
            place => format!(", at {place}"),
        };
        let text = format!(
            "{severity}: {summary}\n  with fake.fake_thing.{}{place}\n",
            row.name
        );
        assert!(output.stderr.contains(&text), "{text}is missing\n{output}");
    }
    for row in rows.iter().filter(|r| r.told.is_empty()) {
        let address = format!("with fake.fake_thing.{}\n", row.name);
        assert!(
            !output.stderr.contains(&address),
            "{address}is there\n{output}"
        );
    }
    assert!(!output.stderr.contains("panicked"), "{output}");
}

/// The objects in the state by the name of the thing.
fn stored(workspace: &Workspace) -> BTreeMap<String, Json> {
    // While a call has no answer, the journal is the newest part of the state.
    let mut pull = workspace.command(["state", "pull", "--file", "stack.nix"]);
    let state: Json = serde_json::from_slice(&pull.output().unwrap().stdout).unwrap();
    let all = state["resources"].as_object().unwrap();
    let object = |r: &Json| (r["name"].as_str().unwrap().to_owned(), r["current"].clone());
    all.values().map(object).collect()
}

fn calls(workspace: &Workspace, rpc: &str, name: &str) -> Vec<Json> {
    let text = fs::read_to_string(workspace.path("calls")).unwrap_or_default();
    let all = text
        .lines()
        .map(|l| serde_json::from_str::<Json>(l).unwrap());
    let named = |c: &Json| {
        let objects = [
            "config", "planned", "proposed", "prior", "current", "stored",
        ];
        objects.iter().any(|o| c[o]["name"] == name)
    };
    all.filter(|c| c["rpc"] == rpc && named(c)).collect()
}

const PLAN: &str = "Provider produced invalid plan";
const OBJECT: &str = "Provider produced invalid object";
const FINAL: &str = "Provider produced inconsistent final plan";
const RESULT: &str = "Provider produced inconsistent result after apply";

#[test]
fn plans_of_new_objects() {
    let rows = [
        row(
            "a",
            "plan",
            "forbidden_plan",
            "Provider produced invalid plan @ name",
        ),
        row(
            "b",
            "plan",
            "inconsistent",
            "Provider produced invalid plan @ value",
        ),
        row("c", "plan", "wrong_type", PLAN),
        row("d", "plan", "null", PLAN),
        row("e", "plan", "absent", PLAN),
        row("f", "plan", "error", "Told to fail @ name"),
        row("g", "plan", "unavailable", "Plugin did not respond"),
        row("h", "validate", "error", "Told to fail @ name"),
        legacy(row("i", "plan", "forbidden_plan", "")),
        legacy(row("j", "plan", "wrong_type", PLAN)),
        row("k", "plan", "replace_nowhere", ""),
    ];
    for protocol in ["5", "6"] {
        let workspace = workspace(protocol);
        things(&workspace, &rows);
        faults(&workspace, &rows);
        told(&workspace.run_stack("plan", &[]).exits(1), "error", &rows);
        told(&apply(&workspace).exits(1), "error", &rows);
        assert_eq!(calls(&workspace, "ApplyResourceChange", "f").len(), 0);
        assert!(!workspace.path(".nivis/stack/journal.jsonl").exists());
    }
}

#[test]
fn stored_objects_that_are_upgraded_read_and_planned() {
    let rows = [
        row(
            "a",
            "upgrade",
            "wrong_type",
            "Invalid resource state transformation",
        ),
        row("b", "upgrade", "error", "Told to fail"),
        row("c", "read", "wrong_type", OBJECT),
        row("d", "read", "error", "Told to fail"),
        row("e", "plan", "replace_nowhere", PLAN),
        row(
            "f",
            "plan",
            "inconsistent",
            "Provider produced invalid plan @ value",
        ),
        legacy(row("g", "plan", "replace_nowhere", PLAN)),
        legacy(row("h", "plan", "inconsistent", "")),
        row("i", "plan", "replace", ""),
        row("j", "read", "absent", ""),
    ];
    for protocol in ["5", "6"] {
        let workspace = workspace(protocol);
        things(&workspace, &rows);
        apply(&workspace).success();
        let before = stored(&workspace);
        faults(&workspace, &rows);
        let planned = workspace.run_stack("plan", &[]).exits(1);
        for row in rows.iter().filter(|r| !r.told.is_empty()) {
            let summary = row.told.split(" @ ").next().unwrap();
            let text = format!("error: {summary}\n  with fake.fake_thing.{}", row.name);
            assert!(
                planned.stderr.contains(&text),
                "{text} is missing\n{planned}"
            );
        }
        for name in ["h", "i", "j"] {
            let address = format!("with fake.fake_thing.{name}");
            assert!(!planned.stderr.contains(&address), "{address}\n{planned}");
        }
        apply(&workspace).exits(1);
        assert_eq!(stored(&workspace), before, "nothing is recorded");
    }
}

#[test]
fn results_of_creations() {
    let rows = [
        row(
            "a",
            "create",
            "inconsistent",
            "Provider produced inconsistent result after apply @ value",
        ),
        row(
            "b",
            "create",
            "forbidden_plan",
            "Provider produced inconsistent result after apply @ name",
        ),
        row(
            "c",
            "create",
            "unknown_after_apply",
            "Provider returned invalid result object after apply @ echo",
        ),
        row("d", "create", "wrong_type", OBJECT),
        row("e", "create", "null", RESULT),
        row("f", "create", "absent", RESULT),
        row("g", "create", "error", "Told to fail @ name"),
        row(
            "h",
            "create",
            "error_with_object",
            "Told to fail late @ name",
        ),
        row("i", "create", "unavailable", "Plugin did not respond"),
        row(
            "j",
            "plan",
            "refine",
            "Provider produced inconsistent result after apply @ id",
        ),
        legacy(row("k", "create", "inconsistent", "")),
        legacy(row(
            "l",
            "create",
            "unknown_after_apply",
            "Provider returned invalid result object after apply @ echo",
        )),
    ];
    for protocol in ["5", "6"] {
        let workspace = workspace(protocol);
        things(&workspace, &rows);
        faults(&workspace, &rows);
        told(&apply(&workspace).exits(1), "error", &rows);
        let stored = stored(&workspace);
        let tainted: Vec<&str> = (stored.iter())
            .filter(|(_, object)| object["status"] == "tainted")
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(
            tainted,
            ["a", "b", "c", "h", "j", "l"],
            "what came of it is kept"
        );
        assert_eq!(stored.len(), tainted.len() + 1, "k is whole: {stored:?}");
        assert_eq!(stored["c"]["attributes"]["echo"], Json::Null);
        assert_eq!(stored["k"]["attributes"]["value"], "inconsistent");
    }
}

/// An update that breaks a promise is recorded and not tainted; one that gives nothing leaves the object as it was.
#[test]
fn results_of_updates_and_removals() {
    let rows = [
        row(
            "a",
            "update",
            "inconsistent",
            "Provider produced inconsistent result after apply @ value",
        ),
        row(
            "b",
            "update",
            "error_with_object",
            "Told to fail late @ name",
        ),
        row("c", "update", "error", "Told to fail @ name"),
        row("d", "update", "wrong_type", OBJECT),
        row("e", "update", "unavailable", "Plugin did not respond"),
        row("f", "update", "null", RESULT),
    ];
    let gone = [
        row(
            "a",
            "delete",
            "keep",
            "Provider returned invalid result object after apply",
        ),
        row("b", "delete", "error", "Told to fail @ name"),
        row("c", "delete", "unavailable", "Plugin did not respond"),
        row("d", "delete", "wrong_type", OBJECT),
    ];
    for protocol in ["5", "6"] {
        let workspace = workspace(protocol);
        things(&workspace, &rows);
        apply(&workspace).success();
        let before = stored(&workspace);
        faults(&workspace, &rows);
        let changed: Vec<String> = (rows.iter())
            .map(|r| format!(r#"(thing "{}" {{ value = "y"; }})"#, r.name))
            .collect();
        stack(
            &workspace,
            &format!("{{ resources = [ {} ]; }}", changed.join(" ")),
        );
        told(&apply(&workspace).exits(1), "error", &rows);
        let after = stored(&workspace);
        let value = |name: &str| after[name]["attributes"]["value"].clone();
        assert_eq!([value("a"), value("b")], ["inconsistent", "y"]);
        for name in ["c", "d", "e", "f"] {
            assert_eq!(after[name], before[name], "{name}");
        }
        assert!(
            after.values().all(|o| o["status"] == Json::Null),
            "{after:?}"
        );
        faults(&workspace, &gone);
        let destroyed = workspace.run_stack("destroy", &["--auto-approve"]).exits(1);
        told(&destroyed, "error", &gone);
        let left: Vec<String> = stored(&workspace).into_keys().collect();
        assert_eq!(left, ["a", "b", "c", "d"]);
    }
}

/// With what only apply tells, the provider plans something else than was approved.
#[test]
fn final_plans() {
    for protocol in ["5", "6"] {
        let workspace = workspace(protocol);
        let with = |force: &str| {
            let body = r#"let up = thing "up" { force_new = "FORCE"; }; id = up.ref "id"; in { resources = [
              up
              (thing "other" { value = "x"; tags = { k = id; }; })
              (thing "action" { value = "x"; tags = { k = id; }; })
              (thing "fine" { value = "x"; tags = { k = id; }; })
            ]; }"#;
            stack(&workspace, &body.replace("FORCE", force));
        };
        with("1");
        apply(&workspace).success();
        with("2");
        let fault = |name: &str, fault: &str| json!({ "on": "plan", "do": fault, "match": { "name": name, "tags": { "k": "up-2" } } });
        let all = json!([
            fault("other", "unknown_after_apply"),
            fault("action", "replace_unseen")
        ]);
        workspace.write("faults", &all.to_string());
        let failed = apply(&workspace).exits(1);
        failed
            .says(&format!(
                "error: {FINAL}\n  with fake.fake_thing.other, at echo\n"
            ))
            .says(&format!("error: {FINAL}\n  with fake.fake_thing.action\n"))
            .is_silent_about("with fake.fake_thing.fine");
        for name in ["other", "action"] {
            let made = calls(&workspace, "ApplyResourceChange", name).len();
            assert_eq!(made, 1, "{name} is not changed after that");
        }
        assert_eq!(
            stored(&workspace)["fine"]["attributes"]["tags"]["k"],
            "up-2"
        );
    }
}

#[test]
fn plans_of_removals_where_the_provider_wants_to_be_asked() {
    for protocol in ["5", "6"] {
        let mut workspace = workspace(protocol);
        workspace.set_env("FAKE_PLAN_DESTROY", "1");
        let rows = [
            row("a", "plan", "keep", PLAN),
            row("b", "plan", "error", "Told to fail @ name"),
        ];
        things(&workspace, &rows);
        apply(&workspace).success();
        faults(&workspace, &rows);
        let destroyed = workspace.run_stack("destroy", &["--auto-approve"]).exits(1);
        told(&destroyed, "error", &rows);
        assert_eq!(stored(&workspace).len(), 2);
        workspace.write("faults", "[]");
        workspace
            .run_stack("destroy", &["--auto-approve"])
            .success();
        let asked = calls(&workspace, "PlanResourceChange", "a");
        let last = asked.last().unwrap();
        assert_eq!(
            (&last["proposed"], &last["config"]),
            (&Json::Null, &Json::Null)
        );
        let destroyed = calls(&workspace, "ApplyResourceChange", "a").pop().unwrap();
        assert_eq!(
            destroyed["private"], "planned",
            "as the plan of the removal gave it"
        );
    }
}

#[test]
fn warnings_have_an_address() {
    let rows = [
        row("a", "validate", "warning", "Told to warn @ name"),
        row("b", "plan", "warning", "Told to warn @ name"),
        row("c", "create", "warning", "Told to warn @ name"),
        row("d", "read", "warning", "Told to warn @ name"),
        row("e", "upgrade", "warning", "Told to warn @ name"),
        row("f", "update", "warning", "Told to warn @ name"),
        row("g", "delete", "warning", "Told to warn @ name"),
    ];
    let (made, kept, gone) = (&rows[..3], &rows[3..6], &rows[6..]);
    for protocol in ["5", "6"] {
        let workspace = workspace(protocol);
        things(&workspace, &rows);
        faults(&workspace, &rows);
        told(&apply(&workspace).success(), "warning", made);
        let changed = rows[..6]
            .iter()
            .map(|r| format!("(thing {:?} {{ value = \"y\"; }})", r.name));
        let changed: Vec<String> = changed.collect();
        stack(
            &workspace,
            &format!("{{ resources = [ {} ]; }}", changed.join(" ")),
        );
        let applied = apply(&workspace).success();
        told(&applied, "warning", kept);
        told(&applied, "warning", gone);
    }
}

/// What the provider keeps for itself comes back as it was given last.
#[test]
fn private_bytes() {
    for protocol in ["5", "6"] {
        let workspace = workspace(protocol);
        let rows = [row("a", "none", "error", "")];
        things(&workspace, &rows);
        apply(&workspace).success();
        let private = |rpc: &str| calls(&workspace, rpc, "a").pop().unwrap()["private"].clone();
        assert_eq!(private("ApplyResourceChange"), "planned");
        workspace.write("faults", r#"[{"on":"read","do":"change_private"}]"#);
        workspace.run_stack("plan", &[]).success();
        assert_eq!(private("ReadResource"), "kept");
        assert_eq!(
            private("PlanResourceChange"),
            "changed",
            "as the last read gave it"
        );
        workspace.write("faults", r#"[{"on":"apply","do":"change_private"}]"#);
        stack(
            &workspace,
            r#"{ resources = [ (thing "a" { value = "y"; }) ]; }"#,
        );
        apply(&workspace).success();
        workspace.write("faults", "[]");
        workspace.run_stack("plan", &[]).success();
        assert_eq!(
            private("ReadResource"),
            "changed",
            "as the last apply gave it"
        );
    }
}

#[test]
fn data_sources() {
    let rows = [
        ("a", "read_data", "null", "Provider produced null object"),
        ("b", "read_data", "wrong_type", OBJECT),
        ("c", "read_data", "unknown_after_apply", OBJECT),
        ("d", "read_data", "error", "Told to fail"),
        ("e", "validate_data", "error", "Told to fail"),
    ];
    for protocol in ["5", "6"] {
        let workspace = workspace(protocol);
        let data = |row: &(&str, &str, &str, &str)| {
            let name = row.0;
            format!(
                r#"(n.data {{ provider = fake; type = "fake_thing"; name = "{name}"; config.name = "{name}"; }})"#
            )
        };
        let all: Vec<String> = rows.iter().map(data).collect();
        stack(&workspace, &format!("{{ data = [ {} ]; }}", all.join(" ")));
        let fault = |row: &(&str, &str, &str, &str)| json!({ "on": row.1, "do": row.2, "match": { "name": row.0 } });
        let faults: Vec<Json> = rows.iter().map(fault).collect();
        workspace.write("faults", &Json::from(faults).to_string());
        let planned = workspace.run_stack("plan", &[]).exits(1);
        for (name, _, _, summary) in rows {
            let text = format!("error: {summary}\n  with data.fake.fake_thing.{name}");
            assert!(
                planned.stderr.contains(&text),
                "{text} is missing\n{planned}"
            );
        }
    }
}

#[test]
fn deferred_operations() {
    let rows = [
        row("a", "plan", "defer", "Provider deferred changes"),
        row("b", "read", "defer", "Provider deferred changes"),
    ];
    for protocol in ["5", "6"] {
        let workspace = workspace(protocol);
        things(&workspace, &rows);
        apply(&workspace).success();
        faults(&workspace, &rows);
        told(&workspace.run_stack("plan", &[]).exits(1), "error", &rows);
        workspace.write("faults", r#"[{"on":"read_data","do":"defer"}]"#);
        stack(
            &workspace,
            r#"{ data = [ (n.data { provider = fake; type = "fake_thing"; name = "d"; config.name = "d"; }) ]; }"#,
        );
        let planned = workspace.run_stack("plan", &[]).exits(1);
        planned.says("error: Provider deferred changes\n  with data.fake.fake_thing.d");
    }
}
