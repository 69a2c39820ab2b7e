//! The type `fake_thing`: its schema, and what becomes of it (pure).
//!
//! | attribute | |
//! |---|---|
//! | `name` | required text, changed in place; empty is an error |
//! | `value` | optional text |
//! | `echo` | computed: `value` in capitals, so known as early as `value` is |
//! | `id` | computed: `<name>-<n>` |
//! | `force_new` | optional text that replaces |
//! | `password` | optional and computed, sensitive: `pw-<id>` unless given |
//! | `secret_wo` | optional text, write-only |
//! | `size` | optional number |
//! | `tags` | optional map of text |
//! | `extra` | optional, any type |
//! | `region` | computed: the provider's `region` |
//! | `settings` | nested attributes, protocol 6 only: `mode` optional, `level` optional and computed (1 unless given) |
//! | `rule` | list of blocks: `port` required number, `transport` optional and computed (`tcp` unless given) |
//! | `member` | set of blocks: `user` required, `role` optional, `uid` computed (`uid-<user>`) |

use std::collections::BTreeMap;

use nivis::builtin::message;
use nivis::builtin::object::{get, with};
use nivis::provider::proto::tfplugin6 as v6;
use nivis::schema::{Attribute, Block, NestedBlock, Nesting, Schema};
use nivis::value::{Path, Str, Type, Value};

/// Name of the resource and data source type.
pub(crate) const THING: &str = "fake_thing";

fn text() -> Attribute {
    Attribute::plain(Type::String)
}

fn named<const N: usize>(attributes: [(&str, Attribute); N]) -> BTreeMap<Str, Attribute> {
    attributes.map(|(name, a)| (name.into(), a)).into()
}

fn blocks(attributes: BTreeMap<Str, Attribute>, nesting: Nesting) -> NestedBlock {
    NestedBlock {
        block: Block {
            attributes,
            ..Block::default()
        },
        nesting,
        min_items: 0,
        max_items: 0,
    }
}

/// The schema of the provider's own configuration.
pub(crate) fn provider_block() -> Block {
    Block {
        attributes: named([
            ("record", text().optional()),
            ("region", text().optional()),
            ("endpoint", text().optional()),
            ("token", text().optional().sensitive()),
        ]),
        ..Block::default()
    }
}

/// The schema of what a module may tell the provider.
pub(crate) fn meta_block() -> Block {
    Block {
        attributes: named([("module", text().optional())]),
        ..Block::default()
    }
}

/// Types of 16 KiB each, which make a schema large.
pub(crate) fn fillers(mebibytes: usize) -> impl Iterator<Item = (String, v6::Schema)> {
    let attributes = (0..64).map(|n| {
        let description = "what it is good for ".repeat(12);
        let attribute = Attribute {
            description,
            ..text().optional()
        };
        (format!("attribute_{n}").as_str().into(), attribute)
    });
    let block = Block {
        attributes: attributes.collect(),
        ..Block::default()
    };
    let schema = message::schema(&Schema { version: 0, block });
    (0..mebibytes * 64).map(move |n| (format!("fake_filler_{n}"), schema.clone()))
}

/// The schema of the resource.
pub(crate) fn thing_block(protocol: u32) -> Block {
    let mut secret_wo = text().optional().sensitive();
    secret_wo.write_only = true;
    let mut attributes = named([
        ("name", text().required()),
        ("value", text().optional()),
        ("echo", text().computed()),
        ("id", text().computed()),
        ("force_new", text().optional()),
        ("password", text().optional().computed().sensitive()),
        ("secret_wo", secret_wo),
        ("size", Attribute::plain(Type::Number).optional()),
        ("tags", Attribute::plain(Type::map(Type::String)).optional()),
        ("extra", Attribute::plain(Type::Dynamic).optional()),
        ("region", text().computed()),
    ]);
    if protocol == 6 {
        let level = Attribute::plain(Type::Number).optional().computed();
        let settings = named([("mode", text().optional()), ("level", level)]);
        let settings = Attribute::nested(Nesting::Single, settings).optional();
        attributes.insert("settings".into(), settings);
    }
    let rule = named([
        ("port", Attribute::plain(Type::Number).required()),
        ("transport", text().optional().computed()),
    ]);
    let member = named([
        ("user", text().required()),
        ("role", text().optional()),
        ("uid", text().computed()),
    ]);
    Block {
        attributes,
        block_types: BTreeMap::from([
            ("rule".into(), blocks(rule, Nesting::List)),
            ("member".into(), blocks(member, Nesting::Set)),
        ]),
        ..Block::default()
    }
}

