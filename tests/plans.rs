//! Saved plans: made, shown, carried out as they were made, and refused where they no longer fit.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use nivis::plan::file;
use serde_json::Value as Json;

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

/// `net` <- `host`, by a reference and a template; every kind of value.
const CHAIN: &str = r#"let
    net = thing "net" { value = "VALUE"; tags = { a = "1"; "odd key" = "2"; }; rule = [ { port = 80; } ]; member = [ { user = "u"; } ]; };
    host = thing "host" { value = "${net.ref "id"} is on"; size = 1.5; extra = [ { x = null; } 9007199254740993 ]; };
  in {
    resources = [ net host ];
    data = [ (n.data { provider = fake; type = "fake_thing"; name = "seen"; config.name = net.ref "id"; }) ];
    outputs = { host = host.ref "value"; secret = { value = net.ref "password"; sensitive = true; }; };
  }"#;

/// Two values that Nix computes, the second from the first.
const HOPS: &str = r#"let
    a = thing "a" { value = "VALUE"; };
    b = thing "b" { value = n.derive { id = a.ref "id"; } ({ id }: "b of ${id}"); };
    c = thing "c" { value = n.derive { id = b.ref "id"; } ({ id }: "c of ${id}"); };
  in { resources = [ a b c ]; outputs.c = c.ref "value"; }"#;

fn plan(workspace: &Workspace, args: &str) -> Output {
    let args: Vec<&str> = args.split_whitespace().collect();
    workspace.run_stack("plan", &[&args[..], &["-o", "the.plan"]].concat())
}

fn apply(workspace: &Workspace) -> Output {
    workspace.run(["apply", "the.plan"])
}

#[track_caller]
fn evaluations(workspace: &Workspace, expected: usize, run: impl FnOnce() -> Output) -> Output {
    let before = workspace.evaluations();
    let output = run();
    let count = workspace.evaluations() - before;
    assert_eq!(count, expected, "evaluations\n{output}");
    output
}

/// What was done to the world so far.
fn record(workspace: &Workspace) -> Vec<Json> {
    let text = fs::read_to_string(workspace.path("record")).unwrap_or_default();
    let lines = text.lines().map(|l| serde_json::from_str(l).unwrap());
    lines.collect()
}

/// Everything in a plan file, its packed values unpacked.
fn unpacked(workspace: &Workspace) -> Vec<Vec<u8>> {
    fn strings(json: &Json, found: &mut Vec<Vec<u8>>) {
        match json {
            Json::String(text) => found.extend(BASE64.decode(text)),
            Json::Array(items) => items.iter().for_each(|item| strings(item, found)),
            Json::Object(members) => members.values().for_each(|value| strings(value, found)),
            _ => {}
        }
    }
    let bytes = fs::read(workspace.path("the.plan")).unwrap();
    let content = file::unseal(&bytes, file::VERSION).unwrap();
    let mut found = vec![content.to_vec()];
    strings(&serde_json::from_slice(content).unwrap(), &mut found);
    found
}

fn holds(all: &[Vec<u8>], text: &str) -> bool {
    let mut windows = all.iter().flat_map(|bytes| bytes.windows(text.len()));
    windows.any(|window| window == text.as_bytes())
}

