//! Is what a provider plans legal?
//!
//! Providers may fill in what the configuration leaves open and nothing else; anything beyond that is a bug that would
//! otherwise surface as an endless difference or as a wrong object.
//!
//! | rule | test |
//! |---|---|
//! | an object is planned if and only if one is configured | `presence` |
//! | a configured attribute is planned as configured, or keeps its prior value | `configured_attributes` |
//! | a computed attribute that is not configured may be anything | `open_attributes` |
//! | an attribute that is neither configured nor computed is null | `open_attributes` |
//! | a write-only attribute may be planned as null | `write_only_attributes` |
//! | nested attributes: the elements that are configured, member by member | `nested_attributes`, `nested_lists`, `nested_maps` |
//! | elements of nested sets are not compared; their number must be possible | `nested_sets` |
//! | nested blocks: as many as configured, each following the same rules | `blocks`, `lists_of_blocks`, `maps_and_sets_of_blocks`, `dynamic_blocks` |
//! | blocks that are unknown stay as they are, others must be known | `unknown_blocks` |
//! | messages do not quote sensitive values | `sensitive_values_are_not_quoted` |
//!
//! Providers of the old SDK break these rules by design; for them the caller only logs the findings.

use std::collections::BTreeMap;

use super::parts::items;
use super::three::Three;
use super::violation::{Violation, Violations, quoted};
use crate::schema::{
    Attribute, AttributeType, Block, NestedAttribute, NestedBlock, Nesting, attribute_type,
    block_type, implied_type, sensitive_paths,
};
use crate::value::{Path, PathSet, Str, Type, Value};

/// Input of [`check_plan`]. All values have the implied type of the block.
#[derive(Clone, Copy, Debug)]
pub struct PlanCheck<'a> {
    /// The resource schema.
    pub block: &'a Block,
    /// The prior object, null if there is none.
    pub prior: &'a Value,
    /// The configuration the provider was given, null to destroy.
    pub config: &'a Value,
    /// The planned object.
    pub planned: &'a Value,
    /// Paths whose values must not be shown, beyond what the schema calls sensitive.
    pub sensitive: &'a PathSet,
}

/// The rules that a planned object breaks; none if it is legal.
pub fn check_plan(input: PlanCheck<'_>) -> Vec<Violation> {
    let PlanCheck {
        block,
        prior,
        config,
        planned,
        sensitive,
    } = input;
    let mut violations = Violations::default();
    let values = Three {
        prior: prior.clone(),
        config: config.clone(),
        planned: planned.clone(),
    };
    check_block(block, &values, &Path::root(), &mut violations);
    violations.finish(|| {
        let by_schema = [prior, config, planned].map(|value| sensitive_paths(block, value));
        by_schema
            .iter()
            .fold(sensitive.clone(), |all, more| all.union(more))
    })
}

fn check_block(block: &Block, values: &Three, at: &Path, violations: &mut Violations) {
    match (values.config.is_null(), values.planned.is_null()) {
        (true, true) => return,
        (false, true) => return violations.add(at, "planned to be absent, but configured"),
        (true, false) => return violations.add(at, "planned to be there, but not configured"),
        (false, false) => {}
    }
    check_attributes(&block.attributes, values, at, violations);
    for (name, nested) in &block.block_types {
        let values = values.member(name, || block_type(nested));
        check_nested_block(nested, &values, &at.attribute(name.clone()), violations);
    }
}

