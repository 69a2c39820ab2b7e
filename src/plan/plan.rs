//! A plan: what will be done to every object, and what is known of it now.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::addr::Id;
use crate::diagnostic::Diagnostics;
use crate::ir::{Index, Ir, Mode};
use crate::plan::Action;
use crate::plan::conditions::CheckResults;
use crate::plan::import::ImportBy;
use crate::plan::moves::Move;
use crate::plan::prior::Prior;
use crate::plan::resolve::OutputMap;
use crate::provider::Identity;
use crate::value::{Path, PathSet, Value};

/// Everything decided about one stack.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The evaluation it was made from.
    pub ir: Arc<Ir>,
    /// Whether it removes everything.
    pub destroy: bool,
    /// Whether it only brings the state up to what was read.
    pub refresh_only: bool,
    /// The ids it is limited to; none if it is about the whole stack.
    pub selected: Option<BTreeSet<Id>>,
    /// What happens to the current object of each resource, by id; objects that stay as they are included.
    pub changes: BTreeMap<Id, Change>,
    /// What happens to deposed objects.
    pub deposed: Vec<DeposedChange>,
    /// Data sources: read already, or to be read during apply.
    pub data: BTreeMap<Id, DataRead>,
    /// What every object shows to others, as far as it is known.
    pub outputs: OutputMap,
    /// Stored objects that are not declared, and stay as they are: a part of the stack that waits may declare them.
    pub kept: Vec<Id>,
    /// Objects that are gone or different from what the state says.
    pub drift: Vec<Drift>,
    /// How conditions came out, as far as that is known.
    pub checks: CheckResults,
    /// Conditions that do not hold: a plan with any is not to be applied.
    pub broken: Diagnostics,
    /// Resources that have another id than in the state, by the new one.
    pub moves: BTreeMap<Id, Move>,
    /// What the objects are imported by of which the state does not know yet.
    pub imports: BTreeMap<Id, ImportBy>,
    /// Errors, unless another round of planning finds what was missing.
    pub unresolved: Diagnostics,
    /// Warnings.
    pub warnings: Diagnostics,
}

/// What happens to one object.
#[derive(Clone, Debug)]
pub struct Change {
    /// Whose object it is.
    pub target: ChangeTarget,
    /// What will be done.
    pub action: Action,
    /// Why, where the action alone does not say.
    pub reason: Option<Reason>,
    /// The object now (upgraded and refreshed); none if it does not exist.
    pub prior: Option<Prior>,
    /// The object afterwards, unknown where only apply will tell; null if it will not exist.
    pub after: Value,
    /// The configuration that led here; null for a removal.
    pub config: Value,
    /// Sensitive paths of `after` that come from the configuration.
    pub config_sensitive: PathSet,
    /// Sensitive paths of `after`, by schema and by configuration.
    pub sensitive: PathSet,
    /// Private bytes the provider planned with.
    pub private: Vec<u8>,
    /// Identity the provider planned.
    pub identity: Option<Identity>,
    /// Which changed paths need a new object.
    pub replace_paths: Vec<Path>,
    /// Replacements of it are created before the old object goes: its own rule, or forced by a dependant.
    pub create_before_destroy: bool,
    /// What it directly depends on now; stored with the object.
    pub dependencies: Vec<Id>,
}

/// Names of the resource a change is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeTarget {
    /// Its id.
    pub id: Id,
    /// Provider id in the configuration.
    pub provider: String,
    /// Resource type.
    pub ty: String,
    /// Name.
    pub name: String,
    /// `count`/`forEach` key.
    pub index: Option<Index>,
}

/// Why an action was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A creation that failed half-way left it behind.
    Tainted,
    /// The user asked for a replacement.
    Requested,
    /// Something that its `replaceTriggeredBy` names changes.
    Triggered,
    /// It is no longer in the configuration.
    NotInConfiguration,
    /// The configuration says to let go of it.
    Removed,
    /// The whole stack is being destroyed.
    Destroy,
    /// The configuration of what it is read from is not known yet, or changes first.
    ReadDuringApply,
}

/// The removal of an object that was replaced earlier.
#[derive(Clone, Debug)]
pub struct DeposedChange {
    /// Whose object it is.
    pub target: ChangeTarget,
    /// Its key.
    pub key: String,
    /// The object; none if it turned out to be gone.
    pub prior: Option<Prior>,
    /// Private bytes the provider planned with.
    pub private: Vec<u8>,
}

/// Something that is read, in a plan.
#[derive(Clone, Debug)]
pub struct DataRead {
    /// What it is.
    pub mode: Mode,
    /// Provider id in the configuration.
    pub provider: String,
    /// Its type, or the function.
    pub ty: String,
    /// Name.
    pub name: String,
    /// What it holds; with unknowns if it is read during apply.
    pub value: Value,
    /// Whether it is read during apply.
    pub deferred: bool,
    /// Whether that is because something it depends on changes first, although its configuration is known.
    pub awaits_change: bool,
    /// What it directly depends on.
    pub dependencies: Vec<Id>,
}

/// A difference between the state and the world, found by refresh.
#[derive(Clone, Debug)]
pub struct Drift {
    /// Whose object it is.
    pub target: ChangeTarget,
    /// As stored.
    pub before: Value,
    /// As found; null if it is gone.
    pub after: Value,
    /// Sensitive paths of both.
    pub sensitive: PathSet,
}

impl Plan {
    /// Whether applying it would do anything to any object.
    pub fn changes_objects(&self) -> bool {
        !self.deposed.is_empty() || self.changes.values().any(|c| c.action != Action::NoOp)
    }
}
