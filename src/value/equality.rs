//! Equality: three-valued, and ignoring refinements. The third notion, identity, is `==`.

use super::{Number, Refinement, Sequence, Unknown, Value};

impl Value {
    /// Whether the two will be equal once all is known; `None` if that is not decided yet.
    ///
    /// Nulls are equal whatever their type. Inside composites the first undecided part makes the whole undecided, and
    /// the first unequal part makes it false.
    pub fn equals(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Unknown(_), Self::Unknown(_)) => None,
            (Self::Unknown(unknown), known) | (known, Self::Unknown(unknown)) => {
                unknown_equals(unknown, known)
            }
            (Self::Null(_), Self::Null(_)) => Some(true),
            (Self::Null(_), _) | (_, Self::Null(_)) => Some(false),
            _ if !self.has_known_type() || !other.has_known_type() => {
                let (a, b) = (self.ty(), other.ty());
                if a.conforms(&b) || b.conforms(&a) {
                    None
                } else {
                    Some(false)
                }
            }
            _ if self.same_type(other) => known_equals(self, other),
            _ => Some(false),
        }
    }

    /// Identity as `==`, but any two unknowns of one type are the same.
    pub fn unrefined_eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Unknown(a), Self::Unknown(b)) => a.ty == b.ty,
            (Self::List(a), Self::List(b)) | (Self::Set(a), Self::Set(b)) => {
                a.element == b.element && all(&a.items, &b.items, Self::unrefined_eq)
            }
            (Self::Tuple(a), Self::Tuple(b)) => all(a, b, Self::unrefined_eq),
            (Self::Map(a), Self::Map(b)) => {
                a.element == b.element
                    && a.entries.len() == b.entries.len()
                    && std::iter::zip(a.entries.iter(), b.entries.iter())
                        .all(|((ka, a), (kb, b))| ka == kb && a.unrefined_eq(b))
            }
            (Self::Object(a), Self::Object(b)) => {
                a.len() == b.len()
                    && std::iter::zip(a.iter(), b.iter())
                        .all(|((ka, a), (kb, b))| ka == kb && a.unrefined_eq(b))
            }
            _ => self == other,
        }
    }

    /// Whether no part is unknown and of a type that is open somewhere.
    fn has_known_type(&self) -> bool {
        match self {
            Self::Unknown(u) => !u.ty.has_dynamic(),
            Self::Null(_) | Self::Bool(_) | Self::Number(_) | Self::String(_) => true,
            Self::List(s) | Self::Set(s) => s.items.iter().all(Self::has_known_type),
            Self::Map(m) => m.entries.values().all(Self::has_known_type),
            Self::Object(o) => o.values().all(Self::has_known_type),
            Self::Tuple(items) => items.iter().all(Self::has_known_type),
        }
    }

    fn same_type(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bool(_), Self::Bool(_))
            | (Self::Number(_), Self::Number(_))
            | (Self::String(_), Self::String(_)) => true,
            (Self::List(a), Self::List(b)) | (Self::Set(a), Self::Set(b)) => a.element == b.element,
            (Self::Map(a), Self::Map(b)) => a.element == b.element,
            (Self::Object(a), Self::Object(b)) => {
                a.len() == b.len()
                    && std::iter::zip(a.iter(), b.iter())
                        .all(|((ka, a), (kb, b))| ka == kb && a.same_type(b))
            }
            (Self::Tuple(a), Self::Tuple(b)) => all(a, b, Self::same_type),
            (Self::Null(_) | Self::Unknown(_), _) | (_, Self::Null(_) | Self::Unknown(_)) => {
                self.ty() == other.ty()
            }
            _ => false,
        }
    }
}

fn all(a: &[Value], b: &[Value], same: impl Fn(&Value, &Value) -> bool) -> bool {
    a.len() == b.len() && std::iter::zip(a, b).all(|(a, b)| same(a, b))
}

/// `known` may be null.
fn unknown_equals(unknown: &Unknown, known: &Value) -> Option<bool> {
    let impossible = if known.is_null() {
        unknown.refinement.not_null
    } else {
        !known.conforms_to(&unknown.ty) || excludes(&unknown.refinement, known)
    };
    impossible.then_some(false)
}

