//! One function per thing a user can ask for.

pub mod apply;
pub mod builds;
pub mod document;
pub mod output;
pub mod plan;
pub mod stack;
pub mod unsupported;
pub mod validate;
