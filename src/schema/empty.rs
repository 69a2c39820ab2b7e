//! The value of a block for which there is no configuration.

use super::{Block, NestedBlock, Nesting, attribute_type, block_type, implied_type};
use crate::value::{Type, Value};

/// The value of a block nobody wrote: attributes null, nested blocks absent (see [`empty_blocks`]).
pub fn empty_value(block: &Block) -> Value {
    let attributes = block
        .attributes
        .iter()
        .map(|(name, a)| (name.clone(), Value::null(attribute_type(a))));
    let blocks = block
        .block_types
        .iter()
        .map(|(name, b)| (name.clone(), empty_blocks(b)));
    Value::object(attributes.chain(blocks))
}

/// The value of a nested block type of which there is no block: an empty collection, null for a single block, and the
/// empty value for a group.
pub fn empty_blocks(nested: &NestedBlock) -> Value {
    match nested.nesting {
        Nesting::Single => Value::null(implied_type(&nested.block)),
        Nesting::Group => empty_value(&nested.block),
        Nesting::List | Nesting::Set | Nesting::Map => match block_type(nested) {
            Type::List(t) => Value::list((*t).clone(), Vec::new()),
            Type::Set(t) => Value::set((*t).clone(), Vec::new()),
            Type::Map(t) => Value::map::<&str>((*t).clone(), []),
            _ if nested.nesting == Nesting::Map => Value::object::<&str>([]),
            _ => Value::tuple(Vec::new()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::{schema, ty, value};

    #[test]
    fn every_nesting_has_its_own_emptiness() {
        let block = schema(
            "a: string required
             n: list optional {
               x: string optional
             }
             block single single min=1 max=1 {
               x: string optional
             }
             block group group {
               x: string optional
               block inner list {
                 y: string optional
               }
               block deeper group {
                 z: bool optional
               }
             }
             block list list {
               x: string optional
             }
             block set set {
               x: string optional
             }
             block map map {
               x: string optional
             }
             block dynlist list {
               x: any optional
             }
             block dynmap map {
               x: any optional
             }",
        );
        let empty = empty_value(&block);
        let want = value(
            &implied_type(&block),
            r#"{"a": null, "n": null, "single": null,
                "group": {"x": null, "inner": [], "deeper": {"z": null}},
                "list": [], "set": [], "map": {}, "dynlist": [], "dynmap": {}}"#,
        );
        assert_eq!(empty, want);
        assert_eq!(empty.attribute("dynlist"), Some(&Value::tuple(Vec::new())));
        assert_eq!(empty.attribute("dynmap"), Some(&Value::object::<&str>([])));
        assert_eq!(
            empty.attribute("single").map(Value::ty),
            Some(ty("object(x: string)"))
        );
    }
}
