//! The fake must be right before it may be wrong on purpose.

use std::path::PathBuf;

use nivis::builtin::ProviderServer as _;
use nivis::builtin::message::{decode, encode};
use nivis::builtin::object::{get, with};
use nivis::provider::proto::tfplugin6 as v6;
use nivis::value::{Type, Value, json};
use serde_json::{Value as Json, json};

use crate::fake::{Fake, Options};
use crate::resources::THING;

/// A configured provider and the folder of its files.
struct Lab {
    fake: Fake,
    folder: tempfile::TempDir,
}

/// What the provider keeps of a thing.
struct Kept {
    object: Value,
    private: Vec<u8>,
}

impl Lab {
    async fn new() -> Self {
        let lab = Self::unconfigured();
        lab.fetch_schema().await;
        let null = Value::null(lab.fake.own.clone());
        assert_eq!(lab.configure(&null).await, [""; 0]);
        lab
    }

    fn unconfigured() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| Some(folder.path().join(name));
        let fake = Fake::new(Options {
            protocol: 6,
            plan_destroy: false,
            identity_version: 0,
            filler: 0,
            record: at("record"),
            calls: at("calls"),
            faults: at("faults"),
        });
        Self { fake, folder }
    }

    async fn fetch_schema(&self) {
        let request = v6::get_provider_schema::Request {};
        self.fake.get_provider_schema(request).await.unwrap();
    }

    async fn configure(&self, config: &Value) -> Vec<String> {
        let request = v6::configure_provider::Request {
            config: Some(encode(config, &self.fake.own).unwrap()),
            ..Default::default()
        };
        summaries(
            &self
                .fake
                .configure_provider(request)
                .await
                .unwrap()
                .diagnostics,
        )
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn lines(&self, name: &str) -> Vec<Json> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect()
    }

    fn faults(&self, faults: &Json) {
        let path = self.path("faults");
        nivis::fs::atomic_write(&path, faults.to_string().as_bytes(), 0o600).unwrap();
    }

    fn thing(&self, set: &Json) -> Value {
        let mut all = json!({"rule": [], "member": []});
        all.as_object_mut()
            .unwrap()
            .extend(set.as_object().unwrap().clone());
        json::from_json(all.to_string().as_bytes(), &self.fake.thing).unwrap()
    }

    fn message(&self, value: &Value) -> v6::DynamicValue {
        encode(value, &self.fake.thing).unwrap()
    }

    fn value(&self, message: Option<&v6::DynamicValue>) -> Value {
        decode(message, &self.fake.thing).unwrap()
    }

    async fn plan(
        &self,
        prior: Option<&Kept>,
        config: &Value,
    ) -> v6::plan_resource_change::Response {
        let null = Value::null(self.fake.thing.clone());
        let (prior, private) = prior.map_or((null, Vec::new()), |k| {
            (k.object.clone(), k.private.clone())
        });
        let mut proposed = config.clone();
        for name in ["id", "password"] {
            if get(config, name).is_null() && !prior.is_null() {
                proposed = with(&proposed, [(name, get(&prior, name))]);
            }
        }
        let request = v6::plan_resource_change::Request {
            type_name: THING.to_owned(),
            prior_state: Some(self.message(&prior)),
            proposed_new_state: Some(self.message(&proposed)),
            config: Some(self.message(config)),
            prior_private: private,
            provider_meta: Some(meta()),
            ..Default::default()
        };
        self.fake.plan_resource_change(request).await.unwrap()
    }

    async fn apply(
        &self,
        prior: Option<&Kept>,
        planned: &Value,
        config: &Value,
    ) -> v6::apply_resource_change::Response {
        let null = Value::null(self.fake.thing.clone());
        let request = v6::apply_resource_change::Request {
            type_name: THING.to_owned(),
            prior_state: Some(self.message(prior.map_or(&null, |k| &k.object))),
            planned_state: Some(self.message(planned)),
            config: Some(self.message(config)),
            planned_private: b"planned".to_vec(),
            provider_meta: Some(meta()),
            ..Default::default()
        };
        self.fake.apply_resource_change(request).await.unwrap()
    }

    /// Plans and applies.
    async fn make(&self, prior: Option<&Kept>, config: &Value) -> Kept {
        let plan = self.plan(prior, config).await;
        let planned = self.value(plan.planned_state.as_ref());
        let applied = self.apply(prior, &planned, config).await;
        assert_eq!(summaries(&applied.diagnostics), [""; 0]);
        Kept {
            object: self.value(applied.new_state.as_ref()),
            private: applied.private,
        }
    }

    async fn read(&self, kept: &Kept) -> Value {
        let request = v6::read_resource::Request {
            type_name: THING.to_owned(),
            current_state: Some(self.message(&kept.object)),
            private: kept.private.clone(),
            provider_meta: Some(meta()),
            ..Default::default()
        };
        self.value(
            self.fake
                .read_resource(request)
                .await
                .unwrap()
                .new_state
                .as_ref(),
        )
    }
}

