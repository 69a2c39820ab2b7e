//! What a provider can say: types, values, paths, unknowns; JSON and MessagePack codecs.

mod text;
mod decimal;
mod number;
mod path;
mod mark;
mod ty;
mod type_json;
mod conform;
mod unknown;
mod entries;
mod value;
mod set;
mod equality;
mod transform;
mod error;
pub mod msgpack;
pub mod json;
mod convert;

pub use convert::{ConvertError, ConvertErrorKind, convert, unify};
pub use decimal::MAX_DIGITS;
pub use entries::Entries;
pub use error::{DecodeError, DecodeErrorKind, EncodeError, EncodeErrorKind};
pub use mark::PathSet;
pub use number::{Number, ParseNumberError};
pub use path::{Lookup, Path, Step};
pub use text::Str;
pub use ty::{ObjectType, Type};
pub use type_json::ParseTypeError;
pub use unknown::{Bound, Refinement, Unknown};
pub use value::{MapValue, Sequence, Value};

/// Values and types nested deeper than this are refused, so that no input can exhaust the stack.
pub const MAX_DEPTH: usize = 256;
