//! Saved plans: written, read, and held against what they were made from.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::eval::Phases;
use crate::eval::ledger::Question;
use crate::eval::vars::Vars;
use crate::fs;
use crate::ops::backend::declared;
use crate::ops::stack::{Stack, Store, fill_secrets};
use crate::ops::unchanged;
use crate::plan::Plan;
use crate::plan::file::{self, Made, Origin, PlanFile, PlanFileError, ProviderPin, SealError};
use crate::plan::providers::source_text;
use crate::plan::resolve::variables;
use crate::plan::stack::PlanOptions;
use crate::provider::Pool;
use crate::state::{State, rfc3339};

/// What [`save`] needs.
pub struct Saving<'a, 'p> {
    /// The plan.
    pub plan: &'a Plan,
    /// What it was made from.
    pub state: &'a State,
    /// The evaluations it was made with.
    pub phases: &'a Phases<'p, Diagnostics>,
    /// The user's wishes.
    pub options: &'a PlanOptions,
    /// What was given for variables.
    pub vars: &'a Vars,
    /// How the stack was named.
    pub origin: Origin,
    /// Where running providers come from.
    pub pool: &'a Pool,
}

/// Writes a plan to a file that only its owner may read.
pub async fn save(path: &Path, saving: Saving<'_, '_>) -> Result<(), Diagnostics> {
    let Saving {
        plan, state, pool, ..
    } = saving;
    let mut pins = BTreeMap::new();
    for (id, source) in sources(plan, state)? {
        let program = pool.program_digest(&id, &source).await?;
        pins.insert(id, ProviderPin { source, program });
    }
    let file = PlanFile {
        made: Made {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            time: rfc3339(SystemTime::now()),
        },
        origin: saving.origin,
        options: saving.options.clone(),
        vars: saving.vars.saved(plan.ir.variables.keys()),
        providers: pins,
        state: state.clone(),
        plan: plan.clone(),
        ledger: saving.phases.ledger().clone(),
        told: saving.phases.told().clone(),
    };
    let bytes = file::encode(&file).map_err(|e| cannot("write", path, &e.to_string()))?;
    put(path, &bytes)
}

/// Sources of the providers that a plan needs, by provider id.
fn sources(plan: &Plan, state: &State) -> Result<BTreeMap<String, String>, Diagnostics> {
    let mut sources = BTreeMap::new();
    for id in plan.changes.keys() {
        if let Some(stored) = state.resources.get(id) {
            sources.insert(stored.provider.clone(), stored.provider_source.clone());
        }
    }
    for (id, decl) in &plan.ir.providers {
        sources.insert(id.clone(), source_text(id, &decl.source)?);
    }
    Ok(sources)
}

/// Reads a saved plan.
pub fn load(path: &Path) -> Result<PlanFile, Diagnostics> {
    let bytes = take(path)?;
    let mut file = file::decode(&bytes).map_err(|e| {
        let hint = match &e {
            PlanFileError::Seal(SealError::Foreign) => {
                "`nivis plan -o FILE` writes plans; a Nix file is given with `--file`"
            }
            PlanFileError::Seal(SealError::Newer { .. }) => {
                "use the nivis that wrote it, or plan again"
            }
            _ => "plan again",
        };
        Diagnostics::from(cannot("read", path, &e.to_string()).0.remove(0).hint(hint))
    })?;
    let vars = file.vars()?;
    fill_secrets(Arc::make_mut(&mut file.plan.ir), &vars);
    file.plan.outputs.extend(variables(&file.plan.ir));
    Ok(file)
}

/// The one way of a plan's bytes out.
fn put(path: &Path, bytes: &[u8]) -> Result<(), Diagnostics> {
    fs::atomic_write(path, bytes, fs::PRIVATE).map_err(|e| cannot("write", path, &e.to_string()))
}