#[test]
fn a_saved_plan_is_shown_and_carried_out_without_evaluating() {
    let workspace = Workspace::with_fake();
    stack(&workspace, CHAIN);
    for value in ["first", "second"] {
        stack(&workspace, &CHAIN.replace("VALUE", value));
        let planned = evaluations(&workspace, 1, || plan(&workspace, "").success());
        let mode = fs::metadata(workspace.path("the.plan"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let shown = evaluations(&workspace, 0, || {
            workspace.run(["show", "the.plan"]).success()
        });
        assert_eq!(shown.stdout, planned.stdout, "a saved plan looks as it did");
        // What is in the file counts, not what the configuration says by now.
        stack(&workspace, "{ resources = [ ]; }");
        evaluations(&workspace, 0, || apply(&workspace).success());
        stack(&workspace, &CHAIN.replace("VALUE", value));
        let again = plan(&workspace, "--detailed-exitcode").success();
        again.says("No changes. Your infrastructure matches the configuration.");
        evaluations(&workspace, 0, || apply(&workspace).success());
    }
    let outputs = workspace.run_stack("output", &["--json"]).success().json();
    assert_eq!(outputs["host"]["value"], "net-1 is on");
    assert_eq!(record(&workspace).len(), 3, "two creations, one update");
}

#[test]
fn a_saved_plan_evaluates_once_for_each_hop_that_was_pending() {
    let workspace = Workspace::with_fake();
    stack(&workspace, HOPS);
    evaluations(&workspace, 1, || plan(&workspace, "").success());
    evaluations(&workspace, 2, || apply(&workspace).success()).says("3 added");
    let outputs = workspace.run_stack("output", &["--json"]).success().json();
    assert_eq!(outputs["c"]["value"], "c of b-1");
    evaluations(&workspace, 1, || {
        plan(&workspace, "--detailed-exitcode").success()
    });
}

#[test]
fn a_plan_that_no_longer_fits_is_refused_with_the_reason() {
    type Spoil = fn(&Workspace);
    let rows: &[(Spoil, &str, &str)] = &[
        (
            |w| drop(w.run_stack("apply", &["--auto-approve"]).success()),
            "Plan is stale",
            "it was made from serial 1 of lineage",
        ),
        (
            |w| fs::remove_dir_all(w.path(".nivis")).unwrap(),
            "Plan of another stack",
            "here is an empty state",
        ),
        (
            |w| {
                let mut bytes = fs::read(w.path("the.plan")).unwrap();
                let last = bytes.len() - 3;
                bytes[last] ^= 1;
                w.write("the.plan", &String::from_utf8(bytes).unwrap());
            },
            "Cannot read the plan",
            "it is damaged: its content does not match its digest",
        ),
        (
            |w| {
                let text = fs::read_to_string(w.path("the.plan")).unwrap();
                w.write(
                    "the.plan",
                    &text.replacen("\"version\":1", "\"version\":2", 1),
                );
            },
            "Cannot read the plan",
            "it has format version 2; this nivis reads version 1",
        ),
        (
            |w| w.write("the.plan", "{ n, ... }: { }\n"),
            "Cannot read the plan",
            "it is not a plan of nivis",
        ),
        (
            |w| w.write("provider", "#!/bin/sh\nexec \"$REAL\" \"$@\"\n# another\n"),
            "Provider has changed",
            "is another program than the plan was made with",
        ),
    ];
    for (spoil, summary, detail) in rows {
        let mut workspace = Workspace::with_fake();
        workspace.set_env("REAL", fake_provider());
        workspace.write("provider", "#!/bin/sh\nexec \"$REAL\" \"$@\"\n");
        let program = workspace.path("provider");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let body = |value: &str| {
            workspace.stack(&format!(
                r#"{{ resources = [ (n.resource {{
                  provider = n.provider {{ id = "fake"; source = "./provider"; }};
                  type = "fake_thing"; name = "a"; config = {{ name = "a"; value = "{value}"; }};
                }}) ]; }}"#
            ));
        };
        body("1");
        workspace.run_stack("apply", &["--auto-approve"]).success();
        body("2");
        plan(&workspace, "").success();
        let done = record(&workspace).len();
        spoil(&workspace);
        let after = record(&workspace).len();
        apply(&workspace).exits(1).says(summary).says(detail);
        assert_eq!(record(&workspace).len(), after, "{summary}: {done}");
    }
}

#[test]
fn a_plan_of_what_is_not_there_yet_is_for_one_apply() {
    let workspace = Workspace::with_fake();
    stack(&workspace, CHAIN);
    plan(&workspace, "").success();
    apply(&workspace).success();
    apply(&workspace)
        .exits(1)
        .says("Plan is stale")
        .says("it was made from an empty state");
}

