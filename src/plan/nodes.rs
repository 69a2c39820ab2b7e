//! How each kind of node of a stack is planned.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::addr::Id;
use crate::diagnostic::Diagnostics;
use crate::ir::{Dependencies, Expr, Ir, Meta, Mode, Ref, Resource};
use crate::plan::Action;
use crate::plan::ephemeral;
use crate::plan::import::{Arrival, arrival};
use crate::plan::instance::{InstanceInput, Proposal, plan_instance, prevented};
use crate::plan::memo::ProposalKey;
use crate::plan::orphan::removal;
use crate::plan::prior::{Prior, Reading, Stored, read_stored, resource_schema};
use crate::plan::refresh;
use crate::plan::removal::plan_removal;
use crate::plan::resolve::{OutputMap, Outputs, look_up, resolve};
use crate::plan::stack::{Walk, target_of};
use crate::plan::{Change, ChangeTarget, DeposedChange, Drift, Reason, check_ignored};
use crate::provider::Provider;
use crate::schema::{Block, conform, deprecations, implied_type, sensitive_paths};
use crate::state::{Object, ResourceState};
use crate::value::{PathSet, Value};

/// Ids whose replacements must be created first: by their own rule, or because something that depends on them is.
pub(super) fn create_before_destroy(ir: &Ir, dependencies: &Dependencies) -> BTreeSet<Id> {
    let own = ir
        .resources
        .iter()
        .filter(|r| r.meta.lifecycle.create_before_destroy);
    let mut open: Vec<&Id> = own.map(|r| &r.id).collect();
    let mut found = BTreeSet::new();
    while let Some(id) = open.pop() {
        if found.insert(id.clone()) {
            open.extend(dependencies.dependencies(id.as_str()));
        }
    }
    found
}

/// Starts a configured provider if anything in its configuration is worth saying something about.
pub(super) async fn provider(walk: &Walk<'_>, id: &str) -> Result<(), Diagnostics> {
    let ir = &walk.input.ir;
    let mut resources = ir.resources.iter().map(|r| (&r.id, &r.provider));
    let read = ir.data_sources.iter().filter(|d| d.mode != Mode::Call);
    let mut data = read.map(|d| (&d.id, &d.provider));
    let takes_part = |(user, provider): (&Id, &String)| provider == id && walk.scope.selects(user);
    let used = resources.any(takes_part) || data.any(takes_part);
    if used && !walk.input.options.destroy {
        walk.provider(id).await?;
    }
    Ok(())
}

/// A configuration made to fit its schema, with its sensitive paths.
pub fn fitted(
    block: &Block,
    config: &Expr,
    meta: &Meta,
    outputs: &OutputMap,
) -> Result<(Value, PathSet), Diagnostics> {
    let resolved = resolve(config, outputs)?;
    let config = conform(block, &resolved.value)?;
    let mut sensitive = resolved.sensitive;
    sensitive.extend(meta.sensitive.iter().cloned());
    Ok((config, sensitive))
}

/// Plans a configured resource and publishes what it will be.
pub(super) async fn resource(walk: &Walk<'_>, resource: &Resource) -> Result<(), Diagnostics> {
    let target = target_of(resource);
    let stored = walk.input.state.resources.get(&resource.id);
    if stored.is_none() && (walk.input.options.destroy || walk.input.options.refresh_only) {
        return Ok(());
    }
    let provider = walk.provider(&resource.provider).await?;
    let schema = resource_schema(&*provider, &resource.ty)?;
    if let Some(stored) = stored.filter(|_| walk.scope.selects(&resource.id)) {
        deposed(walk, &provider, &target, stored).await?;
    }
    let object = stored.and_then(|s| s.current.as_ref());
    let prior = current(walk, &provider, &target, object).await?;
    if !walk.scope.selects(&resource.id) {
        refresh::show(walk, &target, &schema.block, prior.as_ref());
        return Ok(());
    }
    if walk.input.options.refresh_only {
        refresh::keep(walk, target, &schema.block, (object, prior));
        return Ok(());
    }
    if walk.input.options.destroy {
        if resource.meta.lifecycle.prevent_destroy && prior.is_some() {
            return Err(prevented("everything is to be destroyed"));
        }
        return removal(walk, &provider, target, (object, prior), Reason::Destroy).await;
    }
    ephemeral::check(&walk.ephemeral, &schema.block, &resource.config)?;
    let (config, config_sensitive) =
        walk.found(|f| fitted(&schema.block, &resource.config, &resource.meta, &f.outputs))?;
    let prior = match arrival(walk, &provider, resource, (&config, &config_sensitive)).await? {
        Arrival::None => prior,
        Arrival::Object(found) => Some(found),
        Arrival::NotKnown => return Ok(()),
    };
    let ignored = check_ignored(&schema.block, &resource.meta.lifecycle.ignore_changes);
    let ignored = ignored.into_result()?;
    let triggered = triggered(walk, resource);
    let key = ProposalKey {
        force_replace: triggered || walk.input.options.replace.contains(&resource.id),
        config,
        sensitive: config_sensitive,
    };
    let mut proposal = propose_change(walk, &provider, resource, prior.as_ref(), &key).await?;
    if triggered && proposal.reason == Some(Reason::Requested) {
        proposal.reason = Some(Reason::Triggered);
    }
    let mut warnings = deprecations(&schema.block, &key.config);
    warnings.extend(std::mem::take(&mut proposal.warnings));
    warnings.extend(ignored);
    walk.found(|f| f.diagnostics.extend_at(warnings, resource.id.as_str()));
    note(walk, resource, (target, prior), key, proposal);
    Ok(())
}

