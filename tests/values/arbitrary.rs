//! Random types and values, which shrink.

use std::collections::BTreeMap;

use nivis::value::{Bound, Number, Refinement, Type, Unknown, Value, convert};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Pieces that tend to go wrong: quotes and escapes, text that looks like other types, other normal forms.
const PIECES: &[&str] = &[
    "a",
    "b",
    "Z",
    "0",
    "7",
    "-",
    ".",
    " ",
    "\"",
    "\\",
    "\n",
    "\u{1}",
    "<&>",
    "\u{e9}",
    "e\u{301}",
    "日本",
    "🙂",
    "\u{2028}",
    "\u{a0}",
    "\u{1100}\u{1161}",
    "1",
    "true",
    "long-",
];

pub(super) fn text() -> impl Strategy<Value = String> {
    vec(select(PIECES), 0..4).prop_map(|pieces| pieces.concat())
}

pub(super) fn number() -> impl Strategy<Value = Number> {
    let parsed = |text: String| text.parse().unwrap();
    prop_oneof![
        4 => (-100_i64..100).prop_map(Number::from),
        2 => (any::<i64>(), 0_u32..64).prop_map(|(n, shift)| Number::from(n >> shift)),
        1 => any::<u64>().prop_map(Number::from),
        // Within what every 64-bit float shows exactly in 17 digits.
        2 => (-1_i64 << 40..1 << 40, 0_i32..12).prop_map(|(n, k)| {
            #[expect(clippy::cast_precision_loss, reason = "less than 53 bits")]
            Number::from_f64(n as f64 / f64::from(1 << k)).unwrap()
        }),
        2 => (-1000_i64..1000, any::<u64>()).prop_map(move |(a, b)| parsed(format!("{a}.{b}"))),
        2 => (-1000_i64..1000, -40..40).prop_map(move |(a, b)| parsed(format!("{a}e{b}"))),
        1 => "[1-9][0-9]{0,149}".prop_map(parsed),
        1 => select(vec![Number::INFINITY, Number::NEG_INFINITY]),
    ]
}

/// Any type, `dynamic` parts included.
pub(super) fn any_type() -> BoxedStrategy<Type> {
    types(true)
}

/// A type without `dynamic` parts.
pub(super) fn closed_type() -> BoxedStrategy<Type> {
    types(false)
}

fn types(dynamic: bool) -> BoxedStrategy<Type> {
    let primitives = [Type::String, Type::Number, Type::Bool];
    let leaves = primitives
        .into_iter()
        .chain(dynamic.then_some(Type::Dynamic));
    select(leaves.collect::<Vec<_>>())
        .prop_recursive(3, 12, 4, move |inner| {
            // The elements of a set are of one type that is known.
            let element = if dynamic {
                closed_type()
            } else {
                inner.clone().boxed()
            };
            prop_oneof![
                inner.clone().prop_map(Type::list),
                element.prop_map(Type::set),
                inner.clone().prop_map(Type::map),
                vec((text(), inner.clone()), 0..4).prop_map(Type::object),
                vec(inner, 0..4).prop_map(Type::tuple),
            ]
        })
        .boxed()
}

