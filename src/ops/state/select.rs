//! Choosing among stored resources, and listing them (pure).

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::not_found;
use crate::addr::Id;
use crate::diagnostic::Diagnostics;
use crate::ir::Index;
use crate::plan::rename;
use crate::state::{State, Status};

/// The stored resources that are meant, in order; all of them if nothing is wanted. An id without a key means all instances
/// too; `*` in one stands for anything. An error names everything that means nothing.
pub fn select(state: &State, wanted: &[String]) -> Result<Vec<Id>, Diagnostics> {
    if wanted.is_empty() {
        return Ok(state.resources.keys().cloned().collect());
    }
    let mut found = BTreeSet::new();
    let mut problems = Diagnostics::default();
    for text in wanted {
        let id = Id::from(text.as_str());
        let meant: Vec<Id> = if text.contains('*') {
            let ids = state.resources.keys();
            ids.filter(|id| fits(text, id.as_str())).cloned().collect()
        } else {
            rename::stored_as(state, &id)
        };
        if meant.is_empty() {
            problems.extend(not_found(state, &id));
        }
        found.extend(meant);
    }
    problems.into_result()?;
    Ok(found.into_iter().collect())
}

/// Whether a text is what a pattern says, in which `*` stands for any text, the empty one too.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(first) else {
        return false;
    };
    // What is between two stars is best found as early as possible.
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

/// Resources of a state as a JSON array, on one line.
pub fn list_json(state: &State, ids: &[Id]) -> String {
    let resources = ids
        .iter()
        .filter_map(|id| state.resources.get_key_value(id));
    let listed = resources.map(|(id, resource)| {
        let status = resource.current.as_ref().map(|object| match object.status {
            Status::Ready => "ready",
            Status::Tainted => "tainted",
        });
        let index = resource.index.as_ref().map(|index| match index {
            Index::Number(n) => json!(n),
            Index::Key(key) => json!(&**key),
        });
        json!({
            "id": id.as_str(),
            "provider": resource.provider,
            "type": resource.ty,
            "name": resource.name,
            "index": index,
            "status": status,
            "deposed": resource.deposed.keys().collect::<Vec<_>>(),
        })
    });
    format!("{}\n", Json::Array(listed.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("a.b.c", "a.b.c", true),
            ("a.b", "a.b.c", false),
            ("a.b.*", "a.b.c", true),
            ("a.b.*", "a.b.", true),
            ("*", "", true),
            ("*.c", "a.b.c", true),
            ("a.*.c", "a.b.c", true),
            ("a.*.c", "a.c", false),
            ("a*b*a", "aba", true),
            ("a*b*a", "ab", false),
            ("*b*b*", "abab", true),
            ("*b*b*", "aba", false),
            ("aa*aa", "aaa", false),
            ("ä*", "äö", true),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}
