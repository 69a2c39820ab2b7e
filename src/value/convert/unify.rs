//! The most general of several types: what elements of mixed types become.

use crate::value::{ObjectType, Type};

use super::possible::{Mode, same_or_possible};

/// The type that values of all these types convert to, if there is one.
///
/// Objects with the same attributes and tuples of one length unify part by part, otherwise as maps and lists; a mixture
/// of primitives becomes a string. `None` for no types at all.
pub fn unify(types: &[Type]) -> Option<Type> {
    unify_with(types, Mode::Any)
}

pub(super) fn unify_with(types: &[Type], mode: Mode) -> Option<Type> {
    let first = types.first()?;
    if types.iter().all(|t| t == first) && !matches!(first, Type::Object(_) | Type::Tuple(_)) {
        return Some(first.clone());
    }
    let count = |is: fn(&Type) -> bool| types.iter().filter(|t| is(t)).count();
    let dynamics = count(|t| *t == Type::Dynamic);
    let maps = count(|t| matches!(t, Type::Map(_)));
    let lists = count(|t| matches!(t, Type::List(_)));
    let sets = count(|t| matches!(t, Type::Set(_)));
    let objects = count(|t| matches!(t, Type::Object(_)));
    let tuples = count(|t| matches!(t, Type::Tuple(_)));
    let all_are = |n: usize| n > 0 && n + dynamics == types.len();

    if [maps, lists, sets, objects, tuples]
        .into_iter()
        .any(all_are)
        && dynamics > 0
    {
        // What the open ones turn out to be may change the answer.
        return Some(Type::Dynamic);
    }
    if all_are(maps) {
        return unify_collections(types, Type::map, mode);
    }
    if all_are(lists) {
        return unify_collections(types, Type::list, mode);
    }
    if all_are(sets) {
        return unify_collections(types, Type::set, mode);
    }
    if all_are(objects) {
        return unify_objects(types, mode);
    }
    if all_are(tuples) {
        return unify_tuples(types, mode);
    }
    if objects > 0 && tuples > 0 {
        return None;
    }
    let merged = if maps > 0 && all_are(maps + objects) {
        merge(types, |t| matches!(t, Type::Object(_)), as_map, mode)
            .filter(|t| matches!(t, Type::Map(_)))
    } else if lists > 0 && all_are(lists + tuples) {
        merge(types, |t| matches!(t, Type::Tuple(_)), as_list, mode)
            .filter(|t| matches!(t, Type::List(_)))
    } else {
        None
    };
    merged.or_else(|| most_general(types, mode))
}

fn unify_collections(types: &[Type], collection: fn(Type) -> Type, mode: Mode) -> Option<Type> {
    let elements: Vec<Type> = types.iter().filter_map(Type::element).cloned().collect();
    let unified = collection(unify_with(&elements, mode)?);
    all_convert(types, &unified, mode).then_some(unified)
}

fn all_convert(types: &[Type], unified: &Type, mode: Mode) -> bool {
    types.iter().all(|t| same_or_possible(t, unified, mode))
}

/// Puts what the `structural` types have in common as a collection in their place, and unifies again.
fn merge(
    types: &[Type],
    structural: fn(&Type) -> bool,
    as_collection: fn(&[Type], Mode) -> Option<Type>,
    mode: Mode,
) -> Option<Type> {
    let some: Vec<Type> = types.iter().filter(|t| structural(t)).cloned().collect();
    let collection = as_collection(&some, mode)?;
    let replaced: Vec<Type> = types
        .iter()
        .map(|t| if structural(t) { &collection } else { t })
        .cloned()
        .collect();
    unify_with(&replaced, mode)
}

fn unify_objects(types: &[Type], mode: Mode) -> Option<Type> {
    let objects: Vec<&ObjectType> = types
        .iter()
        .filter_map(|t| match t {
            Type::Object(o) => Some(&**o),
            _ => None,
        })
        .collect();
    let (first, rest) = objects.split_first()?;
    if rest
        .iter()
        .any(|o| o.attributes.keys().ne(first.attributes.keys()))
    {
        return as_map(types, mode);
    }
    let attributes: Option<Vec<_>> = first
        .attributes
        .keys()
        .map(|name| {
            let across: Vec<Type> = objects.iter().map(|o| o.attributes[name].clone()).collect();
            Some((name.clone(), unify_with(&across, mode)?))
        })
        .collect();
    let unified = Type::object(attributes?);
    if all_convert(types, &unified, mode) {
        Some(unified)
    } else {
        as_map(types, mode)
    }
}

