//! Plan a stack, round by round, until another evaluation would bring nothing new.

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::eval::Phases;
use crate::ir::Ir;
use crate::ops::builds::{Builder, needed_to_plan};
use crate::plan::Plan;
use crate::plan::conditions::evaluate_checks;
use crate::plan::memo::Memo;
use crate::plan::outputs::stack_outputs;
use crate::plan::stack::{PlanOptions, StackInput, plan_stack};
use crate::provider::Pool;
use crate::state::State;

/// What [`plan`] needs.
pub struct PlanInput<'a> {
    /// What exists.
    pub state: &'a State,
    /// Where running providers come from.
    pub pool: &'a Pool,
    /// Realises builds.
    pub builder: &'a Builder,
    /// The user's wishes.
    pub options: &'a PlanOptions,
}

/// Plans to the fixpoint: what data sources and unchanged objects tell is given back to Nix, and what Nix computes from
/// it is planned, until nothing new comes. `plan` then shows what `apply` will do.
///
/// Ephemeral resources that were opened for it are closed again.
pub async fn plan<E: Into<Diagnostics>>(
    input: PlanInput<'_>,
    phases: &mut Phases<'_, E>,
) -> Result<Plan, Diagnostics> {
    let pool = input.pool;
    let planned = fixpoint(input, phases).await;
    let closed = pool.close_opened().await;
    match planned {
        Ok(mut plan) => {
            plan.warnings.extend(closed.into_result()?);
            Ok(plan)
        }
        Err(mut problems) => {
            problems.extend(closed);
            Err(problems)
        }
    }
}

async fn fixpoint<E: Into<Diagnostics>>(
    input: PlanInput<'_>,
    phases: &mut Phases<'_, E>,
) -> Result<Plan, Diagnostics> {
    known_replacements(phases.ir(), input.options)?;
    let memo = Memo::default();
    loop {
        let ir = std::sync::Arc::clone(phases.ir());
        let PlanInput {
            state,
            pool,
            options,
            builder,
        } = input;
        builder.realise(&needed_to_plan(&ir))?;
        let mut plan = plan_stack(StackInput {
            ir: &ir,
            state,
            pool,
            memo: &memo,
            options,
        })
        .await?;
        phases.keep(plan.left_alone(state));
        if options.destroy && !phases.providers_pending() {
            return Ok(plan);
        }
        let known = |id: &Id| plan.outputs.get(id).map(|o| (&o.value, &o.sensitive));
        if !phases.advance(known).map_err(Into::into)? {
            if plan.broken.has_errors() {
                plan.broken.extend(plan.warnings);
                return Err(plan.broken);
            }
            plan.unresolved.clone().into_result()?;
            stack_outputs(&plan.ir, &plan.outputs).1.into_result()?;
            let (checks, warnings) = evaluate_checks(&plan.ir, &plan.outputs);
            plan.checks.checks = checks;
            plan.warnings.extend(warnings);
            return Ok(plan);
        }
    }
}

/// Refuses to replace what is not there.
fn known_replacements(ir: &Ir, options: &PlanOptions) -> Result<(), Diagnostics> {
    let unknown = |id: &&Id| ir.resources.iter().all(|r| r.id != **id);
    let wrong = options.replace.iter().filter(unknown).map(|id| {
        let d = Diagnostic::error("Resource not found")
            .detail(format!("`--replace {id}` names no resource"));
        d.suggest(id.as_str(), ir.resources.iter().map(|r| r.id.as_str()))
    });
    Diagnostics(wrong.collect()).into_result().map(drop)
}
