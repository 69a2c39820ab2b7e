//! A provider's stack in nivis.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value as Json;

use super::case::{Case, Plugin, folder};
use super::{Host, Objects};
use crate::support::Workspace;

/// What a host shows a plugin so that it knows it is not started by a person.
const COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

/// A workspace with the stack of a provider.
pub(super) struct Nivis<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) provider: &'a str,
    /// Address of the provider's server; empty without.
    pub(super) server: String,
}

impl Nivis<'_> {
    /// Writes the stack as it is at a step, counted from 0.
    ///
    /// The provider's `stack.nix` is a function of `n`, `plugin` (which makes the provider with this name and configuration),
    /// `steps` (which takes a list and gives its item for the step, or else its last), `folder` and `server`.
    ///
    /// What is `imported`, by `<type>.<name>`, is taken over by the provider's id.
    pub(super) fn write(&self, step: usize, imported: &BTreeMap<String, String>) {
        let text = |text: String| Json::from(text).to_string().replace("${", "\\${");
        let bin = text(folder().join("bin").display().to_string());
        let stack = text(
            folder()
                .join(self.provider)
                .join("stack.nix")
                .display()
                .to_string(),
        );
        let made = text(self.workspace.path("made").display().to_string());
        let server = text(self.server.clone());
        let imports: String = imported
            .iter()
            .map(|(name, id)| {
                format!(
                    "{{ to = {}; id = {}; }} ",
                    text(self.id(name)),
                    text(id.clone())
                )
            })
            .collect();
        self.workspace.stack(&format!(
            r#"{{ imports = [ {imports}]; }} // import {stack} {{
              inherit n;
              plugin = id: config: n.provider {{ inherit id config; source = {bin} + "/terraform-provider-${{id}}"; }};
              steps = list: builtins.elemAt list (if {step} < builtins.length list then {step} else builtins.length list - 1);
              folder = {made};
              server = {server};
            }}"#
        ));
    }

    /// Id of what is called `<type>.<name>`.
    pub(super) fn id(&self, name: &str) -> String {
        format!("{}.{name}", self.provider)
    }

    /// The document that Nix makes of the stack.
    pub(super) fn ir(&self) -> Json {
        // Not `run_stack`, which gives the workspace another name.
        let mut command = self.workspace.command(["ir", "--file", "stack.nix"]);
        serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
    }

    fn state(&self) -> Json {
        let stacks = fs::read_dir(self.workspace.path(".nivis")).unwrap();
        let states: Vec<_> = stacks
            .map(|entry| entry.unwrap().path().join("state.json"))
            .filter(|path| path.exists())
            .collect();
        assert_eq!(states.len(), 1, "{states:?}");
        serde_json::from_str(&fs::read_to_string(&states[0]).unwrap()).unwrap()
    }
}

impl Host for Nivis<'_> {
    fn apply(&self, step: usize, case: &Case) {
        self.write(step, &BTreeMap::new());
        self.workspace
            .run_stack("apply", &["--auto-approve"])
            .success()
            .says(&case.steps[step].summary());
    }

    fn forget(&self, names: &[&str]) {
        let ids: Vec<_> = names.iter().map(|name| self.id(name)).collect();
        let args = ["state", "rm", "--file", "stack.nix"].map(str::to_owned);
        self.workspace.run([&args, &ids[..]].concat()).success();
    }

    fn import(&self, name: &str, id: &str) -> Result<(), String> {
        let output = self.workspace.run_stack("import", &[&self.id(name), id]);
        match output.code {
            0 => Ok(()),
            _ => Err(output.stderr),
        }
    }

    fn adjust(&self, step: usize, case: &Case, imported: &BTreeMap<String, String>) {
        self.write(step, imported);
        let summary = case.import.summary();
        let summary = match imported.len() {
            0 => summary,
            count => format!("{count} imported, {summary}"),
        };
        self.workspace
            .run_stack("apply", &["--auto-approve"])
            .success()
            .says(&summary);
    }

    fn settled(&self) {
        self.workspace
            .run_stack("plan", &["--detailed-exitcode"])
            .success()
            .says("No changes.");
    }

    fn objects(&self) -> Objects {
        let state = self.state();
        let resources = state["resources"].as_object().unwrap().values();
        let resources = resources.map(|resource| {
            let name = format!("{}.{}", text(&resource["type"]), text(&resource["name"]));
            let current = &resource["current"];
            (
                name,
                (
                    current["schema_version"].clone(),
                    current["attributes"].clone(),
                ),
            )
        });
        let outputs = state["outputs"].as_object().unwrap().iter();
        let outputs = outputs.map(|(name, output)| {
            (
                format!("output.{name}"),
                (Json::Null, output["value"].clone()),
            )
        });
        resources.chain(outputs).collect()
    }

    fn destroy(&self) {
        self.workspace
            .run_stack("destroy", &["--auto-approve"])
            .success();
    }
}

/// A string in JSON.
pub(super) fn text(json: &Json) -> &str {
    json.as_str().unwrap()
}

/// A new workspace for a case.
pub(super) fn workspace(case: &Case) -> Workspace {
    let mut workspace = Workspace::new();
    for (name, value) in &case.environment {
        workspace.set_env(String::leak(name.clone()), value);
    }
    workspace
}

/// What the plugin says when it is started: the version of the protocol it speaks.
#[expect(
    clippy::disallowed_methods,
    reason = "the plugin is asked without the host under test"
)]
pub(super) fn handshake(
    plugin: &Plugin,
    environment: &BTreeMap<String, String>,
    folder: &Path,
) -> u8 {
    let mut child = Command::new(plugin.program())
        .env("PLUGIN_PROTOCOL_VERSIONS", "5,6")
        .env("PLUGIN_MIN_PORT", "10000")
        .env("PLUGIN_MAX_PORT", "65000")
        .env("TF_PLUGIN_MAGIC_COOKIE", COOKIE)
        .env("TMPDIR", folder)
        .envs(environment)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let stdout = child.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let version = line.split('|').nth(1).and_then(|v| v.parse().ok());
    version.unwrap_or_else(|| panic!("{}: {line:?} is no handshake", plugin.name))
}
