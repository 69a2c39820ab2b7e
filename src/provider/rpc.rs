//! The calls of the provider service: where each is found in either protocol, and how it is made.
//!
//! Apart from schemas the messages of protocols 5 and 6 are the same on the wire, so there is one client, on the
//! messages of protocol 6, and a table of paths.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::uri::PathAndQuery;
use prost::Message;
use tonic::client::Grpc;
use tonic::transport::Channel;
use tonic::{Request, Status};
use tonic_prost::ProstCodec;

use crate::fs::fault;

/// Largest message either way: what gRPC itself can carry. Schemas of large providers have tens of megabytes.
const MAX_MESSAGE: usize = (1 << 31) - 1;

/// A major version of the provider protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Package `tfplugin5`.
    V5,
    /// Package `tfplugin6`.
    V6,
}

impl Protocol {
    /// The protocols offered to plugins, as `PLUGIN_PROTOCOL_VERSIONS` lists them.
    pub(super) const OFFER: &'static str = "5,6";

    /// The protocol of that number in decimal text.
    pub(super) fn from_number(number: &str) -> Option<Self> {
        match number {
            "5" => Some(Self::V5),
            "6" => Some(Self::V6),
            _ => None,
        }
    }
}

/// Declares [`Rpc`] from a table: name of the call in protocol 6, and in protocol 5.
macro_rules! rpcs {
    ($($v6:ident / $v5:ident,)*) => {
        /// A call of the provider service, by its name in protocol 6.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Rpc {
            $($v6,)*
        }

        impl Rpc {
            /// All of them, in the order of their numbers.
            const ALL: &'static [Self] = &[$(Self::$v6,)*];

            /// Its name in protocol 6.
            pub(super) fn name(self) -> &'static str {
                match self {
                    $(Self::$v6 => stringify!($v6),)*
                }
            }

            /// Its path in a protocol.
            fn path(self, protocol: Protocol) -> &'static str {
                match (protocol, self) {
                    $((Protocol::V5, Self::$v6) => {
                        concat!("/tfplugin5.Provider/", stringify!($v5))
                    })*
                    $((Protocol::V6, Self::$v6) => {
                        concat!("/tfplugin6.Provider/", stringify!($v6))
                    })*
                }
            }
        }
    };
}

rpcs! {
    GetProviderSchema / GetSchema,
    GetResourceIdentitySchemas / GetResourceIdentitySchemas,
    ValidateProviderConfig / PrepareProviderConfig,
    ConfigureProvider / Configure,
    ValidateResourceConfig / ValidateResourceTypeConfig,
    ValidateDataResourceConfig / ValidateDataSourceConfig,
    UpgradeResourceState / UpgradeResourceState,
    UpgradeResourceIdentity / UpgradeResourceIdentity,
    ReadResource / ReadResource,
    PlanResourceChange / PlanResourceChange,
    ApplyResourceChange / ApplyResourceChange,
    ImportResourceState / ImportResourceState,
    MoveResourceState / MoveResourceState,
    ReadDataSource / ReadDataSource,
    ValidateEphemeralResourceConfig / ValidateEphemeralResourceConfig,
    OpenEphemeralResource / OpenEphemeralResource,
    RenewEphemeralResource / RenewEphemeralResource,
    CloseEphemeralResource / CloseEphemeralResource,
    CallFunction / CallFunction,
    StopProvider / Stop,
}

/// How often each call was made, over all processes that share it.
#[derive(Debug)]
pub struct CallCounts(Box<[AtomicU64]>);

impl Default for CallCounts {
    fn default() -> Self {
        Self(Rpc::ALL.iter().map(|_| AtomicU64::new(0)).collect())
    }
}

impl CallCounts {
    /// Number of calls so far by the name of the call in protocol 6; calls never made are left out.
    pub fn by_name(&self) -> BTreeMap<&'static str, u64> {
        Rpc::ALL
            .iter()
            .map(|rpc| (rpc.name(), self.0[*rpc as usize].load(Ordering::Relaxed)))
            .filter(|(_, n)| *n > 0)
            .collect()
    }

    fn count(&self, rpc: Rpc) {
        self.0[rpc as usize].fetch_add(1, Ordering::Relaxed);
    }
}

/// Makes calls to one provider process.
pub(super) struct Client {
    grpc: Grpc<Channel>,
    protocol: Protocol,
    counts: Arc<CallCounts>,
}

impl Client {
    pub(super) fn new(channel: Channel, protocol: Protocol, counts: Arc<CallCounts>) -> Self {
        Self {
            grpc: connection(channel),
            protocol,
            counts,
        }
    }

    pub(super) fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// One call. There is no time limit: some changes take hours.
    pub(super) async fn call<M, R>(&self, rpc: Rpc, message: M) -> Result<R, Status>
    where
        M: Message + 'static,
        R: Message + Default + 'static,
    {
        self.counts.count(rpc);
        // Only signals come here: that calls fail is up to a provider of the tests.
        let disturb = |when| drop(fault::point(when, || rpc.name().to_owned()));
        disturb("send");
        let answer = unary(self.grpc.clone(), rpc.path(self.protocol), message).await;
        disturb("answered");
        answer
    }
}

/// A gRPC client without the usual limits on message sizes.
pub(super) fn connection(channel: Channel) -> Grpc<Channel> {
    Grpc::new(channel)
        .max_decoding_message_size(MAX_MESSAGE)
        .max_encoding_message_size(MAX_MESSAGE)
}

/// One call of any service: a message there, a message back.
pub(super) async fn unary<M, R>(
    mut grpc: Grpc<Channel>,
    path: &'static str,
    message: M,
) -> Result<R, Status>
where
    M: Message + 'static,
    R: Message + Default + 'static,
{
    grpc.ready()
        .await
        .map_err(|e| Status::from_error(e.into()))?;
    let path = PathAndQuery::from_static(path);
    let answer = grpc
        .unary(Request::new(message), path, ProstCodec::new())
        .await?;
    Ok(answer.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_calls_are_named_differently_in_protocol_5() {
        let differ: Vec<_> = Rpc::ALL
            .iter()
            .map(|rpc| (rpc.path(Protocol::V5), rpc.path(Protocol::V6)))
            .filter(|(v5, v6)| v5.replace("tfplugin5", "tfplugin6") != **v6)
            .collect();
        assert_eq!(
            differ,
            [
                (
                    "/tfplugin5.Provider/GetSchema",
                    "/tfplugin6.Provider/GetProviderSchema"
                ),
                (
                    "/tfplugin5.Provider/PrepareProviderConfig",
                    "/tfplugin6.Provider/ValidateProviderConfig"
                ),
                (
                    "/tfplugin5.Provider/Configure",
                    "/tfplugin6.Provider/ConfigureProvider"
                ),
                (
                    "/tfplugin5.Provider/ValidateResourceTypeConfig",
                    "/tfplugin6.Provider/ValidateResourceConfig"
                ),
                (
                    "/tfplugin5.Provider/ValidateDataSourceConfig",
                    "/tfplugin6.Provider/ValidateDataResourceConfig"
                ),
                (
                    "/tfplugin5.Provider/Stop",
                    "/tfplugin6.Provider/StopProvider"
                ),
            ]
        );
    }

    #[test]
    fn counts_by_name() {
        let counts = CallCounts::default();
        counts.count(Rpc::ReadResource);
        counts.count(Rpc::ReadResource);
        counts.count(Rpc::StopProvider);
        assert_eq!(
            counts.by_name(),
            BTreeMap::from([("ReadResource", 2), ("StopProvider", 1)])
        );
    }
}
