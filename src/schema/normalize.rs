//! Objects from providers of the old SDK, brought into the shape their blocks must have.

use std::sync::Arc;

use super::{Block, NestedBlock, Nesting, empty_blocks, empty_value, implied_type};
use crate::value::{Entries, Type, Value};

/// An object as read from a provider, with null collections of blocks made empty and unknown ones made one unknown block.
///
/// The old SDK cannot tell absent from empty, so what it returns for blocks would otherwise look like a difference. Blocks
/// whose type has dynamic parts, map blocks and attributes are left alone.
pub fn normalize_blocks(block: &Block, object: &Value) -> Value {
    let Value::Object(members) = object else {
        return object.clone();
    };
    let members = members.iter().map(|(name, value)| {
        let nested = block.block_types.get(name);
        (
            name.clone(),
            nested.map_or_else(|| value.clone(), |nested| collection(nested, value)),
        )
    });
    Value::Object(Arc::new(members.collect::<Entries>()))
}

fn collection(nested: &NestedBlock, value: &Value) -> Value {
    let element = implied_type(&nested.block);
    if element.has_dynamic() {
        return value.clone();
    }
    match (nested.nesting, value) {
        (Nesting::Group, Value::Null(_)) => empty_value(&nested.block),
        (Nesting::Single | Nesting::Group, Value::Unknown(_)) => stub(&nested.block),
        (Nesting::Single | Nesting::Group, _) => normalize_blocks(&nested.block, value),
        (Nesting::List | Nesting::Set, Value::Null(_)) => empty_blocks(nested),
        (Nesting::List, Value::Unknown(_)) => Value::list(element, vec![stub(&nested.block)]),
        (Nesting::Set, Value::Unknown(_)) => Value::set(element, vec![stub(&nested.block)]),
        (Nesting::List, Value::List(s)) => Value::list(element, each(&nested.block, &s.items)),
        (Nesting::Set, Value::Set(s)) => Value::set(element, each(&nested.block, &s.items)),
        (Nesting::List | Nesting::Set | Nesting::Map, _) => value.clone(),
    }
}

fn each(block: &Block, items: &[Value]) -> Vec<Value> {
    items.iter().map(|v| normalize_blocks(block, v)).collect()
}

/// A block of which nothing is known.
fn stub(block: &Block) -> Value {
    let Type::Object(ty) = implied_type(block) else {
        return Value::unknown(implied_type(block));
    };
    let members = ty
        .attributes
        .iter()
        .map(|(name, ty)| match block.block_types.get(name) {
            Some(nested) => (
                name.clone(),
                collection(nested, &Value::unknown(ty.clone())),
            ),
            None => (name.clone(), Value::unknown(ty.clone())),
        });
    Value::object(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::{schema, value};

    #[test]
    fn blocks_are_never_null() {
        let block = schema(
            "a: list(string) optional
             block list list {
               x: string optional
               block inner set {
                 y: string optional
               }
             }
             block group group {
               z: string optional
             }
             block single single {
               z: string optional
             }",
        );
        let ty = implied_type(&block);
        let cases = [
            (
                r#"{"a": null, "list": null, "group": null, "single": null}"#,
                r#"{"a": null, "list": [], "group": {"z": null}, "single": null}"#,
            ),
            (
                r#"{"a": [], "list": [{"x": "1", "inner": null}], "group": {"z": "2"}, "single": {"z": null}}"#,
                r#"{"a": [], "list": [{"x": "1", "inner": []}], "group": {"z": "2"}, "single": {"z": null}}"#,
            ),
        ];
        for (read, expected) in cases {
            assert_eq!(
                normalize_blocks(&block, &value(&ty, read)),
                value(&ty, expected),
                "{read}"
            );
        }
    }

    #[test]
    fn unknown_blocks_are_one_unknown_block() {
        let block = schema(
            "block list list {
               x: string optional
             }",
        );
        let Type::Object(ty) = implied_type(&block) else {
            panic!("a block is an object")
        };
        let unknown = Value::object([("list", Value::unknown(ty.attributes["list"].clone()))]);
        let Value::List(items) = normalize_blocks(&block, &unknown)
            .attribute("list")
            .cloned()
            .unwrap()
        else {
            panic!("the list is known")
        };
        assert_eq!(
            items.items,
            [Value::object([("x", Value::unknown(Type::String))])]
        );
    }
}
