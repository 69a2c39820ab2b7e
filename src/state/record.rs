//! What is written down during a run: what is about to happen, and what came of it.

use std::collections::BTreeMap;
use std::fmt;
use std::time::SystemTime;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::check;
use super::codec::{self, Stored};
use super::members::{FormError, Members};
use super::time::rfc3339;
use super::{CheckRecord, DeriveInput, OutputValue, ResourceState, State};
use crate::addr::Id;

/// One fact.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A provider is about to change an object.
    Intent(Intent),
    /// What is now true of a resource.
    Outcome(Box<Outcome>),
    /// The stack outputs, all of them.
    Outputs(BTreeMap<String, OutputValue>),
    /// [`State::derive_inputs`], all of them.
    DeriveInputs(Vec<DeriveInput>),
    /// [`State::check_results`], all of them.
    CheckResults(Vec<CheckRecord>),
}

/// A change that is about to be asked of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// The resource.
    pub id: Id,
    /// The key of the object, if it is a deposed one.
    pub deposed: Option<String>,
    /// What is to happen.
    pub operation: Operation,
    /// When it was about to happen (RFC 3339).
    pub time: String,
}

impl Intent {
    /// An intent of this moment.
    pub fn new(id: Id, deposed: Option<String>, operation: Operation) -> Self {
        Self {
            id,
            deposed,
            operation,
            time: rfc3339(SystemTime::now()),
        }
    }
}

/// What is asked of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Make a new object.
    Create,
    /// Change an object in place.
    Update,
    /// Destroy an object.
    Delete,
}

impl Operation {
    const ALL: [Self; 3] = [Self::Create, Self::Update, Self::Delete];

    fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What came of an operation, or of looking at the real object. It settles the [`Intent`] with the same `id` and `deposed`.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The resource.
    pub id: Id,
    /// The key of the object that was worked on, if it was a deposed one.
    pub deposed: Option<String>,
    /// The resource as it is now, with all its objects; `None` if nothing is left of it.
    pub resource: Option<ResourceState>,
}

impl From<Intent> for Record {
    fn from(intent: Intent) -> Self {
        Self::Intent(intent)
    }
}

impl From<Outcome> for Record {
    fn from(outcome: Outcome) -> Self {
        Self::Outcome(Box::new(outcome))
    }
}

impl State {
    /// Makes one record true; says whether that changed anything.
    pub(super) fn apply(&mut self, record: &Record) -> bool {
        match record {
            Record::Intent(_) => false,
            Record::Outcome(outcome) => match &outcome.resource {
                Some(new) if self.resources.get(&outcome.id) == Some(new) => false,
                Some(new) => {
                    self.resources.insert(outcome.id.clone(), new.clone());
                    true
                }
                None => self.resources.remove(&outcome.id).is_some(),
            },
            Record::Outputs(outputs) => replace(&mut self.outputs, outputs),
            Record::DeriveInputs(inputs) => replace(&mut self.derive_inputs, inputs),
            Record::CheckResults(results) => replace(&mut self.check_results, results),
        }
    }
}

fn replace<T: Clone + PartialEq>(old: &mut T, new: &T) -> bool {
    let changed = old != new;
    if changed {
        old.clone_from(new);
    }
    changed
}

/// Operations that were begun and are not settled, by what they work on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct InFlight(BTreeMap<(Id, Option<String>), Intent>);

impl InFlight {
    /// Takes note of a record; says whether it begins or settles an operation.
    pub(super) fn note(&mut self, record: &Record) -> bool {
        match record {
            Record::Intent(intent) => {
                let object = (intent.id.clone(), intent.deposed.clone());
                self.0.insert(object, intent.clone());
                true
            }
            Record::Outcome(outcome) => {
                let object = (outcome.id.clone(), outcome.deposed.clone());
                self.0.remove(&object).is_some()
            }
            Record::Outputs(_) | Record::DeriveInputs(_) | Record::CheckResults(_) => false,
        }
    }

