//! From a step whose turn it is to work that can run on its own.

use std::collections::HashMap;

use crate::addr::Id;
use crate::apply::executor::Executor;
use crate::apply::judge::Judgement;
use crate::apply::work::Work;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::eval::Phases;
use crate::ir::{DataSource, Expr, Mode, Resource};
use crate::plan::Action;
use crate::plan::conditions::Kind;
use crate::plan::data::given;
use crate::plan::order::Step;
use crate::plan::providers::{Configuration, source_text};
use crate::plan::resolve::{is_known, resolve};
use crate::plan::{Change, ChangeTarget};
use crate::state::{Intent, Operation, Outcome, Record, ResourceState};

/// What can be done about a step now.
pub(super) enum Prepared<'a> {
    /// Nothing is to be done.
    Nothing,
    /// Only this is to be recorded.
    Record(Record),
    /// It needs a value that Nix has still to compute.
    Blocked,
    /// A value that Nix computed refers to what another step has still to make.
    Early,
    /// It cannot be done.
    Failed(Diagnostics),
    /// It can run, once this is recorded.
    Work { work: Work<'a>, before: Vec<Record> },
}

impl<'a> Executor<'a, '_> {
    pub(super) fn prepare(&mut self, step: &Step) -> Prepared<'a> {
        let result = match step {
            Step::Pass => return Prepared::Nothing,
            Step::Forget(id) => return Prepared::Record(self.forget(id)),
            Step::Make(id) => self.prepare_make(id),
            Step::Unmake(id) => self.prepare_unmake(id),
            Step::UnmakeDeposed(id, key) => self.prepare_deposed(id, key),
            Step::Read(id) => self.prepare_read(id),
            Step::Check(id) => Ok(self.prepare_check(id)),
        };
        result.unwrap_or_else(Prepared::Failed)
    }

    /// Drops the record of an object; what is left over from replacements stays if it is to be destroyed.
    fn forget(&self, id: &Id) -> Record {
        let destroyed = self.input.plan.deposed.iter().any(|d| d.target.id == *id);
        let mut stored = self.session.state().resources.get(id).cloned();
        if let Some(stored) = &mut stored {
            stored.current = None;
        }
        outcome(id, None, stored.filter(|_| destroyed))
    }

    fn prepare_make(&mut self, id: &Id) -> Result<Prepared<'a>, Diagnostics> {
        let plan = self.input.plan;
        let change = plan.changes.get(id).ok_or_else(|| vanished(id))?;
        let ir = std::sync::Arc::clone(&self.ir);
        let resource = self.resource(&ir, id)?;
        if self.waits_for_nix(&ir, id, &resource.config, &resource.provider) {
            return Ok(Prepared::Blocked);
        }
        if self.is_early(&ir, &resource.config, &resource.provider) {
            return Ok(Prepared::Early);
        }
        if let Some(held) = self.held(id, Kind::Precondition) {
            return Ok(held);
        }
        let provider = self.provider(&ir, &resource.provider)?;
        let config = resolve(&resource.config, &self.applied.outputs)?;
        let mut before = Vec::new();
        let operation = match change.action {
            Action::Update => Operation::Update,
            _ => Operation::Create,
        };
        if change.action == Action::CreateThenDelete {
            before.extend(self.depose(id));
        }
        before.push(Record::Intent(Intent::new(id.clone(), None, operation)));
        let lifecycle = resource.meta.lifecycle.clone();
        Ok(Prepared::Work {
            work: Work::Make {
                change,
                provider,
                config,
                builds: resource.builds(),
                lifecycle,
            },
            before,
        })
    }

    /// Moves the current object aside, so that its successor can take its place.
    fn depose(&mut self, id: &Id) -> Option<Record> {
        let mut stored = self.session.state().resources.get(id)?.clone();
        let object = stored.current.take()?;
        let key = uuid::Uuid::new_v4().simple().to_string()[..8].to_owned();
        stored.deposed.insert(key.clone(), object);
        self.deposed.insert(id.clone(), key);
        Some(outcome(id, None, Some(stored)))
    }

    fn prepare_unmake(&mut self, id: &Id) -> Result<Prepared<'a>, Diagnostics> {
        let plan = self.input.plan;
        let change: &'a Change = plan.changes.get(id).ok_or_else(|| vanished(id))?;
        let Some(prior) = &change.prior else {
            return Ok(Prepared::Nothing);
        };
        let work = Work::Unmake {
            target: &change.target,
            provider: self.stored_provider(&change.target)?,
            prior,
            private: change.private.clone(),
            deposed: self.deposed.get(id).cloned(),
            replan: false,
        };
        let intent = Intent::new(id.clone(), self.deposed.get(id).cloned(), Operation::Delete);
        Ok(Prepared::Work {
            work,
            before: vec![Record::Intent(intent)],
        })
    }

    fn prepare_deposed(&mut self, id: &Id, key: &str) -> Result<Prepared<'a>, Diagnostics> {
        let plan = self.input.plan;
        let found = plan
            .deposed
            .iter()
            .find(|d| d.target.id == *id && d.key == key);
        let deposed = found.ok_or_else(|| vanished(id))?;
        let Some(prior) = &deposed.prior else {
            let mut stored = self.session.state().resources.get(id).cloned();
            if let Some(stored) = &mut stored {
                stored.deposed.remove(key);
            }
            return Ok(Prepared::Record(outcome(
                id,
                Some(key),
                stored.filter(|s| !s.is_empty()),
            )));
        };
        let work = Work::Unmake {
            target: &deposed.target,
            provider: self.stored_provider(&deposed.target)?,
            prior,
            private: deposed.private.clone(),
            deposed: Some(key.to_owned()),
            replan: true,
        };
        let intent = Intent::new(id.clone(), Some(key.to_owned()), Operation::Delete);
        Ok(Prepared::Work {
            work,
            before: vec![Record::Intent(intent)],
        })
    }

    fn prepare_read(&mut self, id: &Id) -> Result<Prepared<'a>, Diagnostics> {
        let plan = self.input.plan;
        let (id, read) = plan.data.get_key_value(id).ok_or_else(|| vanished(id))?;
        let ir = std::sync::Arc::clone(&self.ir);
        let source = self.data_source(&ir, id)?;
        if self.waits_for_nix(&ir, id, &source.config, &source.provider) {
            return Ok(Prepared::Blocked);
        }
        if self.is_early(&ir, &source.config, &source.provider) {
            return Ok(Prepared::Early);
        }
        if let Some(held) = self.held(id, Kind::Precondition) {
            return Ok(held);
        }
        let provider = match source.mode {
            Mode::Call => {
                let id = &source.provider;
                let decl = ir.providers.get(id).ok_or_else(|| undeclared(id))?;
                Configuration::unconfigured(id, &source_text(id, &decl.source)?)
            }
            Mode::Data | Mode::Ephemeral => self.provider(&ir, &source.provider)?,
        };
        let config = given(source, &self.applied.outputs)?;
        Ok(Prepared::Work {
            work: Work::Read {
                id,
                mode: source.mode,
                ty: &read.ty,
                provider,
                config,
                builds: source.builds(),
            },
            before: Vec::new(),
        })
    }

    fn prepare_check(&mut self, id: &Id) -> Prepared<'a> {
        let kinds = [Kind::Precondition, Kind::Postcondition];
        let held = kinds.into_iter().find_map(|kind| self.held(id, kind));
        held.unwrap_or(Prepared::Nothing)
    }

    /// What keeps a step from going on, if conditions do.
    fn held(&mut self, id: &Id, kind: Kind) -> Option<Prepared<'a>> {
        match self.judge(id, kind) {
            Judgement::Met => None,
            Judgement::Waits => Some(Prepared::Blocked),
            Judgement::Broken(diagnostics) => Some(Prepared::Failed(diagnostics)),
        }
    }

    /// Whether the newest evaluation still lacks something in this configuration, or computed it from a value that turned
    /// out otherwise.
    fn waits_for_nix(&self, ir: &crate::ir::Ir, id: &Id, config: &Expr, provider: &str) -> bool {
        let provider_config = ir.providers.get(provider).map(|p| &p.config);
        is_pending(config)
            || provider_config.is_some_and(is_pending)
            || !self.stale.is_empty() && self.depends_on_stale(ir, id, provider)
    }

    /// Whether the configuration refers to the outcome of a step that has not ended. The plan did not know of that, or this step
    /// would have been later.
    fn is_early(&self, ir: &crate::ir::Ir, config: &Expr, provider: &str) -> bool {
        let provider = ir.providers.get(provider).map(|p| &p.config);
        let mut used = std::iter::once(config)
            .chain(provider)
            .flat_map(Expr::inputs);
        used.any(|r| self.unfinished.contains(&r.resource) && !is_known(r, &self.applied.outputs))
    }

    pub(super) fn depends_on_stale(&self, ir: &crate::ir::Ir, id: &Id, provider: &str) -> bool {
        let provider = format!("provider.{provider}");
        ir.edges
            .iter()
            .any(|e| (e.to == *id || e.to.as_str() == provider) && self.stale.contains(&e.from))
    }

    fn provider(&self, ir: &crate::ir::Ir, id: &str) -> Result<Configuration, Diagnostics> {
        let decl = ir.providers.get(id).ok_or_else(|| undeclared(id))?;
        Configuration::resolve(id, decl, &self.applied.outputs)
    }

    /// The provider of an object to destroy: as configured, or without configuration if that is gone.
    fn stored_provider(&self, target: &ChangeTarget) -> Result<Configuration, Diagnostics> {
        if self.ir.providers.contains_key(&target.provider) {
            return self.provider(&self.ir, &target.provider);
        }
        let stored = self
            .session
            .state()
            .resources
            .get(&target.id)
            .ok_or_else(|| vanished(&target.id))?;
        Ok(Configuration::unconfigured(
            &stored.provider,
            &stored.provider_source,
        ))
    }

    pub(super) fn resource<'i>(
        &self,
        ir: &'i crate::ir::Ir,
        id: &Id,
    ) -> Result<&'i Resource, Diagnostics> {
        let found = self.positions.get(id).and_then(|&i| ir.resources.get(i));
        found.filter(|r| r.id == *id).ok_or_else(|| vanished(id))
    }

    pub(super) fn data_source<'i>(
        &self,
        ir: &'i crate::ir::Ir,
        id: &Id,
    ) -> Result<&'i DataSource, Diagnostics> {
        let found = self.positions.get(id).and_then(|&i| ir.data_sources.get(i));
        found.filter(|d| d.id == *id).ok_or_else(|| vanished(id))
    }

    /// Why a step cannot go on although everything it waits for is done.
    pub(super) fn stuck<E>(&self, step: &Step, phases: &Phases<'_, E>) -> Diagnostics {
        let id = match step {
            Step::Make(id) | Step::Read(id) | Step::Check(id) => id.as_str(),
            _ => "",
        };
        let known = |r: &crate::ir::Ref| is_known(r, &self.applied.outputs);
        let mut all = Diagnostics::default();
        for stuck in phases.stuck(known).into_iter().filter(|s| s.owner == id) {
            let missing: Vec<_> = stuck
                .missing
                .iter()
                .map(|r| format!("`{}.{}`", r.resource, r.path))
                .collect();
            let detail = if missing.is_empty() {
                "all its inputs are known, but evaluating again did not give it a value".to_owned()
            } else {
                format!("these inputs are not known: {}", missing.join(", "))
            };
            all.push(Diagnostic::error("Value never became known").detail(detail));
        }
        if all.0.is_empty() {
            all.push(Diagnostic::error("Value never became known"));
        }
        all
    }
}

