//! Carry out a plan step by step.

pub mod adopted;
pub mod applied;
pub mod event;
pub mod executor;
mod depth;
mod judge;
mod later;
pub mod object;
mod prepare;
mod record;
pub mod refreshed;
pub mod step;
mod work;
