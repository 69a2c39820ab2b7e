//! The proposed new state: the prior object with the configuration merged into it, computed attributes kept.
//!
//! This is what a provider gets as `proposed_new_state`. It must be merged at every depth, by these rules, or providers
//! see changes where there are none:
//!
//! | rule | test |
//! |---|---|
//! | no prior object: computed attributes start as null, blocks as empty | `a_new_object_is_the_configuration` |
//! | neither prior object nor configuration: null | `nothing_proposed_for_nothing` |
//! | a computed attribute not in the configuration keeps its prior value | `attributes` |
//! | … unless it is an optional nested attribute that held configured values: it was removed | `removed_nested_attribute` |
//! | any other attribute is what the configuration says, unknown included | `attributes` |
//! | single and group blocks and attributes merge member by member | `single_and_group` |
//! | list elements merge by index, map elements by key; new ones are taken verbatim | `lists`, `maps` |
//! | set elements merge with the first prior element that could have come from them | `sets` |
//! | blocks with dynamic attributes (tuples, objects) merge likewise | `dynamic_blocks` |
//! | an unknown collection stays unknown | `unknown_configuration` |
//! | an object read during apply: computed attributes are unknown at every depth | `object_read_later` |

use std::collections::BTreeMap;

use super::correlate::could_come_from;
use super::parts::{Element, entries, items, member};
use crate::schema::{
    Attribute, AttributeType, Block, NestedAttribute, NestedBlock, Nesting, attribute_type,
    block_type, empty_value, implied_type,
};
use crate::value::{Entries, Str, Type, Value};

/// The proposed new object for a resource with this `prior` object and this configuration, each null if there is none.
pub fn propose(block: &Block, prior: &Value, config: &Value) -> Value {
    match (prior.is_null(), config.is_null()) {
        (true, true) => prior.clone(),
        (true, false) => merge_block(block, &empty_value(block), config),
        (false, _) => merge_block(block, prior, config),
    }
}

/// What is known about an object that will only be read during apply: the configuration, with everything unknown that
/// the provider may compute.
pub fn planned_unknown(block: &Block, config: &Value) -> Value {
    merge_block(block, &Value::unknown(implied_type(block)), config)
}

fn merge_block(block: &Block, prior: &Value, config: &Value) -> Value {
    if config.is_null() || !config.is_known() {
        return prior.clone();
    }
    let mut members = merge_attributes(&block.attributes, prior, config);
    for (name, nested) in &block.block_types {
        let ty = || block_type(nested);
        let merged =
            merge_nested_block(nested, &member(prior, name, ty), &member(config, name, ty));
        members.push((name.clone(), merged));
    }
    Value::object(members)
}

fn merge_attributes(
    attributes: &BTreeMap<Str, Attribute>,
    prior: &Value,
    config: &Value,
) -> Vec<(Str, Value)> {
    attributes
        .iter()
        .map(|(name, a)| {
            let ty = || attribute_type(a);
            (
                name.clone(),
                merge_attribute(a, &member(prior, name, ty), &member(config, name, ty)),
            )
        })
        .collect()
}

fn merge_attribute(attribute: &Attribute, prior: &Value, config: &Value) -> Value {
    let nested = match &attribute.ty {
        AttributeType::Nested(nested) => Some(nested),
        AttributeType::Plain(_) => None,
    };
    if attribute.computed && config.is_null() {
        let removed = attribute.optional && nested.is_some_and(|n| has_configured(n, prior));
        return if removed {
            config.clone()
        } else {
            prior.clone()
        };
    }
    match nested {
        Some(nested) => merge_collection(nested.nesting, Element::Object(nested), prior, config),
        None => config.clone(),
    }
}

/// Whether something inside the value of a nested attribute can only have come from configuration.
fn has_configured(nested: &NestedAttribute, value: &Value) -> bool {
    objects(nested.nesting, value).into_iter().any(|object| {
        nested.attributes.iter().any(|(name, attribute)| {
            let Some(value) = object.attribute(name).filter(|v| !v.is_null()) else {
                return false;
            };
            match &attribute.ty {
                _ if !attribute.computed => true,
                AttributeType::Nested(nested) => has_configured(nested, value),
                AttributeType::Plain(_) => false,
            }
        })
    })
}

fn merge_nested_block(nested: &NestedBlock, prior: &Value, config: &Value) -> Value {
    let element = Element::Block(&nested.block);
    match nested.nesting {
        Nesting::Group if config.is_known() => merge_element(element, prior, config),
        nesting => merge_collection(nesting, element, prior, config),
    }
}

