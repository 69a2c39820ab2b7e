//! A plan with everything that is needed to show and apply it, as a document.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::form::{FormError, Stored, record};
use super::seal::{SealError, seal, unseal};
use crate::addr::Id;
use crate::diagnostic::Diagnostics;
use crate::eval::ledger::Ledger;
use crate::ir::{self, Ir, Mode, VARIABLES};
use crate::plan::conditions::CheckResults;
use crate::plan::import::ImportBy;
use crate::plan::moves::Move;
use crate::plan::resolve::{OutputMap, Outputs};
use crate::plan::stack::PlanOptions;
use crate::plan::{Change, DataRead, DeposedChange, Drift, Plan};
use crate::state::{self, State};
use crate::value::{Type, Value};

/// The version this program writes, and the only one it reads.
pub const VERSION: u64 = 1;

/// A saved plan.
#[derive(Clone, Debug)]
pub struct PlanFile {
    /// By whom and when it was made.
    pub made: Made,
    /// What was evaluated for it.
    pub origin: Origin,
    /// The user's wishes; how many operations run at once is left to who applies it.
    pub options: PlanOptions,
    /// What was given for the stack's variables (see [`crate::eval::vars::Vars::saved`]).
    pub vars: Map<String, Json>,
    /// The providers it was made with, by id.
    pub providers: BTreeMap<String, ProviderPin>,
    /// The state it was made from.
    pub state: State,
    /// The plan.
    pub plan: Plan,
    /// What the newest evaluation was told of outputs.
    pub ledger: Ledger,
    /// The secrets that its sensitive leaves were computed from.
    pub told: Ledger,
}

/// By whom and when a plan was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Version of nivis.
    pub version: String,
    /// RFC 3339.
    pub time: String,
}

/// How the stack was named on the command line: enough to evaluate it again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Flake and output.
    pub installable: String,
    /// The file, if it is no flake.
    pub file: Option<String>,
    /// Attribute path in the file's value.
    pub attr: Option<String>,
    /// Settings of Nix: names and values in turn.
    pub settings: Vec<String>,
    /// Replaced inputs of the flake: names and flakes in turn.
    pub override_inputs: Vec<String>,
}

/// A provider program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderPin {
    /// Its source as configured or stored.
    pub source: String,
    /// What tells the program from others, if it is not one that runs already.
    pub program: Option<String>,
}

/// Bytes that are no saved plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// Not a plan file, or a damaged one.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// A part is not as it should be.
    #[error("{0}")]
    Form(String),
}

record!(Made as MadeForm { version: String, time: String });
record!(Origin as OriginForm {
    installable: String, file: Option<String>, attr: Option<String>, settings: Vec<String>, override_inputs: Vec<String>,
});
record!(ProviderPin as PinForm { source: String, program: Option<String> });

/// The whole document.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    made: MadeForm,
    origin: OriginForm,
    options: <PlanOptions as Stored>::Form,
    vars: Map<String, Json>,
    providers: BTreeMap<String, PinForm>,
    state: Box<RawValue>,
    ir: Box<RawValue>,
    ledger: Map<String, Json>,
    told: Map<String, Json>,
    selected: Option<Vec<String>>,
    changes: <BTreeMap<Id, Change> as Stored>::Form,
    deposed: <Vec<DeposedChange> as Stored>::Form,
    data: <BTreeMap<Id, DataRead> as Stored>::Form,
    /// Objects that show to others what their change makes of them.
    shown: Vec<String>,
    /// What other objects show.
    outputs: <OutputMap as Stored>::Form,
    kept: Vec<String>,
    drift: <Vec<Drift> as Stored>::Form,
    checks: <CheckResults as Stored>::Form,
    moves: <BTreeMap<Id, Move> as Stored>::Form,
    imports: <BTreeMap<Id, ImportBy> as Stored>::Form,
    warnings: <Diagnostics as Stored>::Form,
}

/// The bytes of a saved plan. Values of ephemeral resources and of write-only attributes are not in them; secrets of the
/// state and of variables are.
pub fn encode(file: &PlanFile) -> Result<Vec<u8>, PlanFileError> {
    let wrong = |what: &str, e: &dyn std::fmt::Display| PlanFileError::Form(format!("{what}: {e}"));
    let raw = |text: Vec<u8>| {
        String::from_utf8(text)
            .map_err(|e| wrong("encoding", &e))
            .and_then(|text| RawValue::from_string(text).map_err(|e| wrong("encoding", &e)))
    };
    let plan = &file.plan;
    let (shown, outputs) = outputs(plan);
    let document = Document {
        made: file.made.form(),
        origin: file.origin.form(),
        options: file.options.form(),
        vars: file.vars.clone(),
        providers: file.providers.form(),
        state: raw(state::encode(&file.state, None).map_err(|e| wrong("state", &e))?)?,
        ir: raw(ir::write(&plan.ir).to_string().into_bytes())?,
        ledger: file.ledger.outputs(),
        told: file.told.outputs(),
        selected: plan.selected.form(),
        changes: plan.changes.form(),
        deposed: plan.deposed.form(),
        data: data(&plan.data).form(),
        shown,
        outputs: outputs.form(),
        kept: plan.kept.iter().map(ToString::to_string).collect(),
        drift: plan.drift.form(),
        checks: plan.checks.form(),
        moves: plan.moves.form(),
        imports: plan.imports.form(),
        warnings: plan.warnings.form(),
    };
    let content = serde_json::to_vec(&document).map_err(|e| wrong("encoding", &e))?;
    Ok(seal(&content, VERSION))
}

