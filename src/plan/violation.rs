//! Rules that a provider broke, and how values are quoted in what is said about it.

use std::fmt;

use crate::diagnostic::Diagnostic;
use crate::value::{Path, PathSet, Value};

/// One rule that a provider broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where in the object.
    pub path: Path,
    /// What is wrong, without sensitive values.
    pub message: String,
}

impl Violation {
    /// As an error with this summary.
    pub fn into_error(self, summary: &str) -> Diagnostic {
        Diagnostic::error(summary)
            .detail(self.message)
            .path(self.path)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path == Path::root() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

/// Collects violations; what may be told about each is decided at the end.
#[derive(Default)]
pub(super) struct Violations {
    found: Vec<Found>,
}

struct Found {
    path: Path,
    message: String,
    /// Whether the message quotes values or keys.
    quotes: bool,
}

impl Violations {
    /// Adds one whose message quotes nothing.
    pub(super) fn add(&mut self, path: &Path, message: impl Into<String>) {
        self.found.push(Found {
            path: path.clone(),
            message: message.into(),
            quotes: false,
        });
    }

    /// Adds one whose message quotes values or keys.
    pub(super) fn add_quoting(&mut self, path: &Path, message: String) {
        self.found.push(Found {
            path: path.clone(),
            message,
            quotes: true,
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The violations with everything sensitive left out. `sensitive` is asked only if there is a violation.
    pub(super) fn finish(self, sensitive: impl FnOnce() -> PathSet) -> Vec<Violation> {
        if self.found.is_empty() {
            return Vec::new();
        }
        let sensitive = sensitive();
        let mut told: Vec<Violation> = self
            .found
            .into_iter()
            .map(|found| found.tell(&sensitive))
            .collect();
        told.dedup();
        told
    }
}

impl Found {
    fn tell(self, sensitive: &PathSet) -> Violation {
        let outer = (0..self.path.0.len())
            .map(|n| Path(self.path.0[..n].to_vec()))
            .find(|outer| sensitive.contains(outer));
        let hidden = outer.is_some() || self.quotes && sensitive.touches(&self.path);
        Violation {
            // Even the path could tell: it has the keys of maps in it.
            path: outer.unwrap_or(self.path),
            message: if hidden {
                HIDDEN.to_owned()
            } else {
                self.message
            },
        }
    }
}

/// What is said where the values are sensitive.
const HIDDEN: &str = "the values do not match (they are sensitive)";

/// Longest text of a value in a message.
const MAX_CHARS: usize = 200;

/// A value as quoted in messages: like JSON, cut when long.
pub(super) fn quoted(value: &Value) -> String {
    let text = Quoted(value).to_string();
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

struct Quoted<'a>(&'a Value);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, items: &[Value]| {
            f.write_str("[")?;
            for (i, item) in items.iter().enumerate() {
                write!(f, "{}{}", if i == 0 { "" } else { ", " }, Quoted(item))?;
            }
            f.write_str("]")
        };
        let entries = match self.0 {
            Value::Null(_) => return f.write_str("null"),
            Value::Unknown(_) => return f.write_str("(known after apply)"),
            Value::Bool(b) => return b.fmt(f),
            Value::Number(n) => return n.fmt(f),
            Value::String(s) => return write!(f, "{s:?}"),
            Value::List(s) | Value::Set(s) => return list(f, &s.items),
            Value::Tuple(items) => return list(f, items),
            Value::Map(map) => &map.entries,
            Value::Object(entries) => entries,
        };
        f.write_str("{")?;
        for (i, (name, value)) in entries.iter().enumerate() {
            write!(
                f,
                "{}{name:?}: {}",
                if i == 0 { "" } else { ", " },
                Quoted(value)
            )?;
        }
        f.write_str("}")
    }
}
