//! A directed acyclic graph and a bounded parallel walk over it.

mod dag;
mod walk;

pub use dag::{Cycle, Dag, NodeId};
pub use walk::{Frontier, Skipped, Walked, walk};
