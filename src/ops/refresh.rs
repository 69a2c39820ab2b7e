//! Bring the state up to what was read from the world.

use crate::apply::object::NewObject;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::plan::Plan;
use crate::plan::prior::Prior;
use crate::plan::providers::source_text;
use crate::provider::Pool;
use crate::schema::ProviderSchema;
use crate::state::{Object, Outcome, Record, ResourceState, State};

/// The records that make the state say what a refresh-only plan found: objects as they are, without those that are gone.
pub(super) async fn records(
    plan: &Plan,
    state: &State,
    pool: &Pool,
) -> Result<Vec<Record>, Diagnostics> {
    let mut records = Vec::new();
    for (id, stored) in state.resources.iter().filter(|(id, _)| plan.selects(id)) {
        let source = match plan.ir.providers.get(&stored.provider) {
            Some(decl) => source_text(&stored.provider, &decl.source)?,
            None => stored.provider_source.clone(),
        };
        let schema = pool.schema(&stored.provider, &source).await?;
        let mut found = stored.clone();
        found.provider_source = source;
        let now = |prior: Option<&Prior>, object: &Object| {
            prior
                .map(|prior| encode(&schema, stored, object, prior))
                .transpose()
        };
        if let (Some(object), Some(change)) = (&stored.current, plan.changes.get(id)) {
            found.current = now(change.prior.as_ref(), object).map_err(|d| at(d, id.as_str()))?;
        }
        for deposed in plan.deposed.iter().filter(|d| d.target.id == *id) {
            let Some(object) = found.deposed.remove(&deposed.key) else {
                continue;
            };
            if let Some(object) = now(deposed.prior.as_ref(), &object)? {
                found.deposed.insert(deposed.key.clone(), object);
            }
        }
        if found != *stored {
            records.push(Record::Outcome(Box::new(Outcome {
                id: id.clone(),
                deposed: None,
                resource: Some(found).filter(|f| !f.is_empty()),
            })));
        }
    }
    Ok(records)
}

fn at(diagnostics: Diagnostics, address: &str) -> Diagnostics {
    let mut all = Diagnostics::default();
    all.extend_at(diagnostics, address);
    all
}

/// A stored object with what was read in place of what was stored.
fn encode(
    provider: &ProviderSchema,
    resource: &ResourceState,
    object: &Object,
    prior: &Prior,
) -> Result<Object, Diagnostics> {
    let Some(schema) = provider.resources.get(&resource.ty) else {
        return Err(Diagnostic::error("Invalid resource type").into());
    };
    let now = NewObject {
        provider,
        ty: &resource.ty,
        schema,
        value: &prior.value,
        private: prior.private.clone(),
        identity: prior.identity.as_ref(),
        status: prior.status,
        sensitive: object.sensitive.clone(),
        dependencies: object.dependencies.clone(),
        create_before_destroy: object.create_before_destroy,
    };
    Ok(Object {
        extra: object.extra.clone(),
        ..now.encode()?
    })
}
