//! How each kind of node of a stack is planned.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::addr::Id;
use crate::diagnostic::Diagnostics;
use crate::ir::{DataSource, Dependencies, Expr, Ir, Meta, Mode, Ref, Resource, provider_node};
use crate::plan::Action;
use crate::plan::data::Fitted;
use crate::plan::ephemeral;
use crate::plan::instance::{InstanceInput, Proposal, plan_instance, prevented};
use crate::plan::memo::ProposalKey;
use crate::plan::prior::{Prior, Reading, read_stored, resource_schema};
use crate::plan::removal::plan_removal;
use crate::plan::resolve::{OutputMap, Outputs, look_up, resolve};
use crate::plan::stack::{Walk, target_of};
use crate::plan::{Change, ChangeTarget, DataRead, DeposedChange, Drift, Reason};
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

/// Data sources that some provider's configuration depends on, directly or not.
pub(super) fn needed_by_providers(ir: &Ir, dependencies: &Dependencies) -> BTreeSet<Id> {
    let dag = dependencies.dag();
    let providers = ir
        .providers
        .keys()
        .filter_map(|id| dependencies.node(provider_node(id).as_str()));
    let ancestors = dag.ancestors(providers);
    ancestors.into_iter().map(|n| dag[n].clone()).collect()
}

/// Starts a configured provider if anything in its configuration is worth saying something about.
pub(super) async fn provider(walk: &Walk<'_>, id: &str) -> Result<(), Diagnostics> {
    let mut read = walk.input.ir.data_sources.iter();
    let used = walk.input.ir.resources.iter().any(|r| r.provider == id)
        || read.any(|d| d.provider == id && d.mode != Mode::Call);
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
    if stored.is_none() && walk.input.options.destroy {
        return Ok(());
    }
    let provider = walk.provider(&resource.provider).await?;
    let schema = resource_schema(&*provider, &resource.ty)?;
    if let Some(stored) = stored {
        deposed(walk, &provider, &target, stored).await?;
    }
    let object = stored.and_then(|s| s.current.as_ref());
    let prior = current(walk, &provider, &target, object).await?;
    if walk.input.options.destroy {
        if resource.meta.lifecycle.prevent_destroy && prior.is_some() {
            return Err(prevented("everything is to be destroyed"));
        }
        return removal(walk, &provider, target, (object, prior), Reason::Destroy).await;
    }
    ephemeral::check(walk.input.ir, &schema.block, &resource.config)?;
    let (config, config_sensitive) =
        walk.found(|f| fitted(&schema.block, &resource.config, &resource.meta, &f.outputs))?;
    let key = ProposalKey {
        force_replace: walk.input.options.replace.contains(&resource.id)
            || triggered(walk, resource),
        config,
        sensitive: config_sensitive,
    };
    let first = walk.forced_first.contains(&resource.id);
    let proposal = propose_change(walk, &provider, resource, prior.as_ref(), &key).await?;
    let outputs = Outputs {
        value: proposal.after.clone(),
        sensitive: proposal.sensitive.clone(),
    };
    let mut warnings = deprecations(&schema.block, &key.config);
    warnings.extend(proposal.warnings);
    walk.found(|f| {
        f.diagnostics
            .extend_at(warnings.clone(), resource.id.as_str());
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
            create_before_destroy: first,
            dependencies: walk.dependencies(&resource.id, &resource.provider),
            target,
        };
        f.changes.insert(resource.id.clone(), change);
    });
    walk.publish(&resource.id, outputs);
    Ok(())
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

