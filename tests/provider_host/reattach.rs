//! Providers that run already (`TF_REATTACH_PROVIDERS`).

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value as Json, json};

use crate::support::{Workspace, fake_provider};

/// A provider that was started by hand, and what to tell others about it.
struct Running {
    child: Child,
    handshake: Vec<String>,
}

impl Running {
    fn start(workspace: &Workspace, protocol: &str) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "a test's own child, not the program's"
        )]
        let mut child = Command::new(fake_provider())
            .env(
                "TF_PLUGIN_MAGIC_COOKIE",
                "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
            )
            .env("PLUGIN_PROTOCOL_VERSIONS", protocol)
            .env("FAKE_CALLS", workspace.path("calls"))
            .env("FAKE_RECORD", workspace.path("record"))
            .env_remove("PLUGIN_CLIENT_CERT")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let handshake = line.trim().split('|').map(str::to_owned).collect();
        Self { child, handshake }
    }

    fn told(&self, key: &str, stays: bool) -> String {
        let [_, protocol, network, address, ..] = &self.handshake[..] else {
            panic!("no handshake: {:?}", self.handshake);
        };
        let address = json!({"Network": network, "String": address});
        let version: u64 = protocol.parse().unwrap();
        json!({key: {
            "Protocol": "grpc", "ProtocolVersion": version, "Pid": self.child.id(),
            "Test": stays, "Addr": address,
        }})
        .to_string()
    }

    fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const STACK: &str = r#"let
  fake = n.provider { id = "fake"; source = "example/fake"; version = ">= 1.0"; };
in {
  resources = [ (n.resource { provider = fake; type = "fake_thing"; name = "a"; config.name = "a"; }) ];
}"#;

#[test]
fn a_running_provider_is_used_and_left_running() {
    for (protocol, key) in [
        ("5", "registry.terraform.io/example/fake"),
        ("6", "example/fake"),
    ] {
        let mut workspace = Workspace::new();
        let mut provider = Running::start(&workspace, protocol);
        workspace.set_env("TF_REATTACH_PROVIDERS", provider.told(key, true));
        workspace.stack(STACK);
        let applied = workspace.run_stack("apply", &["--auto-approve"]).success();
        applied.says("1 added");
        let calls = std::fs::read_to_string(workspace.path("calls")).unwrap();
        let pids = calls.lines().map(|line| {
            let call: Json = serde_json::from_str(line).unwrap();
            call["pid"].as_u64().unwrap()
        });
        let pids: std::collections::BTreeSet<u64> = pids.collect();
        assert_eq!(pids, [u64::from(provider.child.id())].into());
        assert!(provider.runs(), "it was not ours to end");
    }
}

#[test]
fn a_provider_that_is_not_there_or_not_understood_is_an_error() {
    let mut workspace = Workspace::new();
    let provider = Running::start(&workspace, "6");
    let told = provider.told("example/fake", true);
    drop(provider);
    workspace.stack(STACK);
    workspace.set_env("TF_REATTACH_PROVIDERS", told);
    let failed = workspace.run_stack("plan", &[]).exits(1);
    failed.says("no connection to provider program");
    workspace.set_env("TF_REATTACH_PROVIDERS", "{}}");
    let failed = workspace.run_stack("plan", &[]).exits(1);
    failed.says("Invalid TF_REATTACH_PROVIDERS");
}