/// Whether a known value that is not null lies outside what is known about an unknown one.
fn excludes(refinement: &Refinement, known: &Value) -> bool {
    let below = |n: &Number| {
        refinement.min.as_ref().is_some_and(|b| {
            if b.inclusive {
                *n < b.value
            } else {
                *n <= b.value
            }
        })
    };
    let above = |n: &Number| {
        refinement.max.as_ref().is_some_and(|b| {
            if b.inclusive {
                *n > b.value
            } else {
                *n >= b.value
            }
        })
    };
    let length = |least: usize, greatest: usize| {
        refinement
            .min_length
            .is_some_and(|min| (greatest as u64) < min)
            || refinement.max_length.is_some_and(|max| least as u64 > max)
    };
    match known {
        Value::String(s) => refinement
            .prefix
            .as_ref()
            .is_some_and(|p| !s.starts_with(&**p)),
        // Once anything is known about a number, it is finite.
        Value::Number(n) => {
            below(n) || above(n) || n.is_infinite() && *refinement != Refinement::default()
        }
        Value::List(s) => length(s.items.len(), s.items.len()),
        Value::Map(m) => length(m.entries.len(), m.entries.len()),
        Value::Set(s) => match s.known_length() {
            Some(n) => length(n, n),
            None => length(1, s.items.len()),
        },
        _ => false,
    }
}

impl Sequence {
    /// As a set: how many elements there are; `None` if unknown ones may coincide with others.
    pub(super) fn known_length(&self) -> Option<usize> {
        let n = self.items.len();
        (n < 2 || self.items.iter().all(Value::is_wholly_known)).then_some(n)
    }
}

/// Both are known, not null, and of one type without open parts.
fn known_equals(a: &Value, b: &Value) -> Option<bool> {
    match (a, b) {
        (Value::List(a), Value::List(b)) if a.items.len() == b.items.len() => {
            each_equals(a.items.iter().zip(&b.items))
        }
        (Value::Tuple(a), Value::Tuple(b)) => each_equals(a.iter().zip(b.iter())),
        (Value::Object(a), Value::Object(b)) => each_equals(a.values().zip(b.values())),
        (Value::Map(a), Value::Map(b)) if a.entries.len() == b.entries.len() => {
            if a.entries.names().ne(b.entries.names()) {
                return Some(false);
            }
            each_equals(a.entries.values().zip(b.entries.values()))
        }
        (Value::Set(a), Value::Set(b)) => {
            if a.items.iter().chain(&b.items).any(|v| !v.is_known()) {
                return None;
            }
            // Canonical order, no duplicates, and no element that holds unknowns equals another.
            Some(a.items == b.items && a.items.iter().all(Value::is_wholly_known))
        }
        (Value::Bool(_) | Value::Number(_) | Value::String(_), _) => Some(a == b),
        _ => Some(false),
    }
}

