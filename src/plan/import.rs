//! Taking over an object that exists already: found by the provider, read, and planned like a stored one.

use std::sync::Arc;

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Expr, Resource};
use crate::plan::instance::provider_bug;
use crate::plan::planned_unknown;
use crate::plan::prior::{Prior, Reading, resource_schema};
use crate::plan::resolve::{OutputMap, Outputs, resolve};
use crate::plan::stack::Walk;
use crate::provider::{Identity, ImportRequest, Imported, Provider, ReadRequest};
use crate::schema::{conform, normalize_blocks, sensitive_paths};
use crate::state::Status;
use crate::value::{PathSet, Value};

/// What tells the provider which object is meant.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportBy {
    /// The provider's own text for it; its form differs from type to type.
    Id(String),
    /// Its identity.
    Identity(Identity),
}

impl ImportBy {
    /// The provider's text; an error if it is empty.
    pub fn id(text: &str) -> Result<Self, Diagnostics> {
        match text {
            "" => Err(invalid_id("it is empty").into()),
            _ => Ok(Self::Id(text.to_owned())),
        }
    }
}

/// What the id of an import is, as far as it is known: `None` if it is not, yet. `expr` is a string or an object, which is an
/// identity.
pub fn import_by(
    provider: &dyn Provider,
    ty: &str,
    expr: &Expr,
    outputs: &OutputMap,
) -> Result<Option<ImportBy>, Diagnostics> {
    let resolved = resolve(expr, outputs)?;
    if !resolved.sensitive.is_empty() {
        return Err(invalid_id("it is sensitive, and would be shown in the plan").into());
    }
    if !resolved.value.is_wholly_known() {
        return Ok(None);
    }
    match resolved.value {
        Value::String(id) => ImportBy::id(&id).map(Some),
        Value::Number(id) => ImportBy::id(&id.to_string()).map(Some),
        identity @ Value::Object(_) => {
            let Some(schema) = provider.schema().identities.get(ty) else {
                return Err(
                    invalid_id(&format!("objects of type `{ty}` have no identity"))
                        .hint("give the id as a string")
                        .into(),
                );
            };
            let value = conform(&schema.block, &identity)?;
            let version = schema.version;
            Ok(Some(ImportBy::Identity(Identity { version, value })))
        }
        other => Err(invalid_id(&format!(
            "it is {}, and has to be a string, or an object that is an identity",
            if other.is_null() {
                "null".to_owned()
            } else {
                other.ty().to_string()
            }
        ))
        .into()),
    }
}

fn invalid_id(what: &str) -> Diagnostic {
    Diagnostic::error("Invalid import id").detail(what)
}

/// Asks the provider for the object and reads it. With it come warnings.
pub async fn import_object(
    provider: &dyn Provider,
    ty: &str,
    by: &ImportBy,
) -> Result<(Prior, Diagnostics), Diagnostics> {
    let request = match by {
        ImportBy::Id(id) => ImportRequest::Id { ty, id },
        ImportBy::Identity(identity) => ImportRequest::Identity { ty, identity },
    };
    let (found, mut warnings) = provider.import(request).await?;
    let imported = only_one(found, ty)?;
    let read = provider
        .read(ReadRequest {
            ty,
            current: &imported.value,
            private: &imported.private,
            identity: imported.identity.as_ref(),
        })
        .await?;
    warnings.extend(read.diagnostics);
    if read.new.is_null() {
        return Err(Diagnostic::error("Cannot import non-existent remote object")
            .detail(format!("there is no object of type `{ty}` with {}", shown(by)))
            .hint("check the id, and whether the provider is configured for the place where the object is")
            .into());
    }
    let block = &resource_schema(provider, ty)?.block;
    let prior = Prior {
        value: normalize_blocks(block, &read.new),
        private: read.private,
        identity: read.identity,
        status: Status::Ready,
        sensitive: PathSet::default(),
        create_before_destroy: false,
    };
    Ok((prior, warnings))
}