#[test]
fn a_changed_configuration_is_noticed_where_it_is_evaluated_again() {
    let workspace = Workspace::with_fake();
    stack(&workspace, HOPS);
    plan(&workspace, "").success();
    let changed = HOPS.replace(r#"thing "b" {"#, r#"thing "b" { size = 3;"#);
    stack(&workspace, &changed);
    apply(&workspace)
        .exits(1)
        .says("Configuration has changed")
        .says("with fake.fake_thing.b")
        .says("plan again");
    assert_eq!(
        record(&workspace).len(),
        1,
        "what did not depend on it was made"
    );
}

#[test]
fn a_plan_keeps_how_it_was_to_be_made() {
    let rows = [
        (
            "--destroy",
            "Destroy complete: 0 added, 0 changed, 2 destroyed.",
        ),
        ("--refresh-only", "Refresh complete"),
        (
            "--replace fake.fake_thing.host",
            "1 added, 0 changed, 1 destroyed.",
        ),
        (
            "--target fake.fake_thing.net",
            "Applied changes may be incomplete",
        ),
    ];
    for (flags, says) in rows {
        let workspace = Workspace::with_fake();
        stack(&workspace, CHAIN);
        workspace.run_stack("apply", &["--auto-approve"]).success();
        let planned = plan(&workspace, flags).success();
        let shown = workspace.run(["show", "the.plan"]).success();
        assert_eq!(shown.stdout, planned.stdout, "{flags}");
        evaluations(&workspace, 0, || apply(&workspace).success()).says(says);
    }
    let workspace = Workspace::with_fake();
    stack(&workspace, CHAIN);
    plan(&workspace, "").success();
    for flags in [
        "--target x",
        "--refresh-only",
        "--var a=b",
        "--refresh=false",
    ] {
        let words = ["apply", "the.plan"].into_iter().chain(flags.split(' '));
        let refused = workspace.run(words).exits(1);
        refused.says("a saved plan is carried out and shown as it was made");
    }
    workspace
        .run(["apply", "the.plan", "--parallelism", "1"])
        .success();
}

#[test]
fn variables_and_secrets_of_a_plan_are_its_own() {
    let mut workspace = Workspace::with_fake();
    workspace.set_env("NIVIS_VAR_password", "correct-horse");
    workspace.set_env("NIVIS_VAR_elsewhere", "not-of-this-stack");
    let body = r#"let
        a = thing "a" { value = vars.name; };
        b = thing "b" { password = n.deriveSensitive { id = a.ref "id"; inherit (vars) password; } ({ id, password }: "${id}/${password}"); };
      in {
        variables = { name = { type = "string"; }; password = { type = "string"; sensitive = true; }; };
        resources = [ a b ];
        outputs.b = { value = b.ref "password"; sensitive = true; };
      }"#;
    stack(&workspace, body);
    plan(&workspace, "--var name=anna")
        .success()
        .is_silent_about("correct-horse");
    let all = unpacked(&workspace);
    assert!(holds(&all, "correct-horse"), "as a state would hold it");
    assert!(!holds(&all, "not-of-this-stack"));
    workspace.set_env("NIVIS_VAR_password", "another");
    workspace
        .run(["show", "the.plan"])
        .success()
        .is_silent_about("correct-horse");
    // Nix has nothing to say but with the secret, for the one leaf that needs it.
    evaluations(&workspace, 1, || apply(&workspace).success()).is_silent_about("correct-horse");
    let output = workspace
        .run_stack("output", &["--name", "b", "--raw"])
        .success();
    assert_eq!(output.stdout, "a-1/correct-horse");
}

#[test]
fn what_is_ephemeral_is_not_in_a_plan() {
    let workspace = Workspace::with_fake();
    stack(
        &workspace,
        r#"let
            login = n.ephemeral { provider = fake; type = "fake_login"; name = "now"; config.user = "anna"; };
            other = n.provider { id = "other"; inherit (fake) source; config.token = login.ref "token"; };
          in {
            data = [ login ];
            resources = [
              (thing "a" { secret_wo = "Bearer ${login.ref "token"}"; })
              (n.resource { provider = other; type = "fake_thing"; name = "b"; config.name = "b"; })
            ];
          }"#,
    );
    plan(&workspace, "").success();
    let all = unpacked(&workspace);
    let calls = fs::read_to_string(workspace.path("calls")).unwrap();
    let token = "token-anna";
    assert!(calls.contains(token), "the provider was given it\n{calls}");
    assert!(holds(&all, "fake_login") && !holds(&all, token));
    evaluations(&workspace, 0, || apply(&workspace).success()).says("2 added");
}

/// Everything a plan can hold goes out and comes in.
#[test]
fn what_is_read_is_written_again() {
    let workspace = Workspace::with_fake();
    for value in ["first", "second"] {
        stack(&workspace, &CHAIN.replace("VALUE", value));
        plan(&workspace, "").success();
        let bytes = fs::read(workspace.path("the.plan")).unwrap();
        let read = file::decode(&bytes).unwrap();
        assert!(!read.plan.changes.is_empty());
        assert_eq!(file::encode(&read).unwrap(), bytes, "{value}");
        apply(&workspace).success();
    }
}
