//! The JSON forms of values: the typed one of state files and provider messages, and the plain one people read.

mod decode;
mod encode;
mod reader;
mod untyped;

pub use decode::from_json;
pub use encode::to_json;
pub(super) use encode::write_string;
