//! Import of one existing object into the state, at once.

use std::collections::BTreeSet;

use crate::addr::Id;
use crate::apply::object::NewObject;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::eval::Phases;
use crate::ir::{Dependencies, Ir, Resource, provider_node};
use crate::ops::builds::{Builder, needed_to_plan};
use crate::plan::import::{ImportBy, import_object};
use crate::plan::memo::Memo;
use crate::plan::moves::relocate;
use crate::plan::prior::{Prior, resource_schema};
use crate::plan::providers::{Configuration, start};
use crate::plan::resolve::{OutputMap, resolve};
use crate::plan::stack::{PlanOptions, StackInput, plan_stack};
use crate::provider::{Pool, Provider};
use crate::state::{Outcome, ResourceState, Session, State};

/// What [`import`] needs.
#[derive(Clone, Copy)]
pub struct ImportRun<'a> {
    /// The resource that is to manage the object.
    pub id: &'a Id,
    /// The provider's text for the object.
    pub real_id: &'a str,
    /// Where running providers come from.
    pub pool: &'a Pool,
    /// Realises builds.
    pub builder: &'a Builder,
}

/// Finds the object, reads it and records it as that of a declared resource. Gives warnings.
///
/// Of the rest of the stack only what the provider's configuration depends on is looked at; that configuration has to be known.
pub async fn import<E: Into<Diagnostics>>(
    run: ImportRun<'_>,
    session: &mut Session,
    phases: &mut Phases<'_, E>,
) -> Result<Diagnostics, Diagnostics> {
    let by = ImportBy::id(run.real_id)?;
    free(run, session.state(), phases.ir())?;
    let (outputs, mut warnings) = surroundings(run, session.state(), phases).await?;
    let ir = phases.ir();
    let resource = declared(ir, run.id)?;
    let decl = ir
        .providers
        .get(&resource.provider)
        .ok_or_else(|| not_declared(ir, run.id))?;
    let configuration = Configuration::resolve(&resource.provider, decl, &outputs)?;
    if !configuration.config.is_wholly_known() {
        return Err(Diagnostic::error("Provider configuration is not known")
            .detail("it depends on values that only an apply will tell")
            .hint("apply what it depends on first")
            .at(provider_node(&resource.provider).as_str())
            .into());
    }
    let source = configuration.source.clone();
    let (provider, more) = start(run.pool, configuration).await?;
    warnings.extend(more);
    let at = |d: Diagnostics| {
        let mut all = Diagnostics::default();
        all.extend_at(d, run.id.as_str());
        all
    };
    let (prior, more) = import_object(&*provider, &resource.ty, &by)
        .await
        .map_err(at)?;
    warnings.extend(at(more));
    let found = Found {
        ir,
        resource,
        outputs: &outputs,
        source,
    };
    let stored = found.record(&*provider, &prior, session.state())?;
    session.finish(Outcome {
        id: run.id.clone(),
        deposed: None,
        resource: Some(stored),
    })?;
    Ok(warnings)
}

/// An error if the resource is not declared, or has an object already, even if under an id from which it has moved.
fn free(run: ImportRun<'_>, state: &State, ir: &Ir) -> Result<(), Diagnostics> {
    declared(ir, run.id)?;
    let address = |id: &str, source: &str| run.pool.address(id, source);
    let relocation = relocate(state, ir, &address)?;
    let stored = relocation.state.resources.get(run.id);
    if stored.is_none_or(|s| s.current.is_none()) {
        return Ok(());
    }
    Err(Diagnostic::error("Resource is managed already")
        .detail("the state has an object for it")
        .hint(format!(
            "to manage another object with it, let go of that one: `nivis state rm {}`",
            run.id
        ))
        .at(run.id.as_str())
        .into())
}

fn declared<'a>(ir: &'a Ir, id: &Id) -> Result<&'a Resource, Diagnostics> {
    let found = ir.resources.iter().find(|r| r.id == *id);
    found.ok_or_else(|| not_declared(ir, id))
}

