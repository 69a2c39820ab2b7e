//! A provider's schema together with what is derived from it once, shared by all its processes.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::write_only;
use crate::schema::{ProviderSchema, Schema, Schemas, implied_type};
use crate::value::Type;

/// A provider's schema and the types it implies.
#[derive(Debug)]
pub(super) struct Catalog {
    pub(super) schema: Arc<ProviderSchema>,
    /// Type of the provider's own configuration.
    pub(super) provider: Type,
    resources: Kinds,
    data_sources: Kinds,
    ephemeral: Kinds,
    identities: Kinds,
}

/// What the calls need to know of one resource type.
#[derive(Debug)]
pub(super) struct Kind {
    /// Type of its values.
    pub(super) ty: Type,
    /// Whether it has write-only attributes.
    pub(super) write_only: bool,
}

/// One slot per name: large providers have thousands of types, of which few are used.
type Kinds = BTreeMap<String, OnceLock<Kind>>;

impl Catalog {
    pub(super) fn new(schema: ProviderSchema) -> Self {
        Self {
            provider: implied_type(&schema.provider.block),
            resources: slots(&schema.resources),
            data_sources: slots(&schema.data_sources),
            ephemeral: slots(&schema.ephemeral_resources),
            identities: slots(&schema.identities),
            schema: Arc::new(schema),
        }
    }

    /// A managed resource type.
    pub(super) fn resource(&self, name: &str) -> Option<(&Schema, &Kind)> {
        find(&self.schema.resources, &self.resources, name)
    }

    /// A data source type.
    pub(super) fn data_source(&self, name: &str) -> Option<(&Schema, &Kind)> {
        find(&self.schema.data_sources, &self.data_sources, name)
    }

    /// An ephemeral resource type.
    pub(super) fn ephemeral(&self, name: &str) -> Option<(&Schema, &Kind)> {
        find(&self.schema.ephemeral_resources, &self.ephemeral, name)
    }

    /// The identity of a managed resource type, if it has one.
    pub(super) fn identity(&self, name: &str) -> Option<(&Schema, &Type)> {
        let (schema, kind) = find(&self.schema.identities, &self.identities, name)?;
        Some((schema, &kind.ty))
    }
}

fn slots(schemas: &Schemas) -> Kinds {
    let names = schemas.keys();
    names.map(|name| (name.clone(), OnceLock::new())).collect()
}

fn find<'a>(schemas: &'a Schemas, kinds: &'a Kinds, name: &str) -> Option<(&'a Schema, &'a Kind)> {
    let schema = schemas.get(name)?;
    let kind = kinds.get(name)?.get_or_init(|| Kind {
        ty: implied_type(&schema.block),
        write_only: write_only::any(&schema.block),
    });
    Some((schema, kind))
}
