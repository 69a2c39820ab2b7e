//! Runs that are about a part of a stack, or that only look: `--target`, `--exclude`, `--refresh`, `--refresh-only`.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value as Json, json};

use crate::support::{Output, Workspace, fake_provider};

/// A stack with `thing name config` in scope.
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

/// The words of a command line after the verb.
fn run(workspace: &Workspace, verb: &str, args: &str) -> Output {
    let approve = ["apply", "destroy", "refresh"].contains(&verb);
    let mut words: Vec<&str> = args.split_whitespace().collect();
    words.extend(approve.then_some("--auto-approve"));
    workspace.run_stack(verb, &words)
}

fn lines(workspace: &Workspace, file: &str) -> Vec<Json> {
    let text = fs::read_to_string(workspace.path(file)).unwrap_or_default();
    text.lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

/// What was done to the world during a run, sorted: `create a`, `delete a`.
fn during(workspace: &Workspace, act: impl FnOnce()) -> Vec<String> {
    let before = lines(workspace, "record").len();
    act();
    let after = lines(workspace, "record").split_off(before);
    let entry = |line: &Json| {
        let id = line["id"].as_str().unwrap();
        let name = id.rsplit_once('-').map_or(id, |(name, _)| name);
        format!("{} {name}", line["op"].as_str().unwrap())
    };
    let mut done: Vec<String> = after.iter().map(entry).collect();
    done.sort();
    done
}

/// Calls of a remote procedure so far.
fn calls(workspace: &Workspace, rpc: &str) -> usize {
    lines(workspace, "calls")
        .iter()
        .filter(|c| c["rpc"] == rpc)
        .count()
}

/// Somebody else changes the world.
fn drift(workspace: &Workspace, op: &str, id: &str, object: &Json) {
    let mut record = fs::read_to_string(workspace.path("record")).unwrap();
    let line = json!({"op": op, "type": "fake_thing", "id": id, "object": object});
    record.push_str(&format!("{line}\n"));
    workspace.write("record", &record);
}

fn state(workspace: &Workspace) -> Json {
    let text = fs::read(workspace.path(".nivis/stack/state.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// `net` <- `host` <- `name`, by references; `pool` is alone; `node` has instances that use `host`; `data.seen` sees `net`.
const CHAIN: &str = r#"let
    net = thing "net" { value = "VALUE"; };
    host = thing "host" { value = "${net.ref "id"}/VALUE"; };
    name = thing "name" { value = "${host.ref "id"}/VALUE"; };
    nodes = n.forEach [ "a" "b" ] (key: _: thing "node" { name = "node${key}"; value = "${host.ref "id"}/VALUE"; });
    seen = n.data { provider = fake; type = "fake_thing"; name = "seen"; config.name = net.ref "id"; };
  in {
    resources = [ net host name nodes (thing "pool" { value = "VALUE"; }) ];
    data = [ seen ];
    outputs = { net = net.ref "value"; name = name.ref "value"; both = n.derive [ (net.ref "value") (name.ref "value") ] (all: "${builtins.elemAt all 0}+${builtins.elemAt all 1}"); };
  }"#;

fn chain(workspace: &Workspace, value: &str) {
    stack(workspace, &CHAIN.replace("VALUE", value));
}

/// Each row: flags of an apply on a stack in which everything would change, and what it does.
#[test]
fn a_limited_apply_takes_what_its_part_depends_on() {
    let rows: &[(&str, &str)] = &[
        ("--target fake.fake_thing.net", "net"),
        ("--target fake.fake_thing.host", "host net"),
        ("--target fake.fake_thing.name", "host name net"),
        ("--target fake.fake_thing.node__a", "host net nodea"),
        ("--target fake.fake_thing.node", "host net nodea nodeb"),
        ("--target data.fake.fake_thing.seen", "net"),
        (
            "--target fake.fake_thing.pool --target fake.fake_thing.net",
            "net pool",
        ),
        ("--exclude fake.fake_thing.net", "pool"),
        ("--exclude fake.fake_thing.host", "net pool"),
        ("--exclude fake.fake_thing.node", "host name net pool"),
        (
            "--exclude fake.fake_thing.node__b",
            "host name net nodea pool",
        ),
        (
            "--exclude data.fake.fake_thing.seen",
            "host name net nodea nodeb pool",
        ),
    ];
    let workspace = Workspace::with_fake();
    chain(&workspace, "0");
    run(&workspace, "apply", "").success();
    for (i, (flags, named)) in rows.iter().enumerate() {
        chain(&workspace, &i.to_string().repeat(2));
        let planned = run(&workspace, "plan", flags).success();
        let count = named.split(' ').count();
        planned
            .says(&format!("0 to add, {count} to change, 0 to destroy"))
            .says("Resource targeting is in effect");
        let done = during(&workspace, || {
            let applied = run(&workspace, "apply", flags).success();
            applied.says("Applied changes may be incomplete");
        });
        assert_eq!(done.join(" ").replace("update ", ""), *named, "{flags}");
    }
}

#[test]
fn a_limited_destroy_takes_what_depends_on_its_part() {
    let rows: &[(&str, &str)] = &[
        ("--target fake.fake_thing.name", "delete name"),
        (
            "--target fake.fake_thing.host",
            "delete host, delete name, delete nodea, delete nodeb",
        ),
        (
            "--target fake.fake_thing.node",
            "delete nodea, delete nodeb",
        ),
        (
            "--exclude fake.fake_thing.host",
            "delete name, delete nodea, delete nodeb, delete pool",
        ),
        (
            "--exclude fake.fake_thing.pool",
            "delete host, delete name, delete net, delete nodea, delete nodeb",
        ),
    ];
    for (flags, want) in rows {
        let workspace = Workspace::with_fake();
        chain(&workspace, "0");
        run(&workspace, "apply", "").success();
        let done = during(&workspace, || {
            run(&workspace, "destroy", flags)
                .success()
                .says("may be incomplete");
        });
        assert_eq!(done.join(", "), *want, "{flags}");
        let back = during(&workspace, || drop(run(&workspace, "apply", "").success()));
        assert_eq!(back.join(", "), want.replace("delete", "create"), "{flags}");
        run(&workspace, "plan", "--detailed-exitcode").success();
    }
}

#[test]
fn outputs_change_only_where_all_they_are_made_from_takes_part() {
    let workspace = Workspace::with_fake();
    chain(&workspace, "0");
    run(&workspace, "apply", "").success();
    chain(&workspace, "1");
    let evaluations = workspace.evaluations();
    let planned = run(&workspace, "plan", "--target fake.fake_thing.net").success();
    planned.says("net = \"0\" -> \"1\"").is_silent_about("both");
    run(&workspace, "apply", "--target fake.fake_thing.net").success();
    assert_eq!(
        workspace.evaluations() - evaluations,
        2 + 2,
        "the rest of the ledger stays"
    );
    let outputs = &state(&workspace)["outputs"];
    assert_eq!(outputs["net"]["value"], "1");
    assert_eq!(outputs["name"]["value"], "host-1/0");
    assert_eq!(outputs["both"]["value"], "0+host-1/0");
    run(&workspace, "apply", "").success();
    assert_eq!(state(&workspace)["outputs"]["both"]["value"], "1+host-1/1");
    run(&workspace, "destroy", "--target fake.fake_thing.name").success();
    let outputs = state(&workspace)["outputs"].clone();
    assert_eq!(outputs.as_object().unwrap().len(), 2, "{outputs}");
    assert_eq!(outputs["net"]["value"], "1");
}

#[test]
fn what_left_the_configuration_can_be_targeted() {
    let workspace = Workspace::with_fake();
    chain(&workspace, "0");
    run(&workspace, "apply", "").success();
    stack(&workspace, r#"{ resources = [ (thing "new" { }) ]; }"#);
    let done = during(&workspace, || {
        run(&workspace, "apply", "--target fake.fake_thing.node").success();
    });
    assert_eq!(done, ["delete nodea", "delete nodeb"]);
    let done = during(&workspace, || {
        run(&workspace, "apply", "--exclude fake.fake_thing.name").success();
    });
    assert_eq!(
        done,
        ["create new", "delete pool"],
        "name needs host, and that net"
    );
    let done = during(&workspace, || {
        run(&workspace, "apply", "--target fake.fake_thing.host").success();
    });
    assert_eq!(done, ["delete host", "delete name"]);
}

#[test]
fn limits_that_name_nothing_are_refused() {
    let workspace = Workspace::with_fake();
    chain(&workspace, "0");
    run(&workspace, "apply", "").success();
    for verb in ["plan", "apply", "destroy", "refresh"] {
        for flag in ["--target", "--exclude"] {
            let wrong = run(&workspace, verb, &format!("{flag} fake.fake_thing.nod")).exits(1);
            wrong
                .says(&format!("`{flag} fake.fake_thing.nod` names no resource"))
                .says("did you mean `fake.fake_thing.node`?");
        }
        run(&workspace, verb, "--target a --exclude b").exits(64);
    }
}

#[test]
fn a_provider_whose_configuration_needs_what_stays_is_still_configured() {
    let workspace = Workspace::with_fake();
    let body = r#"let
        base = thing "base" { };
        far = n.provider { id = "far"; source = fake.source; config.region = base.ref "id"; };
        there = n.resource { provider = far; type = "fake_thing"; name = "there"; config.name = "there"; };
      in { resources = [ base there ]; }"#;
    stack(&workspace, body);
    run(&workspace, "apply", "").success();
    let done = during(&workspace, || {
        run(&workspace, "destroy", "--target far.fake_thing.there").success();
    });
    assert_eq!(done, ["delete there"]);
    let last = lines(&workspace, "calls");
    let configured = last
        .iter()
        .rev()
        .find(|c| c["rpc"] == "ConfigureProvider" && c["config"]["region"] != Json::Null);
    assert_eq!(configured.unwrap()["config"]["region"], "base-1");
    let done = during(&workspace, || {
        run(&workspace, "apply", "--target far.fake_thing.there").success();
        run(&workspace, "destroy", "--target fake.fake_thing.base").success();
    });
    assert_eq!(done, ["create there", "delete base", "delete there"]);
}

#[test]
fn without_refresh_nothing_is_read() {
    let workspace = Workspace::with_fake();
    chain(&workspace, "0");
    run(&workspace, "apply", "").success();
    drift(&workspace, "update", "net-1", &json!({"value": "drifted"}));
    let before = calls(&workspace, "ReadResource");
    for flag in ["--refresh=false", "--no-refresh"] {
        run(&workspace, "plan", &format!("{flag} --detailed-exitcode")).success();
    }
    assert_eq!(calls(&workspace, "ReadResource"), before);
    for flag in ["", "--refresh", "--refresh=true"] {
        run(&workspace, "plan", &format!("{flag} --detailed-exitcode")).exits(2);
    }
    run(&workspace, "plan", "--refresh=false --no-refresh").exits(64);
    run(&workspace, "plan", "--refresh=false --refresh-only").exits(64);
    let reads = calls(&workspace, "ReadResource");
    run(&workspace, "destroy", "--refresh=false").success();
    assert_eq!(calls(&workspace, "ReadResource"), reads);
}

#[test]
fn a_refresh_records_what_is_there_and_changes_nothing() {
    let workspace = Workspace::with_fake();
    chain(&workspace, "0");
    run(&workspace, "apply", "").success();
    run(&workspace, "plan", "--refresh-only --detailed-exitcode")
        .success()
        .says("No changes. The state matches what was found.");
    drift(&workspace, "update", "net-1", &json!({"value": "drifted"}));
    drift(&workspace, "delete", "pool-1", &Json::Null);
    let before = state(&workspace);
    let planned = run(&workspace, "plan", "--refresh-only --detailed-exitcode").exits(2);
    planned
        .says("Note: objects have changed outside of nivis")
        .says("\"0\" -> \"drifted\"")
        .says("fake.fake_thing.pool is gone")
        .says("both = \"0+host-1/0\" -> \"drifted+host-1/0\"")
        .says("applying this records what was found");
    assert_eq!(state(&workspace), before);
    let plans = calls(&workspace, "PlanResourceChange");
    let done = during(&workspace, || {
        let refreshed = run(&workspace, "refresh", "").success();
        refreshed
            .says("Refresh complete")
            .says("both = \"drifted+host-1/0\"");
    });
    assert_eq!(done, [""; 0]);
    assert_eq!(calls(&workspace, "PlanResourceChange"), plans);
    let after = state(&workspace);
    assert_eq!(
        after["resources"]["fake.fake_thing.net"]["current"]["attributes"]["value"],
        "drifted"
    );
    assert_eq!(after["resources"]["fake.fake_thing.pool"], Json::Null);
    assert_eq!(after["outputs"]["net"]["value"], "drifted");
    for field in ["private", "dependencies"] {
        let of =
            |state: &Json| state["resources"]["fake.fake_thing.host"]["current"][field].clone();
        assert_eq!(of(&after), of(&before), "{field}");
        assert_ne!(of(&after), Json::Null, "{field}");
    }
    run(&workspace, "plan", "--refresh-only --detailed-exitcode").success();
    let done = during(&workspace, || drop(run(&workspace, "apply", "").success()));
    assert_eq!(done, ["create pool", "update net"]);
}

#[test]
fn a_refresh_can_be_limited_and_reads_what_left_the_configuration() {
    let workspace = Workspace::with_fake();
    chain(&workspace, "0");
    run(&workspace, "apply", "").success();
    stack(&workspace, r"{ resources = [ ]; }");
    for id in ["net-1", "pool-1"] {
        drift(&workspace, "update", id, &json!({"value": "drifted"}));
    }
    let value = |name: &str| {
        let state = state(&workspace);
        let object = &state["resources"][format!("fake.fake_thing.{name}")]["current"];
        object["attributes"]["value"].as_str().unwrap().to_owned()
    };
    run(
        &workspace,
        "apply",
        "--refresh-only --target fake.fake_thing.pool",
    )
    .success();
    assert_eq!([value("net"), value("pool")], ["0", "drifted"]);
    run(&workspace, "refresh", "").success();
    assert_eq!([value("net"), value("pool")], ["drifted", "drifted"]);
}

/// `plan --detailed-exitcode` as in docs/reference/exit-codes.md.
#[test]
fn the_exit_code_tells_whether_there_is_something_to_do() {
    let workspace = Workspace::with_fake();
    stack(&workspace, r#"{ resources = [ (thing "a" { }) ]; }"#);
    run(&workspace, "plan", "").success();
    run(&workspace, "plan", "--detailed-exitcode").exits(2);
    run(&workspace, "apply", "").success();
    run(&workspace, "plan", "--detailed-exitcode").success();
    run(&workspace, "plan", "--detailed-exitcode --destroy").exits(2);
    stack(
        &workspace,
        r#"{ resources = [ (thing "a" { }) ]; outputs.o = "new"; }"#,
    );
    run(&workspace, "plan", "--detailed-exitcode").exits(2);
    stack(
        &workspace,
        r#"{ resources = [ (thing "a" { valeu = ""; }) ]; }"#,
    );
    run(&workspace, "plan", "--detailed-exitcode").exits(1);
    run(&workspace, "plan", "--detailed-exit").exits(64);
}

#[test]
fn a_provider_can_be_given_as_a_path_of_nix() {
    let workspace = Workspace::with_fake();
    symlink(fake_provider(), workspace.path("a plugin")).unwrap();
    workspace.stack(
        r#"let fake = n.provider { id = "fake"; source = ./. + "/a plugin"; };
        in {
          providers = [ fake ];
          resources.a = n.resource { provider = fake; type = "fake_thing"; name = "a"; config.name = "a"; };
        }"#,
    );
    let plan = workspace.run_stack("plan", &[]).success();
    plan.says("Plan: 1 to add, 0 to change, 0 to destroy.");
}
