//! A stored object as it is now: decoded by the provider that will handle it, and refreshed.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::provider::{Identity, Provider, RawState, ReadRequest};
use crate::schema::{Schema, implied_type};
use crate::state::{Object, Status};
use crate::value::{PathSet, Value, json};

/// A stored object in the current schema's form.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    /// The object, never null.
    pub value: Value,
    /// Private bytes stored with it.
    pub private: Vec<u8>,
    /// Identity stored with it.
    pub identity: Option<Identity>,
    /// Whether it is whole.
    pub status: Status,
    /// Sensitive paths stored with it.
    pub sensitive: PathSet,
    /// Whether it was made to be replaced by creating first.
    pub create_before_destroy: bool,
}

/// What reading a stored object gave.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The object as it is; none if it is gone.
    pub prior: Option<Prior>,
    /// The object as it was stored.
    pub stored: Value,
    /// Warnings of the provider.
    pub warnings: Diagnostics,
}

/// Upgrades a stored object to the current schema and, if `refresh`, reads it from the world.
///
/// The provider must be configured. Upgrading happens even when the version is unchanged, as providers expect.
pub async fn read_stored(
    provider: &dyn Provider,
    ty: &str,
    object: &Object,
    refresh: bool,
) -> Result<Reading, Diagnostics> {
    let schema = resource_schema(provider, ty)?;
    let mut warnings = Diagnostics::default();
    let raw = RawState {
        version: object.schema_version,
        json: object.attributes.clone(),
    };
    let (stored, more) = provider.upgrade(ty, raw).await?;
    warnings.extend(more);
    let mut prior = Prior {
        value: stored.clone(),
        private: object.private.clone(),
        identity: stored_identity(provider, ty, object)?,
        status: object.status,
        sensitive: object.sensitive.clone(),
        create_before_destroy: object.create_before_destroy,
    };
    if stored.is_null() {
        return Ok(Reading {
            prior: None,
            stored,
            warnings,
        });
    }
    if refresh {
        let response = provider
            .read(ReadRequest {
                ty,
                current: &prior.value,
                private: &prior.private,
                identity: prior.identity.as_ref(),
            })
            .await?;
        warnings.extend(response.diagnostics);
        if response.new.is_null() {
            return Ok(Reading {
                prior: None,
                stored,
                warnings,
            });
        }
        prior.value = crate::schema::normalize_blocks(&schema.block, &response.new);
        prior.private = response.private;
        prior.identity = response.identity;
    }
    Ok(Reading {
        prior: Some(prior),
        stored,
        warnings,
    })
}

/// The schema of a resource type, or an error that names the provider's nearest type.
pub fn resource_schema<'a>(
    provider: &'a dyn Provider,
    ty: &str,
) -> Result<&'a Schema, Diagnostics> {
    known_type(&provider.schema().resources, ty, "resource type")
}

/// What the provider says of a type or function, or an error that names its nearest one.
pub(super) fn known_type<'a, T>(
    types: &'a std::collections::BTreeMap<String, T>,
    ty: &str,
    what: &str,
) -> Result<&'a T, Diagnostics> {
    types.get(ty).ok_or_else(|| {
        Diagnostic::error(format!("Invalid {what}"))
            .detail(format!("the provider has no {what} `{ty}`"))
            .suggest(ty, types.keys().map(String::as_str))
            .into()
    })
}

fn stored_identity(
    provider: &dyn Provider,
    ty: &str,
    object: &Object,
) -> Result<Option<Identity>, Diagnostics> {
    let (Some((version, bytes)), Some(schema)) =
        (&object.identity, provider.schema().identities.get(ty))
    else {
        return Ok(None);
    };
    if *version != schema.version {
        // The identity is rebuilt by the next read; an outdated one would be misread.
        return Ok(None);
    }
    let value = json::from_json(bytes, &implied_type(&schema.block)).map_err(|e| {
        Diagnostics::from(Diagnostic::error("Invalid stored identity").detail(e.to_string()))
    })?;
    Ok(Some(Identity {
        version: *version,
        value,
    }))
}
