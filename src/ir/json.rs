//! JSON text to a tree: numbers as written, repeated keys and bottomless nesting noticed.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::error::{At, IrError};
use crate::value::Number;

/// How deep arrays and objects may nest, the document being the first level.
const MAX_DEPTH: usize = 100;

const TOO_DEEP: &str = "nested deeper than 100 levels";

/// `serde_json` hands out a number that is no 64-bit integer as an object with this one key, exact as written.
const NUMBER: &str = "$serde_json::private::Number";

/// A JSON value. Text without escapes is borrowed from the document.
#[derive(Debug)]
pub(super) enum Json<'a> {
    Null,
    Bool(bool),
    Number(Number),
    String(Cow<'a, str>),
    Array(Vec<Json<'a>>),
    Object(Members<'a>),
    /// Something that valid JSON may hold but an IR may not, and why; [`parse`] leaves none.
    Refused(&'static str),
    /// The value under the key [`NUMBER`] of what is no object; [`parse`] leaves none.
    Digits(String),
}

/// Members of an object, sorted by key.
#[derive(Debug, Default)]
pub(super) struct Members<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

impl<'a> Members<'a> {
    /// Sorts; tells whether no key is there twice, and marks the values under those that are.
    fn new(mut members: Vec<(Cow<'a, str>, Json<'a>)>) -> (Self, bool) {
        if members.is_sorted_by(|a, b| a.0 < b.0) {
            return (Self(members), true);
        }
        members.sort_by(|a, b| a.0.cmp(&b.0));
        let mut unique = true;
        members.dedup_by(|next, first| {
            let same = next.0 == first.0;
            if same {
                first.1 = Json::Refused("duplicate key");
                unique = false;
            }
            same
        });
        (Self(members), unique)
    }

    pub(super) fn get(&self, key: &str) -> Option<&Json<'a>> {
        let found = self.0.binary_search_by(|(k, _)| (**k).cmp(key)).ok()?;
        Some(&self.0[found].1)
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| &**key)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Json<'a>)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }
}

impl Json<'_> {
    /// A member, if this is an object that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.get(key),
            _ => None,
        }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(s) => Some(s),
            _ => None,
        }
    }

    /// The name of its type in JSON Schema.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
            Self::Refused(_) | Self::Digits(_) => "malformed value",
        }
    }
}

/// The tree, or what keeps the text from being one.
pub(super) fn parse(bytes: &[u8]) -> Result<Json<'_>, Vec<IrError>> {
    let no_json =
        |why: &dyn fmt::Display| vec![IrError::new(&At::Root, format!("not JSON: {why}"))];
    let text = std::str::from_utf8(bytes).map_err(|error| no_json(&error))?;
    let mut refused = false;
    let tree = Tree {
        depth: 1,
        refused: &mut refused,
    };
    let mut text = serde_json::Deserializer::from_str(text);
    let json = (tree.deserialize(&mut text))
        .and_then(|json| text.end().map(|()| json))
        .map_err(|error| no_json(&error))?;
    if !refused {
        return Ok(json);
    }
    let mut errors = Vec::new();
    collect_refused(&At::Root, &json, &mut errors);
    Err(errors)
}

fn collect_refused(at: &At, json: &Json, errors: &mut Vec<IrError>) {
    match json {
        Json::Refused(why) => errors.push(IrError::new(at, *why)),
        Json::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                collect_refused(&at.index(i), item, errors);
            }
        }
        Json::Object(members) => {
            for (key, value) in members.iter() {
                collect_refused(&at.key(key), value, errors);
            }
        }
        _ => {}
    }
}

/// Builds one value.
struct Tree<'r> {
    depth: usize,
    refused: &'r mut bool,
}

