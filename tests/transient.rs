//! What providers give and nobody stores: ephemeral resources and results of functions, on both protocols.

use std::fs;

use serde_json::Value as Json;

use crate::support::{Workspace, fake_provider};

fn workspace(protocol: &str) -> Workspace {
    let mut workspace = Workspace::with_fake();
    workspace.set_env("FAKE_PROTOCOL", protocol);
    workspace
}

/// A stack with the providers `fake` and `other`, whose configuration is `token`, and with `login name config`,
/// `call function name arguments` and `thing provider name config` in scope.
fn stack(workspace: &Workspace, token: &str, body: &str) {
    let source = Json::from(fake_provider().to_str().unwrap());
    workspace.stack(&format!(
        r#"let
          fake = n.provider {{ id = "fake"; source = {source}; }};
          other = n.provider {{ id = "other"; source = {source}; config.token = {token}; }};
          login = name: config: n.ephemeral {{ provider = fake; type = "fake_login"; inherit name config; }};
          call = function: name: arguments: n.call {{ provider = other; inherit function name arguments; }};
          thing = provider: name: config: n.resource {{
            inherit provider name; type = "fake_thing"; config = {{ inherit name; }} // config;
          }};
          now = login "now" {{ user = "anna"; }};
          a = thing fake "a" {{ }};
        in {body}"#
    ));
}

/// The calls so far of that name.
fn calls(workspace: &Workspace, rpc: &str) -> Vec<Json> {
    let text = fs::read_to_string(workspace.path("calls")).unwrap_or_default();
    let lines = text
        .lines()
        .map(|l| serde_json::from_str::<Json>(l).unwrap());
    lines.filter(|line| line["rpc"] == rpc).collect()
}

fn forget_calls(workspace: &Workspace) {
    fs::remove_file(workspace.path("calls")).unwrap();
}

#[test]
fn an_ephemeral_value_reaches_providers_and_write_only_attributes_and_nothing_else() {
    for protocol in ["5", "6"] {
        let workspace = workspace(protocol);
        stack(
            &workspace,
            r#"now.ref "token""#,
            r#"{
              data = [ now ];
              resources = [
                (thing other "a" { value = "v"; })
                (thing fake "b" { secret_wo = "Bearer ${now.ref "token"}"; })
              ];
            }"#,
        );
        let planned = workspace.run_stack("plan", &[]).success();
        planned.says("2 to add").is_silent_about("token-anna");
        let opened = calls(&workspace, "OpenEphemeralResource");
        assert_eq!(opened.len(), 1, "once per plan");
        assert_eq!(calls(&workspace, "CloseEphemeralResource").len(), 1);
        assert_eq!(
            calls(&workspace, "ValidateEphemeralResourceConfig").len(),
            1
        );

        forget_calls(&workspace);
        let applied = workspace.run_stack("apply", &["--auto-approve"]).success();
        applied.says("2 added").is_silent_about("token-anna");
        assert_eq!(
            calls(&workspace, "OpenEphemeralResource").len(),
            2,
            "once to plan, once to apply"
        );
        assert_eq!(calls(&workspace, "CloseEphemeralResource").len(), 2);
        let configured = calls(&workspace, "ConfigureProvider");
        let with_token = configured
            .iter()
            .filter(|c| !c["config"]["token"].is_null());
        for call in with_token {
            let token = call["config"]["token"].as_str().unwrap();
            assert!(token.starts_with("token-anna-"), "{token}");
        }
        let written = calls(&workspace, "ApplyResourceChange");
        let secret = written
            .iter()
            .find_map(|c| c["config"]["secret_wo"].as_str());
        assert_eq!(secret, Some("Bearer token-anna-2"));

        forget_calls(&workspace);
        workspace
            .run_stack("plan", &["--detailed-exitcode"])
            .success()
            .says("No changes");
        workspace.run_stack("apply", &["--auto-approve"]).success();
        assert_eq!(
            calls(&workspace, "OpenEphemeralResource").len(),
            2,
            "nothing is opened to apply nothing"
        );
        let stored = workspace.run_stack("show", &["--json"]);
        stored.is_silent_about("token-anna");
        let stacks = fs::read_dir(workspace.path(".nivis")).unwrap();
        let stacks = stacks.map(|s| s.unwrap().path()).filter(|p| p.is_dir());
        let files = stacks.flat_map(|s| fs::read_dir(s).unwrap().map(|f| f.unwrap().path()));
        let files: Vec<_> = files.filter(|p| p.is_file()).collect();
        assert!(!files.is_empty());
        for file in files {
            let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
            assert!(!text.contains("token-anna"), "{}", file.display());
        }
        workspace
            .run_stack("destroy", &["--auto-approve"])
            .success()
            .says("2 destroyed");
    }
}

#[test]
fn an_ephemeral_resource_is_renewed_while_it_is_needed() {
    let workspace = workspace("6");
    workspace.write("faults", r#"[{"on": "create", "do": "slow:2500"}]"#);
    stack(
        &workspace,
        r#""x""#,
        r#"let short = login "short" { user = "b"; renew_ms = 150; }; in {
          data = [ short ];
          resources = [ (thing fake "a" { secret_wo = short.ref "token"; }) ];
        }"#,
    );
    workspace.run_stack("apply", &["--auto-approve"]).success();
    let renewed = calls(&workspace, "RenewEphemeralResource").len();
    assert!((2..=40).contains(&renewed), "renewed {renewed} times");
    assert_eq!(calls(&workspace, "CloseEphemeralResource").len(), 2);
}

