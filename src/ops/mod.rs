//! One function per thing a user can ask for.

pub mod apply;
pub mod backend;
pub mod builds;
mod checks;
pub mod document;
pub mod import;
pub mod output;
pub mod plan;
pub mod providers;
mod reason;
mod refresh;
pub mod saved;
pub mod stack;
pub mod state;
mod unchanged;
pub mod validate;
