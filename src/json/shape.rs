//! What JSON forgets of a schema and a reader still wants to see: which lists are sets, and what is a block.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::schema::{Attribute, AttributeType, Block, Nesting};
use crate::value::{Str, Type};

/// The shape of one value.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Shape {
    /// What the JSON looks like.
    #[default]
    Plain,
    /// Ordered elements of one shape.
    List(Arc<Shape>),
    /// Unordered elements of one shape.
    Set(Arc<Shape>),
    /// Elements of one shape by key.
    Map(Arc<Shape>),
    /// Attributes of an object type: each is there, null or not.
    Object(BTreeMap<Str, Shape>),
    /// Attributes of a nested attribute: null is as good as absent.
    Nested(BTreeMap<Str, Shape>),
}

/// The shape of an object that a block describes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockShape {
    /// Its attributes; null is as good as absent.
    pub attributes: BTreeMap<Str, Shape>,
    /// Its nested block types.
    pub blocks: BTreeMap<Str, (Nesting, BlockShape)>,
}

impl BlockShape {
    /// The shape of objects of this block.
    pub fn new(block: &Block) -> Self {
        let attributes = block
            .attributes
            .iter()
            .map(|(name, a)| (name.clone(), of_attribute(a)));
        let blocks = block
            .block_types
            .iter()
            .map(|(name, nested)| (name.clone(), (nested.nesting, Self::new(&nested.block))));
        Self {
            attributes: attributes.collect(),
            blocks: blocks.collect(),
        }
    }
}

fn of_attribute(attribute: &Attribute) -> Shape {
    match &attribute.ty {
        AttributeType::Plain(ty) => of_type(ty),
        AttributeType::Nested(nested) => {
            let attributes = nested.attributes.iter();
            let object = Shape::Nested(
                attributes
                    .map(|(k, a)| (k.clone(), of_attribute(a)))
                    .collect(),
            );
            match nested.nesting {
                Nesting::Single | Nesting::Group => object,
                Nesting::List => Shape::List(Arc::new(object)),
                Nesting::Set => Shape::Set(Arc::new(object)),
                Nesting::Map => Shape::Map(Arc::new(object)),
            }
        }
    }
}

fn of_type(ty: &Type) -> Shape {
    match ty {
        Type::Dynamic | Type::String | Type::Number | Type::Bool | Type::Tuple(_) => Shape::Plain,
        Type::List(t) => Shape::List(Arc::new(of_type(t))),
        Type::Set(t) => Shape::Set(Arc::new(of_type(t))),
        Type::Map(t) => Shape::Map(Arc::new(of_type(t))),
        Type::Object(o) => Shape::Object(
            o.attributes
                .iter()
                .map(|(k, t)| (k.clone(), of_type(t)))
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::schema;

    #[test]
    fn shapes_of_a_schema() {
        let block = schema(
            "name: string optional
             any: any optional
             ports: set(number) optional
             n: list optional {
               tags: map(object(k: string)) optional
             }
             block disk set {
               size: number optional
             }",
        );
        let members = |all: &[(&str, Shape)]| {
            all.iter()
                .map(|(k, s)| ((*k).into(), s.clone()))
                .collect::<BTreeMap<Str, Shape>>()
        };
        let tags = Shape::Map(Arc::new(Shape::Object(members(&[("k", Shape::Plain)]))));
        let disk = BlockShape {
            attributes: members(&[("size", Shape::Plain)]),
            ..BlockShape::default()
        };
        let want = BlockShape {
            attributes: members(&[
                ("name", Shape::Plain),
                ("any", Shape::Plain),
                ("ports", Shape::Set(Arc::new(Shape::Plain))),
                (
                    "n",
                    Shape::List(Arc::new(Shape::Nested(members(&[("tags", tags)])))),
                ),
            ]),
            blocks: [("disk".into(), (Nesting::Set, disk))].into(),
        };
        assert_eq!(BlockShape::new(&block), want);
    }
}
