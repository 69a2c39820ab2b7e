//! A complete JSON notation of values, for fixtures and for talking to the oracle.
//!
//! Text, truth values and numbers are themselves; `{"list": […], "of": T}`, `{"set": …}`, `{"map": {…}, "of": T}`,
//! `{"tuple": […]}`, `{"object": {…}}`, `{"null": T}`, `{"infinity": "+"}`; `{"unknown": T}` with `not_null`, `prefix`,
//! `min` and `max` (`[number, inclusive]`), `min_length` and `max_length`.

use nivis::value::{Bound, Entries, Refinement, Type, Unknown, Value};
use serde_json::{Map, Value as Json, json};

pub(super) fn write(value: &Value) -> Json {
    let all = |items: &[Value]| Json::Array(items.iter().map(write).collect());
    let named = |entries: &Entries| -> Json {
        let entries = entries.iter().map(|(k, v)| (k.to_string(), write(v)));
        Json::Object(entries.collect())
    };
    match value {
        Value::Null(ty) => json!({"null": type_json(ty)}),
        Value::Unknown(unknown) => write_unknown(unknown),
        Value::Bool(b) => json!(b),
        Value::Number(n) => match n.to_json_number() {
            Some(n) => Json::Number(n),
            None => json!({"infinity": n.to_string()[..1]}),
        },
        Value::String(s) => json!(s),
        Value::List(s) => json!({"list": all(&s.items), "of": type_json(&s.element)}),
        Value::Set(s) => json!({"set": all(&s.items), "of": type_json(&s.element)}),
        Value::Map(m) => json!({"map": named(&m.entries), "of": type_json(&m.element)}),
        Value::Tuple(items) => json!({"tuple": all(items)}),
        Value::Object(entries) => json!({"object": named(entries)}),
    }
}

fn write_unknown(unknown: &Unknown) -> Json {
    let mut out = Map::new();
    out.insert("unknown".into(), type_json(&unknown.ty));
    let r = &unknown.refinement;
    let mut put = |name: &str, part: Option<Json>| {
        out.extend(part.map(|part| (name.to_owned(), part)));
    };
    let bound = |b: &Bound| json!([write(&Value::Number(b.value.clone())), b.inclusive]);
    put("not_null", r.not_null.then_some(json!(true)));
    put("prefix", r.prefix.as_ref().map(|p| json!(p)));
    put("min", r.min.as_ref().map(bound));
    put("max", r.max.as_ref().map(bound));
    put("min_length", r.min_length.map(|n| json!(n)));
    put("max_length", r.max_length.map(|n| json!(n)));
    Json::Object(out)
}

/// Panics on what is not in the notation: only tests write it.
pub(super) fn parse(json: &Json) -> Value {
    let all = |items: &Json| items.as_array().unwrap().iter().map(parse).collect();
    let named = |entries: &Json| -> Vec<(String, Value)> {
        let entries = entries.as_object().unwrap().iter();
        entries.map(|(k, v)| (k.clone(), parse(v))).collect()
    };
    match json {
        Json::String(s) => return Value::string(s),
        Json::Bool(b) => return Value::Bool(*b),
        Json::Number(n) => return Value::Number(n.as_str().parse().unwrap()),
        _ => {}
    }
    let object = json.as_object().unwrap();
    let of = || parse_value_type(&object["of"]);
    let kind = [
        "list", "set", "map", "tuple", "object", "null", "unknown", "infinity",
    ]
    .into_iter()
    .find(|kind| object.contains_key(*kind))
    .unwrap_or_else(|| panic!("no notation of a value: {json}"));
    let part = &object[kind];
    match kind {
        "list" => Value::list(of(), all(part)),
        "set" => Value::set(of(), all(part)),
        "map" => Value::map(of(), named(part)),
        "tuple" => Value::tuple(all(part)),
        "object" => Value::object(named(part)),
        "null" => Value::null(parse_value_type(part)),
        "infinity" => Value::Number(format!("{}inf", part.as_str().unwrap()).parse().unwrap()),
        _ => parse_unknown(object),
    }
}

fn parse_unknown(object: &Map<String, Json>) -> Value {
    let bound = |name: &str| {
        object.get(name).map(|b| Bound {
            value: b[0].as_number().unwrap().as_str().parse().unwrap(),
            inclusive: b[1].as_bool().unwrap(),
        })
    };
    let length = |name: &str| object.get(name).map(|n| n.as_u64().unwrap());
    Unknown {
        ty: parse_value_type(&object["unknown"]),
        refinement: Refinement {
            not_null: object.contains_key("not_null"),
            prefix: object.get("prefix").map(|p| p.as_str().unwrap().into()),
            min: bound("min"),
            max: bound("max"),
            min_length: length("min_length"),
            max_length: length("max_length"),
        },
    }
    .into_value()
}

pub(super) fn type_json(ty: &Type) -> Json {
    serde_json::from_str(&ty.to_json()).unwrap()
}

/// Values never have optional attributes; Go's converted nulls sometimes keep them by mistake.
fn parse_value_type(json: &Json) -> Type {
    parse_type(json).without_optional_attributes()
}

pub(super) fn parse_type(json: &Json) -> Type {
    Type::from_json_value(json).unwrap()
}