    /// Forgets an operation that was not begun after all.
    pub(super) fn forget(&mut self, intent: &Intent) {
        let object = (intent.id.clone(), intent.deposed.clone());
        self.0.remove(&object);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_intents(self) -> Vec<Intent> {
        self.0.into_values().collect()
    }
}

impl Serialize for Record {
    /// An object with one member that is named as the kind.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Self::Intent(intent) => map.serialize_entry("intent", &Stored(intent))?,
            Self::Outcome(outcome) => map.serialize_entry("outcome", &Stored(&**outcome))?,
            Self::Outputs(outputs) => map.serialize_entry("outputs", &Stored(outputs))?,
            Self::DeriveInputs(inputs) => {
                let inputs: Vec<_> = inputs.iter().map(Stored).collect();
                map.serialize_entry("derive_inputs", &inputs)?;
            }
            Self::CheckResults(results) => {
                let results: Vec<_> = results.iter().map(Stored).collect();
                map.serialize_entry("check_results", &results)?;
            }
        }
        map.end()
    }
}

impl Serialize for Stored<&Intent> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", self.0.id.as_str())?;
        if let Some(key) = &self.0.deposed {
            map.serialize_entry("deposed", key)?;
        }
        map.serialize_entry("operation", self.0.operation.as_str())?;
        map.serialize_entry("time", &self.0.time)?;
        map.end()
    }
}

impl Serialize for Stored<&Outcome> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", self.0.id.as_str())?;
        if let Some(key) = &self.0.deposed {
            map.serialize_entry("deposed", key)?;
        }
        if let Some(resource) = &self.0.resource {
            map.serialize_entry("resource", &Stored(resource))?;
        }
        map.end()
    }
}

/// Reads a list of records.
pub(super) fn records(text: &str) -> Result<Vec<Record>, FormError> {
    let items: Vec<&RawValue> = serde_json::from_str(text)?;
    items
        .into_iter()
        .enumerate()
        .map(|(i, raw)| record(raw.get()).map_err(|e| e.within(&i.to_string())))
        .collect()
}

fn record(text: &str) -> Result<Record, FormError> {
    let mut members = Members::parse(text)?;
    let kinds = [
        members.take_with("intent", intent)?.map(Record::Intent),
        members.take_with("outcome", outcome)?.map(Record::from),
        members
            .take_with("outputs", codec::outputs)?
            .map(Record::Outputs),
        members
            .take_with("derive_inputs", codec::derive_inputs)?
            .map(Record::DeriveInputs),
        members
            .take_with("check_results", check::records)?
            .map(Record::CheckResults),
    ];
    members.finish()?;
    let mut known = kinds.into_iter().flatten();
    match (known.next(), known.next()) {
        (Some(record), None) => Ok(record),
        _ => Err(FormError::new("not exactly one kind of record")),
    }
}

fn intent(text: &str) -> Result<Intent, FormError> {
    let mut members = Members::parse(text)?;
    let intent = Intent {
        id: Id::from(members.need::<String>("id")?),
        deposed: members.take("deposed")?,
        operation: members
            .take_with("operation", operation)?
            .ok_or_else(|| FormError::new("is missing").within("operation"))?,
        time: members.need("time")?,
    };
    members.finish().map(|()| intent)
}

fn operation(text: &str) -> Result<Operation, FormError> {
    let name: String = serde_json::from_str(text)?;
    let known = Operation::ALL.into_iter().find(|o| o.as_str() == name);
    known.ok_or_else(|| FormError::new(format!("unknown operation {name:?}")))
}

fn outcome(text: &str) -> Result<Outcome, FormError> {
    let mut members = Members::parse(text)?;
    let outcome = Outcome {
        id: Id::from(members.need::<String>("id")?),
        deposed: members.take("deposed")?,
        resource: members.take_with("resource", codec::resource)?,
    };
    members.finish().map(|()| outcome)
}
