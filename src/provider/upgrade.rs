//! Stored objects of the current schema version may hold attributes that the schema has lost since: they are left out
//! before the provider sees them (pure).

use serde_json::Value;

use crate::value::Type;

/// Removes members of JSON objects that `ty` does not have, at any depth. The text stays as it is if there is none.
pub(super) fn prune(json: &mut Vec<u8>, ty: &Type) -> Result<(), serde_json::Error> {
    let mut value: Value = serde_json::from_slice(json)?;
    if prune_value(&mut value, ty) {
        *json = serde_json::to_vec(&value)?;
    }
    Ok(())
}

/// Whether anything was removed.
fn prune_value(value: &mut Value, ty: &Type) -> bool {
    let mut removed = false;
    match (value, ty) {
        (Value::Object(members), Type::Object(object)) => {
            let before = members.len();
            members.retain(|name, _| object.attributes.contains_key(name.as_str()));
            removed = members.len() < before;
            for (name, ty) in &object.attributes {
                if let Some(member) = members.get_mut(&**name) {
                    removed |= prune_value(member, ty);
                }
            }
        }
        (Value::Object(members), Type::Map(element)) => {
            for (_, member) in members {
                removed |= prune_value(member, element);
            }
        }
        (Value::Array(items), Type::List(element) | Type::Set(element)) => {
            for item in items {
                removed |= prune_value(item, element);
            }
        }
        (Value::Array(items), Type::Tuple(types)) => {
            for (item, ty) in items.iter_mut().zip(types.iter()) {
                removed |= prune_value(item, ty);
            }
        }
        _ => {}
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::ty;

    #[test]
    fn removes_what_the_type_lacks() {
        let cases = [
            ("object(a: string)", r#"{"a":"x","b":1}"#, r#"{"a":"x"}"#),
            (
                "object(l: list(object(a: string)))",
                r#"{"l":[{"a":"x","b":1},null]}"#,
                r#"{"l":[{"a":"x"},null]}"#,
            ),
            (
                "object(m: map(object(a: string)), s: set(object(a: string)))",
                r#"{"m":{"k":{"b":1}},"s":[{"b":1}]}"#,
                r#"{"m":{"k":{}},"s":[{}]}"#,
            ),
            (
                "tuple(string, object(a: string))",
                r#"["x",{"b":1}]"#,
                r#"["x",{}]"#,
            ),
        ];
        for (ty_text, json, expected) in cases {
            let mut bytes = json.as_bytes().to_vec();
            prune(&mut bytes, &ty(ty_text)).unwrap();
            assert_eq!(String::from_utf8(bytes).unwrap(), expected, "{ty_text}");
        }
    }

    #[test]
    fn leaves_the_rest_byte_for_byte() {
        let cases = [
            ("object(a: number)", r#"{ "a": 1.50e400 }"#),
            ("object(a: any)", r#"{"a": {"anything": [1]}}"#),
            ("object(a: string)", "null"),
            ("object(a: string)", r#"{"a": {"not": "a string"}}"#),
        ];
        for (ty_text, json) in cases {
            let mut bytes = json.as_bytes().to_vec();
            prune(&mut bytes, &ty(ty_text)).unwrap();
            assert_eq!(String::from_utf8(bytes).unwrap(), json, "{ty_text}");
        }
        assert!(prune(&mut b"{".to_vec(), &ty("any")).is_err());
    }
}
