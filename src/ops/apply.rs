//! Carry out an approved plan and record what came of it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::addr::Id;
use crate::apply::adopted;
use crate::apply::applied::Applied;
use crate::apply::event::Event;
use crate::apply::executor::{self, ApplyInput, Realise};
use crate::apply::refreshed;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::eval::{Phases, Stuck};
use crate::ops::builds::Builder;
use crate::ops::refresh;
use crate::plan::Plan;
use crate::plan::conditions::evaluate_checks;
use crate::plan::outputs::stack_outputs;
use crate::plan::resolve::is_known;
use crate::plan::stack::PlanOptions;
use crate::plan::target;
use crate::provider::Pool;
use crate::state::{OutputValue, Record, Session, State};

/// What [`apply`] needs.
pub struct ApplyRun<'a> {
    /// The approved plan.
    pub plan: &'a Plan,
    /// The wishes it was made with.
    pub options: &'a PlanOptions,
    /// Where running providers come from.
    pub pool: &'a Pool,
    /// Set from outside to start nothing more.
    pub stop: &'a AtomicBool,
    /// Realises builds.
    pub builder: &'a Arc<Builder>,
    /// Told what happens.
    pub events: &'a (dyn Fn(Event) + Send + Sync),
}

/// Applies a plan. What happened is in the state even where the result holds errors; `Err` is a failure to record it.
pub async fn apply<E: Into<Diagnostics>>(
    run: ApplyRun<'_>,
    session: &mut Session,
    phases: &mut Phases<'_, E>,
) -> Result<Applied, Diagnostics> {
    let mut applied = if run.plan.refresh_only {
        session.append(refresh::records(run.plan, session.state(), run.pool).await?)?;
        Applied {
            outputs: run.plan.outputs.clone(),
            checks: run.plan.checks.clone(),
            ..Applied::default()
        }
    } else {
        let announce = |builds| (run.events)(Event::Building { builds });
        run.builder.realise_changes(run.plan, &announce)?;
        session.append(adopted::records(run.plan, session.state(), run.pool).await?)?;
        session.append(refreshed::records(run.plan, session.state(), run.pool).await?)?;
        let input = ApplyInput {
            plan: run.plan,
            pool: run.pool,
            parallelism: run.options.parallelism,
            stop: run.stop,
            realise: realise(run.builder),
            events: run.events,
        };
        executor::apply(input, session, phases).await
    };
    applied.counts.imported = run.plan.imports.len();
    applied.diagnostics.extend(run.pool.close_opened().await);
    if run.plan.selected.is_some() {
        applied.diagnostics.push(target::applied_warning());
    }
    let whole = applied.is_whole();
    if run.options.destroy {
        if whole {
            session.append(destroyed(run.plan, session.state()))?;
        }
    } else {
        if whole {
            finish_outputs(&run, &mut applied, phases);
            applied.more = has_more(run.plan, &applied, phases);
        }
        if whole && !applied.more {
            if run.plan.selected.is_none() && !run.plan.refresh_only {
                applied.diagnostics.extend(stuck_parts(phases, &applied));
            }
            let (checks, warnings) = evaluate_checks(phases.ir(), &applied.outputs);
            applied.checks.checks = checks;
            applied.diagnostics.extend(warnings);
        }
        session.append(vec![
            outputs_record(run.plan, &mut applied, session, phases),
            derive_inputs(&applied, phases),
        ])?;
    }
    let results = applied.checks.records();
    if results != session.state().check_results {
        session.append(vec![Record::CheckResults(results)])?;
    }
    Ok(applied)
}

/// What is left of outputs, and of what the next evaluation is given, once the objects of a plan are destroyed.
fn destroyed(plan: &Plan, state: &State) -> Vec<Record> {
    let mut outputs = state.outputs.clone();
    let mut inputs = state.derive_inputs.clone();
    if plan.selected.is_none() {
        inputs.clear();
    }
    outputs.retain(|name, _| !plan.decides(name));
    inputs.retain(|i| !plan.changes.contains_key(&i.input.resource));
    vec![Record::Outputs(outputs), Record::DeriveInputs(inputs)]
}

