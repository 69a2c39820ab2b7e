//! Carry out an approved plan and record what came of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::apply::event::Event;
use crate::apply::executor::{self, Applied, ApplyInput, Realise};
use crate::apply::refreshed;
use crate::diagnostic::Diagnostics;
use crate::eval::Phases;
use crate::ops::builds::Builder;
use crate::plan::Plan;
use crate::plan::outputs::stack_outputs;
use crate::plan::stack::PlanOptions;
use crate::provider::Pool;
use crate::state::{OutputValue, Record, Session};

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
    session.append(refreshed::records(run.plan, session.state(), run.pool).await?)?;
    let input = ApplyInput {
        plan: run.plan,
        pool: run.pool,
        parallelism: run.options.parallelism,
        stop: run.stop,
        realise: realise(run.builder),
        events: run.events,
    };
    let mut applied = executor::apply(input, session, phases).await;
    applied.diagnostics.extend(run.pool.close_opened().await);
    let whole = applied.left.is_empty() && !applied.diagnostics.has_errors();
    if run.options.destroy {
        if whole {
            session.append(vec![
                Record::Outputs(BTreeMap::new()),
                Record::DeriveInputs(Vec::new()),
            ])?;
        }
    } else {
        if whole {
            finish_outputs(&run, &mut applied, phases);
        }
        session.append(vec![
            outputs_record(&mut applied, session, phases),
            derive_inputs(&applied, phases),
        ])?;
    }
    Ok(applied)
}

fn realise(builder: &Arc<Builder>) -> Realise {
    let builder = Arc::clone(builder);
    Arc::new(move |builds| builder.realise(builds))
}

/// Evaluates once more if only that gives the outputs of the stack their values.
fn finish_outputs<E: Into<Diagnostics>>(
    run: &ApplyRun<'_>,
    applied: &mut Applied,
    phases: &mut Phases<'_, E>,
) {
    while phases.consumers_pending() {
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
fn outputs_record<E>(applied: &mut Applied, session: &Session, phases: &Phases<'_, E>) -> Record {
    let ir = Arc::clone(phases.ir());
    let (known, problems) = stack_outputs(&ir, &applied.outputs);
    if !applied.diagnostics.has_errors() {
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
            outputs.insert(
                name,
                OutputValue {
                    value,
                    sensitive: output.sensitive,
                    ..OutputValue::default()
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
