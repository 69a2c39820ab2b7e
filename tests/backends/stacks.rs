//! Whole runs of stacks that say where their state is.

use serde_json::json;

use super::http_server::HttpServer;
use crate::support::{Output, Workspace};

/// A checkout of a stack whose state is behind a web server.
fn checkout(backend: &str) -> Workspace {
    let mut workspace = Workspace::new();
    workspace.set_env("TF_HTTP_USERNAME", "anna");
    workspace.set_env("TF_HTTP_PASSWORD", "secret");
    write(&workspace, backend);
    workspace
}

/// Has the stack say this in `backend`.
fn write(workspace: &Workspace, backend: &str) {
    workspace.stack(&format!(
        r#"let
          builtin = n.provider {{ id = "builtin"; source = "builtin"; }};
          a = n.resource {{
            provider = builtin; type = "builtin_data"; name = "a"; config.input = "one";
          }};
        in {{ resources = [ a ]; outputs.o = a.ref "output"; {backend} }}"#
    ));
}

/// What a stack says whose state is at this path of the web server.
fn http(path: &str) -> String {
    let server = HttpServer::shared();
    let (address, lock) = (server.url(path), server.url(&format!("{path}/lock")));
    format!(
        r#"backend = {{
          type = "http"; address = "{address}"; lock_address = "{lock}"; unlock_address = "{lock}"; retry_max = 0;
        }};"#
    )
}

fn apply(workspace: &Workspace) -> Output {
    workspace.run_stack("apply", &["--auto-approve"])
}

#[test]
fn a_team_shares_its_state() {
    let path = HttpServer::shared().new_path();
    let (anna, ben) = (checkout(&http(&path)), checkout(&http(&path)));
    apply(&anna).success().says("1 added");
    assert!(!anna.path(".nivis/stack/state.json").exists());
    assert_eq!(anna.evaluations(), 1);

    // A new checkout has to ask Nix where the state is, and does so once.
    ben.run_stack("plan", &["--detailed-exitcode"]).success();
    assert_eq!(ben.evaluations(), 1);
    apply(&ben).success();
    assert_eq!(ben.evaluations(), 2);
    // From then on it knows.
    let list = ben.run(["state", "list", "--file", "stack.nix"]).success();
    assert_eq!(list.stdout, "builtin.builtin_data.a\n");
    let output = ben.run_stack("output", &["--json"]).success().json();
    assert_eq!(output["o"]["value"], json!("one"));
    assert_eq!(ben.evaluations(), 2);

    ben.run_stack("destroy", &["--auto-approve"]).success();
    let list = anna.run(["state", "list", "--file", "stack.nix"]);
    assert_eq!(list.success().stdout, "");
}

#[test]
fn a_lock_that_stays_is_named_and_broken() {
    let server = HttpServer::shared();
    let path = server.new_path();
    let workspace = checkout(&http(&path));
    server.lock(
        &path,
        &json!({
            "ID": "1-2-3", "Operation": "OperationTypeApply", "Info": "", "Who": "ben@build",
            "Version": "1.10.0", "Created": "2026-01-02T03:04:05Z", "Path": ""
        }),
    );
    let held = apply(&workspace).exits(1);
    let held = held
        .says("is locked by `nivis OperationTypeApply` of ben@build since 2026-01-02T03:04:05Z");
    held.says("nivis unlock 1-2-3");
    let unlock = |id: &str| workspace.run(["unlock", id, "--file", "stack.nix"]);
    unlock("4").exits(1).says("is 1-2-3, not 4");
    unlock("1-2-3").success();
    unlock("1-2-3").exits(1).says("is not locked");
    apply(&workspace).success();
}

