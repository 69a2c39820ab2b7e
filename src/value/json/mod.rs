//! The JSON forms of values: the typed one of state files and provider messages, and the plain one people read.

mod decode;
mod encode;
mod reader;
mod untyped;

pub use decode::from_json;
pub use encode::to_json;
pub(super) use encode::write_string;

/// A table of bytes: control characters and these.
const fn control_or(mut others: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut control = 0;
    while control < 0x20 {
        table[control] = true;
        control += 1;
    }
    while let [byte, rest @ ..] = others {
        table[*byte as usize] = true;
        others = rest;
    }
    table
}
