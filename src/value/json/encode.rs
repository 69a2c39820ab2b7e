//! Values to JSON, as a type asks for.

use super::control_or;
use crate::value::error::EncodeErrorKind;
use crate::value::{EncodeError, Entries, MAX_DEPTH, Number, Step, Type, Value};

/// Writes a value as its schema's type asks for, byte for byte as OpenTofu and Terraform write state: compact, names
/// sorted, numbers without exponent, values of `dynamic` as `{"value": …, "type": …}`.
///
/// Errors if the value does not conform to the type, or a part is unknown or an infinite number.
pub fn to_json(value: &Value, ty: &Type) -> Result<String, EncodeError> {
    let mut out = String::new();
    write(value, ty, MAX_DEPTH, &mut out)?;
    Ok(out)
}

fn write(value: &Value, ty: &Type, depth: usize, out: &mut String) -> Result<(), EncodeError> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(EncodeErrorKind::TooDeep.into());
    };
    match (value, ty) {
        (Value::Unknown(_), _) => return Err(EncodeErrorKind::Unknown.into()),
        (Value::Null(null), _) if null.conforms(ty) => {
            if *ty == Type::Dynamic && *null != Type::Dynamic {
                return write_dynamic(value, depth, out);
            }
            out.push_str("null");
        }
        (Value::Null(_), _) => return Err(mismatch(value, ty)),
        (_, Type::Dynamic) => return write_dynamic(value, depth, out),
        (Value::Bool(b), Type::Bool) => out.push_str(if *b { "true" } else { "false" }),
        (Value::Number(n), Type::Number) if n.is_infinite() => {
            return Err(EncodeErrorKind::Infinite.into());
        }
        (Value::Number(n), Type::Number) => write_number(n, out),
        (Value::String(s), Type::String) => write_string(s, out),
        (Value::List(s), Type::List(t)) | (Value::Set(s), Type::Set(t)) => {
            write_array(s.items.iter().map(|item| (item, &**t)), depth, out)?;
        }
        (Value::Tuple(items), Type::Tuple(types)) if items.len() == types.len() => {
            write_array(items.iter().zip(types.iter()), depth, out)?;
        }
        (Value::Map(map), Type::Map(t)) => {
            let types = std::iter::repeat(&**t);
            write_object(&map.entries, types, Step::Key, depth, out)?;
        }
        (Value::Object(entries), Type::Object(object))
            if entries.names().eq(object.attributes.keys()) =>
        {
            let types = object.attributes.values();
            write_object(entries, types, Step::Attribute, depth, out)?;
        }
        _ => return Err(mismatch(value, ty)),
    }
    Ok(())
}

fn write_number(n: &Number, out: &mut String) {
    use std::fmt::Write as _;
    // Writing to a string does not fail.
    let _ = write!(out, "{n}");
}

fn mismatch(value: &Value, ty: &Type) -> EncodeError {
    EncodeErrorKind::Mismatch {
        expected: ty.to_string(),
        found: value.ty().to_string(),
    }
    .into()
}

fn write_dynamic(value: &Value, depth: usize, out: &mut String) -> Result<(), EncodeError> {
    let ty = value.ty();
    out.push_str("{\"value\":");
    write(value, &ty, depth, out)?;
    out.push_str(",\"type\":");
    out.push_str(&ty.to_json());
    out.push('}');
    Ok(())
}

fn write_array<'a>(
    items: impl Iterator<Item = (&'a Value, &'a Type)>,
    depth: usize,
    out: &mut String,
) -> Result<(), EncodeError> {
    out.push('[');
    for (i, (item, ty)) in items.enumerate() {
        if i > 0 {
            out.push(',');
        }
        write(item, ty, depth, out).map_err(|e| e.inside(Step::Index(i as u64)))?;
    }
    out.push(']');
    Ok(())
}

fn write_object<'a>(
    entries: &Entries,
    types: impl Iterator<Item = &'a Type>,
    step: fn(crate::value::Str) -> Step,
    depth: usize,
    out: &mut String,
) -> Result<(), EncodeError> {
    out.push('{');
    for (i, ((name, item), ty)) in entries.iter().zip(types).enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_string(name, out);
        out.push(':');
        write(item, ty, depth, out).map_err(|e| e.inside(step(name.clone())))?;
    }
    out.push('}');
    Ok(())
}

/// Bytes that start what may need an escape.
const SUSPICIOUS: [bool; 256] = control_or(b"\"\\<>&\xe2");

/// Writes a JSON string with the escapes that Go's encoder uses, so that state bytes agree.
pub(in crate::value) fn write_string(s: &str, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push('"');
    let mut plain = 0;
    let suspicious = |b: &u8| SUSPICIOUS[usize::from(*b)];
    while let Some(ahead) = s.as_bytes()[plain..].iter().position(suspicious) {
        let (before, rest) = s[plain..].split_at(ahead);
        out.push_str(before);
        let Some(c) = rest.chars().next() else { break };
        plain += ahead + c.len_utf8();
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c if c.is_ascii() => {
                out.push_str("\\u00");
                out.push(HEX[c as usize >> 4].into());
                out.push(HEX[c as usize & 15].into());
            }
            c => out.push(c),
        }
    }
    out.push_str(&s[plain..]);
    out.push('"');
}
