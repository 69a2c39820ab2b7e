//! Plans and states as the documents that programs and people read.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::addr::Id;
use crate::diagnostic::Diagnostics;
use crate::ir::{Deferred, Index, Ir};
use crate::json::{
    self, Change, DeferredPart, Importing, Mode, Module, Named, ObjectChange, ObjectValues,
    OutputValues, PlanDoc, PlannedBuild, ResourceChange, ResourceName, ResourceValues, StateDoc,
    Values,
};
use crate::nix::is_made;
use crate::ops::builds::made_by;
use crate::ops::checks;
use crate::ops::reason::action_reason;
use crate::plan::import::ImportBy;
use crate::plan::outputs::{StackOutput, stack_outputs};
use crate::plan::providers::source_text;
use crate::plan::{self, Action, ChangeTarget, DataRead, DeposedChange, Drift, Plan};
use crate::provider::Pool;
use crate::schema::{Block, ProviderSchema, implied_type};
use crate::state::{Object, ResourceState, State, Status};
use crate::value::{PathSet, Value};

/// Schemas of the providers that a document needs, by the provider's id.
pub(super) struct Schemas(BTreeMap<String, (String, Arc<ProviderSchema>)>);

impl Schemas {
    /// Those of the configuration, and of stored objects that are not in it. What does not start is left out.
    async fn of(ir: Option<&Ir>, state: &State, pool: &Pool) -> Self {
        let mut sources: BTreeMap<String, String> = BTreeMap::new();
        for stored in state.resources.values() {
            sources.insert(stored.provider.clone(), stored.provider_source.clone());
        }
        for (id, decl) in ir.into_iter().flat_map(|ir| &ir.providers) {
            if let Ok(source) = source_text(id, &decl.source) {
                sources.insert(id.clone(), source);
            }
        }
        let mut found = BTreeMap::new();
        for (id, source) in sources {
            if let Ok(schema) = pool.schema(&id, &source).await {
                found.insert(id, (source, schema));
            }
        }
        Self(found)
    }

    fn resource(&self, provider: &str, ty: &str) -> Option<(&Block, i64)> {
        let schema = self.0.get(provider)?.1.resources.get(ty)?;
        Some((&schema.block, schema.version))
    }

    fn data(&self, provider: &str, ty: &str) -> Option<&Block> {
        self.0
            .get(provider)?
            .1
            .data_sources
            .get(ty)
            .map(|s| &s.block)
    }

    fn source<'a>(&'a self, provider: &'a str) -> &'a str {
        self.0.get(provider).map_or(provider, |(source, _)| source)
    }

    pub(super) fn name(
        &self,
        mode: Mode,
        id: &Id,
        (provider, ty, name): (&str, &str, &str),
        index: Option<&Index>,
    ) -> ResourceName {
        ResourceName::new(Named {
            mode,
            id,
            ty,
            name,
            index,
            provider: self.source(provider),
        })
    }

    fn target(&self, target: &ChangeTarget) -> ResourceName {
        let names = (&*target.provider, &*target.ty, &*target.name);
        self.name(Mode::Managed, &target.id, names, target.index.as_ref())
    }
}

/// A plan as a document. `state` is what it was made from.
pub async fn plan_document(plan: &Plan, state: &State, pool: &Pool) -> PlanDoc {
    let schemas = Schemas::of(Some(&plan.ir), state, pool).await;
    // An object that is forgotten because it is gone already: the drift says so.
    let gone = |c: &&plan::Change| c.action == Action::Forget && c.prior.is_none();
    let planned = plan.changes.values().filter(|c| !gone(c));
    let mut changes: Vec<_> = planned
        .filter_map(|c| resource_change(c, plan, &schemas))
        .collect();
    changes.extend(
        plan.deposed
            .iter()
            .filter(|_| !plan.refresh_only)
            .filter_map(|d| deposed_change(d, &schemas)),
    );
    changes.extend(
        plan.data
            .iter()
            .filter(|(_, d)| d.deferred && d.mode == crate::ir::Mode::Data)
            .filter_map(|(id, d)| data_change(id, d, &schemas)),
    );
    changes.sort_by(|a, b| (&a.name.nivis_id, &a.deposed).cmp(&(&b.name.nivis_id, &b.deposed)));
    let mut doc = PlanDoc {
        resource_drift: plan
            .drift
            .iter()
            .filter_map(|d| drift(d, &schemas))
            .collect(),
        resource_changes: changes,
        output_changes: output_changes(plan, state),
        ..PlanDoc::default()
    };
    doc.checks = checks::planned(plan, &schemas);
    doc.nivis.deferred = (plan.ir.waiting()).map(deferred_part).collect();
    doc.nivis.kept = plan.kept.iter().map(ToString::to_string).collect();
    doc.complete = plan.selected.is_none() && doc.nivis.deferred.is_empty();
    doc.nivis.refresh_only = plan.refresh_only;
    doc.nivis.builds = builds(plan);
    doc.nivis.warnings = plan
        .warnings
        .0
        .iter()
        .map(json::DiagnosticDoc::from)
        .collect();
    doc.applyable = doc.has_changes();
    doc
}

