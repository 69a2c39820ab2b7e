//! Reading JSON into types while collecting what is wrong.
//!
//! After an error a reader gives a default and goes on, so that one run finds all errors. Whoever sees an error drops
//! what was read.

use std::collections::HashSet;

use super::error::{At, IrError, suggest};
use super::json::{Json, Members};
use super::leaf;
use crate::addr::Id;
use crate::value::Str;

/// With more ids than this, dangling references get no suggestion: each costs a comparison with every id.
const MAX_CANDIDATES: usize = 200;

/// Keys that other tools expand resources by.
const EXPANSION_KEYS: [&str; 3] = ["count", "for_each", "forEach"];

/// What is wrong so far, and what references may name.
pub(super) struct Reader {
    /// Ids of all resources and data sources.
    ids: HashSet<Id>,
    /// Whether derived leaves may come with the secrets they came to.
    pub(super) secrets: bool,
    /// Names of attributes met so far: they repeat a lot.
    attributes: HashSet<Str>,
    /// Elements of the wrong shape.
    pub(super) malformed: Vec<IrError>,
    /// Elements of the right shape that contradict others. Only worth telling if nothing is malformed.
    pub(super) contradictions: Vec<IrError>,
}

impl Reader {
    pub(super) fn new(ids: HashSet<Id>) -> Self {
        Self {
            ids,
            secrets: false,
            attributes: HashSet::new(),
            malformed: Vec::new(),
            contradictions: Vec::new(),
        }
    }

    pub(super) fn malformed(&mut self, at: &At, message: impl Into<String>) {
        self.malformed.push(IrError::new(at, message));
    }

    pub(super) fn contradiction(&mut self, at: &At, message: impl Into<String>) {
        self.contradictions.push(IrError::new(at, message));
    }

    /// The element is not what it should be.
    pub(super) fn unexpected(&mut self, at: &At, expected: &str, found: &Json) {
        let found = describe(found);
        self.malformed(at, format!("expected {expected}, found {found}"));
    }

    /// The members of an object, after a check that it has all the `required` keys and no others but the `optional`.
    pub(super) fn fields<'a>(
        &mut self,
        at: &'a At<'a>,
        json: &'a Json<'a>,
        required: &[&str],
        optional: &[&str],
    ) -> Fields<'a> {
        let Json::Object(members) = json else {
            self.unexpected(at, "object", json);
            return Fields { at, members: None };
        };
        for key in required.iter().filter(|key| !members.contains(key)) {
            self.malformed(at, format!("'{key}' is a required property"));
        }
        for key in members.keys() {
            let mut known = required.iter().chain(optional).copied();
            if known.clone().any(|k| k == key) {
                continue;
            }
            let message = if EXPANSION_KEYS.contains(&key) {
                format!("'{key}' is not part of the IR: instances are expanded in Nix")
            } else {
                format!("unknown key '{key}'{}", suggest(key, known.by_ref()))
            };
            self.malformed(at, message);
        }
        Fields {
            at,
            members: Some(members),
        }
    }

    pub(super) fn bool(&mut self, at: &At, json: &Json) -> bool {
        if let Json::Bool(b) = json {
            return *b;
        }
        self.unexpected(at, "boolean", json);
        false
    }

    pub(super) fn string(&mut self, at: &At, json: &Json) -> String {
        if let Json::String(s) = &json {
            return s.to_string();
        }
        self.unexpected(at, "string", json);
        String::new()
    }

    /// A string with at least one character.
    pub(super) fn name(&mut self, at: &At, json: &Json) -> String {
        self.string_that(at, json, "non-empty string", |s| !s.is_empty())
    }

    /// A string that passes the test; `expected` is what to call it.
    pub(super) fn string_that(
        &mut self,
        at: &At,
        json: &Json,
        expected: &str,
        test: impl Fn(&str) -> bool,
    ) -> String {
        match json {
            Json::String(s) if test(s) => return s.to_string(),
            _ => self.unexpected(at, expected, json),
        }
        String::new()
    }

    pub(super) fn list<T>(
        &mut self,
        at: &At,
        json: &Json,
        mut item: impl FnMut(&mut Self, &At, &Json) -> T,
    ) -> Vec<T> {
        let Json::Array(items) = json else {
            self.unexpected(at, "array", json);
            return Vec::new();
        };
        (items.iter().enumerate())
            .map(|(i, json)| item(self, &at.index(i), json))
            .collect()
    }

    /// A list with at least one item.
    pub(super) fn items<T>(
        &mut self,
        at: &At,
        json: &Json,
        item: impl FnMut(&mut Self, &At, &Json) -> T,
    ) -> Vec<T> {
        match json {
            Json::Array(items) if !items.is_empty() => self.list(at, json, item),
            _ => {
                self.unexpected(at, "non-empty array", json);
                Vec::new()
            }
        }
    }

    /// The id of a resource or data source that the document declares.
    pub(super) fn target(&mut self, at: &At, json: &Json) -> Id {
        let name = self.name(at, json);
        self.known(&name).unwrap_or_else(|| {
            let near = if self.ids.len() <= MAX_CANDIDATES {
                suggest(&name, self.ids.iter().map(Id::as_str))
            } else {
                String::new()
            };
            self.contradiction(at, format!("no resource or data source '{name}'{near}"));
            Id::from(name)
        })
    }

    /// The name of an attribute.
    pub(super) fn attribute(&mut self, name: &str) -> Str {
        if let Some(known) = self.attributes.get(name) {
            return known.clone();
        }
        let name = Str::from(name);
        self.attributes.insert(name.clone());
        name
    }

    /// The declared id that is written like this.
    pub(super) fn known(&self, name: &str) -> Option<Id> {
        self.ids.get(name).cloned()
    }
}