fn realise(builder: &Arc<Builder>) -> Realise {
    let builder = Arc::clone(builder);
    Arc::new(move |builds| builder.realise(builds))
}

/// Whether the newest evaluation tells more about which resources there are than the plan knew.
fn has_more<E>(plan: &Plan, applied: &Applied, phases: &Phases<'_, E>) -> bool {
    let ir = phases.ir();
    let planned: BTreeSet<&Id> = plan.ir.node_ids().collect();
    let declared = !ir.deferred.is_empty() && ir.node_ids().any(|id| !planned.contains(id));
    let decided = !plan.kept.is_empty() && !phases.parts_waiting();
    !plan.refresh_only && (declared || decided || !applied.postponed.is_empty())
}

/// An error for each part of the stack that still waits, although nothing else is left to do.
fn stuck_parts<E>(phases: &Phases<'_, E>, applied: &Applied) -> Diagnostics {
    let ir = phases.ir();
    let stuck = phases.stuck(|input| is_known(input, &applied.outputs));
    let parts = stuck
        .into_iter()
        .filter(|s| ir.waiting().any(|p| p.id == s.owner));
    let problem = |part: Stuck| {
        let missing: Vec<_> = part.missing.iter().map(|r| format!("`{r}`")).collect();
        Diagnostic::error("Part of the stack never became known")
            .detail(format!(
                "these inputs are not known: {}",
                missing.join(", ")
            ))
            .at(part.owner)
    };
    Diagnostics(parts.map(problem).collect())
}

/// Evaluates once more if only that gives the outputs of the stack their values, or tells which resources there are.
fn finish_outputs<E: Into<Diagnostics>>(
    run: &ApplyRun<'_>,
    applied: &mut Applied,
    phases: &mut Phases<'_, E>,
) {
    while phases.consumers_pending() || phases.parts_waiting() && !run.plan.refresh_only {
        (run.events)(Event::Evaluating {
            phase: phases.evaluations() + 1,
            waiting: 0,
        });
        let outputs = &applied.outputs;
        match phases.advance(|id| outputs.get(id).map(|o| (&o.value, &o.sensitive))) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => return applied.diagnostics.extend(error.into()),
        }
    }
}

/// The outputs that are known now; what could not be computed keeps its last value.
fn outputs_record<E>(
    plan: &Plan,
    applied: &mut Applied,
    session: &Session,
    phases: &Phases<'_, E>,
) -> Record {
    let ir = Arc::clone(phases.ir());
    let (mut known, problems) = stack_outputs(&ir, &applied.outputs);
    known.retain(|name, _| plan.decides(name));
    if !applied.diagnostics.has_errors() && !applied.more {
        applied.diagnostics.extend(problems);
    }
    let mut outputs = session.state().outputs.clone();
    outputs.retain(|name, _| {
        ir.consumers
            .iter()
            .any(|c| c.id.strip_prefix("output.") == Some(name))
    });
    for (name, output) in known.into_iter().filter(|(_, o)| o.value.is_wholly_known()) {
        if let Ok(json) = output.value.to_untyped_json() {
            let value = json.to_string().into_bytes();
            let before = outputs.get(&name).cloned().unwrap_or_default();
            outputs.insert(
                name,
                OutputValue {
                    value,
                    sensitive: output.sensitive,
                    ..before
                },
            );
        }
    }
    Record::Outputs(outputs)
}

/// What the first evaluation of the next run is given.
fn derive_inputs<E>(applied: &Applied, phases: &Phases<'_, E>) -> Record {
    let ledger = phases.next_ledger(|id| applied.outputs.get(id).map(|o| (&o.value, &o.sensitive)));
    Record::DeriveInputs(ledger.to_inputs())
}
