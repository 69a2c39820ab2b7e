//! Our types as messages, the way a server needs them.

use tonic::Status;

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::provider::proto::tfplugin6 as v6;
use crate::schema::{Attribute, AttributeType, Block, NestedBlock, Nesting, Schema};
use crate::value::{Path, Step, Type, Value, json, msgpack};

/// A value of type `ty` out of a message; null if there is none. Fails the call if it is none of that type.
pub fn decode(from: Option<&v6::DynamicValue>, ty: &Type) -> Result<Value, Status> {
    let value = match from {
        Some(v) if !v.msgpack.is_empty() => msgpack::decode(&v.msgpack, ty),
        Some(v) if !v.json.is_empty() => json::from_json(&v.json, ty),
        _ => return Ok(Value::null(ty.clone())),
    };
    value.map_err(|e| Status::invalid_argument(format!("cannot read a value: {e}")))
}

/// A value as a message.
pub fn encode(value: &Value, ty: &Type) -> Result<v6::DynamicValue, Status> {
    let msgpack = msgpack::encode(value, ty)
        .map_err(|e| Status::internal(format!("cannot write a value: {e}")))?;
    Ok(v6::DynamicValue {
        msgpack,
        json: Vec::new(),
    })
}

/// Problems as messages.
pub fn diagnostics(from: Diagnostics) -> Vec<v6::Diagnostic> {
    from.0.into_iter().map(diagnostic).collect()
}

fn diagnostic(from: Diagnostic) -> v6::Diagnostic {
    use v6::diagnostic::Severity as Wire;
    let severity = match from.severity {
        Severity::Error => Wire::Error,
        Severity::Warning => Wire::Warning,
    };
    v6::Diagnostic {
        severity: severity.into(),
        summary: from.summary,
        detail: from.detail,
        attribute: from.path.as_ref().map(path),
    }
}

/// A path as a message.
pub fn path(from: &Path) -> v6::AttributePath {
    use v6::attribute_path::step::Selector;
    let step = |step: &Step| {
        let selector = match step {
            Step::Attribute(name) => Selector::AttributeName(name.to_string()),
            Step::Key(key) => Selector::ElementKeyString(key.to_string()),
            Step::Index(i) => Selector::ElementKeyInt(i64::try_from(*i).unwrap_or(i64::MAX)),
        };
        v6::attribute_path::Step {
            selector: Some(selector),
        }
    };
    v6::AttributePath {
        steps: from.0.iter().map(step).collect(),
    }
}

/// A schema as a message.
pub fn schema(from: &Schema) -> v6::Schema {
    v6::Schema {
        version: from.version,
        block: Some(block(&from.block)),
    }
}

fn block(from: &Block) -> v6::schema::Block {
    v6::schema::Block {
        attributes: attributes(&from.attributes),
        block_types: from.block_types.iter().map(|(n, b)| nested(n, b)).collect(),
        description: from.description.clone(),
        description_kind: v6::StringKind::Markdown.into(),
        deprecated: from.deprecated,
        deprecation_message: from.deprecation_message.clone(),
        ..Default::default()
    }
}

fn attributes<'a, K: AsRef<str> + 'a>(
    from: impl IntoIterator<Item = (&'a K, &'a Attribute)>,
) -> Vec<v6::schema::Attribute> {
    from.into_iter()
        .map(|(name, a)| attribute(name.as_ref(), a))
        .collect()
}

fn attribute(name: &str, from: &Attribute) -> v6::schema::Attribute {
    use v6::schema::object::NestingMode;
    let (ty, nested_type) = match &from.ty {
        AttributeType::Plain(ty) => (ty.to_json().into_bytes(), None),
        AttributeType::Nested(nested) => {
            let nesting = match nested.nesting {
                Nesting::Single => NestingMode::Single,
                Nesting::List => NestingMode::List,
                Nesting::Set => NestingMode::Set,
                Nesting::Map => NestingMode::Map,
                Nesting::Group => NestingMode::Invalid,
            };
            let object = v6::schema::Object {
                attributes: attributes(&nested.attributes),
                nesting: nesting.into(),
                ..Default::default()
            };
            (Vec::new(), Some(object))
        }
    };
    v6::schema::Attribute {
        name: name.to_owned(),
        r#type: ty,
        nested_type,
        description: from.description.clone(),
        required: from.required,
        optional: from.optional,
        computed: from.computed,
        sensitive: from.sensitive,
        description_kind: v6::StringKind::Markdown.into(),
        deprecated: from.deprecated,
        write_only: from.write_only,
        deprecation_message: from.deprecation_message.clone(),
    }
}

fn nested(name: &str, from: &NestedBlock) -> v6::schema::NestedBlock {
    use v6::schema::nested_block::NestingMode;
    let nesting = match from.nesting {
        Nesting::Single => NestingMode::Single,
        Nesting::Group => NestingMode::Group,
        Nesting::List => NestingMode::List,
        Nesting::Set => NestingMode::Set,
        Nesting::Map => NestingMode::Map,
    };
    v6::schema::NestedBlock {
        type_name: name.to_owned(),
        block: Some(block(&from.block)),
        nesting: nesting.into(),
        min_items: i64::try_from(from.min_items).unwrap_or(i64::MAX),
        max_items: i64::try_from(from.max_items).unwrap_or(i64::MAX),
    }
}
