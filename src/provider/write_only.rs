//! Write-only attributes: sent in configurations, and never to come back.

use std::collections::BTreeMap;

use crate::schema::{Attribute, AttributeType, Block, Nesting};
use crate::value::{Path, Str, Value};

/// Whether the block has a write-only attribute anywhere.
pub(super) fn any(block: &Block) -> bool {
    any_attribute(&block.attributes) || block.block_types.values().any(|b| any(&b.block))
}

fn any_attribute(attributes: &BTreeMap<Str, Attribute>) -> bool {
    attributes.values().any(|a| {
        a.write_only
            || matches!(&a.ty, AttributeType::Nested(nested) if any_attribute(&nested.attributes))
    })
}

/// The value with every write-only attribute null, and the paths of those that were not.
pub(super) fn strip(block: &Block, value: Value) -> (Value, Vec<Path>) {
    let mut found = Vec::new();
    let value = in_block(block, value, &Path::root(), &mut found);
    (value, found)
}

fn in_block(block: &Block, value: Value, at: &Path, found: &mut Vec<Path>) -> Value {
    let value = in_attributes(&block.attributes, value, at, found);
    members(value, |name, member| match block.block_types.get(name) {
        Some(nested) if any(&nested.block) => {
            let at = at.attribute(name.clone());
            elements(nested.nesting, member, &at, &mut |element, at| {
                in_block(&nested.block, element, at, found)
            })
        }
        _ => member,
    })
}

fn in_attributes(
    attributes: &BTreeMap<Str, Attribute>,
    value: Value,
    at: &Path,
    found: &mut Vec<Path>,
) -> Value {
    members(value, |name, member| match attributes.get(name) {
        Some(a) if a.write_only => {
            if !member.is_null() {
                found.push(at.attribute(name.clone()));
            }
            Value::null(member.ty())
        }
        Some(Attribute {
            ty: AttributeType::Nested(nested),
            ..
        }) if any_attribute(&nested.attributes) => {
            let at = at.attribute(name.clone());
            elements(nested.nesting, member, &at, &mut |element, at| {
                in_attributes(&nested.attributes, element, at, found)
            })
        }
        _ => member,
    })
}

/// An object with each of its members replaced.
fn members(value: Value, mut change: impl FnMut(&Str, Value) -> Value) -> Value {
    match value {
        Value::Object(object) => Value::object(
            object
                .iter()
                .map(|(k, v)| (k.clone(), change(k, v.clone()))),
        ),
        other => other,
    }
}

/// A collection of blocks or nested attributes with each element replaced.
fn elements(
    nesting: Nesting,
    value: Value,
    at: &Path,
    change: &mut impl FnMut(Value, &Path) -> Value,
) -> Value {
    if matches!(nesting, Nesting::Single | Nesting::Group) {
        return change(value, at);
    }
    let mut indexed = |items: &[Value]| -> Vec<Value> {
        let numbered = items.iter().zip(0..);
        numbered
            .map(|(item, i)| change(item.clone(), &at.index(i)))
            .collect()
    };
    match value {
        Value::List(list) => Value::list(list.element.clone(), indexed(&list.items)),
        Value::Set(set) => Value::set(set.element.clone(), indexed(&set.items)),
        Value::Tuple(items) => Value::tuple(indexed(&items)),
        Value::Map(map) => {
            let entries = map.entries.iter();
            let entries = entries.map(|(k, v)| (k.clone(), change(v.clone(), &at.key(k.clone()))));
            Value::map(map.element.clone(), entries)
        }
        Value::Object(_) => members(value, |k, v| change(v, &at.key(k.clone()))),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::{object, schema};

    const SCHEMA: &str = "\
        name: string optional\n\
        secret: string optional write_only\n\
        nested: list optional {\n  key: string optional write_only\n  port: number optional\n}\n\
        block one single {\n  token: string optional write_only\n}\n\
        block many map {\n  token: string optional write_only\n}\n\
        block plain list {\n  size: number optional\n}";

    #[test]
    fn finds_and_removes_values_at_any_depth() {
        let block = schema(SCHEMA);
        let dirty = r#"{"name": "a", "secret": "s", "nested": [{"port": 1}, {"key": "k", "port": 2}],
            "one": {"token": "t"}, "many": {"x": {"token": "t"}}, "plain": [{"size": 3}]}"#;
        let clean = r#"{"name": "a", "secret": null, "nested": [{"port": 1}, {"key": null, "port": 2}],
            "one": {"token": null}, "many": {"x": {"token": null}}, "plain": [{"size": 3}]}"#;
        let (value, found) = strip(&block, object(&block, dirty));
        assert_eq!(value, object(&block, clean));
        let found: Vec<_> = found.iter().map(Path::to_string).collect();
        assert_eq!(
            found,
            ["nested[1].key", "secret", r#"many["x"].token"#, "one.token"]
        );
    }

    #[test]
    fn leaves_clean_and_absent_values_alone() {
        let block = schema(SCHEMA);
        for text in [r#"{"name": "a", "plain": [{"size": 3}]}"#, "null"] {
            let value = object(&block, text);
            assert_eq!(strip(&block, value.clone()), (value, Vec::new()), "{text}");
        }
    }

    #[test]
    fn knows_which_schemas_have_any() {
        assert!(any(&schema(SCHEMA)));
        assert!(any(&schema(
            "n: map optional {\n x: string optional write_only\n}"
        )));
        assert!(!any(&schema(
            "a: string optional\nblock b list {\n c: string optional\n}"
        )));
    }
}