#[test]
fn what_fails_about_an_ephemeral_resource_is_told_with_its_address() {
    let workspace = workspace("6");
    stack(
        &workspace,
        r#""x""#,
        r#"{ data = [ now ]; resources = [ (thing fake "a" { secret_wo = now.ref "token"; }) ]; }"#,
    );
    for (fault, says) in [
        (r#"{"on": "open", "do": "error"}"#, "Told to fail"),
        (r#"{"on": "open", "do": "null"}"#, "gave no object"),
        (
            r#"{"on": "open", "do": "unknown_after_apply"}"#,
            "fake_login",
        ),
        (r#"{"on": "open", "do": "die"}"#, "did not respond"),
        (r#"{"on": "close", "do": "error"}"#, "Told to fail"),
        (
            r#"{"on": "validate_ephemeral", "do": "error"}"#,
            "Told to fail",
        ),
    ] {
        workspace.write("faults", &format!("[{fault}]"));
        let failed = workspace.run_stack("plan", &[]).exits(1);
        failed.says("ephemeral.fake.fake_login.now").says(says);
    }
    // What was opened and cannot be used is closed again.
    let _ = fs::remove_file(workspace.path("calls"));
    workspace.write("faults", r#"[{"on": "open", "do": "null"}]"#);
    workspace.run_stack("plan", &[]).exits(1);
    assert_eq!(calls(&workspace, "CloseEphemeralResource").len(), 1);
}

#[test]
fn an_ephemeral_value_is_refused_where_it_would_be_written_down() {
    let workspace = workspace("6");
    for (body, says) in [
        (
            r#"{ data = [ now ]; resources = [ (thing fake "a" { value = now.ref "token"; }) ]; }"#,
            "this attribute is stored in the state",
        ),
        (
            r#"{ data = [ now ]; resources = [ (thing fake "a" { tags.x = "${now.ref "token"}"; }) ]; }"#,
            "this attribute is stored in the state",
        ),
        (
            r#"{ data = [ now ]; outputs.o = { value = now.ref "token"; sensitive = true; }; }"#,
            "is ephemeral and cannot be used in an output",
        ),
        (
            r#"{ data = [ now ]; resources = [
              (thing fake "a" { secret_wo = n.derive { t = now.ref "token"; } ({ t }: t); }) ]; }"#,
            "is ephemeral and cannot be used in what Nix computes",
        ),
        (
            r#"{ data = [ now (call "join" "x" [ "-" (now.ref "token") ]) ]; }"#,
            "is ephemeral and cannot be used in a function call",
        ),
    ] {
        stack(&workspace, r#""x""#, body);
        workspace.run_stack("plan", &[]).exits(1).says(says);
        workspace.run_stack("validate", &[]).exits(1).says(says);
    }
}

#[test]
fn functions_are_called_once_their_arguments_are_known() {
    for protocol in ["5", "6"] {
        let workspace = workspace(protocol);
        // Functions of `other` can be called although its configuration is not known before `a` is made.
        stack(
            &workspace,
            r#"a.ref "id""#,
            r#"let
              early = call "join" "early" [ "-" "x" "y" ];
              late = call "join" "late" [ ":" (early.ref "result") "<${a.ref "id"}>" ];
              shape = call "describe" "shape" [ [ 1 (a.ref "id") ] ];
              nothing = call "describe" "nothing" [ null ];
              derived = n.derive { late = late.ref "result"; } ({ late }: builtins.stringLength late);
            in {
              data = [ early late shape nothing ];
              resources = [ a (thing other "b" { value = late.ref "result"; size = derived; }) ];
              outputs = {
                early = early.ref "result";
                late = "late: ${late.ref "result"}";
                known = shape.ref [ "result" "known" ];
                type = nothing.ref [ "result" "type" ];
              };
            }"#,
        );
        workspace.run_stack("validate", &[]).success();
        let planned = workspace.run_stack("plan", &[]).success();
        planned.says("early = \"x-y\"").says("2 to add");
        workspace.run_stack("apply", &["--auto-approve"]).success();
        let outputs = workspace.run_stack("output", &["--json"]).success();
        let outputs = outputs.json();
        let value = |name: &str| outputs[name]["value"].clone();
        assert_eq!(value("early"), "x-y");
        assert_eq!(value("late"), "late: x-y:<a-1>");
        assert_eq!(value("known"), true);
        assert_eq!(value("type"), "any");
        forget_calls(&workspace);
        workspace
            .run_stack("plan", &["--detailed-exitcode"])
            .success()
            .says("No changes");
        assert_eq!(calls(&workspace, "CallFunction").len(), 4, "each once");
        workspace
            .run_stack("destroy", &["--auto-approve"])
            .success();
    }
}

#[test]
fn a_call_that_cannot_be_made_says_which_argument_is_wrong() {
    let workspace = workspace("6");
    for (call, address, says) in [
        (
            r#"call "fail" "f" [ "because I can" ]"#,
            "call.other.fail.f",
            "because I can",
        ),
        (
            r#"call "join" "j" [ ]"#,
            "call.other.join.j",
            "it takes 1 or more arguments, 0 given",
        ),
        (
            r#"call "fail" "f" [ "a" "b" ]"#,
            "call.other.fail.f",
            "it takes 1 arguments, 2 given",
        ),
        (
            r#"call "join" "j" [ "-" "a" { b = 1; } ]"#,
            "[2]",
            "argument `part`: string required",
        ),
        (
            r#"call "join" "j" [ null ]"#,
            "[0]",
            "argument `separator`: it cannot be null",
        ),
        (
            r#"call "joi" "j" [ "a" ]"#,
            "call.other.joi.j",
            "did you mean",
        ),
    ] {
        stack(&workspace, r#""x""#, &format!("{{ data = [ ({call}) ]; }}"));
        let failed = workspace.run_stack("plan", &[]).exits(1);
        failed.says(address).says(says);
    }
}
