//! Errors of the codecs, each with the place it is about.

use std::fmt;

use super::{ParseNumberError, ParseTypeError, Path, Step};

/// A value that cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{kind}", At(path))]
pub struct EncodeError {
    /// The part it is about.
    pub path: Path,
    /// What is wrong.
    pub kind: EncodeErrorKind,
}

/// Why a value cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeErrorKind {
    /// The value does not have the type it is to be written as.
    #[error("{expected} required, but the value is {found}")]
    Mismatch {
        /// The wanted type, as text.
        expected: String,
        /// The value's type, as text.
        found: String,
    },
    /// The format has no form for unknown values.
    #[error("the value is not known yet")]
    Unknown,
    /// The format has no form for infinities.
    #[error("an infinite number has no JSON form")]
    Infinite,
    /// Nesting beyond [`MAX_DEPTH`](super::MAX_DEPTH).
    #[error("the value is nested too deeply")]
    TooDeep,
}

/// Bytes that are not a value of the wanted type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{kind}", At(path))]
pub struct DecodeError {
    /// The part it is about.
    pub path: Path,
    /// What is wrong.
    pub kind: DecodeErrorKind,
}

/// Why bytes are not a value of the wanted type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeErrorKind {
    /// Not the kind of thing the type asks for.
    #[error("{expected} required, but found {found}")]
    Mismatch {
        /// The wanted type, as text.
        expected: String,
        /// What was there, as text.
        found: String,
    },
    /// An object with a wrong number of attributes.
    #[error("an object with {expected} attributes is required ({found} given)")]
    AttributeCount {
        /// The number the type has.
        expected: usize,
        /// The number found.
        found: usize,
    },
    /// An attribute the object type does not have, or one given twice.
    #[error("unsupported attribute {0:?}")]
    UnsupportedAttribute(String),
    /// A tuple of wrong length.
    #[error("a tuple of {expected} elements is required ({found} given)")]
    TupleLength {
        /// The number the type has.
        expected: usize,
        /// The number found.
        found: usize,
    },
    /// Elements of one collection that differ in type.
    #[error("all elements must have the same type")]
    MixedElements,
    /// Not a number, or an absurd one.
    #[error(transparent)]
    Number(#[from] ParseNumberError),
    /// A float that is not a number.
    #[error("NaN is not a value")]
    NotANumber,
    /// The type beside a dynamic value is none.
    #[error("the type of a dynamic value is not valid: {0}")]
    Type(#[from] ParseTypeError),
    /// A dynamic value lacks its type or its value, or has more.
    #[error("a dynamic value must have exactly a type and a value")]
    Dynamic,
    /// A refinement of an unknown value that does not fit its type or itself.
    #[error("invalid refinement of an unknown value: {0}")]
    Refinement(&'static str),
    /// The input ends inside the value.
    #[error("unexpected end of input")]
    Truncated,
    /// Not JSON.
    #[error("not valid JSON: {0}")]
    Syntax(String),
    /// Nesting beyond [`MAX_DEPTH`](super::MAX_DEPTH).
    #[error("the value is nested too deeply")]
    TooDeep,
}

impl EncodeError {
    /// The same error seen from one step further out.
    pub(super) fn inside(mut self, step: Step) -> Self {
        self.path.0.insert(0, step);
        self
    }
}

impl DecodeError {
    /// The same error seen from one step further out. Decoders pass errors boxed, which keeps their results small.
    pub(super) fn inside(mut self: Box<Self>, step: Step) -> Box<Self> {
        self.path.0.insert(0, step);
        self
    }
}

impl From<EncodeErrorKind> for EncodeError {
    fn from(kind: EncodeErrorKind) -> Self {
        let path = Path::root();
        Self { path, kind }
    }
}

impl<K: Into<DecodeErrorKind>> From<K> for DecodeError {
    fn from(kind: K) -> Self {
        Self {
            path: Path::root(),
            kind: kind.into(),
        }
    }
}

impl<K: Into<DecodeErrorKind>> From<K> for Box<DecodeError> {
    fn from(kind: K) -> Self {
        Self::new(kind.into().into())
    }
}

/// A path in front of a message: nothing for the root.
pub(super) struct At<'a>(pub(super) &'a Path);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_root() {
            Ok(())
        } else {
            write!(f, "{}: ", self.0)
        }
    }
}
