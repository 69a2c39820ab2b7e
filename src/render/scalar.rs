//! What differs in a value without parts; text and JSON inside strings are taken apart.

use serde_json::Value as Json;

use super::diff::{Op, What, diff};
use super::pair::Pair;
use super::sequence::{Aligned, align};
use crate::json::Shape;

/// Null, a bool, a number or a string.
pub(super) fn scalar(pair: &Pair<'_>) -> What {
    let text = |v: Option<&Json>| v.and_then(Json::as_str).map(str::to_owned);
    let (before, after) = (text(pair.before), text(pair.after));
    let is_text = |v: Option<&Json>| v.is_none_or(|v| v.is_null() || v.is_string());
    if !is_text(pair.before) || !is_text(pair.after) || before.is_none() && after.is_none() {
        return What::Scalar {
            before: pair.before.cloned(),
            after: pair.after.cloned(),
        };
    }
    if let Some(json) = json_in_strings(before.as_deref(), after.as_deref()) {
        return json;
    }
    let (old, new) = lines(before.as_deref(), after.as_deref());
    let has_lines = [&before, &after]
        .into_iter()
        .flatten()
        .any(|text| text.contains('\n'));
    if !has_lines {
        return What::Scalar {
            before: pair.before.cloned(),
            after: pair.after.cloned(),
        };
    }
    let aligned = align(old.len(), new.len(), |i, j| old[i] == new[j]);
    let line = |element: &Aligned| match *element {
        (Some(i), Some(_)) => (Op::Same, old[i].clone()),
        (Some(i), None) => (Op::Delete, old[i].clone()),
        (None, Some(j)) => (Op::Create, new[j].clone()),
        (None, None) => (Op::Same, String::new()),
    };
    What::Text(aligned.iter().map(line).collect())
}

/// The lines of two texts. An end of line at the end of both is no line of its own.
fn lines(before: Option<&str>, after: Option<&str>) -> (Vec<String>, Vec<String>) {
    let is_ended = [before, after]
        .into_iter()
        .flatten()
        .all(|text| text.ends_with('\n'));
    let lines = |text: Option<&str>| {
        let text = text.map(|text| {
            if is_ended {
                &text[..text.len() - 1]
            } else {
                text
            }
        });
        text.into_iter()
            .flat_map(|text| text.split('\n'))
            .map(str::to_owned)
            .collect()
    };
    (lines(before), lines(after))
}

/// The difference of JSON objects or arrays in strings.
fn json_in_strings(before: Option<&str>, after: Option<&str>) -> Option<What> {
    let parse = |text: Option<&str>| match text {
        None => Some(None),
        Some(text) if text.starts_with(['{', '[']) => {
            serde_json::from_str::<Json>(text).ok().map(Some)
        }
        Some(_) => None,
    };
    let (old, new) = (parse(before)?, parse(after)?);
    if old == new && before != after {
        return Some(What::JsonSpacing);
    }
    let inner = diff(&Pair::plain(old.as_ref(), new.as_ref()), &Shape::Plain)?;
    Some(What::Json(Box::new(inner)))
}
