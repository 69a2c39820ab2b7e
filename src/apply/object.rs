//! From a provider's answer to what is stored.

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::provider::Identity;
use crate::schema::{ProviderSchema, Schema, implied_type, sensitive_paths};
use crate::state::{Object, Status};
use crate::value::{PathSet, Value, json};

/// What a stored object is made of.
pub struct NewObject<'a> {
    /// The provider's schema.
    pub provider: &'a ProviderSchema,
    /// Resource type.
    pub ty: &'a str,
    /// Its schema.
    pub schema: &'a Schema,
    /// The object, wholly known.
    pub value: &'a Value,
    /// Private bytes to keep.
    pub private: Vec<u8>,
    /// Identity to keep.
    pub identity: Option<&'a Identity>,
    /// Whether it is whole.
    pub status: Status,
    /// Sensitive paths; the schema's are added.
    pub sensitive: PathSet,
    /// What it directly depends on.
    pub dependencies: Vec<Id>,
    /// Whether its successor is created first.
    pub create_before_destroy: bool,
}

impl NewObject<'_> {
    /// The record to store.
    pub fn encode(self) -> Result<Object, Diagnostics> {
        let attributes = encode(self.value, self.schema)?;
        let identity = match (self.identity, self.provider.identities.get(self.ty)) {
            (Some(identity), Some(schema)) => {
                Some((identity.version, encode(&identity.value, schema)?))
            }
            _ => None,
        };
        Ok(Object {
            status: self.status,
            schema_version: self.schema.version,
            attributes,
            sensitive: self
                .sensitive
                .union(&sensitive_paths(&self.schema.block, self.value)),
            private: self.private,
            identity,
            dependencies: self.dependencies,
            create_before_destroy: self.create_before_destroy,
            ..Object::default()
        })
    }
}

fn encode(value: &Value, schema: &Schema) -> Result<Vec<u8>, Diagnostics> {
    json::to_json(value, &implied_type(&schema.block))
        .map(String::into_bytes)
        .map_err(|e| {
            Diagnostic::error("Cannot store the object")
                .detail(e.to_string())
                .into()
        })
}
