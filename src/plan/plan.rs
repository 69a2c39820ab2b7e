//! A plan: what will be done to every object, and what is known of it now.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::addr::Id;
use crate::diagnostic::Diagnostics;
use crate::ir::{Index, Ir, Mode};
use crate::plan::Action;
use crate::plan::prior::Prior;
use crate::plan::resolve::OutputMap;
use crate::provider::Identity;
use crate::value::{Path, PathSet, Value};

/// Everything decided about one stack.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The evaluation it was made from.
    pub ir: Arc<Ir>,
    /// Whether it removes everything.
    pub destroy: bool,
    /// What happens to the current object of each resource, by id; objects that stay as they are included.
    pub changes: BTreeMap<Id, Change>,
    /// What happens to deposed objects.
    pub deposed: Vec<DeposedChange>,
    /// Data sources: read already, or to be read during apply.
    pub data: BTreeMap<Id, DataRead>,
    /// What every object shows to others, as far as it is known.
    pub outputs: OutputMap,
    /// Objects that are gone or different from what the state says.
    pub drift: Vec<Drift>,
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
    /// It is no longer in the configuration.
    NotInConfiguration,
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
