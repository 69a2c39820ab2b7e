//! Text in Unicode NFC, the form in which strings, map keys and attribute names are exchanged and compared.

use std::borrow::Cow;
use std::sync::Arc;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Shared text.
pub type Str = Arc<str>;

/// `s` in Unicode NFC.
pub(super) fn nfc(s: &str) -> Cow<'_, str> {
    if s.is_ascii() || is_nfc_quick(s.chars()) == IsNormalized::Yes {
        Cow::Borrowed(s)
    } else {
        Cow::Owned(s.nfc().collect())
    }
}

/// `s` in Unicode NFC, without a copy if it already is.
pub(super) fn nfc_str(s: Str) -> Str {
    match nfc(&s) {
        Cow::Borrowed(_) => s,
        Cow::Owned(normal) => normal.into(),
    }
}
