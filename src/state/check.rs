//! How conditions came out in the last run, as it is stored.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::codec::Stored;
use super::members::{FormError, Members};
use crate::addr::Id;

/// How conditions came out; of several, the last in this order counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckStatus {
    /// They hold.
    #[default]
    Pass,
    /// Some are not known yet.
    Unknown,
    /// One does not hold.
    Fail,
    /// One could not be evaluated.
    Error,
}

impl CheckStatus {
    const ALL: [Self; 4] = [Self::Pass, Self::Unknown, Self::Fail, Self::Error];

    /// The word for it in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Unknown => "unknown",
            Self::Fail => "fail",
            Self::Error => "error",
        }
    }
}

/// What conditions are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckSubject {
    /// A resource or data source, by id.
    Object(Id),
    /// The stack: a check of this name.
    Check(String),
}

/// How the conditions about one thing came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRecord {
    /// What they are about.
    pub subject: CheckSubject,
    /// All in all.
    pub status: CheckStatus,
    /// Messages of those that do not hold.
    pub messages: Vec<String>,
}

impl Serialize for Stored<&CheckRecord> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.0.subject {
            CheckSubject::Object(id) => map.serialize_entry("object", id.as_str())?,
            CheckSubject::Check(name) => map.serialize_entry("check", name)?,
        }
        map.serialize_entry("status", self.0.status.as_str())?;
        if !self.0.messages.is_empty() {
            map.serialize_entry("messages", &self.0.messages)?;
        }
        map.end()
    }
}

/// Reads a list of what `Stored<&CheckRecord>` writes.
pub(super) fn records(text: &str) -> Result<Vec<CheckRecord>, FormError> {
    let items: Vec<&RawValue> = serde_json::from_str(text)?;
    let numbered = items.into_iter().enumerate();
    numbered
        .map(|(i, raw)| record(raw.get()).map_err(|e| e.within(&i.to_string())))
        .collect()
}

fn record(text: &str) -> Result<CheckRecord, FormError> {
    let mut members = Members::parse(text)?;
    let object: Option<String> = members.take("object")?;
    let check: Option<String> = members.take("check")?;
    let subject = match (object, check) {
        (Some(id), None) => CheckSubject::Object(Id::from(id)),
        (None, Some(name)) => CheckSubject::Check(name),
        _ => return Err(FormError::new("not exactly one of `object` and `check`")),
    };
    let status: String = members.need("status")?;
    let known = CheckStatus::ALL.into_iter().find(|s| s.as_str() == status);
    Ok(CheckRecord {
        subject,
        status: known.unwrap_or(CheckStatus::Unknown),
        messages: members.take("messages")?.unwrap_or_default(),
    })
}
