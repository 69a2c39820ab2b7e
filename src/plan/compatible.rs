//! Is the object that a provider made, or plans now that more is known, the one that was planned?
//!
//! | rule | test |
//! |---|---|
//! | an object is there if and only if one was planned | `presence` |
//! | what was planned as known is unchanged, at every depth | `known_values` |
//! | what was planned as unknown has the planned type and lies within what was promised about it | `unknown_values` |
//! | nothing known becomes unknown | `known_values` |
//! | a value of open type may become anything | `unknown_values` |
//! | blocks: as many as planned, or any number if that was unknown | `blocks` |
//! | maps: the same keys | `known_values`, `maps_of_blocks` |
//! | sets: each planned element has a counterpart and the other way round, and there are no more than planned | `sets` |
//! | messages do not quote sensitive values | `sensitive_values_are_not_quoted` |

use super::parts::{entries, items, member};
use super::violation::{Violation, Violations, quoted};
use crate::schema::{Block, NestedBlock, Nesting, attribute_type, block_type, sensitive_paths};
use crate::value::{Entries, Path, PathSet, Type, Value};

/// Input of [`check_compatible`]. Both values have the implied type of the block.
#[derive(Clone, Copy, Debug)]
pub struct CompatibilityCheck<'a> {
    /// The resource schema.
    pub block: &'a Block,
    /// The planned object.
    pub planned: &'a Value,
    /// What came of it.
    pub actual: &'a Value,
    /// Paths whose values must not be shown, beyond what the schema calls sensitive.
    pub sensitive: &'a PathSet,
}

/// Where an object differs from what was planned; none if it is as planned.
pub fn check_compatible(input: CompatibilityCheck<'_>) -> Vec<Violation> {
    let CompatibilityCheck {
        block,
        planned,
        actual,
        sensitive,
    } = input;
    let mut violations = Violations::default();
    compare_blocks(block, planned, actual, &Path::root(), &mut violations);
    violations.finish(|| {
        let by_schema = sensitive_paths(block, planned).union(&sensitive_paths(block, actual));
        by_schema.union(sensitive)
    })
}

fn compare_blocks(
    block: &Block,
    planned: &Value,
    actual: &Value,
    at: &Path,
    violations: &mut Violations,
) {
    match (planned.is_null(), actual.is_null()) {
        (true, true) => return,
        (true, false) => return violations.add(at, "was absent, but is now present"),
        (false, true) => return violations.add(at, "was present, but is now absent"),
        (false, false) => {}
    }
    for (name, attribute) in &block.attributes {
        let at = at.attribute(name.clone());
        let ty = || attribute_type(attribute);
        let (planned, actual) = (member(planned, name, ty), member(actual, name, ty));
        compare_values(&planned, &actual, &at, violations);
    }
    for (name, nested) in &block.block_types {
        let ty = || block_type(nested);
        let (planned, actual) = (member(planned, name, ty), member(actual, name, ty));
        compare_nested_blocks(
            nested,
            &planned,
            &actual,
            &at.attribute(name.clone()),
            violations,
        );
    }
}

fn compare_nested_blocks(
    nested: &NestedBlock,
    planned: &Value,
    actual: &Value,
    at: &Path,
    violations: &mut Violations,
) {
    let open = |v: &Value| v.is_null() || !v.is_known();
    let compare = |planned: &Value, actual: &Value, at: &Path, violations: &mut Violations| {
        compare_blocks(&nested.block, planned, actual, at, violations);
    };
    match nested.nesting {
        Nesting::Single | Nesting::Group => {
            if planned.is_known() || !actual.is_null() {
                compare(planned, actual, at, violations);
            }
        }
        _ if open(planned) || open(actual) => {}
        Nesting::List => {
            let (planned, actual) = (items(planned), items(actual));
            if same_count(planned.len(), actual.len(), at, violations) {
                for (i, (planned, actual)) in (0..).zip(planned.iter().zip(actual)) {
                    compare(planned, actual, &at.index(i), violations);
                }
            }
        }
        Nesting::Map => {
            let (Some(ours), Some(theirs)) = (entries(planned), entries(actual)) else {
                return;
            };
            if same_keys(ours, theirs, at, violations) {
                for ((key, planned), (_, actual)) in ours.iter().zip(theirs.iter()) {
                    compare(planned, actual, &at.key(key.clone()), violations);
                }
            }
        }
        Nesting::Set => compare_sets(items(planned), items(actual), at, violations, &compare),
    }
}

