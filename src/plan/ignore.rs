//! `ignoreChanges`: configuration with the differences undone that are to be left alone.
//!
//! | rule | test |
//! |---|---|
//! | nothing to ignore without a prior object | `a_new_object_ignores_nothing` |
//! | all: the prior object, without what configuration cannot set | `everything` |
//! | a path: the prior value there | `paths` |
//! | a path that leads nowhere in either, or to equal values: nothing | `paths_that_lead_nowhere` |
//! | a key of a map: only that key, added or removed as it was before | `map_keys` |
//! | a map that is not known yet stays unknown | `map_keys` |

use super::parts::entries;
use crate::ir::IgnoreChanges;
use crate::schema::{Attribute, AttributeType, Block, Nesting};
use crate::value::{Entries, Lookup, Path, Step, Str, Type, Value};

/// The configuration with ignored differences to the prior object undone: still a legal configuration.
pub fn ignore_changes(
    block: &Block,
    prior: &Value,
    config: &Value,
    ignore: &IgnoreChanges,
) -> Value {
    match ignore {
        _ if prior.is_null() || config.is_null() => config.clone(),
        IgnoreChanges::None => config.clone(),
        IgnoreChanges::All => settable_block(block, prior),
        IgnoreChanges::Paths(paths) => restore(prior, config, paths),
    }
}

/// The planned object of a provider of the old SDK, which may have changed what is to be ignored, with that undone.
pub fn ignore_planned(prior: &Value, planned: &Value, ignore: &IgnoreChanges) -> Value {
    match ignore {
        _ if prior.is_null() || planned.is_null() => planned.clone(),
        IgnoreChanges::None => planned.clone(),
        IgnoreChanges::All => prior.clone(),
        IgnoreChanges::Paths(paths) => restore(prior, planned, paths),
    }
}

/// The object without values of attributes that only the provider sets.
fn settable_block(block: &Block, object: &Value) -> Value {
    each_member(object, &|name, value| match (
        block.attributes.get(name),
        block.block_types.get(name),
    ) {
        (Some(attribute), _) => settable_attribute(attribute, value),
        (None, Some(nested)) => each(nested.nesting, value, &|value| {
            settable_block(&nested.block, value)
        }),
        (None, None) => value.clone(),
    })
}

fn settable_attribute(attribute: &Attribute, value: &Value) -> Value {
    match &attribute.ty {
        _ if attribute.computed && !attribute.optional => Value::null(value.ty()),
        AttributeType::Plain(_) => value.clone(),
        AttributeType::Nested(nested) => each(nested.nesting, value, &|object| {
            each_member(object, &|name, value| match nested.attributes.get(name) {
                Some(attribute) => settable_attribute(attribute, value),
                None => value.clone(),
            })
        }),
    }
}

/// The object with every member changed.
fn each_member(object: &Value, change: &dyn Fn(&str, &Value) -> Value) -> Value {
    match object {
        Value::Object(o) => Value::object(o.iter().map(|(k, v)| (k.clone(), change(k, v)))),
        other => other.clone(),
    }
}

/// The collection with every object in it changed.
fn each(nesting: Nesting, value: &Value, change: &dyn Fn(&Value) -> Value) -> Value {
    match (nesting, value) {
        (Nesting::Single | Nesting::Group, object) => change(object),
        (_, Value::List(s)) => Value::list(s.element.clone(), s.items.iter().map(change).collect()),
        (_, Value::Set(s)) => Value::set(s.element.clone(), s.items.iter().map(change).collect()),
        (_, Value::Tuple(items)) => Value::tuple(items.iter().map(change).collect::<Vec<_>>()),
        (_, Value::Map(m)) => Value::map(
            m.element.clone(),
            m.entries.iter().map(|(k, v)| (k.clone(), change(v))),
        ),
        (_, Value::Object(o)) => Value::object(o.iter().map(|(k, v)| (k.clone(), change(v)))),
        (_, other) => other.clone(),
    }
}

