//! What `nivis providers schema --json` shows of the providers, beside `terraform providers schema -json`.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json};

use super::case::{Case, folder, plugins};
use super::find;
use super::nivis::Nivis;
use super::terraform::Terraform;
use crate::support::Workspace;

/// The schemas that a document has, by the name of the provider at the end of its address.
fn by_name(document: &Json) -> Map<String, Json> {
    assert_eq!(document["format_version"], "1.0");
    let schemas = document["provider_schemas"].as_object().unwrap().iter();
    let named = schemas.map(|(address, schema)| {
        let name = address.rsplit('/').next().unwrap();
        let name = name.trim_start_matches("terraform-provider-");
        (name.to_owned(), schema.clone())
    });
    named.collect()
}

/// Where two documents differ, a line each.
fn differences(at: &str, ours: &Json, theirs: &Json, found: &mut String) {
    match (ours, theirs) {
        (Json::Object(ours), Json::Object(theirs)) => {
            let missing = theirs.keys().filter(|key| !ours.contains_key(*key));
            for key in ours.keys().chain(missing) {
                let (ours, theirs) = (ours.get(key), theirs.get(key));
                let or_null = |side: Option<&Json>| side.cloned().unwrap_or_default();
                differences(
                    &format!("{at}.{key}"),
                    &or_null(ours),
                    &or_null(theirs),
                    found,
                );
            }
        }
        _ if ours == theirs => {}
        _ => writeln!(found, "{at}: {ours} here, {theirs} in Terraform").unwrap(),
    }
}

#[test]
fn schemas_are_shown_as_terraform_shows_them() {
    let workspace = Workspace::new();
    let names: Vec<_> = plugins().into_iter().map(|plugin| plugin.name).collect();
    let providers = names.iter().map(|name| {
        let program = folder().join(format!("bin/terraform-provider-{name}"));
        format!("(n.provider {{ id = \"{name}\"; source = {program:?}; }})")
    });
    let providers = providers.collect::<Vec<_>>().join(" ");
    workspace.stack(&format!(
        "{{ providers = [ {providers} ]; resources = [ ]; }}"
    ));
    let ours = workspace.run(["providers", "schema", "--json", "--file", "stack.nix"]);
    let ours = by_name(&ours.success().json());
    assert_eq!(
        ours.keys().collect::<Vec<_>>(),
        names.iter().collect::<Vec<_>>()
    );

    let Some(program) = find("terraform") else {
        return;
    };
    let nivis = Nivis {
        workspace: &workspace,
        provider: "",
        server: String::new(),
    };
    let theirs = Terraform::new(program, nivis, &Case::default()).schemas();
    let theirs = by_name(&theirs);
    let mut found = String::new();
    for (name, schema) in &ours {
        let mut schema = schema.clone();
        // Older ones do not show identities.
        if theirs[name].get("resource_identity_schemas").is_none() {
            schema
                .as_object_mut()
                .unwrap()
                .remove("resource_identity_schemas");
        }
        differences(name, &schema, &theirs[name], &mut found);
    }
    assert!(found.is_empty(), "{found}");
}
