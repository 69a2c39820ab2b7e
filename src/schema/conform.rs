//! Makes an evaluated configuration fit a block, or says everything that is wrong with it.
//!
//! What is accepted is what Terraform and OpenTofu accept in JSON configuration: scalars are converted, a list may stand
//! for a set, one object for a list or set of one block, a list of one block for a single block. Two things are stricter:
//! names that a nested attribute does not have are errors instead of being dropped, and so are null blocks in a list.

use std::collections::BTreeMap;

use super::{
    Attribute, AttributeType, Block, NestedAttribute, NestedBlock, Nesting, attribute_type,
    block_type, conversion_type, empty_blocks, implied_type, without_optional,
};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::value::{Entries, Path, Str, Type, Value, convert};

/// The configuration as a value of the block's implied type.
///
/// Absent attributes are null; absent (or null) lists, sets, maps and groups of blocks are empty, an absent single block
/// is null. Unknown parts stay unknown. All problems are reported together, each with its path in `config`.
pub fn conform(block: &Block, config: &Value) -> Result<Value, Diagnostics> {
    let mut problems = Diagnostics::default();
    let value = block_value(block, config, &Path::root(), &mut problems);
    problems.into_result().map(|_| value)
}

fn block_value(block: &Block, config: &Value, at: &Path, problems: &mut Diagnostics) -> Value {
    let ty = || implied_type(block);
    match config {
        Value::Null(_) => Value::null(ty()),
        Value::Unknown(_) => Value::unknown(ty()),
        Value::Object(given) => {
            check_names(&settable(block), given, at, problems);
            let mut members = attributes(&block.attributes, given, at, problems);
            for (name, nested) in &block.block_types {
                let given = given.get(name).filter(|v| !v.is_null());
                members.push((
                    name.clone(),
                    blocks(nested, given, &at.attribute(name.clone()), problems),
                ));
            }
            Value::object(members)
        }
        other => {
            problems.push(wrong_type(
                at,
                format!("an object is required, not {}", kind(other)),
            ));
            Value::null(ty())
        }
    }
}

/// Names that configuration may mention, with whether each may be set.
fn settable(block: &Block) -> BTreeMap<&str, bool> {
    let attributes = block
        .attributes
        .iter()
        .map(|(name, a)| (&**name, a.optional || a.required));
    attributes
        .chain(block.block_types.keys().map(|name| (&**name, true)))
        .collect()
}

fn check_names(
    known: &BTreeMap<&str, bool>,
    given: &Entries,
    at: &Path,
    problems: &mut Diagnostics,
) {
    for name in given.names().filter(|name| !known.contains_key(&***name)) {
        let candidates = known
            .iter()
            .filter(|(_, settable)| **settable)
            .map(|(name, _)| *name);
        let problem = Diagnostic::error("Unsupported argument")
            .detail(format!("there is no argument `{name}` here"))
            .path(at.attribute(name.clone()));
        problems.push(problem.suggest(name, candidates));
    }
}

fn attributes(
    schema: &BTreeMap<Str, Attribute>,
    given: &Entries,
    at: &Path,
    problems: &mut Diagnostics,
) -> Vec<(Str, Value)> {
    let member = |(name, attribute): (&Str, &Attribute)| {
        let value = if let Some(value) = given.get(name) {
            attribute_value(attribute, value, &at.attribute(name.clone()), problems)
        } else {
            if !attribute.optional && !attribute.computed {
                problems.push(
                    Diagnostic::error("Missing required argument")
                        .detail(format!("{name:?} must be set"))
                        .path(at.attribute(name.clone())),
                );
            }
            Value::null(attribute_type(attribute))
        };
        (name.clone(), value)
    };
    schema.iter().map(member).collect()
}

fn attribute_value(
    attribute: &Attribute,
    value: &Value,
    at: &Path,
    problems: &mut Diagnostics,
) -> Value {
    match &attribute.ty {
        AttributeType::Plain(ty) => converted(value, ty, at, problems),
        AttributeType::Nested(nested) => {
            let value = nested_objects(nested, value, at, problems);
            converted(&value, &conversion_type(attribute), at, problems)
        }
    }
}