fn each_equals<'a>(pairs: impl Iterator<Item = (&'a Value, &'a Value)>) -> Option<bool> {
    for (a, b) in pairs {
        if !a.equals(b)? {
            return Some(false);
        }
    }
    Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Bound, Type};

    fn refined(ty: Type, refinement: Refinement) -> Value {
        Unknown { ty, refinement }.into_value()
    }

    fn n(n: i64) -> Value {
        Value::Number(n.into())
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn three_valued() {
        let s = Value::string;
        let unknown = Value::unknown(Type::String);
        let not_null = refined(
            Type::String,
            Refinement {
                not_null: true,
                ..Refinement::default()
            },
        );
        let prefix = refined(
            Type::String,
            Refinement {
                prefix: Some("ab".into()),
                ..Refinement::default()
            },
        );
        let bound = |value: i64, inclusive| {
            Some(Bound {
                value: value.into(),
                inclusive,
            })
        };
        let at_least = refined(
            Type::Number,
            Refinement {
                min: bound(5, true),
                ..Refinement::default()
            },
        );
        let below = refined(
            Type::Number,
            Refinement {
                max: bound(5, false),
                ..Refinement::default()
            },
        );
        let long = refined(
            Type::list(Type::String),
            Refinement {
                min_length: Some(2),
                max_length: Some(3),
                ..Refinement::default()
            },
        );
        let strings =
            |items: &[&str]| Value::list(Type::String, items.iter().map(Value::string).collect());
        let null = Value::null(Type::String);
        for (a, b, expected) in [
            (s("a"), s("a"), Some(true)),
            (s("a"), s("b"), Some(false)),
            (s("1"), n(1), Some(false)),
            (null.clone(), Value::null(Type::Bool), Some(true)),
            (null.clone(), s(""), Some(false)),
            (unknown.clone(), unknown.clone(), None),
            (unknown.clone(), s("a"), None),
            (unknown.clone(), null.clone(), None),
            (unknown.clone(), n(1), Some(false)),
            (not_null, null, Some(false)),
            (Value::unknown(Type::Dynamic), n(1), None),
            (
                Value::unknown(Type::list(Type::Dynamic)),
                strings(&["a"]),
                None,
            ),
            (Value::unknown(Type::list(Type::Dynamic)), n(1), Some(false)),
            (prefix.clone(), s("abc"), None),
            (prefix, s("bc"), Some(false)),
            (at_least.clone(), n(5), None),
            (at_least, n(4), Some(false)),
            (below.clone(), n(4), None),
            (below, n(5), Some(false)),
            (long.clone(), strings(&["a"]), Some(false)),
            (long.clone(), strings(&["a", "b"]), None),
            (long, strings(&["a", "b", "c", "d"]), Some(false)),
            (strings(&["a"]), strings(&["a", "b"]), Some(false)),
            (
                Value::list(Type::String, vec![]),
                Value::list(Type::Bool, vec![]),
                Some(false),
            ),
        ] {
            assert_eq!(a.equals(&b), expected, "{a:?} {b:?}");
            assert_eq!(b.equals(&a), expected, "{b:?} {a:?}");
        }
    }

    #[test]
    fn first_part_decides() {
        let pair = |a: Value, b: Value| Value::tuple([a, b]);
        let unknown = || Value::unknown(Type::Number);
        assert_eq!(pair(unknown(), n(1)).equals(&pair(n(1), n(2))), None);
        assert_eq!(pair(n(1), unknown()).equals(&pair(n(2), n(1))), Some(false));
        let open = Value::tuple([Value::unknown(Type::Dynamic)]);
        assert_eq!(open.equals(&Value::tuple([n(1)])), None);
        assert_eq!(open.equals(&n(1)), Some(false));
    }

    #[test]
    fn sets_and_maps() {
        let set = |items: Vec<Value>| Value::set(Type::Number, items);
        assert_eq!(
            set(vec![n(1), n(2)]).equals(&set(vec![n(2), n(1)])),
            Some(true)
        );
        assert_eq!(set(vec![n(1)]).equals(&set(vec![n(2), n(1)])), Some(false));
        assert_eq!(
            set(vec![n(1)]).equals(&set(vec![Value::unknown(Type::Number)])),
            None
        );
        let nested = |v| Value::tuple([v]);
        let ty = Type::tuple([Type::Number]);
        let holding = Value::set(ty.clone(), vec![nested(Value::unknown(Type::Number))]);
        assert_eq!(
            holding.equals(&Value::set(ty, vec![nested(n(1))])),
            Some(false)
        );
        let map = |k: &str, v| Value::map(Type::Number, [(k, v)]);
        assert_eq!(map("a", n(1)).equals(&map("a", n(1))), Some(true));
        assert_eq!(map("a", n(1)).equals(&map("b", n(1))), Some(false));
        assert_eq!(
            map("a", n(1)).equals(&map("a", Value::unknown(Type::Number))),
            None
        );
    }

    #[test]
    fn ignoring_refinements() {
        let a = Value::tuple([
            refined(
                Type::String,
                Refinement {
                    not_null: true,
                    ..Refinement::default()
                },
            ),
            n(1),
        ]);
        let b = Value::tuple([Value::unknown(Type::String), n(1)]);
        assert_ne!(a, b);
        assert!(a.unrefined_eq(&b));
        assert!(!a.unrefined_eq(&Value::tuple([Value::unknown(Type::Bool), n(1)])));
        assert!(!a.unrefined_eq(&Value::tuple([Value::null(Type::String), n(1)])));
    }
}