/// Metadata of nobody.
fn meta() -> v6::DynamicValue {
    v6::DynamicValue {
        msgpack: vec![0xc0],
        json: Vec::new(),
    }
}

fn summaries(diagnostics: &[v6::Diagnostic]) -> Vec<String> {
    diagnostics.iter().map(|d| d.summary.clone()).collect()
}

#[tokio::test]
async fn a_second_plan_is_empty_and_a_record_is_kept() {
    let lab = Lab::new().await;
    let config = lab.thing(&json!({
        "name": "a", "value": "x", "size": 3, "settings": {"mode": "m"},
        "rule": [{"port": 80}], "member": [{"user": "u"}, {"user": "v"}],
    }));
    let kept = lab.make(None, &config).await;
    assert!(kept.object.is_wholly_known());
    for (name, expected) in [("id", "a-1"), ("echo", "X"), ("password", "pw-a-1")] {
        assert_eq!(get(&kept.object, name), Value::string(expected));
    }
    assert_eq!(lab.read(&kept).await, kept.object);
    // What a host proposes here: everything computed as it was.
    let again = lab.plan(Some(&kept), &kept.object).await;
    assert_eq!(lab.value(again.planned_state.as_ref()), kept.object);
    assert_eq!(again.requires_replace, []);
    let second = lab.make(None, &config).await;
    assert_eq!(get(&second.object, "id"), Value::string("a-2"));
    let ops: Vec<_> = lab
        .lines("record")
        .iter()
        .map(|l| l["op"].clone())
        .collect();
    assert_eq!(ops, ["create", "create"]);
}

#[tokio::test]
async fn the_record_is_the_world() {
    let lab = Lab::new().await;
    let kept = lab
        .make(None, &lab.thing(&json!({"name": "a", "value": "x"})))
        .await;
    let note = |op: &str, object: Json| {
        let world = crate::world::World(lab.path("record"));
        world.note(op, THING, "a-1", &object).unwrap();
    };
    note("update", json!({"value": "drifted", "tags": {"k": "v"}}));
    let drifted = lab.read(&kept).await;
    assert_eq!(get(&drifted, "value"), Value::string("drifted"));
    let tags = Value::map(Type::String, [("k", Value::string("v"))]);
    assert_eq!(get(&drifted, "tags"), tags);
    assert_eq!(get(&drifted, "name"), Value::string("a"));
    note("delete", Json::Null);
    assert!(lab.read(&kept).await.is_null());
}

#[tokio::test]
async fn calls_are_logged_with_their_objects() {
    let lab = Lab::new().await;
    let unknown = Value::unknown(Type::String);
    let config = with(&lab.thing(&json!({"name": "a"})), [("value", unknown)]);
    lab.plan(None, &config).await;
    let calls = lab.lines("calls");
    let rpcs: Vec<_> = calls.iter().map(|c| c["rpc"].clone()).collect();
    assert_eq!(
        rpcs,
        [
            "GetProviderSchema",
            "ConfigureProvider",
            "PlanResourceChange"
        ]
    );
    let plan = &calls[2];
    assert_eq!(plan["config"]["value"], json!({"__unknown": true}));
    assert_eq!(
        (&plan["type"], &plan["prior"]),
        (&json!(THING), &Json::Null)
    );
}

#[tokio::test]
async fn faults_are_carried_out() {
    let config = json!({"name": "a", "value": "x"});
    for (what, errors, recorded, value) in [
        ("error", 1, 0, None),
        ("error_with_object", 1, 1, Some("x")),
        ("inconsistent", 0, 1, Some("inconsistent")),
        ("null", 0, 1, None),
        ("absent", 0, 1, None),
        ("slow:1", 0, 1, Some("x")),
        ("warning", 1, 1, Some("x")),
    ] {
        let lab = Lab::new().await;
        lab.faults(&json!([{"on": "create", "match": {"name": "a"}, "do": what, "legacy": true}]));
        let config = lab.thing(&config);
        let plan = lab.plan(None, &config).await;
        assert!(!plan.legacy_type_system);
        let planned = lab.value(plan.planned_state.as_ref());
        let applied = lab.apply(None, &planned, &config).await;
        assert_eq!(applied.diagnostics.len(), errors, "{what}");
        assert_eq!(lab.lines("record").len(), recorded, "{what}");
        let new = lab.value(applied.new_state.as_ref());
        assert_eq!(get(&new, "value").as_str(), value, "{what}");
        assert!(applied.legacy_type_system);
    }
}

