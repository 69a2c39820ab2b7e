//! What we made last time: model, file format, journal, locks, backends.

mod state;

pub use state::{Object, OutputValue, ResourceState, State, Status};
