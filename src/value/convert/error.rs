//! Why a value does not convert.

use crate::value::error::At;
use crate::value::{Path, Step, Type};

/// A value that does not convert to the wanted type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{kind}", At(path))]
pub struct ConvertError {
    /// The part it is about.
    pub path: Path,
    /// What is wrong.
    pub kind: ConvertErrorKind,
}

/// Why a value does not convert. Values may be secrets and are not repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertErrorKind {
    /// There is no conversion between the types.
    #[error("{expected} required, but the value is {found}")]
    Mismatch {
        /// The wanted type, as text.
        expected: String,
        /// The value's type, as text.
        found: String,
    },
    /// Text that spells no number.
    #[error("a number is required, but the text is not one")]
    NotANumber,
    /// Text that spells no truth value.
    #[error("a bool is required, but the text is neither \"true\" nor \"false\"")]
    NotABool,
    /// An attribute the wanted type requires.
    #[error("attribute {0:?} is required")]
    MissingAttribute(String),
    /// Elements that have no type in common.
    #[error("all elements must have the same type")]
    MixedElements,
    /// Nesting beyond [`MAX_DEPTH`](crate::value::MAX_DEPTH).
    #[error("the value is nested too deeply")]
    TooDeep,
}

impl ConvertError {
    /// The same error seen from one step further out.
    pub(super) fn inside(mut self, step: Step) -> Self {
        self.path.0.insert(0, step);
        self
    }
}

impl From<ConvertErrorKind> for ConvertError {
    fn from(kind: ConvertErrorKind) -> Self {
        let path = Path::root();
        Self { path, kind }
    }
}

pub(super) fn mismatch(found: &Type, expected: &Type) -> ConvertError {
    ConvertErrorKind::Mismatch {
        expected: expected.to_string(),
        found: found.to_string(),
    }
    .into()
}
