//! From the end of a step to what is stored and what others see.

use std::collections::BTreeSet;

use crate::addr::Id;
use crate::apply::executor::{Executor, Records};
use crate::apply::object::NewObject;
use crate::apply::prepare::outcome;
use crate::apply::step::{Outcome, Stored};
use crate::apply::work::{Done, Work};
use crate::diagnostic::Diagnostics;
use crate::plan::Action;
use crate::plan::resolve::Outputs;
use crate::plan::{Change, ChangeTarget};
use crate::schema::{ProviderSchema, sensitive_paths};
use crate::state::{Object, Record, ResourceState, Status};
use crate::value::{PathSet, Value};

impl Work<'_> {
    /// Id and action for people.
    pub(super) fn label(&self) -> (String, Action) {
        match self {
            Self::Make { change, .. } => (change.target.id.to_string(), make_action(change)),
            Self::Unmake {
                target, deposed, ..
            } => (label(target, deposed.as_deref()), Action::Delete),
            Self::Read { id, .. } => (id.to_string(), Action::Read),
        }
    }
}

impl Done<'_> {
    /// Id and action for people; no action if there turned out to be nothing to do.
    pub(super) fn label(&self) -> (String, Action) {
        match self {
            Self::Made {
                change, outcome, ..
            } => {
                let action = if outcome.idle {
                    Action::NoOp
                } else {
                    make_action(change)
                };
                (change.target.id.to_string(), action)
            }
            Self::Unmade {
                target, deposed, ..
            } => (label(target, deposed.as_deref()), Action::Delete),
            Self::Read { id, .. } => (id.to_string(), Action::Read),
        }
    }
}

fn make_action(change: &Change) -> Action {
    if change.action == Action::Update {
        Action::Update
    } else {
        Action::Create
    }
}

fn label(target: &ChangeTarget, deposed: Option<&str>) -> String {
    match deposed {
        Some(key) => format!("{} (deposed {key})", target.id),
        None => target.id.to_string(),
    }
}

