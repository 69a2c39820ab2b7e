//! A running provider: its schema, and the passage of values to it and back.

use std::sync::Arc;

use super::cache::SchemaCache;
use super::catalog::{Catalog, Kind};
use super::convert::{from_diagnostics, from_dynamic, null, to_dynamic};
use super::launch::Launch;
use super::proto::tfplugin6 as pb;
use super::rpc::{CallCounts, Rpc};
use super::session::Session;
use super::told::Told;
use super::{schema, write_only};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::schema::{ProviderSchema, Schema, conform, implied_type};
use crate::value::{Type, Value};

/// A running provider plugin: [`Provider`](super::Provider) over the protocol.
pub(super) struct Plugin {
    pub(super) session: Arc<Session>,
    pub(super) catalog: Arc<Catalog>,
    /// What it is told with every call that takes it, if that was configured.
    meta: Option<pb::DynamicValue>,
}

impl Plugin {
    /// Starts a provider and learns its schema: from another process of the same provider (`catalog`), from the cache, or by
    /// asking. `name` is what messages call it.
    pub(super) async fn start(
        launch: &Launch,
        name: &str,
        counts: Arc<CallCounts>,
        catalog: Option<Arc<Catalog>>,
        cache: Option<&SchemaCache>,
    ) -> Result<Self, Diagnostics> {
        let session = Arc::new(Session::start(launch, name, counts).await?);
        let plugin = |catalog| Self {
            session: session.clone(),
            catalog,
            meta: None,
        };
        if let Some(catalog) = catalog {
            if !catalog.schema.capabilities.get_provider_schema_optional {
                // Old servers set themselves up in this call. The answer is known: it is not even decoded.
                let empty = pb::get_provider_schema::Request {};
                session.call::<_, ()>(Rpc::GetProviderSchema, empty).await?;
            }
            return Ok(plugin(catalog));
        }
        let cache = cache.filter(|_| launch.running.is_none());
        let cached = cache.and_then(|cache| cache.get(&launch.program));
        let told = if let Some(told) = cached {
            told
        } else {
            let told = session.ask().await?;
            schema::check(&told).map_err(|e| unsound(name, &e))?;
            if let Some(cache) = cache {
                cache.put(&launch.program, &told);
            }
            told
        };
        let catalog = Arc::new(Catalog::new(decode(told, name)?));
        Ok(plugin(catalog))
    }

    /// The same process, told this value with every call that takes it; an error if its schema has no place for it.
    pub(super) fn telling(&self, meta: &Value) -> Result<Self, Diagnostics> {
        let Some(schema) = &self.catalog.schema.provider_meta else {
            return Err(Diagnostic::error("Provider takes no meta")
                .detail(format!(
                    "the schema of provider {} has no place for `meta`",
                    self.session.name
                ))
                .hint("remove `meta`; what configures the provider belongs into `config`")
                .into());
        };
        let meta = conform(&schema.block, meta)?;
        Ok(Self {
            session: self.session.clone(),
            catalog: self.catalog.clone(),
            meta: self.send(&meta, &implied_type(&schema.block))?,
        })
    }

    /// A managed resource type of the schema.
    pub(super) fn resource(&self, ty: &str) -> Result<(&Schema, &Kind), Diagnostics> {
        self.catalog
            .resource(ty)
            .ok_or_else(|| self.no_such("resource type", ty))
    }

    /// A data source type of the schema.
    pub(super) fn data_source(&self, ty: &str) -> Result<(&Schema, &Kind), Diagnostics> {
        self.catalog
            .data_source(ty)
            .ok_or_else(|| self.no_such("data source type", ty))
    }

    /// An ephemeral resource type of the schema.
    pub(super) fn ephemeral(&self, ty: &str) -> Result<(&Schema, &Kind), Diagnostics> {
        self.catalog
            .ephemeral(ty)
            .ok_or_else(|| self.no_such("ephemeral resource type", ty))
    }

    pub(super) fn no_such(&self, kind: &str, name: &str) -> Diagnostics {
        Diagnostic::error(format!("Unknown {kind}"))
            .detail(format!(
                "provider {} has no {kind} {name:?}",
                self.session.name
            ))
            .into()
    }

    /// A value to send. One that does not fit is a fault of ours: it was to be made to fit before.
    pub(super) fn send(
        &self,
        value: &Value,
        ty: &Type,
    ) -> Result<Option<pb::DynamicValue>, Diagnostics> {
        to_dynamic(value, ty).map_err(|e| {
            Diagnostic::error("Value does not fit the provider's schema")
                .detail(format!(
                    "a value for provider {} cannot be sent: {e}",
                    self.session.name
                ))
                .into()
        })
    }

    /// An object the provider sent; `summary` tells what is wrong if it does not fit.
    pub(super) fn receive(
        &self,
        message: Option<pb::DynamicValue>,
        ty: &Type,
        summary: &str,
    ) -> Result<Value, Diagnostics> {
        from_dynamic(message, ty).map_err(|e| self.fault(summary, &e.to_string()).into())
    }

    /// An error that is the provider's own.
    pub(super) fn fault(&self, summary: &str, what: &str) -> Diagnostic {
        Diagnostic::error(summary).detail(format!(
            "provider {} broke the protocol: {what}. This is a fault of the provider and should be reported to its \
             developers",
            self.session.name
        ))
    }

    /// The object without values of write-only attributes: such a value is an error, and must not be stored.
    pub(super) fn without_write_only(
        &self,
        (schema, kind): (&Schema, &Kind),
        object: Value,
        diagnostics: &mut Diagnostics,
    ) -> Value {
        if !kind.write_only {
            return object;
        }
        let (object, found) = write_only::strip(&schema.block, object);
        for path in found {
            let what = format!("it returned a value for the write-only attribute {path}");
            let fault = self.fault("Provider produced invalid object", &what);
            diagnostics.push(fault.path(path));
        }
        object
    }

    /// What is sent as the provider's meta value: null if it takes one and none is configured.
    pub(super) fn meta(&self) -> Option<pb::DynamicValue> {
        let takes = self.catalog.schema.provider_meta.as_ref();
        takes.map(|_| self.meta.clone().unwrap_or_else(null))
    }

    /// Diagnostics of an answer. A deferral, which this host never allows, is one more.
    pub(super) fn diagnostics(
        &self,
        messages: Vec<pb::Diagnostic>,
        deferred: Option<pb::Deferred>,
    ) -> Diagnostics {
        let mut diagnostics = from_diagnostics(messages);
        if let Some(deferred) = deferred {
            let what = format!(
                "it deferred the operation ({:?}), which it was not allowed to",
                deferred.reason()
            );
            diagnostics.push(self.fault("Provider deferred changes", &what));
        }
        diagnostics
    }
}

/// The schema in our own form. Identities that break the rules are as good as none.
fn decode(told: Told, name: &str) -> Result<ProviderSchema, Diagnostics> {
    let mut schema = schema::decode(&told).map_err(|e| unsound(name, &e))?;
    match schema::identities(told.identities, &schema.resources) {
        Ok(found) => schema.identities = found,
        Err(e) => tracing::warn!(target: "provider", provider = name, "{e}"),
    }
    Ok(schema)
}

fn unsound(name: &str, error: &schema::SchemaError) -> Diagnostic {
    Diagnostic::error("Failed to load plugin schemas").detail(format!("provider {name}: {error}"))
}
