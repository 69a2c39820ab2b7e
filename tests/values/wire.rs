//! Every rule of the providers' wire format, each with cases: values, their bytes and their JSON.

use nivis::value::json::{from_json, to_json};
use nivis::value::msgpack::{decode, encode};
use nivis::value::{DecodeError, DecodeErrorKind, MAX_DEPTH, Refinement, Type, Unknown, Value};
use serde_json::Value as Json;

use super::notation;

/// The rules of the published description of the wire format, in its order, in our words; each names its cases.
const RULES: &[(&str, &str)] = &[
    (
        "block",
        "a block is a map with a key for each attribute and each nested block type",
    ),
    ("attribute null", "null of any type is nil"),
    (
        "string",
        "text is a string; JSON text may also be written as a literal",
    ),
    (
        "string in normal form",
        "text is normalised, in whatever form it comes",
    ),
    (
        "number as integer",
        "a number may be an integer of any width",
    ),
    ("number as float", "a number may be a float"),
    (
        "number as text",
        "a number that neither holds is decimal text",
    ),
    ("bool", "a truth value is a bool"),
    ("list", "a list is an array"),
    ("set", "a set is an array"),
    (
        "set order",
        "the elements of a set come in any order, and once",
    ),
    ("map", "a map has a key for each element"),
    (
        "object",
        "an object has a key for each attribute, set or not",
    ),
    ("tuple", "a tuple is an array of its length"),
    ("dynamic", "a value of any type comes with its type"),
    (
        "unrefined unknown",
        "an unknown value without refinement is extension 0",
    ),
    (
        "any extension is unknown",
        "every extension is an unknown value",
    ),
    (
        "refined unknown",
        "a refined unknown value is extension 12 with a map of small integers",
    ),
    ("refinement nullness", "1 is whether it is null"),
    ("refinement prefix", "2 is how a string begins"),
    (
        "refinement bounds",
        "3 and 4 are the bounds of a number, inclusive or not",
    ),
    ("refinement length", "5 and 6 are the bounds of a length"),
    (
        "later refinements are skipped",
        "what is said about an unknown value by other keys is skipped",
    ),
    ("block nesting single", "a single block is itself, or nil"),
    (
        "block nesting list",
        "a list of blocks is an array; of any types, a tuple with its type",
    ),
    ("block nesting set", "a set of blocks is an array"),
    ("block nesting map", "blocks by label are a map"),
    (
        "block nesting group",
        "a group is never nil: an empty block stands in",
    ),
];

fn cases() -> Vec<Json> {
    let cases = include_str!("../fixtures/values/wire.json");
    serde_json::from_str(cases).unwrap()
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|b| *b != b' ').collect();
    let pairs = digits.chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

#[test]
fn every_rule_has_cases() {
    let cases = cases();
    let known = |case: &&Json| RULES.iter().any(|(rule, _)| case["rule"] == **rule);
    let stray: Vec<_> = cases.iter().filter(|case| !known(case)).collect();
    assert!(stray.is_empty(), "cases of no rule: {stray:?}");
    for (rule, meaning) in RULES {
        let of_rule: Vec<_> = cases.iter().filter(|case| case["rule"] == *rule).collect();
        println!("{rule}: {meaning}: {} cases", of_rule.len());
        for case in &of_rule {
            println!("  {case}");
        }
        assert!(!of_rule.is_empty(), "no case for {rule:?}: {meaning}");
        // Every rule about a form has at least one case that reads it.
        let read = |case: &&&Json| case.get("value").is_some();
        assert!(
            of_rule.iter().any(|case| read(&case)),
            "{rule}: nothing is read"
        );
    }
}

#[test]
fn cases_hold() {
    for case in cases() {
        let ty = notation::parse_type(&case["type"]);
        let bytes = case["msgpack"].as_str().map(hex);
        let text = case["json"].as_str();
        let read = [
            bytes.as_ref().map(|bytes| decode(bytes, &ty)),
            text.map(|text| from_json(text.as_bytes(), &ty)),
        ];
        assert_ne!(read, [None, None], "a case without a form: {case}");
        for result in read.into_iter().flatten() {
            check_read(&case, result);
        }
        let read_only = case["read_only"].as_bool().unwrap_or(false);
        if case.get("value").is_none() || read_only {
            continue;
        }
        let value = notation::parse(&case["value"]);
        if let Some(bytes) = bytes {
            assert_eq!(encode(&value, &ty), Ok(bytes), "{case}");
        }
        // A case without JSON claims that there is none.
        assert_eq!(to_json(&value, &ty).ok().as_deref(), text, "{case}");
    }
}

fn check_read(case: &Json, result: Result<Value, DecodeError>) {
    match (case.get("value"), result) {
        (Some(value), result) => assert_eq!(result, Ok(notation::parse(value)), "{case}"),
        (None, Err(error)) => {
            let expected = case["error"].as_str().unwrap();
            assert!(error.to_string().starts_with(expected), "{error}: {case}");
        }
        (None, Ok(value)) => panic!("{case}: read as {value:?}"),
    }
}

