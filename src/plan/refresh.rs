//! Objects that are only looked at: what they show to others, and what is recorded of them without changing the world.

use crate::plan::prior::Prior;
use crate::plan::resolve::Outputs;
use crate::plan::stack::Walk;
use crate::plan::{Action, Change, ChangeTarget};
use crate::schema::{Block, implied_type, sensitive_paths};
use crate::state::Object;
use crate::value::{PathSet, Value};

/// Publishes an object as it is.
pub(super) fn show(walk: &Walk<'_>, target: &ChangeTarget, block: &Block, prior: Option<&Prior>) {
    if let Some(prior) = prior {
        let sensitive = sensitive_paths(block, &prior.value).union(&prior.sensitive);
        let value = prior.value.clone();
        walk.publish(&target.id, Outputs { value, sensitive });
    }
}

/// Notes an object as it was read: it stays as it is, or is forgotten if it is gone.
pub(super) fn keep(
    walk: &Walk<'_>,
    target: ChangeTarget,
    block: &Block,
    (object, prior): (Option<&Object>, Option<Prior>),
) {
    let Some(object) = object else {
        return;
    };
    show(walk, &target, block, prior.as_ref());
    let null = Value::null(implied_type(block));
    let change = Change {
        action: if prior.is_some() {
            Action::NoOp
        } else {
            Action::Forget
        },
        reason: None,
        after: prior.as_ref().map_or(null.clone(), |p| p.value.clone()),
        config: null,
        config_sensitive: PathSet::default(),
        sensitive: object.sensitive.clone(),
        private: Vec::new(),
        identity: None,
        replace_paths: Vec::new(),
        create_before_destroy: object.create_before_destroy,
        dependencies: object.dependencies.clone(),
        prior,
        target,
    };
    walk.found(|f| f.changes.insert(change.target.id.clone(), change));
}
