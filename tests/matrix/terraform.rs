//! The same stack in Terraform: its configuration is made from nivis's document, its state is what ours is compared with.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Map, Value as Json, json};

use super::case::{Case, folder};
use super::nivis::{Nivis, text};
use super::{Host, Objects};
use crate::support::overwrite;

/// Terraform in a workspace of nivis, whose stack it carries out.
pub(super) struct Terraform<'a> {
    program: PathBuf,
    nivis: Nivis<'a>,
    environment: Vec<(OsString, OsString)>,
}

impl<'a> Terraform<'a> {
    /// Takes over a stack.
    pub(super) fn new(program: PathBuf, nivis: Nivis<'a>, case: &Case) -> Self {
        let root = nivis.workspace.root();
        let set = |name: &str, value: &Path| (name.into(), value.into());
        let mut environment = vec![
            set("PATH", Path::new("/usr/bin:/bin")),
            set("HOME", &root.join("home")),
            set("TMPDIR", &root.join("tmp")),
            set("TF_CLI_CONFIG_FILE", &root.join("work/terraform/cli.tfrc")),
            set("CHECKPOINT_DISABLE", Path::new("1")),
        ];
        environment.extend(case.environment.iter().map(|(k, v)| (k.into(), v.into())));
        Self {
            program,
            nivis,
            environment,
        }
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.nivis.workspace.path("terraform")
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the host to compare with is started as a user does"
    )]
    fn output(&self, args: &[&str]) -> Output {
        Command::new(&self.program)
            .args(args)
            .arg("-no-color")
            .current_dir(self.folder())
            .env_clear()
            .envs(self.environment.iter().cloned())
            .output()
            .unwrap()
    }

    fn try_run(&self, args: &[&str]) -> Result<String, String> {
        let output = self.output(args);
        let shown = format!(
            "terraform {args:?}\n{}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        if output.status.success() {
            Ok(shown)
        } else {
            Err(shown)
        }
    }

    fn run(&self, args: &[&str]) -> String {
        self.try_run(args).unwrap_or_else(|shown| panic!("{shown}"))
    }

    /// The schemas of the providers in the workspace's stack as it is.
    pub(super) fn schemas(&self) -> Json {
        self.render(&self.nivis.ir());
        let output = self.output(&["providers", "schema", "-json"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}\n{errors}"))
    }

    /// Applies what is written, which must do this.
    fn applies(&self, summary: &str) {
        let shown = self.run(&["apply", "-auto-approve"]);
        assert!(shown.contains(summary), "{summary:?} is missing\n{shown}");
    }

    /// Writes the configuration for the stack as it is at a step, with objects to import.
    pub(super) fn write(&self, step: usize, imported: &BTreeMap<String, String>) {
        self.nivis.write(step, imported);
        self.render(&self.nivis.ir());
    }

    /// Writes the configuration for a document.
    fn render(&self, ir: &Json) {
        let bin = folder().join("bin");
        let providers = ir["providers"].as_object().unwrap();
        let overrides = providers
            .keys()
            .map(|id| format!("\"nivis/{id}\" = {bin:?}\n"));
        let settings = format!(
            "provider_installation {{\n dev_overrides {{\n{} }}\n direct {{}}\n}}\n",
            overrides.collect::<String>()
        );
        fs::create_dir_all(self.folder()).unwrap();
        let write = |name: &str, text: &str| {
            overwrite(&self.folder().join(name), text.as_bytes()).unwrap();
        };
        write("cli.tfrc", &settings);
        write("main.tf.json", &configuration(ir).to_string());
    }
}

impl Host for Terraform<'_> {
    fn apply(&self, step: usize, case: &Case) {
        self.write(step, &BTreeMap::new());
        self.applies(&case.steps[step].summary());
    }

    fn forget(&self, names: &[&str]) {
        self.run(&[&["state", "rm"], names].concat());
    }

    fn import(&self, name: &str, id: &str) -> Result<(), String> {
        // Messages are broken into lines, with a bar before each.
        let flat = |shown: String| {
            shown
                .replace('│', " ")
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        self.try_run(&["import", name, id]).map_err(flat)?;
        // It says nothing of a provider that finds nothing.
        if self.objects().contains_key(name) {
            Ok(())
        } else {
            Err("Import returned no resources".to_owned())
        }
    }

    fn adjust(&self, step: usize, case: &Case, imported: &BTreeMap<String, String>) {
        self.write(step, imported);
        let summary = case.import.summary();
        self.applies(&match imported.len() {
            0 => summary,
            count => format!("{count} imported, {summary}"),
        });
    }

    fn settled(&self) {
        self.run(&["plan", "-detailed-exitcode"]);
    }

    fn objects(&self) -> Objects {
        let path = self.folder().join("terraform.tfstate");
        let state: Json = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let resources = state["resources"].as_array().unwrap().iter();
        let managed = resources.filter(|resource| resource["mode"] == "managed");
        // A resource without an instance is what is left of an import that found nothing.
        let objects = managed.filter_map(|resource| {
            let current = resource["instances"].get(0)?;
            let (version, attributes) = (&current["schema_version"], &current["attributes"]);
            let name = format!("{}.{}", text(&resource["type"]), text(&resource["name"]));
            Some((name, (version.clone(), attributes.clone())))
        });
        let outputs = state["outputs"].as_object().unwrap().iter();
        let outputs = outputs.map(|(name, output)| {
            (
                format!("output.{name}"),
                (Json::Null, output["value"].clone()),
            )
        });
        objects.chain(outputs).collect()
    }

    fn destroy(&self) {
        self.run(&["destroy", "-auto-approve"]);
    }
}

