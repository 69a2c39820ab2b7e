//! How something that is read is planned: a data source, an ephemeral resource, a function call.

use std::sync::Arc;

use crate::addr::Id;
use crate::diagnostic::Diagnostics;
use crate::ir::{DataSource, Mode};
use crate::plan::data::{Fitted, given};
use crate::plan::resolve::Outputs;
use crate::plan::stack::Walk;
use crate::plan::{Action, DataRead};
use crate::provider::Provider;
use crate::value::Value;

/// Reads a data source, opens an ephemeral resource or calls a function; or leaves it for apply, if its configuration is not
/// known or what it depends on is still to change.
pub(super) async fn data(walk: &Walk<'_>, source: &DataSource) -> Result<(), Diagnostics> {
    if walk.input.options.destroy && !walk.scope.needed.contains(&source.id) {
        return Ok(());
    }
    let provider = match source.mode {
        Mode::Call => walk.unconfigured(&source.provider).await?,
        Mode::Data | Mode::Ephemeral => walk.provider(&source.provider).await?,
    };
    let given = walk.found(|f| given(source, &f.outputs))?;
    let fitted = Fitted::new(provider.schema(), source.mode, &source.ty, given)?;
    let pending = must_wait(walk, source);
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
        awaits_change: pending && fitted.config.is_wholly_known(),
        dependencies: walk.dependencies(&source.id, &source.provider),
    };
    walk.found(|f| f.data.insert(source.id.clone(), read));
    walk.publish(&source.id, Outputs { value, sensitive });
    Ok(())
}

/// Whether something that it explicitly depends on is still to change, or, if it has conditions, anything that it depends
/// on: conditions are about things as they will be.
///
/// For a data source a reference to a resource counts as an explicit dependency, even where its value is known: who asks for
/// the name of a thing wants the thing to be there. Not in a destroy: what is needed for that must be read before.
fn must_wait(walk: &Walk<'_>, source: &DataSource) -> bool {
    let meta = &source.meta;
    let guarded = !meta.preconditions.is_empty() || !meta.postconditions.is_empty();
    let mut on: Vec<Id> = meta.depends_on.clone();
    if source.mode == Mode::Data && !walk.input.options.destroy {
        on.extend(walk.resources_of(&source.id));
    }
    if guarded {
        on.push(source.id.clone());
    }
    if on.is_empty() {
        return false;
    }
    on.extend(walk.ancestors(&on));
    walk.found(|f| {
        on.iter().any(|id| {
            f.changes.get(id).is_some_and(|c| c.action != Action::NoOp)
                || f.data.get(id).is_some_and(|d| d.deferred)
        })
    })
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
