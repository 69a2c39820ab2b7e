//! What a provider can say: types, values, paths, unknowns; JSON and MessagePack codecs.

mod mark;
mod number;
mod path;
mod ty;
mod unknown;

mod value;

pub use mark::PathSet;
pub use number::{Number, ParseNumberError};
pub use path::{Path, Step};
pub use ty::{ObjectType, Type};
pub use unknown::{Bound, Refinement, Unknown};
pub use value::{Entries, MapValue, Sequence, Str, Value};
