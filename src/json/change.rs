//! A change of one value: "change representation".

use serde::Serialize;
use serde_json::Value as Json;

use super::shape::BlockShape;
use super::values::{known_json, sensitive_shadow, unknown_shadow};
use crate::plan::Action;
use crate::schema::{Block, sensitive_paths};
use crate::value::{Path, PathSet, Step, Value};

/// What happens to one object or output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// What is done, in order: `no-op`, `create`, `read`, `update`, `delete`, `forget`.
    pub actions: Vec<&'static str>,
    /// The value before; null if there was none.
    pub before: Json,
    /// The known parts of the value afterwards; null if there will be none, absent if nothing is known about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Json>,
    /// `true` in place of every part of the value afterwards that is unknown.
    pub after_unknown: Json,
    /// `true` in place of every sensitive part of the value before.
    pub before_sensitive: Json,
    /// `true` in place of every sensitive part of the value afterwards.
    pub after_sensitive: Json,
    /// The paths whose change needs a new object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replace_paths: Vec<Vec<PathStep>>,
    /// What the object is imported by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importing: Option<Importing>,
    /// What the JSON does not tell about the values.
    #[serde(skip)]
    pub shape: BlockShape,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum PathStep {
    /// An attribute or map key.
    Name(String),
    /// A position in a list.
    Index(u64),
}

/// What an object is imported by.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Importing {
    /// The provider's id string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The object's identity, if it is imported by that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Json>,
}

/// Input of [`Change::of_object`].
#[derive(Clone, Copy, Debug)]
pub struct ObjectChange<'a> {
    /// What is done.
    pub action: Action,
    /// The schema of the object.
    pub block: &'a Block,
    /// The object before; `None` or null if there was none.
    pub before: Option<&'a Value>,
    /// The object afterwards, with unknowns; `None` or null if there will be none.
    pub after: Option<&'a Value>,
    /// Sensitive paths of `before`, beyond what the schema calls sensitive.
    pub before_sensitive: &'a PathSet,
    /// Sensitive paths of `after`, beyond what the schema calls sensitive.
    pub after_sensitive: &'a PathSet,
    /// Which changed paths need a new object.
    pub replace_paths: &'a [Path],
}

impl Change {
    /// The change of a resource or data source.
    pub fn of_object(input: ObjectChange<'_>) -> Self {
        let ObjectChange {
            action,
            block,
            before,
            after,
            ..
        } = input;
        let shadow = |value: Option<&Value>, sensitive: &PathSet| match value {
            None | Some(Value::Null(_)) => Json::Bool(false),
            Some(v) => sensitive_shadow(v, &sensitive.union(&sensitive_paths(block, v))),
        };
        let is_known = after.is_none_or(Value::is_wholly_known);
        Self {
            actions: actions(action),
            before: before.and_then(known_json).unwrap_or(Json::Null),
            after: after.map_or(Some(Json::Null), known_json),
            after_unknown: match after {
                Some(after) if !is_known => unknown_shadow(after),
                _ => Json::Object(serde_json::Map::new()),
            },
            before_sensitive: shadow(before, input.before_sensitive),
            after_sensitive: shadow(after, input.after_sensitive),
            replace_paths: input
                .replace_paths
                .iter()
                .filter(|_| action.is_replace())
                .map(path_steps)
                .collect(),
            importing: None,
            shape: BlockShape::new(block),
        }
    }

    /// The change of a stack output; `None` is an output that is not there. The action follows from the two values.
    pub fn of_output(before: Option<&Value>, after: Option<&Value>, sensitive: bool) -> Self {
        let action = match (before, after) {
            (None, _) => Action::Create,
            (_, None) => Action::Delete,
            (Some(before), Some(after)) if is_same(before, after) => Action::NoOp,
            _ => Action::Update,
        };
        Self {
            actions: actions(action),
            before: before.and_then(known_json).unwrap_or(Json::Null),
            after: after.map_or(Some(Json::Null), known_json),
            after_unknown: after.map_or(Json::Bool(false), unknown_shadow_of_output),
            before_sensitive: Json::Bool(sensitive),
            after_sensitive: Json::Bool(sensitive),
            replace_paths: Vec::new(),
            importing: None,
            shape: BlockShape::default(),
        }
    }

    /// Whether it changes nothing.
    pub fn is_no_op(&self) -> bool {
        self.actions == ["no-op"]
    }
}

/// Outputs are stored as JSON, without types: a map comes back as an object, a set as a tuple.
fn is_same(before: &Value, after: &Value) -> bool {
    after.is_wholly_known() && known_json(before) == known_json(after)
}

fn unknown_shadow_of_output(value: &Value) -> Json {
    if value.is_wholly_known() {
        Json::Bool(false)
    } else {
        unknown_shadow(value)
    }
}

fn actions(action: Action) -> Vec<&'static str> {
    match action {
        Action::NoOp => vec!["no-op"],
        Action::Read => vec!["read"],
        Action::Create => vec!["create"],
        Action::Update => vec!["update"],
        Action::DeleteThenCreate => vec!["delete", "create"],
        Action::CreateThenDelete => vec!["create", "delete"],
        Action::Delete => vec!["delete"],
        Action::Forget => vec!["forget"],
    }
}

