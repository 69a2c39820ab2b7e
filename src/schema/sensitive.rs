//! What the schema says about showing and using attributes: sensitive paths, deprecations.

use std::collections::BTreeMap;

use super::{Attribute, AttributeType, Block, NestedBlock, Nesting};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::value::{Path, PathSet, Step, Str, Value};

/// The paths of all attributes in `value` that the schema calls sensitive, whether null, unknown or known.
///
/// Elements of sets have no path: a set whose elements hold a sensitive attribute is sensitive as a whole.
pub fn sensitive_paths(block: &Block, value: &Value) -> PathSet {
    let mut paths = PathSet::default();
    walk(block, value, &Path::root(), &mut |attribute, _, at| {
        if attribute.sensitive {
            paths.0.insert(outside_sets(value, at));
        }
    });
    paths
}

/// One warning per attribute and block that is in the configuration although the schema calls it deprecated.
pub fn deprecations(block: &Block, config: &Value) -> Diagnostics {
    let mut warnings = Diagnostics::default();
    walk(block, config, &Path::root(), &mut |attribute, value, at| {
        if attribute.deprecated && !value.is_null() {
            warnings.push(
                Diagnostic::warning("Deprecated argument")
                    .detail(&*attribute.deprecation_message)
                    .path(outside_sets(config, at)),
            );
        }
    });
    deprecated_blocks(block, config, &Path::root(), &mut warnings);
    warnings.sorted()
}

/// Paths given by a person or by Nix, in the form they have inside `value`: names become map keys where the value has a
/// map, and what lies inside a set, an unknown or a scalar stands for the whole of it. Paths to members that do not exist
/// are left out.
pub fn fit_paths(value: &Value, paths: &PathSet) -> PathSet {
    PathSet(paths.0.iter().filter_map(|path| fit(value, path)).collect())
}

fn fit(value: &Value, path: &Path) -> Option<Path> {
    let mut at = Path::root();
    let mut value = value;
    for step in &path.0 {
        let (step, next) = match (value, step) {
            (Value::Object(o), Step::Attribute(k) | Step::Key(k)) => {
                (Step::Attribute(k.clone()), o.get(k)?)
            }
            (Value::Map(m), Step::Attribute(k) | Step::Key(k)) => {
                (Step::Key(k.clone()), m.entries.get(k)?)
            }
            (Value::List(_) | Value::Tuple(_), Step::Index(i)) => match element(value, *i) {
                Some(next) => (step.clone(), next),
                None => break,
            },
            _ => break,
        };
        at.0.push(step);
        value = next;
    }
    Some(at)
}

fn element(value: &Value, i: u64) -> Option<&Value> {
    let i = usize::try_from(i).ok()?;
    match value {
        Value::List(s) => s.items.get(i),
        Value::Tuple(items) => items.get(i),
        _ => None,
    }
}

/// The path up to the first set on it.
fn outside_sets(value: &Value, path: &Path) -> Path {
    fit(value, path).unwrap_or_default()
}

type Visit<'a> = dyn FnMut(&Attribute, &Value, &Path) + 'a;

fn walk(block: &Block, value: &Value, at: &Path, visit: &mut Visit<'_>) {
    let Value::Object(members) = value else {
        return;
    };
    walk_attributes(&block.attributes, value, at, visit);
    for (name, nested) in &block.block_types {
        let Some(value) = members.get(name) else {
            continue;
        };
        for (at, value) in each(nested.nesting, value, &at.attribute(name.clone())) {
            walk(&nested.block, value, &at, visit);
        }
    }
}

fn walk_attributes(
    attributes: &BTreeMap<Str, Attribute>,
    value: &Value,
    at: &Path,
    visit: &mut Visit<'_>,
) {
    for (name, attribute) in attributes {
        let Some(value) = value.attribute(name) else {
            continue;
        };
        let at = at.attribute(name.clone());
        visit(attribute, value, &at);
        if let AttributeType::Nested(nested) = &attribute.ty {
            for (at, value) in each(nested.nesting, value, &at) {
                walk_attributes(&nested.attributes, value, &at, visit);
            }
        }
    }
}

/// The objects collected in the value of a nested block type or attribute. Elements of sets get an index as well; see
/// [`outside_sets`].
fn each<'a>(nesting: Nesting, value: &'a Value, at: &Path) -> Vec<(Path, &'a Value)> {
    let indexed = |items: &'a [Value]| (0..).zip(items).map(|(i, v)| (at.index(i), v)).collect();
    match (nesting, value) {
        (Nesting::Single | Nesting::Group, _) => vec![(at.clone(), value)],
        (_, Value::List(s) | Value::Set(s)) => indexed(&s.items),
        (_, Value::Tuple(items)) => indexed(items),
        (_, Value::Map(m)) => m
            .entries
            .iter()
            .map(|(k, v)| (at.key(k.clone()), v))
            .collect(),
        (_, Value::Object(o)) => o
            .iter()
            .map(|(k, v)| (at.attribute(k.clone()), v))
            .collect(),
        _ => Vec::new(),
    }
}

