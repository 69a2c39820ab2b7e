//! States of Terraform and OpenTofu, format version 4: read and written, so that stacks can move both ways.

mod address;
mod read;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use super::{Object, OutputValue};

pub use address::{Address, Key, Keyed, ProviderRef};
pub use read::{TfStateError, read};
pub use write::write;

/// What a state of Terraform or OpenTofu says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TfState {
    /// Counts its versions.
    pub serial: u64,
    /// Two states with the same one are versions of each other.
    pub lineage: String,
    /// Outputs of the root module; their types, as JSON, are the member `type` of [`OutputValue::extra`].
    pub outputs: BTreeMap<String, OutputValue>,
    /// Managed resources and data sources, each with its instances.
    pub resources: Vec<TfResource>,
    /// Names of members that are not known here, and are left out.
    pub unknown: BTreeSet<String>,
}

/// A resource with its instances.
#[derive(Clone, Debug, PartialEq)]
pub struct TfResource {
    /// Without a key.
    pub address: Address,
    /// The provider configuration that manages it.
    pub provider: ProviderRef,
    /// Current and deposed objects.
    pub instances: Vec<TfInstance>,
}

/// One object of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct TfInstance {
    /// Which instance.
    pub key: Option<Key>,
    /// Its key, if it is deposed.
    pub deposed: Option<String>,
    /// The object, without dependencies.
    pub object: Object,
    /// Addresses of what it depends on; without keys, as a rule.
    pub dependencies: Vec<String>,
}

impl TfResource {
    /// The address of one instance.
    pub fn instance(&self, key: Option<&Key>) -> Address {
        let mut address = self.address.clone();
        if let Some((_, name)) = &mut address.resource {
            name.key = key.cloned();
        }
        address
    }
}
