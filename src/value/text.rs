//! Text in Unicode NFC, the form in which strings, map keys and attribute names are exchanged and compared.

use std::borrow::Cow;
use std::sync::Arc;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Shared text.
pub type Str = Arc<str>;

/// Whether a character is in normal form whatever stands beside it, as far as that is told at a glance: Latin letters up to
/// the first combining mark, and ideographs.
fn is_normal_anywhere(c: char) -> bool {
    matches!(c, '\0'..='\u{2ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

/// `s` in Unicode NFC.
pub(super) fn nfc(s: &str) -> Cow<'_, str> {
    let at_a_glance = s.is_ascii() || s.chars().all(is_normal_anywhere);
    if at_a_glance || is_nfc_quick(s.chars()) == IsNormalized::Yes {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_normal_at_a_glance_is_normal() {
        let mut found = 0;
        for c in ('\0'..=char::MAX).filter(|c| is_normal_anywhere(*c)) {
            found += 1;
            assert_eq!(unicode_normalization::char::canonical_combining_class(c), 0);
            assert_eq!(is_nfc_quick([c].into_iter()), IsNormalized::Yes, "{c:?}");
        }
        assert!(found > 20_000);
        assert_eq!(nfc("e\u{301} 日本"), "\u{e9} 日本");
        assert!(matches!(nfc("\u{e9} 日本"), Cow::Borrowed(_)));
    }
}