/// Terraform's JSON configuration of a document.
fn configuration(ir: &Json) -> Json {
    let mut providers = Map::new();
    let mut required = Map::new();
    for (id, provider) in ir["providers"].as_object().unwrap() {
        providers.insert(id.clone(), expression(&provider["config"]));
        required.insert(id.clone(), json!({"source": format!("nivis/{id}")}));
    }
    let outputs = ir["nixConsumers"].as_array().into_iter().flatten();
    let outputs: Map<_, _> = outputs
        .map(|consumer| {
            let name = text(&consumer["id"]).strip_prefix("output.").unwrap();
            let value = expression(&consumer["value"]);
            let sensitive = consumer["sensitive"] == true;
            (
                name.to_owned(),
                json!({"value": value, "sensitive": sensitive}),
            )
        })
        .collect();
    let mut all = json!({"terraform": {"required_providers": required}, "provider": providers});
    for (kind, list) in [("resource", "resources"), ("data", "dataSources")] {
        for node in ir[list].as_array().into_iter().flatten() {
            let mut body = expression(&node["config"]);
            body["provider"] = node["provider"].clone();
            let after = node["meta"]["dependsOn"].as_array().into_iter().flatten();
            let after: Vec<_> = after.map(|id| address(text(id))).collect();
            if !after.is_empty() {
                body["depends_on"] = json!(after);
            }
            all[kind][text(&node["type"])][text(&node["name"])] = body;
        }
    }
    let imports = ir["imports"].as_array().into_iter().flatten();
    let imports = imports
        .map(|import| json!({"to": address(text(&import["to"])), "id": expression(&import["id"])}));
    all["import"] = imports.collect();
    if !outputs.is_empty() {
        all["output"] = Json::Object(outputs);
    }
    all
}

/// `<type>.<name>` of `<provider>.<type>.<name>`, with `data.` in front where it was.
fn address(id: &str) -> String {
    match id.strip_prefix("data.") {
        Some(id) => format!("data.{}", id.split_once('.').unwrap().1),
        None => id.split_once('.').unwrap().1.to_owned(),
    }
}

/// What a reference is inside `${…}`: its path starts with the name of an attribute.
fn reference(reference: &Json) -> String {
    let (first, rest) = reference["path"].as_array().unwrap().split_first().unwrap();
    let step = |step: &Json| match step {
        Json::String(name) if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
            format!(".{name}")
        }
        step => format!("[{step}]"),
    };
    let rest: String = rest.iter().map(step).collect();
    format!(
        "{}.{}{rest}",
        address(text(&reference["resource"])),
        text(first)
    )
}

/// A configuration value in Terraform's JSON syntax.
fn expression(value: &Json) -> Json {
    match value {
        Json::String(literal) => json!(literal.replace("${", "$${").replace("%{", "%%{")),
        Json::Array(items) => items.iter().map(expression).collect(),
        Json::Object(members) => {
            if let Some(target) = members.get("__ref").or(members.get("__sensitiveRef")) {
                return json!(format!("${{{}}}", reference(target)));
            }
            if let Some(derived) = members.get("__derived") {
                let parts = derived["template"].as_array();
                let parts = parts.expect("a stack that Terraform carries out too computes nothing");
                let parts: Vec<_> = parts.iter().map(expression).collect();
                return json!(parts.iter().map(text).collect::<String>());
            }
            let markers: BTreeSet<_> = members.keys().filter(|k| k.starts_with("__")).collect();
            assert!(markers.is_empty(), "{markers:?}");
            let members = members.iter().map(|(k, v)| (k.clone(), expression(v)));
            Json::Object(members.collect())
        }
        other => other.clone(),
    }
}
