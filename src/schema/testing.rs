//! Compact notations for the tests of everything that works on schemas and values.
//!
//! Types: `string`, `number`, `bool`, `any`, `list(T)`, `set(T)`, `map(T)`, `tuple(T, …)`, `object(a: T, b: T?)`.
//!
//! Schemas, one thing a line:
//! ```text
//! id: string computed
//! rule: list optional {            (a nested attribute)
//!   port: number required
//! }
//! block disk list min=1 max=3 {
//!   size: number optional
//! }
//! ```
//!
//! Values: JSON, read by a type. `"??"` is an unknown value, `"??!"` an unknown value that is not null.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::str::{Chars, FromStr as _, Lines};
use std::sync::Arc;

use super::{Attribute, AttributeType, Block, NestedAttribute, NestedBlock, Nesting};
use crate::value::{Number, ObjectType, Path, Refinement, Step, Str, Type, Unknown, Value};

/// Reads a type.
pub(crate) fn ty(text: &str) -> Type {
    let mut chars = text.chars().peekable();
    let ty = parse_type(&mut chars);
    assert_eq!(chars.next(), None, "text after the type: {text}");
    ty
}

fn parse_type(chars: &mut Peekable<Chars>) -> Type {
    match word(chars).as_str() {
        "any" => Type::Dynamic,
        "string" => Type::String,
        "number" => Type::Number,
        "bool" => Type::Bool,
        "list" => Type::list(in_parentheses(chars, parse_type).remove(0)),
        "set" => Type::set(in_parentheses(chars, parse_type).remove(0)),
        "map" => Type::map(in_parentheses(chars, parse_type).remove(0)),
        "tuple" => Type::tuple(in_parentheses(chars, parse_type)),
        "object" => {
            let members = in_parentheses(chars, |chars| {
                let name: Str = word(chars).into();
                assert!(skip(chars, ':'), "no colon after {name}");
                (name, parse_type(chars), skip(chars, '?'))
            });
            let optional = members.iter().filter(|m| m.2).map(|m| m.0.clone());
            Type::Object(Arc::new(ObjectType {
                optional: optional.collect::<BTreeSet<_>>(),
                attributes: members.iter().map(|m| (m.0.clone(), m.1.clone())).collect(),
            }))
        }
        other => panic!("no type {other:?}"),
    }
}

fn in_parentheses<T>(chars: &mut Peekable<Chars>, item: fn(&mut Peekable<Chars>) -> T) -> Vec<T> {
    assert!(skip(chars, '('), "no opening parenthesis");
    let mut all = Vec::new();
    while !skip(chars, ')') {
        all.push(item(chars));
        skip(chars, ',');
    }
    all
}

fn word(chars: &mut Peekable<Chars>) -> String {
    let mut word = String::new();
    while chars.next_if(|c| *c == ' ').is_some() {}
    while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
        word.push(c);
    }
    word
}

fn skip(chars: &mut Peekable<Chars>, c: char) -> bool {
    while chars.next_if(|c| *c == ' ').is_some() {}
    chars.next_if_eq(&c).is_some()
}

/// Reads a schema.
pub(crate) fn schema(text: &str) -> Block {
    let mut lines = text.lines();
    let block = parse_block(&mut lines);
    assert_eq!(lines.next(), None, "lines after the last brace");
    block
}

fn parse_block(lines: &mut Lines) -> Block {
    let mut block = Block::default();
    while let Some(line) = lines.next().map(str::trim) {
        if line == "}" {
            break;
        } else if let Some(head) = line.strip_prefix("block ") {
            let mut words = head.split_whitespace();
            let name = words.next().expect("a block has a name");
            let nesting = nesting(words.next().expect("a block has a nesting")).expect("a nesting");
            let (mut min_items, mut max_items) = (0, 0);
            for word in words {
                match word.split_once('=') {
                    Some(("min", n)) => min_items = n.parse().expect("a number"),
                    Some(("max", n)) => max_items = n.parse().expect("a number"),
                    _ => assert_eq!(word, "{"),
                }
            }
            let nested = NestedBlock {
                block: parse_block(lines),
                nesting,
                min_items,
                max_items,
            };
            block.block_types.insert(name.into(), nested);
        } else if !line.is_empty() {
            let (name, rest) = line.split_once(": ").expect("name: type");
            block.attributes.insert(name.into(), attribute(rest, lines));
        }
    }
    block
}