fn not_declared(ir: &Ir, id: &Id) -> Diagnostics {
    Diagnostic::error("Resource not found")
        .detail(format!("the configuration has no resource `{id}`"))
        .hint("declare it first: the next plan compares the object with its configuration")
        .suggest(id.as_str(), ir.resources.iter().map(|r| r.id.as_str()))
        .into()
}

/// The outputs of all that the provider's configuration depends on, evaluated again as long as that brings something new.
async fn surroundings<E: Into<Diagnostics>>(
    run: ImportRun<'_>,
    state: &State,
    phases: &mut Phases<'_, E>,
) -> Result<(OutputMap, Diagnostics), Diagnostics> {
    let memo = Memo::default();
    loop {
        let ir = phases.ir();
        run.builder.realise(&needed_to_plan(ir))?;
        let provider = &declared(ir, run.id)?.provider;
        let (ir, state) = needed(ir, state, provider, run.pool)?;
        let plan = plan_stack(StackInput {
            ir: &ir.into(),
            state: &state,
            pool: run.pool,
            memo: &memo,
            options: &PlanOptions::default(),
        })
        .await?;
        let known = |id: &Id| plan.outputs.get(id).map(|o| (&o.value, &o.sensitive));
        if !phases.advance(known).map_err(Into::into)? {
            plan.unresolved.into_result()?;
            return Ok((plan.outputs, plan.warnings));
        }
    }
}

/// The part of configuration and state that the configuration of a provider depends on.
fn needed(ir: &Ir, state: &State, provider: &str, pool: &Pool) -> Result<(Ir, State), Diagnostics> {
    let dependencies = Dependencies::of(ir);
    let node = dependencies.node(provider_node(provider).as_str());
    let dag = dependencies.dag();
    let ids: BTreeSet<&Id> = dag.ancestors(node).into_iter().map(|n| &dag[n]).collect();
    let address = |id: &str, source: &str| pool.address(id, source);
    let moves = relocate(state, ir, &address)?.moves;
    let before = moves
        .iter()
        .filter(|(id, _)| ids.contains(id))
        .map(|(_, m)| &m.from.id);
    let stored: BTreeSet<&Id> = ids.iter().copied().chain(before).collect();
    let mut part = ir.clone();
    part.resources.retain(|r| ids.contains(&r.id));
    part.data_sources.retain(|d| ids.contains(&d.id));
    part.imports.retain(|i| ids.contains(&i.to));
    part.consumers.clear();
    let mut state = state.clone();
    state.resources.retain(|id, _| stored.contains(id));
    Ok((part, state))
}

/// An object that was found, and what it is to be the object of.
struct Found<'a> {
    ir: &'a Ir,
    resource: &'a Resource,
    outputs: &'a OutputMap,
    source: String,
}

impl Found<'_> {
    fn record(
        self,
        provider: &dyn Provider,
        prior: &Prior,
        state: &State,
    ) -> Result<ResourceState, Diagnostics> {
        let Resource { id, ty, meta, .. } = self.resource;
        // As the next plan will see the configuration, as far as that can be told without looking at the whole stack.
        let mut sensitive = resolve(&self.resource.config, self.outputs)
            .map(|resolved| resolved.sensitive)
            .unwrap_or_default();
        sensitive.extend(meta.sensitive.iter().cloned());
        let object = NewObject {
            provider: provider.schema(),
            ty,
            schema: resource_schema(provider, ty)?,
            value: &prior.value,
            private: prior.private.clone(),
            identity: prior.identity.as_ref(),
            status: prior.status,
            sensitive,
            dependencies: Dependencies::of(self.ir).objects(id, &self.resource.provider),
            create_before_destroy: meta.lifecycle.create_before_destroy,
        };
        Ok(ResourceState {
            provider: self.resource.provider.clone(),
            provider_source: self.source,
            ty: ty.clone(),
            name: self.resource.name.clone(),
            index: meta.index.clone(),
            current: Some(object.encode()?),
            ..state.resources.get(id).cloned().unwrap_or_default()
        })
    }
}
