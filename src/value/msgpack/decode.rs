//! MessagePack to values.

use std::borrow::Cow;
use std::sync::Arc;

use rmp::Marker;

use super::reader::{Integer, Reader, describe};
use super::refinement;
use crate::value::conform::{settle_entries, settle_items};
use crate::value::error::DecodeErrorKind;
use crate::value::text::nfc;
use crate::value::{
    DecodeError, Entries, MAX_DEPTH, MapValue, Number, ObjectType, Step, Str, Type, Value,
};

type Result<T> = std::result::Result<T, Box<DecodeError>>;

/// No list reserves more than this in advance, whatever length it declares.
const MAX_RESERVED: usize = 4096;

/// Reads a value of a schema's type. Bytes after it are ignored, as OpenTofu and Terraform do.
///
/// Accepts every encoding of a number, text as binary, and any extension as an unknown value; refuses missing and
/// unknown attributes, tuples of wrong length, NaN, and contradictory refinements.
pub fn decode(bytes: &[u8], ty: &Type) -> std::result::Result<Value, DecodeError> {
    read(&mut Reader(bytes), ty, MAX_DEPTH).map_err(|e| *e)
}

fn read(input: &mut Reader<'_>, ty: &Type, depth: usize) -> Result<Value> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(DecodeErrorKind::TooDeep.into());
    };
    let marker = input.marker()?;
    if marker == Marker::Null {
        return Ok(Value::Null(ty.clone()));
    }
    if let Some((code, payload)) = input.ext(marker)? {
        return Ok(refinement::read(code, payload, ty)?);
    }
    let other = || mismatch(&ty.to_string(), marker);
    match ty {
        Type::Dynamic => {
            let len = input.array_len(marker)?.ok_or_else(other)?;
            read_dynamic(input, len, depth)
        }
        Type::String => {
            let text = input.text(marker)?.ok_or_else(other)?;
            Ok(Value::string(text))
        }
        Type::Number => {
            let number = read_number(input, marker)?.ok_or_else(other)?;
            Ok(Value::Number(number))
        }
        Type::Bool => match marker {
            Marker::True => Ok(Value::Bool(true)),
            Marker::False => Ok(Value::Bool(false)),
            _ => Err(other()),
        },
        Type::List(element) => {
            let len = input.array_len(marker)?.ok_or_else(other)?;
            let (element, items) = read_items(input, element, len, depth)?;
            Ok(Value::list(element, items))
        }
        Type::Set(element) => {
            let len = input.array_len(marker)?.ok_or_else(other)?;
            let (element, items) = read_items(input, element, len, depth)?;
            Ok(Value::set(element, items))
        }
        Type::Tuple(types) => {
            let len = input.array_len(marker)?.ok_or_else(other)?;
            read_tuple(input, types, len, depth)
        }
        Type::Map(element) => {
            let len = input.map_len(marker)?.ok_or_else(other)?;
            read_map(input, element, len, depth)
        }
        Type::Object(object) => {
            let len = input.map_len(marker)?.ok_or_else(other)?;
            read_object(input, object, len, depth)
        }
    }
}

fn mismatch(expected: &str, found: Marker) -> Box<DecodeError> {
    DecodeErrorKind::Mismatch {
        expected: expected.to_owned(),
        found: describe(found).to_owned(),
    }
    .into()
}

/// `None` if the marker is of nothing that can be a number.
pub(super) fn read_number(
    input: &mut Reader<'_>,
    marker: Marker,
) -> std::result::Result<Option<Number>, DecodeErrorKind> {
    if let Some(n) = input.integer(marker)? {
        return Ok(Some(match n {
            Integer::Signed(n) => n.into(),
            Integer::Unsigned(n) => n.into(),
        }));
    }
    let float = match marker {
        Marker::F32 => f32::from_be_bytes(input.array()?).into(),
        Marker::F64 => f64::from_be_bytes(input.array()?),
        _ => {
            let text = input.text(marker)?;
            return Ok(text.map(|text| text.parse()).transpose()?);
        }
    };
    let number = Number::from_f64(float);
    number.ok_or(DecodeErrorKind::NotANumber).map(Some)
}

fn read_dynamic(input: &mut Reader<'_>, len: usize, depth: usize) -> Result<Value> {
    if len != 2 {
        return Err(DecodeErrorKind::Dynamic.into());
    }
    let marker = input.marker()?;
    let json = input.raw(marker)?.ok_or(DecodeErrorKind::Dynamic)?;
    let ty = Type::from_json(json)?.without_optional_attributes();
    read(input, &ty, depth)
}

fn read_items(
    input: &mut Reader<'_>,
    element: &Type,
    len: usize,
    depth: usize,
) -> Result<(Type, Vec<Value>)> {
    let mut items = Vec::with_capacity(len.min(MAX_RESERVED));
    for i in 0..len {
        let item = read(input, element, depth).map_err(|e| e.inside(Step::Index(i as u64)))?;
        items.push(item);
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

fn read_tuple(input: &mut Reader<'_>, types: &[Type], len: usize, depth: usize) -> Result<Value> {
    if len != types.len() {
        return Err(DecodeErrorKind::TupleLength {
            expected: types.len(),
            found: len,
        }
        .into());
    }
    let items: Result<Arc<[Value]>> = types
        .iter()
        .enumerate()
        .map(|(i, ty)| read(input, ty, depth).map_err(|e| e.inside(Step::Index(i as u64))))
        .collect();
    items.map(Value::Tuple)
}

fn read_map(input: &mut Reader<'_>, element: &Type, len: usize, depth: usize) -> Result<Value> {
    let mut entries = Vec::with_capacity(len.min(MAX_RESERVED));
    for _ in 0..len {
        let key: Str = nfc(&read_key(input)?).into();
        let item = read(input, element, depth).map_err(|e| e.inside(Step::Key(key.clone())))?;
        entries.push((key, item));
    }
    let mut entries: Entries = entries.into_iter().collect();
    let element = actual_element(element, entries.len(), || settle_entries(&mut entries))?;
    Ok(Value::Map(Arc::new(MapValue { element, entries })))
}

fn read_key<'a>(input: &mut Reader<'a>) -> Result<Cow<'a, str>> {
    let marker = input.marker()?;
    let key = input.text(marker)?;
    key.ok_or_else(|| mismatch("a string as key", marker))
}

fn read_object(
    input: &mut Reader<'_>,
    object: &ObjectType,
    len: usize,
    depth: usize,
) -> Result<Value> {
    if len != object.attributes.len() {
        return Err(DecodeErrorKind::AttributeCount {
            expected: object.attributes.len(),
            found: len,
        }
        .into());
    }
    let mut entries = Vec::with_capacity(len);
    // Attributes nearly always come in order; then no look-up is needed.
    let mut in_order = object.attributes.iter();
    for _ in 0..len {
        let key = read_key(input)?;
        let (name, ty) = match in_order.next() {
            Some(next) if **next.0 == *key => next,
            _ => object
                .attributes
                .get_key_value(&*nfc(&key))
                .ok_or_else(|| DecodeErrorKind::UnsupportedAttribute(key.to_string()))?,
        };
        let item = read(input, ty, depth).map_err(|e| e.inside(Step::Attribute(name.clone())))?;
        entries.push((name.clone(), item));
    }
    let entries: Entries = entries.into_iter().collect();
    if entries.len() != len {
        // A name given twice leaves another one missing.
        return Err(DecodeErrorKind::AttributeCount {
            expected: len,
            found: entries.len(),
        }
        .into());
    }
    Ok(Value::Object(Arc::new(entries)))
}
