//! Results of conditions: "checks representation".

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::resource::{Mode, ResourceName};
use crate::plan::conditions::{CheckResult, CheckStatus};

/// Something that has conditions, and how they came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked<'a> {
    /// What it is.
    pub subject: Subject<'a>,
    /// How they came out.
    pub result: CheckResult,
}

/// What conditions are about.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject<'a> {
    /// An instance of a resource or data source.
    Resource(ResourceName),
    /// The stack: a check of this name.
    Check(&'a str),
}

/// The document: one entry for each resource with all its instances, and one for each check.
pub fn checks<'a>(all: impl IntoIterator<Item = Checked<'a>>) -> Vec<Json> {
    let mut groups: BTreeMap<(bool, String), Group> = BTreeMap::new();
    for Checked { subject, result } in all {
        let (key, address, instance) = match subject {
            Subject::Resource(name) => of_resource(&name),
            Subject::Check(name) => {
                let address =
                    json!({ "kind": "check", "to_display": format!("check.{name}"), "name": name });
                let instance = json!({ "to_display": format!("check.{name}") });
                ((true, name.to_owned()), address, instance)
            }
        };
        let group = groups.entry(key).or_insert_with(|| Group {
            address,
            status: CheckStatus::Pass,
            instances: Vec::new(),
        });
        group.status = group.status.max(result.status);
        group.instances.push(of_instance(&instance, &result));
    }
    let entry = |group: Group| json!({ "address": group.address, "status": group.status.as_str(), "instances": group.instances });
    groups.into_values().map(entry).collect()
}

struct Group {
    address: Json,
    status: CheckStatus,
    instances: Vec<Json>,
}

fn of_resource(name: &ResourceName) -> ((bool, String), Json, Json) {
    let (prefix, mode) = match name.mode {
        Mode::Managed => ("", "managed"),
        Mode::Data => ("data.", "data"),
    };
    let display = format!("{prefix}{}.{}", name.ty, name.name);
    let address = json!({
        "kind": "resource", "to_display": display, "mode": mode, "type": name.ty, "name": name.name,
    });
    let mut instance = json!({ "to_display": name.address, "nivis_id": name.nivis_id });
    if let Some(key) = &name.index {
        instance["instance_key"] = key.clone();
    }
    // Two providers may have resources of one type and name.
    let base = match name.index {
        Some(_) => name
            .nivis_id
            .rsplit_once("__")
            .map_or(&*name.nivis_id, |(base, _)| base),
        None => &name.nivis_id,
    };
    ((false, base.to_owned()), address, instance)
}

fn of_instance(address: &Json, result: &CheckResult) -> Json {
    let mut instance = json!({ "address": address, "status": result.status.as_str() });
    if !result.messages.is_empty() {
        let problems = result.messages.iter().map(|m| json!({ "message": m }));
        instance["problems"] = problems.collect();
    }
    instance
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::Id;
    use crate::ir::Index;
    use crate::json::Named;

    #[test]
    fn instances_are_listed_under_their_resource() {
        let name = |mode, name: &str, index: Option<&Index>| {
            let id = Id::from(format!("p.t.{name}"));
            let (id, ty, provider) = (&id, "t", "reg/p");
            Subject::Resource(ResourceName::new(Named {
                mode,
                id,
                ty,
                name,
                index,
                provider,
            }))
        };
        let checked = |subject, status, messages: &[&str]| Checked {
            subject,
            result: CheckResult {
                status,
                messages: messages.iter().map(|&m| m.to_owned()).collect(),
            },
        };
        let (a, b) = (Index::Key("a".into()), Index::Number(1));
        let docs = checks([
            checked(Subject::Check("up"), CheckStatus::Fail, &["down"]),
            checked(
                name(Mode::Managed, "web__a", Some(&a)),
                CheckStatus::Pass,
                &[],
            ),
            checked(
                name(Mode::Managed, "web__1", Some(&b)),
                CheckStatus::Unknown,
                &[],
            ),
            checked(name(Mode::Data, "seen", None), CheckStatus::Error, &[]),
        ]);
        let lines: Vec<String> = docs.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        {"address":{"kind":"resource","mode":"data","name":"seen","to_display":"data.t.seen","type":"t"},"instances":[{"address":{"nivis_id":"p.t.seen","to_display":"data.t.seen"},"status":"error"}],"status":"error"}
        {"address":{"kind":"resource","mode":"managed","name":"web","to_display":"t.web","type":"t"},"instances":[{"address":{"instance_key":"a","nivis_id":"p.t.web__a","to_display":"t.web[\"a\"]"},"status":"pass"},{"address":{"instance_key":1,"nivis_id":"p.t.web__1","to_display":"t.web[1]"},"status":"unknown"}],"status":"unknown"}
        {"address":{"kind":"check","name":"up","to_display":"check.up"},"instances":[{"address":{"to_display":"check.up"},"problems":[{"message":"down"}],"status":"fail"}],"status":"fail"}
        "#);
    }
}
