//! Conversions by example; `compare.rs` shows that they are the reference's.

use nivis::value::{MAX_DEPTH, Type, Value, convert, unify};
use serde_json::Value as Json;

use super::notation;

#[test]
fn by_example() {
    let cases = include_str!("../fixtures/values/conversions.json");
    let cases: Vec<Json> = serde_json::from_str(cases).unwrap();
    assert!(cases.len() > 40);
    for case in cases {
        let value = notation::parse(&case["value"]);
        let result = convert(&value, &notation::parse_type(&case["to"]));
        match (case.get("is"), result) {
            (Some(is), result) => assert_eq!(result, Ok(notation::parse(is)), "{case}"),
            (None, Err(error)) => {
                let expected = case["error"].as_str().unwrap();
                assert!(error.to_string().starts_with(expected), "{error}: {case}");
            }
            (None, Ok(value)) => panic!("{case}: converts to {value:?}"),
        }
    }
}

#[test]
fn common_types() {
    let ty = |text: &str| Type::from_json(text.as_bytes()).unwrap();
    for (types, common) in [
        (&[][..], None),
        (
            &[r#""number""#, r#""string""#, r#""bool""#],
            Some(r#""string""#),
        ),
        (&[r#""number""#, r#""bool""#], None),
        (&[r#""number""#, r#""dynamic""#], Some(r#""number""#)),
        (
            &[r#"["list","number"]"#, r#"["tuple",["string"]]"#],
            Some(r#"["list","string"]"#),
        ),
        (
            &[r#"["set","number"]"#, r#"["list","string"]"#],
            Some(r#"["list","string"]"#),
        ),
        (
            &[r#"["list","number"]"#, r#""dynamic""#],
            Some(r#""dynamic""#),
        ),
        (
            &[
                r#"["object",{"a":"number"}]"#,
                r#"["object",{"a":"string"}]"#,
            ],
            Some(r#"["object",{"a":"string"}]"#),
        ),
        (
            &[
                r#"["object",{"a":"number"}]"#,
                r#"["object",{"b":"string"}]"#,
            ],
            Some(r#"["map","string"]"#),
        ),
        (
            &[r#"["tuple",["number"]]"#, r#"["tuple",["string","bool"]]"#],
            Some(r#"["list","string"]"#),
        ),
        (&[r#"["object",{}]"#, r#"["tuple",[]]"#], None),
    ] {
        let types: Vec<Type> = types.iter().map(|t| ty(t)).collect();
        assert_eq!(unify(&types), common.map(ty), "{types:?}");
    }
}

#[test]
fn depth_is_limited() {
    let nested = (0..MAX_DEPTH).fold(Value::Bool(true), |inner, _| Value::tuple([inner]));
    let wanted = (0..MAX_DEPTH).fold(Type::String, |inner, _| Type::list(inner));
    let error = convert(&nested, &wanted).unwrap_err().to_string();
    assert!(error.ends_with("the value is nested too deeply"), "{error}");
}
