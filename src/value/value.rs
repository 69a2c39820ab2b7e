//! Values as providers exchange them.

use std::sync::Arc;

use super::text::{nfc, nfc_str};
use super::{Entries, Number, Str, Type, Unknown};

/// A value: known, null of a type, or unknown of a type. Cheap to clone.
///
/// `==` is structural identity (cty's "raw equals"): same type, same nullness, same unknowns with the same refinements.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// Null of a type.
    Null(Type),
    /// Unknown of a type, with refinements.
    Unknown(Box<Unknown>),
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(Number),
    /// Text in NFC; build it with [`Value::string`].
    String(Str),
    /// A list.
    List(Arc<Sequence>),
    /// A set, in canonical order without duplicates; build it with [`Value::set`].
    Set(Arc<Sequence>),
    /// A map.
    Map(Arc<MapValue>),
    /// An object.
    Object(Arc<Entries>),
    /// A tuple.
    Tuple(Arc<[Value]>),
}

/// Elements of one type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence {
    /// Type of every element.
    pub element: Type,
    /// The elements.
    pub items: Vec<Value>,
}

/// Elements of one type by key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MapValue {
    /// Type of every element.
    pub element: Type,
    /// The elements.
    pub entries: Entries,
}

impl Value {
    /// Null of type `ty`.
    pub fn null(ty: Type) -> Self {
        Self::Null(ty)
    }

    /// Unknown of type `ty`, nothing known about it.
    pub fn unknown(ty: Type) -> Self {
        Unknown {
            ty,
            refinement: super::Refinement::default(),
        }
        .into_value()
    }

    /// Text, brought to Unicode NFC.
    pub fn string(s: impl AsRef<str>) -> Self {
        Self::String(nfc(s.as_ref()).into())
    }

    /// A list of elements that all have type `element`.
    pub fn list(element: Type, items: Vec<Self>) -> Self {
        Self::List(Arc::new(Sequence { element, items }))
    }

    /// A set of elements that all have type `element`: brings them into canonical order and drops duplicates. Elements
    /// that hold unknowns are never duplicates.
    pub fn set(element: Type, mut items: Vec<Self>) -> Self {
        super::set::canonicalize(&mut items);
        Self::Set(Arc::new(Sequence { element, items }))
    }

    /// A map of elements that all have type `element`; keys are brought to NFC.
    pub fn map<K: Into<Str>>(element: Type, entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        let entries = normal_entries(entries);
        Self::Map(Arc::new(MapValue { element, entries }))
    }

    /// An object; attribute names are brought to NFC.
    pub fn object<K: Into<Str>>(attributes: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Object(Arc::new(normal_entries(attributes)))
    }

    /// A tuple.
    pub fn tuple(items: impl Into<Arc<[Self]>>) -> Self {
        Self::Tuple(items.into())
    }

    /// The type.
    pub fn ty(&self) -> Type {
        match self {
            Self::Null(t) => t.clone(),
            Self::Unknown(u) => u.ty.clone(),
            Self::Bool(_) => Type::Bool,
            Self::Number(_) => Type::Number,
            Self::String(_) => Type::String,
            Self::List(s) => Type::list(s.element.clone()),
            Self::Set(s) => Type::set(s.element.clone()),
            Self::Map(m) => Type::map(m.element.clone()),
            Self::Object(o) => Type::object(o.iter().map(|(k, v)| (k.clone(), v.ty()))),
            Self::Tuple(items) => Type::tuple(items.iter().map(Self::ty).collect::<Vec<_>>()),
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null(_))
    }

    /// Whether the value itself is known; parts of it may not be.
    pub fn is_known(&self) -> bool {
        !matches!(self, Self::Unknown(_))
    }

    /// Whether it and everything inside it is known.
    pub fn is_wholly_known(&self) -> bool {
        match self {
            Self::Unknown(_) => false,
            Self::Null(_) | Self::Bool(_) | Self::Number(_) | Self::String(_) => true,
            Self::List(s) | Self::Set(s) => s.items.iter().all(Self::is_wholly_known),
            Self::Map(m) => m.entries.iter().all(|(_, v)| v.is_wholly_known()),
            Self::Object(o) => o.iter().all(|(_, v)| v.is_wholly_known()),
            Self::Tuple(items) => items.iter().all(Self::is_wholly_known),
        }
    }

    /// The attribute of an object value; `None` if this is not a known object or has no such attribute.
    pub fn attribute(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(o) => o.get(name),
            _ => None,
        }
    }

    /// Text, if this is a known string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(s) => Some(s),
            _ => None,
        }
    }
}

fn normal_entries<K: Into<Str>>(entries: impl IntoIterator<Item = (K, Value)>) -> Entries {
    entries
        .into_iter()
        .map(|(k, v)| (nfc_str(k.into()), v))
        .collect()
}
