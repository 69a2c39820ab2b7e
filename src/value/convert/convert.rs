//! Conversion of one value.

use crate::value::{Entries, MAX_DEPTH, ObjectType, Step, Str, Type, Value};

use super::collection;
use super::error::{ConvertError, ConvertErrorKind, mismatch};
use super::possible::{Mode, is_possible};
use super::unknown;

/// Converts a value to a type, which may have optional attributes, as OpenTofu and Terraform do with configuration.
///
/// Numbers and truth values become text and back; lists, sets and tuples become lists and sets; objects become maps and
/// back; attributes the type does not have are dropped, optional ones that are missing become null. Open parts of the
/// type (`dynamic`) take any value. Null stays null, unknown stays unknown.
pub fn convert(value: &Value, ty: &Type) -> Result<Value, ConvertError> {
    at_depth(value, ty, MAX_DEPTH)
}

pub(super) fn at_depth(value: &Value, ty: &Type, depth: usize) -> Result<Value, ConvertError> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(ConvertErrorKind::TooDeep.into());
    };
    match (value, ty) {
        (_, Type::Dynamic)
        | (Value::Bool(_), Type::Bool)
        | (Value::Number(_), Type::Number)
        | (Value::String(_), Type::String) => Ok(value.clone()),
        (Value::Null(given), _) => {
            let wanted = ty.without_optional_attributes();
            if *given != wanted && !is_possible(given, ty, Mode::Any) {
                return Err(mismatch(given, ty));
            }
            Ok(Value::Null(unknown::resolve(given, &wanted)))
        }
        (Value::Unknown(u), _) => {
            let wanted = ty.without_optional_attributes();
            if u.ty == wanted {
                return Ok(value.clone());
            }
            if !is_possible(&u.ty, ty, Mode::Any) {
                return Err(mismatch(&u.ty, ty));
            }
            Ok(unknown::unknown(u, unknown::resolve(&u.ty, &wanted)))
        }
        (Value::Number(n), Type::String) => Ok(Value::String(n.to_string().into())),
        (Value::Bool(b), Type::String) => Ok(Value::string(if *b { "true" } else { "false" })),
        (Value::String(s), Type::Number) => match s.parse() {
            Ok(n) => Ok(Value::Number(n)),
            Err(_) => Err(ConvertErrorKind::NotANumber.into()),
        },
        (Value::String(s), Type::Bool) => match &**s {
            "true" | "1" => Ok(Value::Bool(true)),
            "false" | "0" => Ok(Value::Bool(false)),
            _ => Err(ConvertErrorKind::NotABool.into()),
        },
        (Value::List(_), Type::List(_)) | (Value::Set(_), Type::Set(_)) if value.has_type(ty) => {
            Ok(value.clone())
        }
        (Value::Set(s), Type::List(element)) if s.known_length().is_none() => {
            collection::uncertain_set(s, element)
        }
        (Value::List(s) | Value::Set(s), Type::List(element)) => {
            collection::sequence(s, element, Value::list, depth)
        }
        (Value::List(s) | Value::Set(s), Type::Set(element)) => {
            collection::sequence(s, element, Value::set, depth)
        }
        (Value::Tuple(items), Type::List(t)) => collection::tuple_to_list(items, t, depth),
        (Value::Tuple(items), Type::Set(t)) => collection::tuple_to_set(items, t, depth),
        (Value::Tuple(items), Type::Tuple(types)) if items.len() == types.len() => {
            let converted: Result<Vec<_>, _> = std::iter::zip(items.iter(), types.iter())
                .enumerate()
                .map(|(i, (item, t))| {
                    at_depth(item, t, depth).map_err(|e| e.inside(Step::Index(i as u64)))
                })
                .collect();
            Ok(Value::tuple(converted?))
        }
        (Value::Map(_), Type::Map(_)) if value.has_type(ty) => Ok(value.clone()),
        (Value::Map(map), Type::Map(element)) => collection::map(map, element, depth),
        (Value::Object(entries), Type::Map(element)) => collection::object(entries, element, depth),
        (Value::Object(entries), Type::Object(object)) => {
            to_object(entries, object, Step::Attribute, depth)
        }
        (Value::Map(map), Type::Object(object)) => {
            collection::check_map_to_object(map, ty)?;
            to_object(&map.entries, object, Step::Key, depth)
        }
        _ => Err(mismatch(&value.ty(), ty)),
    }
}

/// An object from what may be its attributes.
fn to_object(
    given: &Entries,
    object: &ObjectType,
    step: fn(Str) -> Step,
    depth: usize,
) -> Result<Value, ConvertError> {
    let entries: Result<Entries, ConvertError> = object
        .attributes
        .iter()
        .map(|(name, t)| match given.get(name) {
            Some(item) => {
                let item = at_depth(item, t, depth).map_err(|e| e.inside(step(name.clone())))?;
                Ok((name.clone(), item))
            }
            None if object.optional.contains(name) => {
                Ok((name.clone(), Value::Null(t.without_optional_attributes())))
            }
            None => Err(ConvertErrorKind::MissingAttribute(name.to_string()).into()),
        })
        .collect();
    Ok(Value::Object(entries?.into()))
}
