//! A stored object as it is now: decoded by the provider that will handle it, and refreshed.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::plan::moves::Crossing;
use crate::provider::{Identity, MoveRequest, Provider, RawState, ReadRequest};
use crate::schema::{Schema, Schemas, implied_type};
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

/// A stored object to be read.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    /// The type it is to have.
    pub ty: &'a str,
    /// The object.
    pub object: &'a Object,
    /// Where it comes from, if that is another type or provider.
    pub crossing: Option<&'a Crossing>,
}

/// Upgrades a stored object to the current schema, or lets the provider take it over, and, if `refresh`, reads it from the
/// world.
///
/// The provider must be configured. Upgrading happens even when the version is unchanged, as providers expect.
pub async fn read_stored(
    provider: &dyn Provider,
    input: Stored<'_>,
    refresh: bool,
) -> Result<Reading, Diagnostics> {
    let Stored { ty, object, .. } = input;
    let schema = resource_schema(provider, ty)?;
    let mut warnings = Diagnostics::default();
    let mut prior = match input.crossing {
        None => upgraded(provider, ty, object, &mut warnings).await?,
        Some(crossing) => taken_over(provider, ty, (object, crossing), &mut warnings).await?,
    };
    let stored = prior.value.clone();
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

/// The schema of a type, or an error that names its nearest one.
pub(super) fn known_type<'a>(
    types: &'a Schemas,
    ty: &str,
    what: &str,
) -> Result<&'a Schema, Diagnostics> {
    types
        .get(ty)
        .ok_or_else(|| unknown_type(what, ty, types.keys()))
}

/// The error that the provider does not know a type or function.
pub(super) fn unknown_type<'a>(
    what: &str,
    ty: &str,
    known: impl Iterator<Item = &'a String>,
) -> Diagnostics {
    Diagnostic::error(format!("Invalid {what}"))
        .detail(format!("the provider has no {what} `{ty}`"))
        .suggest(ty, known.map(String::as_str))
        .into()
}

async fn upgraded(
    provider: &dyn Provider,
    ty: &str,
    object: &Object,
    warnings: &mut Diagnostics,
) -> Result<Prior, Diagnostics> {
    let raw = RawState {
        version: object.schema_version,
        json: object.attributes.clone(),
        flat: object.flat.clone(),
    };
    let (value, more) = provider.upgrade(ty, raw).await?;
    warnings.extend(more);
    Ok(Prior {
        value,
        private: object.private.clone(),
        identity: stored_identity(provider, ty, object, warnings).await?,
        status: object.status,
        sensitive: object.sensitive.clone(),
        create_before_destroy: object.create_before_destroy,
    })
}

/// The object as one of `ty`, which it was not.
async fn taken_over(
    provider: &dyn Provider,
    ty: &str,
    (object, crossing): (&Object, &Crossing),
    warnings: &mut Diagnostics,
) -> Result<Prior, Diagnostics> {
    if !provider.schema().capabilities.move_resource_state {
        return Err(Diagnostic::error("Move not supported")
            .detail(format!(
                "it was a `{}` of {}, and the provider cannot make a `{ty}` of an object of another type or provider",
                crossing.ty, crossing.provider
            ))
            .hint("let go of the old resource with `removed`, and take the object over with `imports`")
            .into());
    }
    let raw = |version: i64, json: &[u8]| RawState {
        version,
        json: json.to_owned(),
        flat: None,
    };
    let moved = provider
        .move_state(MoveRequest {
            source_provider: &crossing.provider,
            source_ty: &crossing.ty,
            source: RawState {
                flat: object.flat.clone(),
                ..raw(object.schema_version, &object.attributes)
            },
            source_private: &object.private,
            source_identity: object
                .identity
                .as_ref()
                .map(|(version, json)| raw(*version, json)),
            ty,
        })
        .await?;
    warnings.extend(moved.diagnostics);
    Ok(Prior {
        value: moved.value,
        private: moved.private,
        identity: moved.identity,
        status: object.status,
        sensitive: object.sensitive.clone(),
        create_before_destroy: object.create_before_destroy,
    })
}

/// The stored identity in the current schema's form; an older one is upgraded by the provider.
async fn stored_identity(
    provider: &dyn Provider,
    ty: &str,
    object: &Object,
    warnings: &mut Diagnostics,
) -> Result<Option<Identity>, Diagnostics> {
    let (Some((version, bytes)), Some(schema)) =
        (&object.identity, provider.schema().identities.get(ty))
    else {
        return Ok(None);
    };
    let version = *version;
    if version != schema.version {
        let json = bytes.clone();
        let (identity, more) = provider
            .upgrade_identity(
                ty,
                RawState {
                    version,
                    json,
                    flat: None,
                },
            )
            .await?;
        warnings.extend(more);
        return Ok(Some(identity));
    }
    let value = json::from_json(bytes, &implied_type(&schema.block)).map_err(|e| {
        Diagnostics::from(Diagnostic::error("Invalid stored identity").detail(e.to_string()))
    })?;
    Ok(Some(Identity { version, value }))
}
