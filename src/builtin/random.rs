//! `builtin_random`: random bytes, integers, names and secrets, made once and kept.

use uuid::Uuid;

use super::draw::{Drawn, Kind, MAX_LENGTH};
use super::object::{error_at, get, text, with};
use super::resource::{Change, Plan, Resource};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::schema::{Attribute, Block};
use crate::value::{Type, Value};

/// Default of `min`.
const DEFAULT_MIN: i64 = 0;
/// Default of `max`.
const DEFAULT_MAX: i64 = i32::MAX as i64;

/// The resource `builtin_random`.
pub(super) struct Random;

impl Resource for Random {
    fn schema(&self) -> Block {
        let attributes = [
            (
                "kind",
                Attribute::plain(Type::String)
                    .required()
                    .describe("`bytes`, `integer`, `name` or `secret`."),
            ),
            (
                "length",
                Attribute::plain(Type::Number).optional().describe(
                    "How many bytes (16), words of a name (2) or characters of a secret (32).",
                ),
            ),
            (
                "min",
                Attribute::plain(Type::Number)
                    .optional()
                    .describe("Least integer, 0 if not set."),
            ),
            (
                "max",
                Attribute::plain(Type::Number)
                    .optional()
                    .describe("Greatest integer, 2147483647 if not set."),
            ),
            (
                "keepers",
                Attribute::plain(Type::map(Type::String))
                    .optional()
                    .describe("Any values; when they change, a new result is drawn."),
            ),
            (
                "id",
                Attribute::plain(Type::String)
                    .computed()
                    .describe("Tells draws apart; says nothing about the result."),
            ),
            (
                "result",
                Attribute::plain(Type::String).computed().describe(
                    "Bytes in hexadecimal, the integer or the name as text; null for a secret.",
                ),
            ),
            (
                "number",
                Attribute::plain(Type::Number)
                    .computed()
                    .describe("The integer; null for other kinds."),
            ),
            (
                "secret",
                Attribute::plain(Type::String)
                    .computed()
                    .sensitive()
                    .describe("The secret; null for other kinds."),
            ),
        ];
        Block {
            attributes: attributes.map(|(k, a)| (k.into(), a)).into(),
            description: "Something random that stays the same until its arguments change."
                .to_owned(),
            ..Block::default()
        }
    }

    fn validate(&self, config: &Value) -> Diagnostics {
        let mut problems = Diagnostics::default();
        match get(config, "kind") {
            Value::Null(_) => {
                problems.push(error_at("kind", "Missing kind", "kind must not be null."));
            }
            Value::String(name) if Kind::parse(&name).is_none() => {
                let detail = format!(
                    "kind is {name:?}; it can be \"bytes\", \"integer\", \"name\" or \"secret\"."
                );
                problems.push(error_at("kind", "Unknown kind of random value", detail));
            }
            _ => {}
        }
        validate_arguments(config, kind_of(config), &mut problems);
        problems
    }

    fn plan(&self, change: &Change<'_>) -> Plan {
        let kind = kind_of(change.config);
        if change.prior.is_none() {
            let object = with(change.proposed, [("id", Value::unknown(Type::String))]);
            return Plan {
                object: with(&object, planned_outcome(kind)),
                requires_replace: Vec::new(),
            };
        }
        let arguments = [
            ("kind", None),
            ("length", kind.map(|k| integer(k.default_length()))),
            ("min", Some(integer(DEFAULT_MIN))),
            ("max", Some(integer(DEFAULT_MAX))),
            ("keepers", None),
        ];
        Plan {
            object: change.proposed.clone(),
            requires_replace: change.changed(change.proposed, &arguments),
        }
    }

    fn apply(&self, prior: Option<&Value>, planned: &Value) -> Result<Value, Diagnostics> {
        if prior.is_some() {
            return Ok(planned.clone());
        }
        self.validate(planned).into_result()?;
        let set = |name| match get(planned, name) {
            Value::Number(n) => n.as_i64(),
            _ => None,
        };
        let kind = kind_of(planned).ok_or_else(|| Diagnostic::error("The kind is not known"))?;
        let length = set("length").unwrap_or(kind.default_length());
        let range = set("min").unwrap_or(DEFAULT_MIN)..=set("max").unwrap_or(DEFAULT_MAX);
        let drawn = kind.draw(length, &range);
        let drawn = drawn.map_err(|e| Diagnostic::error("Cannot draw").detail(e.to_string()))?;
        let object = with(planned, [("id", new_id())]);
        Ok(with(&object, outcome(drawn)))
    }

    fn delete(&self, _object: &Value) -> Result<(), Diagnostics> {
        Ok(())
    }

    fn read(&self, object: &Value) -> Result<Option<Value>, Diagnostics> {
        Ok(Some(object.clone()))
    }