/// A value as a message shows it.
fn describe(json: &Json) -> String {
    match json {
        Json::Bool(b) => b.to_string(),
        Json::String(s) if s.chars().count() <= 60 => format!("'{s}'"),
        Json::Number(n) => n
            .as_i64()
            .map_or_else(|| "number".to_owned(), |n| n.to_string()),
        Json::Array(items) if items.is_empty() => "empty array".to_owned(),
        Json::Object(members) if members.is_empty() => "empty object".to_owned(),
        Json::Object(members) => match leaf::marker_in(members) {
            Some(marker) => format!("'{marker}' marker"),
            None => "object".to_owned(),
        },
        other => other.kind().to_owned(),
    }
}

/// Members of an object of known keys; none if it was no object.
pub(super) struct Fields<'a> {
    at: &'a At<'a>,
    members: Option<&'a Members<'a>>,
}

impl Fields<'_> {
    /// The member, or the default if there is none.
    pub(super) fn read<T: Default>(
        &self,
        reader: &mut Reader,
        key: &str,
        read: impl FnOnce(&mut Reader, &At, &Json) -> T,
    ) -> T {
        self.option(reader, key, read).unwrap_or_default()
    }

    /// The member, if there is one.
    pub(super) fn option<T>(
        &self,
        reader: &mut Reader,
        key: &str,
        read: impl FnOnce(&mut Reader, &At, &Json) -> T,
    ) -> Option<T> {
        let json = self.members?.get(key)?;
        Some(read(reader, &self.at.key(key), json))
    }

    /// The id, well-formed or not; checked against others later.
    pub(super) fn id(&self, reader: &mut Reader, key: &str) -> Id {
        self.read(reader, key, Reader::name).into()
    }

    /// The list, or an empty one if there is none.
    pub(super) fn list<T>(
        &self,
        reader: &mut Reader,
        key: &str,
        item: impl FnMut(&mut Reader, &At, &Json) -> T,
    ) -> Vec<T> {
        self.list_option(reader, key, item).unwrap_or_default()
    }

    /// The list, if there is one.
    pub(super) fn list_option<T>(
        &self,
        reader: &mut Reader,
        key: &str,
        item: impl FnMut(&mut Reader, &At, &Json) -> T,
    ) -> Option<Vec<T>> {
        self.option(reader, key, |r, at, json| r.list(at, json, item))
    }
}
