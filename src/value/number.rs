//! Exact numbers: sign, decimal digits, exponent.
//!
//! Every number has one canonical form, so equality and hashing are structural. Integers of 64 bits, which are nearly
//! all numbers providers exchange, need no allocation.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use super::decimal::{Decimal, Invalid, MAX_DIGITS};

/// A decimal number of arbitrary precision, or an infinity. Never NaN; there is one zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Number(Repr);

/// `Decimal` is used only for what `Int` cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Repr {
    Int(i64),
    Decimal(Arc<Decimal>),
    Infinity { negative: bool },
}

/// The text is not a decimal number. The text itself may be a secret and is not repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseNumberError {
    /// Not sign, digits, fraction, exponent, and not an infinity.
    #[error("not a decimal number")]
    Syntax,
    /// Too large, too close to zero, or too many digits.
    #[error("a number with more than {MAX_DIGITS} digits is not supported")]
    TooManyDigits,
}

impl Number {
    /// Positive infinity.
    pub const INFINITY: Self = Self(Repr::Infinity { negative: false });
    /// Negative infinity.
    pub const NEG_INFINITY: Self = Self(Repr::Infinity { negative: true });

    /// The integer as a signed 64-bit number, if it is one.
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Int(n) => Some(n),
            Repr::Decimal(_) | Repr::Infinity { .. } => None,
        }
    }

    /// The integer as an unsigned 64-bit number, if it is one.
    pub fn as_u64(&self) -> Option<u64> {
        match &self.0 {
            Repr::Int(n) => u64::try_from(*n).ok(),
            Repr::Decimal(d) => d.to_u64(),
            Repr::Infinity { .. } => None,
        }
    }

    /// The nearest 64-bit float.
    pub fn to_f64(&self) -> f64 {
        match &self.0 {
            #[expect(clippy::cast_precision_loss, reason = "documented as nearest")]
            Repr::Int(n) => *n as f64,
            Repr::Decimal(d) => d.to_f64(),
            Repr::Infinity { negative: false } => f64::INFINITY,
            Repr::Infinity { negative: true } => f64::NEG_INFINITY,
        }
    }

    /// The float that is this very number, if there is one and the number is not an integer.
    pub(super) fn as_fraction_f64(&self) -> Option<f64> {
        let Repr::Decimal(d) = &self.0 else {
            return None;
        };
        let places = d.places();
        // A multiple of 2^-k that is no multiple of 2^-(k-1) has exactly k decimal places, and the last digit is a 5.
        if places == 0 || !d.ends_with_five() {
            return None;
        }
        let float = d.to_f64();
        (fraction_bits(float) == Some(places) && format!("{float:.places$}") == d.to_string())
            .then_some(float)
    }

    /// The number with the shortest decimal text that reads back as `f`; of two such the nearest, of two as near the
    /// one with an even last digit. `None` for NaN.
    pub fn from_f64(f: f64) -> Option<Self> {
        if f.is_nan() {
            return None;
        }
        // The digits of a 64-bit float are always few enough to be read.
        let shortest = format!("{f:e}");
        let digits = shortest.bytes().take_while(|b| *b != b'e');
        let digits = digits.filter(u8::is_ascii_digit).count();
        // Only if one more digit tells all does `f` lie midway between two texts of that length.
        let longer = format!("{f:.digits$e}");
        if let Some((head, exponent)) = longer.split_once("5e")
            && !shortest.starts_with(head)
            && head.ends_with(['0', '2', '4', '6', '8'])
            && longer.parse::<Self>().ok()?.as_fraction_f64() == Some(f)
            && let Ok(even) = format!("{head}e{exponent}").parse::<Self>()
            && even.to_f64().total_cmp(&f).is_eq()
        {
            return Some(even);
        }
        shortest.parse().ok()
    }

    /// Whether there is no fraction. Infinities are not integers.
    pub fn is_integer(&self) -> bool {
        match &self.0 {
            Repr::Int(_) => true,
            Repr::Decimal(d) => d.is_integer(),
            Repr::Infinity { .. } => false,
        }
    }

    /// Whether it is one of the infinities.
    pub fn is_infinite(&self) -> bool {
        matches!(self.0, Repr::Infinity { .. })
    }

    fn from_decimal(decimal: Decimal) -> Self {
        match decimal.to_i64() {
            Some(n) => Self(Repr::Int(n)),
            None => Self(Repr::Decimal(Arc::new(decimal))),
        }
    }

    /// `None` for zero and the infinities.
    fn to_decimal(&self) -> Option<Decimal> {
        match &self.0 {
            Repr::Int(0) | Repr::Infinity { .. } => None,
            Repr::Int(n) => Some(Decimal::from_integer(*n < 0, n.unsigned_abs())),
            Repr::Decimal(d) => Some(Decimal::clone(d)),
        }
    }

    /// The number rounded to `count` significant digits, as Go's `%g` writes it: part of the order of sets.
    pub(super) fn write_significant(&self, count: usize, out: &mut String) {
        match self.to_decimal() {
            Some(decimal) => decimal.rounded(count).write_general(count, out),
            None => out.push_str(&self.to_string()),
        }
    }
}

