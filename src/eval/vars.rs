//! Values for the stack's variables, as they were given: texts of the command line and the environment, JSON of files.
//!
//! Nix converts them to the declared types (nix/lib/variables.nix) in the evaluation itself. Sensitive ones are converted here
//! once more, by the same rules: Nix gets to check them, but what it writes down has only references to them.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use crate::eval::ledger;
use crate::ir::Variable;
use crate::value::{Type, Value, convert};

/// A file of variables cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum VarsError {
    /// Not JSON.
    #[error("not JSON: {0}")]
    Syntax(String),
    /// JSON, but no object.
    #[error("expected an object with one member for each variable")]
    NotAnObject,
    /// A value that no provider could be given.
    #[error("variable '{name}': {message}")]
    Value {
        /// Which.
        name: String,
        /// What is wrong.
        message: String,
    },
}

/// One value.
#[derive(Clone)]
struct Given {
    from: String,
    /// Nobody minds if the stack has no such variable.
    optional: bool,
    text: Option<String>,
    value: Option<Value>,
}

/// Values by the variable's name. They may be secrets, so there is no way to print them.
#[derive(Clone, Default)]
pub struct Vars(BTreeMap<String, Given>);

impl Vars {
    /// Whether nothing was given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes a text; it replaces what was given before. `from` says where it comes from, for messages; `optional` that the
    /// stack need not have the variable.
    pub fn text(&mut self, name: &str, text: String, from: &str, optional: bool) {
        let json: Option<Json> = serde_json::from_str(&text).ok();
        let given = Given {
            from: from.to_owned(),
            optional,
            value: json.and_then(|json| Value::from_untyped_json(&json).ok()),
            text: Some(text),
        };
        self.0.insert(name.to_owned(), given);
    }

    /// Notes the members of a JSON object; they replace what was given before.
    pub fn file(&mut self, content: &[u8], from: &str) -> Result<(), VarsError> {
        let json = serde_json::from_slice(content).map_err(|e| VarsError::Syntax(e.to_string()))?;
        let Json::Object(members) = json else {
            return Err(VarsError::NotAnObject);
        };
        for (name, json) in members {
            let value = Value::from_untyped_json(&json).map_err(|e| VarsError::Value {
                name: name.clone(),
                message: e.to_string(),
            })?;
            let given = Given {
                from: from.to_owned(),
                optional: false,
                text: None,
                value: Some(value),
            };
            self.0.insert(name, given);
        }
        Ok(())
    }

    /// The ledger's `vars`.
    pub(super) fn to_json(&self) -> Json {
        let entry = |given: &Given| {
            let mut entry = Map::new();
            entry.insert("from".into(), json!(given.from));
            if given.optional {
                entry.insert("optional".into(), json!(true));
            }
            if let Some(text) = &given.text {
                entry.insert("text".into(), json!(text));
            }
            if let Some(value) = &given.value {
                entry.insert("value".into(), ledger::plain(value));
            }
            Json::Object(entry)
        };
        let entries = self
            .0
            .iter()
            .map(|(name, given)| (name.clone(), entry(given)));
        Json::Object(entries.collect())
    }

