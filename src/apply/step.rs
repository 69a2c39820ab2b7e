//! One step: plan again with what is known now, check it against the approved plan, call the provider, judge its answer.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::Lifecycle;
use crate::plan::Action;
use crate::plan::instance::{InstanceInput, Proposal, plan_instance, provider_bug};
use crate::plan::prior::Prior;
use crate::plan::{Change, CompatibilityCheck, check_compatible};
use crate::provider::{ApplyRequest, ApplyResponse, Identity, Provider};
use crate::schema::{Block, implied_type};
use crate::value::{PathSet, Value};

/// What became of an object.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The object to store.
    pub result: Stored,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
    /// There turned out to be nothing to do: the provider was not asked to do it.
    pub idle: bool,
}

/// What to store.
#[derive(Clone, Debug)]
pub enum Stored {
    /// Nothing changes.
    Unchanged,
    /// The provider was asked, and gave no answer: nobody knows what it did.
    InDoubt,
    /// This object.
    Object {
        /// Wholly known.
        value: Value,
        /// Private bytes.
        private: Vec<u8>,
        /// Identity.
        identity: Option<Identity>,
        /// It is not whole: replace it next time.
        tainted: bool,
    },
    /// The object is gone.
    Removed,
}

impl Outcome {
    /// Something was asked of the provider.
    fn new(result: Stored, diagnostics: Diagnostics) -> Self {
        Self {
            result,
            diagnostics,
            idle: false,
        }
    }

    /// Nothing came of it.
    pub(super) fn failed(diagnostics: Diagnostics) -> Self {
        Self::new(Stored::Unchanged, diagnostics)
    }

    /// Nobody knows what came of it.
    fn in_doubt(diagnostics: Diagnostics) -> Self {
        Self::new(Stored::InDoubt, diagnostics)
    }
}

/// What [`make`] needs.
pub struct MakeInput<'a> {
    /// The configured provider.
    pub provider: &'a dyn Provider,
    /// Schema of the resource type.
    pub block: &'a Block,
    /// The approved change.
    pub change: &'a Change,
    /// The configuration, as known now.
    pub config: &'a Value,
    /// Its sensitive paths.
    pub config_sensitive: &'a PathSet,
    /// The author's rules.
    pub lifecycle: &'a Lifecycle,
}

/// Creates or updates an object, or creates the successor of one that is replaced.
pub async fn make(input: MakeInput<'_>) -> Outcome {
    let change = input.change;
    let prior = change
        .prior
        .as_ref()
        .filter(|_| change.action == Action::Update);
    let proposal = match replan(&input, prior).await {
        Ok(proposal) => proposal,
        Err(diagnostics) => return Outcome::failed(diagnostics),
    };
    if let Some(unchanged) = nothing_to_do(&proposal, prior) {
        return unchanged;
    }
    if !input.config.is_wholly_known() {
        return Outcome::failed(
            Diagnostic::error("Configuration is not known")
                .detail("something it refers to did not become known when it was applied")
                .into(),
        );
    }
    let null = Value::null(implied_type(input.block));
    let before = prior.map_or(&null, |p| &p.value);
    let response = input
        .provider
        .apply(ApplyRequest {
            ty: &change.target.ty,
            prior: before,
            planned: &proposal.after,
            config: input.config,
            private: &proposal.private,
            identity: proposal.identity.as_ref(),
        })
        .await;
    let mut outcome = judge(&input, prior, &proposal, response);
    outcome.diagnostics.extend(proposal.warnings);
    outcome
}

async fn replan(input: &MakeInput<'_>, prior: Option<&Prior>) -> Result<Proposal, Diagnostics> {
    let change = input.change;
    let proposal = plan_instance(InstanceInput {
        provider: input.provider,
        ty: &change.target.ty,
        block: input.block,
        prior,
        config: input.config,
        config_sensitive: input.config_sensitive,
        lifecycle: input.lifecycle,
        create_before_destroy: change.create_before_destroy,
        force_replace: false,
    })
    .await?;
    let agreed = match (change.action, proposal.action) {
        (Action::Update, Action::Update | Action::NoOp) => true,
        (Action::Update, _) => false,
        (_, now) => now == Action::Create,
    };
    if !agreed {
        return Err(inconsistent_plan(&format!(
            "the approved plan was to {}, but with what is known now it is to {}",
            change.action, proposal.action
        )));
    }
    let problems = check_compatible(CompatibilityCheck {
        block: input.block,
        planned: &change.after,
        actual: &proposal.after,
        sensitive: &proposal.sensitive,
    });
    if problems.is_empty() {
        return Ok(proposal);
    }
    let mut all = Diagnostics::default();
    for problem in problems {
        all.extend(inconsistent_plan(&problem.message).at_path(&problem.path));
    }
    Err(all)
}

