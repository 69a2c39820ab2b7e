//! Decimal fractions in canonical form: what a number is when it is not a 64-bit integer.

use std::cmp::Ordering;
use std::fmt::{self, Write as _};

/// Numbers are refused whose first digit stands further from the decimal point than this, and texts with more digits.
///
/// Far beyond 64-bit floats (10^308), and small enough that no text of a number is ever large.
pub const MAX_DIGITS: usize = 10_000;

/// ±0.`digits` × 10^`magnitude`; never zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Decimal {
    negative: bool,
    /// ASCII digits, at least one and at most [`MAX_DIGITS`]; the first and the last are not `0`.
    digits: Box<str>,
    /// At most [`MAX_DIGITS`] in absolute value.
    magnitude: i32,
}

/// Why text is no decimal.
pub(super) enum Invalid {
    Syntax,
    TooManyDigits,
}

impl Decimal {
    /// Reads digits, fraction, exponent; `None` for zero.
    pub(super) fn parse(negative: bool, text: &str) -> Result<Option<Self>, Invalid> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
        let exponent_digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if !all_digits(whole)
            || !all_digits(fraction)
            || whole.len() + fraction.len() == 0
            || exponent_digits.is_empty()
            || !all_digits(exponent_digits)
        {
            return Err(Invalid::Syntax);
        }
        if whole.len() + fraction.len() > MAX_DIGITS {
            return Err(Invalid::TooManyDigits);
        }
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0');
        let leading = all.len() - digits.len();
        let digits = digits.trim_end_matches('0');
        if digits.is_empty() {
            return Ok(None);
        }
        let magnitude = exponent
            .parse::<i64>()
            .ok()
            .and_then(|e| e.checked_add_unsigned(whole.len() as u64))
            .and_then(|e| e.checked_sub_unsigned(leading as u64))
            .and_then(|e| i32::try_from(e).ok())
            .filter(|m| m.unsigned_abs() as usize <= MAX_DIGITS)
            .ok_or(Invalid::TooManyDigits)?;
        Ok(Some(Self {
            negative,
            digits: digits.into(),
            magnitude,
        }))
    }

    /// An integer other than zero.
    pub(super) fn from_integer(negative: bool, absolute: u64) -> Self {
        let text = absolute.to_string();
        Self {
            negative,
            magnitude: length(&text),
            digits: text.trim_end_matches('0').into(),
        }
    }

    pub(super) fn is_negative(&self) -> bool {
        self.negative
    }

    /// Digits after the point.
    pub(super) fn places(&self) -> usize {
        usize::try_from(length(&self.digits) - self.magnitude).unwrap_or(0)
    }

    pub(super) fn is_integer(&self) -> bool {
        self.places() == 0
    }

    pub(super) fn ends_with_five(&self) -> bool {
        self.digits.ends_with('5')
    }

    pub(super) fn to_i64(&self) -> Option<i64> {
        let short_integer = self.is_integer() && self.magnitude <= 19;
        short_integer.then(|| self.to_string().parse().ok())?
    }

    pub(super) fn to_u64(&self) -> Option<u64> {
        let short_integer = self.is_integer() && self.magnitude <= 20;
        short_integer.then(|| self.to_string().parse().ok())?
    }

    /// The nearest float; infinite or zero if it is out of range.
    pub(super) fn to_f64(&self) -> f64 {
        let sign = if self.negative { "-" } else { "" };
        // This is always float syntax.
        format!("{sign}0.{}e{}", self.digits, self.magnitude)
            .parse()
            .unwrap_or(f64::NAN)
    }

    pub(super) fn cmp_absolute(&self, other: &Self) -> Ordering {
        // Without leading and trailing zeros, digits compare as text once the magnitudes agree.
        (self.magnitude, &self.digits).cmp(&(other.magnitude, &other.digits))
    }

    /// At most `count` digits, halves away from zero.
    pub(super) fn rounded(mut self, count: usize) -> Self {
        let Some(&next) = self.digits.as_bytes().get(count) else {
            return self;
        };
        let mut kept = self.digits[..count].to_owned();
        if next >= b'5' {
            kept.truncate(kept.trim_end_matches('9').len());
            let last = kept.pop().unwrap_or_else(|| {
                self.magnitude += 1;
                '0'
            });
            kept.push(char::from(last as u8 + 1));
        }
        self.digits = kept.trim_end_matches('0').into();
        self
    }

    /// As Go's `%g` with a precision writes a number that has no more digits than that.
    pub(super) fn write_general(&self, precision: usize, out: &mut String) {
        let digits = length(&self.digits);
        let precision = i32::try_from(precision).unwrap_or(i32::MAX);
        let limit = if precision > digits && digits >= self.magnitude {
            digits
        } else {
            precision
        };
        let exponent = self.magnitude - 1;
        if (-4..limit).contains(&exponent) {
            out.push_str(&self.to_string());
            return;
        }
        let (first, rest) = self.digits.split_at(1);
        let sign = if self.negative { "-" } else { "" };
        let point = if rest.is_empty() { "" } else { "." };
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        let exponent = exponent.abs();
        // Writing to a string does not fail.
        let _ = write!(
            out,
            "{sign}{first}{point}{rest}e{exponent_sign}{exponent:02}"
        );
    }
}

/// Texts of digits here have at most [`MAX_DIGITS`].
fn length(digits: &str) -> i32 {
    i32::try_from(digits.len()).unwrap_or(i32::MAX)
}

impl fmt::Display for Decimal {
    /// Plain decimal, no exponent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or(0));
        match usize::try_from(self.magnitude) {
            Ok(point) if point > 0 && point < self.digits.len() => {
                let (whole, fraction) = self.digits.split_at(point);
                write!(f, "{sign}{whole}.{fraction}")
            }
            Ok(point) if point > 0 => {
                let zeros = zeros(self.magnitude - length(&self.digits));
                write!(f, "{sign}{}{zeros}", self.digits)
            }
            _ => write!(f, "{sign}0.{}{}", zeros(-self.magnitude), self.digits),
        }
    }
}