fn deferred_part(part: &Deferred) -> DeferredPart {
    DeferredPart {
        name: part.id.clone(),
        waits_for: part.inputs.iter().map(ToString::to_string).collect(),
    }
}

fn resource_change(
    change: &plan::Change,
    plan: &Plan,
    schemas: &Schemas,
) -> Option<ResourceChange> {
    let bare = Block::default();
    let block = match schemas.resource(&change.target.provider, &change.target.ty) {
        Some((block, _)) => block,
        // No provider is needed to forget an object.
        None if change.action == Action::Forget => &bare,
        None => return None,
    };
    let nothing = PathSet::default();
    let mut result = ResourceChange::new(
        schemas.target(&change.target),
        Change::of_object(ObjectChange {
            action: change.action,
            block,
            before: change.prior.as_ref().map(|p| &p.value),
            after: Some(&change.after),
            before_sensitive: change.prior.as_ref().map_or(&nothing, |p| &p.sensitive),
            after_sensitive: &change.sensitive,
            replace_paths: &change.replace_paths,
        }),
    );
    result.action_reason = action_reason(change, plan);
    if let Some(moved) = plan.moves.get(&change.target.id) {
        result.previous_address = Some(schemas.target(&moved.from).address);
        result.previous_nivis_id = Some(moved.from.id.to_string());
    }
    result.change.importing = plan.imports.get(&change.target.id).map(importing);
    Some(result)
}

fn importing(by: &ImportBy) -> Importing {
    match by {
        ImportBy::Id(id) => Importing {
            id: Some(id.clone()),
            identity: None,
        },
        ImportBy::Identity(identity) => Importing {
            id: None,
            identity: identity.value.to_untyped_json().ok(),
        },
    }
}

fn deposed_change(deposed: &DeposedChange, schemas: &Schemas) -> Option<ResourceChange> {
    let (block, _) = schemas.resource(&deposed.target.provider, &deposed.target.ty)?;
    let nothing = PathSet::default();
    let prior = deposed.prior.as_ref()?;
    let mut result = ResourceChange::new(
        schemas.target(&deposed.target),
        Change::of_object(ObjectChange {
            action: Action::Delete,
            block,
            before: Some(&prior.value),
            after: None,
            before_sensitive: &prior.sensitive,
            after_sensitive: &nothing,
            replace_paths: &[],
        }),
    );
    result.deposed = Some(deposed.key.clone());
    Some(result)
}

fn data_change(id: &Id, read: &DataRead, schemas: &Schemas) -> Option<ResourceChange> {
    let nothing = PathSet::default();
    let mut result = ResourceChange::new(
        schemas.name(Mode::Data, id, (&read.provider, &read.ty, &read.name), None),
        Change::of_object(ObjectChange {
            action: Action::Read,
            block: schemas.data(&read.provider, &read.ty)?,
            before: None,
            after: Some(&read.value),
            before_sensitive: &nothing,
            after_sensitive: &nothing,
            replace_paths: &[],
        }),
    );
    result.action_reason = Some(if read.awaits_change {
        "read_because_dependency_pending"
    } else {
        "read_because_config_unknown"
    });
    Some(result)
}

fn drift(drift: &Drift, schemas: &Schemas) -> Option<ResourceChange> {
    let (block, _) = schemas.resource(&drift.target.provider, &drift.target.ty)?;
    let change = Change::of_object(ObjectChange {
        action: if drift.after.is_null() {
            Action::Delete
        } else {
            Action::Update
        },
        block,
        before: Some(&drift.before),
        after: Some(&drift.after),
        before_sensitive: &drift.sensitive,
        after_sensitive: &drift.sensitive,
        replace_paths: &[],
    });
    Some(ResourceChange::new(schemas.target(&drift.target), change))
}

