//! Names, strings and numbers as Nix writes them, safe to print.

use std::fmt::Write as _;

use serde_json::Value as Json;

/// A string in quotes. Whatever a terminal would act on is escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '$' if chars.peek() == Some(&'{') => quoted.push_str("\\$"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c => push_printable(&mut quoted, c),
        }
    }
    quoted.push('"');
    quoted
}

/// A line of text without quotes. Tabs stay.
pub(super) fn printable(line: &str) -> String {
    let mut printable = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '\t' => printable.push(c),
            c => push_printable(&mut printable, c),
        }
    }
    printable
}

fn push_printable(text: &mut String, c: char) {
    if c.is_control() || turns_text(c) {
        let _ = write!(text, "\\u{{{:x}}}", u32::from(c));
    } else {
        text.push(c);
    }
}

/// Characters that change the order in which text is shown, or have no width.
fn turns_text(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// An attribute name: quoted unless Nix needs no quotes.
pub(super) fn name(name: &str) -> String {
    let mut chars = name.chars();
    let starts = chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let is_plain =
        starts && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '\''));
    if is_plain {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// Null, a bool, a number or a string.
pub(super) fn scalar(json: &Json) -> String {
    match json {
        Json::String(s) => quoted(s),
        other => other.to_string(),
    }
}

/// `1 thing`, `2 things`.
pub(super) fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_cannot_reach_the_terminal() {
        for (given, want) in [
            ("plain", r#""plain""#),
            ("a \"b\" \\ ${c} $d", r#""a \"b\" \\ \${c} $d""#),
            ("a\nb\tc\r", r#""a\nb\tc\r""#),
            ("\x1b[31mred\u{7}", r#""\u{1b}[31mred\u{7}""#),
            ("\u{202e}txt.exe", r#""\u{202e}txt.exe""#),
            ("grün 🦀", r#""grün 🦀""#),
        ] {
            assert_eq!(quoted(given), want);
        }
        assert_eq!(printable("\ta\x1b[0m"), "\ta\\u{1b}[0m");
    }

    #[test]
    fn names_are_quoted_where_nix_needs_it() {
        for (given, want) in [
            ("a_b-c'", "a_b-c'"),
            ("Name", "Name"),
            ("a.b", r#""a.b""#),
            ("1a", r#""1a""#),
            ("", r#""""#),
        ] {
            assert_eq!(name(given), want);
        }
    }
}