    fn import(&self, id: &str) -> Result<Value, Diagnostics> {
        let refused = || {
            Diagnostic::error("Cannot import this random value").detail(
                "The id must be \"<kind>:<value>\": an even number of hexadecimal digits for bytes, a decimal number \
                 for integer, words joined by \"-\" for name, any text for secret.",
            )
        };
        let (kind_name, value) = id.split_once(':').ok_or_else(refused)?;
        let kind = Kind::parse(kind_name).ok_or_else(refused)?;
        let (length, drawn) = kind.measure(value).ok_or_else(refused)?;
        let length = if length == kind.default_length() {
            Value::null(Type::Number)
        } else {
            integer(length)
        };
        let object = Value::object([
            ("kind", Value::string(kind_name)),
            ("length", length),
            ("min", Value::null(Type::Number)),
            ("max", Value::null(Type::Number)),
            ("keepers", Value::null(Type::map(Type::String))),
            ("id", new_id()),
        ]);
        Ok(with(&object, outcome(drawn)))
    }
}

/// The kind a configuration or object names; `None` if it is not known.
fn kind_of(object: &Value) -> Option<Kind> {
    text(object, "kind").and_then(Kind::parse)
}

fn new_id() -> Value {
    Value::string(Uuid::new_v4().to_string())
}

fn integer(n: i64) -> Value {
    Value::Number(n.into())
}

/// An argument that is known and set; an error if it is no integer of 64 bits.
fn argument(config: &Value, name: &str, problems: &mut Diagnostics) -> Option<i64> {
    let Value::Number(number) = get(config, name) else {
        return None;
    };
    if number.as_i64().is_none() {
        let detail = format!("{name} is {number}; it must be an integer of at most 64 bits.");
        problems.push(error_at(name, "Not an integer", detail));
    }
    number.as_i64()
}

fn validate_arguments(config: &Value, kind: Option<Kind>, problems: &mut Diagnostics) {
    let [length, min, max] = ["length", "min", "max"].map(|n| argument(config, n, problems));
    if let Some(length) = length.filter(|l| !(1..=MAX_LENGTH).contains(l)) {
        let detail = format!("length is {length}; it must be from 1 to {MAX_LENGTH}.");
        problems.push(error_at("length", "Length out of range", detail));
    }
    let given = |names: &[&'static str]| {
        let set = |name: &&str| !get(config, name).is_null();
        names.iter().copied().filter(set).collect::<Vec<_>>()
    };
    let foreign = match kind {
        None => Vec::new(),
        Some(Kind::Integer) => given(&["length"]),
        Some(_) => given(&["min", "max"]),
    };
    for name in foreign {
        let detail = format!("{name} means nothing for this kind of random value.");
        problems.push(error_at(name, "Argument does not apply", detail));
    }
    if !get(config, "min").is_known() || !get(config, "max").is_known() {
        return;
    }
    let (min, max) = (min.unwrap_or(DEFAULT_MIN), max.unwrap_or(DEFAULT_MAX));
    if min > max {
        let detail = format!("min is {min} and max is {max}: there is no integer between them.");
        problems.push(error_at("min", "Empty range", detail));
    }
}

