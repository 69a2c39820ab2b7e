//! The calls of the provider service, by path, for protocols 5 and 6 alike.
//!
//! A server is written against protocol 6. Protocol 5 has other names for some calls and another form of schema; the
//! rest of its messages is the same byte for byte.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use tokio::sync::Notify;
use tonic::body::Body;
use tonic::codegen::{Body as HttpBody, StdError};
use tonic::server::Grpc;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

use super::protocol5;
use crate::provider::proto::health::health_check_response::ServingStatus;
use crate::provider::proto::health::{HealthCheckRequest, HealthCheckResponse};
use crate::provider::proto::plugin::{Empty, StdioData};
use crate::provider::proto::tfplugin6 as v6;

/// Greatest message accepted or sent, in bytes.
const MAX_MESSAGE: usize = 256 << 20;

/// A provider, as the protocol sees it. A call that is not overridden is answered as unimplemented.
///
/// `Err` fails the call itself; problems of the provider belong in the diagnostics of its answer.
#[async_trait]
#[expect(missing_docs, reason = "each method is the call of its name")]
pub trait ProviderServer: Send + Sync + 'static {
    async fn get_provider_schema(
        &self,
        _: v6::get_provider_schema::Request,
    ) -> Result<v6::get_provider_schema::Response, Status> {
        Err(unimplemented())
    }

    async fn get_resource_identity_schemas(
        &self,
        _: v6::get_resource_identity_schemas::Request,
    ) -> Result<v6::get_resource_identity_schemas::Response, Status> {
        Err(unimplemented())
    }

    async fn validate_provider_config(
        &self,
        _: v6::validate_provider_config::Request,
    ) -> Result<v6::validate_provider_config::Response, Status> {
        Err(unimplemented())
    }

    async fn configure_provider(
        &self,
        _: v6::configure_provider::Request,
    ) -> Result<v6::configure_provider::Response, Status> {
        Err(unimplemented())
    }

    async fn validate_resource_config(
        &self,
        _: v6::validate_resource_config::Request,
    ) -> Result<v6::validate_resource_config::Response, Status> {
        Err(unimplemented())
    }

    async fn validate_data_resource_config(
        &self,
        _: v6::validate_data_resource_config::Request,
    ) -> Result<v6::validate_data_resource_config::Response, Status> {
        Err(unimplemented())
    }

    async fn upgrade_resource_state(
        &self,
        _: v6::upgrade_resource_state::Request,
    ) -> Result<v6::upgrade_resource_state::Response, Status> {
        Err(unimplemented())
    }

    async fn upgrade_resource_identity(
        &self,
        _: v6::upgrade_resource_identity::Request,
    ) -> Result<v6::upgrade_resource_identity::Response, Status> {
        Err(unimplemented())
    }

    async fn read_resource(
        &self,
        _: v6::read_resource::Request,
    ) -> Result<v6::read_resource::Response, Status> {
        Err(unimplemented())
    }

    async fn plan_resource_change(
        &self,
        _: v6::plan_resource_change::Request,
    ) -> Result<v6::plan_resource_change::Response, Status> {
        Err(unimplemented())
    }

    async fn apply_resource_change(
        &self,
        _: v6::apply_resource_change::Request,
    ) -> Result<v6::apply_resource_change::Response, Status> {
        Err(unimplemented())
    }

    async fn import_resource_state(
        &self,
        _: v6::import_resource_state::Request,
    ) -> Result<v6::import_resource_state::Response, Status> {
        Err(unimplemented())
    }

    async fn move_resource_state(
        &self,
        _: v6::move_resource_state::Request,
    ) -> Result<v6::move_resource_state::Response, Status> {
        Err(unimplemented())
    }

    async fn read_data_source(
        &self,
        _: v6::read_data_source::Request,
    ) -> Result<v6::read_data_source::Response, Status> {
        Err(unimplemented())
    }

    async fn validate_ephemeral_resource_config(
        &self,
        _: v6::validate_ephemeral_resource_config::Request,
    ) -> Result<v6::validate_ephemeral_resource_config::Response, Status> {
        Err(unimplemented())
    }

    async fn open_ephemeral_resource(
        &self,
        _: v6::open_ephemeral_resource::Request,
    ) -> Result<v6::open_ephemeral_resource::Response, Status> {
        Err(unimplemented())
    }

    async fn renew_ephemeral_resource(
        &self,
        _: v6::renew_ephemeral_resource::Request,
    ) -> Result<v6::renew_ephemeral_resource::Response, Status> {
        Err(unimplemented())
    }

    async fn close_ephemeral_resource(
        &self,
        _: v6::close_ephemeral_resource::Request,
    ) -> Result<v6::close_ephemeral_resource::Response, Status> {
        Err(unimplemented())
    }

    async fn call_function(
        &self,
        _: v6::call_function::Request,
    ) -> Result<v6::call_function::Response, Status> {
        Err(unimplemented())
    }

    async fn stop_provider(
        &self,
        _: v6::stop_provider::Request,
    ) -> Result<v6::stop_provider::Response, Status> {
        Ok(v6::stop_provider::Response::default())
    }
}

fn unimplemented() -> Status {
    Status::unimplemented("this provider does not offer the call")
}

/// Answers the requests of one plugin process; cheap to clone.
pub(super) struct Router<P> {
    server: Arc<P>,
    shutdown: Arc<Notify>,
}

