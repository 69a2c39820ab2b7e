//! Values not known yet, and what is known about them all the same (refinements).

use super::{Number, Str, Type, Value};

/// A value that will be known later.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unknown {
    /// The type it will have; `Dynamic` if even that is open.
    pub ty: Type,
    /// What is known about it; the default says nothing.
    pub refinement: Refinement,
}

/// Constraints on an unknown value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Refinement {
    /// It will not be null.
    pub not_null: bool,
    /// Strings: it starts so.
    pub prefix: Option<Str>,
    /// Numbers: lower bound.
    pub min: Option<Bound>,
    /// Numbers: upper bound.
    pub max: Option<Bound>,
    /// Collections: least number of elements.
    pub min_length: Option<u64>,
    /// Collections: greatest number of elements.
    pub max_length: Option<u64>,
}

/// One end of a range of numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bound {
    /// The limit.
    pub value: Number,
    /// Whether the limit itself is allowed.
    pub inclusive: bool,
}

impl Unknown {
    /// The unknown value of this type and refinement.
    pub fn into_value(self) -> Value {
        Value::Unknown(Box::new(self))
    }
}