/// A type that values of the given one may well convert to; it may have optional attributes.
pub(super) fn related_type(ty: &Type) -> BoxedStrategy<Type> {
    let element = |t: &Type| related_type(t);
    let similar = match ty {
        Type::Dynamic | Type::String | Type::Number | Type::Bool => {
            select(vec![Type::String, Type::Number, Type::Bool, Type::Dynamic]).boxed()
        }
        Type::List(t) | Type::Set(t) => prop_oneof![
            element(t).prop_map(Type::list),
            element(t).prop_map(Type::set)
        ]
        .boxed(),
        Type::Map(t) => prop_oneof![
            2 => element(t).prop_map(Type::map),
            1 => {
                // An optional attribute that no element could ever become is a corner of its own.
                let null = Value::null(Type::clone(t));
                let possible = move |a: &Type| convert(&null, a).is_ok();
                let attribute = (text(), element(t), any::<bool>())
                    .prop_map(move |(name, a, optional)| { let optional = optional && possible(&a); (name, a, optional) });
                vec(attribute, 0..3).prop_map(object)
            },
        ]
        .boxed(),
        Type::Tuple(items) => {
            let each: Vec<_> = items.iter().map(related_type).collect();
            let any_one = match items.first() {
                Some(t) => related_type(t),
                None => closed_type(),
            };
            prop_oneof![
                each.prop_map(Type::tuple),
                any_one.clone().prop_map(Type::list),
                any_one.prop_map(Type::set),
            ]
            .boxed()
        }
        Type::Object(o) => {
            let each: Vec<_> = o
                .attributes
                .iter()
                .map(|(k, t)| (Just(k.to_string()), related_type(t), any::<bool>()))
                .collect();
            let any_one = match o.attributes.values().next() {
                Some(t) => related_type(t),
                None => closed_type(),
            };
            let extra = vec((text(), closed_type(), any::<bool>()), 0..2);
            prop_oneof![
                2 => (each, extra).prop_map(|(mut a, b)| {
                    a.extend(b);
                    object(a)
                }),
                1 => any_one.prop_map(Type::map),
            ]
            .boxed()
        }
    };
    prop_oneof![12 => similar, 2 => Just(ty.clone()), 1 => any_type()].boxed()
}

fn object(attributes: Vec<(String, Type, bool)>) -> Type {
    // Of equal names, in any normal form, the last one counts.
    let mut unique: BTreeMap<Value, (String, Type, bool)> = BTreeMap::new();
    for attribute in attributes {
        unique.insert(Value::string(&attribute.0), attribute);
    }
    let optional = unique.values().filter(|(_, _, optional)| *optional);
    let optional: Vec<String> = optional.map(|(name, _, _)| name.clone()).collect();
    Type::object_with_optional(unique.into_values().map(|(k, t, _)| (k, t)), optional)
}

/// A value that conforms to the type.
pub(super) fn value_of(ty: &Type) -> BoxedStrategy<Value> {
    value_at(ty, ty)
}

/// A value of type `actual`, which fills in the open parts of `schema`, or is the same.
///
/// Where it fills in parts, nulls, unknowns and empty collections would lose their type on the wire: there are none.
fn value_at(schema: &Type, actual: &Type) -> BoxedStrategy<Value> {
    if *actual == Type::Dynamic {
        return prop_oneof![
            4 => closed_type().prop_flat_map(|t| value_of(&t)),
            1 => Just(Value::unknown(Type::Dynamic)),
            1 => Just(Value::null(Type::Dynamic)),
        ]
        .boxed();
    }
    if *schema == Type::Dynamic {
        return value_of(actual);
    }
    let known = known_value(schema, actual);
    if schema != actual {
        return known;
    }
    prop_oneof![
        10 => known,
        1 => Just(Value::null(actual.clone())),
        1 => unknown(actual),
    ]
    .boxed()
}

