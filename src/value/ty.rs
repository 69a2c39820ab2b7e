//! Types of values, as the plugin protocol's "type constraints" name them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::Str;
use super::text::nfc_str;

/// The type of a value, or a constraint on one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// Any type, decided at run time. As the type of a value: the type of an untyped null or unknown.
    Dynamic,
    /// Unicode text in NFC.
    String,
    /// An exact decimal number.
    Number,
    /// A truth value.
    Bool,
    /// Ordered elements of one type.
    List(Arc<Type>),
    /// Unordered distinct elements of one type.
    Set(Arc<Type>),
    /// Elements of one type by string key.
    Map(Arc<Type>),
    /// Attributes, each with its own type.
    Object(Arc<ObjectType>),
    /// Ordered elements, each with its own type.
    Tuple(Arc<[Type]>),
}

/// The attributes of an object type.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectType {
    /// Attribute types by name.
    pub attributes: BTreeMap<Str, Type>,
    /// Names that a conversion may fill with null; part of a conversion target only, never of a value's type.
    pub optional: BTreeSet<Str>,
}

impl Type {
    /// `list(element)`.
    pub fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    /// `set(element)`.
    pub fn set(element: Self) -> Self {
        Self::Set(Arc::new(element))
    }

    /// `map(element)`.
    pub fn map(element: Self) -> Self {
        Self::Map(Arc::new(element))
    }

    /// An object type without optional attributes; names are brought to NFC.
    pub fn object<K: Into<Str>>(attributes: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::object_with_optional(attributes, std::iter::empty::<Str>())
    }

    /// An object type for conversions, some of whose attributes may be absent.
    pub fn object_with_optional<K: Into<Str>, O: Into<Str>>(
        attributes: impl IntoIterator<Item = (K, Self)>,
        optional: impl IntoIterator<Item = O>,
    ) -> Self {
        Self::Object(Arc::new(ObjectType {
            attributes: attributes
                .into_iter()
                .map(|(k, t)| (nfc_str(k.into()), t))
                .collect(),
            optional: optional.into_iter().map(|k| nfc_str(k.into())).collect(),
        }))
    }

    /// A tuple type.
    pub fn tuple(elements: impl Into<Arc<[Self]>>) -> Self {
        Self::Tuple(elements.into())
    }

    /// Whether `dynamic` occurs anywhere inside, this type included.
    pub fn has_dynamic(&self) -> bool {
        match self {
            Self::Dynamic => true,
            Self::String | Self::Number | Self::Bool => false,
            Self::List(t) | Self::Set(t) | Self::Map(t) => t.has_dynamic(),
            Self::Object(o) => o.attributes.values().any(Self::has_dynamic),
            Self::Tuple(ts) => ts.iter().any(Self::has_dynamic),
        }
    }

    /// Whether it is a list, a set or a map.
    pub fn is_collection(&self) -> bool {
        matches!(self, Self::List(_) | Self::Set(_) | Self::Map(_))
    }

    /// Whether it is a string, a number or a truth value.
    pub fn is_primitive(&self) -> bool {
        matches!(self, Self::String | Self::Number | Self::Bool)
    }

    /// The type of the elements of a list, set or map.
    pub fn element(&self) -> Option<&Self> {
        match self {
            Self::List(t) | Self::Set(t) | Self::Map(t) => Some(t),
            _ => None,
        }
    }

    /// Whether an object type with optional attributes occurs anywhere inside.
    pub fn has_optional_attributes(&self) -> bool {
        match self {
            Self::Dynamic | Self::String | Self::Number | Self::Bool => false,
            Self::List(t) | Self::Set(t) | Self::Map(t) => t.has_optional_attributes(),
            Self::Object(o) => {
                !o.optional.is_empty() || o.attributes.values().any(Self::has_optional_attributes)
            }
            Self::Tuple(ts) => ts.iter().any(Self::has_optional_attributes),
        }
    }

    /// The type of values converted to this one: the same, all attributes required.
    #[must_use]
    pub fn without_optional_attributes(&self) -> Self {
        if !self.has_optional_attributes() {
            return self.clone();
        }
        match self {
            Self::Dynamic | Self::String | Self::Number | Self::Bool => self.clone(),
            Self::List(t) => Self::list(t.without_optional_attributes()),
            Self::Set(t) => Self::set(t.without_optional_attributes()),
            Self::Map(t) => Self::map(t.without_optional_attributes()),
            Self::Object(o) => Self::object(
                o.attributes
                    .iter()
                    .map(|(k, t)| (k.clone(), t.without_optional_attributes())),
            ),
            Self::Tuple(ts) => Self::tuple(
                ts.iter()
                    .map(Self::without_optional_attributes)
                    .collect::<Vec<_>>(),
            ),
        }
    }
}

impl fmt::Display for Type {
    /// As people write it: `list(string)`, `object({a=string, b=optional(number)})`, `tuple([bool, any])`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dynamic => f.write_str("any"),
            Self::String => f.write_str("string"),
            Self::Number => f.write_str("number"),
            Self::Bool => f.write_str("bool"),
            Self::List(t) => write!(f, "list({t})"),
            Self::Set(t) => write!(f, "set({t})"),
            Self::Map(t) => write!(f, "map({t})"),
            Self::Object(o) => o.fmt(f),
            Self::Tuple(ts) => {
                f.write_str("tuple([")?;
                for (i, t) in ts.iter().enumerate() {
                    write!(f, "{}{t}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str("])")
            }
        }
    }
}

impl fmt::Display for ObjectType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("object({")?;
        for (i, (name, t)) in self.attributes.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { ", " })?;
            if self.optional.contains(name) {
                write!(f, "{name}=optional({t})")?;
            } else {
                write!(f, "{name}={t}")?;
            }
        }
        f.write_str("})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let object = Type::object_with_optional(
            [("b", Type::set(Type::Number)), ("a", Type::map(Type::Bool))],
            ["b"],
        );
        for (ty, name) in [
            (Type::Dynamic, "any"),
            (Type::list(Type::String), "list(string)"),
            (
                object.clone(),
                "object({a=map(bool), b=optional(set(number))})",
            ),
            (
                Type::tuple([Type::String, Type::Dynamic]),
                "tuple([string, any])",
            ),
            (Type::tuple([]), "tuple([])"),
        ] {
            assert_eq!(ty.to_string(), name);
        }
        assert_eq!(
            Type::list(object).without_optional_attributes().to_string(),
            "list(object({a=map(bool), b=set(number)}))"
        );
    }

    #[test]
    fn names_of_attributes_are_nfc() {
        let composed = Type::object([("\u{e9}", Type::String)]);
        assert_eq!(Type::object([("e\u{301}", Type::String)]), composed);
    }
}
