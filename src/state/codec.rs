//! The stored form of resources, objects and outputs: JSON, the same in the state file and in the journal.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::ser::{Error as _, Serialize, SerializeMap, Serializer};
use serde_json::value::{RawValue, Value};

use super::members::{FormError, Members};
use super::{DeriveInput, Extra, Object, OutputValue, ResourceState, Status};
use crate::addr::Id;
use crate::ir::{Index, Ref};
use crate::value::{Path, PathSet, Step};

/// Makes `T` serialisable in its stored form.
pub(super) struct Stored<T>(pub T);

impl Serialize for Stored<&ResourceState> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let resource = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("provider", &resource.provider)?;
        map.serialize_entry("provider_source", &resource.provider_source)?;
        map.serialize_entry("type", &resource.ty)?;
        map.serialize_entry("name", &resource.name)?;
        match &resource.index {
            None => {}
            Some(Index::Number(n)) => map.serialize_entry("index", n)?,
            Some(Index::Key(key)) => map.serialize_entry("index", key)?,
        }
        if let Some(object) = &resource.current {
            map.serialize_entry("current", &Stored(object))?;
        }
        if !resource.deposed.is_empty() {
            map.serialize_entry("deposed", &Stored(&resource.deposed))?;
        }
        extra(&mut map, &resource.extra)?;
        map.end()
    }
}

impl Serialize for Stored<&Object> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let object = self.0;
        let mut map = serializer.serialize_map(None)?;
        if object.status == Status::Tainted {
            map.serialize_entry("status", "tainted")?;
        }
        map.serialize_entry("schema_version", &object.schema_version)?;
        match &object.flat {
            None => map.serialize_entry("attributes", &Text("attributes", &object.attributes))?,
            Some(flat) => map.serialize_entry("attributes_flat", flat)?,
        }
        if !object.sensitive.0.is_empty() {
            map.serialize_entry("sensitive", &Stored(&object.sensitive))?;
        }
        if !object.private.is_empty() {
            map.serialize_entry("private", &BASE64.encode(&object.private))?;
        }
        if let Some(identity) = &object.identity {
            map.serialize_entry("identity", &Stored(identity))?;
        }
        if !object.dependencies.is_empty() {
            let ids: Vec<&str> = object.dependencies.iter().map(Id::as_str).collect();
            map.serialize_entry("dependencies", &ids)?;
        }
        if object.create_before_destroy {
            map.serialize_entry("create_before_destroy", &true)?;
        }
        extra(&mut map, &object.extra)?;
        map.end()
    }
}

impl Serialize for Stored<&(i64, Vec<u8>)> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (version, value) = self.0;
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("schema_version", version)?;
        map.serialize_entry("value", &Text("identity", value))?;
        map.end()
    }
}

impl Serialize for Stored<&OutputValue> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("value", &Text("value", &self.0.value))?;
        if self.0.sensitive {
            map.serialize_entry("sensitive", &true)?;
        }
        extra(&mut map, &self.0.extra)?;
        map.end()
    }
}

impl<V> Serialize for Stored<&BTreeMap<String, V>>
where
    for<'a> Stored<&'a V>: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, Stored(value))))
    }
}

impl Serialize for Stored<&DeriveInput> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("resource", self.0.input.resource.as_str())?;
        map.serialize_entry("path", &Stored(&self.0.input.path))?;
        map.serialize_entry("value", &Text("value", &self.0.value))?;
        map.end()
    }
}

impl Serialize for Stored<&PathSet> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.0.iter().map(Stored))
    }
}

impl Serialize for Stored<&Path> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.0.iter().map(Stored))
    }
}

impl Serialize for Stored<&Step> {
    /// A string is an attribute, a number an index, `{"key": …}` a map key.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Step::Attribute(name) => serializer.serialize_str(name),
            Step::Index(n) => serializer.serialize_u64(*n),
            Step::Key(key) => serializer.collect_map([("key", key)]),
        }
    }
}

/// JSON text, embedded as it is; the first field names it in errors.
pub(super) struct Text<'a>(pub &'a str, pub &'a [u8]);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(name, text) = self;
        let not_json = |e| S::Error::custom(format!("{name}: not JSON: {e}"));
        let raw: &RawValue = serde_json::from_slice(text).map_err(not_json)?;
        if !raw.get().contains(['\n', '\r']) {
            return raw.serialize(serializer);
        }
        // Line ends stand only between tokens; a resource and a journal entry are one line each.
        let line = raw.get().replace(['\n', '\r'], " ");
        RawValue::from_string(line)
            .map_err(not_json)?
            .serialize(serializer)
    }
}

fn extra<M: SerializeMap>(map: &mut M, extra: &Extra) -> Result<(), M::Error> {
    extra
        .iter()
        .try_for_each(|(name, text)| map.serialize_entry(name, &Text(name, text)))
}

