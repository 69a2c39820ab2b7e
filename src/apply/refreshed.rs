//! Records of objects that a plan leaves as they are, but found different from what is stored.

use crate::apply::object::NewObject;
use crate::apply::prepare::outcome;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::plan::Action;
use crate::plan::prior::Prior;
use crate::plan::providers::source_text;
use crate::plan::{Change, Plan};
use crate::provider::Pool;
use crate::schema::ProviderSchema;
use crate::state::{Object, Record, State};
use crate::value::PathSet;

/// The records that bring the state up to what the plan's refresh found.
pub async fn records(plan: &Plan, state: &State, pool: &Pool) -> Result<Vec<Record>, Diagnostics> {
    let mut records = Vec::new();
    for (id, change) in plan
        .changes
        .iter()
        .filter(|(_, c)| c.action == Action::NoOp)
    {
        let Some(stored) = state.resources.get(id) else {
            continue;
        };
        let Some(decl) = plan.ir.providers.get(&change.target.provider) else {
            continue;
        };
        let source = source_text(&change.target.provider, &decl.source)?;
        let schema = pool.schema(&change.target.provider, &source).await?;
        let Some(object) = encode(change, &schema)? else {
            continue;
        };
        let mut resource = stored.clone();
        let before = resource.current.take().unwrap_or_default();
        resource.current = Some(Object {
            extra: before.extra,
            ..object
        });
        resource.provider.clone_from(&change.target.provider);
        resource.provider_source = source;
        resource.index.clone_from(&change.target.index);
        if resource != *stored {
            records.push(outcome(id, None, Some(resource)));
        }
    }
    Ok(records)
}

fn encode(change: &Change, provider: &ProviderSchema) -> Result<Option<Object>, Diagnostics> {
    let Some(prior) = &change.prior else {
        return Ok(None);
    };
    let sensitive = change.config_sensitive.clone();
    as_found(change, prior, sensitive, provider).map(Some)
}

/// The object of a change as it was found, to be stored; `sensitive` are its sensitive paths beyond the schema's.
pub(super) fn as_found(
    change: &Change,
    prior: &Prior,
    sensitive: PathSet,
    provider: &ProviderSchema,
) -> Result<Object, Diagnostics> {
    let ty = &change.target.ty;
    let Some(schema) = provider.resources.get(ty) else {
        return Err(Diagnostic::error("Invalid resource type")
            .at(change.target.id.as_str())
            .into());
    };
    let object = NewObject {
        provider,
        ty,
        schema,
        value: &prior.value,
        private: prior.private.clone(),
        identity: prior.identity.as_ref(),
        status: prior.status,
        sensitive,
        dependencies: change.dependencies.clone(),
        create_before_destroy: change.create_before_destroy,
    };
    object.encode()
}
