//! Our codecs and conversions beside those of OpenTofu and Terraform, on random and on kept cases.

use std::cell::RefCell;

use nivis::value::json::{from_json, to_json};
use nivis::value::msgpack::{decode, encode};
use nivis::value::{Type, Value, convert, unify};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value as Json, json};

use super::arbitrary::{any_type, related_type, value_of};
use super::notation;
use super::oracle::{Oracle, from_base64, to_base64};

/// Random cases per test; what is claimed of them is claimed of all of them together.
const CASES: u32 = 10_000;

/// Where the random cases start. The same cases every time, so that a run fails for what was changed and for nothing
/// else; `NIVIS_SEED` takes a number to start elsewhere, or `random`.
#[expect(clippy::disallowed_methods, reason = "a test's own setting")]
fn seed() -> u64 {
    let seed = match std::env::var("NIVIS_SEED").as_deref() {
        Ok("random") => std::time::UNIX_EPOCH.elapsed().unwrap().as_secs(),
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => 1,
    };
    println!("repeat with NIVIS_SEED={seed}");
    seed
}

pub(crate) fn runner(cases: u32) -> TestRunner {
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        max_shrink_iters: 4096,
        ..ProptestConfig::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed().to_le_bytes());
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Two values of one type, and a type to convert the first to.
#[derive(Clone, Debug)]
struct Case {
    ty: Type,
    value: Value,
    other: Value,
    to: Type,
}

impl Case {
    fn arbitrary() -> impl Strategy<Value = Self> {
        any_type()
            .prop_flat_map(|ty| (Just(ty.clone()), value_of(&ty), value_of(&ty)))
            .prop_flat_map(|(ty, value, other)| {
                let to = related_type(&value.ty());
                (Just(ty), Just(value), Just(other), to)
            })
            .prop_map(|(ty, value, other, to)| Self {
                ty,
                value,
                other,
                to,
            })
    }

    /// The form kept in `tests/fixtures/values/found.json`.
    fn to_fixture(&self) -> Json {
        json!({
            "type": notation::type_json(&self.ty),
            "value": notation::write(&self.value),
            "other": notation::write(&self.other),
            "to": notation::type_json(&self.to),
        })
    }

    fn from_fixture(json: &Json) -> Self {
        Self {
            ty: notation::parse_type(&json["type"]),
            value: notation::parse(&json["value"]),
            other: notation::parse(&json["other"]),
            to: notation::parse_type(&json["to"]),
        }
    }
}

