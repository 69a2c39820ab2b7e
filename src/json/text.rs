//! Plain JSON text of values, types forgotten: what people and tools see of outputs.

use crate::value::{DecodeError, EncodeError, Value};

/// Why a text is no value.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// It is no JSON.
    #[error(transparent)]
    Syntax(#[from] serde_json::Error),
    /// It is JSON that no value can be.
    #[error(transparent)]
    Value(#[from] DecodeError),
}

/// The value that a JSON text is: objects are objects, arrays tuples.
pub fn parse(text: &[u8]) -> Result<Value, ParseError> {
    Ok(Value::from_untyped_json(&serde_json::from_slice(text)?)?)
}

/// A known value as indented JSON text.
pub fn pretty(value: &Value) -> Result<String, EncodeError> {
    value.to_untyped_json().map(|json| format!("{json:#}"))
}
