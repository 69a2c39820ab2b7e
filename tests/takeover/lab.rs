//! A stack of things of the fake provider, and what was asked of it.

use std::fs;

use serde_json::Value;

use crate::support::{Output, Workspace, fake_provider, overwrite};

/// A workspace with the fake provider's record, calls and faults.
pub(super) struct Lab(pub(super) Workspace);

impl Lab {
    pub(super) fn new() -> Self {
        Self(Workspace::with_fake())
    }

    /// The same, with a provider of each protocol in turn.
    pub(super) fn each_protocol() -> [Self; 2] {
        ["5", "6"].map(|protocol| {
            let mut lab = Self::new();
            lab.0.set_env("FAKE_PROTOCOL", protocol);
            lab
        })
    }

    /// A stack with `fake`, `things provider name config` and `thing name config` in scope; `body` is what it gives.
    pub(super) fn stack(&self, body: &str) {
        let source = Value::from(fake_provider().to_str().unwrap());
        self.0.stack(&format!(
            r#"let
              fake = n.provider {{ id = "fake"; source = {source}; }};
              things = provider: name: config: n.resource {{
                inherit provider name; type = "fake_thing"; config = {{ inherit name; }} // config;
              }};
              thing = things fake;
            in {body}"#
        ));
    }

    pub(super) fn plan(&self) -> Output {
        self.0.run_stack("plan", &["--detailed-exitcode"])
    }

    pub(super) fn apply(&self) -> Output {
        self.0.run_stack("apply", &["--auto-approve"])
    }

    /// A command on the state of the stack.
    pub(super) fn run(&self, words: &[&str]) -> Output {
        self.0.run([words, &["--file", "stack.nix"]].concat())
    }

    #[track_caller]
    pub(super) fn converged(&self) {
        self.plan().success().says("No changes.");
    }

    /// Ids in the state.
    pub(super) fn listed(&self) -> Vec<String> {
        let output = self.run(&["state", "list"]).success();
        output.stdout.lines().map(str::to_owned).collect()
    }

    /// What a resource is in the state file.
    pub(super) fn stored(&self, id: &str) -> Value {
        let text = fs::read(self.0.path(".nivis/stack/state.json")).unwrap();
        let state: Value = serde_json::from_slice(&text).unwrap();
        state["resources"][id].clone()
    }

    /// Changes the state file.
    pub(super) fn edit_state(&self, edit: impl FnOnce(&mut Value)) {
        let path = self.0.path(".nivis/stack/state.json");
        let mut state = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        edit(&mut state);
        overwrite(&path, state.to_string().as_bytes()).unwrap();
    }

    /// Makes a thing that nobody manages yet, with these attributes beside `id` and `name`, which are the same.
    pub(super) fn make(&self, id: &str, attributes: &Value) {
        let mut object = attributes.clone();
        object["id"] = id.into();
        object["name"] = id.into();
        // As the provider would have made it.
        object["echo"] = match object["value"].as_str() {
            Some(value) => value.to_uppercase().into(),
            None => Value::Null,
        };
        if object["password"].is_null() {
            object["password"] = format!("pw-{id}").into();
        }
        let line =
            serde_json::json!({"op": "create", "type": "fake_thing", "id": id, "object": object});
        let path = self.0.path("record");
        let mut text = fs::read_to_string(&path).unwrap_or_default();
        text.push_str(&format!("{line}\n"));
        overwrite(&path, text.as_bytes()).unwrap();
    }

    /// The only fault from now on; none without.
    pub(super) fn fault(&self, on: &str, what: &str) {
        let faults = match what {
            "" => "[]".to_owned(),
            _ => format!(r#"[{{"on":"{on}","do":"{what}"}}]"#),
        };
        self.0.write("faults", &faults);
    }

    /// What was done to the remote world during a run: `create a-1`, `update a-1`, `delete a-1`.
    pub(super) fn done<T>(&self, run: impl FnOnce() -> T) -> Vec<String> {
        let entry = |line: &Value| {
            let word = |key: &str| line[key].as_str().unwrap().to_owned();
            format!("{} {}", word("op"), word("id"))
        };
        self.during("record", run).iter().map(entry).collect()
    }

    /// The calls of a run, the log lines as they are.
    pub(super) fn calls<T>(&self, run: impl FnOnce() -> T) -> Vec<Value> {
        self.during("calls", run)
    }

    fn during<T>(&self, file: &str, run: impl FnOnce() -> T) -> Vec<Value> {
        let lines = || {
            let text = fs::read_to_string(self.0.path(file)).unwrap_or_default();
            let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
            lines.collect::<Vec<Value>>()
        };
        let before = lines().len();
        drop(run());
        lines().split_off(before)
    }
}

/// How often a call was made.
pub(super) fn count(calls: &[Value], rpc: &str) -> usize {
    calls.iter().filter(|call| call["rpc"] == rpc).count()
}
