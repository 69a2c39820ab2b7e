//! Values as plain JSON, and the shadows that say which parts are unknown or sensitive.
//!
//! The shapes are those of `terraform show -json`: types are forgotten, unknown parts are left out (null in lists), and a
//! shadow has `true` where something is hidden, objects without the members where nothing is, and lists of the same length.

use serde_json::{Map, Value as Json};

use crate::value::{Entries, Number, Path, PathSet, Type, Value};

/// The known parts of a value; `None` if it is unknown as a whole.
pub fn known_json(value: &Value) -> Option<Json> {
    let array = |items: &[Value]| {
        Json::Array(
            items
                .iter()
                .map(|v| known_json(v).unwrap_or(Json::Null))
                .collect(),
        )
    };
    let object = |entries: &Entries| {
        let known = entries
            .iter()
            .filter_map(|(k, v)| Some((k.to_string(), known_json(v)?)));
        Json::Object(known.collect())
    };
    match value {
        Value::Unknown(_) => None,
        Value::Null(_) => Some(Json::Null),
        Value::Bool(b) => Some(Json::Bool(*b)),
        Value::Number(n) => Some(number_json(n)),
        Value::String(s) => Some(Json::String(s.to_string())),
        Value::List(s) | Value::Set(s) => Some(array(&s.items)),
        Value::Tuple(items) => Some(array(items)),
        Value::Map(map) => Some(object(&map.entries)),
        Value::Object(entries) => Some(object(entries)),
    }
}

/// Infinities, which JSON does not have, become strings.
fn number_json(n: &Number) -> Json {
    n.to_json_number()
        .map_or_else(|| Json::String(n.to_string()), Json::Number)
}

/// `true` where the value is unknown.
pub fn unknown_shadow(value: &Value) -> Json {
    match value {
        Value::Unknown(_) => Json::Bool(true),
        Value::Null(_) | Value::Bool(_) | Value::Number(_) | Value::String(_) => Json::Bool(false),
        Value::List(s) | Value::Set(s) => s.items.iter().map(unknown_shadow).collect(),
        Value::Tuple(items) => items.iter().map(unknown_shadow).collect(),
        Value::Map(map) => shadow_object(&map.entries, |_, v| unknown_shadow(v)),
        Value::Object(entries) => shadow_object(entries, |_, v| unknown_shadow(v)),
    }
}

/// `true` where the value is at a sensitive path.
pub fn sensitive_shadow(value: &Value, sensitive: &PathSet) -> Json {
    sensitive_at(value, sensitive, &Path::root())
}

fn sensitive_at(value: &Value, sensitive: &PathSet, at: &Path) -> Json {
    let array = |items: &[Value]| {
        let items = (0..).zip(items);
        items
            .map(|(i, v)| sensitive_at(v, sensitive, &at.index(i)))
            .collect()
    };
    match value {
        _ if sensitive.contains(at) => Json::Bool(true),
        Value::Unknown(unknown) => empty_shadow(&unknown.ty),
        Value::Null(_) | Value::Bool(_) | Value::Number(_) | Value::String(_) => Json::Bool(false),
        Value::List(s) | Value::Set(s) => array(&s.items),
        Value::Tuple(items) => array(items),
        Value::Map(map) => {
            shadow_object(&map.entries, |k, v| sensitive_at(v, sensitive, &at.key(k)))
        }
        Value::Object(entries) => {
            shadow_object(entries, |k, v| sensitive_at(v, sensitive, &at.attribute(k)))
        }
    }
}

/// Nothing can be said about the parts of what is unknown.
fn empty_shadow(ty: &Type) -> Json {
    match ty {
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => Json::Array(Vec::new()),
        Type::Map(_) | Type::Object(_) => Json::Object(Map::new()),
        _ => Json::Bool(false),
    }
}

fn shadow_object(entries: &Entries, shadow: impl Fn(&str, &Value) -> Json) -> Json {
    let members = entries.iter().map(|(k, v)| (k.to_string(), shadow(k, v)));
    Json::Object(
        members
            .filter(|(_, shadow)| *shadow != Json::Bool(false))
            .collect(),
    )
}

