//! Drawing random bytes, integers, names and secrets.

use std::ops::RangeInclusive;

use rustls::crypto::aws_lc_rs;

use super::words::{ADJECTIVES, NOUNS};

/// Greatest length of anything drawn.
pub(super) const MAX_LENGTH: i64 = 1024;

/// The characters of a secret: what needs no quoting anywhere.
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// What to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Bytes, in hexadecimal.
    Bytes,
    /// An integer of a range.
    Integer,
    /// Words joined by `-`.
    Name,
    /// Letters and digits not to be shown.
    Secret,
}

/// What was drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Drawn {
    /// Bytes or a name.
    Text(String),
    /// An integer.
    Integer(i64),
    /// A secret.
    Secret(String),
}

/// The system's source of randomness failed.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the system gives no random numbers")]
pub(super) struct NoRandomness;

impl Kind {
    /// The kind of that name.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "bytes" => Some(Self::Bytes),
            "integer" => Some(Self::Integer),
            "name" => Some(Self::Name),
            "secret" => Some(Self::Secret),
            _ => None,
        }
    }

    /// How many bytes, words or characters unless said otherwise; 0 for integers, which have no length.
    pub(super) fn default_length(self) -> i64 {
        match self {
            Self::Bytes => 16,
            Self::Integer => 0,
            Self::Name => 2,
            Self::Secret => 32,
        }
    }

    /// Draws something of `length`, or of `range` if it is an integer.
    pub(super) fn draw(
        self,
        length: i64,
        range: &RangeInclusive<i64>,
    ) -> Result<Drawn, NoRandomness> {
        Ok(match self {
            Self::Bytes => {
                let digits = (0..2 * length).map(|_| pick(b"0123456789abcdef").map(char::from));
                Drawn::Text(digits.collect::<Result<_, _>>()?)
            }
            Self::Integer => Drawn::Integer(integer(range)?),
            Self::Name => {
                let adjectives = (1..length).map(|_| pick(&ADJECTIVES));
                let words: Result<Vec<_>, _> = adjectives.chain([pick(&NOUNS)]).collect();
                Drawn::Text(words?.join("-"))
            }
            Self::Secret => {
                let characters = (0..length).map(|_| pick(ALPHABET).map(char::from));
                Drawn::Secret(characters.collect::<Result<_, _>>()?)
            }
        })
    }

    /// Something drawn elsewhere, with its length; `None` if it cannot be of this kind.
    pub(super) fn measure(self, text: &str) -> Option<(i64, Drawn)> {
        let lower_hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        let length = match self {
            Self::Bytes if text.bytes().all(lower_hex) && text.len().is_multiple_of(2) => {
                text.len() / 2
            }
            Self::Bytes => return None,
            Self::Integer => {
                let n: i64 = text.parse().ok()?;
                let plain = n.to_string() == text;
                return plain.then_some((self.default_length(), Drawn::Integer(n)));
            }
            Self::Name => text.split('-').count(),
            Self::Secret => text.chars().count(),
        };
        let length = i64::try_from(length).ok()?;
        let drawn = match self {
            Self::Secret => Drawn::Secret(text.to_owned()),
            _ => Drawn::Text(text.to_owned()),
        };
        (!text.is_empty() && length <= MAX_LENGTH).then_some((length, drawn))
    }
}

fn pick<T: Copy, const N: usize>(list: &[T; N]) -> Result<T, NoRandomness> {
    // The remainder of a division by the length is an index.
    Ok(list[usize::try_from(random_bits()? % N as u128).unwrap_or_default()])
}

/// An integer of a range that is not empty.
fn integer(range: &RangeInclusive<i64>) -> Result<i64, NoRandomness> {
    let width = range.end().abs_diff(*range.start());
    let offset = random_bits()? % (u128::from(width) + 1);
    let offset = u64::try_from(offset).unwrap_or_default();
    Ok(range.start().wrapping_add_unsigned(offset))
}

/// 128 random bits: so many that the bias of a remainder by a number of 64 bits cannot be noticed.
fn random_bits() -> Result<u128, NoRandomness> {
    let mut bytes = [0; 16];
    let provider = aws_lc_rs::default_provider();
    let filled = provider.secure_random.fill(&mut bytes);
    filled.map_err(|_| NoRandomness)?;
    Ok(u128::from_be_bytes(bytes))
}