fn check_nested_block(
    nested: &NestedBlock,
    values: &Three,
    at: &Path,
    violations: &mut Violations,
) {
    let Three {
        config, planned, ..
    } = values;
    if planned == config {
        return;
    }
    if !config.is_known() {
        return violations.add(at, "changed, although the configuration is not known yet");
    }
    if !planned.is_known() {
        return violations.add(at, "planned as unknown, but configured");
    }
    if matches!(nested.nesting, Nesting::Single | Nesting::Group) {
        return check_block(&nested.block, values, at, violations);
    }
    if planned.is_null() {
        return violations.add(at, "planned as null, which blocks cannot be");
    }
    let ty = implied_type(&nested.block);
    match nested.nesting {
        Nesting::Map if !values.same_keys() => {
            violations.add(at, "planned with other keys than configured");
        }
        Nesting::Map => {
            for (key, values) in values.entries(&ty) {
                check_block_element(nested, &values, &at.key(key), violations);
            }
        }
        Nesting::Set => {
            if items(planned)
                .iter()
                .any(|element| !matches!(element, Value::Object(_)))
            {
                violations.add(at, "planned with an element that is not a known block");
            }
        }
        _ => {
            let (planned, config) = (items(planned).len(), items(config).len());
            if planned != config {
                let message = format!("{planned} blocks planned, but {config} configured");
                return violations.add(at, message);
            }
            for (i, values) in (0..).zip(values.elements(&ty)) {
                check_block_element(nested, &values, &at.index(i), violations);
            }
        }
    }
}

fn check_block_element(
    nested: &NestedBlock,
    values: &Three,
    at: &Path,
    violations: &mut Violations,
) {
    if values.planned.is_known() {
        check_block(&nested.block, values, at, violations);
    } else {
        violations.add(at, "planned as unknown, but configured");
    }
}

fn check_attributes(
    attributes: &BTreeMap<Str, Attribute>,
    values: &Three,
    at: &Path,
    violations: &mut Violations,
) {
    for (name, attribute) in attributes {
        let values = values.member(name, || attribute_type(attribute));
        check_attribute(attribute, &values, &at.attribute(name.clone()), violations);
    }
}

fn check_attribute(attribute: &Attribute, values: &Three, at: &Path, violations: &mut Violations) {
    let Three {
        prior,
        config,
        planned,
    } = values;
    let as_configured = planned.unrefined_eq(config) || planned.is_null() && config.is_null();
    let as_before = !prior.is_null() && !config.is_null() && planned.unrefined_eq(prior);
    let open = attribute.computed && (!attribute.optional || config.is_null());
    let dropped = attribute.write_only && planned.is_null();
    if as_configured || as_before || open || dropped {
        return;
    }
    let text = quoted(planned);
    if config.is_null() {
        let why = "the attribute is not configured and not computed";
        return violations.add_quoting(at, format!("{text} planned, but {why}"));
    }
    if let AttributeType::Nested(nested) = &attribute.ty {
        return check_nested_attribute(nested, values, at, violations);
    }
    let mut message = format!("{text} planned, but {} configured", quoted(config));
    if !prior.is_null() {
        message = format!("{message}, and {} before", quoted(prior));
    }
    violations.add_quoting(at, message);
}

fn check_nested_attribute(
    nested: &NestedAttribute,
    values: &Three,
    at: &Path,
    violations: &mut Violations,
) {
    if !is_there(values, at, violations) {
        return;
    }
    let Three {
        config, planned, ..
    } = values;
    let ty = Type::object(
        nested
            .attributes
            .iter()
            .map(|(k, a)| (k.clone(), attribute_type(a))),
    );
    match nested.nesting {
        Nesting::Single | Nesting::Group => {
            check_attributes(&nested.attributes, values, at, violations);
        }
        Nesting::List if !config.is_known() || items(planned).len() != items(config).len() => {
            violations.add(
                at,
                "planned with another number of elements than configured",
            );
        }
        Nesting::List => {
            for (i, values) in (0..).zip(values.elements(&ty)) {
                check_nested_object(nested, &values, &at.index(i), violations);
            }
        }
        Nesting::Map if !values.same_keys() => {
            violations.add(at, "planned with other keys than configured");
        }
        Nesting::Map => {
            for (key, values) in values.entries(&ty) {
                check_nested_object(nested, &values, &at.key(key), violations);
            }
        }
        Nesting::Set => {
            let ((least, most), (wanted_least, wanted_most)) = (lengths(planned), lengths(config));
            if most < wanted_least || wanted_most < least {
                violations.add(
                    at,
                    "planned with another number of elements than configured",
                );
            }
        }
    }
}