fn compare_values(planned: &Value, actual: &Value, at: &Path, violations: &mut Violations) {
    let ty = planned.ty();
    if ty == Type::Dynamic {
        return;
    }
    if !actual.conforms_to(&ty) {
        return violations.add(at, format!("wrong type: {ty} planned, now {}", actual.ty()));
    }
    let differs = || format!("was {}, but is now {}", quoted(planned), quoted(actual));
    match (planned, actual) {
        (Value::Unknown(_), _) => {
            if planned.equals(actual) == Some(false) {
                let message = format!("{} is not what the plan allows", quoted(actual));
                violations.add_quoting(at, message);
            }
        }
        (Value::Null(_), Value::Null(_)) => {}
        (Value::Null(_), _) | (_, Value::Null(_)) => violations.add_quoting(at, differs()),
        (_, Value::Unknown(_)) => violations.add(at, "was known, but is now unknown"),
        (Value::Set(ours), Value::Set(theirs)) => {
            compare_sets(&ours.items, &theirs.items, at, violations, &compare_values);
        }
        (Value::List(_) | Value::Tuple(_), Value::List(_) | Value::Tuple(_)) => {
            let (ours, theirs) = (items(planned), items(actual));
            if same_count(ours.len(), theirs.len(), at, violations) {
                for (i, (planned, actual)) in (0..).zip(ours.iter().zip(theirs)) {
                    compare_values(planned, actual, &at.index(i), violations);
                }
            }
        }
        (Value::Map(ours), Value::Map(theirs)) => {
            let (ours, theirs) = (&ours.entries, &theirs.entries);
            if same_keys(ours, theirs, at, violations) {
                for ((key, planned), (_, actual)) in ours.iter().zip(theirs.iter()) {
                    compare_values(planned, actual, &at.key(key.clone()), violations);
                }
            }
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            for ((name, planned), (_, actual)) in ours.iter().zip(theirs.iter()) {
                compare_values(planned, actual, &at.attribute(name.clone()), violations);
            }
        }
        _ if planned == actual => {}
        _ => violations.add_quoting(at, differs()),
    }
}

fn same_count(planned: usize, actual: usize, at: &Path, violations: &mut Violations) -> bool {
    if planned != actual {
        violations.add(at, format!("had {planned} elements, but has now {actual}"));
    }
    planned == actual
}

fn same_keys(planned: &Entries, actual: &Entries, at: &Path, violations: &mut Violations) -> bool {
    let same = planned.names().eq(actual.names());
    for key in planned.names().filter(|k| actual.get(k).is_none()) {
        violations.add_quoting(at, format!("element {key:?} has vanished"));
    }
    for key in actual.names().filter(|k| planned.get(k).is_none()) {
        violations.add_quoting(at, format!("element {key:?} is new"));
    }
    same
}

type Compare<'a> = dyn Fn(&Value, &Value, &Path, &mut Violations) + 'a;

