//! Small helpers on object values, for those who make and change them attribute by attribute.

use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::value::{Path, Str, Type, Value};

/// An attribute; null if the value is not an object that has it.
pub fn get(object: &Value, name: &str) -> Value {
    let missing = || Value::null(Type::Dynamic);
    object.attribute(name).cloned().unwrap_or_else(missing)
}

/// The text of an attribute, if it is known and not null.
pub fn text<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object.attribute(name)?.as_str()
}

/// A copy of an object with some attributes set.
pub fn with<const N: usize>(object: &Value, attributes: [(&str, Value); N]) -> Value {
    let mut entries = match object {
        Value::Object(entries) => (**entries).clone(),
        _ => crate::value::Entries::default(),
    };
    for (name, value) in attributes {
        entries.insert(Str::from(name), value);
    }
    Value::Object(Arc::new(entries))
}

/// An error about one attribute.
pub fn error_at(attribute: &str, summary: &str, detail: impl Into<String>) -> Diagnostic {
    Diagnostic::error(summary)
        .detail(detail)
        .path(Path::root().attribute(attribute))
}
