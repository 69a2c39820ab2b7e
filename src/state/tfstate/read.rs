//! Reading a state of Terraform or OpenTofu.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde_json::value::{RawValue, Value};

use super::{Address, Key, Keyed, ProviderRef, TfInstance, TfResource, TfState};
use crate::state::members::{FormError, Members};
use crate::state::{Object, OutputValue, Status};
use crate::value::{Path, PathSet, Step};

/// The version of the format that both hosts have written since 2019.
const VERSION: u64 = 4;

/// It is no state that can be read.
#[derive(Debug, thiserror::Error)]
pub enum TfStateError {
    /// Not text.
    #[error("it is not UTF-8")]
    NotText,
    /// OpenTofu has encrypted it.
    #[error("it is encrypted")]
    Encrypted,
    /// It is of another version of the format.
    #[error("it has format version {0}, and only version {VERSION} can be read")]
    Version(u64),
    /// Something in it is wrong.
    #[error(transparent)]
    Form(#[from] FormError),
}

impl TfStateError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Encrypted => "`tofu state pull` prints it decrypted",
            Self::Version(_) => {
                "a current `terraform apply -refresh-only` (or `tofu`) writes it in the format of today"
            }
            Self::NotText | Self::Form(_) => {
                "give a state file (terraform.tfstate), or what `terraform state pull` or `tofu state pull` prints"
            }
        }
    }
}

/// Reads a state.
pub fn read(bytes: &[u8]) -> Result<TfState, TfStateError> {
    let text = std::str::from_utf8(bytes).map_err(|_| TfStateError::NotText)?;
    let mut members = Members::parse(text)?;
    if members.take::<Value>("encrypted_data")?.is_some() {
        return Err(TfStateError::Encrypted);
    }
    let version = members.need("version")?;
    if version != VERSION {
        return Err(TfStateError::Version(version));
    }
    let mut unknown = BTreeSet::new();
    let resources = members.take_with("resources", |text| {
        list(text, |text| resource(text, &mut unknown))
    })?;
    let state = TfState {
        serial: members.take("serial")?.unwrap_or_default(),
        lineage: members.take("lineage")?.unwrap_or_default(),
        outputs: members
            .take_with("outputs", |text| {
                Members::parse(text)?.map(|name, text| Ok((name, output(text)?)))
            })?
            .unwrap_or_default(),
        resources: resources.unwrap_or_default(),
        unknown,
    };
    Ok(state)
}

fn output(text: &str) -> Result<OutputValue, FormError> {
    let mut members = Members::parse(text)?;
    let ty = members.take_with("type", |text| Ok(text.as_bytes().to_vec()))?;
    Ok(OutputValue {
        value: members.need_text("value")?,
        sensitive: members.take("sensitive")?.unwrap_or_default(),
        extra: ty.into_iter().map(|ty| ("type".to_owned(), ty)).collect(),
    })
}

fn resource(text: &str, unknown: &mut BTreeSet<String>) -> Result<TfResource, FormError> {
    let mut members = Members::parse(text)?;
    let modules = members.take_with("module", |text| {
        let module: String = serde_json::from_str(text)?;
        match Address::parse(&module) {
            Some(address) if address.resource.is_none() => Ok(address.modules),
            _ => Err(FormError::new(format!("{module:?} is no module"))),
        }
    })?;
    let mode = members.need::<String>("mode")?;
    if !["managed", "data"].contains(&&*mode) {
        return Err(FormError::new(format!("unknown mode {mode:?}")).within("mode"));
    }
    let name = Keyed {
        name: members.need("name")?,
        key: None,
    };
    let provider: String = members.need("provider")?;
    let resource = TfResource {
        address: Address {
            modules: modules.unwrap_or_default(),
            data: mode == "data",
            resource: Some((members.need("type")?, name)),
        },
        provider: ProviderRef::parse(&provider).ok_or_else(|| {
            FormError::new(format!("{provider:?} is no provider")).within("provider")
        })?,
        instances: members
            .take_with("instances", |text| {
                list(text, |text| instance(text, unknown))
            })?
            .unwrap_or_default(),
    };
    // Whether it has `count` or `for_each`; the keys of its instances tell that too.
    members.take::<Value>("each")?;
    unknown.extend(members.rest().into_keys());
    Ok(resource)
}

