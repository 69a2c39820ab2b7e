//! The calls that bring stored objects into the form of the current schema.

use super::client::Plugin;
use super::proto::tfplugin6 as pb;
use super::provider::{Identity, MoveRequest, Moved, RawState};
use super::rpc::Rpc;
use super::upgrade::prune;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::value::Value;

const INVALID_UPGRADE: &str = "Invalid resource state transformation";

impl Plugin {
    /// `UpgradeResourceState`, called for every stored object even if its version is current.
    pub(super) async fn upgrade_resource(
        &self,
        ty: &str,
        stored: RawState,
    ) -> Result<(Value, Diagnostics), Diagnostics> {
        let (schema, kind) = self.resource(ty)?;
        not_newer(ty, stored.version, schema.version)?;
        let version = stored.version;
        let mut stored = stored;
        if version == schema.version && stored.flat.is_none() {
            prune(&mut stored.json, &kind.ty).map_err(|e| {
                Diagnostic::error("Stored object is not valid JSON").detail(e.to_string())
            })?;
        }
        let request = pb::upgrade_resource_state::Request {
            type_name: ty.to_owned(),
            version,
            raw_state: Some(raw(stored)),
        };
        let answer: pb::upgrade_resource_state::Response = self
            .session
            .call(Rpc::UpgradeResourceState, request)
            .await?;
        let mut diagnostics = self.diagnostics(answer.diagnostics, None).into_result()?;
        let value = self.receive(answer.upgraded_state, &kind.ty, INVALID_UPGRADE)?;
        let value = self.without_write_only((schema, kind), value, &mut diagnostics);
        Ok((value, diagnostics.into_result()?))
    }

    /// `UpgradeResourceIdentity`, called for identities of an older schema version only.
    pub(super) async fn upgrade_resource_identity(
        &self,
        ty: &str,
        stored: RawState,
    ) -> Result<(Identity, Diagnostics), Diagnostics> {
        let Some((schema, _)) = self.catalog.identity(ty) else {
            return Err(Diagnostic::error("Resource type without identity")
                .detail(format!("resource type {ty} has no identity"))
                .into());
        };
        not_newer(ty, stored.version, schema.version)?;
        let request = pb::upgrade_resource_identity::Request {
            type_name: ty.to_owned(),
            version: stored.version,
            raw_identity: Some(raw(stored)),
        };
        let answer: pb::upgrade_resource_identity::Response = self
            .session
            .call(Rpc::UpgradeResourceIdentity, request)
            .await?;
        let warnings = self.diagnostics(answer.diagnostics, None).into_result()?;
        let identity = self.receive_identity(ty, answer.upgraded_identity)?;
        let identity = identity.ok_or_else(|| {
            let what = format!("it gave no upgraded identity of a {ty}");
            self.fault("Invalid identity transformation", &what)
        })?;
        Ok((identity, warnings))
    }

    /// `MoveResourceState`, of the provider that takes the object over.
    pub(super) async fn move_resource(
        &self,
        request: MoveRequest<'_>,
    ) -> Result<Moved, Diagnostics> {
        let (schema, kind) = self.resource(request.ty)?;
        let identity = request.source_identity;
        let message = pb::move_resource_state::Request {
            source_provider_address: request.source_provider.to_owned(),
            source_type_name: request.source_ty.to_owned(),
            source_schema_version: request.source.version,
            source_state: Some(raw(request.source)),
            target_type_name: request.ty.to_owned(),
            source_private: request.source_private.to_owned(),
            source_identity_schema_version: identity.as_ref().map_or(0, |i| i.version),
            source_identity: identity.map(raw),
        };
        let answer: pb::move_resource_state::Response =
            self.session.call(Rpc::MoveResourceState, message).await?;
        let mut diagnostics = self.diagnostics(answer.diagnostics, None).into_result()?;
        let value = self.receive(answer.target_state, &kind.ty, INVALID_UPGRADE)?;
        if value.is_null() {
            let what = format!("it gave no {} for the moved object", request.ty);
            return Err(self.fault(INVALID_UPGRADE, &what).into());
        }
        let value = self.without_write_only((schema, kind), value, &mut diagnostics);
        Ok(Moved {
            value,
            private: answer.target_private,
            identity: self.receive_identity(request.ty, answer.target_identity)?,
            diagnostics: diagnostics.into_result()?,
        })
    }
}

fn raw(stored: RawState) -> pb::RawState {
    pb::RawState {
        json: stored.json,
        flatmap: stored.flat.into_iter().flatten().collect(),
    }
}

fn not_newer(ty: &str, stored: i64, current: i64) -> Result<(), Diagnostics> {
    if stored <= current {
        return Ok(());
    }
    Err(
        Diagnostic::error("Resource instance managed by newer provider version")
            .detail(format!(
                "it was stored with version {stored} of the schema of {ty}, this provider has version {current}"
            ))
            .hint("use the provider version that wrote it, or a newer one")
            .into(),
    )
}