/// The JSON of a value with null in place of every part that its shadow calls sensitive.
pub fn redacted(json: &Json, sensitive: &Json) -> Json {
    match (json, sensitive) {
        (_, Json::Bool(true)) => Json::Null,
        (Json::Object(members), Json::Object(shadow)) => {
            let redact = |(k, v): (&String, &Json)| {
                (
                    k.clone(),
                    shadow.get(k).map_or_else(|| v.clone(), |s| redacted(v, s)),
                )
            };
            Json::Object(members.iter().map(redact).collect())
        }
        (Json::Array(items), Json::Array(shadow)) => items
            .iter()
            .zip(shadow)
            .map(|(v, s)| redacted(v, s))
            .collect(),
        _ => json.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::{path, ty, value};

    fn json(text: &str) -> Json {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn known_parts_and_shadows() {
        for (kind, given, known, unknown) in [
            ("string", r#""a""#, Some(r#""a""#), "false"),
            ("string", "null", Some("null"), "false"),
            ("list(string)", "null", Some("null"), "false"),
            ("string", r#""??""#, None, "true"),
            (
                "number",
                "12345678901234567890.5",
                Some("12345678901234567890.5"),
                "false",
            ),
            (
                "list(string)",
                r#"["a", "??"]"#,
                Some(r#"["a", null]"#),
                "[false, true]",
            ),
            (
                "set(string)",
                r#"["b", "a"]"#,
                Some(r#"["a", "b"]"#),
                "[false, false]",
            ),
            (
                "map(string)",
                r#"{"a": "1", "b": "??"}"#,
                Some(r#"{"a": "1"}"#),
                r#"{"b": true}"#,
            ),
            (
                "object(a: string, l: list(string), o: object(x: string))",
                r#"{"a": "??", "l": [], "o": {"x": null}}"#,
                Some(r#"{"l": [], "o": {"x": null}}"#),
                r#"{"a": true, "l": [], "o": {}}"#,
            ),
        ] {
            let value = value(&ty(kind), given);
            assert_eq!(known_json(&value), known.map(json), "{given}");
            assert_eq!(unknown_shadow(&value), json(unknown), "{given}");
        }
    }

    #[test]
    fn sensitive_parts() {
        let object = ty(
            "object(a: string, l: list(string), m: map(string), s: set(string), u: list(string), o: object(x: string))",
        );
        let value = value(
            &object,
            r#"{"a": "1", "l": ["x", "y"], "m": {"k": "1", "l": "2"}, "s": ["e"], "u": "??", "o": {"x": "1"}}"#,
        );
        for (paths, shadow) in [
            (
                &[][..],
                r#"{"l": [false, false], "m": {}, "s": [false], "u": [], "o": {}}"#,
            ),
            (
                &["a", "l[1]", "o.x"],
                r#"{"a": true, "l": [false, true], "m": {}, "s": [false], "u": [], "o": {"x": true}}"#,
            ),
            (
                &[r#"m["k"]"#, "s", "u"],
                r#"{"l": [false, false], "m": {"k": true}, "s": true, "u": true, "o": {}}"#,
            ),
        ] {
            let sensitive: PathSet = paths.iter().map(|p| path(p)).collect();
            assert_eq!(
                sensitive_shadow(&value, &sensitive),
                json(shadow),
                "{paths:?}"
            );
        }
        let all = sensitive_shadow(&value, &[Path::root()].into_iter().collect());
        assert_eq!(all, Json::Bool(true));
    }

    #[test]
    fn redaction_leaves_nothing_sensitive() {
        let value = json(r#"{"a": "secret", "l": ["x", "secret"], "m": {"k": "secret", "o": 1}}"#);
        let shadow = json(r#"{"a": true, "l": [false, true], "m": {"k": true}}"#);
        let want = json(r#"{"a": null, "l": ["x", null], "m": {"k": null, "o": 1}}"#);
        assert_eq!(redacted(&value, &shadow), want);
        assert_eq!(redacted(&value, &Json::Bool(true)), Json::Null);
        assert_eq!(redacted(&value, &Json::Bool(false)), value);
    }
}
