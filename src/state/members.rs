//! Reading JSON objects member by member: problems say where, and what is not known is kept.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::Extra;

/// JSON of an unexpected form: `resources/a.b.c/current/status: …`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}{}{problem}", if path.is_empty() { "" } else { ": " })]
pub struct FormError {
    /// Member names joined by `/`.
    pub path: String,
    /// What is wrong there.
    pub problem: String,
}

impl FormError {
    pub(super) fn new(problem: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            problem: problem.into(),
        }
    }

    /// The same problem, seen from the object that has this member.
    pub(super) fn within(mut self, member: &str) -> Self {
        if !self.path.is_empty() {
            self.path.insert(0, '/');
        }
        self.path.insert_str(0, member);
        self
    }
}

impl From<serde_json::Error> for FormError {
    fn from(error: serde_json::Error) -> Self {
        let text = error.to_string();
        // Line and column would count from the start of the member, not of the file.
        let problem = text.split(" at line ").next().unwrap_or(&text);
        Self::new(problem)
    }
}

/// The members of one JSON object that nobody asked for yet.
#[derive(Debug)]
pub(super) struct Members<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Members<'a> {
    /// Splits the text of an object.
    pub(super) fn parse(text: &'a str) -> Result<Self, FormError> {
        Ok(serde_json::from_str(text)?)
    }

    /// A member read by `read`.
    pub(super) fn take_with<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&'a str) -> Result<T, FormError>,
    ) -> Result<Option<T>, FormError> {
        self.0
            .remove(name)
            .map(|raw| read(raw.get()).map_err(|e| e.within(name)))
            .transpose()
    }

    /// A member that may be missing.
    pub(super) fn take<T: Deserialize<'a>>(&mut self, name: &str) -> Result<Option<T>, FormError> {
        self.take_with(name, |text| Ok(serde_json::from_str(text)?))
    }

    /// A member that must be there.
    pub(super) fn need<T: Deserialize<'a>>(&mut self, name: &str) -> Result<T, FormError> {
        self.take(name)?
            .ok_or_else(|| FormError::new("is missing").within(name))
    }

    /// The JSON text of a member that must be there.
    pub(super) fn need_text(&mut self, name: &str) -> Result<Vec<u8>, FormError> {
        self.need::<&RawValue>(name).map(text)
    }

    /// Every member, read by `read`.
    pub(super) fn map<K: Ord, V>(
        self,
        mut read: impl FnMut(String, &'a str) -> Result<(K, V), FormError>,
    ) -> Result<BTreeMap<K, V>, FormError> {
        self.0
            .into_iter()
            .map(|(name, raw)| read(name.clone(), raw.get()).map_err(|e| e.within(&name)))
            .collect()
    }

    /// Refuses what is left.
    pub(super) fn finish(self) -> Result<(), FormError> {
        match self.0.into_keys().next() {
            None => Ok(()),
            Some(name) => Err(FormError::new("is not known to this version").within(&name)),
        }
    }

    /// What is left.
    pub(super) fn rest(self) -> Extra {
        self.0
            .into_iter()
            .map(|(name, raw)| (name, text(raw)))
            .collect()
    }
}

fn text(raw: &RawValue) -> Vec<u8> {
    raw.get().as_bytes().to_vec()
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = BTreeMap::new();
                while let Some((name, raw)) = map.next_entry::<String, &RawValue>()? {
                    if members.contains_key(&name) {
                        return Err(M::Error::custom(format!("two members {name:?}")));
                    }
                    members.insert(name, raw);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_say_where_and_what() {
        let read = |text| {
            let mut members = Members::parse(text)?;
            members.take_with("a", |inner| {
                let mut inner = Members::parse(inner)?;
                Ok((inner.need::<u64>("n")?, inner.take::<String>("s")?))
            })
        };
        let table = [
            (
                r#"{"a": {"n": -1}}"#,
                "a/n: invalid value: integer `-1`, expected u64",
            ),
            (
                r#"{"a": {"n": 1, "s": 2}}"#,
                "a/s: invalid type: integer `2`, expected a string",
            ),
            (r#"{"a": {}}"#, "a/n: is missing"),
            (
                r#"{"a": []}"#,
                "a: invalid type: sequence, expected an object",
            ),
            (r#"{"a": {"n": 1, "n": 1}}"#, "a: two members \"n\""),
            ("7", "invalid type: integer `7`, expected an object"),
        ];
        for (text, problem) in table {
            assert_eq!(read(text).unwrap_err().to_string(), problem, "{text}");
        }
        assert_eq!(read(r#"{"a": {"n": 1}}"#), Ok(Some((1, None))));
        assert_eq!(read("{}"), Ok(None));
    }

    #[test]
    fn what_is_left_is_kept_to_the_letter() {
        let mut members =
            Members::parse(r#"{"known": 1, "new": {"b": 1.10, "a": 1e400 } }"#).unwrap();
        assert_eq!(members.need::<u64>("known"), Ok(1));
        let rest = members.rest();
        assert_eq!(rest["new"], br#"{"b": 1.10, "a": 1e400 }"#);
        assert_eq!(rest.len(), 1);
    }
}