fn instance(text: &str, unknown: &mut BTreeSet<String>) -> Result<TfInstance, FormError> {
    let mut members = Members::parse(text)?;
    let key = members.take_with("index_key", key)?.flatten();
    let deposed: Option<String> = members.take("deposed")?;
    let identity_version: Option<i64> = members.take("identity_schema_version")?;
    let identity = members
        .take::<&RawValue>("identity")?
        .filter(|raw| raw.get() != "null")
        .map(|raw| {
            (
                identity_version.unwrap_or_default(),
                raw.get().as_bytes().to_vec(),
            )
        });
    let flat = members
        .take::<Option<BTreeMap<String, String>>>("attributes_flat")?
        .flatten();
    let attributes = members.take_with("attributes", |text| Ok(text.as_bytes().to_vec()))?;
    let attributes = match (attributes, &flat) {
        (None, Some(_)) => Vec::new(),
        (Some(attributes), None) => attributes,
        (None, None) => return Err(FormError::new("is missing").within("attributes")),
        (Some(_), Some(_)) => {
            return Err(FormError::new("is beside attributes_flat").within("attributes"));
        }
    };
    let object = Object {
        status: match members
            .take::<Option<String>>("status")?
            .flatten()
            .as_deref()
        {
            None | Some("") => Status::Ready,
            Some("tainted") => Status::Tainted,
            Some(other) => {
                return Err(FormError::new(format!("unknown status {other:?}")).within("status"));
            }
        },
        schema_version: members.take("schema_version")?.unwrap_or_default(),
        attributes,
        flat,
        sensitive: members
            .take_with("sensitive_attributes", sensitive)?
            .unwrap_or_default(),
        private: members.take_with("private", bytes)?.unwrap_or_default(),
        identity,
        create_before_destroy: members.take("create_before_destroy")?.unwrap_or_default(),
        ..Object::default()
    };
    let dependencies = members.take::<Option<Vec<String>>>("dependencies")?;
    unknown.extend(members.rest().into_keys());
    Ok(TfInstance {
        key,
        deposed: deposed.filter(|key| !key.is_empty()),
        object,
        dependencies: dependencies.flatten().unwrap_or_default(),
    })
}

fn list<T>(
    text: &str,
    mut read: impl FnMut(&str) -> Result<T, FormError>,
) -> Result<Vec<T>, FormError> {
    let items: Option<Vec<&RawValue>> = serde_json::from_str(text)?;
    let items = items.unwrap_or_default().into_iter().enumerate();
    items
        .map(|(i, raw)| read(raw.get()).map_err(|e| e.within(&i.to_string())))
        .collect()
}

fn key(text: &str) -> Result<Option<Key>, FormError> {
    match serde_json::from_str(text)? {
        Value::Null => Ok(None),
        Value::String(key) => Ok(Some(Key::Text(key))),
        Value::Number(n) if n.is_u64() => Ok(Some(Key::Number(n.as_u64().unwrap_or_default()))),
        other => Err(FormError::new(format!("{other} is no key"))),
    }
}

fn bytes(text: &str) -> Result<Vec<u8>, FormError> {
    let encoded: Option<String> = serde_json::from_str(text)?;
    BASE64
        .decode(encoded.unwrap_or_default())
        .map_err(|e| FormError::new(format!("not base64: {e}")))
}

/// A step of a path: an attribute, or an index whose value is a number or a string.
#[derive(Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
enum PathStep {
    GetAttr(String),
    Index(PathIndex),
}

#[derive(Deserialize)]
struct PathIndex {
    value: Value,
}

fn sensitive(text: &str) -> Result<PathSet, FormError> {
    let paths: Option<Vec<Vec<PathStep>>> = serde_json::from_str(text)?;
    let step = |step| match step {
        PathStep::GetAttr(name) => Ok(Step::Attribute(name.into())),
        PathStep::Index(PathIndex { value }) => match value {
            Value::String(key) => Ok(Step::Key(key.into())),
            Value::Number(n) if n.is_u64() => Ok(Step::Index(n.as_u64().unwrap_or_default())),
            other => Err(FormError::new(format!("{other} is no index"))),
        },
    };
    let paths = paths.unwrap_or_default().into_iter();
    paths
        .map(|steps| {
            steps
                .into_iter()
                .map(step)
                .collect::<Result<_, _>>()
                .map(Path)
        })
        .collect()
}
