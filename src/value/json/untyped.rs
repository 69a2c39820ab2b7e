//! Plain JSON, without a type to go by.

use serde_json::Value as Json;

use crate::value::error::DecodeErrorKind;
use crate::value::error::EncodeErrorKind;
use crate::value::{DecodeError, EncodeError, Entries, MAX_DEPTH, Number, Step, Type, Value};

impl Value {
    /// The value that plain JSON is: objects are objects, arrays are tuples, null is a null of open type.
    ///
    /// Errors on numbers with too many digits and on excessive nesting.
    pub fn from_untyped_json(json: &Json) -> Result<Self, DecodeError> {
        read(json, MAX_DEPTH).map_err(|e| *e)
    }

    /// The value as plain JSON, types forgotten: what people and tools see of outputs.
    ///
    /// Errors if a part is unknown or an infinite number.
    pub fn to_untyped_json(&self) -> Result<Json, EncodeError> {
        write(self, MAX_DEPTH)
    }
}

impl Number {
    /// The number as JSON; `None` for infinities.
    pub fn to_json_number(&self) -> Option<serde_json::Number> {
        if let Some(n) = self.as_i64() {
            return Some(n.into());
        }
        self.to_string().parse().ok()
    }
}

fn read(json: &Json, depth: usize) -> Result<Value, Box<DecodeError>> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(DecodeErrorKind::TooDeep.into());
    };
    Ok(match json {
        Json::Null => Value::Null(Type::Dynamic),
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(n) => Value::Number(n.as_str().parse()?),
        Json::String(s) => Value::string(s),
        Json::Array(items) => {
            let items: Result<Vec<_>, Box<DecodeError>> = items
                .iter()
                .enumerate()
                .map(|(i, item)| read(item, depth).map_err(|e| e.inside(Step::Index(i as u64))))
                .collect();
            Value::tuple(items?)
        }
        Json::Object(map) => {
            let entries: Result<Vec<_>, Box<DecodeError>> = map
                .iter()
                .map(|(key, item)| match read(item, depth) {
                    Ok(item) => Ok((key.as_str(), item)),
                    Err(e) => Err(e.inside(Step::Attribute(key.as_str().into()))),
                })
                .collect();
            Value::object(entries?)
        }
    })
}

fn write(value: &Value, depth: usize) -> Result<Json, EncodeError> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(EncodeErrorKind::TooDeep.into());
    };
    let array = |items: &[Value]| {
        items
            .iter()
            .enumerate()
            .map(|(i, item)| write(item, depth).map_err(|e| e.inside(Step::Index(i as u64))))
            .collect::<Result<Vec<_>, _>>()
            .map(Json::Array)
    };
    let object = |entries: &Entries, step: fn(crate::value::Str) -> Step| {
        entries
            .iter()
            .map(|(key, item)| match write(item, depth) {
                Ok(item) => Ok((key.to_string(), item)),
                Err(e) => Err(e.inside(step(key.clone()))),
            })
            .collect::<Result<serde_json::Map<_, _>, _>>()
            .map(Json::Object)
    };
    match value {
        Value::Null(_) => Ok(Json::Null),
        Value::Unknown(_) => Err(EncodeErrorKind::Unknown.into()),
        Value::Bool(b) => Ok(Json::Bool(*b)),
        Value::Number(n) => match n.to_json_number() {
            Some(n) => Ok(Json::Number(n)),
            None => Err(EncodeErrorKind::Infinite.into()),
        },
        Value::String(s) => Ok(Json::String(s.to_string())),
        Value::List(s) | Value::Set(s) => array(&s.items),
        Value::Tuple(items) => array(items),
        Value::Map(map) => object(&map.entries, Step::Key),
        Value::Object(entries) => object(entries, Step::Attribute),
    }
}
