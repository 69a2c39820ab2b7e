//! Stored resources that are not in the configuration, and removals in general: destroyed, forgotten, or gone already.

use std::sync::Arc;

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Dependencies, Ir, Removed};
use crate::plan::nodes::{current, deposed};
use crate::plan::prior::{Prior, resource_schema};
use crate::plan::refresh;
use crate::plan::removal::plan_removal;
use crate::plan::rename;
use crate::plan::stack::{StackInput, Walk};
use crate::plan::target::Scope;
use crate::plan::{Action, Change, ChangeTarget, Reason};
use crate::provider::Provider;
use crate::schema::implied_type;
use crate::state::{Object, ResourceState};
use crate::value::{PathSet, Type, Value};

/// Stored objects that the run is about and that are not declared.
pub(super) fn orphans<'a>(
    input: StackInput<'a>,
    dependencies: &Dependencies,
    scope: &Scope,
) -> impl Iterator<Item = (&'a Id, &'a ResourceState)> {
    let stored = input.state.resources.iter();
    stored.filter(|(id, _)| dependencies.node(id.as_str()).is_none() && scope.selects(id))
}

/// Orphans that may still be declared by a part of the stack that waits.
pub(super) fn kept(input: StackInput<'_>, dependencies: &Dependencies, scope: &Scope) -> Vec<Id> {
    let StackInput { ir, options, .. } = input;
    if options.destroy || options.refresh_only || ir.waiting().next().is_none() {
        return Vec::new();
    }
    orphans(input, dependencies, scope)
        .filter(|(id, stored)| removed(ir, id, stored).is_none())
        .map(|(id, _)| id.clone())
        .collect()
}

/// Plans the removal of a stored resource that is not in the configuration.
pub(super) async fn orphan(walk: &Walk<'_>, id: &Id) -> Result<(), Diagnostics> {
    let Some(stored) = walk.input.state.resources.get(id) else {
        return Ok(());
    };
    let target = rename::target(id, stored);
    let forgotten = removed(walk.input.ir, id, stored).is_some_and(|entry| !entry.destroy);
    if forgotten && !walk.input.options.refresh_only {
        forget(walk, target, stored);
        return Ok(());
    }
    let provider = if walk.input.ir.providers.contains_key(&stored.provider) {
        walk.provider(&stored.provider).await?
    } else {
        walk.stored_provider(stored).await?
    };
    deposed(walk, &provider, &target, stored).await?;
    let object = stored.current.as_ref();
    let prior = current(walk, &provider, &target, object).await?;
    if walk.input.options.refresh_only {
        let block = &resource_schema(&*provider, &target.ty)?.block;
        refresh::keep(walk, target, block, (object, prior));
        return Ok(());
    }
    let reason = if walk.input.options.destroy {
        Reason::Destroy
    } else {
        Reason::NotInConfiguration
    };
    removal(walk, &provider, target, (object, prior), reason).await
}

/// What the configuration says about a resource that it does not have: about this very id, or about all instances of what is
/// declared no more.
fn removed<'a>(ir: &'a Ir, id: &Id, stored: &ResourceState) -> Option<&'a Removed> {
    let about = |id: &str| ir.removed.iter().find(|entry| entry.from.as_str() == id);
    let base = || {
        let (base, _) = id.instance().filter(|_| stored.index.is_some())?;
        let entry = about(base)?;
        let instance_of = |other: &Id| other.instance().is_some_and(|(b, _)| b == base);
        let mut instances = ir.resources.iter().filter(|r| r.meta.index.is_some());
        (!instances.any(|r| instance_of(&r.id))).then_some(entry)
    };
    about(id.as_str()).or_else(base)
}

/// Lets go of a resource. No provider is asked: it may be one that does not work any more.
fn forget(walk: &Walk<'_>, target: ChangeTarget, stored: &ResourceState) {
    let object = stored.current.as_ref();
    let null = Value::null(Type::Dynamic);
    let change = Change {
        action: Action::Forget,
        reason: Some(Reason::Removed),
        prior: object.map(as_stored),
        after: null.clone(),
        config: null,
        config_sensitive: PathSet::default(),
        sensitive: PathSet::default(),
        private: Vec::new(),
        identity: None,
        replace_paths: Vec::new(),
        create_before_destroy: object.is_some_and(|o| o.create_before_destroy),
        dependencies: object.map(|o| o.dependencies.clone()).unwrap_or_default(),
        target,
    };
    let id = change.target.id.clone();
    let left = stored.deposed.keys().map(|key| {
        Diagnostic::warning("Object is forgotten")
            .detail(format!(
                "object {key}, left over from a replacement, will no longer be managed either, and nobody destroys it"
            ))
            .at(id.as_str())
    });
    walk.found(|f| {
        f.diagnostics.extend(Diagnostics(left.collect()));
        f.changes.insert(id.clone(), change);
    });
}

/// An object without its schema, to be shown.
fn as_stored(object: &Object) -> Prior {
    let json = serde_json::from_slice(&object.attributes).unwrap_or_default();
    Prior {
        value: Value::from_untyped_json(&json).unwrap_or(Value::null(Type::Dynamic)),
        private: object.private.clone(),
        identity: None,
        status: object.status,
        sensitive: object.sensitive.clone(),
        create_before_destroy: object.create_before_destroy,
    }
}

/// Plans a removal; an object that is gone already is only forgotten.
pub(super) async fn removal(
    walk: &Walk<'_>,
    provider: &Arc<dyn Provider>,
    target: ChangeTarget,
    stored: (Option<&Object>, Option<Prior>),
    reason: Reason,
) -> Result<(), Diagnostics> {
    let (object, prior) = stored;
    let block = &resource_schema(&**provider, &target.ty)?.block;
    let ty = implied_type(block);
    let null = Value::null(ty.clone());
    let (private, warnings) = match &prior {
        Some(prior) => plan_removal(&**provider, &target.ty, &ty, prior).await?,
        None => Default::default(),
    };
    refresh::show(walk, &target, block, prior.as_ref());
    let change = Change {
        action: if prior.is_some() {
            Action::Delete
        } else {
            Action::Forget
        },
        reason: Some(reason),
        after: null.clone(),
        config: null,
        config_sensitive: PathSet::default(),
        sensitive: PathSet::default(),
        private,
        identity: None,
        replace_paths: Vec::new(),
        create_before_destroy: object.is_some_and(|o| o.create_before_destroy),
        dependencies: object.map(|o| o.dependencies.clone()).unwrap_or_default(),
        prior,
        target,
    };
    walk.found(|f| {
        f.diagnostics.extend_at(warnings, change.target.id.as_str());
        f.changes.insert(change.target.id.clone(), change);
    });
    Ok(())
}
