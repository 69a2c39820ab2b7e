//! Between our types and the messages of the protocol.

use super::proto::tfplugin6 as pb;
use super::provider::Identity;
use super::schema::SchemaError;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::schema::Schema;
use crate::value::{DecodeError, EncodeError, Path, Step, Type, Value, json, msgpack};

/// What this host can do beyond the base protocol.
pub(super) const CAPABILITIES: Option<pb::ClientCapabilities> = Some(pb::ClientCapabilities {
    deferral_allowed: false,
    write_only_attributes_allowed: true,
    store_planned_private: false,
    computed_blocks_allowed: false,
});

/// Reads the JSON form of a type.
pub(super) fn parse_type(json: &[u8]) -> Result<Type, SchemaError> {
    Type::from_json(json).map_err(|e| SchemaError::new(format!("its type is invalid: {e}")))
}

/// A value for the wire: MessagePack always, as some providers read nothing else.
pub(super) fn to_dynamic(
    value: &Value,
    ty: &Type,
) -> Result<Option<pb::DynamicValue>, EncodeError> {
    Ok(Some(pb::DynamicValue {
        msgpack: msgpack::encode(value, ty)?,
        json: Vec::new(),
    }))
}

/// A null for the wire, of any type.
pub(super) fn null() -> pb::DynamicValue {
    const NIL: u8 = 0xc0;
    pb::DynamicValue {
        msgpack: vec![NIL],
        json: Vec::new(),
    }
}

/// A value from the wire; what is absent is null.
pub(super) fn from_dynamic(
    message: Option<pb::DynamicValue>,
    ty: &Type,
) -> Result<Value, DecodeError> {
    match message {
        Some(m) if !m.msgpack.is_empty() => msgpack::decode(&m.msgpack, ty),
        Some(m) if !m.json.is_empty() => json::from_json(&m.json, ty),
        _ => Ok(Value::null(ty.clone())),
    }
}

/// An identity for the wire.
pub(super) fn to_identity(
    identity: Option<&Identity>,
    ty: Option<&Type>,
) -> Result<Option<pb::ResourceIdentityData>, EncodeError> {
    let (Some(identity), Some(ty)) = (identity, ty) else {
        return Ok(None);
    };
    Ok(Some(pb::ResourceIdentityData {
        identity_data: to_dynamic(&identity.value, ty)?,
    }))
}

/// An identity from the wire; `None` if it is absent, null, or the resource type has none.
pub(super) fn from_identity(
    message: Option<pb::ResourceIdentityData>,
    schema: Option<(&Schema, &Type)>,
) -> Result<Option<Identity>, DecodeError> {
    let (Some(message), Some((schema, ty))) = (message, schema) else {
        return Ok(None);
    };
    let value = from_dynamic(message.identity_data, ty)?;
    Ok((!value.is_null()).then_some(Identity {
        version: schema.version,
        value,
    }))
}

/// A path from the wire, as far as its steps are of a kind that is known.
pub(super) fn from_path(message: pb::AttributePath) -> Path {
    use pb::attribute_path::step::Selector;
    let steps = message.steps.into_iter().map_while(|step| {
        Some(match step.selector? {
            Selector::AttributeName(name) => Step::Attribute(name.into()),
            Selector::ElementKeyString(key) => Step::Key(key.into()),
            Selector::ElementKeyInt(index) => Step::Index(u64::try_from(index).ok()?),
        })
    });
    Path(steps.collect())
}

/// Diagnostics from the wire. One of an invalid severity is an error.
pub(super) fn from_diagnostics(messages: Vec<pb::Diagnostic>) -> Diagnostics {
    Diagnostics(messages.into_iter().map(from_diagnostic).collect())
}

