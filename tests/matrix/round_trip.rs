//! A stack moves from Terraform to nivis and back, with nothing to do after each move.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value as Json;

use super::case::{Case, Plugin, folder};
use super::nivis::{self, Nivis};
use super::terraform::Terraform;
use super::{Host as _, find};
use crate::support::{Output, overwrite, skip};

fn state(stack: &Nivis<'_>, args: &[&str]) -> Output {
    let words = [&["state"], args, &["--file", "stack.nix"]].concat();
    stack.workspace.run(words).success()
}

fn pulled(stack: &Nivis<'_>) -> Json {
    state(stack, &["pull"]).json()
}

/// There and back with each provider that stores something and needs no server.
fn there_and_back(name: &str) {
    let Some(program) = find("terraform") else {
        skip("there is no terraform");
        return;
    };
    let (plugin, case) = (Plugin::named(name), Case::of(name));
    plugin.program();
    let workspace = nivis::workspace(&case);
    let stack = || Nivis {
        workspace: &workspace,
        provider: name,
        server: String::new(),
    };
    let ours = stack();
    let theirs = Terraform::new(program, stack(), &case);
    let tfstate = theirs.folder().join("terraform.tfstate");

    theirs.apply(0, &case);
    state(&ours, &["import-tfstate", "terraform/terraform.tfstate"]);
    ours.settled();
    let before = pulled(&ours);

    // What is exported is what was imported.
    let ids: Vec<String> = ours.ir()["providers"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    let providers = ids
        .iter()
        .map(|id| format!("--provider={id}=registry.terraform.io/nivis/{id}"));
    let providers: Vec<String> = providers.collect();
    let mut export = vec!["export-tfstate", "--out", "terraform/terraform.tfstate"];
    export.extend(providers.iter().map(String::as_str));
    state(&ours, &export);
    theirs.settled();
    fs::remove_dir_all(workspace.path(".nivis")).unwrap();
    state(&ours, &["import-tfstate", "terraform/terraform.tfstate"]);
    assert_eq!(pulled(&ours), before, "{name}");

    // nivis goes on, and Terraform takes over what came of it.
    for step in 1..case.steps.len() {
        ours.apply(step, &case);
    }
    ours.settled();
    overwrite(&tfstate, b"").unwrap();
    state(&ours, &export);
    theirs.write(case.steps.len() - 1, &BTreeMap::new());
    theirs.settled();
    theirs.destroy();
}

macro_rules! providers {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                there_and_back(stringify!($name));
            }
        )*
    };
}

providers! {
    framework
    local
    null
    random
    simple6
    time
    tls
}

/// States that Terraform has written, for where there is no Terraform.
#[test]
fn recorded() {
    for name in ["null", "random", "time"] {
        let case = Case::of(name);
        let workspace = nivis::workspace(&case);
        let stack = Nivis {
            workspace: &workspace,
            provider: name,
            server: String::new(),
        };
        stack.write(0, &BTreeMap::new());
        let recorded = folder().join(format!("../fixtures/tfstate/{name}.tfstate"));
        let text = fs::read_to_string(&recorded).unwrap();
        workspace.write("terraform.tfstate", &text);
        state(&stack, &["import-tfstate", "terraform.tfstate"]);
        stack.settled();
    }
}
