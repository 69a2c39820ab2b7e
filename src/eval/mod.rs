//! Evaluate in phases until the outputs ledger adds nothing.

mod fixpoint;
pub mod vars;
pub mod ledger;

pub use fixpoint::{Evaluate, Phases, Stuck};
