//! The MessagePack form of values, the one providers are spoken to in.

mod decode;
mod encode;
mod reader;
mod refinement;
mod writer;

pub use decode::decode;
pub use encode::encode;