fn deprecated_blocks(block: &Block, config: &Value, at: &Path, warnings: &mut Diagnostics) {
    for (name, nested) in &block.block_types {
        let Some(value) = config.attribute(name).filter(|v| written(nested, v)) else {
            continue;
        };
        let at = at.attribute(name.clone());
        if nested.block.deprecated {
            warnings.push(
                Diagnostic::warning("Deprecated block")
                    .detail(&*nested.block.deprecation_message)
                    .path(at.clone()),
            );
        }
        for (at, value) in each(nested.nesting, value, &at) {
            deprecated_blocks(&nested.block, value, &at, warnings);
        }
    }
}

/// Whether there is anything in the value of a nested block type that an author must have written.
fn written(nested: &NestedBlock, value: &Value) -> bool {
    !value.is_null() && *value != super::empty_blocks(nested)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::{object, path, schema, ty, value};

    fn texts(paths: &PathSet) -> Vec<String> {
        paths.0.iter().map(Path::to_string).collect()
    }

    #[test]
    fn sensitive_attributes_are_found_at_any_depth() {
        let block = schema(
            r"open: string optional
              pw: string optional sensitive
              n: list optional {
                key: string optional sensitive
              }
              m: map optional {
                key: string optional sensitive
              }
              whole: single optional sensitive {
                key: string optional
              }
              block one single {
                pw: string optional sensitive
              }
              block disk list {
                pw: string optional sensitive
              }
              block user set {
                pw: string optional sensitive
                name: string optional
              }
              block dyn list {
                any: any optional
                pw: string optional sensitive
              }
              block zone map {
                pw: string optional sensitive
              }",
        );
        let cases: [(&str, &[&str]); 6] = [
            ("{}", &["pw", "whole"]),
            (r#"{"pw": "??"}"#, &["pw", "whole"]),
            (
                r#"{"n": [{"key": "a"}, {}], "m": {"k": {}}}"#,
                &[r#"m["k"].key"#, "n[0].key", "n[1].key", "pw", "whole"],
            ),
            (
                r#"{"one": {}, "disk": [{}], "user": [{"name": "a"}, {"name": "b"}]}"#,
                &["disk[0].pw", "one.pw", "pw", "user", "whole"],
            ),
            (
                r#"{"dyn": [{"any": 1}], "zone": {"z": {}}}"#,
                &["dyn[0].pw", "pw", "whole", r#"zone["z"].pw"#],
            ),
            (r#"{"n": "??", "disk": ["??"]}"#, &["pw", "whole"]),
        ];
        for (json, want) in cases {
            assert_eq!(
                texts(&sensitive_paths(&block, &object(&block, json))),
                want,
                "{json}"
            );
        }
    }

    #[test]
    fn deprecated_things_in_use_are_warned_about() {
        let mut block = schema(
            "old: string optional deprecated
             n: set optional {
               old: string optional deprecated
             }
             block gone list {
               x: string optional
             }
             block gone_group group {
               x: string optional
             }",
        );
        for nested in block.block_types.values_mut() {
            nested.block.deprecated = true;
        }
        let old = block.attributes.get_mut("old").expect("an attribute");
        "use \"new\"".clone_into(&mut old.deprecation_message);
        let warnings = |json| deprecations(&block, &object(&block, json)).to_string();
        assert_eq!(warnings("{}"), "");
        assert_eq!(
            warnings(r#"{"old": "x"}"#),
            "old: Deprecated argument: use \"new\""
        );
        assert_eq!(
            warnings(
                r#"{"n": [{"old": "x"}, {"old": "y"}], "gone": [{}], "gone_group": {"x": "y"}}"#
            ),
            "n: Deprecated argument\ngone: Deprecated block\ngone_group: Deprecated block"
        );
    }

    #[test]
    fn paths_are_fitted_to_the_value() {
        let ty = ty(
            "object(m: map(object(a: string)), l: list(object(a: string)), s: set(string), x: string)",
        );
        let value = value(
            &ty,
            r#"{"m": {"k": {"a": "1"}}, "l": [{"a": "1"}], "s": ["e"], "x": "y"}"#,
        );
        for (given, want) in [
            ("x", Some("x")),
            ("m.k.a", Some(r#"m["k"].a"#)),
            ("m.none", None),
            ("l[0].a", Some("l[0].a")),
            ("l[3].a", Some("l")),
            ("l.a", Some("l")),
            ("s[0]", Some("s")),
            ("x.deep", Some("x")),
            ("none", None),
        ] {
            let given = PathSet([path(given)].into());
            let want: Vec<_> = want.into_iter().collect();
            assert_eq!(texts(&fit_paths(&value, &given)), want, "{given:?}");
        }
    }
}
