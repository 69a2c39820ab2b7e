//! The conversation with one provider process: calls, and what their failure means.

use std::sync::Arc;

use prost::Message;
use tonic::{Code, Status};

use super::convert::from_diagnostics;
use super::launch::Launch;
use super::plugin::Process;
use super::proto::tfplugin6 as pb;
use super::rpc::{CallCounts, Client, Rpc};
use super::told::{Response, Told};
use crate::diagnostic::{Diagnostic, Diagnostics};

/// A provider process and the client that calls it.
pub(super) struct Session {
    /// What messages call the provider.
    pub(super) name: String,
    process: Process,
    client: Client,
}

impl Session {
    /// Starts the process.
    pub(super) async fn start(
        launch: &Launch,
        name: &str,
        counts: Arc<CallCounts>,
    ) -> Result<Self, Diagnostics> {
        let process = Process::start(launch, name).await.map_err(|e| Diagnostic {
            hint: e.hint().map(str::to_owned),
            ..Diagnostic::error(format!("Cannot start provider {name}")).detail(e.to_string())
        })?;
        Ok(Self {
            name: name.to_owned(),
            client: Client::new(process.channel.clone(), process.protocol, counts),
            process,
        })
    }

    /// Ends the process.
    pub(super) async fn end(&self) {
        self.process.shutdown().await;
    }

    /// One call. A failure of the call itself, as opposed to the operation, is an error of its own.
    pub(super) async fn call<M, R>(&self, rpc: Rpc, message: M) -> Result<R, Diagnostics>
    where
        M: Message + 'static,
        R: Message + Default + 'static,
    {
        match self.client.call(rpc, message).await {
            Ok(answer) => Ok(answer),
            Err(status) => Err(self.failure(rpc, &status).await.into()),
        }
    }

    /// What the provider says about itself.
    pub(super) async fn ask(&self) -> Result<Told, Diagnostics> {
        // The request is empty in both protocols.
        let request = pb::get_provider_schema::Request {};
        let mut schema: Response = self.call(Rpc::GetProviderSchema, request).await?;
        from_diagnostics(std::mem::take(&mut schema.diagnostics)).into_result()?;
        let rpc = Rpc::GetResourceIdentitySchemas;
        let request = pb::get_resource_identity_schemas::Request {};
        let identities = match self.client.call(rpc, request).await {
            Ok(identities) => identities,
            Err(status) if status.code() == Code::Unimplemented => {
                pb::get_resource_identity_schemas::Response::default()
            }
            Err(status) => return Err(self.failure(rpc, &status).await.into()),
        };
        Ok(Told::new(self.client.protocol(), schema, identities))
    }

    async fn failure(&self, rpc: Rpc, status: &Status) -> Diagnostic {
        use std::error::Error as _;
        let (name, rpc) = (&self.name, rpc.name());
        // A status with a source was made on our side: the connection is gone.
        if status.code() == Code::Unavailable || status.source().is_some() {
            return self.crash(rpc, status).await;
        }
        let message = status.message();
        let (summary, detail) = match status.code() {
            Code::Cancelled => (
                "Request cancelled",
                format!("the {rpc} request to provider {name} was cancelled"),
            ),
            Code::Unimplemented => (
                "Unsupported plugin method",
                format!("provider {name} does not support the {rpc} operation"),
            ),
            code => (
                "Plugin error",
                format!("provider {name} failed in {rpc}: {code:?}: {message}"),
            ),
        };
        Diagnostic::error(summary).detail(detail)
    }

    async fn crash(&self, rpc: &str, status: &Status) -> Diagnostic {
        let name = &self.name;
        let mut detail = if let Some(exit) = self.process.exit_status().await {
            format!("provider {name} ended ({exit}) and did not answer {rpc}")
        } else {
            let message = status.message();
            format!("the connection to provider {name} broke in {rpc}: {message}")
        };
        let words = self.process.last_words().await;
        if !words.is_empty() {
            detail.push_str("; it printed:\n");
            detail.push_str(&words.join("\n"));
        }
        Diagnostic::error("Plugin did not respond").detail(detail)
    }
}