fn merge_element(of: Element<'_>, prior: &Value, config: &Value) -> Value {
    match of {
        Element::Block(block) => propose(block, prior, config),
        Element::Object(_) if config.is_null() => config.clone(),
        Element::Object(nested) => {
            Value::object(merge_attributes(&nested.attributes, prior, config))
        }
    }
}

fn merge_collection(nesting: Nesting, of: Element<'_>, prior: &Value, config: &Value) -> Value {
    if config.is_null() || !config.is_known() {
        return config.clone();
    }
    match (nesting, config) {
        (Nesting::Single | Nesting::Group, _) => merge_element(of, prior, config),
        (Nesting::List, Value::List(list)) => {
            let items = merge_items(of, prior, &list.items);
            Value::list(retyped(&list.element, items.iter()), items)
        }
        (Nesting::List, Value::Tuple(items)) => Value::tuple(merge_items(of, prior, items)),
        (Nesting::Set, Value::Set(set)) => {
            let items = merge_set(of, prior, &set.items);
            Value::set(retyped(&set.element, items.iter()), items)
        }
        (Nesting::Map, Value::Map(map)) => {
            let entries = merge_entries(of, prior, &map.entries);
            Value::map(
                retyped(&map.element, entries.iter().map(|(_, v)| v)),
                entries,
            )
        }
        (Nesting::Map, Value::Object(entries)) => Value::object(merge_entries(of, prior, entries)),
        _ => config.clone(),
    }
}

/// The element type after merging: prior values may have decided what configuration left open.
fn retyped<'a>(element: &Type, mut items: impl Iterator<Item = &'a Value>) -> Type {
    match items.next() {
        Some(first) if element.has_dynamic() => first.ty(),
        _ => element.clone(),
    }
}

fn merge_items(of: Element<'_>, prior: &Value, config: &[Value]) -> Vec<Value> {
    let unknown = || Value::unknown(of.ty());
    config
        .iter()
        .enumerate()
        .map(|(i, config)| match (prior, items(prior).get(i)) {
            (Value::Unknown(_), _) => merge_element(of, &unknown(), config),
            (_, Some(prior)) => merge_element(of, prior, config),
            (_, None) => config.clone(),
        })
        .collect()
}

fn merge_entries(of: Element<'_>, prior: &Value, config: &Entries) -> Vec<(Str, Value)> {
    config
        .iter()
        .map(|(key, config)| {
            let merged = match (prior, entries(prior).and_then(|e| e.get(key))) {
                (Value::Unknown(_), _) => merge_element(of, &Value::unknown(of.ty()), config),
                (_, Some(prior)) => merge_element(of, prior, config),
                (_, None) => config.clone(),
            };
            (key.clone(), merged)
        })
        .collect()
}

fn merge_set(of: Element<'_>, prior: &Value, config: &[Value]) -> Vec<Value> {
    let absent = if prior.is_known() {
        Value::null(of.ty())
    } else {
        Value::unknown(of.ty())
    };
    let mut left: Vec<&Value> = items(prior).iter().collect();
    config
        .iter()
        .map(|config| {
            let from = left
                .iter()
                .position(|prior| could_come_from(of, prior, config));
            merge_element(of, from.map_or(&absent, |i| left.remove(i)), config)
        })
        .collect()
}

