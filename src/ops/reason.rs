//! Why a plan does what it does to an object, as a code of Terraform's JSON format.

use crate::addr::Id;
use crate::ir::Index;
use crate::plan::{Change, Plan, Reason};

/// The `action_reason` of a change; none where the action says it all.
pub(super) fn action_reason(change: &Change, plan: &Plan) -> Option<&'static str> {
    match change.reason {
        Some(Reason::Tainted) => Some("replace_because_tainted"),
        Some(Reason::Requested) => Some("replace_by_request"),
        Some(Reason::Triggered) => Some("replace_by_triggers"),
        Some(Reason::NotInConfiguration) => Some(left(change, plan)),
        None if change.action.is_replace() => Some("replace_because_cannot_update"),
        Some(Reason::Removed | Reason::Destroy | Reason::ReadDuringApply) | None => None,
    }
}

/// How a resource came to be no longer in the configuration.
fn left(change: &Change, plan: &Plan) -> &'static str {
    let target = &change.target;
    if plan.moves.contains_key(&target.id) {
        return "delete_because_no_move_target";
    }
    let base = match &target.index {
        Some(_) => target.id.instance().map(|(base, _)| base),
        None => Some(target.id.as_str()),
    };
    let repeated = |id: &Id| {
        let key = id.as_str().strip_prefix(base?)?;
        Some(key.is_empty() || key.starts_with("__"))
    };
    let mut declared = plan.ir.resources.iter();
    let sibling = declared.find(|r| {
        let is_base = r.meta.index.is_some() || Some(r.id.as_str()) == base;
        is_base && repeated(&r.id) == Some(true)
    });
    match (sibling.map(|r| &r.meta.index), &target.index) {
        (None, _) => "delete_because_no_resource_config",
        (Some(Some(Index::Number(_))), Some(Index::Number(_))) => "delete_because_count_index",
        (Some(Some(Index::Key(_))), Some(Index::Key(_))) => "delete_because_each_key",
        (Some(_), _) => "delete_because_wrong_repetition",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ir::{Ir, Meta, Resource};
    use crate::plan::moves::Move;
    use crate::plan::{Action, ChangeTarget};
    use crate::value::{PathSet, Type, Value};

    /// `name`, `name[0]` or `name[key]` to the name and index.
    fn split(text: &str) -> (String, Option<Index>) {
        match text.strip_suffix(']').and_then(|n| n.split_once('[')) {
            Some((base, key)) => {
                let index = match key.parse() {
                    Ok(number) => Index::Number(number),
                    Err(_) => Index::Key(key.into()),
                };
                (format!("{base}__{key}"), Some(index))
            }
            None => (text.to_owned(), None),
        }
    }

    fn target(text: &str) -> ChangeTarget {
        let (name, index) = split(text);
        ChangeTarget {
            id: Id::from(format!("p.t.{name}")),
            provider: "p".into(),
            ty: "t".into(),
            name,
            index,
        }
    }

    fn deletion(text: &str) -> Change {
        let null = Value::null(Type::Dynamic);
        Change {
            target: target(text),
            action: Action::Delete,
            reason: Some(Reason::NotInConfiguration),
            prior: None,
            after: null.clone(),
            config: null,
            config_sensitive: PathSet::default(),
            sensitive: PathSet::default(),
            private: Vec::new(),
            identity: None,
            replace_paths: Vec::new(),
            create_before_destroy: false,
            dependencies: Vec::new(),
        }
    }

    fn plan(declared: &[&str]) -> Plan {
        let resource = |text: &&str| {
            let (name, index) = split(text);
            Resource {
                id: Id::from(format!("p.t.{name}")),
                provider: "p".into(),
                ty: "t".into(),
                name,
                config: crate::ir::Expr::default(),
                meta: Meta {
                    index,
                    ..Meta::default()
                },
            }
        };
        let ir = Ir {
            resources: declared.iter().map(resource).collect(),
            ..Ir::default()
        };
        Plan {
            ir: Arc::new(ir),
            ..Plan::default()
        }
    }

    #[test]
    fn how_resources_leave() {
        for (gone, declared, expected) in [
            ("a", &["b"][..], "delete_because_no_resource_config"),
            ("a[0]", &["ab[0]", "b"], "delete_because_no_resource_config"),
            ("a[2]", &["b", "a[0]"], "delete_because_count_index"),
            ("a[x]", &["a[y]"], "delete_because_each_key"),
            ("a[x]", &["a[0]"], "delete_because_wrong_repetition"),
            ("a[0]", &["a"], "delete_because_wrong_repetition"),
            ("a", &["a[0]"], "delete_because_wrong_repetition"),
            ("a", &["a__b"], "delete_because_no_resource_config"),
        ] {
            let reason = action_reason(&deletion(gone), &plan(declared));
            assert_eq!(reason, Some(expected), "{gone} {declared:?}");
        }
        let mut plan = plan(&[]);
        let moved = Move {
            from: target("b"),
            crossing: None,
        };
        plan.moves.insert(Id::from("p.t.a"), moved);
        let reason = action_reason(&deletion("a"), &plan);
        assert_eq!(reason, Some("delete_because_no_move_target"));
    }
}
