//! What the engine asks of a provider. Values are unmarked and conform to the schema's implied type.
//!
//! Every call returns its own error diagnostics as `Err` only where there is no result to process; calls whose result
//! counts even beside errors (`plan`, `apply`) return them inside the response. Diagnostics carry no address: the caller
//! knows it. A failure of the call itself (crash, transport) is an error diagnostic too.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use crate::diagnostic::Diagnostics;
use crate::schema::ProviderSchema;
use crate::value::{Path, Value};

/// A running provider.
#[async_trait]
pub trait Provider: Send + Sync {
    /// The schema, fetched when the provider was started.
    fn schema(&self) -> &Arc<ProviderSchema>;

    /// The same process, told `meta` with every call that takes provider metadata (`provider_meta`). It is fitted to the
    /// schema; an error if it does not fit, or if the schema has no place for it.
    fn telling(&self, meta: &Value) -> Result<Arc<dyn Provider>, Diagnostics>;

    /// `ValidateProviderConfig` (v5 `PrepareProviderConfig`). Warnings in `Ok`.
    async fn validate_config(&self, config: &Value) -> Result<Diagnostics, Diagnostics>;

    /// `ConfigureProvider`; at most once per process. Warnings in `Ok`.
    async fn configure(&self, config: &Value) -> Result<Diagnostics, Diagnostics>;

    /// `ValidateResourceConfig`. Warnings in `Ok`.
    async fn validate_resource(&self, ty: &str, config: &Value)
    -> Result<Diagnostics, Diagnostics>;

    /// `ValidateDataResourceConfig`. Warnings in `Ok`.
    async fn validate_data(&self, ty: &str, config: &Value) -> Result<Diagnostics, Diagnostics>;

    /// `UpgradeResourceState`: the stored object in the current schema's form, with warnings.
    async fn upgrade(
        &self,
        ty: &str,
        stored: RawState,
    ) -> Result<(Value, Diagnostics), Diagnostics>;

    /// `UpgradeResourceIdentity`: a stored identity of an older schema version in the current one's form, with warnings.
    async fn upgrade_identity(
        &self,
        ty: &str,
        stored: RawState,
    ) -> Result<(Identity, Diagnostics), Diagnostics>;

    /// `MoveResourceState`: an object of another type or provider as one of this provider's types.
    async fn move_state(&self, request: MoveRequest<'_>) -> Result<Moved, Diagnostics>;

    /// `ReadResource`: the object as it is now; null if it is gone.
    async fn read(&self, request: ReadRequest<'_>) -> Result<ReadResponse, Diagnostics>;

    /// `PlanResourceChange`.
    async fn plan(&self, request: PlanRequest<'_>) -> PlanResponse;

    /// `ApplyResourceChange`; never cancelled by the caller.
    async fn apply(&self, request: ApplyRequest<'_>) -> ApplyResponse;

    /// `ReadDataSource`: a whole object, wholly known, with warnings.
    async fn read_data(
        &self,
        ty: &str,
        config: &Value,
    ) -> Result<(Value, Diagnostics), Diagnostics>;

    /// `ValidateEphemeralResourceConfig`. Warnings in `Ok`.
    async fn validate_ephemeral(
        &self,
        ty: &str,
        config: &Value,
    ) -> Result<Diagnostics, Diagnostics>;

    /// `OpenEphemeralResource`, with warnings. What is open is to be closed.
    async fn open(&self, ty: &str, config: &Value) -> Result<(Opened, Diagnostics), Diagnostics>;

    /// `RenewEphemeralResource`, with warnings.
    async fn renew(&self, ty: &str, lease: &Lease) -> Result<(Lease, Diagnostics), Diagnostics>;

    /// `CloseEphemeralResource`. Warnings in `Ok`.
    async fn close(&self, ty: &str, lease: &Lease) -> Result<Diagnostics, Diagnostics>;

    /// `CallFunction`; no configuration is needed for it. The arguments are of the types of the parameters; an error that
    /// the function blames on one of them has its index as path.
    async fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, Diagnostics>;

    /// `ImportResourceState`.
    async fn import(
        &self,
        request: ImportRequest<'_>,
    ) -> Result<(Vec<Imported>, Diagnostics), Diagnostics>;

    /// `StopProvider`: asks running calls to end soon. Errors do not matter.
    async fn stop(&self);

    /// Ends the process: graceful shutdown, then kill. Further calls fail.
    async fn shutdown(&self);
}

/// An open ephemeral resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// Its object, wholly known.
    pub value: Value,
    /// How it stays open.
    pub lease: Lease,
}

/// What the provider wants to see again of an open ephemeral resource, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lease {
    /// When it must be renewed to stay open; never if absent.
    pub renew_at: Option<std::time::SystemTime>,
    /// The provider's own record.
    pub private: Option<Vec<u8>>,
}

/// A stored object, or the identity of one, as it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawState {
    /// Schema version it was written with.
    pub version: i64,
    /// Its attributes as a JSON object.
    pub json: Vec<u8>,
    /// Its attributes as flat text, in place of `json`: what Terraform before 0.12 stored.
    pub flat: Option<BTreeMap<String, String>>,
}

/// A resource identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Version of the identity schema.
    pub version: i64,
    /// An object of the identity schema's type.
    pub value: Value,
}

