//! The state of one stack in memory.

use std::collections::BTreeMap;

use super::CheckRecord;
use crate::addr::Id;
use crate::ir::{Index, Ref};
use crate::value::PathSet;

/// Members of the stored form that this version does not know: kept as JSON text, and written again.
pub type Extra = BTreeMap<String, Vec<u8>>;

/// What exists, as far as we know.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Counts content changes of the stored form.
    pub serial: u64,
    /// Made once for a stack (UUID); two states of one lineage are versions of each other.
    pub lineage: String,
    /// Managed resources by id.
    pub resources: BTreeMap<Id, ResourceState>,
    /// Stack outputs by name.
    pub outputs: BTreeMap<String, OutputValue>,
    /// Outputs that Nix-computed leaves used in the last run, as its ledger held them: what the first ledger of the next
    /// run is seeded with. Never a sensitive value.
    pub derive_inputs: Vec<DeriveInput>,
    /// How conditions came out in the last run.
    pub check_results: Vec<CheckRecord>,
    /// Members that this version does not know.
    pub extra: Extra,
}

/// An output that a Nix-computed leaf used.
#[derive(Clone, Debug, PartialEq)]
pub struct DeriveInput {
    /// Which output: a resource or data source, and one of its attributes.
    pub input: Ref,
    /// Its value as the ledger held it, as JSON text.
    pub value: Vec<u8>,
}

/// One managed resource instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceState {
    /// Provider id in the configuration.
    pub provider: String,
    /// Provider source as last used, for removal when the configuration is gone.
    pub provider_source: String,
    /// Resource type.
    pub ty: String,
    /// Name.
    pub name: String,
    /// `count`/`forEach` key.
    pub index: Option<Index>,
    /// The object; none if only deposed ones are left.
    pub current: Option<Object>,
    /// Objects replaced but not yet destroyed, by their 8-digit hexadecimal keys.
    pub deposed: BTreeMap<String, Object>,
    /// Members that this version does not know.
    pub extra: Extra,
}

impl ResourceState {
    /// Whether no object is left.
    pub fn is_empty(&self) -> bool {
        self.current.is_none() && self.deposed.is_empty()
    }
}

/// One object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object {
    /// Whether it is whole.
    pub status: Status,
    /// Version of the resource schema it was written with.
    pub schema_version: i64,
    /// Attributes as JSON text under the schema's implied type (wire format, JSON rules); kept as bytes, because only the
    /// provider's schema can decode them.
    pub attributes: Vec<u8>,
    /// Attributes as Terraform before 0.12 stored them, flat text by dotted name; `attributes` is empty then. Only the
    /// provider can make an object of them.
    pub flat: Option<BTreeMap<String, String>>,
    /// Sensitive paths, those of the schema included.
    pub sensitive: PathSet,
    /// Opaque bytes of the provider.
    pub private: Vec<u8>,
    /// Identity as JSON text, with its schema version.
    pub identity: Option<(i64, Vec<u8>)>,
    /// Ids of the resources and data sources it directly depends on.
    pub dependencies: Vec<Id>,
    /// Whether it must be replaced by creating first.
    pub create_before_destroy: bool,
    /// Members that this version does not know.
    pub extra: Extra,
}

/// Whether an object is whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// As it should be.
    #[default]
    Ready,
    /// Its creation failed half-way: replace it.
    Tainted,
}

/// A stack output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutputValue {
    /// The value as JSON text.
    pub value: Vec<u8>,
    /// Never to be shown.
    pub sensitive: bool,
    /// Members that this version does not know.
    pub extra: Extra,
}
