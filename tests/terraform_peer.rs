//! Our providers under Terraform or OpenTofu: another host, written by others, reads our side of the protocol.

#![expect(
    clippy::disallowed_methods,
    reason = "the host under test is started and its files are touched behind its back"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value as Json;

/// Everything the builtin provider offers; `revision` updates, `trigger` replaces.
const BUILTIN: &str = r#"
terraform {
  required_providers {
    builtin = { source = "registry.terraform.io/nivis/builtin" }
  }
}

variable "revision" { default = "one" }
variable "trigger" { default = "a" }
variable "folder" {}

resource "builtin_random" "name" {
  kind    = "name"
  keepers = { trigger = var.trigger }
}

resource "builtin_random" "secret" { kind = "secret" }

resource "builtin_random" "port" {
  kind = "integer"
  min  = 20000
  max  = 29999
}

resource "builtin_random" "bytes" {
  kind   = "bytes"
  length = 4
}

resource "builtin_data" "all" {
  input = {
    revision = var.revision
    name     = builtin_random.name.result
    list     = [1, "two", null, 0.1, 123456789012345678901234567890]
  }
  triggers_replace = [var.trigger]
}

resource "builtin_file" "public" {
  filename = "${var.folder}/made/public.json"
  content  = jsonencode(builtin_data.all.output)
}

resource "builtin_file" "private" {
  filename          = "${var.folder}/private"
  sensitive_content = builtin_random.secret.secret
}

data "builtin_file" "public" {
  filename   = builtin_file.public.filename
  depends_on = [builtin_file.public]
}

data "builtin_data" "echo" { input = { port = builtin_random.port.number } }

output "read_back" { value = jsondecode(data.builtin_file.public.content) }
output "same" { value = data.builtin_file.public.sha256 == builtin_file.public.sha256 }
output "port" { value = data.builtin_data.echo.output.port }
output "name" { value = builtin_random.name.result }
output "bytes" { value = builtin_random.bytes.result }
"#;

/// Most of what the fake provider offers in both protocols.
const FAKE: &str = r#"
terraform {
  required_providers {
    fake = { source = "registry.terraform.io/nivis/fake" }
  }
}

variable "revision" { default = "one" }
variable "trigger" { default = "a" }

provider "fake" { region = "north" }

resource "fake_thing" "first" {
  name      = "first"
  value     = var.revision
  force_new = var.trigger
  size      = 0.1
  tags      = { k = "v" }
  extra     = { list = [1, "two", null] }
  rule { port = 80 }
  rule {
    port      = 53
    transport = "udp"
  }
  member { user = "u" }
  member {
    user = "v"
    role = "r"
  }
}

resource "fake_thing" "second" {
  name     = "second"
  value    = fake_thing.first.id
  password = fake_thing.first.echo
}

data "fake_thing" "first" { name = fake_thing.first.name }

output "echo" { value = fake_thing.second.echo }
output "region" { value = fake_thing.second.region }
output "id" { value = data.fake_thing.first.id }
"#;

/// A provider of ours.
struct Provider {
    name: &'static str,
    program: &'static str,
    configuration: &'static str,
}

/// A host, a folder to run it in, where it finds the provider, and what to set in its environment.
struct Host {
    program: PathBuf,
    folder: tempfile::TempDir,
    variables: Vec<(&'static str, &'static str)>,
}