/// Notes a change, and publishes what the object will be.
fn note(
    walk: &Walk<'_>,
    resource: &Resource,
    (target, prior): (ChangeTarget, Option<Prior>),
    key: ProposalKey,
    proposal: Proposal,
) {
    let outputs = Outputs {
        value: proposal.after.clone(),
        sensitive: proposal.sensitive.clone(),
    };
    let change = Change {
        action: proposal.action,
        reason: proposal.reason,
        prior,
        after: proposal.after,
        config: key.config,
        config_sensitive: key.sensitive,
        sensitive: proposal.sensitive,
        private: proposal.private,
        identity: proposal.identity,
        replace_paths: proposal.replace_paths,
        create_before_destroy: walk.forced_first.contains(&resource.id),
        dependencies: walk.dependencies(&resource.id, &resource.provider),
        target,
    };
    walk.found(|f| f.changes.insert(resource.id.clone(), change));
    walk.publish(&resource.id, outputs);
}

async fn propose_change(
    walk: &Walk<'_>,
    provider: &Arc<dyn Provider>,
    resource: &Resource,
    prior: Option<&Prior>,
    key: &ProposalKey,
) -> Result<Proposal, Diagnostics> {
    if let Some(known) = walk.input.memo.proposal(provider, &resource.id, key) {
        return Ok(known);
    }
    let proposal = plan_instance(InstanceInput {
        provider: &**provider,
        ty: &resource.ty,
        block: &resource_schema(&**provider, &resource.ty)?.block,
        prior,
        config: &key.config,
        config_sensitive: &key.sensitive,
        lifecycle: &resource.meta.lifecycle,
        create_before_destroy: walk.forced_first.contains(&resource.id),
        force_replace: key.force_replace,
    })
    .await?;
    walk.input
        .memo
        .put_proposal(provider, resource.id.clone(), key.clone(), &proposal);
    Ok(proposal)
}

/// Whether something that `replaceTriggeredBy` names will change: a resource that is updated or replaced, or an output whose
/// value will be another one, or is there for the first time.
fn triggered(walk: &Walk<'_>, resource: &Resource) -> bool {
    let changes = |target: &Ref| {
        walk.found(|f| {
            let Some(change) = f.changes.get(&target.resource) else {
                return false;
            };
            if target.path.is_root() {
                return change.action == Action::Update || change.action.is_replace();
            }
            let Some(prior) = &change.prior else {
                return change.action != Action::NoOp;
            };
            match (
                look_up(&prior.value, &target.path),
                look_up(&change.after, &target.path),
            ) {
                (Ok((before, _)), Ok((after, _))) => before.equals(&after) != Some(true),
                _ => change.action != Action::NoOp,
            }
        })
    };
    resource
        .meta
        .lifecycle
        .replace_triggered_by
        .iter()
        .any(changes)
}

/// The current object as it is now; notes a difference from what was stored.
pub(super) async fn current(
    walk: &Walk<'_>,
    provider: &Arc<dyn Provider>,
    target: &ChangeTarget,
    object: Option<&Object>,
) -> Result<Option<Prior>, Diagnostics> {
    let Some(object) = object else {
        return Ok(None);
    };
    let reading = read(walk, provider, target, object, "").await?;
    let block = &resource_schema(&**provider, &target.ty)?.block;
    let after = reading
        .prior
        .as_ref()
        .map_or_else(|| Value::null(implied_type(block)), |p| p.value.clone());
    if walk.input.options.refresh && after.equals(&reading.stored) != Some(true) {
        let mut sensitive = sensitive_paths(block, &reading.stored);
        sensitive = sensitive.union(&sensitive_paths(block, &after));
        sensitive = sensitive.union(&object.sensitive);
        let drift = Drift {
            target: target.clone(),
            before: reading.stored,
            after,
            sensitive,
        };
        walk.found(|f| f.drift.push(drift));
    }
    Ok(reading.prior)
}

async fn read(
    walk: &Walk<'_>,
    provider: &Arc<dyn Provider>,
    target: &ChangeTarget,
    object: &Object,
    deposed_key: &str,
) -> Result<Reading, Diagnostics> {
    let key = (target.id.clone(), deposed_key.to_owned());
    if let Some(known) = walk.input.memo.reading(provider, &key, &()) {
        return Ok(known);
    }
    let stored = Stored {
        ty: &target.ty,
        object,
        crossing: walk.crossing(&target.id),
    };
    let reading = read_stored(&**provider, stored, walk.input.options.refresh).await?;
    walk.found(|f| {
        f.diagnostics
            .extend_at(reading.warnings.clone(), target.id.as_str());
    });
    walk.input.memo.put_reading(provider, key, (), &reading);
    Ok(reading)
}

pub(super) async fn deposed(
    walk: &Walk<'_>,
    provider: &Arc<dyn Provider>,
    target: &ChangeTarget,
    stored: &ResourceState,
) -> Result<(), Diagnostics> {
    for (key, object) in &stored.deposed {
        let reading = read(walk, provider, target, object, key).await?;
        let private = match &reading.prior {
            Some(prior) if !walk.input.options.refresh_only => {
                let ty = implied_type(&resource_schema(&**provider, &target.ty)?.block);
                plan_removal(&**provider, &target.ty, &ty, prior).await?.0
            }
            _ => Vec::new(),
        };
        let change = DeposedChange {
            target: target.clone(),
            key: key.clone(),
            prior: reading.prior,
            private,
        };
        walk.found(|f| f.deposed.push(change));
    }
    Ok(())
}
