//! The rules a provider's schema has to keep for the rest of the program to rely on it (pure).

use std::collections::BTreeMap;

use super::schema::SchemaError;
use crate::schema::{
    Attribute, AttributeType, Block, NestedBlock, Nesting, attribute_type, implied_type,
};
use crate::value::Str;

/// Checks a block and everything in it; the error names the first offender.
///
/// Attribute names are not checked: providers with odd ones exist.
pub(super) fn check_block(block: &Block) -> Result<(), SchemaError> {
    check_attributes(&block.attributes)?;
    for (name, nested) in &block.block_types {
        if block.attributes.contains_key(name) {
            return Err(problem("it is an attribute and a block", name));
        }
        if !name
            .bytes()
            .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_'))
            || name.is_empty()
        {
            return Err(problem(
                "a block name consists of lower-case letters, digits and underscores",
                name,
            ));
        }
        check_nested(nested).map_err(|e| e.within(&**name))?;
    }
    Ok(())
}

fn problem(text: &str, name: &str) -> SchemaError {
    SchemaError::new(text).within(name)
}

fn check_nested(nested: &NestedBlock) -> Result<(), SchemaError> {
    let (min, max) = (nested.min_items, nested.max_items);
    let fits = match nested.nesting {
        Nesting::Single => min == max && max <= 1,
        Nesting::Group | Nesting::Map => min == 0 && max == 0,
        Nesting::List | Nesting::Set => min <= max || max == 0,
    };
    if !fits {
        return Err(SchemaError::new(format!(
            "a {:?} block cannot have {min} to {max} items",
            nested.nesting
        )));
    }
    if nested.nesting == Nesting::Set && implied_type(&nested.block).has_dynamic() {
        return Err(SchemaError::new("a set cannot hold values of any type"));
    }
    check_block(&nested.block)
}

fn check_attributes(attributes: &BTreeMap<Str, Attribute>) -> Result<(), SchemaError> {
    for (name, attribute) in attributes {
        check_attribute(attribute).map_err(|e| e.within(&**name))?;
    }
    Ok(())
}

fn check_attribute(attribute: &Attribute) -> Result<(), SchemaError> {
    let text = match (attribute.required, attribute.optional, attribute.computed) {
        (false, false, false) => "it is neither required, optional nor computed",
        (true, true, _) => "it is required and optional",
        (true, _, true) => "it is required and computed",
        _ => return check_nested_attribute(attribute),
    };
    Err(SchemaError::new(text))
}

fn check_nested_attribute(attribute: &Attribute) -> Result<(), SchemaError> {
    let AttributeType::Nested(nested) = &attribute.ty else {
        return Ok(());
    };
    if nested.nesting == Nesting::Set && attribute_type(attribute).has_dynamic() {
        return Err(SchemaError::new("a set cannot hold values of any type"));
    }
    check_attributes(&nested.attributes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::schema;

    #[test]
    fn accepts_what_providers_may_send() {
        for text in [
            "",
            "a: string required\nb: any optional computed\nOdd-Name: string computed",
            "block a single min=1 max=1 {\n}\nblock b single {\n}",
            "block a list min=1 {\n x: any optional\n}\nblock b set max=3 {\n x: string required\n}",
            "block a group {\n x: any optional\n}\nblock b map {\n}",
            "n: map optional {\n x: any optional\n}",
        ] {
            assert_eq!(check_block(&schema(text)), Ok(()), "{text}");
        }
    }

    #[test]
    fn names_the_offender() {
        let cases = [
            (
                "a: string",
                "a: it is neither required, optional nor computed",
            ),
            (
                "a: string required optional",
                "a: it is required and optional",
            ),
            (
                "a: string required computed",
                "a: it is required and computed",
            ),
            (
                "n: list optional {\n x: string\n}",
                "n.x: it is neither required, optional nor computed",
            ),
            (
                "n: set optional {\n x: any optional\n}",
                "n: a set cannot hold values of any type",
            ),
            (
                "block b set {\n x: list(any) optional\n}",
                "b: a set cannot hold values of any type",
            ),
            (
                "a: string optional\nblock a list {\n}",
                "a: it is an attribute and a block",
            ),
            (
                "block b single max=1 {\n}",
                "b: a Single block cannot have 0 to 1 items",
            ),
            (
                "block b list min=3 max=2 {\n}",
                "b: a List block cannot have 3 to 2 items",
            ),
            (
                "block b group min=1 max=1 {\n}",
                "b: a Group block cannot have 1 to 1 items",
            ),
            (
                "block outer list {\n block inner map max=1 {\n }\n}",
                "outer.inner: a Map block cannot have 0 to 1 items",
            ),
        ];
        for (text, message) in cases {
            let error = check_block(&schema(text)).expect_err(text);
            assert_eq!(error.to_string(), format!("invalid schema of {message}"));
        }
    }

    #[test]
    fn refuses_odd_block_names() {
        for name in ["", "Upper", "with-dash", "ä"] {
            let mut block = Block::default();
            let nested = schema("block b list {\n}").block_types["b"].clone();
            block.block_types.insert(name.into(), nested);
            assert!(check_block(&block).is_err(), "{name}");
        }
    }
}