/// Where in the document resources and data sources are.
pub(super) fn positions(ir: &crate::ir::Ir) -> HashMap<Id, usize> {
    let resources = ir
        .resources
        .iter()
        .enumerate()
        .map(|(i, r)| (r.id.clone(), i));
    resources
        .chain(
            ir.data_sources
                .iter()
                .enumerate()
                .map(|(i, d)| (d.id.clone(), i)),
        )
        .collect()
}

pub(super) fn is_pending(expr: &Expr) -> bool {
    expr.pending().next().is_some()
}

/// The record of what a resource is now.
pub(super) fn outcome(id: &Id, deposed: Option<&str>, resource: Option<ResourceState>) -> Record {
    Record::Outcome(Box::new(Outcome {
        id: id.clone(),
        deposed: deposed.map(str::to_owned),
        resource,
    }))
}

fn undeclared(provider: &str) -> Diagnostics {
    Diagnostic::error("Provider not declared")
        .detail(format!("no provider `{provider}`"))
        .into()
}

fn vanished(id: &Id) -> Diagnostics {
    Diagnostic::error("Configuration changed during apply")
        .detail(format!("`{id}` was planned, but the newest evaluation does not have it"))
        .hint("whether a resource exists must not depend on values that another evaluation may change")
        .into()
}
