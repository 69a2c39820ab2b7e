//! The calls for managed resources as they are now.

use super::client::Plugin;
use super::convert::{CAPABILITIES, from_identity, from_path, to_identity};
use super::proto::tfplugin6 as pb;
use super::provider::{
    ApplyRequest, ApplyResponse, Identity, ImportRequest, Imported, PlanRequest, PlanResponse,
    ReadRequest, ReadResponse,
};
use super::rpc::Rpc;
use crate::diagnostic::{Diagnostic, Diagnostics};

const INVALID_OBJECT: &str = "Provider produced invalid object";
const INVALID_PLAN: &str = "Provider produced invalid plan";

impl Plugin {
    /// `ReadResource`.
    pub(super) async fn read_resource(
        &self,
        request: ReadRequest<'_>,
    ) -> Result<ReadResponse, Diagnostics> {
        let (schema, kind) = self.resource(request.ty)?;
        let message = pb::read_resource::Request {
            type_name: request.ty.to_owned(),
            current_state: self.send(request.current, &kind.ty)?,
            private: request.private.to_owned(),
            provider_meta: self.meta(),
            client_capabilities: CAPABILITIES,
            current_identity: self.send_identity(request.ty, request.identity)?,
        };
        let answer: pb::read_resource::Response =
            self.session.call(Rpc::ReadResource, message).await?;
        let mut diagnostics = self
            .diagnostics(answer.diagnostics, answer.deferred)
            .into_result()?;
        let new = self.receive(answer.new_state, &kind.ty, INVALID_OBJECT)?;
        let new = self.without_write_only((schema, kind), new, &mut diagnostics);
        Ok(ReadResponse {
            new,
            private: answer.private,
            identity: self.receive_identity(request.ty, answer.new_identity)?,
            diagnostics: diagnostics.into_result()?,
        })
    }

    /// `PlanResourceChange`; `Err` if there is no answer.
    pub(super) async fn plan_resource(
        &self,
        request: PlanRequest<'_>,
    ) -> Result<PlanResponse, Diagnostics> {
        let (schema, kind) = self.resource(request.ty)?;
        let message = pb::plan_resource_change::Request {
            type_name: request.ty.to_owned(),
            prior_state: self.send(request.prior, &kind.ty)?,
            proposed_new_state: self.send(request.proposed, &kind.ty)?,
            config: self.send(request.config, &kind.ty)?,
            prior_private: request.private.to_owned(),
            provider_meta: self.meta(),
            client_capabilities: CAPABILITIES,
            prior_identity: self.send_identity(request.ty, request.identity)?,
            planned_private: Vec::new(),
        };
        let answer: pb::plan_resource_change::Response =
            self.session.call(Rpc::PlanResourceChange, message).await?;
        let mut diagnostics = self.diagnostics(answer.diagnostics, answer.deferred);
        let planned = self.receive(answer.planned_state, &kind.ty, INVALID_PLAN);
        let planned = kept(planned, &mut diagnostics)
            .map(|v| self.without_write_only((schema, kind), v, &mut diagnostics));
        let identity = self.receive_identity(request.ty, answer.planned_identity);
        Ok(PlanResponse {
            planned,
            requires_replace: answer.requires_replace.into_iter().map(from_path).collect(),
            private: answer.planned_private,
            identity: kept(identity, &mut diagnostics).flatten(),
            legacy: answer.legacy_type_system,
            diagnostics,
        })
    }

