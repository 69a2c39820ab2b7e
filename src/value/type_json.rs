//! The JSON form of a type: a name, or an array of a kind and its arguments.

use std::sync::Arc;

use serde_json::Value as Json;

use super::json::write_string;
use super::{MAX_DEPTH, Type};

/// The text is not the JSON form of a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseTypeError {
    /// Not JSON at all.
    #[error("not valid JSON: {0}")]
    Syntax(String),
    /// JSON, but no type; the offending part.
    #[error("{0} is not a type")]
    NotAType(String),
    /// Nesting beyond [`MAX_DEPTH`].
    #[error("the type is nested too deeply")]
    TooDeep,
}

impl Type {
    /// Reads the JSON form: `"string"`, `["list", T]`, `["object", {name: T}]`, `["object", {name: T}, [optional]]`,
    /// `["tuple", [T]]`, `"dynamic"`.
    ///
    /// Optional attributes are kept; types of values must not have them ([`Type::without_optional_attributes`]).
    pub fn from_json(json: &[u8]) -> Result<Self, ParseTypeError> {
        if let Some(ty) = primitive_bytes(json) {
            return Ok(ty);
        }
        let json =
            serde_json::from_slice(json).map_err(|e| ParseTypeError::Syntax(e.to_string()))?;
        Self::from_json_value(&json)
    }

    /// As [`Type::from_json`], from parsed JSON.
    pub fn from_json_value(json: &Json) -> Result<Self, ParseTypeError> {
        parse(json, 0)
    }

    /// The compact JSON form, attributes sorted by name.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        write(self, &mut out);
        out
    }
}

/// The JSON of most attribute types, without a parser.
fn primitive_bytes(json: &[u8]) -> Option<Type> {
    match json {
        b"\"string\"" => Some(Type::String),
        b"\"number\"" => Some(Type::Number),
        b"\"bool\"" => Some(Type::Bool),
        b"\"dynamic\"" => Some(Type::Dynamic),
        _ => None,
    }
}

fn parse(json: &Json, depth: usize) -> Result<Type, ParseTypeError> {
    if depth >= MAX_DEPTH {
        return Err(ParseTypeError::TooDeep);
    }
    let not_a_type = || {
        let text = json.to_string();
        ParseTypeError::NotAType(text.chars().take(100).collect())
    };
    let inner = |json| parse(json, depth + 1);
    match json {
        Json::String(name) => match name.as_str() {
            "string" => Ok(Type::String),
            "number" => Ok(Type::Number),
            "bool" => Ok(Type::Bool),
            "dynamic" => Ok(Type::Dynamic),
            _ => Err(not_a_type()),
        },
        Json::Array(parts) => match parts.as_slice() {
            [Json::String(kind), argument] => match (kind.as_str(), argument) {
                ("list", element) => inner(element).map(Type::list),
                ("set", element) => inner(element).map(Type::set),
                ("map", element) => inner(element).map(Type::map),
                ("tuple", Json::Array(items)) => {
                    let items: Result<Arc<[Type]>, _> = items.iter().map(inner).collect();
                    items.map(Type::Tuple)
                }
                // Go's form of an array that nothing was ever put into.
                ("tuple", Json::Null) => Ok(Type::tuple([])),
                ("object", Json::Object(_)) => {
                    object(argument, &[], depth).ok_or_else(not_a_type)?
                }
                _ => Err(not_a_type()),
            },
            [Json::String(kind), attributes, Json::Array(optional)] if kind == "object" => {
                object(attributes, optional, depth).ok_or_else(not_a_type)?
            }
            _ => Err(not_a_type()),
        },
        _ => Err(not_a_type()),
    }
}

