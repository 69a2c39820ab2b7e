//! A plan: "plan representation", with what only we have under the key `nivis`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value as Json;

use super::TERRAFORM_VERSION;
use super::change::Change;
use super::configuration::Configuration;
use super::diagnostic::DiagnosticDoc;
use super::resource::ResourceName;
use super::state::{StateDoc, Values};
use crate::ir::Variable;

/// A plan: what `show --json` prints, and what the text for people is made from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanDoc {
    /// Version of the format.
    pub format_version: &'static str,
    /// The Terraform release the format corresponds to.
    pub terraform_version: &'static str,
    /// Values of variables.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, VariableValue>,
    /// What is known of the objects and outputs afterwards.
    pub planned_values: Values,
    /// What was found changed outside of nivis.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_drift: Vec<ResourceChange>,
    /// What is done to each object, those that stay as they are included.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_changes: Vec<ResourceChange>,
    /// What happens to each stack output.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub output_changes: BTreeMap<String, Change>,
    /// The refreshed state that the plan starts from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prior_state: Option<StateDoc>,
    /// The configuration, with references in place of values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<Configuration>,
    /// Results of checks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Json>,
    /// When it was made (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// Whether there is anything to apply.
    pub applyable: bool,
    /// Whether nothing is left for a further plan after this one.
    pub complete: bool,
    /// Whether planning failed; such a plan cannot be applied.
    pub errored: bool,
    /// What only we have.
    pub nivis: Extras,
}

/// Parts of a plan that Terraform does not know.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Extras {
    /// Whether applying it only records what was found in the world.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub refresh_only: bool,
    /// Derivations to build.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub builds: Vec<PlannedBuild>,
    /// Parts of the configuration that are not there yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deferred: Vec<DeferredPart>,
    /// Ids of objects that are not in the configuration as far as it is there, and stay until it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<DiagnosticDoc>,
}

/// A variable's value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VariableValue {
    /// The value.
    pub value: Json,
}

/// The declaration of a variable.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VariableDoc {
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it is not to be shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sensitive: bool,
}

impl From<&Variable> for VariableDoc {
    fn from(variable: &Variable) -> Self {
        Self {
            description: variable.description.clone(),
            sensitive: variable.sensitive,
        }
    }
}

/// What is done to one object.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResourceChange {
    /// Whose object it is.
    #[serde(flatten)]
    pub name: ResourceName,
    /// The address it had before, if it has moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_address: Option<String>,
    /// Our id for it then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_nivis_id: Option<String>,
    /// The key of an object that was replaced but not yet destroyed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deposed: Option<String>,
    /// What is done.
    pub change: Change,
    /// Why, where the action alone does not say: a code of Terraform's such as `replace_because_tainted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action_reason: Option<&'static str>,
}

/// A derivation that is built before or during apply.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlannedBuild {
    /// The derivation, or the store path if only that is known.
    pub path: String,
    /// Ids of what uses it.
    pub used_by: Vec<String>,
}

/// A part of the configuration that appears once other things are known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeferredPart {
    /// Where it will appear.
    pub name: String,
    /// What has to be known first: `<id>.<path>`.
    pub waits_for: Vec<String>,
}

impl Default for PlanDoc {
    /// A plan that does nothing.
    fn default() -> Self {
        Self {
            format_version: "1.2",
            terraform_version: TERRAFORM_VERSION,
            variables: BTreeMap::new(),
            planned_values: Values::default(),
            resource_drift: Vec::new(),
            resource_changes: Vec::new(),
            output_changes: BTreeMap::new(),
            prior_state: None,
            configuration: None,
            checks: Vec::new(),
            timestamp: None,
            applyable: false,
            complete: true,
            errored: false,
            nivis: Extras::default(),
        }
    }
}

impl PlanDoc {
    /// Whether applying it would change anything: an object, an output, or what the state says about one.
    pub fn has_changes(&self) -> bool {
        let moves =
            |c: &ResourceChange| c.previous_address.is_some() || c.change.importing.is_some();
        self.resource_changes
            .iter()
            .any(|c| !c.change.is_no_op() || moves(c))
            || self.output_changes.values().any(|c| !c.is_no_op())
            || !self.nivis.deferred.is_empty()
            || self.nivis.refresh_only && !self.resource_drift.is_empty()
    }
}

impl ResourceChange {
    /// A change of a current object that stays where it is, for no special reason.
    pub fn new(name: ResourceName, change: Change) -> Self {
        Self {
            name,
            previous_address: None,
            previous_nivis_id: None,
            deposed: None,
            change,
            action_reason: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Importing;
    use crate::json::testing::Case;

    fn unchanged() -> ResourceChange {
        let case = Case {
            schema: "id: string computed",
            action: "no-op",
            before: r#"{"id": "1"}"#,
            after: r#"{"id": "1"}"#,
            ..Case::default()
        };
        case.named("x")
    }

    fn plan_of(change: ResourceChange) -> PlanDoc {
        PlanDoc {
            resource_changes: vec![change],
            ..PlanDoc::default()
        }
    }

    #[test]
    fn moves_and_imports_are_changes() {
        assert!(!plan_of(unchanged()).has_changes());
        let moved = plan_of(ResourceChange {
            previous_address: Some("test_thing.old".to_owned()),
            previous_nivis_id: Some("a.test_thing.old".to_owned()),
            ..unchanged()
        });
        assert!(moved.has_changes());
        let json = serde_json::to_value(&moved.resource_changes[0]).expect("JSON");
        assert_eq!(json["previous_address"], "test_thing.old");
        assert_eq!(json["previous_nivis_id"], "a.test_thing.old");
        assert_eq!(json["change"]["actions"], serde_json::json!(["no-op"]));
        let by = |id: Option<&str>, identity| {
            let mut change = unchanged();
            let id = id.map(str::to_owned);
            change.change.importing = Some(Importing { id, identity });
            let doc = plan_of(change);
            assert!(doc.has_changes());
            serde_json::to_value(&doc.resource_changes[0].change.importing).expect("JSON")
        };
        assert_eq!(by(Some("i"), None), serde_json::json!({"id": "i"}));
        let identity = serde_json::json!({"name": "n"});
        assert_eq!(
            by(None, Some(identity.clone())),
            serde_json::json!({"identity": identity})
        );
    }
}