fn unify_tuples(types: &[Type], mode: Mode) -> Option<Type> {
    let tuples: Vec<&[Type]> = types
        .iter()
        .filter_map(|t| match t {
            Type::Tuple(items) => Some(&**items),
            _ => None,
        })
        .collect();
    let (first, rest) = tuples.split_first()?;
    if rest.iter().any(|t| t.len() != first.len()) {
        return as_list(types, mode);
    }
    let items: Option<Vec<_>> = (0..first.len())
        .map(|i| {
            let across: Vec<Type> = tuples.iter().map(|t| t[i].clone()).collect();
            unify_with(&across, mode)
        })
        .collect();
    let unified = Type::tuple(items?);
    if all_convert(types, &unified, mode) {
        Some(unified)
    } else {
        as_list(types, mode)
    }
}

/// The map type that all these object types convert to.
fn as_map(types: &[Type], mode: Mode) -> Option<Type> {
    let parts = types.iter().flat_map(|t| match t {
        Type::Object(o) => o.attributes.values().cloned().collect(),
        _ => vec![],
    });
    let unified = Type::map(unify_with(&parts.collect::<Vec<_>>(), mode)?);
    all_convert(types, &unified, mode).then_some(unified)
}

/// The list type that all these tuple types convert to.
fn as_list(types: &[Type], mode: Mode) -> Option<Type> {
    let parts = types.iter().flat_map(|t| match t {
        Type::Tuple(items) => items.to_vec(),
        _ => vec![],
    });
    let unified = Type::list(unify_with(&parts.collect::<Vec<_>>(), mode)?);
    all_convert(types, &unified, mode).then_some(unified)
}

/// The first of the given types, most general first, that all others convert to.
fn most_general(types: &[Type], mode: Mode) -> Option<Type> {
    by_generality(types)
        .into_iter()
        .find(|wanted| all_convert(types, wanted, mode))
        .cloned()
}

/// Topological order by "more general than", ties in the given order.
fn by_generality(types: &[Type]) -> Vec<&Type> {
    // Equal types are interchangeable; few distinct ones remain.
    let mut distinct: Vec<&Type> = Vec::new();
    for t in types {
        if !distinct.contains(&t) {
            distinct.push(t);
        }
    }
    let n = distinct.len();
    let above = |a: usize, b: usize| generality(distinct[a], distinct[b]) > 0;
    let mut waiting: Vec<usize> = (0..n)
        .map(|i| (0..n).filter(|j| above(*j, i)).count())
        .collect();
    let mut order: Vec<usize> = (0..n).filter(|i| waiting[*i] == 0).collect();
    let mut next = 0;
    while let Some(&i) = order.get(next) {
        next += 1;
        for (j, above_it) in waiting.iter_mut().enumerate() {
            if above(i, j) {
                *above_it -= 1;
                if *above_it == 0 {
                    order.push(j);
                }
            }
        }
    }
    order.into_iter().map(|i| distinct[i]).collect()
}

/// Positive if `a` is to be preferred over `b` as the more general, negative for the reverse.
fn generality(a: &Type, b: &Type) -> i32 {
    match (a, b) {
        (Type::Dynamic, Type::Dynamic) => 0,
        (Type::List(a), Type::List(b))
        | (Type::Set(a), Type::Set(b))
        | (Type::Map(a), Type::Map(b)) => generality(a, b),
        // Whether the elements allow it is found out when conversion is tried.
        (_, Type::Dynamic)
        | (Type::String, Type::Number | Type::Bool)
        | (Type::List(_), Type::Tuple(_) | Type::Set(_))
        | (Type::Tuple(_), Type::Set(_))
        | (Type::Map(_), Type::Object(_)) => 1,
        (Type::Dynamic, _)
        | (Type::Number | Type::Bool, Type::String)
        | (Type::Tuple(_) | Type::Set(_), Type::List(_))
        | (Type::Set(_), Type::Tuple(_))
        | (Type::Object(_), Type::Map(_)) => -1,
        (Type::Object(a), Type::Object(b)) if a.attributes.keys().eq(b.attributes.keys()) => {
            together(a.attributes.values().zip(b.attributes.values()))
        }
        (Type::Tuple(a), Type::Tuple(b)) if a.len() == b.len() => together(a.iter().zip(b.iter())),
        _ => 0,
    }
}

/// Neither is more general if the parts disagree about it.
fn together<'a>(parts: impl Iterator<Item = (&'a Type, &'a Type)>) -> i32 {
    let (mut up, mut down) = (false, false);
    for (a, b) in parts {
        let order = generality(a, b);
        up |= order > 0;
        down |= order < 0;
    }
    i32::from(up) - i32::from(down)
}
