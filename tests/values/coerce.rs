//! Configuration made to fit random schemas, beside an independent reading of the same rules on the reference's values.
//!
//! Where nivis takes more than one form on purpose (one object for a list of one block, null for no blocks), or is
//! stricter (unknown names inside nested attributes), `src/schema/conform.rs` has its own cases.

use std::cell::RefCell;
use std::collections::BTreeMap;

use nivis::schema::{
    Attribute, AttributeType, Block, NestedAttribute, NestedBlock, Nesting, conform,
};
use nivis::value::{Str, Type, Value};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value as Json, json};

use super::arbitrary::{any_type, closed_type, text, value_of};
use super::compare::{has_nested_optional, runner};
use super::notation;
use super::oracle::Oracle;

const CASES: u32 = 5_000;

#[test]
fn agrees_on_coercion_to_schemas() {
    let oracle = RefCell::new(Oracle::start());
    let accepted = RefCell::new([0_u32; 2]);
    let outcome = runner(CASES).run(&case(), |(block, config)| {
        let block_form = block_json(&block);
        let value = notation::write(&config);
        let answer = oracle
            .borrow_mut()
            .ask(&json!({"op": "coerce", "block": block_form, "value": value}));
        let keep = || format!("keep it: {}", json!({"block": block_form, "value": value}));
        prop_assert_eq!(answer.get("failure"), None, "{}", keep());
        let theirs = &answer["converted"];
        let ours = conform(&block, &config);
        accepted.borrow_mut()[usize::from(ours.is_ok())] += 1;
        match (&ours, theirs.get("value"), theirs["error"].as_str()) {
            (Ok(ours), Some(theirs), _) => {
                prop_assert_eq!(ours, &notation::parse(theirs), "{}", keep());
            }
            (Err(_), None, Some(_)) => {}
            // The quirk that `compare.rs` explains.
            (_, None, Some(error))
                if error.starts_with("element types must all match") && quirky(&block) => {}
            _ => prop_assert!(false, "ours {:?}, theirs {}\n{}", ours, theirs, keep()),
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let [refused, accepted] = accepted.into_inner();
    assert!(
        refused > CASES / 10 && accepted > CASES / 10,
        "one-sided: {accepted} accepted, {refused} refused"
    );
}

fn case() -> impl Strategy<Value = (Block, Value)> {
    let extra = prop_oneof![9 => Just(None), 1 => text().prop_map(Some)];
    (block(3, true), extra).prop_flat_map(|(block, extra)| {
        let config = config(&block).prop_map(move |config| match (config, &extra) {
            (Value::Object(entries), Some(name)) => {
                let more = (Str::from(name.as_str()), Value::Bool(true));
                Value::object(
                    entries
                        .iter()
                        .map(|(k, v)| (k.clone(), v.clone()))
                        .chain([more]),
                )
            }
            (config, _) => config,
        });
        (Just(block), config)
    })
}

/// A block with further blocks up to a depth; `open` if attributes may be of type `dynamic`.
fn block(depth: u32, open: bool) -> BoxedStrategy<Block> {
    let attributes = vec((name(), attribute(2, open)), 0..4);
    let nested = if depth == 0 {
        Just(Vec::new()).boxed()
    } else {
        vec((name(), nested_block(depth - 1, open)), 0..3).boxed()
    };
    (attributes, nested)
        .prop_map(|(attributes, nested)| {
            let attributes: BTreeMap<Str, Attribute> = attributes.into_iter().collect();
            let blocks = nested
                .into_iter()
                .filter(|(name, _)| !attributes.contains_key(name));
            Block {
                block_types: blocks.collect(),
                attributes,
                ..Block::default()
            }
        })
        .boxed()
}

fn nested_block(depth: u32, open: bool) -> BoxedStrategy<NestedBlock> {
    use Nesting::{Group, List, Map, Set, Single};
    select(vec![Single, Group, List, Set, Map])
        .prop_flat_map(move |nesting| {
            block(depth, open && nesting != Set).prop_map(move |block| NestedBlock {
                block,
                nesting,
                min_items: 0,
                max_items: 0,
            })
        })
        .boxed()
}

fn attribute(depth: u32, open: bool) -> BoxedStrategy<Attribute> {
    let plain = if open { any_type() } else { closed_type() };
    let plain = plain.prop_map(AttributeType::Plain);
    let ty = if depth == 0 {
        plain.boxed()
    } else {
        prop_oneof![3 => plain, 1 => nested_attribute(depth - 1, open)].boxed()
    };
    (ty, 0..4)
        .prop_map(|(ty, how)| Attribute {
            ty,
            description: String::new(),
            markdown: false,
            required: how == 0,
            optional: how == 1 || how == 2,
            computed: how == 2 || how == 3,
            sensitive: false,
            write_only: false,
            deprecated: false,
            deprecation_message: String::new(),
        })
        .boxed()
}

fn nested_attribute(depth: u32, open: bool) -> BoxedStrategy<AttributeType> {
    use Nesting::{List, Map, Set, Single};
    select(vec![Single, List, Set, Map])
        .prop_flat_map(move |nesting| {
            let attribute = attribute(depth, open && nesting != Set);
            vec((name(), attribute), 0..3).prop_map(move |attributes| {
                let attributes = attributes.into_iter().collect();
                AttributeType::Nested(NestedAttribute {
                    attributes,
                    nesting,
                })
            })
        })
        .boxed()
}

fn name() -> impl Strategy<Value = Str> {
    select(vec!["a", "b", "c", "name", "rule_2"]).prop_map(Str::from)
}

/// What an author may write for the block, right or nearly right.
fn config(block: &Block) -> BoxedStrategy<Value> {
    let attributes = block.attributes.iter().map(|(name, a)| {
        maybe(
            name,
            attribute_config(&a.ty),
            if a.required { 12 } else { 2 },
        )
    });
    let blocks = block
        .block_types
        .iter()
        .map(|(name, nested)| maybe(name, blocks_config(nested), 3));
    let members: Vec<_> = attributes.chain(blocks).collect();
    members
        .prop_map(|members| Value::object(members.into_iter().flatten()))
        .boxed()
}

fn maybe(
    name: &Str,
    value: BoxedStrategy<Value>,
    weight: u32,
) -> BoxedStrategy<Option<(Str, Value)>> {
    let name = name.clone();
    prop_oneof![
        weight => value.prop_map(move |value| Some((name.clone(), value))),
        1 => Just(None),
    ]
    .boxed()
}

fn blocks_config(nested: &NestedBlock) -> BoxedStrategy<Value> {
    let one = config(&nested.block);
    let known = match nested.nesting {
        Nesting::Single | Nesting::Group => one,
        Nesting::List | Nesting::Set => vec(one, 0..3).prop_map(Value::tuple).boxed(),
        Nesting::Map => vec((name(), one), 0..3).prop_map(Value::object).boxed(),
    };
    let unknown = Just(Value::unknown(Type::Dynamic));
    let wrong = Just(Value::string("wrong"));
    prop_oneof![24 => known, 1 => unknown, 1 => wrong].boxed()
}

fn attribute_config(ty: &AttributeType) -> BoxedStrategy<Value> {
    match ty {
        AttributeType::Plain(ty) => prop_oneof![
            5 => value_of(ty),
            1 => any_type().prop_flat_map(|t| value_of(&t)),
        ]
        .prop_map(|value| as_written(&value))
        .boxed(),
        AttributeType::Nested(nested) => {
            let members: Vec<_> = nested
                .attributes
                .iter()
                .map(|(name, a)| maybe(name, attribute_config(&a.ty), 8))
                .collect();
            let one = members
                .prop_map(|members| Value::object(members.into_iter().flatten()))
                .boxed();
            let known = match nested.nesting {
                Nesting::Single | Nesting::Group => one,
                Nesting::List | Nesting::Set => vec(one, 0..3).prop_map(Value::tuple).boxed(),
                Nesting::Map => vec((name(), one), 0..3).prop_map(Value::object).boxed(),
            };
            let null = Just(Value::null(Type::Dynamic));
            let unknown = Just(Value::unknown(Type::Dynamic));
            let wrong = Just(Value::string("wrong"));
            prop_oneof![24 => known, 2 => null, 1 => unknown, 1 => wrong].boxed()
        }
    }
}

/// The value in the types that a configuration language has.
fn as_written(value: &Value) -> Value {
    let all = |items: &[Value]| Value::tuple(items.iter().map(as_written).collect::<Vec<_>>());
    match value {
        Value::Null(_) => Value::null(Type::Dynamic),
        Value::Unknown(unknown) => Value::unknown(unknown.ty.clone()),
        // Text and numbers that JSON cannot hold are not written in configurations.
        Value::Number(n) if n.to_json_number().is_none() => Value::Bool(true),
        Value::List(s) | Value::Set(s) => all(&s.items),
        Value::Tuple(items) => all(items),
        Value::Map(m) => Value::object(m.entries.iter().map(|(k, v)| (k.clone(), as_written(v)))),
        Value::Object(o) => Value::object(o.iter().map(|(k, v)| (k.clone(), as_written(v)))),
        scalar => scalar.clone(),
    }
}

fn quirky(block: &Block) -> bool {
    block
        .attributes
        .values()
        .any(|a| has_nested_optional(&nivis::schema::conversion_type(a)))
        || block.block_types.values().any(|b| quirky(&b.block))
}

fn block_json(block: &Block) -> Json {
    let nested = |(name, nested): (&Str, &NestedBlock)| {
        let mut form = block_json(&nested.block);
        form["nesting"] = json!(nesting(nested.nesting));
        (name.to_string(), form)
    };
    json!({
        "attributes": attributes_json(&block.attributes),
        "blocks": block.block_types.iter().map(nested).collect::<BTreeMap<_, _>>(),
    })
}

fn attributes_json(attributes: &BTreeMap<Str, Attribute>) -> Json {
    let form = |(name, a): (&Str, &Attribute)| {
        let mut form =
            json!({"required": a.required, "optional": a.optional, "computed": a.computed});
        match &a.ty {
            AttributeType::Plain(ty) => form["type"] = notation::type_json(ty),
            AttributeType::Nested(nested) => {
                form["attributes"] = attributes_json(&nested.attributes);
                form["nesting"] = json!(nesting(nested.nesting));
            }
        }
        (name.to_string(), form)
    };
    json!(attributes.iter().map(form).collect::<BTreeMap<_, _>>())
}

fn nesting(nesting: Nesting) -> &'static str {
    match nesting {
        Nesting::Single => "single",
        Nesting::Group => "group",
        Nesting::List => "list",
        Nesting::Set => "set",
        Nesting::Map => "map",
    }
}
