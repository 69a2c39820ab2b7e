//! Providers of other people.

use std::time::{Duration, Instant};

use nivis::provider::{ApplyRequest, ApplyResponse, ImportRequest, RawState, ReadRequest};
use nivis::value::{Value, json};

use super::lab::{Lab, apply, object, plan_create};

#[tokio::test]
async fn an_object_of_somebody_elses_lives_and_dies() {
    let Some(lab) = Lab::new("time") else { return };
    let (provider, block) = lab.start("time_static").await;
    let config = object(&block, r#"{"triggers": {"ä": "1"}}"#);
    let null = Value::null(config.ty());
    provider
        .validate_resource("time_static", &config)
        .await
        .unwrap();

    let plan = plan_create(&*provider, "time_static", &config).await;
    let planned = plan.planned.clone().unwrap();
    assert!(!planned.attribute("rfc3339").unwrap().is_known());

    let created = provider
        .apply(apply("time_static", &null, &config, &plan))
        .await;
    assert!(!created.diagnostics.has_errors(), "{}", created.diagnostics);
    let new = created.new.unwrap();
    assert!(new.is_wholly_known());
    assert_eq!(new.attribute("triggers"), config.attribute("triggers"));

    let stored = RawState {
        version: 0,
        json: json::to_json(&new, &new.ty()).unwrap().into(),
        ..RawState::default()
    };
    let (upgraded, _) = provider.upgrade("time_static", stored).await.unwrap();
    assert_eq!(upgraded, new);

    let read = ReadRequest {
        ty: "time_static",
        current: &new,
        private: &created.private,
        identity: created.identity.as_ref(),
    };
    assert_eq!(provider.read(read).await.unwrap().new, new);

    let destroyed = provider
        .apply(ApplyRequest {
            ty: "time_static",
            prior: &new,
            planned: &null,
            config: &null,
            private: &created.private,
            identity: None,
        })
        .await;
    assert!(!destroyed.diagnostics.has_errors());
    assert!(destroyed.new.unwrap().is_null());
    lab.pool.shutdown_all().await;
}

/// Begins to create an object that takes ten minutes, and waits until the provider is at it.
async fn long_create(lab: &Lab) -> tokio::task::JoinHandle<ApplyResponse> {
    let (provider, block) = lab.start("time_sleep").await;
    let config = object(&block, r#"{"create_duration": "10m"}"#);
    let plan = plan_create(&*provider, "time_sleep", &config).await;
    let call = tokio::spawn(async move {
        let null = Value::null(config.ty());
        let request = apply("time_sleep", &null, &config, &plan);
        provider.apply(request).await
    });
    while lab.calls("ApplyResourceChange") == 0 {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    call
}

#[tokio::test]
async fn a_killed_provider_is_named_with_its_signal() {
    let Some(lab) = Lab::new("time") else { return };
    let call = long_create(&lab).await;
    lab.kill_all();
    let response = call.await.unwrap();
    assert!(response.call_failed);
    assert_eq!(response.new, None);
    let error = &response.diagnostics.0[0];
    assert_eq!(error.summary, "Plugin did not respond");
    for part in ["provider p", "SIGKILL", "ApplyResourceChange"] {
        assert!(error.detail.contains(part), "{part}: {error}");
    }
    assert_eq!(lab.sockets(), 0);

    let begin = Instant::now();
    lab.pool.shutdown_all().await;
    assert!(begin.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn stopping_ends_what_runs_and_its_result_is_kept() {
    let Some(lab) = Lab::new("time") else { return };
    let call = long_create(&lab).await;
    lab.pool.stop_all().await;
    let response = tokio::time::timeout(Duration::from_secs(10), call).await;
    let response = response.unwrap().unwrap();
    assert!(!response.call_failed, "{}", response.diagnostics);
    assert!(response.diagnostics.has_errors());
    lab.pool.shutdown_all().await;
}

#[tokio::test]
async fn nothing_is_left_after_the_shutdown() {
    let Some(lab) = Lab::new("time") else { return };
    lab.start("time_static").await;
    assert_eq!((lab.processes().len(), lab.sockets()), (1, 1));
    let begin = Instant::now();
    lab.pool.shutdown_all().await;
    assert!(
        begin.elapsed() < Duration::from_secs(1),
        "it had to be killed"
    );
    assert_eq!((lab.processes().len(), lab.sockets()), (0, 0));
}

#[tokio::test]
async fn a_call_that_hangs_does_not_keep_the_process() {
    let Some(lab) = Lab::new("time") else { return };
    let call = long_create(&lab).await;
    lab.pool.shutdown_all().await;
    assert_eq!((lab.processes().len(), lab.sockets()), (0, 0));
    assert!(call.await.unwrap().call_failed);
}

#[test]
fn a_pool_that_is_dropped_leaves_no_process() {
    let Some(mut lab) = Lab::new("time") else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(lab.start("time_static"));
    assert_eq!(lab.processes().len(), 1);
    lab.pool = Lab::new("time").unwrap().pool;
    drop(runtime);
    let begin = Instant::now();
    while !lab.processes().is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(5), "it still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[tokio::test]
async fn a_process_is_configured_once_and_the_first_one_reused() {
    let Some(lab) = Lab::new("time") else { return };
    let all = (0..20).map(|_| lab.start("time_static"));
    futures_util::future::join_all(all).await;
    assert_eq!(lab.processes().len(), 1);
    for name in [
        "GetProviderSchema",
        "ValidateProviderConfig",
        "ConfigureProvider",
    ] {
        assert_eq!(lab.calls(name), 1, "{name}");
    }

    let schema = lab.pool.schema("q", &lab.source).await.unwrap();
    let config = object(&schema.provider.block, "{}");
    let other = lab.pool.configured("q", &lab.source, &config).await;
    assert_eq!(other.unwrap().0.schema(), &schema);
    assert_eq!(lab.processes().len(), 2);
    assert_eq!(lab.calls("ConfigureProvider"), 2);
    lab.pool.shutdown_all().await;
}

#[tokio::test]
async fn a_failure_is_told_to_everyone_and_happens_once() {
    let Some(lab) = Lab::new("time") else { return };
    let null = Value::null(nivis::value::Type::Bool);
    for _ in 0..2 {
        let failed = lab.pool.configured("p", &lab.source, &null).await;
        let text = failed.err().unwrap().to_string();
        assert!(text.contains("provider p"), "{text}");
    }
    assert_eq!(lab.calls("ConfigureProvider"), 0);
    lab.pool.shutdown_all().await;
}

#[tokio::test]
async fn computed_values_imports_and_data_sources_of_other_providers() {
    let Some(lab) = Lab::new("random") else {
        return;
    };
    let (provider, block) = lab.start("random_password").await;
    assert!(block.attributes["result"].sensitive);
    let config = object(&block, r#"{"length": 20, "min_upper": 3}"#);
    let plan = plan_create(&*provider, "random_password", &config).await;
    let null = Value::null(config.ty());
    let request = apply("random_password", &null, &config, &plan);
    let created = provider.apply(request).await;
    assert!(!created.diagnostics.has_errors(), "{}", created.diagnostics);
    let new = created.new.unwrap();
    let result = new.attribute("result").unwrap().as_str().unwrap();
    assert_eq!(result.chars().count(), 20);

    let import = ImportRequest::Id {
        ty: "random_password",
        id: "imported",
    };
    let (found, _) = provider.import(import).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].ty, "random_password");
    let result = found[0].value.attribute("result").unwrap();
    assert_eq!(result.as_str(), Some("imported"));
    lab.pool.shutdown_all().await;

    let Some(lab) = Lab::new("tls") else { return };
    let (provider, block) = lab.start("tls_private_key").await;
    let config = object(&block, r#"{"algorithm": "ED25519"}"#);
    let plan = plan_create(&*provider, "tls_private_key", &config).await;
    let null = Value::null(config.ty());
    let request = apply("tls_private_key", &null, &config, &plan);
    let key = provider.apply(request).await.new.unwrap();
    let data = &provider.schema().data_sources["tls_public_key"].block;
    let pem = key.attribute("private_key_pem").unwrap().as_str().unwrap();
    let config = object(data, "{}");
    let Value::Object(attributes) = &config else {
        panic!("{config:?}")
    };
    let mut attributes = (**attributes).clone();
    attributes.insert("private_key_pem".into(), Value::string(pem));
    let config = Value::object(attributes);
    provider
        .validate_data("tls_public_key", &config)
        .await
        .unwrap();
    let (read, _) = provider.read_data("tls_public_key", &config).await.unwrap();
    assert_eq!(
        read.attribute("public_key_openssh"),
        key.attribute("public_key_openssh")
    );
    lab.pool.shutdown_all().await;
}