fn output_changes(plan: &Plan, state: &State) -> BTreeMap<String, Change> {
    let stored = |name: &str| {
        state
            .outputs
            .get(name)
            .and_then(|o| json::parse(&o.value).ok())
    };
    let (planned, _) = if plan.destroy {
        Default::default()
    } else {
        stack_outputs(&plan.ir, &plan.outputs)
    };
    let unread = |output: &StackOutput| plan.refresh_only && !output.value.is_wholly_known();
    let was_sensitive = |name: &str| state.outputs.get(name).is_some_and(|o| o.sensitive);
    let mut changes = BTreeMap::new();
    for name in state
        .outputs
        .keys()
        .filter(|name| !planned.contains_key(*name) && plan.decides(name))
    {
        let change = Change::of_output(stored(name).as_ref(), None, was_sensitive(name));
        changes.insert(name.clone(), change);
    }
    let decided = planned
        .into_iter()
        .filter(|(name, o)| plan.decides(name) && !unread(o));
    for (name, output) in decided {
        let sensitive = output.sensitive || was_sensitive(&name);
        let change = Change::of_output(stored(&name).as_ref(), Some(&output.value), sensitive);
        changes.insert(name, change);
    }
    changes
}

/// Builds of what changes whose results are not there yet.
fn builds(plan: &Plan) -> Vec<PlannedBuild> {
    let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for resource in made_by(plan) {
        for build in resource.builds().into_iter().filter(|b| !is_made(b)) {
            let users = users.entry(build.drv.unwrap_or(build.path)).or_default();
            let id = resource.id.to_string();
            if users.last() != Some(&id) {
                users.push(id);
            }
        }
    }
    users
        .into_iter()
        .map(|(path, used_by)| PlannedBuild { path, used_by })
        .collect()
}

/// A state as a document. An object whose provider cannot be started, or has another schema version, is shown as stored.
pub async fn state_document(state: &State, pool: &Pool) -> Result<StateDoc, Diagnostics> {
    let schemas = Schemas::of(None, state, pool).await;
    let mut resources = Vec::new();
    for (id, stored) in &state.resources {
        let current = stored.current.iter().map(|object| (None, object));
        for (key, object) in
            current.chain(stored.deposed.iter().map(|(key, o)| (Some(key.clone()), o)))
        {
            let mut values = object_values(id, stored, object, &schemas);
            values.deposed_key = key;
            resources.push(values);
        }
    }
    let outputs = state.outputs.iter().filter_map(|(name, output)| {
        let value = json::parse(&output.value).ok()?;
        Some((name.clone(), OutputValues::new(&value, output.sensitive)))
    });
    let mut doc = StateDoc::new(Values {
        outputs: outputs.collect(),
        root_module: Module { resources },
    });
    doc.checks = checks::stored(state, &schemas);
    Ok(doc)
}

fn object_values(
    id: &Id,
    stored: &ResourceState,
    object: &Object,
    schemas: &Schemas,
) -> ResourceValues {
    let schema = schemas.resource(&stored.provider, &stored.ty);
    let typed = schema
        .filter(|(_, version)| *version == object.schema_version)
        .and_then(|(block, _)| {
            let value =
                crate::value::json::from_json(&object.attributes, &implied_type(block)).ok()?;
            Some((block, value))
        });
    let bare = Block::default();
    let as_stored = || match &object.flat {
        None => json::parse(&object.attributes)
            .unwrap_or_else(|_| Value::null(crate::value::Type::Dynamic)),
        Some(flat) => Value::object(flat.iter().map(|(k, v)| (&**k, Value::string(&**v)))),
    };
    let (block, value) = typed.unwrap_or_else(|| (&bare, as_stored()));
    let names = (&*stored.provider, &*stored.ty, &*stored.name);
    let mut values = ResourceValues::new(
        schemas.name(Mode::Managed, id, names, stored.index.as_ref()),
        ObjectValues {
            block,
            schema_version: object.schema_version,
            value: &value,
            sensitive: &object.sensitive,
        },
    );
    values.depends_on = object
        .dependencies
        .iter()
        .map(ToString::to_string)
        .collect();
    values.tainted = object.status == Status::Tainted;
    values
}
