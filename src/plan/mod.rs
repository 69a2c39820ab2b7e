//! From configuration and state to changes and the order to carry them out in.

mod action;
mod check;
mod compatible;
mod correlate;
pub mod data;
pub mod ephemeral;
mod ignore;
pub mod instance;
pub mod memo;
mod nodes;
pub mod order;
pub mod outputs;
mod parts;
mod plan;
pub mod prior;
mod propose;
pub mod providers;
pub mod removal;
mod replace;
pub mod resolve;
pub mod stack;
mod three;
mod violation;

pub use action::Action;
pub use check::{PlanCheck, check_plan};
pub use compatible::{CompatibilityCheck, check_compatible};
pub use ignore::{ignore_changes, ignore_planned};
pub use nodes::fitted;
pub use plan::{Change, ChangeTarget, DataRead, DeposedChange, Drift, Plan, Reason};
pub use propose::{planned_unknown, propose};
pub use replace::{Decision, decide, effective_replacements, replacement};
pub use violation::Violation;