#[test]
fn long_prefixes_are_cut() {
    let with_prefix = |prefix: &str| {
        let prefix = Some(prefix.into());
        let refinement = Refinement {
            prefix,
            ..Refinement::default()
        };
        Unknown {
            ty: Type::String,
            refinement,
        }
        .into_value()
    };
    for (prefix, kept) in [
        ("x".repeat(256), 256),
        ("x".repeat(257), 254),
        // The 255th byte lies inside a character, and the one before it could still be extended.
        (format!("{}\u{e9}", "x".repeat(254)) + &"y".repeat(9), 253),
    ] {
        let bytes = encode(&with_prefix(&prefix), &Type::String).unwrap();
        assert_eq!(
            decode(&bytes, &Type::String),
            Ok(with_prefix(&prefix[..kept]))
        );
    }
}

#[test]
fn refinements_of_absurd_size_are_refused() {
    let long = [&[0xc8, 0x04, 0x01, 0x0c][..], &[0; 1025]].concat();
    assert!(
        decode(&long, &Type::Bool)
            .unwrap_err()
            .to_string()
            .contains("1024")
    );
}

#[test]
fn only_conforming_values_are_written() {
    let one = || Value::Number(1.into());
    for (value, ty, message) in [
        (
            one(),
            Type::String,
            "string required, but the value is number",
        ),
        (
            Value::null(Type::Bool),
            Type::String,
            "string required, but the value is bool",
        ),
        (
            Value::unknown(Type::Dynamic),
            Type::String,
            "string required, but the value is any",
        ),
        (
            Value::object([("a", Value::tuple([one()]))]),
            Type::object([("a", Type::tuple([Type::Bool]))]),
            "a[0]: bool required, but the value is number",
        ),
        (
            Value::object([("a", one())]),
            Type::object([("b", Type::Number)]),
            "object({b=number}) required",
        ),
    ] {
        let error = encode(&value, &ty).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
        if value.is_known() {
            assert_eq!(to_json(&value, &ty).unwrap_err().to_string(), error);
        }
    }
}

#[test]
fn json_has_no_unknowns_and_no_infinities() {
    let list = Value::list(Type::Number, vec![Value::unknown(Type::Number)]);
    let error = to_json(&list, &list.ty()).unwrap_err();
    assert_eq!(error.to_string(), "[0]: the value is not known yet");
    let infinite = Value::map(Type::Number, [("a", Value::Number("inf".parse().unwrap()))]);
    let error = to_json(&infinite, &infinite.ty()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "[\"a\"]: an infinite number has no JSON form"
    );
    assert!(infinite.to_untyped_json().is_err() && list.to_untyped_json().is_err());
}

#[test]
fn depth_is_limited() {
    // Each level is a dynamic list of one dynamic element.
    let level = [&hex("92 c4 12")[..], b"[\"list\",\"dynamic\"]", &[0x91]].concat();
    let error = decode(&level.repeat(100_000), &Type::Dynamic).unwrap_err();
    assert_eq!(error.kind, DecodeErrorKind::TooDeep);

    let nested = |levels| (0..levels).fold(Value::tuple([]), |inner, _| Value::tuple([inner]));
    let deep = nested(MAX_DEPTH);
    assert!(encode(&deep, &Type::Dynamic).is_err());
    assert!(to_json(&deep, &Type::Dynamic).is_err());
    assert!(deep.to_untyped_json().is_err());

    let fine = nested(MAX_DEPTH - 1);
    assert!(decode(&encode(&fine, &fine.ty()).unwrap(), &fine.ty()) == Ok(fine));
    let text = "[".repeat(100_000);
    assert!(from_json(text.as_bytes(), &Type::Dynamic).is_err());
}

#[test]
fn plain_json() {
    let json = serde_json::json!({
        "a": [1, 0.5, "x", true, null],
        "e\u{301}": {},
        "n": "18446744073709551616.5".parse::<serde_json::Number>().unwrap(),
    });
    let value = Value::from_untyped_json(&json).unwrap();
    let expected = notation::parse(&serde_json::json!({"object": {
        "a": {"tuple": [1, 0.5, "x", true, {"null": "dynamic"}]},
        "\u{e9}": {"object": {}},
        "n": json["n"],
    }}));
    assert_eq!(value, expected);
    let mut normal = json;
    let inner = normal.as_object_mut().unwrap().remove("e\u{301}").unwrap();
    normal["\u{e9}"] = inner;
    assert_eq!(value.to_untyped_json(), Ok(normal));
    let absurd: Json = serde_json::from_str("[1e999999]").unwrap();
    let error = Value::from_untyped_json(&absurd).unwrap_err().to_string();
    assert_eq!(
        error,
        "[0]: a number with more than 10000 digits is not supported"
    );
}