impl Host {
    fn new(program: PathBuf, provider: &Provider) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let Provider { name, .. } = provider;
        let source = format!("mirror/registry.terraform.io/nivis/{name}/0.1.0");
        let package = at(&source).join(platform());
        std::fs::create_dir_all(&package).unwrap();
        std::fs::create_dir_all(at("work")).unwrap();
        let installed = package.join(format!("terraform-provider-{name}_v0.1.0"));
        std::fs::copy(provider.program, installed).unwrap();
        let mirror = at("mirror").display().to_string();
        let settings = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n"
        );
        std::fs::write(at("cli.tfrc"), settings).unwrap();
        std::fs::write(at("work/main.tf"), provider.configuration).unwrap();
        let variables = Vec::new();
        Self {
            program,
            folder,
            variables,
        }
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Runs a command, which must end with `code` and without a word of complaint.
    fn run(&self, code: i32, args: &[&str]) -> String {
        let output = self.command(args);
        let shown = format!(
            "{args:?}\n{}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(output.status.code(), Some(code), "{shown}");
        for complaint in [
            "Error:",
            "Warning:",
            "provider produced",
            "Provider produced",
        ] {
            assert!(!shown.contains(complaint), "{shown}");
        }
        String::from_utf8(output.stdout).unwrap()
    }

    fn command(&self, args: &[&str]) -> Output {
        Command::new(&self.program)
            .args(args)
            .current_dir(self.work())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.folder.path())
            .env("TF_CLI_CONFIG_FILE", self.folder.path().join("cli.tfrc"))
            .env("TF_VAR_folder", self.work())
            .env("CHECKPOINT_DISABLE", "1")
            .envs(self.variables.iter().copied())
            .output()
            .unwrap()
    }

    fn init(&self) {
        // Not `run`: an initialisation from a mirror warns that the mirror knows one platform only.
        let init = self.command(&["init", "-no-color"]);
        assert!(init.status.success(), "{init:?}");
    }

    /// Applies, after which there must be nothing left to do.
    fn apply(&self, vars: &[&str]) {
        self.run(
            0,
            &[&["apply", "-auto-approve", "-no-color"], vars].concat(),
        );
        self.settled(vars);
    }

    /// The same for the plan that [`Host::planned`] made.
    fn apply_planned(&self, vars: &[&str]) {
        self.run(0, &["apply", "-no-color", "plan"]);
        self.settled(vars);
    }

    fn settled(&self, vars: &[&str]) {
        self.run(
            0,
            &[&["plan", "-detailed-exitcode", "-no-color"], vars].concat(),
        );
    }

    fn outputs(&self) -> Json {
        serde_json::from_str(&self.run(0, &["output", "-json"])).unwrap()
    }

    /// What a plan would do to each resource, by address, where it does something.
    fn planned(&self, vars: &[&str]) -> Vec<(String, String)> {
        self.run(
            2,
            &[&["plan", "-detailed-exitcode", "-out=plan"], vars].concat(),
        );
        let plan: Json = serde_json::from_str(&self.run(0, &["show", "-json", "plan"])).unwrap();
        let changes = plan["resource_changes"].as_array().unwrap().iter();
        let managed = changes.filter(|c| c["mode"] == "managed");
        managed
            .map(|c| (c["address"].as_str().unwrap().to_owned(), actions(c)))
            .filter(|(_, actions)| actions != "no-op")
            .collect()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.work().join(name)).unwrap()
    }
}

fn actions(change: &Json) -> String {
    let actions = change["change"]["actions"].as_array().unwrap();
    let names: Vec<_> = actions.iter().filter_map(Json::as_str).collect();
    names.join("+")
}

/// As registries name this machine.
fn platform() -> String {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    format!("{system}_{architecture}")
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = pairs
        .iter()
        .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
    owned.collect()
}

