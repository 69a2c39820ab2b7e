//! The plan of one configured managed resource: validate, propose, ask the provider, check its answer, choose the action.
//!
//! The steps are those of the plugin protocol's "plan of a managed instance"; apply runs the same ones again with the
//! configuration that is known by then.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::Lifecycle;
use crate::plan::Action;
use crate::plan::plan::Reason;
use crate::plan::prior::Prior;
use crate::plan::{
    Decision, PlanCheck, check_plan, decide, effective_replacements, ignore_changes,
    ignore_planned, propose, replacement,
};
use crate::provider::{Identity, PlanRequest, PlanResponse, Provider};
use crate::schema::{Block, implied_type, sensitive_paths};
use crate::state::Status;
use crate::value::{Path, PathSet, Type, Value};

/// What [`plan_instance`] looks at.
#[derive(Clone, Copy)]
pub struct InstanceInput<'a> {
    /// The configured provider.
    pub provider: &'a dyn Provider,
    /// Resource type.
    pub ty: &'a str,
    /// Its schema.
    pub block: &'a Block,
    /// The object now; none to create.
    pub prior: Option<&'a Prior>,
    /// The configuration, fitting the schema.
    pub config: &'a Value,
    /// Sensitive paths of the configuration.
    pub config_sensitive: &'a PathSet,
    /// The author's rules.
    pub lifecycle: &'a Lifecycle,
    /// Create a replacement before the old object goes.
    pub create_before_destroy: bool,
    /// Replace it even if nothing changed.
    pub force_replace: bool,
}

/// What [`plan_instance`] decided.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// What to do.
    pub action: Action,
    /// Why, where the action alone does not say.
    pub reason: Option<Reason>,
    /// The object afterwards.
    pub after: Value,
    /// Private bytes for the apply.
    pub private: Vec<u8>,
    /// Planned identity.
    pub identity: Option<Identity>,
    /// Changed paths that need a new object.
    pub replace_paths: Vec<Path>,
    /// Sensitive paths of `after`, by schema and configuration.
    pub sensitive: PathSet,
    /// Warnings.
    pub warnings: Diagnostics,
}

/// Plans one instance. Errors are the provider's, or say which rule its answer breaks.
pub async fn plan_instance(input: InstanceInput<'_>) -> Result<Proposal, Diagnostics> {
    let ty = implied_type(input.block);
    let null = Value::null(ty.clone());
    let tainted = input.prior.is_some_and(|p| p.status == Status::Tainted);
    // A tainted object is planned as if it were not there; its values must not leak into its successor.
    let prior = input.prior.filter(|_| !tainted);
    let prior_value = prior.map_or(&null, |p| &p.value);
    let private: &[u8] = prior.map_or(&[], |p| &p.private);

    let mut warnings = input
        .provider
        .validate_resource(input.ty, input.config)
        .await?;
    let config = ignore_changes(
        input.block,
        prior_value,
        input.config,
        &input.lifecycle.ignore_changes,
    );
    let proposed = propose(input.block, prior_value, &config);
    let request = PlanRequest {
        ty: input.ty,
        prior: prior_value,
        proposed: &proposed,
        config: &config,
        private,
        identity: prior.and_then(|p| p.identity.as_ref()),
    };
    let response = input.provider.plan(request).await;
    let (mut after, response) = planned_value(response, &ty, &mut warnings)?;
    check_legal(&input, prior_value, &config, &after, response.legacy)?;
    if response.legacy {
        after = ignore_planned(prior_value, &after, &input.lifecycle.ignore_changes);
    }

    let replace_paths = effective_replacements(
        input.block,
        prior_value,
        &after,
        &response.requires_replace,
    )
    .map_err(|paths| {
        let list = paths
            .iter()
            .map(|p| format!("`{p}`"))
            .collect::<Vec<_>>()
            .join(", ");
        invalid_plan(&format!(
            "it says that a change of {list} needs a new object, but there is no such attribute"
        ))
    })?;
    let action = decide(Decision {
        block: input.block,
        prior: prior_value,
        planned: &after,
        replace_paths: &replace_paths,
        force: input.force_replace,
        create_before_destroy: input.create_before_destroy,
    });
    let mut proposal = Proposal {
        action,
        reason: None,
        after,
        private: response.private,
        identity: response.identity,
        replace_paths,
        sensitive: PathSet::default(),
        warnings,
    };
    if proposal.action.is_replace() {
        replan_as_new(&input, &ty, &mut proposal).await?;
        if input.force_replace {
            proposal.reason = Some(Reason::Requested);
        }
    } else if proposal.action == Action::Create && tainted {
        proposal.action = replacement(input.create_before_destroy);
        proposal.reason = Some(Reason::Tainted);
    }
    finish(&input, prior, proposal)
}

