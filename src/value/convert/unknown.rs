//! Types and refinements of converted nulls and unknowns.

use crate::value::{Refinement, Type, Unknown, Value};

use super::unify::unify;

/// The wanted type, its open parts filled in from the given one where that is possible.
pub(super) fn resolve(given: &Type, wanted: &Type) -> Type {
    if !wanted.has_dynamic() {
        return wanted.clone();
    }
    let common = |parts: &[Type], wanted: &Type| match unify(parts) {
        Some(common) => resolve(&common, wanted),
        None => wanted.clone(),
    };
    match (given, wanted) {
        (Type::Dynamic, _) => wanted.clone(),
        (_, Type::Dynamic) => given.clone(),
        (Type::Map(a), Type::Map(b)) => Type::map(resolve(a, b)),
        (Type::Object(a), Type::Map(b)) => {
            let parts: Vec<Type> = a.attributes.values().cloned().collect();
            Type::map(common(&parts, b))
        }
        (Type::List(a) | Type::Set(a), Type::List(b)) => Type::list(resolve(a, b)),
        (Type::List(a) | Type::Set(a), Type::Set(b)) => Type::set(resolve(a, b)),
        (Type::Tuple(a), Type::List(b)) => Type::list(common(a, b)),
        (Type::Tuple(a), Type::Set(b)) => Type::set(common(a, b)),
        (Type::Map(a), Type::Object(b)) => {
            Type::object(b.attributes.iter().map(|(k, t)| (k.clone(), resolve(a, t))))
        }
        (Type::Object(a), Type::Object(b)) => {
            Type::object(b.attributes.iter().map(|(k, t)| match a.attributes.get(k) {
                Some(given) => (k.clone(), resolve(given, t)),
                None => (k.clone(), t.clone()),
            }))
        }
        (Type::Tuple(a), Type::Tuple(b)) if a.len() == b.len() => Type::tuple(
            std::iter::zip(a.iter(), b.iter())
                .map(|(a, b)| resolve(a, b))
                .collect::<Vec<_>>(),
        ),
        _ => wanted.clone(),
    }
}

/// The unknown value that converting one to `ty` gives, with what stays known about it.
pub(super) fn unknown(from: &Unknown, ty: Type) -> Value {
    let mut refinement = Refinement::default();
    if ty != Type::Dynamic {
        refinement.not_null = from.refinement.not_null;
    }
    let exactly = |n: usize| (Some(n as u64).filter(|n| *n > 0), Some(n as u64));
    let length = match (&from.ty, &ty) {
        (Type::Object(o), Type::Map(_)) => exactly(o.attributes.len()),
        (Type::Tuple(items), Type::List(_)) => exactly(items.len()),
        // Elements may turn out equal, but not all of them vanish.
        (Type::Tuple(items), Type::Set(_)) => (
            Some(1).filter(|_| !items.is_empty()),
            Some(items.len() as u64),
        ),
        (given, Type::Set(_)) if given.is_collection() => (
            from.refinement.min_length.map(|n| n.min(1)),
            from.refinement.max_length,
        ),
        (given, wanted) if given.is_collection() && wanted.is_collection() => {
            (from.refinement.min_length, from.refinement.max_length)
        }
        _ => (None, None),
    };
    (refinement.min_length, refinement.max_length) = length;
    Unknown { ty, refinement }.decided()
}
