//! JSON read piece by piece from borrowed bytes, without building a tree.

use std::borrow::Cow;

use super::control_or;
use crate::value::error::DecodeErrorKind;

type Result<T> = std::result::Result<T, DecodeErrorKind>;

/// Bytes that are not part of a string as they are.
const NOT_PLAIN: [bool; 256] = control_or(b"\"\\");

/// What the next value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    /// In words for an error message.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a bool",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// A place in the input.
pub(super) struct Reader<'a> {
    input: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(input: &'a [u8]) -> Self {
        Self { input, at: 0 }
    }

    fn syntax(&self, expected: &str) -> DecodeErrorKind {
        if self.at >= self.input.len() {
            return DecodeErrorKind::Truncated;
        }
        DecodeErrorKind::Syntax(format!("{expected} expected at byte {}", self.at))
    }

    fn byte(&self) -> Option<u8> {
        self.input.get(self.at).copied()
    }

    /// The next byte that is not white space, left in place.
    fn next_byte(&mut self) -> Option<u8> {
        while matches!(self.byte(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
        self.byte()
    }

    /// Refuses anything but white space.
    pub(super) fn end(&mut self) -> Result<()> {
        match self.next_byte() {
            None => Ok(()),
            Some(_) => Err(self.syntax("the end")),
        }
    }

    /// Finds out what comes next; null and truth values are passed over.
    pub(super) fn kind(&mut self) -> Result<Kind> {
        match self.next_byte() {
            Some(b'n') => self.word("null", Kind::Null),
            Some(b't') => self.word("true", Kind::Bool(true)),
            Some(b'f') => self.word("false", Kind::Bool(false)),
            Some(b'"') => Ok(Kind::String),
            Some(b'[') => Ok(Kind::Array),
            Some(b'{') => Ok(Kind::Object),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            _ => Err(self.syntax("a value")),
        }
    }

    fn word(&mut self, word: &str, kind: Kind) -> Result<Kind> {
        if !self.input[self.at..].starts_with(word.as_bytes()) {
            return Err(self.syntax(word));
        }
        self.at += word.len();
        Ok(kind)
    }

    /// The text of a number.
    pub(super) fn number(&mut self) -> Result<&'a str> {
        let start = self.at;
        self.at += usize::from(self.byte() == Some(b'-'));
        if self.byte() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
            self.digits()?;
        }
        // All of it is ASCII.
        Ok(str::from_utf8(&self.input[start..self.at]).unwrap_or_default())
    }

    /// At least one digit.
    fn digits(&mut self) -> Result<()> {
        let rest = &self.input[self.at..];
        let count = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        self.at += count;
        if count == 0 {
            return Err(self.syntax("a digit"));
        }
        Ok(())
    }

    /// The text of a string. What is not UTF-8, and halves of surrogate pairs, become U+FFFD.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>> {
        self.at += 1;
        let mut text = Cow::Borrowed("");
        loop {
            let rest = &self.input[self.at..];
            let end = rest.iter().position(|b| NOT_PLAIN[usize::from(*b)]);
            let plain = &rest[..end.unwrap_or(rest.len())];
            self.at += plain.len();
            let plain = match str::from_utf8(plain) {
                Ok(plain) => Cow::Borrowed(plain),
                Err(_) => String::from_utf8_lossy(plain),
            };
            if text.is_empty() {
                text = plain;
            } else {
                text.to_mut().push_str(&plain);
            }
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => {
                    self.at += 1;
                    let c = self.escape()?;
                    text.to_mut().push(c);
                }
                _ => return Err(self.syntax("the end of a string")),
            }
        }
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<char> {
        let c = match self.byte() {
            Some(c @ (b'"' | b'\\' | b'/')) => c.into(),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.syntax("an escape")),
        };
        self.at += 1;
        Ok(c)
    }

    /// `uXXXX`, or two of them that make one character.
    fn unicode_escape(&mut self) -> Result<char> {
        let unit = self.code_unit()?;
        if !(0xd800..0xdc00).contains(&unit) || !self.input[self.at..].starts_with(b"\\u") {
            return Ok(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let after_first = self.at;
        self.at += 1;
        let second = self.code_unit()?;
        if !(0xdc00..0xe000).contains(&second) {
            // It stands for itself.
            self.at = after_first;
            return Ok(char::REPLACEMENT_CHARACTER);
        }
        let code = 0x1_0000 + ((unit - 0xd800) << 10) + (second - 0xdc00);
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn code_unit(&mut self) -> Result<u32> {
        let digits = self.input.get(self.at + 1..self.at + 5);
        let unit = digits
            .filter(|d| d.iter().all(u8::is_ascii_hexdigit))
            .and_then(|d| u32::from_str_radix(str::from_utf8(d).ok()?, 16).ok())
            .ok_or_else(|| self.syntax("four hexadecimal digits"))?;
        self.at += 5;
        Ok(unit)
    }

    /// Goes into an array or object.
    pub(super) fn open(&mut self) {
        self.at += 1;
    }

    /// Goes to the next item of an array or object; false at its end, which is passed over.
    pub(super) fn next(&mut self, first: bool, close: u8) -> Result<bool> {
        match self.next_byte() {
            Some(b) if b == close => {
                self.at += 1;
                return Ok(false);
            }
            Some(b',') if !first => {
                self.at += 1;
                // Nothing may follow a comma but an item.
                if self.next_byte() == Some(close) {
                    return Err(self.syntax("a value"));
                }
            }
            Some(_) if first => {}
            _ => return Err(self.syntax("a comma or the end")),
        }
        Ok(true)
    }

    /// The name before a value in an object.
    pub(super) fn key(&mut self) -> Result<Cow<'a, str>> {
        if self.next_byte() != Some(b'"') {
            return Err(self.syntax("a name"));
        }
        let key = self.string()?;
        if self.next_byte() != Some(b':') {
            return Err(self.syntax("a colon"));
        }
        self.at += 1;
        Ok(key)
    }

    /// The bytes of the next value, which is passed over but not checked.
    pub(super) fn raw(&mut self) -> Result<&'a [u8]> {
        self.next_byte();
        let start = self.at;
        let mut depth: usize = 0;
        loop {
            match self.byte() {
                Some(b'"') => drop(self.string()?),
                Some(b'[' | b'{') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b']' | b'}') if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(b',' | b']' | b'}') if depth == 0 => break,
                Some(_) => self.at += 1,
                None => return Err(DecodeErrorKind::Truncated),
            }
        }
        Ok(&self.input[start..self.at])
    }
}
