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

    /// The value: known after all where what is known leaves only one, else unknown.
    ///
    /// A list of known length is a known list of unknown elements, up to 1024 of them.
    pub fn decided(self) -> Value {
        self.only_value().unwrap_or_else(|| self.into_value())
    }

    fn only_value(&self) -> Option<Value> {
        /// A longer list stays unknown as a whole: it may be anything a few bytes claim.
        const MAX_EXPANDED: u64 = 1024;
        let Refinement {
            not_null: true,
            min,
            max,
            min_length,
            max_length,
            ..
        } = &self.refinement
        else {
            return None;
        };
        let unknowns = |element: &Type, n| vec![Value::unknown(element.clone()); n];
        let length = max_length
            .filter(|n| *n == min_length.unwrap_or(0) && *n <= MAX_EXPANDED)
            .and_then(|n| usize::try_from(n).ok());
        match (&self.ty, length) {
            (Type::Number, _) => match (min, max) {
                (Some(min), Some(max)) if min == max && min.inclusive => {
                    Some(Value::Number(min.value.clone()))
                }
                _ => None,
            },
            (Type::List(t), Some(n)) => Some(Value::list(Type::clone(t), unknowns(t, n))),
            (Type::Set(t), Some(n @ 0..=1)) => Some(Value::set(Type::clone(t), unknowns(t, n))),
            (Type::Map(t), Some(0)) => Some(Value::map::<&str>(Type::clone(t), [])),
            _ => None,
        }
    }
}