/// `None` if these are no attributes, or optional names that are not among them.
fn object(
    attributes: &Json,
    optional: &[Json],
    depth: usize,
) -> Option<Result<Type, ParseTypeError>> {
    let attributes = attributes.as_object()?;
    let optional: Option<Vec<&str>> = optional
        .iter()
        .map(|name| name.as_str().filter(|n| attributes.contains_key(*n)))
        .collect();
    let optional = optional?;
    let parsed: Result<Vec<_>, _> = attributes
        .iter()
        .map(|(name, ty)| Ok((name.as_str(), parse(ty, depth + 1)?)))
        .collect();
    Some(parsed.map(|attributes| Type::object_with_optional(attributes, optional)))
}

fn write(ty: &Type, out: &mut String) {
    let mut collection = |kind: &str, element: &Type| {
        out.push_str(kind);
        write(element, out);
        out.push(']');
    };
    match ty {
        Type::Dynamic => out.push_str("\"dynamic\""),
        Type::String => out.push_str("\"string\""),
        Type::Number => out.push_str("\"number\""),
        Type::Bool => out.push_str("\"bool\""),
        Type::List(t) => collection("[\"list\",", t),
        Type::Set(t) => collection("[\"set\",", t),
        Type::Map(t) => collection("[\"map\",", t),
        Type::Object(object) => {
            out.push_str("[\"object\",{");
            for (i, (name, t)) in object.attributes.iter().enumerate() {
                separate(i, out);
                write_string(name, out);
                out.push(':');
                write(t, out);
            }
            out.push('}');
            if !object.optional.is_empty() {
                out.push_str(",[");
                for (i, name) in object.optional.iter().enumerate() {
                    separate(i, out);
                    write_string(name, out);
                }
                out.push(']');
            }
            out.push(']');
        }
        Type::Tuple(items) => {
            out.push_str("[\"tuple\",[");
            for (i, t) in items.iter().enumerate() {
                separate(i, out);
                write(t, out);
            }
            out.push_str("]]");
        }
    }
}

fn separate(i: usize, out: &mut String) {
    if i > 0 {
        out.push(',');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways() {
        for json in [
            r#""string""#,
            r#""number""#,
            r#""bool""#,
            r#""dynamic""#,
            r#"["list","string"]"#,
            r#"["set",["map","dynamic"]]"#,
            r#"["object",{}]"#,
            r#"["object",{"a":"string","b":["tuple",["bool","number"]]}]"#,
            r#"["object",{"a":"string","b":"bool"},["b"]]"#,
            r#"["tuple",[]]"#,
            r#"["object",{"a\u003c\"":"string"}]"#,
        ] {
            assert_eq!(Type::from_json(json.as_bytes()).unwrap().to_json(), json);
        }
    }

    #[test]
    fn lenient_in_order_and_space() {
        let ty = Type::from_json(
            " [ \"object\", {\"b\": \"bool\", \"e\u{301}\": \"string\"}]".as_bytes(),
        );
        assert_eq!(
            ty.unwrap().to_json(),
            "[\"object\",{\"b\":\"bool\",\"\u{e9}\":\"string\"}]"
        );
    }

    #[test]
    fn empty_tuple_of_go() {
        let ty = Type::from_json(br#"["tuple",null]"#);
        assert_eq!(ty, Ok(Type::tuple([])));
    }

    #[test]
    fn refuses() {
        for bad in [
            "",
            "string",
            "null",
            "1",
            r#""str""#,
            "[]",
            r#"["list"]"#,
            r#"["list","string","string"]"#,
            r#"["object",[]]"#,
            r#"["tuple",{}]"#,
            r#"["tuple","string"]"#,
            r#"["object",{"a":"x"}]"#,
            r#"["object",{"a":"string"},["b"]]"#,
            r#"["object",{"a":"string"},"a"]"#,
            r#""string" 1"#,
        ] {
            assert!(Type::from_json(bad.as_bytes()).is_err(), "{bad}");
        }
        let deep = format!(
            "{}\"string\"{}",
            "[\"list\",".repeat(10_000),
            "]".repeat(10_000)
        );
        assert!(Type::from_json(deep.as_bytes()).is_err());
    }
}
