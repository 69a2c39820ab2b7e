//! From a change to the tree of what differs.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::pair::Pair;
use super::scalar::scalar;
use super::sequence::{Aligned, align, match_up};
use crate::json::Shape;

/// What happens to a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Same,
    Create,
    Update,
    Delete,
}

/// One part of a value.
#[derive(Debug)]
pub(super) struct Diff {
    pub(super) op: Op,
    pub(super) what: What,
    /// Its change needs a new object.
    pub(super) replaces: bool,
}

/// What a part is.
#[derive(Debug)]
pub(super) enum What {
    /// A value without parts.
    Scalar {
        before: Option<Json>,
        after: Option<Json>,
    },
    /// Several lines of text.
    Text(Vec<(Op, String)>),
    /// JSON in a string.
    Json(Box<Diff>),
    /// JSON in a string that only differs in spaces.
    JsonSpacing,
    /// A value that is not shown.
    Sensitive { note: Option<&'static str> },
    /// A value that is not known yet.
    Unknown { before: Option<Box<Diff>> },
    /// An object or map.
    Object(Vec<(String, Diff)>),
    /// A list or set.
    List(Vec<Diff>),
    /// Values of different kinds.
    Changed { before: Box<Diff>, after: Box<Diff> },
}

/// What differs in a value; `None` if there is nothing, neither before nor after.
pub(super) fn diff(pair: &Pair<'_>, shape: &Shape) -> Option<Diff> {
    if pair.is_nothing() {
        return None;
    }
    if pair.is_sensitive() {
        return Some(leaf(
            pair,
            What::Sensitive {
                note: sensitivity(pair),
            },
        ));
    }
    if pair.is_unknown() {
        let before = diff(&pair.only_before(), shape).map(Box::new);
        return Some(leaf(pair, What::Unknown { before }));
    }
    let is = |v: Option<&Json>, kind: fn(&Json) -> bool| v.is_none_or(|v| v.is_null() || kind(v));
    let both = |kind: fn(&Json) -> bool| is(pair.before, kind) && is(pair.after, kind);
    let any = |kind: fn(&Json) -> bool| [pair.before, pair.after].into_iter().flatten().any(kind);
    Some(if both(Json::is_object) && any(Json::is_object) {
        let members = members(pair, shape);
        let op = whole(pair, members.iter().map(|(_, d)| d.op));
        Diff {
            op,
            what: What::Object(members),
            replaces: pair.replaces(),
        }
    } else if both(Json::is_array) && any(Json::is_array) {
        let items = items(pair, shape);
        let op = whole(pair, items.iter().map(|d| d.op));
        Diff {
            op,
            what: What::List(items),
            replaces: pair.replaces(),
        }
    } else if any(|v| v.is_object() || v.is_array()) {
        let alone = |pair: Pair<'_>| diff(&pair, shape).map(Box::new);
        match (alone(pair.only_before()), alone(pair.only_after())) {
            (Some(before), Some(after)) => leaf(pair, What::Changed { before, after }),
            (before, after) => *before.or(after)?,
        }
    } else {
        leaf(pair, scalar(pair))
    })
}

pub(super) fn leaf(pair: &Pair<'_>, what: What) -> Diff {
    let op = match (pair.before, pair.after) {
        _ if pair.is_same() => Op::Same,
        (None, _) => Op::Create,
        (Some(_), None) if !pair.is_unknown() => Op::Delete,
        _ => Op::Update,
    };
    Diff {
        op,
        what,
        replaces: pair.replaces_inside(),
    }
}

fn sensitivity(pair: &Pair<'_>) -> Option<&'static str> {
    match (pair.before, pair.after) {
        (Some(_), Some(_)) if pair.was_sensitive() && !pair.becomes_sensitive() => {
            Some("no longer sensitive")
        }
        (Some(_), Some(_)) if !pair.was_sensitive() => Some("becomes sensitive"),
        _ => None,
    }
}

/// What happens to something that has parts.
pub(super) fn whole(pair: &Pair<'_>, mut parts: impl Iterator<Item = Op>) -> Op {
    let absent = |v: Option<&Json>| v.is_none_or(Json::is_null);
    match (absent(pair.before), absent(pair.after)) {
        (true, _) => Op::Create,
        (_, true) => Op::Delete,
        _ if parts.all(|op| op == Op::Same) => Op::Same,
        _ => Op::Update,
    }
}

pub(super) fn names(pair: &Pair<'_>) -> BTreeSet<String> {
    let keys = |v: Option<&Json>| {
        v.and_then(Json::as_object)
            .into_iter()
            .flat_map(|o| o.keys().cloned())
            .collect::<Vec<_>>()
    };
    let unknown = keys(Some(pair.unknown()));
    keys(pair.before)
        .into_iter()
        .chain(keys(pair.after))
        .chain(unknown)
        .collect()
}

fn members(pair: &Pair<'_>, shape: &Shape) -> Vec<(String, Diff)> {
    let part = |name: String| {
        let member = pair.member(&name);
        let diff = match shape {
            Shape::Nested(of) => diff(
                &member.without_null(),
                of.get(&*name).unwrap_or(&Shape::Plain),
            ),
            Shape::Object(of) => diff(&member, of.get(&*name).unwrap_or(&Shape::Plain)),
            Shape::Map(of) => diff(&member, of),
            _ => diff(&member, &Shape::Plain),
        };
        Some((name, diff?))
    };
    names(pair).into_iter().filter_map(part).collect()
}

fn items(pair: &Pair<'_>, shape: &Shape) -> Vec<Diff> {
    let of = match shape {
        Shape::List(of) | Shape::Set(of) => of,
        _ => &Shape::Plain,
    };
    let is_set = matches!(shape, Shape::Set(_));
    let aligned = elements(pair, is_set);
    aligned
        .into_iter()
        .filter_map(|(i, j)| diff(&pair.item(i, j), of))
        .collect()
}

/// The elements of a list or set, each with its counterpart.
pub(super) fn elements(pair: &Pair<'_>, is_set: bool) -> Vec<Aligned> {
    let count = |v: Option<&Json>| v.and_then(Json::as_array).map_or(0, Vec::len);
    let same = |i, j| pair.item(Some(i), Some(j)).is_same();
    let (before, after) = (count(pair.before), count(pair.after));
    if is_set {
        match_up(before, after, same)
    } else {
        pair_up(pair, align(before, after, same))
    }
}

/// Between two common elements, pairs structures that go with those of the same kind that come: they are changed ones.
fn pair_up(pair: &Pair<'_>, aligned: Vec<Aligned>) -> Vec<Aligned> {
    let mut paired = Vec::new();
    let mut gap = Vec::new();
    for element in aligned.into_iter().map(Some).chain([None]) {
        match element {
            Some((Some(_), Some(_))) | None => {
                let (gone, come): (Vec<_>, Vec<_>) = gap
                    .drain(..)
                    .partition(|(before, _): &Aligned| before.is_some());
                paired.extend(pair_gap(pair, &gone, &come));
                paired.extend(element);
            }
            Some(element) => gap.push(element),
        }
    }
    paired
}

fn pair_gap(pair: &Pair<'_>, gone: &[Aligned], come: &[Aligned]) -> Vec<Aligned> {
    let is_alike = |i: usize| {
        let (Some((before, _)), Some((_, after))) = (gone.get(i), come.get(i)) else {
            return false;
        };
        let both = pair.item(*before, *after);
        match (both.before, both.after) {
            (Some(before), Some(after)) => {
                !both.is_unknown()
                    && (before.is_object() && after.is_object()
                        || before.is_array() && after.is_array())
            }
            _ => false,
        }
    };
    let alike: Vec<bool> = (0..gone.len().max(come.len())).map(is_alike).collect();
    let changed = (0..alike.len())
        .filter(|i| alike[*i])
        .map(|i| (gone[i].0, come[i].1));
    let rest = |all: &[Aligned]| {
        all.iter()
            .zip(&alike)
            .filter(|(_, alike)| !**alike)
            .map(|(e, _)| *e)
            .collect::<Vec<_>>()
    };
    changed.chain(rest(gone)).chain(rest(come)).collect()
}