/// The attributes that say what was drawn, before it is, as far as the kind tells.
fn planned_outcome(kind: Option<Kind>) -> [(&'static str, Value); 3] {
    let either = |ty, possible| {
        if possible {
            Value::unknown(ty)
        } else {
            Value::null(ty)
        }
    };
    let is = |k: Kind| kind.is_none_or(|kind| kind == k);
    [
        ("result", either(Type::String, kind != Some(Kind::Secret))),
        ("number", either(Type::Number, is(Kind::Integer))),
        ("secret", either(Type::String, is(Kind::Secret))),
    ]
}

/// The attributes that say what was drawn.
fn outcome(drawn: Drawn) -> [(&'static str, Value); 3] {
    let (result, number, secret) = match drawn {
        Drawn::Text(text) => (Some(text), None, None),
        Drawn::Integer(n) => (Some(n.to_string()), Some(n), None),
        Drawn::Secret(text) => (None, None, Some(text)),
    };
    let text = |t: Option<String>| t.map_or(Value::null(Type::String), Value::string);
    [
        ("result", text(result)),
        ("number", number.map_or(Value::null(Type::Number), integer)),
        ("secret", text(secret)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arguments, and paths of attributes.
    type Case<'a> = (&'a [(&'a str, Value)], &'a [&'a str]);

    fn config(set: &[(&str, Value)]) -> Value {
        let nulls = Random
            .schema()
            .attributes
            .into_iter()
            .map(|(name, a)| match a.ty {
                crate::schema::AttributeType::Plain(ty) => (name, Value::null(ty)),
                crate::schema::AttributeType::Nested(_) => unreachable!(),
            });
        let mut object = Value::object(nulls);
        for (name, value) in set {
            object = with(&object, [(*name, value.clone())]);
        }
        object
    }

    fn kind(name: &str) -> (&'static str, Value) {
        ("kind", Value::string(name))
    }

    fn create(config: &Value) -> Value {
        let change = Change {
            prior: None,
            config,
            proposed: config,
        };
        let planned = Random.plan(&change).object;
        assert!(get(&planned, "id") == Value::unknown(Type::String));
        Random.apply(None, &planned).unwrap()
    }

    /// Paths that force a replacement when the configuration of an object becomes `config`.
    fn replaced(object: &Value, config: &Value) -> Vec<String> {
        let keep = ["id", "result", "number", "secret"].map(|n| (n, get(object, n)));
        let proposed = with(config, keep);
        let plan = Random.plan(&Change {
            prior: Some(object),
            config,
            proposed: &proposed,
        });
        assert_eq!(plan.object, proposed);
        plan.requires_replace
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn draws_what_was_asked_for() {
        let bytes = create(&config(&[kind("bytes"), ("length", integer(3))]));
        assert_eq!(text(&bytes, "result").unwrap().len(), 6);
        let name = create(&config(&[kind("name"), ("length", integer(4))]));
        assert_eq!(text(&name, "result").unwrap().split('-').count(), 4);
        let secret = create(&config(&[kind("secret")]));
        assert_eq!(text(&secret, "secret").unwrap().len(), 32);
        assert!(get(&secret, "result").is_null());
        let edge = [("min", integer(i64::MIN)), ("max", integer(i64::MIN))];
        let lowest = create(&config(&[
            kind("integer"),
            edge[0].clone(),
            edge[1].clone(),
        ]));
        assert_eq!(get(&lowest, "number"), integer(i64::MIN));
        assert_eq!(text(&lowest, "result"), Some("-9223372036854775808"));
    }

    #[test]
    fn integers_reach_both_ends_of_their_range() {
        let config = config(&[kind("integer"), ("min", integer(-1)), ("max", integer(1))]);
        let drawn: std::collections::BTreeSet<_> = (0..200)
            .map(|_| text(&create(&config), "result").unwrap().to_owned())
            .collect();
        assert_eq!(Vec::from_iter(drawn), ["-1", "0", "1"]);
    }

    #[test]
    fn only_effective_changes_replace() {
        let keepers = |v: &str| {
            (
                "keepers",
                Value::map(Type::String, [("k", Value::string(v))]),
            )
        };
        let object = create(&config(&[kind("name"), keepers("a")]));
        let cases: [Case<'_>; 5] = [
            (&[kind("name"), keepers("a")], &[]),
            (&[kind("name"), keepers("a"), ("length", integer(2))], &[]),
            (
                &[kind("name"), keepers("a"), ("length", integer(3))],
                &["length"],
            ),
            (&[kind("name"), keepers("b")], &["keepers"]),
            (&[kind("bytes")], &["kind", "keepers"]),
        ];
        for (set, expected) in cases {
            let found = replaced(&object, &config(set));
            assert_eq!(found, expected, "{set:?}");
        }
    }

    #[test]
    fn an_unknown_kind_leaves_every_outcome_open() {
        let config = config(&[("kind", Value::unknown(Type::String))]);
        assert!(!Random.validate(&config).has_errors());
        let change = Change {
            prior: None,
            config: &config,
            proposed: &config,
        };
        let planned = Random.plan(&change).object;
        for name in ["result", "number", "secret"] {
            assert!(!get(&planned, name).is_known(), "{name}");
        }
    }

    #[test]
    fn errors_name_the_argument() {
        let half = Value::Number("0.5".parse().unwrap());
        let cases: [Case<'_>; 7] = [
            (&[kind("dice")], &["kind"]),
            (&[], &["kind"]),
            (&[kind("bytes"), ("length", integer(0))], &["length"]),
            (&[kind("bytes"), ("length", half)], &["length"]),
            (&[kind("name"), ("min", integer(1))], &["min"]),
            (&[kind("integer"), ("length", integer(1))], &["length"]),
            (
                &[kind("integer"), ("min", integer(5)), ("max", integer(4))],
                &["min"],
            ),
        ];
        for (set, expected) in cases {
            let problems = Random.validate(&config(set));
            let paths: Vec<_> = problems
                .0
                .iter()
                .map(|d| d.path.clone().unwrap().to_string())
                .collect();
            assert_eq!(paths, expected, "{set:?}: {problems}");
        }
    }

    #[test]
    fn imported_values_fit_their_configuration() {
        let cases: [(&str, &[(&str, Value)]); 5] = [
            ("name:calm-otter", &[kind("name")]),
            (
                "name:very-calm-otter",
                &[kind("name"), ("length", integer(3))],
            ),
            ("bytes:00ff", &[kind("bytes"), ("length", integer(2))]),
            ("integer:-7", &[kind("integer")]),
            ("secret:a:b", &[kind("secret"), ("length", integer(3))]),
        ];
        for (id, set) in cases {
            let object = Random.import(id).unwrap();
            assert_eq!(replaced(&object, &config(set)), [""; 0], "{id}");
            assert_ne!(get(&object, "id"), Value::string(id));
        }
        for id in [
            "calm-otter",
            "dice:6",
            "bytes:0",
            "bytes:FF",
            "integer:x",
            "integer:+1",
            "name:",
        ] {
            assert!(Random.import(id).is_err(), "{id}");
        }
    }
}
