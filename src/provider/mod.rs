//! The provider plugin: one interface over protocols 5 and 6, on our own types.

mod provider;

pub use provider::{
    ApplyRequest, ApplyResponse, Identity, ImportRequest, Imported, PlanRequest, PlanResponse,
    Provider, RawState, ReadRequest, ReadResponse,
};
