//! Parts of objects and collections that may be null or unknown as a whole.

use crate::schema::{Block, NestedAttribute, attribute_type, implied_type};
use crate::value::{Entries, Type, Value};

/// What a nested block type or attribute collects.
#[derive(Clone, Copy)]
pub(super) enum Element<'a> {
    Block(&'a Block),
    Object(&'a NestedAttribute),
}

impl Element<'_> {
    pub(super) fn ty(self) -> Type {
        match self {
            Self::Block(block) => implied_type(block),
            Self::Object(nested) => Type::object(
                nested
                    .attributes
                    .iter()
                    .map(|(k, a)| (k.clone(), attribute_type(a))),
            ),
        }
    }
}

/// A member of an object that may be null or unknown as a whole.
pub(super) fn member(object: &Value, name: &str, ty: impl FnOnce() -> Type) -> Value {
    match object {
        Value::Unknown(_) => Value::unknown(ty()),
        other => other
            .attribute(name)
            .cloned()
            .unwrap_or_else(|| Value::null(ty())),
    }
}

/// The elements of a known list, set or tuple; else none.
pub(super) fn items(value: &Value) -> &[Value] {
    match value {
        Value::List(s) | Value::Set(s) => &s.items,
        Value::Tuple(items) => items,
        _ => &[],
    }
}

/// The elements by name of a known map or object.
pub(super) fn entries(value: &Value) -> Option<&Entries> {
    match value {
        Value::Map(map) => Some(&map.entries),
        Value::Object(entries) => Some(entries),
        _ => None,
    }
}
