//! What a provider says about itself, as it said it: schemas stay encoded until one is needed.
//!
//! Large providers tell tens of megabytes of schemas, of which a stack uses a handful. The messages here have the numbers of
//! the protocol, but hold schemas as bytes that share the memory of the answer.

use std::collections::BTreeMap;

use bytes::Bytes;
use prost::{DecodeError, Message};

use super::proto::{tfplugin5 as v5, tfplugin6 as pb};
use super::rpc::Protocol;
use super::schema_v5;

/// Everything that was told.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Told {
    /// Whether the schemas are those of protocol 5.
    #[prost(bool, tag = "1")]
    old: bool,
    #[prost(message, required, tag = "2")]
    pub(super) schema: Response,
    #[prost(message, required, tag = "3")]
    pub(super) identities: pb::get_resource_identity_schemas::Response,
}

/// `GetProviderSchema.Response` of both protocols.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Response {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub(super) provider: Option<Bytes>,
    #[prost(bytes = "bytes", repeated, tag = "2")]
    pub(super) resources: Vec<Bytes>,
    #[prost(bytes = "bytes", repeated, tag = "3")]
    pub(super) data_sources: Vec<Bytes>,
    #[prost(message, repeated, tag = "4")]
    pub(super) diagnostics: Vec<pb::Diagnostic>,
    #[prost(bytes = "bytes", optional, tag = "5")]
    pub(super) provider_meta: Option<Bytes>,
    #[prost(message, optional, tag = "6")]
    pub(super) server_capabilities: Option<pb::ServerCapabilities>,
    #[prost(btree_map = "string, message", tag = "7")]
    pub(super) functions: BTreeMap<String, pb::Function>,
    #[prost(bytes = "bytes", repeated, tag = "8")]
    pub(super) ephemeral_resources: Vec<Bytes>,
}

/// An entry of a map of schemas.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Entry {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub(super) schema: Bytes,
}

impl Told {
    pub(super) fn new(
        protocol: Protocol,
        schema: Response,
        identities: pb::get_resource_identity_schemas::Response,
    ) -> Self {
        Self {
            old: protocol == Protocol::V5,
            schema,
            identities,
        }
    }

    /// How its schemas are decoded.
    pub(super) fn decoder(&self) -> fn(&[u8]) -> Result<pb::Schema, DecodeError> {
        if self.old {
            |bytes| v5::Schema::decode(bytes).map(schema_v5::schema)
        } else {
            |bytes| pb::Schema::decode(bytes)
        }
    }
}
