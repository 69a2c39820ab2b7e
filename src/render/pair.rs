//! One place in a change: the value before and after, and what is hidden of it.

use serde_json::Value as Json;

use crate::json::{Change, PathStep};

static NOTHING: Json = Json::Bool(false);

/// The two values of one place.
#[derive(Clone, Debug)]
pub(super) struct Pair<'a> {
    pub(super) before: Option<&'a Json>,
    pub(super) after: Option<&'a Json>,
    unknown: &'a Json,
    before_sensitive: &'a Json,
    after_sensitive: &'a Json,
    /// What is left, from here on, of the paths that need a new object.
    replace: Vec<&'a [PathStep]>,
}

impl<'a> Pair<'a> {
    /// The whole of a change.
    pub(super) fn of(change: &'a Change) -> Self {
        Self {
            before: Some(&change.before).filter(|v| !v.is_null()),
            after: change.after.as_ref().filter(|v| !v.is_null()),
            unknown: &change.after_unknown,
            before_sensitive: &change.before_sensitive,
            after_sensitive: &change.after_sensitive,
            replace: change.replace_paths.iter().map(Vec::as_slice).collect(),
        }
    }

    /// A value that stays as it is.
    pub(super) fn unchanged(value: &'a Json, sensitive: &'a Json) -> Self {
        Self {
            before_sensitive: sensitive,
            after_sensitive: sensitive,
            ..Self::plain(Some(value), Some(value))
        }
    }

    /// Two values with nothing hidden.
    pub(super) fn plain(before: Option<&'a Json>, after: Option<&'a Json>) -> Self {
        Self {
            before,
            after,
            unknown: &NOTHING,
            before_sensitive: &NOTHING,
            after_sensitive: &NOTHING,
            replace: Vec::new(),
        }
    }

    /// A member of an object or map.
    pub(super) fn member(&self, name: &str) -> Self {
        let here = |step: &PathStep| matches!(step, PathStep::Name(n) if n == name);
        Self {
            before: self.before.and_then(|v| v.get(name)),
            after: self.after.and_then(|v| v.get(name)),
            unknown: inside(self.unknown, |v| v.get(name)),
            before_sensitive: inside(self.before_sensitive, |v| v.get(name)),
            after_sensitive: inside(self.after_sensitive, |v| v.get(name)),
            replace: self.replace_below(here),
        }
    }

    /// An element of a list or set, which may be at different positions in the two.
    pub(super) fn item(&self, before: Option<usize>, after: Option<usize>) -> Self {
        let at = |v: &'a Json, i: Option<usize>| i.and_then(|i| v.get(i));
        let is = |i: Option<usize>, n: u64| i.is_some_and(|i| i as u64 == n);
        let here =
            |step: &PathStep| matches!(step, PathStep::Index(n) if is(before, *n) || is(after, *n));
        Self {
            before: self.before.and_then(|v| at(v, before)),
            after: self.after.and_then(|v| at(v, after)),
            unknown: inside(self.unknown, |v| at(v, after)),
            before_sensitive: inside(self.before_sensitive, |v| at(v, before)),
            after_sensitive: inside(self.after_sensitive, |v| at(v, after)),
            replace: self.replace_below(here),
        }
    }

    fn replace_below(&self, here: impl Fn(&PathStep) -> bool) -> Vec<&'a [PathStep]> {
        let steps = self.replace.iter().filter_map(|path| path.split_first());
        steps
            .filter(|(step, _)| here(step))
            .map(|(_, rest)| rest)
            .collect()
    }

    /// The same with null as good as absent.
    pub(super) fn without_null(self) -> Self {
        let present = |v: &&Json| !v.is_null();
        Self {
            before: self.before.filter(present),
            after: self.after.filter(present),
            ..self
        }
    }

    /// The value before alone.
    pub(super) fn only_before(&self) -> Self {
        Self {
            after: None,
            unknown: &NOTHING,
            replace: Vec::new(),
            ..self.clone()
        }
    }

    /// The value after alone.
    pub(super) fn only_after(&self) -> Self {
        Self {
            before: None,
            replace: Vec::new(),
            ..self.clone()
        }
    }

    /// Whether there is nothing, neither before nor after.
    pub(super) fn is_nothing(&self) -> bool {
        self.before.is_none() && self.after.is_none() && !self.is_unknown()
    }

    /// Whether the value after is unknown as a whole.
    pub(super) fn is_unknown(&self) -> bool {
        *self.unknown == Json::Bool(true)
    }

    /// Which parts of the value after are unknown.
    pub(super) fn unknown(&self) -> &'a Json {
        self.unknown
    }

    /// Whether the value is hidden as a whole.
    pub(super) fn is_sensitive(&self) -> bool {
        self.was_sensitive() || self.becomes_sensitive()
    }

    /// Whether the value before is hidden as a whole.
    pub(super) fn was_sensitive(&self) -> bool {
        *self.before_sensitive == Json::Bool(true)
    }

    /// Whether the value after is hidden as a whole.
    pub(super) fn becomes_sensitive(&self) -> bool {
        *self.after_sensitive == Json::Bool(true)
    }

    /// Whether nothing changes, what is hidden included.
    pub(super) fn is_same(&self) -> bool {
        self.before == self.after
            && self.before_sensitive == self.after_sensitive
            && !any(self.unknown)
    }

    /// Whether this very place needs a new object.
    pub(super) fn replaces(&self) -> bool {
        self.replace.iter().any(|path| path.is_empty())
    }

    /// Whether this place or something inside needs a new object.
    pub(super) fn replaces_inside(&self) -> bool {
        !self.replace.is_empty()
    }
}

/// What a shadow says about a part: `true` holds for all parts.
fn inside<'a>(shadow: &'a Json, part: impl FnOnce(&'a Json) -> Option<&'a Json>) -> &'a Json {
    match shadow {
        Json::Bool(_) => shadow,
        _ => part(shadow).unwrap_or(&NOTHING),
    }
}

/// Whether there is a `true` anywhere in a shadow.
fn any(shadow: &Json) -> bool {
    match shadow {
        Json::Bool(b) => *b,
        Json::Array(items) => items.iter().any(any),
        Json::Object(members) => members.values().any(any),
        _ => false,
    }
}
