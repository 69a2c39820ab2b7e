//! Values with their unknown parts found or filled.

use std::sync::Arc;

use super::{Entries, Path, Step, Str, Value};

impl Value {
    /// Paths of all unknown parts, outermost only. Those in sets are told by the path of the set.
    pub fn unknown_paths(&self) -> Vec<Path> {
        let mut found = Vec::new();
        self.find_unknown(&mut Path::root(), &mut found);
        found
    }

    fn find_unknown(&self, at: &mut Path, found: &mut Vec<Path>) {
        match self {
            Self::Unknown(_) => found.push(at.clone()),
            Self::Set(_) if !self.is_wholly_known() => found.push(at.clone()),
            Self::Null(_) | Self::Bool(_) | Self::Number(_) | Self::String(_) | Self::Set(_) => {}
            Self::List(s) => find_in_items(&s.items, at, found),
            Self::Tuple(items) => find_in_items(items, at, found),
            Self::Map(m) => find_in_entries(&m.entries, Step::Key, at, found),
            Self::Object(o) => find_in_entries(o, Step::Attribute, at, found),
        }
    }

    /// The value with every unknown part made null: what is stored where a provider broke its promise. Set elements may
    /// become equal and fall together.
    #[must_use]
    pub fn unknown_as_null(&self) -> Self {
        if self.is_wholly_known() {
            return self.clone();
        }
        let items = |items: &[Self]| items.iter().map(Self::unknown_as_null).collect::<Vec<_>>();
        let entries = |entries: &Entries| -> Entries {
            entries
                .iter()
                .map(|(k, v)| (k.clone(), v.unknown_as_null()))
                .collect()
        };
        match self {
            Self::Unknown(u) => Self::Null(u.ty.clone()),
            Self::List(s) => Self::list(s.element.clone(), items(&s.items)),
            Self::Set(s) => Self::set(s.element.clone(), items(&s.items)),
            Self::Tuple(all) => Self::tuple(items(all)),
            Self::Map(m) => Self::map(m.element.clone(), entries(&m.entries)),
            Self::Object(o) => Self::Object(Arc::new(entries(o))),
            Self::Null(_) | Self::Bool(_) | Self::Number(_) | Self::String(_) => self.clone(),
        }
    }
}

fn find_in_items(items: &[Value], at: &mut Path, found: &mut Vec<Path>) {
    for (i, item) in (0..).zip(items) {
        at.0.push(Step::Index(i));
        item.find_unknown(at, found);
        at.0.pop();
    }
}

fn find_in_entries(entries: &Entries, step: fn(Str) -> Step, at: &mut Path, found: &mut Vec<Path>) {
    for (name, value) in entries.iter() {
        at.0.push(step(name.clone()));
        value.find_unknown(at, found);
        at.0.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Type;

    #[test]
    fn unknown_parts_are_found_and_filled() {
        let unknown = || Value::unknown(Type::String);
        let value = Value::object([
            ("a", unknown()),
            (
                "b",
                Value::list(Type::String, vec![Value::string("x"), unknown()]),
            ),
            ("c", Value::map(Type::String, [("k", unknown())])),
            ("d", Value::set(Type::String, vec![unknown(), unknown()])),
            ("e", Value::string("known")),
        ]);
        let paths: Vec<_> = value
            .unknown_paths()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(paths, ["a", "b[1]", "c[\"k\"]", "d"]);
        let null = || Value::null(Type::String);
        let filled = Value::object([
            ("a", null()),
            (
                "b",
                Value::list(Type::String, vec![Value::string("x"), null()]),
            ),
            ("c", Value::map(Type::String, [("k", null())])),
            ("d", Value::set(Type::String, vec![null()])),
            ("e", Value::string("known")),
        ]);
        assert_eq!(value.unknown_as_null(), filled);
        assert!(filled.unknown_paths().is_empty());
    }
}
