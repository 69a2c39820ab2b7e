//! Records of what a plan takes over: resources that have other ids than in the state, and imported objects. They are
//! written before anything else is done, so that whatever becomes of the rest of the plan, the state knows these objects.

use std::sync::Arc;

use crate::addr::Id;
use crate::apply::prepare::outcome;
use crate::apply::refreshed::as_found;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::plan::moves::relocate;
use crate::plan::providers::source_text;
use crate::plan::rename::differences;
use crate::plan::{Change, Plan};
use crate::provider::Pool;
use crate::schema::ProviderSchema;
use crate::state::{Object, Record, ResourceState, State};

/// The records that bring the state to where the plan starts from.
pub async fn records(plan: &Plan, state: &State, pool: &Pool) -> Result<Vec<Record>, Diagnostics> {
    let mut records = moved(plan, state, pool).await?;
    for id in plan.imports.keys() {
        let change = plan.changes.get(id).ok_or_else(|| unplanned(id))?;
        let Some(prior) = &change.prior else {
            continue;
        };
        let (provider_source, schema) = provider(plan, change, pool).await?;
        let object = as_found(change, prior, change.config_sensitive.clone(), &schema)?;
        let target = &change.target;
        let stored = state.resources.get(id);
        let resource = ResourceState {
            provider: target.provider.clone(),
            provider_source,
            ty: target.ty.clone(),
            name: target.name.clone(),
            index: target.index.clone(),
            current: Some(object),
            ..stored.cloned().unwrap_or_default()
        };
        records.push(outcome(id, None, Some(resource)));
    }
    Ok(records)
}

/// What the moves change in the state.
async fn moved(plan: &Plan, state: &State, pool: &Pool) -> Result<Vec<Record>, Diagnostics> {
    let address = |id: &str, source: &str| pool.address(id, source);
    let found = relocate(state, &plan.ir, &address)?;
    let mut after = found.state.into_owned();
    for id in found
        .moves
        .iter()
        .filter(|(_, m)| m.crossing.is_some())
        .map(|(id, _)| id)
    {
        if let Some(resource) = after.resources.get_mut(id) {
            take_over(plan, id, resource, pool).await?;
        }
    }
    Ok(differences(state, &after))
}

/// Puts the objects that the new provider made of the old ones in their place.
async fn take_over(
    plan: &Plan,
    id: &Id,
    resource: &mut ResourceState,
    pool: &Pool,
) -> Result<(), Diagnostics> {
    let change = plan.changes.get(id).ok_or_else(|| unplanned(id))?;
    let (_, schema) = provider(plan, change, pool).await?;
    let encode = |prior: &crate::plan::prior::Prior, old: &Object| {
        as_found(change, prior, prior.sensitive.clone(), &schema).map(|object| Object {
            dependencies: old.dependencies.clone(),
            create_before_destroy: old.create_before_destroy,
            ..object
        })
    };
    resource.current = match (&change.prior, &resource.current) {
        (Some(prior), Some(old)) => Some(encode(prior, old)?),
        _ => None,
    };
    for (key, old) in std::mem::take(&mut resource.deposed) {
        let left = plan
            .deposed
            .iter()
            .find(|d| d.target.id == *id && d.key == key);
        if let Some(prior) = left.and_then(|d| d.prior.as_ref()) {
            resource.deposed.insert(key, encode(prior, &old)?);
        }
    }
    Ok(())
}

/// Source and schema of the provider of a change.
async fn provider(
    plan: &Plan,
    change: &Change,
    pool: &Pool,
) -> Result<(String, Arc<ProviderSchema>), Diagnostics> {
    let id = &change.target.provider;
    let decl = plan
        .ir
        .providers
        .get(id)
        .ok_or_else(|| unplanned(&change.target.id))?;
    let source = source_text(id, &decl.source)?;
    let schema = pool.schema(id, &source).await?;
    Ok((source, schema))
}

fn unplanned(id: &Id) -> Diagnostics {
    Diagnostic::error("Object was not planned")
        .detail("it is to be taken over from another provider or type, or from outside, but the plan says nothing about it")
        .at(id.as_str())
        .into()
}