/// `now` with the values of `prior` at these paths.
fn restore(prior: &Value, now: &Value, paths: &[Path]) -> Value {
    let mut changed: Vec<(Path, Option<Str>)> = paths
        .iter()
        .map(|path| split_key(prior, now, path))
        .filter(|(path, _)| match (path.get(prior), path.get(now)) {
            (Lookup::Found(before), Lookup::Found(now)) => before != now,
            _ => false,
        })
        .collect();
    // Deepest first, so that what is inside something that is ignored as a whole does not matter.
    changed.sort_by_key(|(path, _)| std::cmp::Reverse(path.0.len()));
    changed.iter().fold(now.clone(), |value, (path, key)| {
        let Lookup::Found(before) = path.get(prior) else {
            return value;
        };
        replace_at(&value, &path.0, &|now| restored(before, now, key.as_ref()))
    })
}

/// Splits the last step off if it is the key of a map.
fn split_key(prior: &Value, now: &Value, path: &Path) -> (Path, Option<Str>) {
    if let Some((Step::Key(key) | Step::Attribute(key), parent)) = path.0.split_last() {
        let parent = Path(parent.to_vec());
        let is_map = |lookup| match lookup {
            Lookup::Found(value) => matches!(value.ty(), Type::Map(_)),
            _ => false,
        };
        if is_map(parent.get(prior)) || is_map(parent.get(now)) {
            return (parent, Some(key.clone()));
        }
    }
    (path.clone(), None)
}

fn restored(before: &Value, now: &Value, key: Option<&Str>) -> Value {
    let (Some(key), Type::Map(element)) = (key, now.ty()) else {
        return match now {
            Value::Unknown(_) if matches!(now.ty(), Type::Map(_)) => now.clone(),
            _ => before.clone(),
        };
    };
    let mut all = match now {
        Value::Unknown(_) => return now.clone(),
        Value::Map(m) => m.entries.clone(),
        _ => Entries::default(),
    };
    match entries(before).and_then(|e| e.get(key)) {
        Some(value) => all.insert(key.clone(), value.clone()),
        None if now.is_null() => return now.clone(),
        None => all.remove(key),
    };
    Value::map((*element).clone(), all)
}

/// The value with the part at this path changed; as it is if the path leads nowhere.
fn replace_at(value: &Value, path: &[Step], change: &dyn Fn(&Value) -> Value) -> Value {
    let Some((step, rest)) = path.split_first() else {
        return change(value);
    };
    let inner = |value: &Value| replace_at(value, rest, change);
    match (value, step) {
        (Value::Object(o), Step::Attribute(name) | Step::Key(name)) => Value::object(
            o.iter()
                .map(|(k, v)| (k.clone(), if k == name { inner(v) } else { v.clone() })),
        ),
        (Value::Map(m), Step::Attribute(name) | Step::Key(name)) => Value::map(
            m.element.clone(),
            m.entries
                .iter()
                .map(|(k, v)| (k.clone(), if k == name { inner(v) } else { v.clone() })),
        ),
        (Value::List(s), Step::Index(i)) => {
            Value::list(s.element.clone(), replace_item(&s.items, *i, &inner))
        }
        (Value::Tuple(items), Step::Index(i)) => Value::tuple(replace_item(items, *i, &inner)),
        _ => value.clone(),
    }
}

