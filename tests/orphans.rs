//! Processes end: plugins by themselves, without being killed, and what does not is named at the end of `scripts/test.sh`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};

use crate::support::{Workspace, fake_provider};

/// Processes in a list of the fake provider.
fn pids(workspace: &Workspace, file: &str) -> BTreeSet<u64> {
    let text = fs::read_to_string(workspace.path(file)).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines
        .map(|line: Json| line["pid"].as_u64().unwrap())
        .collect()
}

#[test]
fn plugins_end_by_themselves() {
    for protocol in ["5", "6"] {
        let mut workspace = Workspace::with_fake();
        workspace.set_env("FAKE_PROTOCOL", protocol);
        let source = Json::from(fake_provider().to_str().unwrap());
        workspace.stack(&format!(
            r#"let fake = n.provider {{ id = "fake"; source = {source}; }}; in {{
              resources = [ (n.resource {{ provider = fake; type = "fake_thing"; name = "a"; config.name = "a"; }}) ];
            }}"#
        ));
        let faults = |faults: Json| workspace.write("faults", &faults.to_string());
        workspace.run_stack("plan", &[]).success();
        faults(json!([{"on": "apply", "do": "error"}]));
        workspace.run_stack("apply", &["--auto-approve"]).exits(1);
        faults(json!([]));
        workspace.run_stack("apply", &["--auto-approve"]).success();
        workspace
            .run_stack("destroy", &["--auto-approve"])
            .success();
        let ended = pids(&workspace, "ends");
        assert!(ended.len() >= 4, "{ended:?}");
        assert_eq!(pids(&workspace, "calls"), ended, "protocol {protocol}");
    }
}

/// What `scripts/orphans.sh` says of this process's descendants at once; folders of tests are in `scratch`.
#[expect(
    clippy::disallowed_methods,
    reason = "the script is run as another script does"
)]
fn left(scratch: &Path) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/orphans.sh");
    let own = std::process::id().to_string();
    let mut command = Command::new(script);
    let output = command.args([&own, "0"]).env("TMPDIR", scratch).output();
    String::from_utf8(output.unwrap().stderr).unwrap()
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a test that leaves programs has to start them"
)]
fn a_program_that_is_left_is_named() {
    let workspace = Workspace::new();
    let mut own = Command::new(fake_provider());
    own.env("FAKE_HANDSHAKE", "none");
    let mut other = Command::new("sleep");
    other.arg("1000").current_dir(workspace.path(""));
    for mut command in [own, other] {
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        let named = |text: String| {
            text.lines()
                .any(|line| line.starts_with(&format!("{} ", child.id())))
        };
        let there = named(left(workspace.root()));
        let elsewhere = named(left(Path::new("/nowhere")));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(there, "{command:?} is not named");
        assert_eq!(
            elsewhere,
            command.get_current_dir().is_none(),
            "{command:?}, folders of tests being elsewhere"
        );
    }
}