/// Input of [`Provider::read`].
#[derive(Clone, Copy, Debug)]
pub struct ReadRequest<'a> {
    /// Resource type.
    pub ty: &'a str,
    /// The object as last known.
    pub current: &'a Value,
    /// Private bytes stored with it.
    pub private: &'a [u8],
    /// Identity stored with it.
    pub identity: Option<&'a Identity>,
}

/// Output of [`Provider::read`].
#[derive(Clone, Debug)]
pub struct ReadResponse {
    /// The object; null if it is gone.
    pub new: Value,
    /// Private bytes to store.
    pub private: Vec<u8>,
    /// Identity to store.
    pub identity: Option<Identity>,
    /// Warnings.
    pub diagnostics: Diagnostics,
}

/// Input of [`Provider::plan`].
#[derive(Clone, Copy, Debug)]
pub struct PlanRequest<'a> {
    /// Resource type.
    pub ty: &'a str,
    /// The stored, refreshed object; null to create.
    pub prior: &'a Value,
    /// Prior merged with the configuration; null to destroy.
    pub proposed: &'a Value,
    /// The configuration; null to destroy.
    pub config: &'a Value,
    /// Private bytes stored with the object.
    pub private: &'a [u8],
    /// Identity stored with the object.
    pub identity: Option<&'a Identity>,
}

/// Output of [`Provider::plan`].
#[derive(Clone, Debug)]
pub struct PlanResponse {
    /// The planned object, unknown where only apply will tell; `None` if the answer held none that can be decoded.
    pub planned: Option<Value>,
    /// Paths whose change needs a new object.
    pub requires_replace: Vec<Path>,
    /// Private bytes for the apply.
    pub private: Vec<u8>,
    /// Planned identity.
    pub identity: Option<Identity>,
    /// The provider is of the old SDK: some checks only warn.
    pub legacy: bool,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// Input of [`Provider::apply`].
#[derive(Clone, Copy, Debug)]
pub struct ApplyRequest<'a> {
    /// Resource type.
    pub ty: &'a str,
    /// The object before; null to create.
    pub prior: &'a Value,
    /// The planned object; null to destroy.
    pub planned: &'a Value,
    /// The configuration; null to destroy.
    pub config: &'a Value,
    /// Private bytes of the plan.
    pub private: &'a [u8],
    /// Planned identity.
    pub identity: Option<&'a Identity>,
}

/// Output of [`Provider::apply`].
#[derive(Clone, Debug)]
pub struct ApplyResponse {
    /// The object afterwards; null if there is none; `None` if the call failed or the answer held none that can be
    /// decoded.
    pub new: Option<Value>,
    /// Private bytes to store.
    pub private: Vec<u8>,
    /// Identity to store.
    pub identity: Option<Identity>,
    /// The provider is of the old SDK: some checks only warn.
    pub legacy: bool,
    /// The call itself failed (crash, transport): nothing in this response came from the provider.
    pub call_failed: bool,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// Input of [`Provider::import`].
#[derive(Clone, Copy, Debug)]
pub enum ImportRequest<'a> {
    /// By the provider's id string.
    Id {
        /// Resource type.
        ty: &'a str,
        /// The id.
        id: &'a str,
    },
    /// By identity.
    Identity {
        /// Resource type.
        ty: &'a str,
        /// The identity object.
        identity: &'a Identity,
    },
}

/// One object found by [`Provider::import`].
#[derive(Clone, Debug)]
pub struct Imported {
    /// Resource type.
    pub ty: String,
    /// The object.
    pub value: Value,
    /// Private bytes to store.
    pub private: Vec<u8>,
    /// Identity to store.
    pub identity: Option<Identity>,
}

/// Input of [`Provider::move_state`].
#[derive(Clone, Debug)]
pub struct MoveRequest<'a> {
    /// Full address of the provider the object was made with, such as `registry.terraform.io/hashicorp/null`.
    pub source_provider: &'a str,
    /// Resource type it was made as.
    pub source_ty: &'a str,
    /// The stored object.
    pub source: RawState,
    /// Private bytes stored with it.
    pub source_private: &'a [u8],
    /// Identity stored with it.
    pub source_identity: Option<RawState>,
    /// Resource type it is to be.
    pub ty: &'a str,
}

/// Output of [`Provider::move_state`].
#[derive(Clone, Debug)]
pub struct Moved {
    /// The object, never null.
    pub value: Value,
    /// Private bytes to store.
    pub private: Vec<u8>,
    /// Identity to store.
    pub identity: Option<Identity>,
    /// Warnings.
    pub diagnostics: Diagnostics,
}
