//! Terraform-compatible JSON of plans, states and values.

mod change;
mod check;
mod configuration;
mod diagnostic;
mod event;
pub mod graph;
mod plan;
mod resource;
mod schema;
mod shape;
mod state;
#[cfg(test)]
pub(crate) mod testing;
mod text;
mod values;

pub use crate::schema::Nesting;
pub use change::{Change, Importing, ObjectChange, PathStep};
pub use check::{Checked, Subject, checks};
pub use configuration::{
    Configuration, ConfigurationInput, Lookup, ModuleConfig, OutputConfig, ProviderConfig,
    ResourceConfig,
};
pub use diagnostic::DiagnosticDoc;
pub use event::event_line;
pub use plan::{
    DeferredPart, Extras, PlanDoc, PlannedBuild, ResourceChange, VariableDoc, VariableValue,
};
pub use resource::{Mode, Named, ResourceName};
pub use schema::SchemasDoc;
pub use shape::{BlockShape, Shape};
pub use state::{Module, ObjectValues, OutputValues, ResourceValues, StateDoc, Values};
pub use text::{ParseError, parse, pretty};
pub use values::{known_json, redacted, sensitive_shadow, unknown_shadow};

/// The Terraform release that the formats correspond to; programs that read them look at it.
pub const TERRAFORM_VERSION: &str = "1.13.0";
