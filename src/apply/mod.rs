//! Carry out a plan step by step.

pub mod adopted;
pub mod event;
pub mod executor;
mod judge;
pub mod object;
mod prepare;
mod record;
pub mod refreshed;
pub mod step;
mod work;
