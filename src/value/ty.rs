//! Types of values, as the plugin protocol's "type constraints" name them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Str;

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

    /// An object type without optional attributes.
    pub fn object<K: Into<Str>>(attributes: impl IntoIterator<Item = (K, Self)>) -> Self {
        let attributes = attributes.into_iter().map(|(k, t)| (k.into(), t)).collect();
        Self::Object(Arc::new(ObjectType {
            attributes,
            optional: BTreeSet::new(),
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
}