/// The one way of a plan's bytes in.
fn take(path: &Path) -> Result<Vec<u8>, Diagnostics> {
    fs::read(path).map_err(|e| cannot("read", path, &e.to_string()))
}

fn cannot(verb: &str, path: &Path, why: &str) -> Diagnostics {
    Diagnostic::error(format!("Cannot {verb} the plan"))
        .detail(format!("{}: {why}", path.display()))
        .into()
}

impl PlanFile {
    /// What was given for the stack's variables.
    pub fn vars(&self) -> Result<Vars, Diagnostics> {
        Vars::restored(&self.vars).map_err(|e| {
            Diagnostic::error("Cannot read the plan")
                .detail(e.to_string())
                .into()
        })
    }

    /// Refuses a plan that was made from another state than the present one.
    pub fn check_state(&self, present: &State) -> Result<(), Diagnostics> {
        let then = &self.state;
        // The lineage of a state that was never saved says nothing.
        let detail = if then.lineage != present.lineage && then.serial > 0 {
            let (summary, theirs) = ("Plan of another stack", describe(then));
            let detail = format!("it was made from {theirs}; here is {}", describe(present));
            return Err(Diagnostic::error(summary)
                .detail(detail)
                .hint("apply it where it was made, or plan again here")
                .into());
        } else if then.serial != present.serial {
            format!(
                "it was made from {}; now it is {}",
                describe(then),
                describe(present)
            )
        } else if !same_content(then, present) {
            "the state is not what it was when the plan was made, although nobody has saved it since: \
             a run that did not end has changed it"
                .to_owned()
        } else {
            return Ok(());
        };
        Err(Diagnostic::error("Plan is stale")
            .detail(detail)
            .hint("plan again")
            .into())
    }

    /// Refuses a plan that was made with other provider programs.
    pub async fn check_providers(&self, pool: &Pool) -> Result<(), Diagnostics> {
        let mut problems = Diagnostics::default();
        for (id, pin) in &self.providers {
            let present = pool.program_digest(id, &pin.source).await?;
            if pin.program.is_some() && present != pin.program {
                let detail = format!(
                    "`{}` is another program than the plan was made with",
                    pin.source
                );
                let problem = Diagnostic::error("Provider has changed").detail(detail);
                problems.push(problem.at(format!("provider.{id}")).hint("plan again"));
            }
        }
        problems.into_result().map(drop)
    }
}

fn describe(state: &State) -> String {
    match state.serial {
        0 => "an empty state".to_owned(),
        serial => format!("serial {serial} of lineage {}", state.lineage),
    }
}

/// The lineage of what was never saved is made anew each time.
fn same_content(then: &State, present: &State) -> bool {
    let mut then = then.clone();
    then.lineage.clone_from(&present.lineage);
    then == *present
}

impl Stack {
    /// Takes the state from where the plan's stack has it, without evaluating that.
    pub fn find_state(&self, file: &PlanFile) -> Result<(), Diagnostics> {
        self.home.backend(|| Ok(declared(&file.plan.ir)))?;
        self.home.check(&file.plan.ir)
    }

    /// The phases of a run that carries out a saved plan: nothing is evaluated before something pending has its inputs.
    pub fn resume(
        &self,
        file: &PlanFile,
        store: Store,
    ) -> Result<Phases<'_, Diagnostics>, Diagnostics> {
        let ir = &file.plan.ir;
        self.want(ir)?;
        let (planned, ledger) = (Arc::clone(ir), file.ledger.clone());
        let evaluate = move |question: Question<'_>| {
            let now = self.evaluate(question, store)?;
            unchanged::check(&planned, &now, &ledger.revised(question.ledger))?;
            Ok(now)
        };
        let (ledger, told) = (file.ledger.clone(), file.told.clone());
        let mut phases = Phases::resume(Box::new(evaluate), Arc::clone(ir), ledger, told);
        phases.keep(file.plan.left_alone(&file.state));
        Ok(phases)
    }
}
