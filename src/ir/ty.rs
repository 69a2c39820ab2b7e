//! Types of variables: the form that provider schemas have them in.

use super::error::At;
use super::json::Json;
use super::reader::Reader;
use crate::value::Type;

/// `"string"`, `["list", T]`, `["object", {name: T}, [optional]]`, …
pub(super) fn read(r: &mut Reader, at: &At, json: &Json) -> Type {
    parse(json).unwrap_or_else(|| {
        r.unexpected(at, "type", json);
        Type::Dynamic
    })
}

fn parse(json: &Json) -> Option<Type> {
    let parts = match json {
        Json::String(name) => {
            return match &**name {
                "string" => Some(Type::String),
                "number" => Some(Type::Number),
                "bool" => Some(Type::Bool),
                "dynamic" => Some(Type::Dynamic),
                _ => None,
            };
        }
        Json::Array(parts) => parts.as_slice(),
        _ => return None,
    };
    let kind = parts.first()?.as_str()?;
    match (kind, &parts[1..]) {
        ("list", [element]) => parse(element).map(Type::list),
        ("set", [element]) => parse(element).map(Type::set),
        ("map", [element]) => parse(element).map(Type::map),
        ("tuple", [Json::Array(items)]) => items
            .iter()
            .map(parse)
            .collect::<Option<_>>()
            .map(Type::Tuple),
        ("object", [attributes]) => object(attributes, &[]),
        ("object", [attributes, Json::Array(optional)]) => object(attributes, optional),
        _ => None,
    }
}

/// Optional names that are no attributes mean nothing.
fn object(attributes: &Json, optional: &[Json]) -> Option<Type> {
    let Json::Object(members) = attributes else {
        return None;
    };
    let attributes: Vec<_> = (members.iter())
        .map(|(name, ty)| Some((name, parse(ty)?)))
        .collect::<Option<_>>()?;
    let optional: Vec<&str> = optional.iter().map(Json::as_str).collect::<Option<_>>()?;
    let optional = optional.into_iter().filter(|name| members.contains(name));
    Some(Type::object_with_optional(attributes, optional))
}