fn compare_sets(
    planned: &[Value],
    actual: &[Value],
    at: &Path,
    violations: &mut Violations,
    compare: &Compare<'_>,
) {
    if actual.len() > planned.len() {
        let message = format!(
            "had {} elements, but has now {}",
            planned.len(),
            actual.len()
        );
        return violations.add(at, message);
    }
    let matches = |planned: &Value, actual: &Value| {
        let mut trial = Violations::default();
        compare(planned, actual, at, &mut trial);
        trial.is_empty()
    };
    for planned in planned
        .iter()
        .filter(|p| !actual.iter().any(|a| matches(p, a)))
    {
        let message = format!("planned element {} has vanished", quoted(planned));
        violations.add_quoting(at, message);
    }
    for actual in actual
        .iter()
        .filter(|a| !planned.iter().any(|p| matches(p, a)))
    {
        violations.add_quoting(at, format!("element {} was not planned", quoted(actual)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::violation::Violation;
    use super::*;
    use crate::schema::testing::{object, path, schema};
    use crate::value::{Bound, Refinement, Unknown};

    fn violations(block: &Block, planned: &Value, actual: &Value) -> Vec<String> {
        let sensitive = PathSet([path("secret")].into());
        let input = CompatibilityCheck {
            block,
            planned,
            actual,
            sensitive: &sensitive,
        };
        check_compatible(input)
            .iter()
            .map(Violation::to_string)
            .collect()
    }

    /// Runs the check over (planned, actual, violations).
    fn check(text: &str, cases: &[(&str, &str, &[&str])]) {
        let block = schema(text);
        for (planned, actual, want) in cases {
            let got = violations(&block, &object(&block, planned), &object(&block, actual));
            assert_eq!(got, *want, "planned {planned}, actual {actual}");
        }
    }

    #[test]
    fn presence() {
        check(
            "a: string optional",
            &[
                ("null", "null", &[]),
                ("null", "{}", &["was absent, but is now present"]),
                ("{}", "null", &["was present, but is now absent"]),
            ],
        );
    }

    #[test]
    fn known_values() {
        check(
            "a: string optional
             n: number optional
             l: list(string) optional
             m: map(string) optional
             o: object(x: string, y: list(string)) optional",
            &[
                (r#"{"a": "x", "n": 1.50}"#, r#"{"a": "x", "n": 1.5}"#, &[]),
                (
                    r#"{"a": "x"}"#,
                    r#"{"a": "y"}"#,
                    &[r#"a: was "x", but is now "y""#],
                ),
                (r#"{"a": "x"}"#, "{}", &[r#"a: was "x", but is now null"#]),
                ("{}", r#"{"a": "x"}"#, &[r#"a: was null, but is now "x""#]),
                (
                    r#"{"a": "x"}"#,
                    r#"{"a": "??"}"#,
                    &["a: was known, but is now unknown"],
                ),
                (r#"{"l": []}"#, "{}", &["l: was [], but is now null"]),
                (
                    r#"{"l": ["a"]}"#,
                    r#"{"l": ["a", "b"]}"#,
                    &["l: had 1 elements, but has now 2"],
                ),
                (
                    r#"{"l": ["a", "??"]}"#,
                    r#"{"l": ["b", "b"]}"#,
                    &[r#"l[0]: was "a", but is now "b""#],
                ),
                (
                    r#"{"m": {"a": "x", "b": "x"}}"#,
                    r#"{"m": {"a": "x", "c": "x"}}"#,
                    &[r#"m: element "b" has vanished"#, r#"m: element "c" is new"#],
                ),
                (
                    r#"{"m": {"a": "x"}}"#,
                    r#"{"m": {"a": "y"}}"#,
                    &[r#"m["a"]: was "x", but is now "y""#],
                ),
                (
                    r#"{"o": {"x": "??", "y": ["a"]}}"#,
                    r#"{"o": {"x": "x", "y": ["b"]}}"#,
                    &[r#"o.y[0]: was "a", but is now "b""#],
                ),
            ],
        );
    }

    #[test]
    fn unknown_values() {
        check(
            "a: string computed
             l: list(string) computed
             any: any computed",
            &[
                (
                    r#"{"a": "??", "l": "??", "any": "??"}"#,
                    r#"{"a": "x", "l": ["y"], "any": {"z": 1}}"#,
                    &[],
                ),
                (r#"{"a": "??", "l": "??", "any": "??"}"#, "{}", &[]),
                (
                    r#"{"a": "??!"}"#,
                    "{}",
                    &["a: null is not what the plan allows"],
                ),
                ("{}", r#"{"any": [1]}"#, &[]),
                (
                    r#"{"any": ["a"]}"#,
                    r#"{"any": [1]}"#,
                    &["any: wrong type: tuple([string]) planned, now tuple([number])"],
                ),
            ],
        );
        let bound = |n: i64, inclusive| {
            Some(Bound {
                value: n.into(),
                inclusive,
            })
        };
        let refinements = [
            (
                Type::String,
                Refinement {
                    prefix: Some("ami-".into()),
                    ..Refinement::default()
                },
                (Value::string("ami-1"), Value::string("img-1")),
            ),
            (
                Type::Number,
                Refinement {
                    min: bound(1, true),
                    max: bound(5, false),
                    ..Refinement::default()
                },
                (Value::Number(1_i64.into()), Value::Number(5_i64.into())),
            ),
            (
                Type::list(Type::Bool),
                Refinement {
                    min_length: Some(1),
                    ..Refinement::default()
                },
                (
                    Value::list(Type::Bool, vec![Value::Bool(true)]),
                    Value::list(Type::Bool, vec![]),
                ),
            ),
        ];
        for (ty, refinement, (inside, outside)) in refinements {
            let block = Block {
                attributes: [(
                    "a".into(),
                    crate::schema::Attribute::plain(ty.clone()).computed(),
                )]
                .into(),
                ..Block::default()
            };
            let planned = Value::object([("a", Unknown { ty, refinement }.into_value())]);
            let violations =
                |v: &Value| violations(&block, &planned, &Value::object([("a", v.clone())]));
            assert_eq!(violations(&inside), Vec::<String>::new(), "{inside:?}");
            let want = format!("a: {} is not what the plan allows", quoted(&outside));
            assert_eq!(violations(&outside), [want]);
        }
    }

    #[test]
    fn blocks() {
        for nesting in ["single", "group"] {
            check(
                &format!("block c {nesting} {{\nx: string optional\n}}"),
                &[
                    (r#"{"c": {"x": "??"}}"#, r#"{"c": {"x": "a"}}"#, &[]),
                    (r#"{"c": "??"}"#, r#"{"c": {"x": "a"}}"#, &[]),
                    (r#"{"c": "??"}"#, r#"{"c": null}"#, &[]),
                    (
                        r#"{"c": {}}"#,
                        r#"{"c": null}"#,
                        &["c: was present, but is now absent"],
                    ),
                    (
                        r#"{"c": null}"#,
                        r#"{"c": {}}"#,
                        &["c: was absent, but is now present"],
                    ),
                    (
                        r#"{"c": {"x": "a"}}"#,
                        r#"{"c": {"x": "b"}}"#,
                        &[r#"c.x: was "a", but is now "b""#],
                    ),
                ],
            );
        }
        check(
            "block c list {\n x: string optional\n}",
            &[
                (r#"{"c": [{"x": "??"}]}"#, r#"{"c": [{"x": "a"}]}"#, &[]),
                (r#"{"c": ["??"]}"#, r#"{"c": [{"x": "a"}]}"#, &[]),
                (r#"{"c": "??"}"#, r#"{"c": [{}, {}]}"#, &[]),
                (r#"{"c": null}"#, r#"{"c": [{}]}"#, &[]),
                (
                    r#"{"c": [{}]}"#,
                    r#"{"c": [{}, {}]}"#,
                    &["c: had 1 elements, but has now 2"],
                ),
                (
                    r#"{"c": [{"x": "a"}, {"x": "a"}]}"#,
                    r#"{"c": [{"x": "a"}, {"x": "b"}]}"#,
                    &[r#"c[1].x: was "a", but is now "b""#],
                ),
            ],
        );
        check(
            "block c list {\n x: any optional\n}",
            &[
                (
                    r#"{"c": [{"x": 1}, {"x": "??"}]}"#,
                    r#"{"c": [{"x": 1}, {"x": []}]}"#,
                    &[],
                ),
                (
                    r#"{"c": [{"x": 1}]}"#,
                    r#"{"c": [{"x": 2}]}"#,
                    &["c[0].x: was 1, but is now 2"],
                ),
            ],
        );
    }

    #[test]
    fn maps_of_blocks() {
        for ty in ["string", "any"] {
            check(
                &format!("block c map {{\nx: {ty} optional\n}}"),
                &[
                    (
                        r#"{"c": {"k": {"x": "??"}}}"#,
                        r#"{"c": {"k": {"x": "a"}}}"#,
                        &[],
                    ),
                    (r#"{"c": "??"}"#, r#"{"c": {"k": {}}}"#, &[]),
                    (r#"{"c": {"k": {}}}"#, r#"{"c": null}"#, &[]),
                    (
                        r#"{"c": {"k": {}}}"#,
                        r#"{"c": {"l": {}}}"#,
                        &[r#"c: element "k" has vanished"#, r#"c: element "l" is new"#],
                    ),
                    (
                        r#"{"c": {"k": {"x": "a"}}}"#,
                        r#"{"c": {"k": {"x": "b"}}}"#,
                        &[r#"c["k"].x: was "a", but is now "b""#],
                    ),
                ],
            );
        }
    }

    #[test]
    fn sets() {
        let attribute = "c: set(object(x: string, y: string)) optional";
        let block = "block c set {\n x: string optional\n y: string optional\n}";
        for text in [attribute, block] {
            check(
                text,
                &[
                    (
                        r#"{"c": [{"x": "a", "y": "??"}, {"x": "b", "y": "??"}]}"#,
                        r#"{"c": [{"x": "b", "y": "1"}, {"x": "a", "y": "2"}]}"#,
                        &[],
                    ),
                    // Unknown elements may turn out equal.
                    (
                        r#"{"c": [{"x": "a", "y": "??"}, {"x": "a", "y": "1"}]}"#,
                        r#"{"c": [{"x": "a", "y": "1"}]}"#,
                        &[],
                    ),
                    (
                        r#"{"c": [{"x": "a"}]}"#,
                        r#"{"c": [{"x": "a"}, {"x": "b"}]}"#,
                        &["c: had 1 elements, but has now 2"],
                    ),
                    (
                        r#"{"c": [{"x": "a"}]}"#,
                        r#"{"c": [{"x": "b"}]}"#,
                        &[
                            r#"c: planned element {"x": "a", "y": null} has vanished"#,
                            r#"c: element {"x": "b", "y": null} was not planned"#,
                        ],
                    ),
                    (r#"{"c": "??"}"#, r#"{"c": [{"x": "b"}]}"#, &[]),
                ],
            );
        }
    }

    #[test]
    fn sensitive_values_are_not_quoted() {
        check(
            "pw: string optional sensitive
             secret: list(string) optional
             block c list {
               pw: map(string) optional sensitive
             }
             block s set {
               pw: string optional sensitive
             }",
            &[
                (
                    r#"{"pw": "canary", "secret": ["canary", "canary"]}"#,
                    r#"{"pw": "other", "secret": ["other", "another"]}"#,
                    &[
                        "pw: the values do not match (they are sensitive)",
                        "secret: the values do not match (they are sensitive)",
                    ],
                ),
                (
                    r#"{"c": [{"pw": {"canary": "a"}}]}"#,
                    r#"{"c": [{"pw": {"other": "a"}}]}"#,
                    &["c[0].pw: the values do not match (they are sensitive)"],
                ),
                (
                    r#"{"s": [{"pw": "canary"}]}"#,
                    r#"{"s": [{"pw": "other"}]}"#,
                    &["s: the values do not match (they are sensitive)"],
                ),
            ],
        );
    }
}