    /// `ApplyResourceChange`; `Err` if there is no answer.
    pub(super) async fn apply_resource(
        &self,
        request: ApplyRequest<'_>,
    ) -> Result<ApplyResponse, Diagnostics> {
        let (schema, kind) = self.resource(request.ty)?;
        let message = pb::apply_resource_change::Request {
            type_name: request.ty.to_owned(),
            prior_state: self.send(request.prior, &kind.ty)?,
            planned_state: self.send(request.planned, &kind.ty)?,
            config: self.send(request.config, &kind.ty)?,
            planned_private: request.private.to_owned(),
            provider_meta: self.meta(),
            planned_identity: self.send_identity(request.ty, request.identity)?,
        };
        let answer: pb::apply_resource_change::Response =
            self.session.call(Rpc::ApplyResourceChange, message).await?;
        let mut diagnostics = self.diagnostics(answer.diagnostics, None);
        let new = self.receive(answer.new_state, &kind.ty, INVALID_OBJECT);
        let new = kept(new, &mut diagnostics)
            .map(|v| self.without_write_only((schema, kind), v, &mut diagnostics));
        let identity = self.receive_identity(request.ty, answer.new_identity);
        Ok(ApplyResponse {
            new,
            private: answer.private,
            identity: kept(identity, &mut diagnostics).flatten(),
            legacy: answer.legacy_type_system,
            call_failed: false,
            diagnostics,
        })
    }

    /// `ImportResourceState`. Every object is of the type asked for, or is read as one.
    pub(super) async fn import_resource(
        &self,
        request: ImportRequest<'_>,
    ) -> Result<(Vec<Imported>, Diagnostics), Diagnostics> {
        let (ty, id, identity) = match request {
            ImportRequest::Id { ty, id } => (ty, id, None),
            ImportRequest::Identity { ty, identity } => (ty, "", Some(identity)),
        };
        let (schema, kind) = self.resource(ty)?;
        if identity.is_some() && self.catalog.identity(ty).is_none() {
            return Err(Diagnostic::error("Cannot import by identity")
                .detail(format!("resource type {ty} has no identity"))
                .hint("import it by its id")
                .into());
        }
        let message = pb::import_resource_state::Request {
            type_name: ty.to_owned(),
            id: id.to_owned(),
            client_capabilities: CAPABILITIES,
            identity: self.send_identity(ty, identity)?,
        };
        let answer: pb::import_resource_state::Response =
            self.session.call(Rpc::ImportResourceState, message).await?;
        let mut diagnostics = self
            .diagnostics(answer.diagnostics, answer.deferred)
            .into_result()?;
        let mut all = Vec::new();
        for found in answer.imported_resources {
            let value = self.receive(found.state, &kind.ty, INVALID_OBJECT)?;
            all.push(Imported {
                value: self.without_write_only((schema, kind), value, &mut diagnostics),
                identity: self.receive_identity(ty, found.identity)?,
                ty: found.type_name,
                private: found.private,
            });
        }
        if all.is_empty() {
            let what = format!("it found nothing for {ty} and did not say why");
            return Err(self.fault("Import returned no resources", &what).into());
        }
        Ok((all, diagnostics.into_result()?))
    }

    fn send_identity(
        &self,
        ty: &str,
        identity: Option<&Identity>,
    ) -> Result<Option<pb::ResourceIdentityData>, Diagnostics> {
        let identity_type = self.catalog.identity(ty).map(|(_, ty)| ty);
        to_identity(identity, identity_type).map_err(|e| {
            Diagnostic::error("Identity does not fit the provider's schema")
                .detail(format!("the identity of a {ty} cannot be sent: {e}"))
                .into()
        })
    }

    pub(super) fn receive_identity(
        &self,
        ty: &str,
        message: Option<pb::ResourceIdentityData>,
    ) -> Result<Option<Identity>, Diagnostics> {
        from_identity(message, self.catalog.identity(ty)).map_err(|e| {
            self.fault(
                INVALID_OBJECT,
                &format!("the identity of a {ty} does not fit its schema: {e}"),
            )
            .into()
        })
    }
}

/// The value; errors go to the others.
fn kept<T>(result: Result<T, Diagnostics>, diagnostics: &mut Diagnostics) -> Option<T> {
    result.map_err(|e| diagnostics.extend(e)).ok()
}