/// The object that was found, which has to be one, of the type asked for.
fn only_one(found: Vec<Imported>, ty: &str) -> Result<Imported, Diagnostics> {
    let types: Vec<_> = found.iter().map(|i| format!("`{}`", i.ty)).collect();
    let mut found = found.into_iter();
    let (Some(imported), None) = (found.next(), found.next()) else {
        return Err(Diagnostic::error("Several objects to import")
            .detail(format!(
                "the provider gave objects of the types {}, where one is wanted",
                types.join(", ")
            ))
            .hint("use an id that stands for one object")
            .into());
    };
    if imported.ty != ty {
        let what = format!("it was asked for a `{ty}` and gave a `{}`", imported.ty);
        return Err(provider_bug(
            "Provider imported an object of another type",
            &what,
        ));
    }
    if imported.value.is_null() {
        return Err(provider_bug(
            "Import returned null resource",
            "it gave no object, and no error",
        ));
    }
    Ok(imported)
}

fn shown(by: &ImportBy) -> String {
    match by {
        ImportBy::Id(id) => format!("the id `{id}`"),
        ImportBy::Identity(_) => "this identity".to_owned(),
    }
}

/// What there is to import for a resource without a stored object.
pub(super) enum Arrival {
    /// Nothing is to be imported.
    None,
    /// This object.
    Object(Prior),
    /// Something whose id is not known yet.
    NotKnown,
}

/// Imports what the configuration says about `resource`, unless there is an object in the state; notes it, or, if its id is not
/// known, that and what is known of it all the same. What is sensitive in the configuration is so in the object: that is no
/// change of an object nobody knew.
pub(super) async fn arrival(
    walk: &Walk<'_>,
    provider: &Arc<dyn Provider>,
    resource: &Resource,
    (config, sensitive): (&Value, &PathSet),
) -> Result<Arrival, Diagnostics> {
    let stored = walk.input.state.resources.get(&resource.id);
    let id = walk.imports.get(&resource.id);
    let Some(id) = id.filter(|_| stored.is_none_or(|s| s.current.is_none())) else {
        return Ok(Arrival::None);
    };
    let by = walk.found(|f| import_by(&**provider, &resource.ty, id, &f.outputs))?;
    let Some(by) = by else {
        walk.found(|f| f.unresolved.push(not_known(&resource.id)));
        let block = &resource_schema(&**provider, &resource.ty)?.block;
        let value = planned_unknown(block, config);
        let sensitive = sensitive_paths(block, &value).union(sensitive);
        walk.publish(&resource.id, Outputs { value, sensitive });
        return Ok(Arrival::NotKnown);
    };
    let prior = found(walk, provider, resource, &by).await?;
    walk.found(|f| f.imports.insert(resource.id.clone(), by));
    Ok(Arrival::Object(Prior {
        sensitive: sensitive.clone(),
        ..prior
    }))
}

/// The object, asked for once in a run.
async fn found(
    walk: &Walk<'_>,
    provider: &Arc<dyn Provider>,
    resource: &Resource,
    by: &ImportBy,
) -> Result<Prior, Diagnostics> {
    let key = (resource.id.clone(), format!("import {by:?}"));
    let known = walk.input.memo.reading(provider, &key, &());
    if let Some(prior) = known.and_then(|reading| reading.prior) {
        return Ok(prior);
    }
    let (prior, warnings) = import_object(&**provider, &resource.ty, by).await?;
    let reading = Reading {
        stored: prior.value.clone(),
        prior: Some(prior.clone()),
        warnings: warnings.clone(),
    };
    walk.found(|f| f.diagnostics.extend_at(warnings, resource.id.as_str()));
    walk.input.memo.put_reading(provider, key, (), &reading);
    Ok(prior)
}

fn not_known(id: &Id) -> Diagnostic {
    invalid_id("it depends on values that only an apply will tell")
        .hint("apply what it depends on first, and import then")
        .at(id.as_str())
}