/// How many binary places a finite float needs after the point; `None` if it is not finite.
fn fraction_bits(f: f64) -> Option<usize> {
    if !f.is_finite() {
        return None;
    }
    let bits = f.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    // The value is mantissa / 2^shift (or more, which is an integer).
    let (mantissa, shift) = match (bits >> 52) & 0x7ff {
        0 => (fraction, 1074),
        biased => (fraction | (1 << 52), 1075_u64.saturating_sub(biased)),
    };
    usize::try_from(shift.saturating_sub(mantissa.trailing_zeros().into())).ok()
}

impl From<i64> for Number {
    fn from(n: i64) -> Self {
        Self(Repr::Int(n))
    }
}

impl From<i32> for Number {
    fn from(n: i32) -> Self {
        i64::from(n).into()
    }
}

impl From<u64> for Number {
    fn from(n: u64) -> Self {
        match i64::try_from(n) {
            Ok(n) => Self(Repr::Int(n)),
            Err(_) => Self::from_decimal(Decimal::from_integer(false, n)),
        }
    }
}

impl std::str::FromStr for Number {
    type Err = ParseNumberError;

    /// Decimal text: optional sign, digits, fraction, exponent; or `inf`, `Inf` with an optional sign.
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        if let Ok(n) = s.parse() {
            return Ok(Self(Repr::Int(n)));
        }
        let (negative, unsigned) = match s.strip_prefix(['-', '+']) {
            Some(rest) => (s.starts_with('-'), rest),
            None => (false, s),
        };
        if matches!(unsigned, "inf" | "Inf") {
            return Ok(Self(Repr::Infinity { negative }));
        }
        match Decimal::parse(negative, unsigned) {
            Ok(None) => Ok(Self(Repr::Int(0))),
            Ok(Some(decimal)) => Ok(Self::from_decimal(decimal)),
            Err(Invalid::Syntax) => Err(ParseNumberError::Syntax),
            Err(Invalid::TooManyDigits) => Err(ParseNumberError::TooManyDigits),
        }
    }
}