/// The value of a nested attribute with every object in it made to fit; what is no object is left to conversion.
fn nested_objects(
    nested: &NestedAttribute,
    value: &Value,
    at: &Path,
    problems: &mut Diagnostics,
) -> Value {
    let mut object = |(at, value): (Path, &Value)| match value {
        Value::Object(given) => {
            let known = nested.attributes.iter();
            let known = known
                .map(|(name, a)| (&**name, a.optional || a.required))
                .collect();
            check_names(&known, given, &at, problems);
            Value::object(attributes(&nested.attributes, given, &at, problems))
        }
        other => other.clone(),
    };
    match (nested.nesting, value) {
        (Nesting::Single | Nesting::Group, _) => object((at.clone(), value)),
        (Nesting::List | Nesting::Set, Value::Tuple(items)) => {
            Value::tuple(indexed(items, at).map(object).collect::<Vec<_>>())
        }
        (Nesting::Map, Value::Object(o)) => Value::object(
            o.iter()
                .map(|(k, v)| (k.clone(), object((at.key(k.clone()), v)))),
        ),
        _ => value.clone(),
    }
}

fn converted(value: &Value, ty: &Type, at: &Path, problems: &mut Diagnostics) -> Value {
    convert(value, ty).unwrap_or_else(|error| {
        let steps = at.0.iter().chain(&error.path.0).cloned().collect();
        problems.push(wrong_type(&Path(steps), error.kind.to_string()));
        Value::null(without_optional(ty))
    })
}

fn wrong_type(at: &Path, detail: String) -> Diagnostic {
    Diagnostic::error("Incorrect attribute value type")
        .detail(detail)
        .path(at.clone())
}

/// All blocks of one type; `given` is what the configuration says, unless that is nothing or null.
fn blocks(
    nested: &NestedBlock,
    given: Option<&Value>,
    at: &Path,
    problems: &mut Diagnostics,
) -> Value {
    let Some(given) = given else {
        check_count(nested, 0, at, problems);
        return empty_blocks(nested);
    };
    if !given.is_known() {
        return Value::unknown(block_type(nested));
    }
    match nested.nesting {
        Nesting::Map => block_map(nested, given, at, problems),
        Nesting::Single | Nesting::Group => match elements(given, at).as_deref() {
            None => block_value(&nested.block, given, at, problems),
            Some([]) => blocks(nested, None, at, problems),
            Some([(at, one)]) => block_value(&nested.block, one, at, problems),
            Some([_, _, ..]) => {
                problems.push(
                    Diagnostic::error("Too many blocks")
                        .detail("only one is allowed here")
                        .path(at.clone()),
                );
                empty_blocks(nested)
            }
        },
        Nesting::List | Nesting::Set => {
            let elements = elements(given, at).unwrap_or_else(|| vec![(at.clone(), given)]);
            check_count(nested, elements.len() as u64, at, problems);
            let items = elements
                .into_iter()
                .map(|(at, element)| block_element(nested, element, &at, problems))
                .collect::<Vec<_>>();
            match block_type(nested) {
                Type::Dynamic => Value::tuple(items),
                Type::Set(t) => Value::set((*t).clone(), items),
                _ => Value::list(implied_type(&nested.block), items),
            }
        }
    }
}

fn block_map(nested: &NestedBlock, given: &Value, at: &Path, problems: &mut Diagnostics) -> Value {
    let entries = match given {
        Value::Object(entries) => entries,
        Value::Map(map) => &map.entries,
        other => {
            let detail = format!("blocks by key are required, not {}", kind(other));
            problems.push(wrong_type(at, detail));
            return empty_blocks(nested);
        }
    };
    let members = entries
        .iter()
        .map(|(k, v)| {
            (
                k.clone(),
                block_element(nested, v, &at.key(k.clone()), problems),
            )
        })
        .collect::<Vec<_>>();
    match block_type(nested) {
        Type::Dynamic => Value::object(members),
        _ => Value::map(implied_type(&nested.block), members),
    }
}

fn block_element(
    nested: &NestedBlock,
    element: &Value,
    at: &Path,
    problems: &mut Diagnostics,
) -> Value {
    if element.is_null() {
        problems.push(wrong_type(at, "a block cannot be null".to_owned()));
    }
    block_value(&nested.block, element, at, problems)
}

fn elements<'a>(value: &'a Value, at: &Path) -> Option<Vec<(Path, &'a Value)>> {
    match value {
        Value::Tuple(items) => Some(indexed(items, at).collect()),
        Value::List(s) | Value::Set(s) => Some(indexed(&s.items, at).collect()),
        _ => None,
    }
}

fn indexed<'a>(items: &'a [Value], at: &Path) -> impl Iterator<Item = (Path, &'a Value)> {
    (0..).zip(items).map(|(i, item)| (at.index(i), item))
}