fn replace_item(items: &[Value], at: u64, change: &dyn Fn(&Value) -> Value) -> Vec<Value> {
    (0..)
        .zip(items)
        .map(|(i, v)| if i == at { change(v) } else { v.clone() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::{object, path, schema};

    /// Runs `ignore_changes` over (ignored path, prior, configuration, wanted).
    fn check(text: &str, cases: &[(&[&str], &str, &str, &str)]) {
        let block = schema(text);
        for (paths, prior, config, want) in cases {
            let ignore = IgnoreChanges::Paths(paths.iter().map(|p| path(p)).collect());
            let (prior, config) = (object(&block, prior), object(&block, config));
            let got = ignore_changes(&block, &prior, &config, &ignore);
            assert_eq!(
                got,
                object(&block, want),
                "{paths:?} of prior {prior:?}, {config:?}"
            );
            assert_eq!(ignore_planned(&prior, &config, &ignore), got, "{paths:?}");
        }
    }

    const EVERYTHING: &str = "
        id: string computed
        name: string optional
        zone: string optional computed
        tags: map(string) optional
        list: list(string) optional
        set: set(string) optional
        obj: object(a: string, b: string) optional
        n: list optional {
          id: string computed
          name: string optional
        }
        block disk list {
          id: string computed
          size: number optional
          labels: map(string) optional
        }
        block rule set {
          id: string computed
          port: number optional
        }";

    #[test]
    fn a_new_object_ignores_nothing() {
        let block = schema(EVERYTHING);
        let config = object(&block, r#"{"name": "a"}"#);
        let null = object(&block, "null");
        for ignore in [IgnoreChanges::All, IgnoreChanges::Paths(vec![path("name")])] {
            assert_eq!(ignore_changes(&block, &null, &config, &ignore), config);
            assert_eq!(ignore_changes(&block, &config, &null, &ignore), null);
            assert_eq!(ignore_planned(&null, &config, &ignore), config);
        }
        let prior = object(&block, r#"{"name": "b"}"#);
        assert_eq!(
            ignore_changes(&block, &prior, &config, &IgnoreChanges::None),
            config
        );
        assert_eq!(
            ignore_planned(&prior, &config, &IgnoreChanges::None),
            config
        );
    }

    #[test]
    fn everything() {
        let block = schema(EVERYTHING);
        let prior = object(
            &block,
            r#"{"id": "i", "name": "a", "zone": "z", "tags": {"k": "v"}, "n": [{"id": "1", "name": "b"}],
                "disk": [{"id": "2", "size": 1}], "rule": [{"id": "3", "port": 80}]}"#,
        );
        let want = object(
            &block,
            r#"{"name": "a", "zone": "z", "tags": {"k": "v"}, "n": [{"name": "b"}],
                "disk": [{"size": 1}], "rule": [{"port": 80}]}"#,
        );
        let config = object(&block, r#"{"name": "c"}"#);
        assert_eq!(
            ignore_changes(&block, &prior, &config, &IgnoreChanges::All),
            want
        );
        assert_eq!(ignore_planned(&prior, &config, &IgnoreChanges::All), prior);
    }

    #[test]
    fn paths() {
        check(
            EVERYTHING,
            &[
                (
                    &["name"],
                    r#"{"name": "a"}"#,
                    r#"{"name": "b"}"#,
                    r#"{"name": "a"}"#,
                ),
                (
                    &["name"],
                    "{}",
                    r#"{"name": "b", "zone": "c"}"#,
                    r#"{"zone": "c"}"#,
                ),
                (
                    &["name"],
                    r#"{"name": "a"}"#,
                    r#"{"name": "??"}"#,
                    r#"{"name": "a"}"#,
                ),
                (
                    &["obj.a"],
                    r#"{"obj": {"a": "1", "b": "1"}}"#,
                    r#"{"obj": {"a": "2", "b": "2"}}"#,
                    r#"{"obj": {"a": "1", "b": "2"}}"#,
                ),
                (
                    &["list[1]"],
                    r#"{"list": ["a", "b"]}"#,
                    r#"{"list": ["c", "d", "e"]}"#,
                    r#"{"list": ["c", "b", "e"]}"#,
                ),
                (
                    &["n[0].name"],
                    r#"{"n": [{"name": "a"}]}"#,
                    r#"{"n": [{"name": "b"}]}"#,
                    r#"{"n": [{"name": "a"}]}"#,
                ),
                (
                    &["disk[0].size"],
                    r#"{"disk": [{"size": 1}]}"#,
                    r#"{"disk": [{"size": 2}]}"#,
                    r#"{"disk": [{"size": 1}]}"#,
                ),
                (
                    &["disk"],
                    r#"{"disk": [{"size": 1}]}"#,
                    "{}",
                    r#"{"disk": [{"size": 1}]}"#,
                ),
                (
                    &["rule"],
                    r#"{"rule": [{"port": 1}]}"#,
                    r#"{"rule": [{"port": 2}]}"#,
                    r#"{"rule": [{"port": 1}]}"#,
                ),
                (
                    &["obj", "obj.a"],
                    r#"{"obj": {"a": "1", "b": "1"}}"#,
                    r#"{"obj": {"a": "2", "b": "2"}}"#,
                    r#"{"obj": {"a": "1", "b": "1"}}"#,
                ),
            ],
        );
    }

    #[test]
    fn paths_that_lead_nowhere() {
        for nowhere in [
            "none",
            "name.deep",
            "n[3].name",
            "disk.size",
            "rule[0].port",
            "set[0]",
        ] {
            let config = r#"{"name": "b", "n": [{"name": "b"}], "disk": [{"size": 2}], "rule": [{"port": 2}], "set": ["b"]}"#;
            let prior = r#"{"name": "a", "n": [{"name": "a"}], "disk": [{"size": 1}], "rule": [{"port": 1}], "set": ["a"]}"#;
            check(EVERYTHING, &[(&[nowhere], prior, config, config)]);
        }
        check(
            EVERYTHING,
            &[(&["n[0].name"], r#"{"n": [{"name": "a"}]}"#, "{}", "{}")],
        );
        check(
            EVERYTHING,
            &[(
                &["n[0].name"],
                r#"{"n": [{"name": "a"}]}"#,
                r#"{"n": "??"}"#,
                r#"{"n": "??"}"#,
            )],
        );
    }

    #[test]
    fn map_keys() {
        let prior = r#"{"tags": {"k": "1", "l": "1"}}"#;
        for key in [r#"tags["k"]"#, "tags.k"] {
            check(
                EVERYTHING,
                &[
                    (
                        &[key],
                        prior,
                        r#"{"tags": {"k": "2", "l": "2"}}"#,
                        r#"{"tags": {"k": "1", "l": "2"}}"#,
                    ),
                    (
                        &[key],
                        prior,
                        r#"{"tags": {"l": "2"}}"#,
                        r#"{"tags": {"k": "1", "l": "2"}}"#,
                    ),
                    (&[key], prior, "{}", r#"{"tags": {"k": "1"}}"#),
                    (
                        &[key],
                        r#"{"tags": {"l": "1"}}"#,
                        r#"{"tags": {"k": "2"}}"#,
                        r#"{"tags": {}}"#,
                    ),
                    (&[key], "{}", r#"{"tags": {"k": "2"}}"#, r#"{"tags": {}}"#),
                    (&[key], r#"{"tags": {"l": "1"}}"#, "{}", "{}"),
                    (&[key], prior, r#"{"tags": "??"}"#, r#"{"tags": "??"}"#),
                    (&[key, "tags.l"], prior, r#"{"tags": {}}"#, prior),
                ],
            );
        }
        check(
            EVERYTHING,
            &[
                (&["tags"], prior, r#"{"tags": {"m": "2"}}"#, prior),
                (&["tags"], prior, r#"{"tags": "??"}"#, r#"{"tags": "??"}"#),
                (
                    &["disk[0].labels.k"],
                    r#"{"disk": [{"size": 1, "labels": {"k": "1"}}]}"#,
                    r#"{"disk": [{"size": 2, "labels": {"l": "2"}}]}"#,
                    r#"{"disk": [{"size": 2, "labels": {"k": "1", "l": "2"}}]}"#,
                ),
            ],
        );
    }
}