    /// What was given for these variables, as a saved plan keeps it.
    pub fn saved<'a>(&self, declared: impl IntoIterator<Item = &'a String>) -> Map<String, Json> {
        let given = |name: &'a String| {
            let Given {
                from,
                optional,
                text,
                value,
            } = self.0.get(name)?;
            // What was parsed from a text is parsed from it again.
            let value = value.as_ref().filter(|_| text.is_none());
            let value = value.and_then(|value| value.to_untyped_json().ok());
            let entry = json!({ "from": from, "optional": optional, "text": text, "value": value });
            Some((name.clone(), entry))
        };
        declared.into_iter().filter_map(given).collect()
    }

    /// What [`saved`](Self::saved) kept.
    pub fn restored(saved: &Map<String, Json>) -> Result<Self, VarsError> {
        let mut vars = Self::default();
        for (name, entry) in saved {
            let from = entry["from"].as_str().unwrap_or("the plan");
            let optional = entry["optional"] == Json::Bool(true);
            if let Some(text) = entry["text"].as_str() {
                vars.text(name, text.to_owned(), from, optional);
                continue;
            }
            let value = Value::from_untyped_json(&entry["value"]);
            let value = value.map_err(|e| VarsError::Value {
                name: name.clone(),
                message: e.to_string(),
            })?;
            let given = Given {
                from: from.to_owned(),
                optional,
                text: None,
                value: Some(value),
            };
            vars.0.insert(name.clone(), given);
        }
        Ok(vars)
    }

    /// The value of a variable as its declaration wants it; none if nothing was given that counts, or it does not fit (which
    /// Nix has told).
    pub fn value(&self, name: &str, declaration: &Variable) -> Option<Value> {
        let given = self.0.get(name)?;
        let ty = declaration.ty.clone().unwrap_or(Type::Dynamic);
        let single = matches!(ty, Type::Dynamic | Type::String | Type::Number | Type::Bool);
        let raw = match &given.text {
            Some(text) if single => Value::string(text),
            _ => given.value.clone()?,
        };
        if raw.is_null() && declaration.not_nullable {
            return None;
        }
        convert(&raw, &ty).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(ty: Type) -> Variable {
        Variable {
            ty: Some(ty),
            sensitive: true,
            ..Variable::default()
        }
    }

    #[test]
    fn a_text_is_itself_where_a_single_value_is_wanted_and_json_where_more_is() {
        let strings = Type::list(Type::String);
        let table = [
            ("3", Type::String, Some(Value::string("3"))),
            ("[1]", Type::String, Some(Value::string("[1]"))),
            ("3", Type::Number, Some(Value::Number(3_i64.into()))),
            ("true", Type::Bool, Some(Value::Bool(true))),
            ("null", Type::String, Some(Value::string("null"))),
            ("x", Type::Number, None),
            (
                "[1]",
                strings.clone(),
                Some(Value::list(Type::String, vec![Value::string("1")])),
            ),
            ("a", strings, None),
        ];
        for (text, ty, expected) in table {
            let mut vars = Vars::default();
            vars.text("v", text.to_owned(), "--var", false);
            assert_eq!(
                vars.value("v", &declared(ty.clone())),
                expected,
                "{text} as {ty}"
            );
        }
    }

    #[test]
    fn a_null_stands_for_the_default_only_if_the_declaration_says_so() {
        let mut vars = Vars::default();
        vars.file(br#"{"v": null}"#, "a.json").unwrap();
        let mut declaration = declared(Type::String);
        assert!(vars.value("v", &declaration).unwrap().is_null());
        declaration.not_nullable = true;
        assert_eq!(vars.value("v", &declaration), None);
    }

    #[test]
    fn files_hold_one_object_and_the_last_value_counts() {
        let mut vars = Vars::default();
        vars.text("a", "old".into(), "--var", false);
        vars.file(br#"{"a": [1, 12345678901234567890.5], "b": "x"}"#, "a.json")
            .unwrap();
        vars.text("b", "y".into(), "NIVIS_VAR_b", true);
        let expected = json!({
            "a": { "from": "a.json", "value": [1, "12345678901234567890.5"] },
            "b": { "from": "NIVIS_VAR_b", "optional": true, "text": "y" },
        });
        assert_eq!(vars.to_json(), expected);
        for (content, message) in [
            (&b"x = 1"[..], "not JSON: expected value at line 1 column 1"),
            (
                b"[]",
                "expected an object with one member for each variable",
            ),
        ] {
            assert_eq!(vars.file(content, "").unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_saved_plan_keeps_what_was_given_for_its_variables() {
        let mut vars = Vars::default();
        vars.text("a", "[1]".into(), "--var", false);
        vars.text("elsewhere", "x".into(), "TF_VAR_elsewhere", true);
        vars.file(
            br#"{"b": [1, 12345678901234567890.5], "c": null}"#,
            "v.json",
        )
        .unwrap();
        let declared = ["a", "b", "c", "d"].map(str::to_owned);
        let saved = vars.saved(&declared);
        assert_eq!(saved.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
        let mut expected = vars.to_json();
        expected.as_object_mut().unwrap().remove("elsewhere");
        assert_eq!(Vars::restored(&saved).unwrap().to_json(), expected);
    }
}