fn check_nested_object(
    nested: &NestedAttribute,
    values: &Three,
    at: &Path,
    violations: &mut Violations,
) {
    if !values.planned.unrefined_eq(&values.config) && is_there(values, at, violations) {
        check_attributes(&nested.attributes, values, at, violations);
    }
}

/// Whether there is something to compare; a difference in that is a violation.
fn is_there(values: &Three, at: &Path, violations: &mut Violations) -> bool {
    let message = match (values.config.is_null(), values.planned.is_null()) {
        (true, true) => return false,
        (false, true) => "planned as null, but configured",
        (true, false) => "planned, but not configured",
        (false, false) if !values.planned.is_known() => "planned as unknown, but configured",
        (false, false) => return true,
    };
    violations.add(at, message);
    false
}

/// How many elements a set can turn out to have: unknown elements may coincide with others.
fn lengths(set: &Value) -> (u64, u64) {
    match set {
        Value::Unknown(u) => (
            u.refinement.min_length.unwrap_or(0),
            u.refinement.max_length.unwrap_or(u64::MAX),
        ),
        known => {
            let most = items(known).len() as u64;
            (
                if known.is_wholly_known() {
                    most
                } else {
                    most.min(1)
                },
                most,
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::{object, path, schema};

    fn violations(text: &str, prior: &str, config: &str, planned: &str) -> Vec<String> {
        let block = schema(text);
        let sensitive = PathSet([path("secret")].into());
        let input = PlanCheck {
            block: &block,
            prior: &object(&block, prior),
            config: &object(&block, config),
            planned: &object(&block, planned),
            sensitive: &sensitive,
        };
        check_plan(input).iter().map(Violation::to_string).collect()
    }

    /// Runs the check over (prior, configuration, planned, violations).
    fn check(text: &str, cases: &[(&str, &str, &str, &[&str])]) {
        for (prior, config, planned, want) in cases {
            let got = violations(text, prior, config, planned);
            assert_eq!(
                got, *want,
                "prior {prior}, configuration {config}, planned {planned}"
            );
        }
    }

    const ATTRIBUTES: &str = "
        id: string computed
        name: string required
        size: number optional
        zone: string optional computed";

    #[test]
    fn presence() {
        check(
            ATTRIBUTES,
            &[
                ("null", "null", "null", &[]),
                (r#"{"name": "a"}"#, "null", "null", &[]),
                (
                    "null",
                    r#"{"name": "a"}"#,
                    "null",
                    &["planned to be absent, but configured"],
                ),
                (
                    r#"{"name": "a"}"#,
                    "null",
                    r#"{"name": "a"}"#,
                    &["planned to be there, but not configured"],
                ),
            ],
        );
    }

    #[test]
    fn configured_attributes() {
        let prior = r#"{"name": "A", "size": 1}"#;
        check(
            ATTRIBUTES,
            &[
                (
                    "null",
                    r#"{"name": "a", "zone": "z"}"#,
                    r#"{"name": "a", "zone": "z"}"#,
                    &[],
                ),
                ("null", r#"{"name": "??!"}"#, r#"{"name": "??"}"#, &[]),
                (prior, r#"{"name": "a", "size": 1}"#, prior, &[]),
                (prior, r#"{"name": "??", "size": 1}"#, prior, &[]),
                (
                    prior,
                    r#"{"name": "a", "size": 2}"#,
                    r#"{"name": "b", "size": "??"}"#,
                    &[
                        r#"name: "b" planned, but "a" configured, and "A" before"#,
                        "size: (known after apply) planned, but 2 configured, and 1 before",
                    ],
                ),
                (
                    "null",
                    r#"{"name": "a", "zone": "z"}"#,
                    r#"{"name": "a", "zone": "y"}"#,
                    &[r#"zone: "y" planned, but "z" configured"#],
                ),
                (
                    "null",
                    r#"{"name": "a"}"#,
                    "{}",
                    &[r#"name: null planned, but "a" configured"#],
                ),
            ],
        );
    }

    #[test]
    fn open_attributes() {
        check(
            ATTRIBUTES,
            &[
                (
                    "null",
                    r#"{"name": "a"}"#,
                    r#"{"name": "a", "id": "??", "zone": "??"}"#,
                    &[],
                ),
                (
                    "null",
                    r#"{"name": "a"}"#,
                    r#"{"name": "a", "id": "1", "zone": "z"}"#,
                    &[],
                ),
                (
                    r#"{"zone": "z"}"#,
                    r#"{"name": "a"}"#,
                    r#"{"name": "a"}"#,
                    &[],
                ),
                // Nobody should set it; that is for the provider's validation to say.
                (
                    "null",
                    r#"{"name": "a", "id": "set"}"#,
                    r#"{"name": "a", "id": "1"}"#,
                    &[],
                ),
                (
                    r#"{"name": "a", "size": 5}"#,
                    r#"{"name": "a"}"#,
                    r#"{"name": "a", "size": 5}"#,
                    &["size: 5 planned, but the attribute is not configured and not computed"],
                ),
            ],
        );
    }

    #[test]
    fn write_only_attributes() {
        check(
            "pw: string optional write_only\nother: string optional",
            &[
                ("{}", r#"{"pw": "p"}"#, "{}", &[]),
                (
                    "{}",
                    r#"{"other": "p"}"#,
                    "{}",
                    &[r#"other: null planned, but "p" configured"#],
                ),
            ],
        );
    }

    fn attribute(nesting: &str) -> String {
        format!("c: {nesting} optional {{\nid: string computed\nname: string optional\n}}")
    }

    fn block(nesting: &str) -> String {
        format!("block c {nesting} {{\nid: string computed\nname: string optional\n}}")
    }

    #[test]
    fn nested_attributes() {
        check(
            &attribute("single"),
            &[
                (
                    "{}",
                    r#"{"c": {"name": "a"}}"#,
                    r#"{"c": {"name": "a", "id": "??"}}"#,
                    &[],
                ),
                (
                    "{}",
                    r#"{"c": {"name": "a"}}"#,
                    "{}",
                    &["c: planned as null, but configured"],
                ),
                (
                    "{}",
                    r#"{"c": {}}"#,
                    r#"{"c": "??"}"#,
                    &["c: planned as unknown, but configured"],
                ),
                ("{}", r#"{"c": "??"}"#, r#"{"c": "??"}"#, &[]),
                (
                    "{}",
                    r#"{"c": "??"}"#,
                    r#"{"c": {"name": "a"}}"#,
                    &[r#"c.name: "a" planned, but (known after apply) configured"#],
                ),
                (
                    r#"{"c": {"name": "A"}}"#,
                    r#"{"c": {"name": "a"}}"#,
                    r#"{"c": {"name": "b"}}"#,
                    &[r#"c.name: "b" planned, but "a" configured, and "A" before"#],
                ),
            ],
        );
    }

    #[test]
    fn nested_lists() {
        let number = "c: planned with another number of elements than configured";
        check(
            &attribute("list"),
            &[
                (
                    "{}",
                    r#"{"c": [{"name": "a"}]}"#,
                    r#"{"c": [{"name": "a", "id": "??"}]}"#,
                    &[],
                ),
                ("{}", r#"{"c": [{"name": "a"}]}"#, r#"{"c": []}"#, &[number]),
                ("{}", r#"{"c": "??"}"#, r#"{"c": []}"#, &[number]),
                ("{}", r#"{"c": [null]}"#, r#"{"c": [null]}"#, &[]),
                (
                    "{}",
                    r#"{"c": [null, {"name": "a"}]}"#,
                    r#"{"c": [{"id": "1"}, null]}"#,
                    &[
                        "c[0]: planned, but not configured",
                        "c[1]: planned as null, but configured",
                    ],
                ),
                (
                    r#"{"c": [{}, {"name": "A"}]}"#,
                    r#"{"c": [{"name": "a"}, {"name": "a"}]}"#,
                    r#"{"c": [{"name": "A"}, {"name": "A"}]}"#,
                    &[r#"c[0].name: "A" planned, but "a" configured"#],
                ),
            ],
        );
    }

    #[test]
    fn nested_maps() {
        let keys = "c: planned with other keys than configured";
        check(
            &attribute("map"),
            &[
                (
                    "{}",
                    r#"{"c": {"k": {}}}"#,
                    r#"{"c": {"k": {"id": "??"}}}"#,
                    &[],
                ),
                ("{}", r#"{"c": {"k": {}}}"#, r#"{"c": {"l": {}}}"#, &[keys]),
                ("{}", r#"{"c": {"k": {}}}"#, r#"{"c": {}}"#, &[keys]),
                ("{}", r#"{"c": "??"}"#, r#"{"c": {}}"#, &[keys]),
                (
                    "{}",
                    r#"{"c": {"k": {"name": "a"}}}"#,
                    r#"{"c": {"k": {"name": "b"}}}"#,
                    &[r#"c["k"].name: "b" planned, but "a" configured"#],
                ),
            ],
        );
    }

    #[test]
    fn open_nested_attributes() {
        // An optional and computed one may be anything when it is not configured.
        let open = attribute("single").replace("optional {", "optional computed {");
        check(
            &open,
            &[
                ("{}", "{}", r#"{"c": {"name": "a"}}"#, &[]),
                ("{}", "{}", r#"{"c": "??"}"#, &[]),
            ],
        );
    }

    #[test]
    fn nested_sets() {
        let set = "c: set optional {\nid: string computed\nname: string optional\n}";
        let number = "c: planned with another number of elements than configured";
        check(
            set,
            &[
                (
                    "{}",
                    r#"{"c": [{"name": "a"}]}"#,
                    r#"{"c": [{"name": "b"}]}"#,
                    &[],
                ),
                ("{}", r#"{"c": [{"name": "a"}]}"#, r#"{"c": []}"#, &[number]),
                (
                    "{}",
                    r#"{"c": [{"name": "a"}, {"name": "b"}]}"#,
                    r#"{"c": [{"name": "c"}]}"#,
                    &[number],
                ),
                // Unknown elements may turn out equal.
                (
                    "{}",
                    r#"{"c": [{"name": "??"}, {"name": "b"}]}"#,
                    r#"{"c": [{"name": "b"}]}"#,
                    &[],
                ),
                ("{}", r#"{"c": "??"}"#, r#"{"c": [{"name": "b"}]}"#, &[]),
            ],
        );
    }

    #[test]
    fn blocks() {
        let name = r#"planned, but "a" configured"#;
        for nesting in ["single", "group"] {
            let want = format!(r#"c.name: "b" {name}"#);
            check(
                &block(nesting),
                &[
                    (
                        "{}",
                        r#"{"c": {"name": "a"}}"#,
                        r#"{"c": {"name": "a", "id": "??"}}"#,
                        &[],
                    ),
                    (
                        "{}",
                        r#"{"c": {"name": "a"}}"#,
                        r#"{"c": {"name": "b"}}"#,
                        &[&want],
                    ),
                ],
            );
        }
        check(
            &block("single"),
            &[
                (
                    "{}",
                    r#"{"c": {}}"#,
                    "{}",
                    &["c: planned to be absent, but configured"],
                ),
                (
                    "{}",
                    "{}",
                    r#"{"c": {}}"#,
                    &["c: planned to be there, but not configured"],
                ),
            ],
        );
    }

    #[test]
    fn lists_of_blocks() {
        check(
            &block("list"),
            &[
                (
                    "{}",
                    r#"{"c": [{"name": "a"}]}"#,
                    r#"{"c": [{"name": "a", "id": "??"}]}"#,
                    &[],
                ),
                (
                    "{}",
                    r#"{"c": [{}]}"#,
                    r#"{"c": [{}, {}]}"#,
                    &["c: 2 blocks planned, but 1 configured"],
                ),
                (
                    "{}",
                    r#"{"c": []}"#,
                    r#"{"c": null}"#,
                    &["c: planned as null, which blocks cannot be"],
                ),
                ("{}", r#"{"c": null}"#, r#"{"c": []}"#, &[]),
                (
                    "{}",
                    r#"{"c": [{}]}"#,
                    r#"{"c": ["??"]}"#,
                    &["c[0]: planned as unknown, but configured"],
                ),
                (
                    r#"{"c": [{"name": "A"}]}"#,
                    r#"{"c": [{"name": "a"}, {"name": "a"}]}"#,
                    r#"{"c": [{"name": "A"}, {"name": "A"}]}"#,
                    &[r#"c[1].name: "A" planned, but "a" configured"#],
                ),
            ],
        );
    }

    #[test]
    fn maps_and_sets_of_blocks() {
        check(
            &block("map"),
            &[
                (
                    "{}",
                    r#"{"c": {"k": {"name": "a"}}}"#,
                    r#"{"c": {"k": {"name": "a", "id": "1"}}}"#,
                    &[],
                ),
                (
                    "{}",
                    r#"{"c": {"k": {}}}"#,
                    r#"{"c": {"l": {}}}"#,
                    &["c: planned with other keys than configured"],
                ),
                (
                    "{}",
                    r#"{"c": {}}"#,
                    r#"{"c": null}"#,
                    &["c: planned as null, which blocks cannot be"],
                ),
            ],
        );
        check(
            &block("set"),
            &[
                (
                    "{}",
                    r#"{"c": [{"name": "a"}]}"#,
                    r#"{"c": [{"name": "b"}, {"name": "c"}]}"#,
                    &[],
                ),
                (
                    "{}",
                    r#"{"c": [{}]}"#,
                    r#"{"c": null}"#,
                    &["c: planned as null, which blocks cannot be"],
                ),
                (
                    "{}",
                    r#"{"c": [{}]}"#,
                    r#"{"c": ["??"]}"#,
                    &["c: planned with an element that is not a known block"],
                ),
            ],
        );
    }

    #[test]
    fn dynamic_blocks() {
        // With dynamic attributes inside, lists of blocks are tuples.
        check(
            "block c list {\n any: any optional\n}",
            &[
                (
                    "{}",
                    r#"{"c": [{"any": 1}, {"any": "s"}]}"#,
                    r#"{"c": [{"any": 1}, {"any": "s"}]}"#,
                    &[],
                ),
                (
                    "{}",
                    r#"{"c": [{"any": 1}, {"any": "s"}]}"#,
                    r#"{"c": [{"any": 1}, {"any": 2}]}"#,
                    &[r#"c[1].any: 2 planned, but "s" configured"#],
                ),
            ],
        );
    }

    #[test]
    fn unknown_blocks() {
        for nesting in ["single", "group", "list", "set", "map"] {
            let text = format!("block c {nesting} {{\nname: string optional\n}}");
            let known = match nesting {
                "list" | "set" => r#"{"c": [{"name": "a"}]}"#,
                "map" => r#"{"c": {"k": {"name": "a"}}}"#,
                _ => r#"{"c": {"name": "a"}}"#,
            };
            let unknown = r#"{"c": "??"}"#;
            check(
                &text,
                &[
                    ("{}", unknown, unknown, &[]),
                    (
                        "{}",
                        unknown,
                        known,
                        &["c: changed, although the configuration is not known yet"],
                    ),
                    (
                        "{}",
                        known,
                        unknown,
                        &["c: planned as unknown, but configured"],
                    ),
                ],
            );
        }
    }

    #[test]
    fn sensitive_values_are_not_quoted() {
        let text = "
            pw: string optional sensitive
            secret: string optional
            block b list {
              pw: string optional sensitive
            }";
        let hidden = "the values do not match (they are sensitive)";
        for attribute in ["pw", "secret"] {
            let value = |v: &str| format!(r#"{{"{attribute}": "{v}"}}"#);
            assert_eq!(
                violations(
                    text,
                    &value("canary1"),
                    &value("canary2"),
                    &value("canary3")
                ),
                [format!("{attribute}: {hidden}")]
            );
            assert_eq!(
                violations(text, "{}", "{}", &value("canary3")),
                [format!("{attribute}: {hidden}")]
            );
        }
        let block = |v: &str| format!(r#"{{"b": [{{"pw": "{v}"}}]}}"#);
        assert_eq!(
            violations(text, "{}", &block("canary1"), &block("canary2")),
            [format!("b[0].pw: {hidden}")]
        );
    }
}
