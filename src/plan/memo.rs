//! What was found out in an earlier planning round of the same run, so that no provider is asked twice.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::addr::Id;
use crate::plan::instance::Proposal;
use crate::plan::prior::Reading;
use crate::provider::Provider;
use crate::value::{PathSet, Value};

/// Answers of earlier rounds. An answer counts only for the same running provider and the same question.
#[derive(Default)]
pub struct Memo {
    readings: Mutex<HashMap<(Id, String), Entry<(), Reading>>>,
    proposals: Mutex<HashMap<Id, Entry<ProposalKey, Proposal>>>,
    data: Mutex<HashMap<Id, Entry<Value, Value>>>,
}

/// What a proposal depends on beside the stored object.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposalKey {
    /// The configuration.
    pub config: Value,
    /// Its sensitive paths.
    pub sensitive: PathSet,
    /// Whether a replacement was forced.
    pub force_replace: bool,
}

struct Entry<K, V> {
    provider: Arc<dyn Provider>,
    key: K,
    answer: V,
}

macro_rules! accessors {
    ($get:ident, $put:ident, $field:ident, $id:ty, $key:ty, $value:ty, $what:literal) => {
        #[doc = concat!("The earlier ", $what, ", if the same was asked.")]
        pub fn $get(&self, provider: &Arc<dyn Provider>, id: &$id, key: &$key) -> Option<$value> {
            let map = self.$field.lock().unwrap_or_else(PoisonError::into_inner);
            let entry = map.get(id)?;
            (Arc::ptr_eq(&entry.provider, provider) && entry.key == *key)
                .then(|| entry.answer.clone())
        }

        #[doc = concat!("Remembers a ", $what, ".")]
        pub fn $put(&self, provider: &Arc<dyn Provider>, id: $id, key: $key, answer: &$value) {
            let entry = Entry {
                provider: Arc::clone(provider),
                key,
                answer: answer.clone(),
            };
            self.$field
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(id, entry);
        }
    };
}

impl Memo {
    accessors!(
        reading,
        put_reading,
        readings,
        (Id, String),
        (),
        Reading,
        "reading of a stored object"
    );
    accessors!(
        proposal,
        put_proposal,
        proposals,
        Id,
        ProposalKey,
        Proposal,
        "proposal"
    );
    accessors!(
        data,
        put_data,
        data,
        Id,
        Value,
        Value,
        "reading of a data source"
    );
}