fn inconsistent_plan(what: &str) -> Diagnostics {
    provider_bug("Provider produced inconsistent final plan", what)
}

/// An update that turns out to change nothing, or only what is sensitive, needs no provider.
fn nothing_to_do(proposal: &Proposal, prior: Option<&Prior>) -> Option<Outcome> {
    let prior = prior?;
    if proposal.after.equals(&prior.value) != Some(true) {
        return None;
    }
    let result = Stored::Object {
        value: prior.value.clone(),
        private: prior.private.clone(),
        identity: prior.identity.clone(),
        tainted: false,
    };
    Some(Outcome {
        result,
        diagnostics: proposal.warnings.clone(),
        idle: true,
    })
}

/// Judges the answer to a create or update: what is stored even beside errors, and which promises were broken.
fn judge(
    input: &MakeInput<'_>,
    prior: Option<&Prior>,
    proposal: &Proposal,
    response: ApplyResponse,
) -> Outcome {
    let mut diagnostics = response.diagnostics;
    if response.call_failed {
        return Outcome::in_doubt(diagnostics);
    }
    let Some(new) = response.new else {
        if !diagnostics.has_errors() {
            diagnostics.extend(provider_bug(
                "Provider produced invalid object",
                "the answer to the change holds no object",
            ));
        }
        return Outcome::failed(diagnostics);
    };
    if !new.is_wholly_known() {
        for path in new.unknown_paths() {
            let what = "it still indicated an unknown value after the change";
            diagnostics.extend(
                provider_bug("Provider returned invalid result object after apply", what)
                    .at_path(&path),
            );
        }
    }
    let new = new.unknown_as_null();
    if !diagnostics.has_errors() {
        let problems = check_compatible(CompatibilityCheck {
            block: input.block,
            planned: &proposal.after,
            actual: &new,
            sensitive: &proposal.sensitive,
        });
        for problem in problems {
            if response.legacy {
                tracing::debug!(target: "nivis::apply", %problem, "tolerated in a legacy provider's result");
                continue;
            }
            diagnostics.extend(
                provider_bug(
                    "Provider produced inconsistent result after apply",
                    &problem.message,
                )
                .at_path(&problem.path),
            );
        }
    }
    if new.is_null() {
        if !diagnostics.has_errors() {
            diagnostics.extend(provider_bug(
                "Provider produced null object",
                "the change succeeded, but there is no object afterwards",
            ));
        }
        return Outcome::failed(diagnostics);
    }
    let tainted = prior.is_none() && diagnostics.has_errors();
    let result = Stored::Object {
        value: new,
        private: response.private,
        identity: response.identity,
        tainted,
    };
    Outcome::new(result, diagnostics)
}

/// Destroys an object.
pub async fn unmake(
    provider: &dyn Provider,
    ty: &str,
    block: &Block,
    prior: &Prior,
    private: &[u8],
) -> Outcome {
    let null = Value::null(implied_type(block));
    let response = provider
        .apply(ApplyRequest {
            ty,
            prior: &prior.value,
            planned: &null,
            config: &null,
            private,
            identity: prior.identity.as_ref(),
        })
        .await;
    let mut diagnostics = response.diagnostics;
    let failed = diagnostics.has_errors();
    match response.new.map(|v| v.unknown_as_null()) {
        _ if response.call_failed => Outcome::in_doubt(diagnostics),
        Some(left) if !left.is_null() => {
            if !failed {
                diagnostics.extend(provider_bug(
                    "Provider returned invalid result object after apply",
                    "the object was to be destroyed, but is still there",
                ));
            }
            let result = Stored::Object {
                value: left,
                private: response.private,
                identity: response.identity,
                tainted: prior.status == crate::state::Status::Tainted,
            };
            Outcome::new(result, diagnostics)
        }
        _ if failed => Outcome::failed(diagnostics),
        _ => Outcome::new(Stored::Removed, diagnostics),
    }
}