fn attribute(rest: &str, lines: &mut Lines) -> Attribute {
    let split = rest
        .rfind(')')
        .map_or_else(|| rest.find(' ').unwrap_or(rest.len()), |i| i + 1);
    let (head, flags) = rest.split_at(split);
    let flags = flags.trim().trim_end_matches('{').split_whitespace();
    let mut attribute = match nesting(head) {
        Some(nesting) => Attribute::nested(nesting, parse_block(lines).attributes),
        None => Attribute::plain(ty(head)),
    };
    for flag in flags {
        match flag {
            "required" => attribute.required = true,
            "optional" => attribute.optional = true,
            "computed" => attribute.computed = true,
            "sensitive" => attribute.sensitive = true,
            "write_only" => attribute.write_only = true,
            "deprecated" => attribute.deprecated = true,
            other => panic!("no flag {other:?}"),
        }
    }
    attribute
}

fn nesting(text: &str) -> Option<Nesting> {
    match text {
        "single" => Some(Nesting::Single),
        "group" => Some(Nesting::Group),
        "list" => Some(Nesting::List),
        "set" => Some(Nesting::Set),
        "map" => Some(Nesting::Map),
        _ => None,
    }
}

/// Reads a value of a type.
pub(crate) fn value(ty: &Type, json: &str) -> Value {
    typed(
        ty,
        &serde_json::from_str(json).unwrap_or_else(|e| panic!("{e}: {json}")),
    )
}

/// Reads a value of the type a block implies; attributes that are not mentioned are null, blocks empty.
pub(crate) fn object(block: &Block, json: &str) -> Value {
    let json = serde_json::from_str(json).unwrap_or_else(|e| panic!("{e}: {json}"));
    block_value(block, &json)
}

fn block_value(block: &Block, json: &serde_json::Value) -> Value {
    let ty = super::implied_type(block);
    let Some(members) = json.as_object() else {
        return typed(&ty, json);
    };
    if let Some(extra) = members.keys().find(|k| {
        !block.attributes.contains_key(k.as_str()) && !block.block_types.contains_key(k.as_str())
    }) {
        panic!("no attribute {extra}");
    }
    let attributes = block.attributes.iter().map(|(name, a)| {
        let json = members.get(&**name).unwrap_or(&serde_json::Value::Null);
        (name.clone(), attribute_value(a, json))
    });
    let blocks = block.block_types.iter().map(|(name, nested)| {
        let value = members.get(&**name).map(|json| nested_value(nested, json));
        (
            name.clone(),
            value.unwrap_or_else(|| super::empty_blocks(nested)),
        )
    });
    Value::object(attributes.chain(blocks))
}

fn nested_value(nested: &NestedBlock, json: &serde_json::Value) -> Value {
    let ty = super::block_type(nested);
    let element = |json: &serde_json::Value| block_value(&nested.block, json);
    collect(nested.nesting, &ty, json, &element)
}

fn attribute_value(attribute: &Attribute, json: &serde_json::Value) -> Value {
    let ty = super::attribute_type(attribute);
    match &attribute.ty {
        AttributeType::Plain(_) => typed(&ty, json),
        AttributeType::Nested(nested) => {
            let element = |json: &serde_json::Value| nested_object(nested, json);
            collect(nested.nesting, &ty, json, &element)
        }
    }
}

fn nested_object(nested: &NestedAttribute, json: &serde_json::Value) -> Value {
    let block = Block {
        attributes: nested.attributes.clone(),
        ..Block::default()
    };
    block_value(&block, json)
}