fn check_count(nested: &NestedBlock, count: u64, at: &Path, problems: &mut Diagnostics) {
    if count < nested.min_items {
        let detail = format!("at least {} needed, {count} given", nested.min_items);
        problems.push(
            Diagnostic::error("Too few blocks")
                .detail(detail)
                .path(at.clone()),
        );
    } else if nested.max_items > 0 && count > nested.max_items {
        let detail = format!("at most {} allowed, {count} given", nested.max_items);
        problems.push(
            Diagnostic::error("Too many blocks")
                .detail(detail)
                .path(at.clone()),
        );
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null(_) => "null",
        Value::Unknown(_) => "an unknown value",
        Value::Bool(_) => "a bool",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::List(_) | Value::Tuple(_) => "a list",
        Value::Set(_) => "a set",
        Value::Map(_) => "a map",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::{object, schema, value};

    /// One of everything.
    const EVERYTHING: &str = "
        name: string required
        size: number optional
        tags: map(string) optional
        ports: set(number) optional
        free: any optional
        id: string computed
        rule: list optional {
          port: number required
          note: string optional
          id: string computed
        }
        by_name: map optional {
          on: bool optional
        }
        block one single {
          x: string optional
        }
        block group group {
          x: string optional
        }
        block disk list max=2 {
          gb: number required
        }
        block label set {
          k: string required
        }
        block zone map {
          x: string optional
        }
        block extra list {
          any: any optional
        }";

    fn given(json: &str) -> Value {
        value(&Type::Dynamic, json)
    }

    fn problems(block: &str, config: &str) -> Vec<String> {
        let problems = conform(&schema(block), &given(config)).expect_err(config).0;
        problems
            .into_iter()
            .map(|p| match &p.hint {
                Some(hint) => format!("{p} ({hint})"),
                None => p.to_string(),
            })
            .collect()
    }

    #[test]
    fn configuration_takes_the_implied_type() {
        let block = schema(EVERYTHING);
        let cases = [
            (r#"{"name": "n"}"#, r#"{"name": "n"}"#),
            (r#"{"name": 5, "size": "7"}"#, r#"{"name": "5", "size": 7}"#),
            (r#"{"name": null}"#, "{}"),
            (
                r#"{"name": "n", "id": "set"}"#,
                r#"{"name": "n", "id": "set"}"#,
            ),
            (
                r#"{"name": "n", "tags": {"a": 1}, "ports": [2, 1, "2"], "free": [1, {"a": null}]}"#,
                r#"{"name": "n", "tags": {"a": "1"}, "ports": [1, 2], "free": [1, {"a": null}]}"#,
            ),
            (
                r#"{"name": "n", "rule": [{"port": "1"}], "by_name": {"k": {"on": "true"}}}"#,
                r#"{"name": "n", "rule": [{"port": 1}], "by_name": {"k": {"on": true}}}"#,
            ),
            (
                r#"{"name": "n", "disk": [{"gb": 1}, {"gb": "2"}], "label": [{"k": "a"}, {"k": "a"}]}"#,
                r#"{"name": "n", "disk": [{"gb": 1}, {"gb": 2}], "label": [{"k": "a"}]}"#,
            ),
            (
                r#"{"name": "n", "one": {}, "group": {"x": 1}, "zone": {"a": {}}}"#,
                r#"{"name": "n", "one": {}, "group": {"x": "1"}, "zone": {"a": {}}}"#,
            ),
            (
                r#"{"name": "n", "extra": [{"any": 1}, {"any": "s"}]}"#,
                r#"{"name": "n", "extra": [{"any": 1}, {"any": "s"}]}"#,
            ),
        ];
        for (config, want) in cases {
            let got = conform(&block, &given(config)).unwrap_or_else(|e| panic!("{config}: {e}"));
            assert_eq!(got, object(&block, want), "{config}");
        }
    }

    #[test]
    fn a_dynamic_attribute_keeps_null_elements_of_any_type_apart() {
        let block = schema("block extra list {\n any: any optional\n}");
        let config = given(r#"{"extra": [{"any": 1}, {}]}"#);
        let got = conform(&block, &config).expect("fits");
        let elements = [
            Value::object([("any", Value::Number(1_i64.into()))]),
            Value::object([("any", Value::null(Type::Dynamic))]),
        ];
        assert_eq!(got, Value::object([("extra", Value::tuple(elements))]));
    }

    #[test]
    fn null_and_absent_blocks_are_empty_and_only_single_ones_null() {
        let block = schema(EVERYTHING);
        let null = r#"{"name": "n", "one": null, "group": null, "disk": null, "label": null,
            "zone": null, "extra": null}"#;
        for config in [r#"{"name": "n"}"#, null] {
            let got = conform(&block, &given(config)).expect(config);
            for (name, nested) in &block.block_types {
                assert_eq!(
                    got.attribute(name),
                    Some(&empty_blocks(nested)),
                    "{name} of {config}"
                );
            }
        }
    }

    #[test]
    fn one_object_may_stand_for_a_list_of_one_block_and_the_other_way_round() {
        let block = schema(EVERYTHING);
        let cases = [
            (r#"{"disk": {"gb": 1}}"#, r#"{"disk": [{"gb": 1}]}"#),
            (r#"{"label": {"k": "a"}}"#, r#"{"label": [{"k": "a"}]}"#),
            (r#"{"one": [{"x": "a"}]}"#, r#"{"one": {"x": "a"}}"#),
            (r#"{"one": []}"#, r#"{"one": null}"#),
            (r#"{"group": []}"#, r#"{"group": {}}"#),
        ];
        for (config, want) in cases {
            let config = config.replacen('{', r#"{"name": "n", "#, 1);
            let want = want.replacen('{', r#"{"name": "n", "#, 1);
            let got = conform(&block, &given(&config)).expect(&config);
            assert_eq!(got, object(&block, &want), "{config}");
        }
    }

    #[test]
    fn unknown_parts_stay_unknown_and_skip_the_count() {
        let block = schema(&EVERYTHING.replace("block disk list", "block disk list min=2"));
        let config = r#"{"name": "??", "tags": "??", "rule": [{"port": "??"}], "one": "??",
            "disk": "??", "label": ["??"], "extra": "??"}"#;
        let got = conform(&block, &given(config)).expect("fits");
        assert_eq!(got, object(&block, config));
        assert_eq!(
            got.attribute("disk").map(Value::ty),
            Some(block_type(&block.block_types["disk"]))
        );
        let unknown = Value::unknown(Type::Dynamic);
        assert_eq!(
            conform(&block, &unknown),
            Ok(Value::unknown(implied_type(&block)))
        );
        let null = Value::null(Type::Dynamic);
        assert_eq!(
            conform(&block, &null),
            Ok(Value::null(implied_type(&block)))
        );
    }

    #[test]
    fn all_problems_are_told_with_their_paths() {
        let config = r#"{
            "nmae": "n", "size": "big", "tags": {"a": []}, "idd": 1,
            "rule": [{"port": 1}, {"prot": 1}], "by_name": {"k": {"on": 5}},
            "one": [{}, {}], "disk": [{"gb": 1}, {"gb": "x"}, {}], "label": [null], "zone": [],
            "group": "x"
        }"#;
        let want = [
            "idd: Unsupported argument: there is no argument `idd` here",
            "nmae: Unsupported argument: there is no argument `nmae` here (did you mean `name`?)",
            r#"by_name["k"].on: Incorrect attribute value type: bool required, but the value is number"#,
            r#"name: Missing required argument: "name" must be set"#,
            "rule[1].prot: Unsupported argument: there is no argument `prot` here (did you mean `port`?)",
            r#"rule[1].port: Missing required argument: "port" must be set"#,
            "size: Incorrect attribute value type: a number is required, but the text is not one",
            r#"tags["a"]: Incorrect attribute value type: string required, but the value is tuple([])"#,
            "disk: Too many blocks: at most 2 allowed, 3 given",
            "disk[1].gb: Incorrect attribute value type: a number is required, but the text is not one",
            r#"disk[2].gb: Missing required argument: "gb" must be set"#,
            "group: Incorrect attribute value type: an object is required, not a string",
            "label[0]: Incorrect attribute value type: a block cannot be null",
            "one: Too many blocks: only one is allowed here",
            "zone: Incorrect attribute value type: blocks by key are required, not a list",
        ];
        assert_eq!(problems(EVERYTHING, config), want);
        assert_eq!(
            problems("a: string optional", "[1]"),
            ["Incorrect attribute value type: an object is required, not a list"]
        );
        let map = Value::map(Type::String, [("a", Value::string("x"))]);
        assert!(conform(&schema("a: string optional"), &map).is_err());
    }

    #[test]
    fn the_number_of_blocks_is_checked() {
        let block = "block b list min=1 max=2 {\n x: string optional\n}";
        for (config, want) in [
            ("{}", "b: Too few blocks: at least 1 needed, 0 given"),
            (
                r#"{"b": []}"#,
                "b: Too few blocks: at least 1 needed, 0 given",
            ),
            (
                r#"{"b": [{}, {}, {}]}"#,
                "b: Too many blocks: at most 2 allowed, 3 given",
            ),
        ] {
            assert_eq!(problems(block, config), [want], "{config}");
        }
        let single = "block b single min=1 max=1 {\n x: string optional\n}";
        assert_eq!(
            problems(single, "{}"),
            ["b: Too few blocks: at least 1 needed, 0 given"]
        );
    }
}
