//! Conversion to lists, sets and maps.

use std::sync::Arc;

use crate::value::conform::{settle_entries, settle_items};
use crate::value::{Entries, MapValue, Sequence, Step, Type, Value};

use super::convert::at_depth;
use super::error::{ConvertError, ConvertErrorKind, mismatch};
use super::possible::{Mode, is_possible, parts_to_element, same_or_possible, tuple_element};
use super::unify::{unify, unify_with};
use super::unknown;

type Result<T> = std::result::Result<T, ConvertError>;

/// Makes a list or a set.
pub(super) type Build = fn(Type, Vec<Value>) -> Value;

/// A list or set to a list or set type.
pub(super) fn sequence(
    given: &Sequence,
    element: &Type,
    build: Build,
    depth: usize,
) -> Result<Value> {
    if given.items.is_empty() {
        return empty(&given.element, element).map(|t| build(t, vec![]));
    }
    let mut items = convert_all(&given.items, element, depth)?;
    let actual = settle_items(&mut items).ok_or(ConvertErrorKind::MixedElements)?;
    Ok(build(actual, items))
}

/// A set whose length is open, to a list type: the list is not known either.
pub(super) fn uncertain_set(given: &Sequence, element: &Type) -> Result<Value> {
    if !same_or_possible(&given.element, element, Mode::Any) {
        return Err(mismatch(&given.element, element));
    }
    let wanted = element.without_optional_attributes();
    let element = unknown::resolve(&given.element, &wanted);
    Ok(Value::unknown(Type::list(element)))
}

/// A tuple to a list type.
pub(super) fn tuple_to_list(given: &[Value], wanted: &Type, depth: usize) -> Result<Value> {
    if given.is_empty() {
        return Ok(Value::list(wanted.without_optional_attributes(), vec![]));
    }
    let element = common_element(given, wanted)?;
    let mut items = convert_all(given, &element, depth)?;
    if element.has_dynamic() {
        // What open parts became may differ from element to element.
        let types: Vec<Type> = items.iter().map(Value::ty).collect();
        let common = unify(&types).ok_or(ConvertErrorKind::MixedElements)?;
        items = convert_all(&items, &common, depth)?;
    }
    let actual = settle_items(&mut items).ok_or(ConvertErrorKind::MixedElements)?;
    Ok(Value::list(actual, items))
}

/// A tuple to a set type.
pub(super) fn tuple_to_set(given: &[Value], wanted: &Type, depth: usize) -> Result<Value> {
    if given.is_empty() {
        return Ok(Value::set(wanted.without_optional_attributes(), vec![]));
    }
    let mut items = convert_all(given, &common_element(given, wanted)?, depth)?;
    let actual = settle_items(&mut items).ok_or(ConvertErrorKind::MixedElements)?;
    Ok(Value::set(actual, items))
}

/// The wanted element type, or what the items have in common if it is open.
fn common_element(items: &[Value], wanted: &Type) -> Result<Type> {
    if *wanted != Type::Dynamic {
        return Ok(wanted.clone());
    }
    let types: Vec<Type> = items.iter().map(Value::ty).collect();
    let common = tuple_element(&types, wanted, Mode::Any);
    Ok(common.ok_or(ConvertErrorKind::MixedElements)?)
}

fn convert_all(items: &[Value], element: &Type, depth: usize) -> Result<Vec<Value>> {
    items
        .iter()
        .enumerate()
        .map(|(i, item)| {
            at_depth(item, element, depth).map_err(|e| e.inside(Step::Index(i as u64)))
        })
        .collect()
}

/// The element type of an empty collection after conversion.
fn empty(given: &Type, wanted: &Type) -> Result<Type> {
    if !same_or_possible(given, wanted, Mode::Any) {
        return Err(mismatch(given, wanted));
    }
    Ok(if *wanted == Type::Dynamic {
        given.clone()
    } else {
        wanted.without_optional_attributes()
    })
}

/// A map to a map type.
pub(super) fn map(given: &MapValue, element: &Type, depth: usize) -> Result<Value> {
    if given.entries.is_empty() {
        let element = empty(&given.element, element)?;
        return Ok(Value::map::<&str>(element, []));
    }
    if !same_or_possible(&given.element, element, Mode::Any) {
        return Err(mismatch(&given.element, element));
    }
    entries_to_map(&given.entries, element, Mode::Safe, depth)
}

/// An object to a map type.
pub(super) fn object(given: &Entries, element: &Type, depth: usize) -> Result<Value> {
    if given.is_empty() {
        return Ok(Value::map::<&str>(
            element.without_optional_attributes(),
            [],
        ));
    }
    let element = if *element == Type::Dynamic {
        let types: Vec<Type> = given.values().map(Value::ty).collect();
        let common = parts_to_element(&types, element, Mode::Any);
        common.ok_or(ConvertErrorKind::MixedElements)?
    } else {
        element.clone()
    };
    entries_to_map(given, &element, Mode::Any, depth)
}

fn entries_to_map(given: &Entries, element: &Type, mode: Mode, depth: usize) -> Result<Value> {
    let mut entries = convert_entries(given, element, depth)?;
    if element.has_dynamic() && (element.is_collection() || matches!(element, Type::Object(_))) {
        // What open parts became may differ from element to element.
        let types: Vec<Type> = entries.values().map(Value::ty).collect();
        let common = unify_with(&types, mode).ok_or(ConvertErrorKind::MixedElements)?;
        entries = convert_entries(&entries, &common, depth)?;
    }
    let element = settle_entries(&mut entries).ok_or(ConvertErrorKind::MixedElements)?;
    Ok(Value::Map(Arc::new(MapValue { element, entries })))
}

fn convert_entries(given: &Entries, element: &Type, depth: usize) -> Result<Entries> {
    given
        .iter()
        .map(|(key, item)| match at_depth(item, element, depth) {
            Ok(item) => Ok((key.clone(), item)),
            Err(e) => Err(e.inside(Step::Key(key.clone()))),
        })
        .collect()
}

/// Whether the elements of a map may become the attributes of an object at all, whichever of them are there.
pub(super) fn check_map_to_object(given: &MapValue, ty: &Type) -> Result<()> {
    let whole = Type::map(given.element.clone());
    if is_possible(&whole, ty, Mode::Any) {
        Ok(())
    } else {
        Err(mismatch(&whole, ty))
    }
}
