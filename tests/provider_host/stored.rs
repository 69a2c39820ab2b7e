//! Objects that an earlier version, or another provider, has stored.

use nivis::provider::{Identity, ImportRequest, MoveRequest, RawState, ReadRequest};
use nivis::value::Value;

use super::lab::{Lab, apply, object, plan_create};

const THING: &str = "fake_thing";

fn stored(version: i64, json: &str) -> RawState {
    RawState {
        version,
        json: json.as_bytes().to_owned(),
        ..RawState::default()
    }
}

fn identity(id: &str) -> Identity {
    Identity {
        version: 0,
        value: Value::object([("id", Value::string(id))]),
    }
}

#[tokio::test]
async fn older_schema_versions_are_upgraded_by_the_provider() {
    for protocol in ["5", "6"] {
        let lab = Lab::fake(&[("FAKE_PROTOCOL", protocol)]);
        let (provider, block) = lab.start(THING).await;
        let old = stored(0, r#"{"name": "a", "label": "x", "gone": [1]}"#);
        let (upgraded, _) = provider.upgrade(THING, old).await.unwrap();
        let expected = object(
            &block,
            r#"{"name": "a", "value": "x", "rule": [], "member": []}"#,
        );
        assert_eq!(upgraded, expected);
        let (found, _) = provider
            .upgrade_identity(THING, stored(0, r#"{"id": "a-1"}"#))
            .await
            .unwrap();
        assert_eq!(found, identity("a-1"));
        let newer = provider.upgrade_identity(THING, stored(1, "{}")).await;
        assert!(
            newer
                .unwrap_err()
                .to_string()
                .contains("newer provider version")
        );
        lab.pool.shutdown_all().await;
    }
}

#[tokio::test]
async fn objects_of_other_types_are_moved() {
    let lab = Lab::fake(&[]);
    let (provider, block) = lab.start(THING).await;
    let request = MoveRequest {
        source_provider: "registry.terraform.io/hashicorp/null",
        source_ty: "null_resource",
        source: stored(0, r#"{"id": "a-1", "name": "a", "triggers": {}}"#),
        source_private: b"theirs",
        source_identity: None,
        ty: THING,
    };
    let moved = provider.move_state(request).await.unwrap();
    let expected = r#"{"id": "a-1", "name": "a", "rule": [], "member": []}"#;
    assert_eq!(moved.value, object(&block, expected));
    assert_eq!(moved.private, b"moved");
    assert_eq!(moved.identity, Some(identity("a-1")));
    lab.pool.shutdown_all().await;
}

#[tokio::test]
async fn identities_go_there_and_back() {
    let lab = Lab::fake(&[]);
    let (provider, block) = lab.start(THING).await;
    let config = object(&block, r#"{"name": "a"}"#);
    let plan = plan_create(&*provider, THING, &config).await;
    assert_eq!(plan.identity, None);
    let null = Value::null(config.ty());
    let created = provider.apply(apply(THING, &null, &config, &plan)).await;
    assert_eq!(created.identity, Some(identity("a-1")));
    let read = ReadRequest {
        ty: THING,
        current: created.new.as_ref().unwrap(),
        private: &created.private,
        identity: created.identity.as_ref(),
    };
    let read = provider.read(read).await.unwrap();
    assert_eq!(read.identity, Some(identity("a-1")));

    let import = ImportRequest::Identity {
        ty: THING,
        identity: &identity("b-1"),
    };
    let (found, _) = provider.import(import).await.unwrap();
    assert_eq!(found[0].identity, Some(identity("b-1")));
    assert_eq!(found[0].private, b"imported");
    lab.pool.shutdown_all().await;

    let lab = Lab::builtin("6");
    let (provider, _) = lab.start("builtin_data").await;
    let import = ImportRequest::Identity {
        ty: "builtin_data",
        identity: &identity("b-1"),
    };
    let error = provider.import(import).await.unwrap_err().to_string();
    assert!(error.contains("builtin_data has no identity"), "{error}");
    lab.pool.shutdown_all().await;
}
