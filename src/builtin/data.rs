//! `builtin_data`: keeps a value, and can tie the life of other resources to one.

use uuid::Uuid;

use super::object::{get, with};
use super::resource::{Change, DataSource, Plan, Resource};
use crate::diagnostic::Diagnostics;
use crate::schema::{Attribute, Block};
use crate::value::{Type, Value};

/// The resource `builtin_data`.
pub(super) struct Data;

impl Resource for Data {
    fn schema(&self) -> Block {
        let attributes = [
            (
                "input",
                Attribute::plain(Type::Dynamic)
                    .optional()
                    .describe("Any value; appears as `output` once the resource was applied."),
            ),
            (
                "triggers_replace",
                Attribute::plain(Type::Dynamic)
                    .optional()
                    .describe("Any value; when it changes, the resource is replaced."),
            ),
            (
                "id",
                Attribute::plain(Type::String)
                    .computed()
                    .describe("Random, new with each replacement."),
            ),
            (
                "output",
                Attribute::plain(Type::Dynamic)
                    .computed()
                    .describe("Equal to `input`."),
            ),
        ];
        Block {
            attributes: attributes.map(|(k, a)| (k.into(), a)).into(),
            description: "Keeps a value without touching anything outside the state.".to_owned(),
            ..Block::default()
        }
    }

    fn validate(&self, _config: &Value) -> Diagnostics {
        Diagnostics::default()
    }

    fn plan(&self, change: &Change<'_>) -> Plan {
        let id = change
            .prior
            .map_or(Value::unknown(Type::String), |p| get(p, "id"));
        let output = get(change.proposed, "input");
        let object = with(change.proposed, [("id", id), ("output", output)]);
        Plan {
            requires_replace: change.changed(&object, &[("triggers_replace", None)]),
            object,
        }
    }

    fn apply(&self, prior: Option<&Value>, planned: &Value) -> Result<Value, Diagnostics> {
        let id = match prior {
            Some(prior) => get(prior, "id"),
            None => Value::string(Uuid::new_v4().to_string()),
        };
        let output = get(planned, "input");
        Ok(with(planned, [("id", id), ("output", output)]))
    }

    fn delete(&self, _object: &Value) -> Result<(), Diagnostics> {
        Ok(())
    }

    fn read(&self, object: &Value) -> Result<Option<Value>, Diagnostics> {
        Ok(Some(object.clone()))
    }

    fn import(&self, id: &str) -> Result<Value, Diagnostics> {
        let null = || Value::null(Type::Dynamic);
        Ok(Value::object([
            ("id", Value::string(id)),
            ("input", null()),
            ("output", null()),
            ("triggers_replace", null()),
        ]))
    }
}

/// The data source `builtin_data`.
pub(super) struct Echo;

impl DataSource for Echo {
    fn schema(&self) -> Block {
        let attributes = [
            (
                "input",
                Attribute::plain(Type::Dynamic)
                    .optional()
                    .describe("Any value."),
            ),
            (
                "output",
                Attribute::plain(Type::Dynamic)
                    .computed()
                    .describe("Equal to `input`."),
            ),
        ];
        Block {
            attributes: attributes.map(|(k, a)| (k.into(), a)).into(),
            description: "Gives back its input.".to_owned(),
            ..Block::default()
        }
    }

    fn read(&self, config: &Value) -> Result<Value, Diagnostics> {
        Ok(with(config, [("output", get(config, "input"))]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(input: Value, triggers: Value) -> Value {
        Value::object([
            ("id", Value::null(Type::String)),
            ("input", input),
            ("output", Value::null(Type::Dynamic)),
            ("triggers_replace", triggers),
        ])
    }

    fn none() -> Value {
        Value::null(Type::Dynamic)
    }

    fn plan(prior: Option<&Value>, config: &Value) -> Plan {
        // What a host proposes: the configuration and, where it is silent, the computed attributes as they were.
        let proposed = match prior {
            Some(prior) => with(
                config,
                [("id", get(prior, "id")), ("output", get(prior, "output"))],
            ),
            None => config.clone(),
        };
        Data.plan(&Change {
            prior,
            config,
            proposed: &proposed,
        })
    }

    #[test]
    fn a_second_plan_is_empty() {
        let config = config(Value::tuple([Value::Bool(true), none()]), none());
        let planned = plan(None, &config);
        assert_eq!(get(&planned.object, "id"), Value::unknown(Type::String));
        let object = Data.apply(None, &planned.object).unwrap();
        assert!(object.is_wholly_known());
        assert_eq!(get(&object, "output"), get(&config, "input"));
        let again = plan(Some(&object), &config);
        assert_eq!(again.object, object);
        assert_eq!(again.requires_replace, []);
    }

    #[test]
    fn only_triggers_replace() {
        let object = Data
            .apply(None, &config(Value::string("a"), Value::string("t")))
            .unwrap();
        let update = plan(
            Some(&object),
            &config(Value::string("b"), Value::string("t")),
        );
        assert_eq!(update.requires_replace, []);
        assert_eq!(get(&update.object, "output"), Value::string("b"));
        assert_eq!(get(&update.object, "id"), get(&object, "id"));
        for trigger in [Value::string("u"), none(), Value::unknown(Type::Dynamic)] {
            let replace = plan(Some(&object), &config(Value::string("a"), trigger.clone()));
            let paths: Vec<_> = replace
                .requires_replace
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(paths, ["triggers_replace"], "{trigger:?}");
        }
    }

    #[test]
    fn unknown_input_is_unknown_output() {
        let planned = plan(None, &config(Value::unknown(Type::Dynamic), none()));
        assert_eq!(
            get(&planned.object, "output"),
            Value::unknown(Type::Dynamic)
        );
    }
}