/// Whether something that `replaceTriggeredBy` names will change.
fn triggered(walk: &Walk<'_>, resource: &Resource) -> bool {
    let changes = |target: &Ref| {
        walk.found(|f| {
            let Some(change) = f.changes.get(&target.resource) else {
                return false;
            };
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

/// Plans the removal of a stored resource that is not in the configuration.
pub(super) async fn orphan(walk: &Walk<'_>, id: &Id) -> Result<(), Diagnostics> {
    let Some(stored) = walk.input.state.resources.get(id) else {
        return Ok(());
    };
    let target = ChangeTarget {
        id: id.clone(),
        provider: stored.provider.clone(),
        ty: stored.ty.clone(),
        name: stored.name.clone(),
        index: stored.index.clone(),
    };
    let provider = if walk.input.ir.providers.contains_key(&stored.provider) {
        walk.provider(&stored.provider).await?
    } else {
        walk.stored_provider(stored).await?
    };
    deposed(walk, &provider, &target, stored).await?;
    let object = stored.current.as_ref();
    let prior = current(walk, &provider, &target, object).await?;
    let reason = if walk.input.options.destroy {
        Reason::Destroy
    } else {
        Reason::NotInConfiguration
    };
    removal(walk, &provider, target, (object, prior), reason).await
}

/// Plans a removal; an object that is gone already is only forgotten.
async fn removal(
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
    if let Some(prior) = &prior {
        let mut sensitive = sensitive_paths(block, &prior.value);
        sensitive = sensitive.union(&prior.sensitive);
        walk.publish(
            &target.id,
            Outputs {
                value: prior.value.clone(),
                sensitive,
            },
        );
    }
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

/// The current object as it is now; notes a difference from what was stored.
async fn current(
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
    let reading = read_stored(&**provider, &target.ty, object, walk.input.options.refresh).await?;
    walk.found(|f| {
        f.diagnostics
            .extend_at(reading.warnings.clone(), target.id.as_str());
    });
    walk.input.memo.put_reading(provider, key, (), &reading);
    Ok(reading)
}

async fn deposed(
    walk: &Walk<'_>,
    provider: &Arc<dyn Provider>,
    target: &ChangeTarget,
    stored: &ResourceState,
) -> Result<(), Diagnostics> {
    for (key, object) in &stored.deposed {
        let reading = read(walk, provider, target, object, key).await?;
        let private = match &reading.prior {
            Some(prior) => {
                let ty = implied_type(&resource_schema(&**provider, &target.ty)?.block);
                plan_removal(&**provider, &target.ty, &ty, prior).await?.0
            }
            None => Vec::new(),
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

/// Reads a data source, opens an ephemeral resource or calls a function; or leaves it for apply, if its configuration or
/// what it explicitly depends on is still to change.
pub(super) async fn data(walk: &Walk<'_>, source: &DataSource) -> Result<(), Diagnostics> {
    if walk.input.options.destroy && !walk.needed.contains(&source.id) {
        return Ok(());
    }
    let provider = match source.mode {
        Mode::Call => walk.unconfigured(&source.provider).await?,
        Mode::Data | Mode::Ephemeral => walk.provider(&source.provider).await?,
    };
    let mut given = walk.found(|f| resolve(&source.config, &f.outputs))?;
    given
        .sensitive
        .extend(source.meta.sensitive.iter().cloned());
    let fitted = Fitted::new(provider.schema(), source.mode, &source.ty, given)?;
    let pending = walk.found(|f| {
        source.meta.depends_on.iter().any(|id| {
            f.changes.get(id).is_some_and(|c| c.action != Action::NoOp)
                || f.data.get(id).is_some_and(|d| d.deferred)
        })
    });
    let value = if pending || !fitted.is_ready() {
        let warnings = fitted.validate(&*provider).await?;
        walk.found(|f| f.diagnostics.extend_at(warnings, source.id.as_str()));
        fitted.planned()
    } else {
        read_known(walk, &provider, source, &fitted).await?
    };
    let sensitive = fitted.sensitive(&value);
    let read = DataRead {
        mode: source.mode,
        provider: source.provider.clone(),
        ty: source.ty.clone(),
        name: source.name.clone(),
        value: value.clone(),
        // A function that takes unknown arguments is asked again once they are known.
        deferred: pending || !fitted.config.is_wholly_known(),
        dependencies: walk.dependencies(&source.id, &source.provider),
    };
    walk.found(|f| f.data.insert(source.id.clone(), read));
    walk.publish(&source.id, Outputs { value, sensitive });
    Ok(())
}

async fn read_known(
    walk: &Walk<'_>,
    provider: &Arc<dyn Provider>,
    source: &DataSource,
    fitted: &Fitted<'_>,
) -> Result<Value, Diagnostics> {
    let config = &fitted.config;
    if let Some(known) = walk.input.memo.data(provider, &source.id, config) {
        return Ok(known);
    }
    let (value, warnings) = fitted.read(walk.input.pool, provider, &source.id).await?;
    walk.found(|f| f.diagnostics.extend_at(warnings, source.id.as_str()));
    walk.input
        .memo
        .put_data(provider, source.id.clone(), config.clone(), &value);
    Ok(value)
}
