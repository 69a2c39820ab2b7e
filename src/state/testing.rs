//! Arbitrary states, and small ones, for tests.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

use super::{
    CheckRecord, CheckStatus, CheckSubject, DeriveInput, Extra, Intent, Object, Operation, Outcome,
    OutputValue, Record, ResourceState, State, Status,
};
use crate::addr::Id;
use crate::ir::{Index, Ref};
use crate::value::{Path, PathSet, Step};

/// JSON text as a codec would print it, with numbers no float can hold.
fn json() -> impl Strategy<Value = Vec<u8>> {
    let number = "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,30})?([eE][-+]?[0-9]{1,4})?";
    let string = any::<String>().prop_map(|s| serde_json::Value::from(s).to_string());
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        number,
        string
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            vec(inner, 0..4).prop_map(|items| object_text(&items)),
        ]
    })
    .prop_map(String::into_bytes)
}

fn object_text(values: &[String]) -> String {
    let members: Vec<_> = values
        .iter()
        .zip(0..)
        .map(|(v, i)| format!("\"m{i}\": {v}"))
        .collect();
    format!("{{{}}}", members.join(", "))
}

fn extra() -> impl Strategy<Value = Extra> {
    btree_map("later_[a-z]{1,4}", json(), 0..2)
}

fn path() -> impl Strategy<Value = Path> {
    let step = prop_oneof![
        any::<String>().prop_map(|s| Step::Attribute(s.into())),
        any::<String>().prop_map(|s| Step::Key(s.into())),
        any::<u64>().prop_map(Step::Index),
    ];
    vec(step, 0..4).prop_map(Path)
}

fn id() -> impl Strategy<Value = Id> {
    any::<String>().prop_map(Id::from)
}

prop_compose! {
    fn object()(
        tainted: bool,
        schema_version: i64,
        attributes in json(),
        flat in proptest::option::weighted(0.2, btree_map(".*", ".*", 0..3)),
        sensitive in btree_set(path(), 0..3),
        private in vec(any::<u8>(), 0..20),
        identity in proptest::option::of((any::<i64>(), json())),
        dependencies in btree_set(id(), 0..3),
        create_before_destroy: bool,
        extra in extra(),
    ) -> Object {
        Object {
            status: if tainted { Status::Tainted } else { Status::Ready },
            schema_version,
            attributes: if flat.is_some() { Vec::new() } else { attributes },
            flat,
            sensitive: PathSet(sensitive),
            private,
            identity,
            dependencies: Vec::from_iter(dependencies),
            create_before_destroy,
            extra,
        }
    }
}

prop_compose! {
    fn resource()(
        words in [".*", ".*", ".*", ".*"],
        index in proptest::option::of(prop_oneof![
            any::<u64>().prop_map(Index::Number),
            any::<String>().prop_map(|s| Index::Key(s.into())),
        ]),
        current in object(),
        deposed in btree_map("[0-9a-f]{8}", object(), 0..2),
        gone: bool,
        extra in extra(),
    ) -> ResourceState {
        let [provider, provider_source, ty, name] = words;
        let current = (deposed.is_empty() || !gone).then_some(current);
        ResourceState { provider, provider_source, ty, name, index, current, deposed, extra }
    }
}

prop_compose! {
    fn output()(value in json(), sensitive: bool, extra in extra()) -> OutputValue {
        OutputValue { value, sensitive, extra }
    }
}

fn check_record() -> impl Strategy<Value = CheckRecord> {
    let status = prop_oneof![
        Just(CheckStatus::Pass),
        Just(CheckStatus::Unknown),
        Just(CheckStatus::Fail),
        Just(CheckStatus::Error),
    ];
    let subject = prop_oneof![
        id().prop_map(CheckSubject::Object),
        any::<String>().prop_map(CheckSubject::Check),
    ];
    (subject, status, vec(any::<String>(), 0..3)).prop_map(|(subject, status, messages)| {
        CheckRecord {
            subject,
            status,
            messages,
        }
    })
}

