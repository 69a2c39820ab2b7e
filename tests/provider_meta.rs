//! What a stack tells a provider with every call: `meta` of `n.provider`, on both protocols.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value as Json, json};

use crate::support::{Workspace, fake_provider};

/// A stack with a thing and a data source of a provider with this `meta`.
fn workspace(protocol: &str, meta: &str, value: &str) -> Workspace {
    let mut workspace = Workspace::with_fake();
    workspace.set_env("FAKE_PROTOCOL", protocol);
    stack(&workspace, meta, value);
    workspace
}

fn stack(workspace: &Workspace, meta: &str, value: &str) {
    let source = Json::from(fake_provider().to_str().unwrap());
    workspace.stack(&format!(
        r#"let
          fake = n.provider {{ id = "fake"; source = {source}; {meta} }};
        in {{
          data = [ (n.data {{ provider = fake; type = "fake_thing"; name = "d"; config.name = "d"; }}) ];
          resources = [ (n.resource {{
            provider = fake; type = "fake_thing"; name = "a"; config = {{ name = "a"; value = "{value}"; }};
          }}) ];
        }}"#
    ));
}

/// The calls that came with metadata, and all the metadata that came.
fn told(workspace: &Workspace) -> (BTreeSet<String>, Vec<Json>) {
    let text = fs::read_to_string(workspace.path("calls")).unwrap();
    let calls = text
        .lines()
        .map(|l| serde_json::from_str::<Json>(l).unwrap());
    let with_meta: Vec<Json> = calls.filter(|call| call.get("meta").is_some()).collect();
    let names = with_meta.iter().map(|call| call["rpc"].as_str().unwrap());
    let mut values: Vec<Json> = with_meta.iter().map(|call| call["meta"].clone()).collect();
    let names = names.map(str::to_owned).collect();
    values.dedup();
    (names, values)
}

#[test]
fn it_comes_with_every_call_that_takes_it() {
    for protocol in ["5", "6"] {
        let workspace = workspace(protocol, r#"meta.module = "web";"#, "x");
        workspace.run_stack("validate", &[]).success();
        let auto = ["--auto-approve"];
        workspace.run_stack("apply", &auto).success();
        stack(&workspace, r#"meta.module = "web";"#, "y");
        workspace.run_stack("apply", &auto).success();
        workspace.run_stack("destroy", &auto).success();
        let takers = [
            "ApplyResourceChange",
            "PlanResourceChange",
            "ReadDataSource",
            "ReadResource",
        ];
        let (names, values) = told(&workspace);
        assert_eq!(names, takers.map(str::to_owned).into());
        assert_eq!(values, [json!({"module": "web"})]);
    }
}

#[test]
fn without_it_providers_that_take_it_get_a_null() {
    let workspace = workspace("6", "", "x");
    workspace.run_stack("plan", &[]).success();
    assert_eq!(told(&workspace).1, [Json::Null]);
}

#[test]
fn one_that_does_not_fit_the_schema_is_refused() {
    let workspace = workspace("6", r#"meta.modul = "web";"#, "x");
    for verb in ["validate", "plan"] {
        workspace
            .run_stack(verb, &[])
            .exits(1)
            .says("provider.fake")
            .says("modul");
    }
    workspace.stack(
        r#"{ resources = [ (n.resource {
             provider = n.provider { id = "b"; source = "builtin"; meta.module = "web"; };
             type = "builtin_data"; name = "a";
           }) ]; }"#,
    );
    for verb in ["validate", "plan"] {
        workspace
            .run_stack(verb, &[])
            .exits(1)
            .says("provider.b")
            .says("Provider takes no meta")
            .says("remove `meta`");
    }
}
