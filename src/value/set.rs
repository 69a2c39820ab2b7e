//! The canonical order of set elements: the one in which OpenTofu and Terraform iterate over a set.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::{Number, Value};

/// Significant digits of numbers inside composite elements that decide about their place.
const ORDER_DIGITS: usize = 10;

/// Brings the elements of a set into canonical order and drops duplicates.
pub(super) fn canonicalize(items: &mut Vec<Value>) {
    if items.len() < 2 {
        return;
    }
    if items.iter().any(is_composite) {
        items.sort_by_cached_key(|v| (rank(v), text_key(v), v.clone()));
    } else {
        items.sort_by(primitive_order);
    }
    // Equal elements are neighbours now; what is not wholly known equals nothing.
    items.dedup_by(|a, b| a == b && a.is_wholly_known());
}

fn is_composite(value: &Value) -> bool {
    matches!(
        value,
        Value::List(_) | Value::Set(_) | Value::Map(_) | Value::Object(_) | Value::Tuple(_)
    )
}

/// Known values, then unknown ones, then nulls.
fn rank(value: &Value) -> u8 {
    match value {
        Value::Null(_) => 2,
        Value::Unknown(_) => 1,
        _ => 0,
    }
}

fn primitive_order(a: &Value, b: &Value) -> Ordering {
    // The derived order of values is right within one primitive type, and total among unknowns and nulls.
    rank(a).cmp(&rank(b)).then_with(|| a.cmp(b))
}

fn text_key(value: &Value) -> String {
    let mut out = String::new();
    write_key(value, &mut out);
    out
}

fn write_key(value: &Value, out: &mut String) {
    match value {
        Value::Unknown(_) => out.push('?'),
        Value::Null(_) => out.push('~'),
        Value::Bool(true) => out.push('T'),
        Value::Bool(false) => out.push('F'),
        Value::Number(n) => Number::write_significant(n, ORDER_DIGITS, out),
        Value::String(s) => write_quoted(s, out),
        Value::List(s) | Value::Set(s) => write_items('[', s.items.iter(), ']', out),
        Value::Tuple(items) => write_items('<', items.iter(), '>', out),
        Value::Object(entries) => write_items('<', entries.values(), '>', out),
        Value::Map(map) => {
            out.push('{');
            for (key, v) in map.entries.iter() {
                write_quoted(key, out);
                out.push(':');
                write_key(v, out);
                out.push(';');
            }
            out.push('}');
        }
    }
}

fn write_items<'a>(
    open: char,
    items: impl Iterator<Item = &'a Value>,
    close: char,
    out: &mut String,
) {
    out.push(open);
    for item in items {
        write_key(item, out);
        out.push(';');
    }
    out.push(close);
}

/// Quotes as Go's `%q` does, which is what decides the reference order.
fn write_quoted(s: &str, out: &mut String) {
    out.push('"');
    if s.bytes()
        .all(|b| matches!(b, b' '..=b'~') && b != b'"' && b != b'\\')
    {
        out.push_str(s);
        out.push('"');
        return;
    }
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if is_printable(c) => out.push(c),
            c => {
                // Writing to a string does not fail.
                let _ = match c as u32 {
                    n @ 0..0x80 => write!(out, "\\x{n:02x}"),
                    n @ 0x80..0x1_0000 => write!(out, "\\u{n:04x}"),
                    n => write!(out, "\\U{n:08x}"),
                };
            }
        }
    }
    out.push('"');
}

fn is_printable(c: char) -> bool {
    use unicode_normalization::char::is_combining_mark;
    match c {
        ' '..='~' => true,
        _ if c.is_ascii() => false,
        // The standard library escapes combining marks as well, though they print.
        _ => c.escape_debug().count() == 1 || is_combining_mark(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Type;

    fn items(value: &Value) -> &[Value] {
        match value {
            Value::Set(s) => &s.items,
            _ => panic!("not a set"),
        }
    }

    #[test]
    fn primitives() {
        let s = Value::string;
        let set = Value::set(
            Type::String,
            vec![
                Value::null(Type::String),
                s("b"),
                Value::unknown(Type::String),
                s("a"),
                s("b"),
                Value::null(Type::String),
                Value::unknown(Type::String),
                s("Z"),
                s("\u{e9}"),
                s("e\u{301}"),
            ],
        );
        assert_eq!(
            items(&set),
            [
                s("Z"),
                s("a"),
                s("b"),
                s("\u{e9}"),
                Value::unknown(Type::String),
                Value::unknown(Type::String),
                Value::null(Type::String),
            ]
        );
        let n = |n: i64| Value::Number(n.into());
        let set = Value::set(Type::Number, vec![n(10), n(9), n(-1), n(10)]);
        assert_eq!(items(&set), [n(-1), n(9), n(10)]);
        let set = Value::set(Type::Bool, vec![Value::Bool(true), Value::Bool(false)]);
        assert_eq!(items(&set), [Value::Bool(false), Value::Bool(true)]);
    }

    #[test]
    fn composites_sort_by_text() {
        let n = |n: i64| Value::object([("n", Value::Number(n.into()))]);
        let ty = n(1).ty();
        // "10" sorts before "9"; numbers equal in ten digits stay two elements.
        let set = Value::set(
            ty.clone(),
            vec![n(9), n(100_000_000_002), n(10), n(100_000_000_001), n(9)],
        );
        assert_eq!(
            items(&set),
            [n(10), n(100_000_000_001), n(100_000_000_002), n(9)]
        );
        let unknown = Value::object([("n", Value::unknown(Type::Number))]);
        let set = Value::set(ty, vec![unknown.clone(), n(1), unknown.clone()]);
        assert_eq!(items(&set).len(), 3);
    }

    #[test]
    fn keys() {
        let value = Value::tuple([
            Value::map(
                Type::Bool,
                [
                    ("k\n", Value::Bool(true)),
                    ("\u{1}\u{a0}\u{301}", Value::Bool(false)),
                ],
            ),
            Value::list(
                Type::String,
                vec![Value::null(Type::String), Value::unknown(Type::String)],
            ),
            Value::object([("a", Value::string("\u{10ffff}\"\\\u{7f}"))]),
        ]);
        assert_eq!(
            text_key(&value),
            "<{\"\\x01\\u00a0\u{301}\":F;\"k\\n\":T;};[~;?;];<\"\\U0010ffff\\\"\\\\\\x7f\";>;>"
        );
    }
}
