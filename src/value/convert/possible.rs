//! Which types convert to which, without looking at values.

use crate::value::{ObjectType, Type};

use super::unify::unify_with;

/// Which conversions count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Those that cannot fail and lose nothing.
    Safe,
    /// Those that may fail for some values as well.
    Any,
}

/// Whether values of type `given` convert to `wanted`, which may have optional attributes.
pub(super) fn is_possible(given: &Type, wanted: &Type, mode: Mode) -> bool {
    let any = mode == Mode::Any;
    match (given, wanted) {
        (_, Type::Dynamic) | (Type::Number | Type::Bool, Type::String) => true,
        (Type::Dynamic, _) | (Type::String, Type::Number | Type::Bool) => any,
        (Type::Object(a), Type::Object(b)) => object_to_object(a, b, mode),
        (Type::Tuple(a), Type::Tuple(b)) => {
            a.len() == b.len()
                && std::iter::zip(a.iter(), b.iter()).all(|(a, b)| same_or_possible(a, b, mode))
        }
        (Type::List(_), Type::Set(_)) if !any => false,
        (Type::List(a) | Type::Set(a), Type::List(b) | Type::Set(b))
        | (Type::Map(a), Type::Map(b)) => same_or_possible(a, b, mode),
        (Type::Tuple(items), Type::List(element) | Type::Set(element)) => {
            tuple_element(items, element, mode).is_some()
        }
        (Type::Object(object), Type::Map(element)) => {
            let attributes: Vec<Type> = object.attributes.values().cloned().collect();
            parts_to_element(&attributes, element, mode).is_some()
        }
        (Type::Map(element), Type::Object(object)) => {
            any && object.attributes.iter().all(|(name, t)| {
                object.optional.contains(name) || same_or_possible(element, t, mode)
            })
        }
        _ => false,
    }
}

/// As [`is_possible`], where equal types need no conversion.
pub(super) fn same_or_possible(given: &Type, wanted: &Type, mode: Mode) -> bool {
    given == wanted || is_possible(given, wanted, mode)
}

fn object_to_object(given: &ObjectType, wanted: &ObjectType, mode: Mode) -> bool {
    wanted
        .attributes
        .iter()
        .all(|(name, wanted_type)| match given.attributes.get(name) {
            Some(t) => same_or_possible(t, wanted_type, mode),
            None => wanted.optional.contains(name),
        })
}

/// As [`parts_to_element`]; items of a tuple whose common type stays open must all be open themselves.
pub(super) fn tuple_element(items: &[Type], element: &Type, mode: Mode) -> Option<Type> {
    let common = parts_to_element(items, element, mode)?;
    let open = *element == Type::Dynamic && common == Type::Dynamic;
    (!open || items.iter().all(|t| *t == Type::Dynamic)).then_some(common)
}

/// The element type that parts of these types convert to: the wanted one, or what they have in common if it is open.
pub(super) fn parts_to_element(parts: &[Type], element: &Type, mode: Mode) -> Option<Type> {
    let element = if parts.is_empty() || *element != Type::Dynamic {
        element.clone()
    } else {
        unify_with(parts, mode)?
    };
    parts
        .iter()
        .all(|t| same_or_possible(t, &element, mode))
        .then_some(element)
}