/// Create, update, drift, replace, import, destroy.
fn builtin_life(host: &Host) {
    host.init();
    host.run(0, &["validate", "-no-color"]);
    host.apply(&[]);
    let outputs = host.outputs();
    let value = |name: &str| &outputs[name]["value"];
    let name = value("name").as_str().unwrap();
    assert_eq!(value("same"), true);
    assert_eq!(value("read_back")["name"], *value("name"));
    assert_eq!(value("read_back")["revision"], "one");
    assert!((20_000..30_000).contains(&value("port").as_i64().unwrap()));
    assert_eq!(value("bytes").as_str().unwrap().len(), 8);
    assert!(
        host.read("made/public.json")
            .contains("123456789012345678901234567890")
    );
    assert_eq!(host.read("private").len(), 32);

    let update = ["-var=revision=two"];
    let expected = owned(&[
        ("builtin_data.all", "update"),
        ("builtin_file.public", "update"),
    ]);
    assert_eq!(host.planned(&update), expected);
    host.apply_planned(&update);
    assert_eq!(host.outputs()["read_back"]["value"]["revision"], "two");
    assert_eq!(host.outputs()["name"]["value"], name);

    std::fs::write(host.work().join("private"), "overwritten by someone").unwrap();
    std::fs::remove_file(host.work().join("made/public.json")).unwrap();
    let expected = owned(&[
        ("builtin_file.private", "update"),
        ("builtin_file.public", "create"),
    ]);
    assert_eq!(host.planned(&update), expected);
    host.apply_planned(&update);
    assert_eq!(host.read("private").len(), 32);

    let replace = ["-var=revision=two", "-var=trigger=b"];
    let expected = owned(&[
        ("builtin_data.all", "delete+create"),
        ("builtin_file.public", "update"),
        ("builtin_random.name", "delete+create"),
    ]);
    assert_eq!(host.planned(&replace), expected);
    host.apply_planned(&replace);

    host.run(0, &["state", "rm", "builtin_random.bytes"]);
    host.run(
        0,
        &[
            "import",
            "-no-color",
            "builtin_random.bytes",
            "bytes:00ff00ff",
        ],
    );
    host.apply(&replace);
    assert_eq!(host.outputs()["bytes"]["value"], "00ff00ff");

    host.run(0, &["destroy", "-auto-approve", "-no-color"]);
    assert!(!host.work().join("private").exists());
    assert!(!host.work().join("made/public.json").exists());
}

fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|program| Path::is_file(program))
}

/// Create, update, replace, destroy.
fn fake_life(host: &Host) {
    host.init();
    host.apply(&[]);
    let outputs = host.outputs();
    for (name, expected) in [
        ("echo", "FIRST-1"),
        ("region", "north"),
        ("id", "data-first"),
    ] {
        assert_eq!(outputs[name]["value"], expected);
    }
    let update = ["-var=revision=two"];
    let expected = owned(&[
        ("fake_thing.first", "update"),
        ("fake_thing.second", "update"),
    ]);
    assert_eq!(host.planned(&update), expected);
    let replace = ["-var=revision=two", "-var=trigger=b"];
    let expected = owned(&[
        ("fake_thing.first", "delete+create"),
        ("fake_thing.second", "update"),
    ]);
    assert_eq!(host.planned(&replace), expected);
    host.apply_planned(&replace);
    assert_eq!(host.outputs()["echo"]["value"], "FIRST-2");
    host.run(0, &["destroy", "-auto-approve", "-no-color"]);
    let record = host.read("record");
    assert_eq!(record.matches(r#""op":"create""#).count(), 3);
    assert_eq!(record.matches(r#""op":"delete""#).count(), 3);
}

/// The hosts on this machine.
pub(crate) fn hosts() -> Vec<PathBuf> {
    let hosts: Vec<_> = ["terraform", "tofu"].into_iter().filter_map(find).collect();
    if hosts.is_empty() {
        println!("skipped: neither terraform nor tofu is on PATH");
    }
    hosts
}

#[test]
fn other_hosts_accept_the_builtin_provider() {
    let provider = Provider {
        name: "builtin",
        program: env!("CARGO_BIN_EXE_nivis"),
        configuration: BUILTIN,
    };
    for program in hosts() {
        builtin_life(&Host::new(program, &provider));
    }
}

fn fake_in(protocol: &'static str) {
    let provider = Provider {
        name: "fake",
        program: env!("CARGO_BIN_EXE_fake-provider"),
        configuration: FAKE,
    };
    for program in hosts() {
        let mut host = Host::new(program, &provider);
        host.variables = vec![("FAKE_PROTOCOL", protocol), ("FAKE_RECORD", "record")];
        fake_life(&host);
    }
}

#[test]
fn other_hosts_accept_the_fake_provider_in_protocol_5() {
    fake_in("5");
}

#[test]
fn other_hosts_accept_the_fake_provider_in_protocol_6() {
    fake_in("6");
}
