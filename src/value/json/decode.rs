//! JSON to values, as a type asks for.

use std::sync::Arc;

use super::reader::{Kind, Reader};
use crate::value::conform::{settle_entries, settle_items};
use crate::value::error::DecodeErrorKind;
use crate::value::text::nfc;
use crate::value::{DecodeError, Entries, MAX_DEPTH, MapValue, ObjectType, Step, Str, Type, Value};

type Result<T> = std::result::Result<T, Box<DecodeError>>;

/// Reads a value of a schema's type.
///
/// Attributes that are missing are null; ones the type does not have are errors. Of equal names the last counts. Scalars
/// are read leniently: a number or truth value as a string, text as a number or truth value if it spells one. What is
/// not UTF-8 is replaced by U+FFFD.
pub fn from_json(json: &[u8], ty: &Type) -> std::result::Result<Value, DecodeError> {
    read_all(json, ty, MAX_DEPTH).map_err(|e| *e)
}

fn read_all(json: &[u8], ty: &Type, depth: usize) -> Result<Value> {
    let mut input = Reader::new(json);
    let value = read(&mut input, ty, depth)?;
    input.end()?;
    Ok(value)
}

fn read(input: &mut Reader<'_>, ty: &Type, depth: usize) -> Result<Value> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(DecodeErrorKind::TooDeep.into());
    };
    let kind = input.kind()?;
    match (ty, kind) {
        (_, Kind::Null) => Ok(Value::Null(ty.clone())),
        (Type::Dynamic, Kind::Object) => read_dynamic(input, depth),
        (Type::Dynamic, _) => Err(DecodeErrorKind::Dynamic.into()),
        (Type::String, Kind::String) => Ok(Value::string(input.string()?)),
        (Type::String, Kind::Number) => Ok(Value::string(input.number()?)),
        (Type::String, Kind::Bool(b)) => Ok(Value::string(if b { "true" } else { "false" })),
        (Type::Number, Kind::Number) => Ok(Value::Number(input.number()?.parse()?)),
        (Type::Number, Kind::String) => Ok(Value::Number(input.string()?.parse()?)),
        (Type::Bool, Kind::Bool(b)) => Ok(Value::Bool(b)),
        (Type::Bool, Kind::String) => match &*input.string()? {
            "true" | "1" => Ok(Value::Bool(true)),
            "false" | "0" => Ok(Value::Bool(false)),
            _ => Err(mismatch(ty, kind)),
        },
        (Type::List(element), Kind::Array) => {
            let (element, items) = read_items(input, element, depth)?;
            Ok(Value::list(element, items))
        }
        (Type::Set(element), Kind::Array) => {
            let (element, items) = read_items(input, element, depth)?;
            Ok(Value::set(element, items))
        }
        (Type::Tuple(types), Kind::Array) => read_tuple(input, types, depth),
        (Type::Map(element), Kind::Object) => read_map(input, element, depth),
        (Type::Object(object), Kind::Object) => read_object(input, object, depth),
        _ => Err(mismatch(ty, kind)),
    }
}

fn mismatch(ty: &Type, found: Kind) -> Box<DecodeError> {
    DecodeErrorKind::Mismatch {
        expected: ty.to_string(),
        found: found.describe().to_owned(),
    }
    .into()
}

/// An object of exactly a type and a value, in any order.
fn read_dynamic(input: &mut Reader<'_>, depth: usize) -> Result<Value> {
    let (mut ty, mut value) = (None, None);
    let mut first = true;
    input.open();
    while input.next(first, b'}')? {
        first = false;
        match &*input.key()? {
            "type" => ty = Some(input.raw()?),
            "value" => value = Some(input.raw()?),
            _ => return Err(DecodeErrorKind::Dynamic.into()),
        }
    }
    let (Some(ty), Some(value)) = (ty, value) else {
        return Err(DecodeErrorKind::Dynamic.into());
    };
    let ty = Type::from_json(ty)?.without_optional_attributes();
    read_all(value, &ty, depth)
}

fn read_items(input: &mut Reader<'_>, element: &Type, depth: usize) -> Result<(Type, Vec<Value>)> {
    let mut items = Vec::new();
    input.open();
    while input.next(items.is_empty(), b']')? {
        let step = |e: Box<DecodeError>| e.inside(Step::Index(items.len() as u64));
        items.push(read(input, element, depth).map_err(step)?);
    }
    let element = actual_element(element, items.len(), || settle_items(&mut items))?;
    Ok((element, items))
}

/// The type of the elements that were read: the schema's, or what they agree on where the schema leaves it open.
fn actual_element(
    schema: &Type,
    len: usize,
    settle: impl FnOnce() -> Option<Type>,
) -> Result<Type> {
    if len == 0 || !schema.has_dynamic() {
        return Ok(schema.clone());
    }
    Ok(settle().ok_or(DecodeErrorKind::MixedElements)?)
}

fn read_tuple(input: &mut Reader<'_>, types: &[Type], depth: usize) -> Result<Value> {
    let mut items = Vec::with_capacity(types.len());
    let mut found = 0;
    input.open();
    while input.next(found == 0, b']')? {
        match types.get(found) {
            Some(ty) => {
                let step = |e: Box<DecodeError>| e.inside(Step::Index(found as u64));
                items.push(read(input, ty, depth).map_err(step)?);
            }
            // Only to tell how many there are.
            None => drop(input.raw()?),
        }
        found += 1;
    }
    if found != types.len() {
        return Err(DecodeErrorKind::TupleLength {
            expected: types.len(),
            found,
        }
        .into());
    }
    Ok(Value::tuple(items))
}

fn read_map(input: &mut Reader<'_>, element: &Type, depth: usize) -> Result<Value> {
    let mut entries = Vec::new();
    input.open();
    while input.next(entries.is_empty(), b'}')? {
        let key: Str = nfc(&input.key()?).into();
        let item = read(input, element, depth).map_err(|e| e.inside(Step::Key(key.clone())))?;
        entries.push((key, item));
    }
    let mut entries: Entries = entries.into_iter().collect();
    let element = actual_element(element, entries.len(), || settle_entries(&mut entries))?;
    Ok(Value::Map(Arc::new(MapValue { element, entries })))
}

fn read_object(input: &mut Reader<'_>, object: &ObjectType, depth: usize) -> Result<Value> {
    let mut entries = Vec::with_capacity(object.attributes.len());
    // Attributes nearly always come in order; then no look-up is needed.
    let mut in_order = object.attributes.iter();
    input.open();
    while input.next(entries.is_empty(), b'}')? {
        let key = input.key()?;
        let (name, ty) = match in_order.next() {
            Some(next) if **next.0 == *key => next,
            _ => object
                .attributes
                .get_key_value(&*nfc(&key))
                .ok_or_else(|| DecodeErrorKind::UnsupportedAttribute(key.to_string()))?,
        };
        let step = |e: Box<DecodeError>| e.inside(Step::Attribute(name.clone()));
        entries.push((name.clone(), read(input, ty, depth).map_err(step)?));
    }
    let mut entries: Entries = entries.into_iter().collect();
    if entries.len() < object.attributes.len() {
        let nulls: Vec<_> = object
            .attributes
            .iter()
            .filter(|(name, _)| entries.get(name).is_none())
            .map(|(name, ty)| (name.clone(), Value::Null(ty.clone())))
            .collect();
        entries = entries.into_iter().chain(nulls).collect();
    }
    Ok(Value::Object(Arc::new(entries)))
}
