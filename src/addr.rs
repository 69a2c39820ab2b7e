//! Names of things: the ids of resources, data sources, providers and outputs (IR contract, "ids").

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// The stable id of a resource (`<provider>.<type>.<name>`) or data source (`data.<provider>.<type>.<name>`).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(Arc<str>);

impl Id {
    /// The id as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id without its key, and the key, unescaped, if it is the id of an instance: if its name holds `__`.
    ///
    /// A plain name may hold `__` too; whoever knows the resource knows better.
    pub fn instance(&self) -> Option<(&str, String)> {
        // The escaped key has no `__`, so the last one ends the base name.
        let (base, key) = self.0.rsplit_once("__")?;
        let key = String::from_utf8(unescape_key(key)?).ok()?;
        Some((base, key))
    }
}

/// An instance key as it is escaped in an id, to its bytes: `%XX` is a byte; `None` for a `%` that does not start such a code.
pub fn unescape_key(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        let is_digit = |b: u8| matches!(b, b'0'..=b'9' | b'A'..=b'F');
        if !code.bytes().all(is_digit) {
            return None;
        }
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    Some(bytes)
}

impl<T: Into<Arc<str>>> From<T> for Id {
    fn from(s: T) -> Self {
        Self(s.into())
    }
}

impl Borrow<str> for Id {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