fn collect(
    nesting: Nesting,
    ty: &Type,
    json: &serde_json::Value,
    element: &dyn Fn(&serde_json::Value) -> Value,
) -> Value {
    let items = || {
        json.as_array()
            .map(|a| a.iter().map(element).collect::<Vec<_>>())
    };
    let members = || {
        json.as_object().map(|o| {
            o.iter()
                .map(|(k, v)| (k.clone(), element(v)))
                .collect::<Vec<_>>()
        })
    };
    let of = |t: &Arc<Type>| (**t).clone();
    match (nesting, ty) {
        (Nesting::Single | Nesting::Group, _) => Some(element(json)),
        (_, Type::List(t)) => items().map(|i| Value::list(of(t), i)),
        (_, Type::Set(t)) => items().map(|i| Value::set(of(t), i)),
        (_, Type::Map(t)) => members().map(|m| Value::map(of(t), m)),
        (Nesting::Map, _) => members().map(Value::object),
        _ => items().map(Value::tuple),
    }
    .unwrap_or_else(|| typed(ty, json))
}

fn typed(ty: &Type, json: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    let of = |t: &Arc<Type>| (**t).clone();
    let each = |t: &Type, a: &[Json]| a.iter().map(|v| typed(t, v)).collect::<Vec<_>>();
    match (json, ty) {
        (Json::Null, _) => Value::null(ty.clone()),
        (Json::String(s), _) if s == "??" => Value::unknown(ty.clone()),
        (Json::String(s), _) if s == "??!" => {
            let refinement = Refinement {
                not_null: true,
                ..Refinement::default()
            };
            Unknown {
                ty: ty.clone(),
                refinement,
            }
            .into_value()
        }
        (Json::Bool(b), Type::Bool | Type::Dynamic) => Value::Bool(*b),
        (Json::Number(n), Type::Number | Type::Dynamic) => {
            Value::Number(Number::from_str(&n.to_string()).expect("a number"))
        }
        (Json::String(s), Type::String | Type::Dynamic) => Value::string(s),
        (Json::Array(a), Type::List(t)) => Value::list(of(t), each(t, a)),
        (Json::Array(a), Type::Set(t)) => Value::set(of(t), each(t, a)),
        (Json::Array(a), Type::Dynamic) => Value::tuple(each(&Type::Dynamic, a)),
        (Json::Array(a), Type::Tuple(ts)) => Value::tuple(
            a.iter()
                .zip(ts.iter())
                .map(|(v, t)| typed(t, v))
                .collect::<Vec<_>>(),
        ),
        (Json::Object(o), Type::Map(t)) => {
            Value::map(of(t), o.iter().map(|(k, v)| (k.as_str(), typed(t, v))))
        }
        (Json::Object(o), Type::Dynamic) => Value::object(
            o.iter()
                .map(|(k, v)| (k.as_str(), typed(&Type::Dynamic, v))),
        ),
        (Json::Object(o), Type::Object(t)) => {
            let member = |k: &Str, t: &Type| typed(t, o.get(&**k).unwrap_or(&Json::Null));
            Value::object(t.attributes.iter().map(|(k, t)| (k.clone(), member(k, t))))
        }
        _ => panic!("{json} is no {ty:?}"),
    }
}

/// Reads a path: `a.b[0]["key"]`.
pub(crate) fn path(text: &str) -> Path {
    let mut steps = Vec::new();
    for part in text.split(['.', '[']).filter(|p| !p.is_empty()) {
        let part = part.trim_end_matches(']');
        steps.push(match (part.strip_prefix('"'), part.parse()) {
            (Some(key), _) => Step::Key(key.trim_end_matches('"').into()),
            (None, Ok(i)) => Step::Index(i),
            (None, Err(_)) => Step::Attribute(part.into()),
        });
    }
    Path(steps)
}