#[tokio::test]
async fn spoilt_answers_are_spoilt() {
    let lab = Lab::new().await;
    let config = lab.thing(&json!({"name": "a", "value": "x"}));
    lab.faults(
        &json!([{"on": "apply", "do": "unknown_after_apply"}, {"on": "plan", "do": "replace"}]),
    );
    let plan = lab.plan(None, &config).await;
    assert_eq!(plan.requires_replace.len(), 1);
    let planned = lab.value(plan.planned_state.as_ref());
    let applied = lab.apply(None, &planned, &config).await;
    assert!(!get(&lab.value(applied.new_state.as_ref()), "echo").is_known());
    lab.faults(&json!([{"on": "plan", "do": "wrong_type"}]));
    let plan = lab.plan(None, &config).await;
    assert!(decode(plan.planned_state.as_ref(), &lab.fake.thing).is_err());
    lab.faults(&json!([{"on": "plan", "do": "change_private"}]));
    assert_eq!(lab.plan(None, &config).await.planned_private, b"changed");
}

#[tokio::test]
async fn stopping_ends_a_wait() {
    let lab = Lab::new().await;
    lab.faults(&json!([{"on": "create", "do": "wait_stop"}]));
    let config = lab.thing(&json!({"name": "a"}));
    let planned = lab.value(lab.plan(None, &config).await.planned_state.as_ref());
    let stop = async {
        tokio::task::yield_now().await;
        lab.fake
            .stop_provider(v6::stop_provider::Request {})
            .await
            .unwrap();
    };
    let (applied, ()) = tokio::join!(lab.apply(None, &planned, &config), stop);
    assert_eq!(summaries(&applied.diagnostics), ["Stopped"]);
    assert!(lab.lines("record").is_empty());
}

#[tokio::test]
async fn mistakes_of_the_host_are_told() {
    let told = |diagnostics: &[v6::Diagnostic], what: &str| {
        assert!(
            summaries(diagnostics).iter().any(|s| s.contains(what)),
            "{what}: {diagnostics:?}"
        );
    };
    let lab = Lab::unconfigured();
    let config = lab.thing(&json!({"name": "a"}));
    let early = lab.plan(None, &config).await;
    told(&early.diagnostics, "before the schema");
    told(&early.diagnostics, "configured provider");

    let lab = Lab::new().await;
    assert_eq!(
        lab.configure(&Value::null(lab.fake.own.clone()))
            .await
            .len(),
        1
    );
    let marker = json!({"name": "a", "extra": {"type": ["object", {"__ref": "string"}], "value": {"__ref": "x"}}});
    told(
        &lab.plan(None, &lab.thing(&marker)).await.diagnostics,
        "marker",
    );
    let kept = Kept {
        private: Vec::new(),
        ..lab.make(None, &config).await
    };
    told(
        &lab.plan(Some(&kept), &config).await.diagnostics,
        "private bytes",
    );
    let open = with(&config, [("value", Value::unknown(Type::String))]);
    told(
        &lab.apply(None, &open, &open).await.diagnostics,
        "not wholly known",
    );

    let lab = Lab::unconfigured();
    lab.fetch_schema().await;
    let own = json::from_json(b"{}", &lab.fake.own).unwrap();
    lab.configure(&with(&own, [("endpoint", Value::unknown(Type::String))]))
        .await;
    let planned = lab.value(lab.plan(None, &config).await.planned_state.as_ref());
    told(
        &lab.apply(None, &planned, &config).await.diagnostics,
        "endpoint",
    );
}

#[tokio::test]
async fn old_state_is_upgraded_and_imports_are_looked_up() {
    let lab = Lab::new().await;
    let request = |version, raw: &str| v6::upgrade_resource_state::Request {
        type_name: THING.to_owned(),
        version,
        raw_state: Some(v6::RawState {
            json: raw.into(),
            ..Default::default()
        }),
    };
    let old = request(0, r#"{"name":"a","label":"old","gone":1}"#);
    let upgraded = lab.fake.upgrade_resource_state(old).await.unwrap();
    let object = lab.value(upgraded.upgraded_state.as_ref());
    assert_eq!(get(&object, "value"), Value::string("old"));

    let kept = lab.make(None, &lab.thing(&json!({"name": "a"}))).await;
    let import = |id: &str| v6::import_resource_state::Request {
        type_name: THING.to_owned(),
        id: id.to_owned(),
        ..Default::default()
    };
    let found = lab.fake.import_resource_state(import("a-1")).await.unwrap();
    assert_eq!(
        lab.value(found.imported_resources[0].state.as_ref()),
        kept.object
    );
    let missing = lab.fake.import_resource_state(import("a-2")).await.unwrap();
    assert_eq!(summaries(&missing.diagnostics), ["Nothing to import"]);
}