impl<'a> Executor<'a, '_> {
    /// What a step's end adds to the journal, and its errors and warnings.
    pub(super) fn record(&mut self, done: Done<'a>) -> (Records, Diagnostics) {
        match done {
            Done::Made {
                change,
                provider_source,
                schema,
                sensitive,
                outcome,
            } => {
                let made = Made {
                    change,
                    provider_source,
                    sensitive,
                };
                self.made(&made, schema.as_deref(), outcome)
            }
            Done::Unmade {
                target,
                deposed,
                schema,
                outcome,
            } => self.unmade(target, deposed.as_deref(), schema.as_deref(), outcome),
            Done::Read { id, result } => match result {
                Ok((value, sensitive, warnings)) => {
                    self.learn(id, Outputs { value, sensitive });
                    (Vec::new(), warnings)
                }
                Err(diagnostics) => (Vec::new(), diagnostics),
            },
        }
    }

    /// What an object directly depends on: as planned, and what values refer to that Nix computed since.
    fn dependencies(&self, change: &Change) -> Vec<Id> {
        let mut all: BTreeSet<Id> = change.dependencies.iter().cloned().collect();
        if let Ok(resource) = self.resource(&self.ir, &change.target.id) {
            let used = resource.config.inputs().map(|r| &r.resource);
            all.extend(used.filter(|id| self.positions.contains_key(*id)).cloned());
        }
        all.into_iter().collect()
    }

    fn made(
        &mut self,
        made: &Made<'_>,
        schema: Option<&ProviderSchema>,
        outcome: Outcome,
    ) -> (Records, Diagnostics) {
        let id = &made.change.target.id;
        let mut diagnostics = outcome.diagnostics;
        let object = match (outcome.result, schema) {
            (
                Stored::Object {
                    value,
                    private,
                    identity,
                    tainted,
                },
                Some(provider),
            ) => {
                let Some(resource) = provider.resources.get(&made.change.target.ty) else {
                    return (self.unchanged(id), diagnostics);
                };
                let mut sensitive = sensitive_paths(&resource.block, &value);
                sensitive = sensitive.union(&made.sensitive);
                let encoded = NewObject {
                    provider,
                    ty: &made.change.target.ty,
                    schema: resource,
                    value: &value,
                    private,
                    identity: identity.as_ref(),
                    status: if tainted {
                        Status::Tainted
                    } else {
                        Status::Ready
                    },
                    sensitive: made.sensitive.clone(),
                    dependencies: self.dependencies(made.change),
                    create_before_destroy: made.change.create_before_destroy,
                }
                .encode();
                self.learn(id, Outputs { value, sensitive });
                encoded
            }
            (Stored::InDoubt, _) => return (self.in_doubt(id), diagnostics),
            _ => return (self.unchanged(id), diagnostics),
        };
        match object {
            Ok(object) => (vec![self.put_current(made, object)], diagnostics),
            Err(problem) => {
                diagnostics.extend(problem);
                (self.unchanged(id), diagnostics)
            }
        }
    }

    /// The resource with this object. What a later nivis wrote beside what we know stays, unless the object is another one.
    fn put_current(&self, made: &Made<'_>, mut object: Object) -> Record {
        let target = &made.change.target;
        let before = self.session.state().resources.get(&target.id).cloned();
        let before = before.unwrap_or_default();
        if let (Action::Update, Some(old)) = (made.change.action, before.current) {
            object.extra = old.extra;
        }
        let stored = ResourceState {
            provider: target.provider.clone(),
            provider_source: made.provider_source.clone(),
            ty: target.ty.clone(),
            name: target.name.clone(),
            index: target.index.clone(),
            current: Some(object),
            deposed: before.deposed,
            extra: before.extra,
        };
        outcome(&target.id, None, Some(stored))
    }

    /// Nothing came of a change.
    fn unchanged(&mut self, id: &Id) -> Records {
        let (_, restored) = self.restore(id);
        // Written even if nothing is different: it closes the intent.
        vec![outcome(id, None, restored)]
    }

    /// Nobody knows what came of a change: its intent stays open, for the next run to name it.
    fn in_doubt(&mut self, id: &Id) -> Records {
        match self.restore(id) {
            (Some(key), restored) => vec![outcome(id, Some(&key), restored)],
            (None, _) => Records::new(),
        }
    }

    /// The resource in which what was moved aside for a change is the current object again, and the key that it had.
    fn restore(&mut self, id: &Id) -> (Option<String>, Option<ResourceState>) {
        let mut stored = self.session.state().resources.get(id).cloned();
        let key = self.deposed.remove(id);
        if let (Some(stored), Some(key)) = (&mut stored, &key)
            && let Some(object) = stored.deposed.remove(key)
        {
            stored.current.get_or_insert(object);
        }
        (key, stored)
    }

    fn unmade(
        &mut self,
        target: &ChangeTarget,
        deposed: Option<&str>,
        schema: Option<&ProviderSchema>,
        ended: Outcome,
    ) -> (Records, Diagnostics) {
        let mut diagnostics = ended.diagnostics;
        if matches!(ended.result, Stored::InDoubt) {
            return (Records::new(), diagnostics);
        }
        let mut stored = self.session.state().resources.get(&target.id).cloned();
        if let Some(stored) = &mut stored {
            let slot = match deposed {
                Some(key) => stored.deposed.remove(key),
                None => stored.current.take(),
            };
            let left = match ended.result {
                Stored::Removed => None,
                Stored::Unchanged | Stored::InDoubt => slot,
                Stored::Object { value, private, .. } => match (slot, schema) {
                    (Some(old), Some(provider)) => {
                        match still_there(&old, provider, target, &value, private) {
                            Ok(object) => Some(object),
                            Err(problem) => {
                                diagnostics.extend(problem);
                                Some(old)
                            }
                        }
                    }
                    (slot, _) => slot,
                },
            };
            match (deposed, left) {
                (Some(key), Some(object)) => drop(stored.deposed.insert(key.to_owned(), object)),
                (None, left) => stored.current = left,
                (Some(_), None) => {}
            }
        }
        let record = outcome(&target.id, deposed, stored.filter(|s| !s.is_empty()));
        (vec![record], diagnostics)
    }

    /// Publishes what an object is now; notes if Nix was told otherwise.
    fn learn(&mut self, id: &Id, outputs: Outputs) {
        if let Some(before) = self.applied.outputs.get(id)
            && before.value.is_wholly_known()
            && before.value != outputs.value
        {
            self.stale.insert(id.clone());
        }
        self.applied.outputs.insert(id.clone(), outputs);
    }

    /// The `id` attribute of an object, for people, if it is a string that may be shown.
    pub(super) fn shown_id(&self, id: &str) -> Option<String> {
        let outputs = self.applied.outputs.get(id)?;
        let path = crate::value::Path::root().attribute("id");
        let shown = outputs.value.attribute("id")?.as_str()?.to_owned();
        (!outputs.sensitive.covers(&path)).then_some(shown)
    }
}

struct Made<'a> {
    change: &'a Change,
    provider_source: String,
    sensitive: PathSet,
}

fn still_there(
    old: &Object,
    provider: &ProviderSchema,
    target: &ChangeTarget,
    value: &Value,
    private: Vec<u8>,
) -> Result<Object, Diagnostics> {
    let Some(schema) = provider.resources.get(&target.ty) else {
        return Ok(old.clone());
    };
    let object = NewObject {
        provider,
        ty: &target.ty,
        schema,
        value,
        private,
        identity: None,
        status: old.status,
        sensitive: old.sensitive.clone(),
        dependencies: old.dependencies.clone(),
        create_before_destroy: old.create_before_destroy,
    }
    .encode()?;
    Ok(Object {
        identity: old.identity.clone(),
        ..object
    })
}