fn path_steps(path: &Path) -> Vec<PathStep> {
    path.0
        .iter()
        .map(|step| match step {
            Step::Attribute(name) | Step::Key(name) => PathStep::Name(name.to_string()),
            Step::Index(i) => PathStep::Index(*i),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::{object, path, schema, ty, value};
    use crate::value::Type;

    const SCHEMA: &str = "
        id: string computed
        name: string required
        pw: string optional sensitive
        tags: map(string) optional
        block disk list {
          size: number optional
          key: string optional sensitive
        }";

    /// The JSON of a change; `keys` are the replace paths.
    fn change(action: Action, before: &str, after: &str, keys: &[&str]) -> String {
        let block = schema(SCHEMA);
        let (before, after) = (object(&block, before), object(&block, after));
        let extra: PathSet = [path(r#"tags["secret"]"#)].into_iter().collect();
        let change = Change::of_object(ObjectChange {
            action,
            block: &block,
            before: Some(&before),
            after: Some(&after),
            before_sensitive: &PathSet::default(),
            after_sensitive: &extra,
            replace_paths: &keys.iter().map(|p| path(p)).collect::<Vec<_>>(),
        });
        serde_json::to_string_pretty(&change).expect("JSON")
    }

    #[test]
    fn creation() {
        let after = r#"{"id": "??", "name": "a", "pw": "p", "tags": {"secret": "s", "a": "b"},
            "disk": [{"size": "??", "key": "k"}]}"#;
        insta::assert_snapshot!(change(Action::Create, "null", after, &[]), @r#"
        {
          "actions": [
            "create"
          ],
          "before": null,
          "after": {
            "disk": [
              {
                "key": "k"
              }
            ],
            "name": "a",
            "pw": "p",
            "tags": {
              "a": "b",
              "secret": "s"
            }
          },
          "after_unknown": {
            "disk": [
              {
                "size": true
              }
            ],
            "id": true,
            "tags": {}
          },
          "before_sensitive": false,
          "after_sensitive": {
            "disk": [
              {
                "key": true
              }
            ],
            "pw": true,
            "tags": {
              "secret": true
            }
          }
        }
        "#);
    }

    #[test]
    fn replacement() {
        let before = r#"{"id": "1", "name": "a", "disk": [{"size": 1}]}"#;
        let after = r#"{"id": "??", "name": "b", "disk": [{"size": 2}]}"#;
        let paths = ["name", "disk[0].size", r#"tags["k"]"#];
        insta::assert_snapshot!(change(Action::DeleteThenCreate, before, after, &paths), @r#"
        {
          "actions": [
            "delete",
            "create"
          ],
          "before": {
            "disk": [
              {
                "key": null,
                "size": 1
              }
            ],
            "id": "1",
            "name": "a",
            "pw": null,
            "tags": null
          },
          "after": {
            "disk": [
              {
                "key": null,
                "size": 2
              }
            ],
            "name": "b",
            "pw": null,
            "tags": null
          },
          "after_unknown": {
            "disk": [
              {}
            ],
            "id": true
          },
          "before_sensitive": {
            "disk": [
              {
                "key": true
              }
            ],
            "pw": true
          },
          "after_sensitive": {
            "disk": [
              {
                "key": true
              }
            ],
            "pw": true
          },
          "replace_paths": [
            [
              "name"
            ],
            [
              "disk",
              0,
              "size"
            ],
            [
              "tags",
              "k"
            ]
          ]
        }
        "#);
    }

    #[test]
    fn removal() {
        let before = r#"{"id": "1", "name": "a"}"#;
        insta::assert_snapshot!(change(Action::Delete, before, "null", &["name"]), @r#"
        {
          "actions": [
            "delete"
          ],
          "before": {
            "disk": [],
            "id": "1",
            "name": "a",
            "pw": null,
            "tags": null
          },
          "after": null,
          "after_unknown": {},
          "before_sensitive": {
            "disk": [],
            "pw": true
          },
          "after_sensitive": false
        }
        "#);
    }

    #[test]
    fn outputs() {
        let text = |before: Option<&Value>, after: Option<&Value>, sensitive| {
            serde_json::to_string(&Change::of_output(before, after, sensitive)).expect("JSON")
        };
        let (a, b, unknown) = (
            Value::string("a"),
            Value::string("b"),
            Value::unknown(Type::String),
        );
        insta::assert_snapshot!(text(None, Some(&a), false), @r#"{"actions":["create"],"before":null,"after":"a","after_unknown":false,"before_sensitive":false,"after_sensitive":false}"#);
        insta::assert_snapshot!(text(Some(&a), Some(&unknown), false), @r#"{"actions":["update"],"before":"a","after_unknown":true,"before_sensitive":false,"after_sensitive":false}"#);
        insta::assert_snapshot!(text(Some(&a), Some(&a), true), @r#"{"actions":["no-op"],"before":"a","after":"a","after_unknown":false,"before_sensitive":true,"after_sensitive":true}"#);
        insta::assert_snapshot!(text(Some(&a), Some(&b), true), @r#"{"actions":["update"],"before":"a","after":"b","after_unknown":false,"before_sensitive":true,"after_sensitive":true}"#);
        insta::assert_snapshot!(text(Some(&a), None, false), @r#"{"actions":["delete"],"before":"a","after":null,"after_unknown":false,"before_sensitive":false,"after_sensitive":false}"#);
    }

    #[test]
    fn an_output_that_was_stored_without_its_type_is_the_same() {
        for (stored, now, text) in [
            ("object(k: string)", "map(string)", r#"{"k": "v"}"#),
            ("tuple(string, string)", "set(string)", r#"["a", "b"]"#),
        ] {
            let (stored, now) = (value(&ty(stored), text), value(&ty(now), text));
            let change = Change::of_output(Some(&stored), Some(&now), false);
            assert!(change.is_no_op(), "{text}");
        }
    }
}