impl<P> Clone for Router<P> {
    fn clone(&self) -> Self {
        Self {
            server: self.server.clone(),
            shutdown: self.shutdown.clone(),
        }
    }
}

impl<P: ProviderServer> Router<P> {
    /// Routes to `server`; notifies `shutdown` when the host asks the plugin to end.
    pub(super) fn new(server: P, shutdown: Arc<Notify>) -> Self {
        Self {
            server: Arc::new(server),
            shutdown,
        }
    }

    /// Answers one request.
    pub(super) async fn answer<B>(self, request: http::Request<B>) -> http::Response<Body>
    where
        B: HttpBody + Send + 'static,
        B::Error: Into<StdError> + Send,
    {
        let path = request.uri().path().to_owned();
        match path.trim_start_matches('/').split_once('/') {
            Some(("tfplugin6.Provider", method)) => self.provider(method, request).await,
            Some(("tfplugin5.Provider", "GetSchema")) => {
                let server = &self.server;
                unary(request, |m| {
                    Box::pin(
                        async move { protocol5::schemas(server.get_provider_schema(m).await?) },
                    )
                })
                .await
            }
            Some(("tfplugin5.Provider", method)) => {
                self.provider(protocol5::method(method), request).await
            }
            Some(("plugin.GRPCController", "Shutdown")) => {
                let answer = unary(request, |_: Empty| Box::pin(async { Ok(Empty {}) })).await;
                self.shutdown.notify_one();
                answer
            }
            Some(("plugin.GRPCStdio", "StreamStdio")) => quiet_stream(request).await,
            Some(("grpc.health.v1.Health", "Check")) => {
                unary(request, |_: HealthCheckRequest| {
                    let status = ServingStatus::Serving.into();
                    Box::pin(async move { Ok(HealthCheckResponse { status }) })
                })
                .await
            }
            _ => unimplemented().into_http(),
        }
    }

    async fn provider<B>(&self, method: &str, request: http::Request<B>) -> http::Response<Body>
    where
        B: HttpBody + Send + 'static,
        B::Error: Into<StdError> + Send,
    {
        let s = &self.server;
        match method {
            "GetProviderSchema" => unary(request, |m| s.get_provider_schema(m)).await,
            "GetResourceIdentitySchemas" => {
                unary(request, |m| s.get_resource_identity_schemas(m)).await
            }
            "ValidateProviderConfig" => unary(request, |m| s.validate_provider_config(m)).await,
            "ConfigureProvider" => unary(request, |m| s.configure_provider(m)).await,
            "ValidateResourceConfig" => unary(request, |m| s.validate_resource_config(m)).await,
            "ValidateDataResourceConfig" => {
                unary(request, |m| s.validate_data_resource_config(m)).await
            }
            "UpgradeResourceState" => unary(request, |m| s.upgrade_resource_state(m)).await,
            "UpgradeResourceIdentity" => unary(request, |m| s.upgrade_resource_identity(m)).await,
            "ReadResource" => unary(request, |m| s.read_resource(m)).await,
            "PlanResourceChange" => unary(request, |m| s.plan_resource_change(m)).await,
            "ApplyResourceChange" => unary(request, |m| s.apply_resource_change(m)).await,
            "ImportResourceState" => unary(request, |m| s.import_resource_state(m)).await,
            "MoveResourceState" => unary(request, |m| s.move_resource_state(m)).await,
            "ReadDataSource" => unary(request, |m| s.read_data_source(m)).await,
            "ValidateEphemeralResourceConfig" => {
                unary(request, |m| s.validate_ephemeral_resource_config(m)).await
            }
            "OpenEphemeralResource" => unary(request, |m| s.open_ephemeral_resource(m)).await,
            "RenewEphemeralResource" => unary(request, |m| s.renew_ephemeral_resource(m)).await,
            "CloseEphemeralResource" => unary(request, |m| s.close_ephemeral_resource(m)).await,
            "CallFunction" => unary(request, |m| s.call_function(m)).await,
            "StopProvider" => unary(request, |m| s.stop_provider(m)).await,
            _ => unimplemented().into_http(),
        }
    }
}

/// Decodes the request, calls, encodes the answer.
async fn unary<'a, Q, A, B>(
    request: http::Request<B>,
    call: impl Fn(Q) -> BoxFuture<'a, Result<A, Status>>,
) -> http::Response<Body>
where
    Q: prost::Message + Default + 'static,
    A: prost::Message + 'static,
    B: HttpBody + Send + 'static,
    B::Error: Into<StdError> + Send,
{
    let service = tower::service_fn(|request: Request<Q>| {
        let answer = call(request.into_inner());
        async { answer.await.map(Response::new) }
    });
    Grpc::new(ProstCodec::<A, Q>::default())
        .max_decoding_message_size(MAX_MESSAGE)
        .max_encoding_message_size(MAX_MESSAGE)
        .unary(service, request)
        .await
}

/// Captured output: there never is any, but the stream stays open.
async fn quiet_stream<B>(request: http::Request<B>) -> http::Response<Body>
where
    B: HttpBody + Send + 'static,
    B::Error: Into<StdError> + Send,
{
    let service = tower::service_fn(|_: Request<()>| async {
        Ok(Response::new(tokio_stream::pending::<
            Result<StdioData, Status>,
        >()))
    });
    Grpc::new(ProstCodec::<StdioData, ()>::default())
        .server_streaming(service, request)
        .await
}