impl fmt::Display for Number {
    /// Plain decimal, never an exponent, no trailing zeros; `+Inf`, `-Inf`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Int(n) => n.fmt(f),
            Repr::Decimal(d) => d.fmt(f),
            Repr::Infinity { negative: false } => f.write_str("+Inf"),
            Repr::Infinity { negative: true } => f.write_str("-Inf"),
        }
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Repr::Int(a), Repr::Int(b)) = (&self.0, &other.0) {
            return a.cmp(b);
        }
        let sign = self.signum();
        sign.cmp(&other.signum()).then_with(|| {
            let order = self.cmp_absolute(other);
            if sign < 0 { order.reverse() } else { order }
        })
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Number {
    fn signum(&self) -> i64 {
        match &self.0 {
            Repr::Int(n) => n.signum(),
            Repr::Decimal(d) => {
                if d.is_negative() {
                    -1
                } else {
                    1
                }
            }
            Repr::Infinity { negative } => {
                if *negative {
                    -1
                } else {
                    1
                }
            }
        }
    }

    /// Neither is zero.
    fn cmp_absolute(&self, other: &Self) -> Ordering {
        match (self.to_decimal(), other.to_decimal()) {
            (Some(a), Some(b)) => a.cmp_absolute(&b),
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (None, None) => Ordering::Equal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(s: &str) -> Number {
        s.parse().unwrap()
    }

    #[test]
    fn text_is_plain_and_canonical() {
        for (input, text) in [
            ("0", "0"),
            ("-0", "0"),
            ("-0.000e5", "0"),
            ("0e99999999999999999999999", "0"),
            ("1.50", "1.5"),
            ("+7", "7"),
            ("5.", "5"),
            (".5", "0.5"),
            ("1e30", "1000000000000000000000000000000"),
            ("1E-3", "0.001"),
            ("12.5e1", "125"),
            ("-1.25e-2", "-0.0125"),
            ("9223372036854775807", "9223372036854775807"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("9223372036854775808", "9223372036854775808"),
            ("00012.34000", "12.34"),
            ("Inf", "+Inf"),
            ("-inf", "-Inf"),
        ] {
            assert_eq!(n(input).to_string(), text, "{input}");
            assert_eq!(n(text), n(input), "{input}");
        }
    }

    #[test]
    fn refuses_what_is_no_number() {
        for bad in [
            "", "-", ".", "e5", "1e", "1e+", "0x10", "1_000", " 1", "1 ", "NaN", "infinity",
            "1.2.3", "1p3", "--1", "+-1", "१",
        ] {
            assert!(
                matches!(bad.parse::<Number>(), Err(ParseNumberError::Syntax)),
                "{bad}"
            );
        }
        for absurd in [
            "1e999999999",
            "1e-999999999",
            "1e99999999999999999999999",
            &"1".repeat(10_001),
        ] {
            assert_eq!(
                absurd.parse::<Number>(),
                Err(ParseNumberError::TooManyDigits)
            );
        }
        assert_eq!(n("1e9999").to_string().len(), 10_000);
    }

    #[test]
    fn order_is_numeric() {
        let sorted = [
            "-Inf",
            "-1e40",
            "-9223372036854775808",
            "-10.5",
            "-10",
            "-9",
            "-0.5",
            "-0.05",
            "0",
            "1e-300",
            "0.05",
            "0.5",
            "0.51",
            "1",
            "1.5",
            "2",
            "9.75",
            "10",
            "9223372036854775807",
            "9223372036854775808",
            "18446744073709551615",
            "1e40",
            "1.1e40",
            "Inf",
        ];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(n(a).cmp(&n(b)), i.cmp(&j), "{a} {b}");
            }
        }
    }

    #[test]
    fn integers() {
        assert_eq!(n("18446744073709551615").as_u64(), Some(u64::MAX));
        assert_eq!(n("18446744073709551616").as_u64(), None);
        assert_eq!(Number::from(u64::MAX), n("18446744073709551615"));
        assert_eq!(Number::from(10_000_000_000_000_000_000_u64), n("1e19"));
        assert_eq!(n("-1").as_u64(), None);
        assert_eq!(n("1e18").as_i64(), Some(1_000_000_000_000_000_000));
        assert_eq!(n("1e19").as_i64(), None);
        assert!(n("1e19").is_integer());
        assert!(!n("1.5").is_integer());
        assert!(!Number::INFINITY.is_integer());
    }

    #[test]
    fn floats_read_as_their_shortest_text() {
        for (float, text) in [
            (0.1, "0.1"),
            (-0.0, "0"),
            (0.5, "0.5"),
            (1e23, "100000000000000000000000"),
            (9_223_372_036_854_775_808.0, "9223372036854776000"),
            (5e-324, &format!("0.{}5", "0".repeat(323))),
            // Midway between two texts of 17 digits.
            (-(2_087_360_662.0 + 77.0 / 256.0), "-2087360662.3007812"),
            (2_087_360_662.0 + 79.0 / 256.0, "2087360662.3085938"),
        ] {
            assert_eq!(Number::from_f64(float).unwrap().to_string(), text);
            assert_eq!(n(text).to_f64().to_bits(), (float + 0.0).to_bits());
        }
        assert_eq!(Number::from_f64(f64::NAN), None);
        assert_eq!(
            Number::from_f64(f64::NEG_INFINITY),
            Some(Number::NEG_INFINITY)
        );
        assert!(n("1e9999").to_f64().is_infinite());
    }

    #[test]
    fn exact_fractions() {
        for (text, exact) in [
            ("0.5", true),
            ("-1234.0625", true),
            ("0.1", false),
            ("0.15", false),
            ("1.00000000000000005", false),
            ("3", false),
            ("1e40", false),
        ] {
            let found = n(text).as_fraction_f64();
            assert_eq!(found.is_some(), exact, "{text}");
            assert!(found.is_none_or(|f| n(text).to_f64().to_bits() == f.to_bits()));
        }
        let least = format!("{:.1074}", 5e-324);
        assert_eq!(n(&least).as_fraction_f64(), Some(5e-324));
    }

    #[test]
    fn general_format() {
        for (input, text) in [
            ("0", "0"),
            ("100", "100"),
            ("1e12", "1e+12"),
            ("123456789012", "1.23456789e+11"),
            ("-1234567890", "-1234567890"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("12.5", "12.5"),
            ("99999999999", "1e+11"),
            ("0.12345678915", "0.1234567892"),
            ("-inf", "-Inf"),
        ] {
            let mut out = String::new();
            n(input).write_significant(10, &mut out);
            assert_eq!(out, text, "{input}");
        }
    }
}