/// The objects in the value of a nested attribute or block type.
fn objects(nesting: Nesting, value: &Value) -> Vec<&Value> {
    match nesting {
        Nesting::Single | Nesting::Group => vec![value],
        Nesting::List | Nesting::Set => items(value).iter().collect(),
        Nesting::Map => entries(value)
            .into_iter()
            .flat_map(|e| e.iter().map(|(_, v)| v))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::{object, schema};

    /// Runs `propose` over (prior, configuration, wanted) in the notation of `schema::testing`.
    fn check(text: &str, cases: &[(&str, &str, &str)]) {
        let block = schema(text);
        for (prior, config, want) in cases {
            let got = propose(&block, &object(&block, prior), &object(&block, config));
            assert_eq!(
                got,
                object(&block, want),
                "prior {prior}, configuration {config}"
            );
        }
    }

    const ATTRIBUTES: &str = "
        id: string computed
        name: string required
        size: number optional
        zone: string optional computed";

    #[test]
    fn nothing_proposed_for_nothing() {
        check(ATTRIBUTES, &[("null", "null", "null")]);
    }

    #[test]
    fn a_new_object_is_the_configuration() {
        check(
            ATTRIBUTES,
            &[
                ("null", r#"{"name": "a"}"#, r#"{"name": "a"}"#),
                (
                    "null",
                    r#"{"name": "??", "zone": "b"}"#,
                    r#"{"name": "??", "zone": "b"}"#,
                ),
            ],
        );
        check(
            "block one single {
               id: string computed
             }
             block group group {
               id: string computed
             }
             block list list {
               id: string computed
               inner: string optional
             }",
            &[
                ("null", "{}", r#"{"one": null, "group": {}, "list": []}"#),
                (
                    "null",
                    r#"{"one": {}, "list": [{}]}"#,
                    r#"{"one": {}, "list": [{}]}"#,
                ),
            ],
        );
    }

    #[test]
    fn attributes() {
        let prior = r#"{"id": "i", "name": "a", "size": 1, "zone": "z"}"#;
        check(
            ATTRIBUTES,
            &[
                (prior, r#"{"name": "a", "size": 1}"#, prior),
                (
                    prior,
                    r#"{"name": "b"}"#,
                    r#"{"id": "i", "name": "b", "size": null, "zone": "z"}"#,
                ),
                (
                    prior,
                    r#"{"name": "??", "zone": "y"}"#,
                    r#"{"id": "i", "name": "??", "zone": "y"}"#,
                ),
                (
                    prior,
                    r#"{"name": "??!", "zone": "??"}"#,
                    r#"{"id": "i", "name": "??!", "zone": "??"}"#,
                ),
                // Nobody should set it, but if it is set, that is what the provider gets to see.
                (prior, r#"{"id": "set"}"#, r#"{"id": "set", "zone": "z"}"#),
                (prior, "null", prior),
            ],
        );
    }

    #[test]
    fn single_and_group() {
        let nested = "
            n: single optional {
              id: string computed
              name: string optional
            }
            block one single {
              id: string computed
              name: string optional
            }
            block group group {
              id: string computed
              name: string optional
            }";
        let prior = r#"{"n": {"id": "1", "name": "a"}, "one": {"id": "2", "name": "a"},
            "group": {"id": "3", "name": "a"}}"#;
        check(
            nested,
            &[
                (
                    prior,
                    "{}",
                    r#"{"n": null, "one": null, "group": {"id": "3"}}"#,
                ),
                (
                    prior,
                    r#"{"n": {"name": "b"}, "one": {"name": "b"}, "group": {"name": "b"}}"#,
                    r#"{"n": {"id": "1", "name": "b"}, "one": {"id": "2", "name": "b"},
                        "group": {"id": "3", "name": "b"}}"#,
                ),
                (
                    "{}",
                    r#"{"n": {"name": "b"}, "one": {"name": "b"}, "group": {}}"#,
                    r#"{"n": {"name": "b"}, "one": {"name": "b"}, "group": {}}"#,
                ),
            ],
        );
    }

    #[test]
    fn removed_nested_attribute() {
        let nested = "
            n: single optional computed {
              id: string computed
              zone: string optional computed
              name: string optional
              deep: list optional computed {
                x: string optional
              }
            }";
        check(
            nested,
            &[
                (
                    r#"{"n": {"id": "1", "zone": "z"}}"#,
                    "{}",
                    r#"{"n": {"id": "1", "zone": "z"}}"#,
                ),
                (r#"{"n": {"id": "1", "name": "a"}}"#, "{}", r#"{"n": null}"#),
                (r#"{"n": {"deep": [{"x": "a"}]}}"#, "{}", r#"{"n": null}"#),
                (
                    r#"{"n": {"deep": [{"x": null}]}}"#,
                    "{}",
                    r#"{"n": {"deep": [{"x": null}]}}"#,
                ),
                (r#"{"n": {"name": "a"}}"#, r#"{"n": {}}"#, r#"{"n": {}}"#),
            ],
        );
        // An attribute that only the provider sets is never taken for removed configuration.
        check(
            "n: single computed {
               name: string optional
             }",
            &[(r#"{"n": {"name": "a"}}"#, "{}", r#"{"n": {"name": "a"}}"#)],
        );
    }

    /// One collection as a nested attribute and as a nested block.
    fn collections(nesting: &str, members: &str) -> [String; 2] {
        [
            format!("c: {nesting} optional {{\n{members}\n}}"),
            format!("block c {nesting} {{\n{members}\n}}"),
        ]
    }

    const MEMBERS: &str =
        "id: string computed\nname: string optional\nzone: string optional computed";

    #[test]
    fn lists() {
        for text in collections("list", MEMBERS) {
            check(
                &text,
                &[
                    (
                        r#"{"c": [{"id": "1", "name": "a", "zone": "z"}, {"id": "2", "name": "b"}]}"#,
                        r#"{"c": [{"name": "b"}, {"name": "b"}, {"name": "c"}]}"#,
                        r#"{"c": [{"id": "1", "name": "b", "zone": "z"}, {"id": "2", "name": "b"}, {"name": "c"}]}"#,
                    ),
                    (
                        r#"{"c": [{"id": "1"}, {"id": "2"}]}"#,
                        r#"{"c": [{}]}"#,
                        r#"{"c": [{"id": "1"}]}"#,
                    ),
                    (r#"{"c": [{"id": "1"}]}"#, r#"{"c": []}"#, r#"{"c": []}"#),
                    (
                        r#"{"c": null}"#,
                        r#"{"c": [{"name": "a"}]}"#,
                        r#"{"c": [{"name": "a"}]}"#,
                    ),
                    (
                        r#"{"c": [null]}"#,
                        r#"{"c": [{"name": "a"}]}"#,
                        r#"{"c": [{"name": "a"}]}"#,
                    ),
                ],
            );
        }
    }

    #[test]
    fn maps() {
        for text in collections("map", MEMBERS) {
            check(
                &text,
                &[(
                    r#"{"c": {"k": {"id": "1", "name": "a"}, "gone": {"id": "2"}}}"#,
                    r#"{"c": {"k": {"name": "b"}, "new": {"name": "c"}}}"#,
                    r#"{"c": {"k": {"id": "1", "name": "b"}, "new": {"name": "c"}}}"#,
                )],
            );
        }
    }

    #[test]
    fn sets() {
        for text in collections("set", MEMBERS) {
            check(
                &text,
                &[
                    // The elements are found again whatever their order, changed ones are new.
                    (
                        r#"{"c": [{"id": "2", "name": "b"}, {"id": "1", "name": "a", "zone": "z"}]}"#,
                        r#"{"c": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}"#,
                        r#"{"c": [{"id": "1", "name": "a", "zone": "z"}, {"id": "2", "name": "b"}, {"name": "c"}]}"#,
                    ),
                    // A configured value where the provider had chosen another: not the same element.
                    (
                        r#"{"c": [{"id": "1", "name": "a", "zone": "z"}]}"#,
                        r#"{"c": [{"name": "a", "zone": "y"}]}"#,
                        r#"{"c": [{"name": "a", "zone": "y"}]}"#,
                    ),
                    // Each prior element is used once.
                    (
                        r#"{"c": [{"id": "1", "name": "a"}, {"id": "2", "name": "a"}]}"#,
                        r#"{"c": [{"name": "a"}]}"#,
                        r#"{"c": [{"id": "1", "name": "a"}]}"#,
                    ),
                    // What is not known yet cannot have led to anything.
                    (
                        r#"{"c": [{"id": "1", "name": "a"}]}"#,
                        r#"{"c": [{"name": "??"}]}"#,
                        r#"{"c": [{"name": "??"}]}"#,
                    ),
                    (
                        "{}",
                        r#"{"c": [{"name": "a"}]}"#,
                        r#"{"c": [{"name": "a"}]}"#,
                    ),
                ],
            );
        }
    }

    #[test]
    fn sets_with_nesting() {
        let deep = "
            block c set {
              name: string optional
              n: single optional {
                id: string computed
                x: string optional
              }
              block list list {
                id: string computed
                x: string optional
              }
              block map map {
                id: string computed
              }
              block set set {
                id: string computed
                x: string optional
              }
            }";
        let prior = r#"{"c": [{"name": "a", "n": {"id": "1", "x": "x"},
            "list": [{"id": "2", "x": "x"}], "map": {"k": {"id": "3"}}}]}"#;
        let not_found = |config| (prior, config, config);
        check(
            deep,
            &[
                (
                    prior,
                    r#"{"c": [{"name": "a", "n": {"x": "x"}, "list": [{"x": "x"}], "map": {"k": {}}}]}"#,
                    prior,
                ),
                not_found(
                    r#"{"c": [{"name": "a", "n": {"x": "y"}, "list": [{"x": "x"}], "map": {"k": {}}}]}"#,
                ),
                not_found(
                    r#"{"c": [{"name": "a", "n": {"x": "x"}, "list": [], "map": {"k": {}}}]}"#,
                ),
                not_found(
                    r#"{"c": [{"name": "a", "n": {"x": "x"}, "list": [{"x": "x"}], "map": {"l": {}}}]}"#,
                ),
                not_found(
                    r#"{"c": [{"name": "a", "n": null, "list": [{"x": "x"}], "map": {"k": {}}}]}"#,
                ),
                // Sets within sets must be equal as they are.
                (
                    r#"{"c": [{"name": "a", "set": [{"id": "1", "x": "x"}]}]}"#,
                    r#"{"c": [{"name": "a", "set": [{"x": "x"}]}]}"#,
                    r#"{"c": [{"name": "a", "set": [{"x": "x"}]}]}"#,
                ),
                // One more element in the configuration does not rule a prior element out.
                (
                    r#"{"c": [{"name": "a", "list": [{"id": "2", "x": "x"}]}]}"#,
                    r#"{"c": [{"name": "a", "list": [{"x": "x"}, {"x": "y"}]}]}"#,
                    r#"{"c": [{"name": "a", "list": [{"id": "2", "x": "x"}, {"x": "y"}]}]}"#,
                ),
            ],
        );
    }

    #[test]
    fn dynamic_blocks() {
        for (nesting, prior, config, want) in [
            (
                "list",
                r#"{"c": [{"id": "1", "any": 1}, {"id": "2", "any": "s"}]}"#,
                r#"{"c": [{"any": "t"}, {"any": ["u"]}, {"any": null}]}"#,
                r#"{"c": [{"id": "1", "any": "t"}, {"id": "2", "any": ["u"]}, {"any": null}]}"#,
            ),
            (
                "map",
                r#"{"c": {"k": {"id": "1", "any": 1}}}"#,
                r#"{"c": {"k": {"any": "t"}, "l": {}}}"#,
                r#"{"c": {"k": {"id": "1", "any": "t"}, "l": {}}}"#,
            ),
        ] {
            let text = format!("block c {nesting} {{\nid: string computed\nany: any optional\n}}");
            check(&text, &[(prior, config, want)]);
        }
        // A computed value decides the element type of a list of nested attributes.
        check(
            "c: list optional {\n any: any computed\n}",
            &[(
                r#"{"c": [{"any": null}]}"#,
                r#"{"c": [{"any": null}]}"#,
                r#"{"c": [{"any": null}]}"#,
            )],
        );
    }

    #[test]
    fn unknown_configuration() {
        for nesting in ["single", "list", "set", "map"] {
            for text in collections(nesting, MEMBERS) {
                check(&text, &[("{}", r#"{"c": "??"}"#, r#"{"c": "??"}"#)]);
            }
        }
        check(
            "block c group {\n id: string computed\n}",
            &[(r#"{"c": {"id": "1"}}"#, r#"{"c": "??"}"#, r#"{"c": "??"}"#)],
        );
        // A block whose content is unknown keeps the prior one; a nested attribute's members become unknown.
        let [attribute, block] = collections("list", MEMBERS);
        let prior = r#"{"c": [{"id": "1", "name": "a"}]}"#;
        check(&block, &[(prior, r#"{"c": ["??"]}"#, prior)]);
        let members = r#"{"c": [{"id": "??", "name": "??", "zone": "??"}]}"#;
        check(&attribute, &[(prior, r#"{"c": ["??"]}"#, members)]);
    }

    #[test]
    fn object_read_later() {
        let block = schema(
            "id: string computed
             name: string required
             zone: string optional computed
             n: list optional {
               id: string computed
               name: string optional
             }
             by: map optional {
               id: string computed
             }
             all: single computed {
               id: string computed
             }
             block filter set {
               id: string computed
               name: string optional
             }
             block none list {
               id: string computed
             }
             block group group {
               id: string computed
             }",
        );
        let config = r#"{"name": "a", "n": [{"name": "b"}], "by": {"k": {}}, "filter": [{"name": "c"}], "group": {}}"#;
        let want = r#"{"id": "??", "name": "a", "zone": "??", "n": [{"id": "??", "name": "b"}], "by": {"k": {"id": "??"}},
            "all": "??", "filter": [{"id": "??", "name": "c"}], "none": [], "group": {"id": "??"}}"#;
        assert_eq!(
            planned_unknown(&block, &object(&block, config)),
            object(&block, want)
        );
    }
}
