//! The provider plugin: one interface over protocols 5 and 6, on our own types.

mod address;
mod cache;
mod calls;
mod catalog;
mod client;
mod connect;
mod convert;
mod handshake;
mod launch;
mod log;
mod open;
mod plugin;
mod pool;
pub mod proto;
mod provider;
mod reattach;
mod resource;
mod rpc;
mod schema;
mod schema_check;
mod schema_v5;
mod session;
mod source;
mod stderr;
mod stored;
pub(crate) mod tls;
mod told;
mod transient;
mod upgrade;
mod write_only;

pub use address::{ProviderAddress, provider_address};
pub use connect::ConnectError;
pub use handshake::{Address, Handshake, HandshakeError};
pub(crate) use launch::MAGIC_COOKIE;
pub use launch::{Launch, LaunchError};
pub use pool::Pool;
pub use reattach::{Reattach, ReattachError, Running};

pub use provider::{
    ApplyRequest, ApplyResponse, Identity, ImportRequest, Imported, Lease, MoveRequest, Moved,
    Opened, PlanRequest, PlanResponse, Provider, RawState, ReadRequest, ReadResponse,
};
pub use rpc::{CallCounts, Protocol};
pub use schema::SchemaError;
pub use source::{BUILTIN_ARGV0, Places, SourceError, resolve};
pub use tls::TlsError;
