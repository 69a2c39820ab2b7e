//! Providers that fail: each failure is told, and harms nothing else.

use std::sync::Arc;
use std::time::{Duration, Instant};

use nivis::provider::{ApplyResponse, Provider, RawState};
use nivis::schema::Block;
use nivis::value::{Type, Value};

use super::lab::{Lab, apply, object, plan_create};

const THING: &str = "fake_thing";

/// Creates a thing while the provider makes this mistake.
async fn create(protocol: &str, fault: &str) -> (ApplyResponse, Lab) {
    let lab = Lab::fake(&[("FAKE_PROTOCOL", protocol)]);
    let (provider, block) = lab.start(THING).await;
    let config = object(&block, r#"{"name": "a", "value": "x"}"#);
    let plan = plan_create(&*provider, THING, &config).await;
    lab.faults(&format!(r#"[{{"on": "apply", "do": "{fault}"}}]"#));
    let null = Value::null(config.ty());
    let request = apply(THING, &null, &config, &plan);
    (provider.apply(request).await, lab)
}

#[tokio::test]
async fn a_spoilt_start_says_what_is_wrong() {
    let cases = [
        ("junk", "which is not a plugin handshake"),
        ("wrong_core", "version \"2\" of the plugin handshake"),
        ("wrong_protocol", "provider protocol \"4\""),
        ("netrpc", "\"netrpc\" instead of gRPC"),
        (
            "exit",
            "ended (exit status: 3) before its handshake; it printed:\nfake provider: told to exit",
        ),
        ("no_tls", "did not answer with a certificate"),
    ];
    for (how, message) in cases {
        let lab = Lab::fake(&[("FAKE_HANDSHAKE", how)]);
        let error = lab.pool.schema("p", &lab.source).await.unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("Cannot start provider p: "), "{text}");
        assert!(text.contains(message), "{how}: {text}");
        let begin = Instant::now();
        while !lab.processes().is_empty() {
            assert!(
                begin.elapsed() < Duration::from_secs(5),
                "{how}: it still runs"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test]
async fn a_slow_or_talkative_start_is_no_failure() {
    for how in ["slow", "flood"] {
        let lab = Lab::fake(&[("FAKE_HANDSHAKE", how)]);
        lab.start(THING).await;
        lab.pool.shutdown_all().await;
        assert_eq!(lab.processes().len(), 0, "{how}");
    }
}

#[tokio::test]
async fn a_crash_shows_the_panic() {
    for protocol in ["5", "6"] {
        let (response, lab) = create(protocol, "die").await;
        assert!(response.call_failed);
        assert_eq!(response.new, None);
        let error = &response.diagnostics.0[0];
        assert_eq!(error.summary, "Plugin did not respond");
        for part in [
            "provider p ended (exit status: 2) and did not answer ApplyResourceChange",
            "panic: fake provider was told to die\n\ngoroutine 1 [running]:",
        ] {
            assert!(error.detail.contains(part), "{part}: {error}");
        }
        lab.pool.shutdown_all().await;
    }
}

#[tokio::test]
async fn bad_answers_are_the_providers_fault() {
    let cases = [
        ("wrong_type", None, "Provider produced invalid object"),
        ("error", Some(true), ""),
        ("error_with_object", Some(false), ""),
        ("absent", Some(true), ""),
        ("null", Some(true), ""),
        ("flood", Some(false), ""),
    ];
    for (fault, null, summary) in cases {
        let (response, lab) = create("6", fault).await;
        assert!(!response.call_failed, "{fault}");
        assert_eq!(response.new.as_ref().map(Value::is_null), null, "{fault}");
        if !summary.is_empty() {
            assert_eq!(response.diagnostics.0[0].summary, summary, "{fault}");
        }
        let told = fault.starts_with("error") || !summary.is_empty();
        assert_eq!(response.diagnostics.has_errors(), told, "{fault}");
        lab.pool.shutdown_all().await;
    }
}

#[tokio::test]
async fn a_failed_call_does_not_end_the_conversation() {
    let (response, lab) = create("6", "unavailable").await;
    assert!(response.call_failed);
    assert_eq!(response.diagnostics.0[0].summary, "Plugin did not respond");
    lab.faults("[]");
    let (provider, block) = lab.start(THING).await;
    let config = object(&block, r#"{"name": "a"}"#);
    plan_create(&*provider, THING, &config).await;
    lab.pool.shutdown_all().await;
}

async fn data(lab: &Lab, fault: &str) -> String {
    let (provider, _) = lab.start(THING).await;
    let block: Block = provider.schema().data_sources[THING].block.clone();
    let config = object(&block, r#"{"name": "a"}"#);
    lab.faults(&format!(r#"[{{"on": "read_data", "do": "{fault}"}}]"#));
    let error = provider.read_data(THING, &config).await.unwrap_err();
    error.0[0].summary.clone()
}

#[tokio::test]
async fn a_data_source_gives_a_whole_object() {
    let lab = Lab::fake(&[]);
    assert_eq!(data(&lab, "null").await, "Provider produced null object");
    assert_eq!(data(&lab, "absent").await, "Provider produced null object");
    let invalid = "Provider produced invalid object";
    assert_eq!(data(&lab, "wrong_type").await, invalid);
    assert_eq!(data(&lab, "unknown_after_apply").await, invalid);
    lab.pool.shutdown_all().await;
}

#[tokio::test]
async fn a_provider_that_cannot_be_configured_is_asked_once() {
    let lab = Lab::fake(&[]);
    lab.faults(r#"[{"on": "configure", "do": "error"}]"#);
    let schema = lab.pool.schema("p", &lab.source).await.unwrap();
    let config = object(&schema.provider.block, "{}");
    for _ in 0..3 {
        let failed = lab.pool.configured("p", &lab.source, &config).await;
        assert!(failed.is_err());
    }
    assert_eq!(lab.calls("ConfigureProvider"), 1);
    lab.pool.shutdown_all().await;
}

#[tokio::test]
async fn warnings_of_the_configuration_are_told_once() {
    let lab = Lab::fake(&[]);
    lab.faults(r#"[{"on": "configure", "do": "warning"}]"#);
    let schema = lab.pool.schema("p", &lab.source).await.unwrap();
    let config = object(&schema.provider.block, "{}");
    let mut warnings = Vec::new();
    for _ in 0..2 {
        let configured = lab.pool.configured("p", &lab.source, &config).await;
        warnings.push(configured.unwrap().1.0.len());
    }
    assert_eq!(warnings, [1, 0]);
    lab.pool.shutdown_all().await;
}

#[tokio::test]
async fn unknown_configuration_gets_a_process_of_its_own() {
    let lab = Lab::fake(&[]);
    let schema = lab.pool.schema("p", &lab.source).await.unwrap();
    let known = object(&schema.provider.block, r#"{"endpoint": "here"}"#);
    let Value::Object(attributes) = &known else {
        panic!("{known:?}")
    };
    let mut attributes = (**attributes).clone();
    attributes.insert("endpoint".into(), Value::unknown(Type::String));
    let unknown = Value::object(attributes);
    for config in [&unknown, &known, &unknown, &known] {
        lab.pool.configured("p", &lab.source, config).await.unwrap();
    }
    assert_eq!(lab.calls("ConfigureProvider"), 2);
    assert_eq!(lab.processes().len(), 2);
    lab.pool.shutdown_all().await;
    assert_eq!(lab.processes().len(), 0);
}

/// A call that will not be answered.
async fn hanging(lab: &Lab, fault: &str) -> tokio::task::JoinHandle<ApplyResponse> {
    let (provider, block) = lab.start(THING).await;
    let config = object(&block, r#"{"name": "a"}"#);
    let plan = plan_create(&*provider, THING, &config).await;
    lab.faults(&format!(r#"[{{"on": "apply", "do": "{fault}"}}]"#));
    let provider: Arc<dyn Provider> = provider;
    let call = tokio::spawn(async move {
        let null = Value::null(config.ty());
        let request = apply(THING, &null, &config, &plan);
        provider.apply(request).await
    });
    while lab.calls("ApplyResourceChange") == 0 {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    call
}

#[tokio::test]
async fn a_provider_that_hangs_is_ended_all_the_same() {
    let lab = Lab::fake(&[]);
    let call = hanging(&lab, "hang").await;
    let begin = Instant::now();
    lab.pool.shutdown_all().await;
    assert!(begin.elapsed() < Duration::from_secs(6));
    assert_eq!(lab.processes().len(), 0);
    assert!(call.await.unwrap().call_failed);
}

#[tokio::test]
async fn stopping_lets_the_answer_come() {
    let lab = Lab::fake(&[]);
    let call = hanging(&lab, "wait_stop").await;
    lab.pool.stop_all().await;
    let response = call.await.unwrap();
    assert!(!response.call_failed);
    assert!(response.diagnostics.has_errors());
    lab.pool.shutdown_all().await;
}

#[tokio::test]
async fn a_write_only_value_that_comes_back_is_refused() {
    let lab = Lab::fake(&[]);
    let (provider, _) = lab.start(THING).await;
    let stored = RawState {
        version: 1,
        json: br#"{"name": "a", "secret_wo": "shh"}"#.to_vec(),
        ..RawState::default()
    };
    let error = provider.upgrade(THING, stored).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("write-only attribute secret_wo"), "{text}");
    assert!(!text.contains("shh"), "{text}");
    lab.pool.shutdown_all().await;
}