prop_compose! {
    fn derive_input()(resource in id(), path in path(), value in json()) -> DeriveInput {
        DeriveInput { input: Ref { resource, path }, value }
    }
}

prop_compose! {
    pub(super) fn state()(
        serial: u64,
        lineage in ".+",
        resources in btree_map(id(), resource(), 0..4),
        outputs in btree_map(any::<String>(), output(), 0..3),
        derive_inputs in vec(derive_input(), 0..3),
        check_results in vec(check_record(), 0..3),
        extra in extra(),
    ) -> State {
        State { serial, lineage, resources, outputs, derive_inputs, check_results, extra }
    }
}

/// Any record.
pub(super) fn record() -> impl Strategy<Value = Record> {
    let operation = prop_oneof![
        Just(Operation::Create),
        Just(Operation::Update),
        Just(Operation::Delete)
    ];
    let key = || proptest::option::of("[0-9a-f]{8}");
    prop_oneof![
        (id(), key(), operation).prop_map(|(id, key, op)| Record::Intent(Intent::new(id, key, op))),
        (id(), key(), proptest::option::of(resource())).prop_map(|(id, deposed, resource)| {
            Record::from(Outcome {
                id,
                deposed,
                resource,
            })
        }),
        btree_map(any::<String>(), output(), 0..3).prop_map(Record::Outputs),
        vec(derive_input(), 0..3).prop_map(Record::DeriveInputs),
        vec(check_record(), 0..3).prop_map(Record::CheckResults),
    ]
}

/// A state with one of everything, the same every time.
pub(super) fn sample() -> State {
    let object = Object {
        status: Status::Tainted,
        schema_version: 1,
        attributes: br#"{"id":"lynx","length":2,"seed":12345678901234567890.10}"#.to_vec(),
        flat: None,
        sensitive: PathSet(BTreeSet::from([Path::root()
            .attribute("tags")
            .key("a")
            .index(0)])),
        private: b"\x00\xff".to_vec(),
        identity: Some((0, br#"{"id":"lynx"}"#.to_vec())),
        dependencies: vec![Id::from("random.random_id.seed")],
        create_before_destroy: true,
        extra: Extra::new(),
    };
    let resource = ResourceState {
        provider: "random".to_owned(),
        provider_source: "hashicorp/random".to_owned(),
        ty: "random_pet".to_owned(),
        name: "host__a".to_owned(),
        index: Some(Index::Key("a".into())),
        current: Some(object.clone()),
        deposed: BTreeMap::from([("0a1b2c3d".to_owned(), object)]),
        extra: Extra::new(),
    };
    State {
        serial: 7,
        lineage: "f7a3c1de-0000-4000-8000-000000000000".to_owned(),
        resources: BTreeMap::from([
            (Id::from("random.random_pet.host__a"), resource),
            (Id::from("random.random_id.seed"), plain("1")),
        ]),
        outputs: BTreeMap::from([(
            "url".to_owned(),
            OutputValue {
                value: r#""https://lynx/é""#.into(),
                sensitive: true,
                extra: Extra::new(),
            },
        )]),
        derive_inputs: vec![DeriveInput {
            input: Ref {
                resource: Id::from("random.random_id.seed"),
                path: Path::root().attribute("hex"),
            },
            value: r#""c0ffee""#.into(),
        }],
        check_results: Vec::new(),
        extra: Extra::new(),
    }
}

/// A resource with the attribute `id`.
pub(super) fn plain(id: &str) -> ResourceState {
    ResourceState {
        provider: "random".to_owned(),
        provider_source: "hashicorp/random".to_owned(),
        ty: "random_id".to_owned(),
        name: "seed".to_owned(),
        current: Some(Object {
            attributes: format!(r#"{{"id":"{id}"}}"#).into_bytes(),
            ..Object::default()
        }),
        ..ResourceState::default()
    }
}

/// The block of this language in the documentation of the formats.
pub(super) fn documented(language: &str) -> String {
    let page = include_str!("../../docs/reference/state-file.md");
    let begin = format!("```{language}\n");
    let block = page.split_once(&begin).unwrap().1;
    block.split_once("```").unwrap().0.to_owned()
}
