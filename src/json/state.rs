//! Objects and outputs with their values: "values representation" and "state representation".

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value as Json;

use super::TERRAFORM_VERSION;
use super::resource::ResourceName;
use super::shape::BlockShape;
use super::values::{known_json, sensitive_shadow};
use crate::schema::{Block, sensitive_paths};
use crate::value::{PathSet, Value};

/// A state: what `show --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StateDoc {
    /// Version of the format.
    pub format_version: &'static str,
    /// The Terraform release the format corresponds to.
    pub terraform_version: &'static str,
    /// What is in the state; absent if there is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Values>,
    /// How conditions came out in the last run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Json>,
}

/// Outputs and objects.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Values {
    /// Stack outputs by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, OutputValues>,
    /// The objects.
    pub root_module: Module,
}

/// The objects of a stack. There are no child modules.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Module {
    /// By address.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ResourceValues>,
}

/// A stack output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutputValues {
    /// Whether it is not to be shown.
    pub sensitive: bool,
    /// The value; absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
    /// Its type as a type constraint; absent if the value is not known.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub ty: Option<Json>,
}

/// An object.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResourceValues {
    /// Whose object it is.
    #[serde(flatten)]
    pub name: ResourceName,
    /// Version of the resource schema.
    pub schema_version: i64,
    /// The attributes; unknown ones are left out.
    pub values: Json,
    /// `true` in place of every sensitive part.
    pub sensitive_values: Json,
    /// What it directly depends on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// Whether it has to be replaced because its creation failed half-way.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tainted: bool,
    /// The key of an object that was replaced but not yet destroyed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deposed_key: Option<String>,
    /// What the JSON does not tell about the values.
    #[serde(skip)]
    pub shape: BlockShape,
}

/// Input of [`ResourceValues::new`].
#[derive(Clone, Copy, Debug)]
pub struct ObjectValues<'a> {
    /// The schema of the object.
    pub block: &'a Block,
    /// Version of that schema.
    pub schema_version: i64,
    /// The object.
    pub value: &'a Value,
    /// Sensitive paths beyond what the schema calls sensitive.
    pub sensitive: &'a PathSet,
}

impl StateDoc {
    /// The document of these values.
    pub fn new(values: Values) -> Self {
        let is_empty = values.outputs.is_empty() && values.root_module.resources.is_empty();
        Self {
            format_version: "1.0",
            terraform_version: TERRAFORM_VERSION,
            values: (!is_empty).then_some(values),
            checks: Vec::new(),
        }
    }
}

impl OutputValues {
    /// An output; its value may have unknown parts.
    pub fn new(value: &Value, sensitive: bool) -> Self {
        let is_known = value.is_wholly_known();
        Self {
            sensitive,
            value: known_json(value).filter(|_| is_known),
            ty: is_known.then(|| serde_json::from_str(&value.ty().to_json()).unwrap_or(Json::Null)),
        }
    }
}

impl ResourceValues {
    /// A whole, current object.
    pub fn new(name: ResourceName, object: ObjectValues<'_>) -> Self {
        let ObjectValues {
            block,
            schema_version,
            value,
            sensitive,
        } = object;
        let sensitive = sensitive.union(&sensitive_paths(block, value));
        Self {
            name,
            schema_version,
            values: known_json(value).unwrap_or(Json::Null),
            sensitive_values: sensitive_shadow(value, &sensitive),
            depends_on: Vec::new(),
            tainted: false,
            deposed_key: None,
            shape: BlockShape::new(block),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::resource::{Mode, Named};
    use super::*;
    use crate::schema::testing::{object, schema};

    #[test]
    fn an_empty_state_has_no_values() {
        let text = serde_json::to_string(&StateDoc::new(Values::default())).expect("JSON");
        assert_eq!(
            text,
            r#"{"format_version":"1.0","terraform_version":"1.13.0"}"#
        );
    }

    #[test]
    fn a_state() {
        let block = schema(
            "id: string computed\npw: string optional sensitive\nblock disk list {\n size: number optional\n}",
        );
        let value = object(&block, r#"{"id": "1", "pw": "p", "disk": [{"size": 1}]}"#);
        let id = "p.t.a__0".into();
        let index = Some(&crate::ir::Index::Number(0));
        let name = ResourceName::new(Named {
            mode: Mode::Managed,
            id: &id,
            ty: "t",
            name: "a__0",
            index,
            provider: "p",
        });
        let sensitive = PathSet::default();
        let object = ObjectValues {
            block: &block,
            schema_version: 3,
            value: &value,
            sensitive: &sensitive,
        };
        let mut resource = ResourceValues::new(name, object);
        resource.depends_on = vec!["t.b".to_owned()];
        let outputs = [
            (
                "o".to_owned(),
                OutputValues::new(&Value::tuple(vec![Value::Bool(true)]), false),
            ),
            (
                "u".to_owned(),
                OutputValues::new(&Value::unknown(crate::value::Type::String), true),
            ),
        ];
        let values = Values {
            outputs: outputs.into(),
            root_module: Module {
                resources: vec![resource],
            },
        };
        let text = serde_json::to_string(&StateDoc::new(values)).expect("JSON");
        insta::assert_snapshot!(text.replace(",\"", ",\n\""), @r#"
        {"format_version":"1.0",
        "terraform_version":"1.13.0",
        "values":{"outputs":{"o":{"sensitive":false,
        "value":[true],
        "type":["tuple",["bool"]]},
        "u":{"sensitive":true}},
        "root_module":{"resources":[{"address":"t.a[0]",
        "nivis_id":"p.t.a__0",
        "mode":"managed",
        "type":"t",
        "name":"a",
        "index":0,
        "provider_name":"p",
        "schema_version":3,
        "values":{"disk":[{"size":1}],
        "id":"1",
        "pw":"p"},
        "sensitive_values":{"disk":[{}],
        "pw":true},
        "depends_on":["t.b"]}]}}}
        "#);
    }
}
