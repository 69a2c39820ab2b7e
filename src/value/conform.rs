//! Whether values and types fit a schema's type constraint.

use std::sync::Arc;

use super::{Entries, Type, Value};

impl Type {
    /// Whether values of this type fit the constraint `schema`: equal, except that `dynamic` in the constraint accepts
    /// anything.
    pub fn conforms(&self, schema: &Self) -> bool {
        match (self, schema) {
            (_, Self::Dynamic)
            | (Self::String, Self::String)
            | (Self::Number, Self::Number)
            | (Self::Bool, Self::Bool) => true,
            (Self::List(a), Self::List(b))
            | (Self::Set(a), Self::Set(b))
            | (Self::Map(a), Self::Map(b)) => Arc::ptr_eq(a, b) || a.conforms(b),
            (Self::Object(a), Self::Object(b)) => {
                Arc::ptr_eq(a, b)
                    || a.attributes.len() == b.attributes.len()
                        && std::iter::zip(&a.attributes, &b.attributes)
                            .all(|((ka, ta), (kb, tb))| ka == kb && ta.conforms(tb))
            }
            (Self::Tuple(a), Self::Tuple(b)) => {
                Arc::ptr_eq(a, b)
                    || a.len() == b.len()
                        && std::iter::zip(a.iter(), b.iter()).all(|(a, b)| a.conforms(b))
            }
            _ => false,
        }
    }
}

impl Value {
    /// Whether the value's type fits the constraint, as [`Type::conforms`], without building that type.
    pub fn conforms_to(&self, schema: &Type) -> bool {
        match (self, schema) {
            (_, Type::Dynamic)
            | (Self::String(_), Type::String)
            | (Self::Number(_), Type::Number)
            | (Self::Bool(_), Type::Bool) => true,
            (Self::Null(t), _) => t.conforms(schema),
            (Self::Unknown(u), _) => u.ty.conforms(schema),
            (Self::List(s), Type::List(t)) | (Self::Set(s), Type::Set(t)) => s.element.conforms(t),
            (Self::Map(m), Type::Map(t)) => m.element.conforms(t),
            (Self::Object(entries), Type::Object(o)) => {
                entries.len() == o.attributes.len()
                    && std::iter::zip(entries.iter(), &o.attributes)
                        .all(|((ka, v), (kb, t))| ka == kb && v.conforms_to(t))
            }
            (Self::Tuple(items), Type::Tuple(ts)) => {
                items.len() == ts.len()
                    && std::iter::zip(items.iter(), ts.iter()).all(|(v, t)| v.conforms_to(t))
            }
            _ => false,
        }
    }

    /// Whether the value has exactly this type.
    pub fn has_type(&self, ty: &Type) -> bool {
        match (self, ty) {
            (Self::String(_), Type::String)
            | (Self::Number(_), Type::Number)
            | (Self::Bool(_), Type::Bool) => true,
            (Self::Null(t), _) => t == ty,
            (Self::Unknown(u), _) => u.ty == *ty,
            (Self::List(s), Type::List(t)) | (Self::Set(s), Type::Set(t)) => s.element == **t,
            (Self::Map(m), Type::Map(t)) => m.element == **t,
            (Self::Object(entries), Type::Object(o)) => {
                o.optional.is_empty()
                    && entries.len() == o.attributes.len()
                    && std::iter::zip(entries.iter(), &o.attributes)
                        .all(|((ka, v), (kb, t))| ka == kb && v.has_type(t))
            }
            (Self::Tuple(items), Type::Tuple(ts)) => {
                items.len() == ts.len()
                    && std::iter::zip(items.iter(), ts.iter()).all(|(v, t)| v.has_type(t))
            }
            _ => false,
        }
    }
}

/// The one type of the elements of a collection; elements whose own type is open do not count. `None` if they differ.
fn element_type<'a>(items: impl IntoIterator<Item = &'a Value>) -> Option<Type> {
    let mut element = Type::Dynamic;
    for item in items {
        if element == Type::Dynamic {
            element = item.ty();
        } else if !item.has_type(&Type::Dynamic) && !item.has_type(&element) {
            return None;
        }
    }
    Some(element)
}

/// Finds the one type of the elements of a collection, and gives it to nulls and unknowns of open type among them.
/// `None` if the elements differ in type.
pub(super) fn settle_items(items: &mut [Value]) -> Option<Type> {
    let element = element_type(&*items)?;
    for item in items.iter_mut() {
        settle(item, &element);
    }
    Some(element)
}

/// As [`settle_items`], for the elements of a map.
pub(super) fn settle_entries(entries: &mut Entries) -> Option<Type> {
    let element = element_type(entries.values())?;
    for item in entries.values_mut() {
        settle(item, &element);
    }
    Some(element)
}

fn settle(item: &mut Value, element: &Type) {
    match item {
        Value::Null(ty @ Type::Dynamic) => *ty = element.clone(),
        Value::Unknown(unknown) if unknown.ty == Type::Dynamic => unknown.ty = element.clone(),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conformance() {
        let a = |t| Type::object([("a", t)]);
        for (given, wanted, ok) in [
            (Type::String, Type::String, true),
            (Type::String, Type::Dynamic, true),
            (Type::Dynamic, Type::String, false),
            (Type::list(Type::String), Type::list(Type::Dynamic), true),
            (Type::list(Type::String), Type::set(Type::String), false),
            (a(Type::Bool), a(Type::Dynamic), true),
            (a(Type::Bool), a(Type::String), false),
            (a(Type::Bool), Type::object([("b", Type::Bool)]), false),
            (
                a(Type::Bool),
                Type::object([("a", Type::Bool), ("b", Type::Bool)]),
                false,
            ),
            (a(Type::Bool), Type::map(Type::Bool), false),
            (
                Type::tuple([Type::Bool]),
                Type::tuple([Type::Dynamic]),
                true,
            ),
            (Type::tuple([Type::Bool]), Type::tuple([]), false),
        ] {
            assert_eq!(given.conforms(&wanted), ok, "{given} {wanted}");
            assert_eq!(
                Value::null(given.clone()).conforms_to(&wanted),
                ok,
                "{given} {wanted}"
            );
            assert_eq!(Value::unknown(given.clone()).conforms_to(&wanted), ok);
        }
        let object = Value::object([("a", Value::list(Type::String, vec![]))]);
        assert!(object.conforms_to(&a(Type::list(Type::Dynamic))));
        assert!(!object.conforms_to(&a(Type::list(Type::Bool))));
        assert!(object.has_type(&object.ty()));
        assert!(!object.has_type(&a(Type::list(Type::Dynamic))));
    }

    #[test]
    fn elements_settle_on_a_type() {
        let null = Value::null(Type::Dynamic);
        let text = Value::string("a");
        assert_eq!(settle_items(&mut []), Some(Type::Dynamic));
        let mut items = [null, text.clone(), Value::unknown(Type::Dynamic)];
        assert_eq!(settle_items(&mut items), Some(Type::String));
        let settled = [
            Value::null(Type::String),
            text.clone(),
            Value::unknown(Type::String),
        ];
        assert_eq!(items, settled);
        assert_eq!(settle_items(&mut [text, Value::Bool(true)]), None);
    }
}
