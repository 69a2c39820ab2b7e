//! The provider inside nivis, over the real protocol.

use nivis::provider::{PlanRequest, RawState};
use nivis::value::{Path, Value};

use super::lab::{Lab, apply, object, plan_create};

#[tokio::test]
async fn both_protocols_carry_the_same_values() {
    for protocol in ["5", "6"] {
        let lab = Lab::builtin(protocol);
        let (provider, block) = lab.start("builtin_data").await;
        let text = r#"{"input": {"value": {"n": 123456789012345678901234567890.5, "l": [null, "ä"]},
            "type": ["object", {"n": "number", "l": ["tuple", ["dynamic", "string"]]}]}}"#;
        let config = object(&block, text);
        let null = Value::null(config.ty());
        provider
            .validate_resource("builtin_data", &config)
            .await
            .unwrap();
        let plan = plan_create(&*provider, "builtin_data", &config).await;
        let created = provider
            .apply(apply("builtin_data", &null, &config, &plan))
            .await;
        assert!(!created.diagnostics.has_errors(), "{}", created.diagnostics);
        let new = created.new.unwrap();
        assert_eq!(new.attribute("output"), config.attribute("input"));

        let changed = object(
            &block,
            r#"{"triggers_replace": {"value": 1, "type": "number"}}"#,
        );
        let plan = provider
            .plan(PlanRequest {
                ty: "builtin_data",
                prior: &new,
                proposed: &changed,
                config: &changed,
                private: &created.private,
                identity: None,
            })
            .await;
        assert_eq!(
            plan.requires_replace,
            [Path::root().attribute("triggers_replace")]
        );
        lab.pool.shutdown_all().await;
        assert_eq!(lab.calls("PlanResourceChange"), 2);
    }
}

#[tokio::test]
async fn misuse_is_an_error_that_says_what() {
    let lab = Lab::builtin("6");
    let (provider, block) = lab.start("builtin_data").await;
    let config = object(&block, "{}");
    let stored = |version, json: &str| RawState {
        version,
        json: json.as_bytes().to_owned(),
        ..RawState::default()
    };
    let cases = [
        (
            provider
                .validate_resource("builtin_nothing", &config)
                .await
                .err(),
            "provider p has no resource type \"builtin_nothing\"",
        ),
        (
            provider.read_data("builtin_nothing", &config).await.err(),
            "provider p has no data source type \"builtin_nothing\"",
        ),
        (
            provider
                .validate_resource("builtin_file", &config)
                .await
                .err(),
            "cannot be sent",
        ),
        (
            provider
                .upgrade("builtin_data", stored(7, "{}"))
                .await
                .err(),
            "managed by newer provider version",
        ),
        (
            provider.upgrade("builtin_data", stored(0, "{")).await.err(),
            "not valid JSON",
        ),
    ];
    for (error, message) in cases {
        let text = error.expect(message).to_string();
        assert!(text.contains(message), "{text}");
    }
    let upgraded = provider
        .upgrade("builtin_data", stored(0, r#"{"id": "x", "went_away": 1}"#))
        .await;
    assert_eq!(upgraded.unwrap().0, object(&block, r#"{"id": "x"}"#));
    lab.pool.shutdown_all().await;
    let after = provider.validate_resource("builtin_data", &config).await;
    assert!(
        after
            .unwrap_err()
            .to_string()
            .contains("Plugin did not respond")
    );
}

#[tokio::test]
async fn a_schema_told_once_is_not_asked_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut schemas = Vec::new();
    for asked in [1, 0] {
        let mut lab = Lab::builtin("5");
        lab.pool = lab.pool.caching_schemas(folder.path().join("schemas"));
        let (provider, block) = lab.start("builtin_data").await;
        let config = object(&block, "{}");
        provider
            .validate_resource("builtin_data", &config)
            .await
            .unwrap();
        assert_eq!(lab.calls("GetProviderSchema"), asked);
        assert_eq!(lab.calls("GetResourceIdentitySchemas"), asked);
        schemas.push(provider.schema().clone());
        lab.pool.shutdown_all().await;
    }
    assert_eq!(schemas[0], schemas[1]);
}

#[tokio::test]
async fn a_schema_of_60_mebibytes_is_taken_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    for (protocol, mebibytes) in [("5", 1), ("6", 60)] {
        let size = mebibytes.to_string();
        let cache = folder.path().join(protocol);
        let mut schemas = Vec::new();
        for asked in [1, 0] {
            let mut lab = Lab::fake(&[("FAKE_PROTOCOL", protocol), ("FAKE_SCHEMA_MIB", &size)]);
            lab.pool = lab.pool.caching_schemas(cache.clone());
            let (provider, block) = lab.start("fake_thing").await;
            assert!(block.attributes["name"].required);
            let filler = &provider.schema().resources["fake_filler_63"];
            assert_eq!(filler.block.attributes.len(), 64);
            assert_eq!(lab.calls("GetProviderSchema"), asked);
            schemas.push(provider.schema().clone());
            lab.pool.shutdown_all().await;
        }
        let [file] = std::fs::read_dir(&cache)
            .unwrap()
            .collect::<Vec<_>>()
            .try_into()
            .unwrap();
        assert!(file.unwrap().metadata().unwrap().len() > mebibytes << 20);
        let names = |n: usize| schemas[n].resources.keys().collect::<Vec<_>>();
        assert_eq!(names(0), names(1));
    }
}