#[test]
fn a_state_that_cannot_be_written_is_kept_until_the_next_run() {
    use super::http_server::Failure::Status;
    let server = HttpServer::shared();
    let path = server.new_path();
    let workspace = checkout(&http(&path));
    // The first answer is to reading it.
    server.fail(&path, &[Status(404), Status(404), Status(500)]);
    let failed = apply(&workspace).exits(1);
    let failed = failed.says("the server answers 500 Internal Server Error when asked to write it");
    failed.says("[WORKSPACE]/work/.nivis/stack/state.errored.json");
    let again = apply(&workspace).success();
    again.says("State was recovered").is_silent_about("1 added");
    assert!(!workspace.path(".nivis/stack/state.errored.json").exists());
    let other = checkout(&http(&path));
    other.run_stack("plan", &["--detailed-exitcode"]).success();
}

#[test]
fn a_state_does_not_stay_behind_unnoticed() {
    let server = HttpServer::shared();
    let (one, two) = (server.new_path(), server.new_path());
    let workspace = checkout("");
    apply(&workspace).success();
    write(&workspace, &http(&one));
    for verb in ["plan", "apply", "validate"] {
        let run = workspace.run_stack(
            verb,
            if verb == "apply" {
                &["--auto-approve"]
            } else {
                &[]
            },
        );
        if verb == "validate" {
            run.success();
        } else {
            run.exits(1).says("the state of this stack is [WORKSPACE]/work/.nivis/stack/state.json; `backend` says that it is http://");
        }
    }
    assert_eq!(server.asked(&one), Vec::<String>::new());

    let workspace = checkout(&http(&one));
    apply(&workspace).success();
    write(&workspace, &http(&two));
    apply(&workspace).exits(1).says("State is somewhere else");
    // The same place by other means is no other place.
    write(
        &workspace,
        &http(&one).replace("retry_max = 0", "retry_max = 1"),
    );
    apply(&workspace).success();
}

/// What a stack says, what is wrong with it, and the hint.
const WRONG: &str = r#"
type = "htp"; → there is no backend of the type `htp` → did you mean `http`?
type = "drive"; → there is no backend of the type `drive` → there are local, http
type = "http"; → `address` is missing → or set TF_HTTP_ADDRESS
type = "http"; adress = "x"; → a backend of the type `http` has no setting `adress` → did you mean `address`?
type = "http"; address = "state.example.org"; → `address`: is no URL of http or https →
type = "http"; address = "https://me:secret@a"; → `address`: has credentials in it → 
type = "http"; address = "http://a"; unlock_address = "http://b"; → `lock_address` is missing → or set TF_HTTP_LOCK_ADDRESS
type = "http"; address = "http://a"; retry_max = "x"; → `retry_max`: expected a whole number →
type = "http"; address = "http://a"; skip_cert_verification = 1; → `skip_cert_verification`: expected true or false →
type = "http"; address = "http://a"; headers.a = 1; → `headers`: expected an object of strings →
type = "http"; address = "http://a"; update_method = "a b"; → `update_method`: is no method of HTTP →
type = "http"; address = "http://a"; client_ca_certificate_pem = "x"; → `client_ca_certificate_pem`: has no certificate in PEM form →
type = "local"; path = 1; → `path`: expected a string →
"#;

#[test]
fn wrong_settings_are_named() {
    let workspace = Workspace::new();
    for line in WRONG.trim().lines() {
        let [backend, problem, hint] = line.split('→').map(str::trim).collect::<Vec<_>>()[..]
        else {
            panic!("{line}");
        };
        write(&workspace, &format!("backend = {{ {backend} }};"));
        let plan = workspace.run_stack("plan", &[]).exits(1);
        plan.says("Invalid backend")
            .says(problem)
            .says(hint)
            .is_silent_about("me:secret");
    }
    workspace
        .run_stack("validate", &[])
        .exits(1)
        .says("`path`: expected a string");
}

#[test]
fn a_local_state_goes_where_the_stack_says() {
    let workspace = checkout(r#"backend = { type = "local"; path = "kept"; };"#);
    apply(&workspace).success();
    assert!(workspace.path("kept/state.json").exists());
    assert!(!workspace.path(".nivis/stack/state.json").exists());
    write(&workspace, "");
    apply(&workspace).exits(1).says("State is somewhere else");
}