impl Tree<'_> {
    fn inner(&mut self) -> Tree<'_> {
        Tree {
            depth: self.depth + 1,
            refused: self.refused,
        }
    }

    fn refuse<'de>(&mut self, why: &'static str) -> Json<'de> {
        *self.refused = true;
        Json::Refused(why)
    }

    fn number<'de>(&mut self, digits: &str) -> Json<'de> {
        match digits.parse() {
            Ok(number) => Json::Number(number),
            Err(_) => self.refuse("number out of range"),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Json<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, b: bool) -> Result<Json<'de>, E> {
        Ok(Json::Bool(b))
    }

    fn visit_borrowed_str<E>(self, s: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::String(s.into()))
    }

    fn visit_str<E>(self, s: &str) -> Result<Json<'de>, E> {
        Ok(Json::String(s.to_owned().into()))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Json<'de>, E> {
        Ok(Json::Number(n.into()))
    }

    fn visit_u64<E>(mut self, n: u64) -> Result<Json<'de>, E> {
        Ok(match i64::try_from(n) {
            Ok(n) => Json::Number(n.into()),
            Err(_) => self.number(&n.to_string()),
        })
    }

    /// Only the digits of a number come as owned text.
    fn visit_string<E>(self, digits: String) -> Result<Json<'de>, E> {
        Ok(Json::Digits(digits))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Json<'de>, A::Error> {
        if self.depth > MAX_DEPTH {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(self.refuse(TOO_DEEP));
        }
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self.inner())? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Json<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(key) = map.next_key_seed(Key)? {
            if self.depth > MAX_DEPTH && key != NUMBER {
                map.next_value::<IgnoredAny>()?;
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                return Ok(self.refuse(TOO_DEEP));
            }
            match map.next_value_seed(self.inner())? {
                Json::Digits(digits) => return Ok(self.number(&digits)),
                value => members.push((key, value)),
            }
        }
        let (members, unique) = Members::new(members);
        *self.refused |= !unique;
        Ok(Json::Object(members))
    }
}

/// Reads an object's key.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, s: &'de str) -> Result<Self::Value, E> {
        Ok(s.into())
    }

    fn visit_str<E>(self, s: &str) -> Result<Self::Value, E> {
        Ok(s.to_owned().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &Json) -> String {
        match json {
            Json::Number(n) => n.to_string(),
            Json::String(s) => format!("{s:?}"),
            Json::Array(items) => {
                let items: Vec<_> = items.iter().map(text).collect();
                format!("[{}]", items.join(","))
            }
            Json::Object(entries) => {
                let entry = |(k, v): (&str, &Json)| format!("{k:?}:{}", text(v));
                let entries: Vec<_> = entries.iter().map(entry).collect();
                format!("{{{}}}", entries.join(","))
            }
            Json::Null => "null".to_owned(),
            Json::Bool(b) => b.to_string(),
            Json::Refused(_) | Json::Digits(_) => panic!("{json:?} must not get out"),
        }
    }

    #[test]
    fn values_survive_as_written() {
        for json in [
            "null",
            r#"[true,false,"","\"é"]"#,
            "[0,-1,9223372036854775807,-9223372036854775808,18446744073709551616]",
            "[0.1,-1.5,123456789012345678901234567890.000000000000000000001]",
            r#"{"a":{"b":[{}]},"c":1}"#,
            r#"{"$serde_json::private::Number":"1"}"#,
            r#"{"$serde_json::private::Number":1}"#,
            r#"{"$serde_json::private::Number":{"$serde_json::private::Number":"x"}}"#,
            r#"{"$serde_json::private::Number":"1","a":2}"#,
        ] {
            assert_eq!(text(&parse(json.as_bytes()).unwrap()), json);
        }
    }

    #[test]
    fn refusals_are_addressed() {
        let nested = |levels| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        parse(nested(100).as_bytes()).unwrap();
        let deep = vec!["0"; 100].join("/");
        for (json, want) in [
            (
                nested(101),
                format!("at {deep}: nested deeper than 100 levels"),
            ),
            (
                nested(100_000),
                format!("at {deep}: nested deeper than 100 levels"),
            ),
            ("[1e99999]".into(), "at 0: number out of range".into()),
            (
                r#"{"b":[{"a":1,"c":2,"a":3}]}"#.into(),
                "at b/0/a: duplicate key".into(),
            ),
            (
                "[1,]".into(),
                "at <root>: not JSON: trailing comma at line 1 column 4".into(),
            ),
            (
                "{} {}".into(),
                "at <root>: not JSON: trailing characters at line 1 column 4".into(),
            ),
            (
                "[NaN]".into(),
                "at <root>: not JSON: expected value at line 1 column 2".into(),
            ),
            (
                String::new(),
                "at <root>: not JSON: EOF while parsing a value at line 1 column 0".into(),
            ),
        ] {
            let errors = parse(json.as_bytes()).unwrap_err();
            let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(errors, [want]);
        }
    }
}
