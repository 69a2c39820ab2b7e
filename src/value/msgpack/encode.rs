//! Values to MessagePack.

use rmp::Marker;

use super::refinement;
use super::writer::Writer;
use crate::value::error::EncodeErrorKind;
use crate::value::{EncodeError, MAX_DEPTH, Number, Step, Type, Value};

/// Writes a value as its schema's type asks for: integers of 64 bits and floats that are exact as such, other numbers as
/// text, every attribute of an object in order, values of `dynamic` together with their type.
///
/// Errors if the value does not conform to the type.
pub fn encode(value: &Value, ty: &Type) -> Result<Vec<u8>, EncodeError> {
    let mut out = Writer::default();
    write(value, ty, MAX_DEPTH, &mut out)?;
    Ok(out.0)
}

fn write(value: &Value, ty: &Type, depth: usize, out: &mut Writer) -> Result<(), EncodeError> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(EncodeErrorKind::TooDeep.into());
    };
    match (value, ty) {
        (Value::Unknown(unknown), _) if unknown.ty.conforms(ty) => {
            if *ty == Type::Dynamic && unknown.ty != Type::Dynamic {
                return write_dynamic(value, depth, out);
            }
            refinement::write(unknown, out);
        }
        (Value::Null(null), _) if null.conforms(ty) => {
            if *ty == Type::Dynamic && *null != Type::Dynamic {
                return write_dynamic(value, depth, out);
            }
            out.marker(Marker::Null);
        }
        (Value::Unknown(_) | Value::Null(_), _) => return Err(mismatch(value, ty)),
        (_, Type::Dynamic) => return write_dynamic(value, depth, out),
        (Value::Bool(b), Type::Bool) => out.bool(*b),
        (Value::Number(n), Type::Number) => write_number(n, out),
        (Value::String(s), Type::String) => out.str(s),
        (Value::List(s), Type::List(t)) | (Value::Set(s), Type::Set(t)) => {
            out.array(s.items.len());
            for (i, item) in s.items.iter().enumerate() {
                write(item, t, depth, out).map_err(|e| e.inside(Step::Index(i as u64)))?;
            }
        }
        (Value::Tuple(items), Type::Tuple(types)) if items.len() == types.len() => {
            out.array(items.len());
            for (i, (item, t)) in items.iter().zip(types.iter()).enumerate() {
                write(item, t, depth, out).map_err(|e| e.inside(Step::Index(i as u64)))?;
            }
        }
        (Value::Map(map), Type::Map(t)) => {
            out.map(map.entries.len());
            for (key, item) in map.entries.iter() {
                out.str(key);
                write(item, t, depth, out).map_err(|e| e.inside(Step::Key(key.clone())))?;
            }
        }
        (Value::Object(entries), Type::Object(object))
            if entries.names().eq(object.attributes.keys()) =>
        {
            out.map(entries.len());
            for ((name, item), t) in entries.iter().zip(object.attributes.values()) {
                out.str(name);
                write(item, t, depth, out).map_err(|e| e.inside(Step::Attribute(name.clone())))?;
            }
        }
        _ => return Err(mismatch(value, ty)),
    }
    Ok(())
}

fn mismatch(value: &Value, ty: &Type) -> EncodeError {
    EncodeErrorKind::Mismatch {
        expected: ty.to_string(),
        found: value.ty().to_string(),
    }
    .into()
}

fn write_dynamic(value: &Value, depth: usize, out: &mut Writer) -> Result<(), EncodeError> {
    let ty = value.ty();
    out.array(2);
    out.bin(ty.to_json().as_bytes());
    write(value, &ty, depth, out)
}

pub(super) fn write_number(n: &Number, out: &mut Writer) {
    if let Some(n) = n.as_i64() {
        out.int(n);
    } else if n.is_infinite() {
        out.float(n.to_f64());
    } else if let Some(fraction) = n.as_fraction_f64() {
        out.float(fraction);
    } else {
        out.str(&n.to_string());
    }
}
