//! The provider interface over a plugin: requests and answers of each call.

use std::sync::Arc;

use async_trait::async_trait;

use super::client::Plugin;
use super::convert::{CAPABILITIES, from_diagnostics};
use super::proto::tfplugin6 as pb;
use super::provider::{
    ApplyRequest, ApplyResponse, Identity, ImportRequest, Imported, Lease, MoveRequest, Moved,
    Opened, PlanRequest, PlanResponse, Provider, RawState, ReadRequest, ReadResponse,
};
use super::rpc::Rpc;
use crate::diagnostic::Diagnostics;
use crate::schema::ProviderSchema;
use crate::value::Value;

/// The host version told to providers: some read it to decide what they may use. It names the release of Terraform
/// whose features this host has.
const HOST_VERSION: &str = "1.13.0";

#[async_trait]
impl Provider for Plugin {
    fn schema(&self) -> &Arc<ProviderSchema> {
        &self.catalog.schema
    }

    fn telling(&self, meta: &Value) -> Result<Arc<dyn Provider>, Diagnostics> {
        Ok(Arc::new(Self::telling(self, meta)?))
    }

    async fn validate_config(&self, config: &Value) -> Result<Diagnostics, Diagnostics> {
        let request = pb::validate_provider_config::Request {
            config: self.send(config, &self.catalog.provider)?,
        };
        let answer: pb::validate_provider_config::Response = self
            .session
            .call(Rpc::ValidateProviderConfig, request)
            .await?;
        from_diagnostics(answer.diagnostics).into_result()
    }

    async fn configure(&self, config: &Value) -> Result<Diagnostics, Diagnostics> {
        let request = pb::configure_provider::Request {
            terraform_version: HOST_VERSION.to_owned(),
            config: self.send(config, &self.catalog.provider)?,
            client_capabilities: CAPABILITIES,
        };
        let answer: pb::configure_provider::Response =
            self.session.call(Rpc::ConfigureProvider, request).await?;
        from_diagnostics(answer.diagnostics).into_result()
    }

    async fn validate_resource(
        &self,
        ty: &str,
        config: &Value,
    ) -> Result<Diagnostics, Diagnostics> {
        let (_, kind) = self.resource(ty)?;
        let request = pb::validate_resource_config::Request {
            type_name: ty.to_owned(),
            config: self.send(config, &kind.ty)?,
            client_capabilities: CAPABILITIES,
        };
        let answer: pb::validate_resource_config::Response = self
            .session
            .call(Rpc::ValidateResourceConfig, request)
            .await?;
        from_diagnostics(answer.diagnostics).into_result()
    }

    async fn validate_data(&self, ty: &str, config: &Value) -> Result<Diagnostics, Diagnostics> {
        let (_, kind) = self.data_source(ty)?;
        let request = pb::validate_data_resource_config::Request {
            type_name: ty.to_owned(),
            config: self.send(config, &kind.ty)?,
        };
        let answer: pb::validate_data_resource_config::Response = self
            .session
            .call(Rpc::ValidateDataResourceConfig, request)
            .await?;
        from_diagnostics(answer.diagnostics).into_result()
    }

    async fn upgrade(
        &self,
        ty: &str,
        stored: RawState,
    ) -> Result<(Value, Diagnostics), Diagnostics> {
        self.upgrade_resource(ty, stored).await
    }

    async fn upgrade_identity(
        &self,
        ty: &str,
        stored: RawState,
    ) -> Result<(Identity, Diagnostics), Diagnostics> {
        self.upgrade_resource_identity(ty, stored).await
    }

    async fn move_state(&self, request: MoveRequest<'_>) -> Result<Moved, Diagnostics> {
        self.move_resource(request).await
    }

    async fn read(&self, request: ReadRequest<'_>) -> Result<ReadResponse, Diagnostics> {
        self.read_resource(request).await
    }

    async fn plan(&self, request: PlanRequest<'_>) -> PlanResponse {
        self.plan_resource(request)
            .await
            .unwrap_or_else(|diagnostics| PlanResponse {
                planned: None,
                requires_replace: Vec::new(),
                private: Vec::new(),
                identity: None,
                legacy: false,
                diagnostics,
            })
    }

    async fn apply(&self, request: ApplyRequest<'_>) -> ApplyResponse {
        self.apply_resource(request)
            .await
            .unwrap_or_else(|diagnostics| ApplyResponse {
                new: None,
                private: Vec::new(),
                identity: None,
                legacy: false,
                call_failed: true,
                diagnostics,
            })
    }

    async fn read_data(
        &self,
        ty: &str,
        config: &Value,
    ) -> Result<(Value, Diagnostics), Diagnostics> {
        let (_, kind) = self.data_source(ty)?;
        let request = pb::read_data_source::Request {
            type_name: ty.to_owned(),
            config: self.send(config, &kind.ty)?,
            provider_meta: self.meta(),
            client_capabilities: CAPABILITIES,
        };
        let answer: pb::read_data_source::Response =
            self.session.call(Rpc::ReadDataSource, request).await?;
        let warnings = self
            .diagnostics(answer.diagnostics, answer.deferred)
            .into_result()?;
        let value = self.receive(answer.state, &kind.ty, "Provider produced invalid object")?;
        if value.is_null() {
            let what = format!("data source {ty} gave no object");
            return Err(self.fault("Provider produced null object", &what).into());
        }
        if !value.is_wholly_known() {
            let what = format!("data source {ty} gave an object with unknown values");
            return Err(self.fault("Provider produced invalid object", &what).into());
        }
        Ok((value, warnings))
    }

    async fn validate_ephemeral(
        &self,
        ty: &str,
        config: &Value,
    ) -> Result<Diagnostics, Diagnostics> {
        self.validate_ephemeral_resource(ty, config).await
    }

    async fn open(&self, ty: &str, config: &Value) -> Result<(Opened, Diagnostics), Diagnostics> {
        self.open_ephemeral(ty, config).await
    }

    async fn renew(&self, ty: &str, lease: &Lease) -> Result<(Lease, Diagnostics), Diagnostics> {
        self.renew_ephemeral(ty, lease).await
    }

    async fn close(&self, ty: &str, lease: &Lease) -> Result<Diagnostics, Diagnostics> {
        self.close_ephemeral(ty, lease).await
    }

    async fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, Diagnostics> {
        self.call_function(function, arguments).await
    }

    async fn import(
        &self,
        request: ImportRequest<'_>,
    ) -> Result<(Vec<Imported>, Diagnostics), Diagnostics> {
        self.import_resource(request).await
    }

    async fn stop(&self) {
        let request = pb::stop_provider::Request {};
        // Asking is all that can be done; a failure changes nothing.
        let _: Result<pb::stop_provider::Response, _> =
            self.session.call(Rpc::StopProvider, request).await;
    }

    async fn shutdown(&self) {
        self.session.end().await;
    }
}