/// The schema of the data source: finds out whether a thing exists, and echoes.
pub(crate) fn data_block() -> Block {
    Block {
        attributes: named([
            ("name", text().required()),
            ("value", text().optional()),
            ("echo", text().computed()),
            ("exists", Attribute::plain(Type::Bool).computed()),
            ("id", text().computed()),
        ]),
        ..Block::default()
    }
}

/// The planned object and what forces a replacement.
pub(crate) fn plan(prior: Option<&Value>, proposed: &Value, region: Value) -> (Value, Vec<Path>) {
    let object = computed(proposed, region);
    let unknown_if_null = |name| match get(&object, name) {
        Value::Null(_) => Value::unknown(Type::String),
        value => value,
    };
    let id = prior.map_or(Value::unknown(Type::String), |p| get(p, "id"));
    let password = unknown_if_null("password");
    let planned = with(
        &object,
        [
            ("id", id),
            ("password", password),
            ("member", members(&object, |_| Value::unknown(Type::String))),
        ],
    );
    let replaced = prior.is_some_and(|p| get(p, "force_new") != get(&planned, "force_new"));
    let paths = if replaced {
        vec![Path::root().attribute("force_new")]
    } else {
        Vec::new()
    };
    (planned, paths)
}

/// The finished object: a plan whose unknown parts are filled in. `id` is for a new thing.
pub(crate) fn finish(planned: &Value, region: Value, id: &str) -> Value {
    let object = computed(planned, region);
    let fill = |name, text: String| match get(&object, name) {
        Value::Unknown(_) | Value::Null(_) => Value::string(text),
        value => value,
    };
    let id = fill("id", id.to_owned());
    let password = fill(
        "password",
        format!("pw-{}", id.as_str().unwrap_or_default()),
    );
    let uid = |user: &str| Value::string(format!("uid-{user}"));
    let member = members(&object, uid);
    with(
        &object,
        [("id", id), ("password", password), ("member", member)],
    )
}

/// The attributes that follow from others, and those that have defaults.
fn computed(object: &Value, region: Value) -> Value {
    let object = with(
        object,
        [
            ("echo", echo(&get(object, "value"))),
            ("region", region),
            ("secret_wo", Value::null(Type::String)),
            ("rule", rules(&get(object, "rule"))),
        ],
    );
    match get(&object, "settings") {
        settings @ Value::Object(_) if get(&settings, "level").is_null() => {
            let settings = with(&settings, [("level", Value::Number(1.into()))]);
            with(&object, [("settings", settings)])
        }
        _ => object,
    }
}

/// Text in capitals.
pub(crate) fn echo(value: &Value) -> Value {
    match value {
        Value::String(s) => Value::string(s.to_uppercase()),
        // What is known of the beginning of a text is not true of the same text in capitals.
        Value::Unknown(_) => Value::unknown(Type::String),
        other => other.clone(),
    }
}

fn rules(rules: &Value) -> Value {
    let Value::List(list) = rules else {
        return rules.clone();
    };
    let filled = list.items.iter().map(|rule| match get(rule, "transport") {
        Value::Null(_) => with(rule, [("transport", Value::string("tcp"))]),
        _ => rule.clone(),
    });
    Value::list(list.element.clone(), filled.collect())
}

/// The members with `uid` where it is missing.
fn members(object: &Value, uid: impl Fn(&str) -> Value) -> Value {
    let Value::Set(set) = get(object, "member") else {
        return get(object, "member");
    };
    let filled = set.items.iter().map(|member| {
        if get(member, "uid").as_str().is_some() {
            return member.clone();
        }
        let user = get(member, "user");
        with(member, [("uid", uid(user.as_str().unwrap_or_default()))])
    });
    Value::set(set.element.clone(), filled.collect())
}