fn from_diagnostic(message: pb::Diagnostic) -> Diagnostic {
    use pb::diagnostic::Severity;
    let diagnostic = match message.severity() {
        Severity::Warning => Diagnostic::warning(message.summary),
        Severity::Error | Severity::Invalid => Diagnostic::error(message.summary),
    };
    Diagnostic {
        detail: message.detail,
        path: message.attribute.map(from_path),
        ..diagnostic
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::{path, ty};

    #[test]
    fn values_come_in_either_encoding_or_not_at_all() {
        let string = Type::String;
        let message = |msgpack: &[u8], json: &[u8]| {
            Some(pb::DynamicValue {
                msgpack: msgpack.to_vec(),
                json: json.to_vec(),
            })
        };
        let cases = [
            (message(b"\xa1x", b""), Value::string("x")),
            (message(b"\xa1x", br#""ignored""#), Value::string("x")),
            (message(b"", br#""y""#), Value::string("y")),
            (message(b"\xc0", b""), Value::null(Type::String)),
            (message(b"", b""), Value::null(Type::String)),
            (None, Value::null(Type::String)),
        ];
        for (message, value) in cases {
            assert_eq!(
                from_dynamic(message.clone(), &string),
                Ok(value),
                "{message:?}"
            );
        }
        assert!(from_dynamic(message(b"\xc3", b""), &string).is_err());
    }

    #[test]
    fn a_null_is_sent_as_nil_and_never_as_nothing() {
        let sent = to_dynamic(
            &Value::null(ty("object(a: string)")),
            &ty("object(a: string)"),
        );
        assert_eq!(sent.unwrap().unwrap(), null());
        assert_eq!(null().msgpack, [0xc0]);
    }

    #[test]
    fn diagnostics_keep_their_text_and_place() {
        use pb::attribute_path::step::Selector;
        let step = |selector| pb::attribute_path::Step { selector };
        let steps = vec![
            step(Some(Selector::AttributeName("rule".to_owned()))),
            step(Some(Selector::ElementKeyInt(1))),
            step(Some(Selector::AttributeName("tags".to_owned()))),
            step(Some(Selector::ElementKeyString("a b".to_owned()))),
            step(None),
            step(Some(Selector::AttributeName("unreachable".to_owned()))),
        ];
        let message = |severity, attribute| pb::Diagnostic {
            severity,
            summary: "s".to_owned(),
            detail: "d\ne".to_owned(),
            attribute,
        };
        let diagnostics = from_diagnostics(vec![
            message(2, Some(pb::AttributePath { steps })),
            message(1, None),
            message(0, None),
            message(9, None),
        ]);
        let warning = Diagnostic::warning("s").detail("d\ne");
        let error = Diagnostic::error("s").detail("d\ne");
        assert_eq!(
            diagnostics.0,
            [
                warning.path(path(r#"rule[1].tags["a b"]"#)),
                error.clone(),
                error.clone(),
                error
            ]
        );
    }

    #[test]
    fn a_negative_index_ends_a_path() {
        use pb::attribute_path::step::Selector;
        let selector = Some(Selector::ElementKeyInt(-1));
        let steps = vec![pb::attribute_path::Step { selector }];
        assert_eq!(from_path(pb::AttributePath { steps }), Path::root());
    }

    #[test]
    fn an_identity_needs_a_schema_and_a_value() {
        let schema = Schema {
            version: 3,
            ..Schema::default()
        };
        let object = ty("object(id: string)");
        let message = |value: Option<&Value>| {
            let identity_data = value.map(|v| to_dynamic(v, &object).unwrap().unwrap());
            Some(pb::ResourceIdentityData { identity_data })
        };
        let value = Value::object([("id", Value::string("x"))]);
        let identity = Identity {
            version: 3,
            value: value.clone(),
        };
        let known = Some((&schema, &object));
        let cases = [
            (message(Some(&value)), known, Some(identity.clone())),
            (message(Some(&value)), None, None),
            (message(None), known, None),
            (None, known, None),
        ];
        for (message, schema, expected) in cases {
            assert_eq!(from_identity(message, schema), Ok(expected));
        }
        assert_eq!(to_identity(Some(&identity), None), Ok(None));
        assert_eq!(
            to_identity(Some(&identity), Some(&object)),
            Ok(message(Some(&value)))
        );
    }
}