/// Marks, and the rules that need them.
fn finish(
    input: &InstanceInput<'_>,
    prior: Option<&Prior>,
    mut proposal: Proposal,
) -> Result<Proposal, Diagnostics> {
    proposal.sensitive = sensitive_paths(input.block, &proposal.after);
    proposal.sensitive = proposal.sensitive.union(input.config_sensitive);
    // What the schema calls sensitive is stored too, for those who look without a provider, but is no change of ours.
    let by_schema = sensitive_paths(input.block, &proposal.after);
    let own = |set: &PathSet| {
        set.iter()
            .filter(|p| !by_schema.covers(p))
            .cloned()
            .collect::<PathSet>()
    };
    let marks_changed = prior.is_some_and(|p| own(&p.sensitive) != own(input.config_sensitive));
    if proposal.action == Action::NoOp && marks_changed {
        proposal.action = Action::Update;
    }
    if input.lifecycle.prevent_destroy && proposal.action.is_replace() {
        let why = match proposal.reason {
            Some(Reason::Tainted) => "it is tainted and would be replaced".to_owned(),
            Some(_) => {
                "a replacement was asked for, by `--replace` or `replaceTriggeredBy`".to_owned()
            }
            None => {
                let paths = proposal
                    .replace_paths
                    .iter()
                    .map(|p| format!("`{p}`"))
                    .collect::<Vec<_>>()
                    .join(", ");
                format!("a change of {paths} would replace it")
            }
        };
        return Err(prevented(&why));
    }
    Ok(proposal)
}

/// The error for an object that its author protects.
pub fn prevented(why: &str) -> Diagnostics {
    Diagnostic::error("Instance cannot be destroyed")
        .detail(format!(
            "the resource has `lifecycle.preventDestroy` set, but {why}"
        ))
        .hint("remove `preventDestroy`, or undo the change that needs the destruction")
        .into()
}

fn planned_value(
    response: PlanResponse,
    ty: &Type,
    warnings: &mut Diagnostics,
) -> Result<(Value, PlanResponse), Diagnostics> {
    let mut response = response;
    let diagnostics = std::mem::take(&mut response.diagnostics);
    warnings.extend(diagnostics.into_result()?);
    match response.planned.take() {
        Some(value) => Ok((value, response)),
        None => Ok((Value::null(ty.clone()), response)),
    }
}

fn check_legal(
    input: &InstanceInput<'_>,
    prior: &Value,
    config: &Value,
    planned: &Value,
    legacy: bool,
) -> Result<(), Diagnostics> {
    let sensitive = input.config_sensitive;
    let problems = check_plan(PlanCheck {
        block: input.block,
        prior,
        config,
        planned,
        sensitive,
    });
    if problems.is_empty() {
        return Ok(());
    }
    if legacy {
        for problem in &problems {
            tracing::debug!(target: "nivis::plan", ty = input.ty, %problem, "tolerated in a legacy provider's plan");
        }
        return Ok(());
    }
    let mut all = Diagnostics::default();
    for problem in problems {
        all.extend(invalid_plan(&problem.message).at_path(&problem.path));
    }
    Err(all)
}

fn invalid_plan(what: &str) -> Diagnostics {
    provider_bug("Provider produced invalid plan", what)
}

/// An error that only the provider's authors can mend.
pub fn provider_bug(summary: &str, what: &str) -> Diagnostics {
    Diagnostic::error(summary)
        .detail(what)
        .hint("this is a bug in the provider, which should be reported in its own issue tracker")
        .into()
}

/// The second plan of a replacement: the successor starts from nothing, with the configuration as written.
async fn replan_as_new(
    input: &InstanceInput<'_>,
    ty: &Type,
    proposal: &mut Proposal,
) -> Result<(), Diagnostics> {
    let null = Value::null(ty.clone());
    let proposed = propose(input.block, &null, input.config);
    let response = input
        .provider
        .plan(PlanRequest {
            ty: input.ty,
            prior: &null,
            proposed: &proposed,
            config: input.config,
            private: &proposal.private,
            identity: None,
        })
        .await;
    let (after, response) = planned_value(response, ty, &mut Diagnostics::default())?;
    proposal.after = after;
    proposal.private = response.private;
    proposal.identity = response.identity;
    Ok(())
}