#[test]
fn agrees_on_random_values() {
    let oracle = RefCell::new(Oracle::start());
    let mut runner = runner(CASES);
    let outcome = runner.run(&Case::arbitrary(), |case| {
        compare(&mut oracle.borrow_mut(), &case)
            .map_err(|e| TestCaseError::fail(format!("{e}\nkeep it: {}", case.to_fixture())))
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

#[test]
fn agrees_on_values_it_makes() {
    let mut oracle = Oracle::start();
    let start = seed();
    for seed in (start..).take(CASES as usize) {
        let answer = oracle.ask(&json!({"op": "generate", "seed": seed}));
        assert_eq!(answer.get("failure"), None, "seed {seed}");
        let ty = notation::parse_type(&answer["type"]);
        let value = notation::parse(&answer["from_msgpack"]["value"]);
        let bytes = from_base64(&answer["msgpack"]);
        assert_eq!(
            decode(&bytes, &ty),
            Ok(value.clone()),
            "seed {seed}: {answer}"
        );
        if let Some(text) = answer["json"].as_str() {
            assert_eq!(
                from_json(text.as_bytes(), &ty),
                Ok(value.clone()),
                "seed {seed}: {answer}"
            );
            assert_eq!(to_json(&value, &ty).as_deref(), Ok(text), "seed {seed}");
        }
        let case = Case {
            other: value.clone(),
            to: ty.clone(),
            ty,
            value,
        };
        if let Err(e) = compare(&mut oracle, &case) {
            panic!("seed {seed}: {e}\nkeep it: {}", case.to_fixture());
        }
    }
}

/// Cases that once failed, shrunk.
#[test]
fn agrees_on_kept_cases() {
    let kept = include_str!("../fixtures/values/found.json");
    let kept: Vec<Json> = serde_json::from_str(kept).unwrap();
    assert!(!kept.is_empty());
    let mut oracle = Oracle::start();
    for json in kept {
        compare(&mut oracle, &Case::from_fixture(&json)).unwrap_or_else(|e| panic!("{e}\n{json}"));
    }
}

#[test]
fn agrees_on_common_types() {
    let oracle = RefCell::new(Oracle::start());
    let types = any_type().prop_flat_map(|ty| {
        let related = related_type(&ty).prop_map(|t| t.without_optional_attributes());
        (Just(ty), proptest::collection::vec(related, 0..3))
    });
    let outcome = runner(CASES / 4).run(&types, |(ty, mut types)| {
        types.push(ty);
        let json: Vec<Json> = types.iter().map(notation::type_json).collect();
        let answer = oracle
            .borrow_mut()
            .ask(&json!({"op": "unify", "types": json}));
        prop_assert_eq!(answer.get("failure"), None);
        let theirs = answer.get("type").map(notation::parse_type);
        prop_assert_eq!(unify(&types), theirs);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

fn compare(oracle: &mut Oracle, case: &Case) -> Result<(), String> {
    let Case {
        ty,
        value,
        other,
        to,
    } = case;
    let bytes = encode(value, ty).map_err(|e| e.to_string())?;
    let text = to_json(value, ty).ok();
    let answer = oracle.ask(&json!({
        "op": "check",
        "type": notation::type_json(ty),
        "msgpack": to_base64(&bytes),
        "other": to_base64(&encode(other, ty).map_err(|e| e.to_string())?),
        "json": text.clone().unwrap_or_default(),
        "to": notation::type_json(to),
    }));
    if let Some(failure) = answer.get("failure") {
        return Err(failure.to_string());
    }
    same("what our bytes mean", value, &answer["from_msgpack"])?;
    let theirs = from_base64(&answer["msgpack"]);
    if theirs != bytes {
        return Err(format!(
            "bytes differ: ours {bytes:02x?}, theirs {theirs:02x?}"
        ));
    }
    let back = decode(&theirs, ty).map_err(|e| e.to_string())?;
    if back != *value {
        return Err(format!("read back as {back:?}"));
    }
    if answer.get("json").and_then(Json::as_str) != text.as_deref() {
        return Err(format!(
            "JSON differs: ours {text:?}, theirs {}",
            answer["json"]
        ));
    }
    if text.is_some() {
        same("what our JSON means", value, &answer["from_json"])?;
    }
    let equals = answer["equals"].as_bool();
    // With one part unequal and one undecided, theirs depends on the order in which Go happens to visit attributes.
    let by_chance = has(value, &|v| matches!(v, Value::Object(_) | Value::Map(_)))
        && equals != Some(true)
        && value.equals(other) != Some(true);
    if value.equals(other) != equals && !by_chance {
        return Err(format!(
            "equals: ours {:?}, theirs {equals:?}",
            value.equals(other)
        ));
    }
    if (value == other) != answer["raw_equals"].as_bool().unwrap() {
        return Err(format!("raw equals: ours {}", value == other));
    }
    compare_conversion(value, to, &answer["converted"])
}

fn compare_conversion(value: &Value, to: &Type, theirs: &Json) -> Result<(), String> {
    if has(value, &is_uncertain_set) {
        // It becomes an unknown list; theirs keeps the element type it had, whatever was asked for.
        return Ok(());
    }
    let refusal = theirs["error"].as_str().unwrap_or_default();
    if refusal.starts_with("element types must all match") && has_nested_optional(to) {
        // Theirs leaves the inner optional attributes in the type of a null that it puts in the place of an optional
        // attribute, and then finds the elements of a collection to differ.
        return Ok(());
    }
    let ours = convert(value, to);
    let wanted = to.without_optional_attributes();
    if let (true, Ok(ours), Some(json)) = (value.is_null(), &ours, theirs.get("value"))
        && !notation::parse(json).conforms_to(&wanted)
    {
        // Theirs loses parts of a type that only optional attributes mention when it makes a null of it.
        let kind = ours.is_null() && ours.conforms_to(&wanted);
        return if kind {
            Ok(())
        } else {
            Err(format!("conversion of null: {ours:?}"))
        };
    }
    match (&ours, theirs.get("error")) {
        (Ok(ours), None) => same("what it converts to", ours, theirs),
        (Err(_), Some(_)) => Ok(()),
        _ => Err(format!("conversion: ours {ours:?}, theirs {theirs}")),
    }
}

/// Whether an optional attribute somewhere in the type has optional attributes inside it.
pub(super) fn has_nested_optional(ty: &Type) -> bool {
    match ty {
        Type::List(t) | Type::Set(t) | Type::Map(t) => has_nested_optional(t),
        Type::Tuple(items) => items.iter().any(has_nested_optional),
        Type::Object(o) => o.attributes.iter().any(|(name, t)| {
            has_nested_optional(t)
                || o.optional.contains(name) && *t != t.without_optional_attributes()
        }),
        _ => false,
    }
}

/// Whether unknown elements may coincide with others.
fn is_uncertain_set(value: &Value) -> bool {
    matches!(value, Value::Set(s) if s.items.len() > 1 && !value.is_wholly_known())
}

/// Whether the value or a part of it is such.
fn has(value: &Value, such: &dyn Fn(&Value) -> bool) -> bool {
    let part = |v: &Value| has(v, such);
    such(value)
        || match value {
            Value::List(s) | Value::Set(s) => s.items.iter().any(part),
            Value::Tuple(items) => items.iter().any(part),
            Value::Map(m) => m.entries.values().any(part),
            Value::Object(entries) => entries.values().any(part),
            _ => false,
        }
}

fn same(what: &str, ours: &Value, theirs: &Json) -> Result<(), String> {
    match theirs.get("value") {
        Some(json) if notation::parse(json) == *ours => Ok(()),
        _ => Err(format!(
            "{what}: ours {}, theirs {theirs}",
            notation::write(ours)
        )),
    }
}
