//! Conversion of values to the types a schema asks for.

mod collection;
mod convert;
mod error;
mod possible;
mod unify;
mod unknown;

pub use convert::convert;
pub use error::{ConvertError, ConvertErrorKind};
pub use unify::unify;