/// What is read, without what must not be written down.
fn data(all: &BTreeMap<Id, DataRead>) -> BTreeMap<Id, DataRead> {
    let mut all = all.clone();
    for read in all.values_mut().filter(|d| d.mode == Mode::Ephemeral) {
        read.value = Value::unknown(Type::Dynamic);
    }
    all
}

/// Objects whose outputs are the results of their changes, and the outputs of others. Ephemeral resources are opened again,
/// and the variables are given apart.
fn outputs(plan: &Plan) -> (Vec<String>, OutputMap) {
    let mut shown = Vec::new();
    let mut others = OutputMap::new();
    for (id, outputs) in &plan.outputs {
        let of_change = plan.changes.get(id);
        let ephemeral = plan.data.get(id).is_some_and(|d| d.mode == Mode::Ephemeral);
        if ephemeral || id.as_str() == VARIABLES {
            continue;
        }
        if of_change.is_some_and(|c| c.after == outputs.value && c.sensitive == outputs.sensitive) {
            shown.push(id.to_string());
        } else {
            others.insert(id.clone(), outputs.clone());
        }
    }
    (shown, others)
}

/// The plan that was saved. Secret values of its variables have still to be put in.
pub fn decode(bytes: &[u8]) -> Result<PlanFile, PlanFileError> {
    let content = unseal(bytes, VERSION)?;
    let wrong = |what: &str, e: &dyn std::fmt::Display| PlanFileError::Form(format!("{what}: {e}"));
    let document: Document = serde_json::from_slice(content).map_err(|e| wrong("plan", &e))?;
    let ir = ir::read_back(document.ir.get().as_bytes()).map_err(|e| wrong("ir", &e))?;
    let state = state::decode(document.state.get().as_bytes(), "the state")
        .map_err(|e| wrong("state", &e))?;
    let ledger = |members: &Map<String, Json>, what: &str| {
        Ledger::from_outputs(members)
            .ok_or_else(|| PlanFileError::Form(format!("{what}: is no ledger")))
    };
    let (ledger, told) = (
        ledger(&document.ledger, "ledger")?,
        ledger(&document.told, "told")?,
    );
    let form = |e: FormError| PlanFileError::Form(e.to_string());
    let made = Made::read(document.made).map_err(form)?;
    let origin = Origin::read(document.origin).map_err(form)?;
    let options = PlanOptions::read(document.options).map_err(form)?;
    let providers = Stored::read(document.providers).map_err(form)?;
    let changes: BTreeMap<Id, Change> = Stored::read(document.changes).map_err(form)?;
    let mut outputs: OutputMap = Stored::read(document.outputs).map_err(form)?;
    for id in document.shown {
        let change = changes.get(&*id);
        let change =
            change.ok_or_else(|| PlanFileError::Form(format!("shown: no change of {id}")))?;
        let (value, sensitive) = (change.after.clone(), change.sensitive.clone());
        outputs.insert(Id::from(id), Outputs { value, sensitive });
    }
    let plan = Plan {
        ir: Arc::<Ir>::new(ir),
        destroy: options.destroy,
        refresh_only: options.refresh_only,
        selected: <Option<BTreeSet<Id>>>::read(document.selected).map_err(form)?,
        changes,
        deposed: Stored::read(document.deposed).map_err(form)?,
        data: Stored::read(document.data).map_err(form)?,
        outputs,
        kept: document.kept.into_iter().map(Id::from).collect(),
        drift: Stored::read(document.drift).map_err(form)?,
        checks: Stored::read(document.checks).map_err(form)?,
        // A plan with either is not saved.
        broken: Diagnostics::default(),
        unresolved: Diagnostics::default(),
        moves: Stored::read(document.moves).map_err(form)?,
        imports: Stored::read(document.imports).map_err(form)?,
        warnings: Stored::read(document.warnings).map_err(form)?,
    };
    Ok(PlanFile {
        made,
        origin,
        options,
        vars: document.vars,
        providers,
        state: state.state,
        plan,
        ledger,
        told,
    })
}
