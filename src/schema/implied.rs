//! The types a schema implies: of values on the wire and in the state, and of conversions of configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Attribute, AttributeType, Block, NestedBlock, Nesting};
use crate::value::{ObjectType, Str, Type};

/// The type of every value of this block: an object of all its attributes and nested block types.
///
/// Optional-attribute annotations inside attribute types are gone: they matter in conversions only.
pub fn implied_type(block: &Block) -> Type {
    let attributes = block
        .attributes
        .iter()
        .map(|(name, a)| (name.clone(), attribute_type(a)));
    let blocks = block
        .block_types
        .iter()
        .map(|(name, b)| (name.clone(), block_type(b)));
    Type::object(attributes.chain(blocks))
}

/// The type of every value of this attribute.
pub fn attribute_type(attribute: &Attribute) -> Type {
    match &attribute.ty {
        AttributeType::Plain(ty) => without_optional(ty),
        AttributeType::Nested(nested) => {
            let object = nested
                .attributes
                .iter()
                .map(|(name, a)| (name.clone(), attribute_type(a)));
            collected(nested.nesting, Type::object(object))
        }
    }
}

/// The type of all blocks of one nested block type together.
///
/// Lists and maps of blocks that contain a dynamic attribute are themselves dynamic: their values are tuples and
/// objects, as their elements may differ in type.
pub fn block_type(nested: &NestedBlock) -> Type {
    let object = implied_type(&nested.block);
    match nested.nesting {
        Nesting::List | Nesting::Map if object.has_dynamic() => Type::Dynamic,
        nesting => collected(nesting, object),
    }
}

/// What configuration for this attribute is converted to: its type, where attributes that configuration may leave out
/// (optional or computed ones of a nested attribute, and those the type itself calls optional) are optional.
pub fn conversion_type(attribute: &Attribute) -> Type {
    match &attribute.ty {
        AttributeType::Plain(ty) => ty.clone(),
        AttributeType::Nested(nested) => {
            collected(nested.nesting, nested_conversion_type(&nested.attributes))
        }
    }
}

fn nested_conversion_type(attributes: &BTreeMap<Str, Attribute>) -> Type {
    let optional = attributes.iter().filter(|(_, a)| a.optional || a.computed);
    Type::Object(Arc::new(ObjectType {
        attributes: attributes
            .iter()
            .map(|(name, a)| (name.clone(), conversion_type(a)))
            .collect(),
        optional: optional.map(|(name, _)| name.clone()).collect(),
    }))
}

fn collected(nesting: Nesting, object: Type) -> Type {
    match nesting {
        Nesting::Single | Nesting::Group => object,
        Nesting::List => Type::list(object),
        Nesting::Set => Type::set(object),
        Nesting::Map => Type::map(object),
    }
}

/// The type with every attribute of every object in it mandatory.
pub fn without_optional(ty: &Type) -> Type {
    match ty {
        Type::Dynamic | Type::String | Type::Number | Type::Bool => ty.clone(),
        Type::List(t) => Type::list(without_optional(t)),
        Type::Set(t) => Type::set(without_optional(t)),
        Type::Map(t) => Type::map(without_optional(t)),
        Type::Tuple(ts) => Type::tuple(ts.iter().map(without_optional).collect::<Vec<_>>()),
        Type::Object(o) => Type::Object(Arc::new(ObjectType {
            attributes: o
                .attributes
                .iter()
                .map(|(k, t)| (k.clone(), without_optional(t)))
                .collect(),
            optional: BTreeSet::new(),
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::{schema, ty};

    #[test]
    fn a_block_implies_an_object_of_everything_in_it() {
        let cases = [
            (
                "a: string required\nb: list(number) optional",
                "object(a: string, b: list(number))",
            ),
            (
                "o: object(x: string?, y: number) optional",
                "object(o: object(x: string, y: number))",
            ),
            (
                "n: single optional {\n x: bool optional\n}",
                "object(n: object(x: bool))",
            ),
            (
                "n: list optional {\n x: any optional\n}",
                "object(n: list(object(x: any)))",
            ),
            (
                "n: set optional {\n x: bool optional\n}",
                "object(n: set(object(x: bool)))",
            ),
            (
                "n: map optional {\n x: bool optional\n}",
                "object(n: map(object(x: bool)))",
            ),
            (
                "block b single {\n x: any optional\n}",
                "object(b: object(x: any))",
            ),
            (
                "block b group {\n x: bool optional\n}",
                "object(b: object(x: bool))",
            ),
            (
                "block b list {\n x: bool optional\n}",
                "object(b: list(object(x: bool)))",
            ),
            (
                "block b set {\n x: bool optional\n}",
                "object(b: set(object(x: bool)))",
            ),
            (
                "block b map {\n x: bool optional\n}",
                "object(b: map(object(x: bool)))",
            ),
            ("block b list {\n x: any optional\n}", "object(b: any)"),
            (
                "block b map {\n block c list {\n x: any optional\n}\n}",
                "object(b: any)",
            ),
            (
                "block b single {\n block c list {\n x: any optional\n}\n}",
                "object(b: object(c: any))",
            ),
        ];
        for (block, want) in cases {
            assert_eq!(implied_type(&schema(block)), ty(want), "{block}");
        }
    }

    #[test]
    fn conversion_may_leave_out_optional_and_computed_nested_attributes() {
        let block = schema(
            "n: list optional {
               a: string required
               b: string optional
               c: single computed {
                 d: string computed
               }
             }",
        );
        let want = ty("list(object(a: string, b: string?, c: object(d: string?)?))");
        assert_eq!(conversion_type(&block.attributes["n"]), want);
        assert_eq!(
            attribute_type(&block.attributes["n"]),
            without_optional(&want)
        );
    }
}
