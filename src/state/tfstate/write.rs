//! Writing a state of Terraform or OpenTofu.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Key, TfInstance, TfResource, TfState};
use crate::state::{OutputValue, Status};
use crate::value::{PathSet, Step};

/// What the hosts are told as the version of Terraform that wrote it: the first that promised to keep to this format.
const WRITTEN_BY: &str = "1.0.0";

/// The state as its file has it; attributes keep their digits. An error if something that should be JSON is not.
pub fn write(state: &TfState) -> Result<Vec<u8>, serde_json::Error> {
    let outputs = state.outputs.iter();
    let outputs: Result<_, serde_json::Error> = outputs
        .map(|(name, value)| Ok((name.as_str(), output(value)?)))
        .collect();
    let resources: Result<_, _> = state.resources.iter().map(resource).collect();
    let mut text = serde_json::to_vec_pretty(&Document {
        version: 4,
        terraform_version: WRITTEN_BY,
        serial: state.serial,
        lineage: &state.lineage,
        outputs: outputs?,
        resources: resources?,
        check_results: None,
    })?;
    text.push(b'\n');
    Ok(text)
}

#[derive(Serialize)]
struct Document<'a> {
    version: u64,
    terraform_version: &'a str,
    serial: u64,
    lineage: &'a str,
    outputs: BTreeMap<&'a str, OutputForm<'a>>,
    resources: Vec<ResourceForm<'a>>,
    check_results: Option<()>,
}

#[derive(Serialize)]
struct OutputForm<'a> {
    value: &'a RawValue,
    #[serde(rename = "type")]
    ty: Value,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    sensitive: bool,
}

#[derive(Serialize)]
struct ResourceForm<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    module: Option<String>,
    mode: &'a str,
    #[serde(rename = "type")]
    ty: &'a str,
    name: &'a str,
    provider: String,
    instances: Vec<InstanceForm<'a>>,
}

#[derive(Serialize)]
struct InstanceForm<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    index_key: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deposed: Option<&'a str>,
    schema_version: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes_flat: Option<&'a BTreeMap<String, String>>,
    sensitive_attributes: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity_schema_version: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    private: Option<String>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    dependencies: &'a [String],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    create_before_destroy: bool,
}

fn output(output: &OutputValue) -> Result<OutputForm<'_>, serde_json::Error> {
    let ty = match output.extra.get("type") {
        Some(ty) => serde_json::from_slice(ty)?,
        None => implied_type(&serde_json::from_slice(&output.value)?),
    };
    Ok(OutputForm {
        value: serde_json::from_slice(&output.value)?,
        ty,
        sensitive: output.sensitive,
    })
}

/// The type that a JSON value has when nothing else tells it, in the notation of types.
fn implied_type(value: &Value) -> Value {
    match value {
        Value::Null => json!("dynamic"),
        Value::Bool(_) => json!("bool"),
        Value::Number(_) => json!("number"),
        Value::String(_) => json!("string"),
        Value::Array(items) => {
            json!(["tuple", items.iter().map(implied_type).collect::<Vec<_>>()])
        }
        Value::Object(members) => {
            let members = members.iter().map(|(k, v)| (k.clone(), implied_type(v)));
            json!(["object", members.collect::<serde_json::Map<_, _>>()])
        }
    }
}

fn resource(resource: &TfResource) -> Result<ResourceForm<'_>, serde_json::Error> {
    let address = &resource.address;
    let module = super::Address {
        modules: address.modules.clone(),
        ..super::Address::default()
    };
    let (ty, name) = match &address.resource {
        Some((ty, name)) => (ty.as_str(), name.name.as_str()),
        None => ("", ""),
    };
    let instances: Result<_, _> = resource.instances.iter().map(instance).collect();
    Ok(ResourceForm {
        module: Some(module.to_string()).filter(|module| !module.is_empty()),
        mode: if address.data { "data" } else { "managed" },
        ty,
        name,
        provider: resource.provider.to_string(),
        instances: instances?,
    })
}

fn instance(instance: &TfInstance) -> Result<InstanceForm<'_>, serde_json::Error> {
    let object = &instance.object;
    let (identity_schema_version, identity) = match &object.identity {
        Some((version, identity)) => (Some(*version), Some(serde_json::from_slice(identity)?)),
        None => (None, None),
    };
    Ok(InstanceForm {
        index_key: instance.key.as_ref().map(|key| match key {
            Key::Number(n) => json!(n),
            Key::Text(key) => json!(key),
        }),
        status: (object.status == Status::Tainted).then_some("tainted"),
        deposed: instance.deposed.as_deref(),
        schema_version: object.schema_version,
        attributes: match &object.flat {
            None => Some(serde_json::from_slice(&object.attributes)?),
            Some(_) => None,
        },
        attributes_flat: object.flat.as_ref(),
        sensitive_attributes: sensitive(&object.sensitive),
        identity_schema_version,
        identity,
        private: Some(&object.private)
            .filter(|private| !private.is_empty())
            .map(|private| BASE64.encode(private)),
        dependencies: &instance.dependencies,
        create_before_destroy: object.create_before_destroy,
    })
}

fn sensitive(paths: &PathSet) -> Vec<Value> {
    let step = |step: &Step| match step {
        Step::Attribute(name) => json!({"type": "get_attr", "value": &**name}),
        Step::Index(n) => json!({"type": "index", "value": {"value": n, "type": "number"}}),
        Step::Key(key) => json!({"type": "index", "value": {"value": &**key, "type": "string"}}),
    };
    let path = |path: &crate::value::Path| path.0.iter().map(step).collect();
    paths.iter().map(path).collect()
}