/// Reads what `Stored<&ResourceState>` writes.
pub(super) fn resource(text: &str) -> Result<ResourceState, FormError> {
    let mut members = Members::parse(text)?;
    Ok(ResourceState {
        provider: members.need("provider")?,
        provider_source: members.need("provider_source")?,
        ty: members.need("type")?,
        name: members.need("name")?,
        index: members.take_with("index", index)?,
        current: members.take_with("current", object)?,
        deposed: members
            .take_with("deposed", |text| {
                Members::parse(text)?.map(|key, text| Ok((deposed_key(key)?, object(text)?)))
            })?
            .unwrap_or_default(),
        extra: members.rest(),
    })
}

fn object(text: &str) -> Result<Object, FormError> {
    let mut members = Members::parse(text)?;
    let flat = members.take("attributes_flat")?;
    Ok(Object {
        status: members.take_with("status", status)?.unwrap_or_default(),
        schema_version: members.need("schema_version")?,
        attributes: match flat {
            None => members.need_text("attributes")?,
            Some(_) => Vec::new(),
        },
        flat,
        sensitive: members
            .take_with("sensitive", |text| {
                let paths: Vec<Value> = serde_json::from_str(text)?;
                let paths: Result<BTreeSet<Path>, _> = paths.into_iter().map(path).collect();
                paths.map(PathSet)
            })?
            .unwrap_or_default(),
        private: members.take_with("private", bytes)?.unwrap_or_default(),
        identity: members.take_with("identity", identity)?,
        dependencies: members
            .take::<Vec<String>>("dependencies")?
            .unwrap_or_default()
            .into_iter()
            .map(Id::from)
            .collect(),
        create_before_destroy: members.take("create_before_destroy")?.unwrap_or_default(),
        extra: members.rest(),
    })
}

fn identity(text: &str) -> Result<(i64, Vec<u8>), FormError> {
    let mut members = Members::parse(text)?;
    Ok((members.need("schema_version")?, members.need_text("value")?))
}

/// Reads what `Stored<&OutputValue>` writes.
pub(super) fn output(text: &str) -> Result<OutputValue, FormError> {
    let mut members = Members::parse(text)?;
    Ok(OutputValue {
        value: members.need_text("value")?,
        sensitive: members.take("sensitive")?.unwrap_or_default(),
        extra: members.rest(),
    })
}

/// Outputs by name.
pub(super) fn outputs(text: &str) -> Result<BTreeMap<String, OutputValue>, FormError> {
    Members::parse(text)?.map(|name, text| Ok((name, output(text)?)))
}

/// Reads a list of what `Stored<&DeriveInput>` writes.
pub(super) fn derive_inputs(text: &str) -> Result<Vec<DeriveInput>, FormError> {
    let items: Vec<&RawValue> = serde_json::from_str(text)?;
    let reference = |raw: &RawValue| {
        let mut members = Members::parse(raw.get())?;
        Ok(DeriveInput {
            input: Ref {
                resource: Id::from(members.need::<String>("resource")?),
                path: path(members.need("path")?).map_err(|e| e.within("path"))?,
            },
            value: members.need_text("value")?,
        })
    };
    items
        .into_iter()
        .enumerate()
        .map(|(i, raw)| reference(raw).map_err(|e: FormError| e.within(&i.to_string())))
        .collect()
}

fn status(text: &str) -> Result<Status, FormError> {
    match serde_json::from_str::<String>(text)?.as_str() {
        "tainted" => Ok(Status::Tainted),
        other => Err(FormError::new(format!("unknown status {other:?}"))),
    }
}

fn index(text: &str) -> Result<Index, FormError> {
    match serde_json::from_str(text)? {
        Value::String(key) => Ok(Index::Key(key.into())),
        Value::Number(n) if n.is_u64() => Ok(Index::Number(n.as_u64().unwrap_or_default())),
        other => Err(FormError::new(format!(
            "{other} is neither a key nor a count"
        ))),
    }
}

fn path(steps: Value) -> Result<Path, FormError> {
    let wrong = |what: &Value| FormError::new(format!("{what} is no path"));
    let Value::Array(steps) = steps else {
        return Err(wrong(&steps));
    };
    let step = |step: Value| match &step {
        Value::String(name) => Ok(Step::Attribute(name.as_str().into())),
        Value::Number(n) => n.as_u64().map(Step::Index).ok_or_else(|| wrong(&step)),
        Value::Object(key) if key.len() == 1 => match key.get("key") {
            Some(Value::String(key)) => Ok(Step::Key(key.as_str().into())),
            _ => Err(wrong(&step)),
        },
        _ => Err(wrong(&step)),
    };
    Ok(Path(steps.into_iter().map(step).collect::<Result<_, _>>()?))
}

fn bytes(text: &str) -> Result<Vec<u8>, FormError> {
    BASE64
        .decode(serde_json::from_str::<String>(text)?)
        .map_err(|e| FormError::new(format!("not base64: {e}")))
}

fn deposed_key(key: String) -> Result<String, FormError> {
    let digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    if key.len() == 8 && key.bytes().all(digit) {
        Ok(key)
    } else {
        Err(FormError::new("a deposed key has 8 hexadecimal digits"))
    }
}