fn known_value(schema: &Type, actual: &Type) -> BoxedStrategy<Value> {
    let least = usize::from(schema != actual);
    match (schema, actual) {
        (_, Type::String) => text().prop_map(Value::string).boxed(),
        (_, Type::Number) => number().prop_map(Value::Number).boxed(),
        (_, Type::Bool) => any::<bool>().prop_map(Value::Bool).boxed(),
        (Type::List(open), Type::List(t)) => elements(open, t, least, Value::list),
        (Type::Set(open), Type::Set(t)) => elements(open, t, least, Value::set),
        (Type::Map(open), Type::Map(t)) => {
            let keys = vec(text(), 4);
            let build = |(keys, values): (Vec<String>, Value)| match values {
                Value::List(s) => Value::map(
                    s.element.clone(),
                    keys.into_iter().zip(s.items.iter().cloned()),
                ),
                other => other,
            };
            (keys, elements(open, t, least, Value::list))
                .prop_map(build)
                .boxed()
        }
        (Type::Tuple(open), Type::Tuple(items)) => {
            let each: Vec<_> = std::iter::zip(open.iter(), items.iter())
                .map(|(open, t)| value_at(open, t))
                .collect();
            each.prop_map(Value::tuple).boxed()
        }
        (Type::Object(open), Type::Object(o)) => {
            let each: Vec<_> = o
                .attributes
                .iter()
                .map(|(k, t)| (Just(k.clone()), value_at(&open.attributes[k], t)))
                .collect();
            each.prop_map(Value::object).boxed()
        }
        _ => unreachable!("{actual} does not fill in {schema}"),
    }
}

fn elements(
    schema: &Type,
    actual: &Type,
    least: usize,
    build: fn(Type, Vec<Value>) -> Value,
) -> BoxedStrategy<Value> {
    let schema = schema.clone();
    filled(actual)
        .prop_flat_map(move |(open, t)| {
            vec(value_at(&schema, &t), least..4).prop_map(move |items| {
                // An empty collection leaves open what its elements would be.
                let element = if items.is_empty() { &open } else { &t };
                build(element.clone(), items)
            })
        })
        .boxed()
}

/// The type, and the same with closed types in the place of `dynamic`, since the elements of a collection agree in type.
fn filled(ty: &Type) -> BoxedStrategy<(Type, Type)> {
    let open = ty.clone();
    fill(ty).prop_map(move |t| (open.clone(), t)).boxed()
}

fn fill(ty: &Type) -> BoxedStrategy<Type> {
    if !ty.has_dynamic() {
        return Just(ty.clone()).boxed();
    }
    match ty {
        Type::List(t) => fill(t).prop_map(Type::list).boxed(),
        Type::Map(t) => fill(t).prop_map(Type::map).boxed(),
        Type::Tuple(items) => {
            let each: Vec<_> = items.iter().map(fill).collect();
            each.prop_map(Type::tuple).boxed()
        }
        Type::Object(o) => {
            let each: Vec<_> = o
                .attributes
                .iter()
                .map(|(k, t)| (Just(k.clone()), fill(t)))
                .collect();
            each.prop_map(Type::object).boxed()
        }
        _ => closed_type(),
    }
}

fn unknown(ty: &Type) -> BoxedStrategy<Value> {
    let ty = ty.clone();
    let bound = |value: i64, inclusive| {
        Some(Bound {
            value: value.into(),
            inclusive,
        })
    };
    let bounds = (-50_i64..50, any::<bool>(), 1_i64..5, any::<bool>());
    let lengths = (0_u64..3, 0_u64..3);
    (any::<bool>(), 0..4, text(), bounds, lengths)
        .prop_map(
            move |(not_null, which, prefix, (low, low_in, more, high_in), (least, extra))| {
                let mut refinement = Refinement {
                    not_null,
                    ..Refinement::default()
                };
                let (lower, upper) = (which & 1 != 0, which & 2 != 0);
                match &ty {
                    Type::String if lower => {
                        let normal = Value::string(prefix);
                        refinement.prefix =
                            normal.as_str().filter(|p| !p.is_empty()).map(Into::into);
                    }
                    Type::Number => {
                        refinement.min = bound(low, low_in).filter(|_| lower);
                        refinement.max = bound(low + more, high_in).filter(|_| upper);
                    }
                    t if t.is_collection() => {
                        refinement.min_length = Some(least).filter(|n| lower && *n > 0);
                        refinement.max_length = Some(least + extra).filter(|_| upper);
                    }
                    _ => {}
                }
                let ty = ty.clone();
                Unknown { ty, refinement }.decided()
            },
        )
        .boxed()
}
