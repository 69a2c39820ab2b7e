//! What happens during an apply, one JSON object a line, as Terraform's "machine-readable UI" has it.

use serde_json::{Map, Value as Json, json};

use crate::apply::event::Event;
use crate::plan::Action;

/// One line, without its end. `at` is the time (RFC 3339).
pub fn event_line(event: &Event, at: &str) -> String {
    let (kind, message, more) = describe(event);
    let mut line = Map::new();
    line.insert(
        "@level".to_owned(),
        if kind == "apply_errored" {
            "error"
        } else {
            "info"
        }
        .into(),
    );
    line.insert("@message".to_owned(), message.into());
    line.insert("@module".to_owned(), "nivis.ui".into());
    line.insert("@timestamp".to_owned(), at.into());
    line.insert("type".to_owned(), kind.into());
    line.extend(more);
    Json::Object(line).to_string()
}

fn describe(event: &Event) -> (&'static str, String, Option<(String, Json)>) {
    let hook = |id: &str, action: Action, more: Json| {
        let mut hook = Map::new();
        hook.insert("resource".to_owned(), json!({ "nivis_id": id }));
        hook.insert("action".to_owned(), verb(action).into());
        if let Json::Object(more) = more {
            hook.extend(more);
        }
        Some(("hook".to_owned(), Json::Object(hook)))
    };
    match event {
        Event::Started { id, action } => (
            "apply_start",
            format!("{id}: {} started", verb(*action)),
            hook(id, *action, json!({})),
        ),
        Event::Finished {
            id,
            action,
            elapsed,
            shown_id,
        } => {
            let mut more = json!({ "elapsed_seconds": elapsed.as_secs() });
            if let Some(value) = shown_id {
                more["id_key"] = "id".into();
                more["id_value"] = value.as_str().into();
            }
            let message = format!(
                "{id}: {} complete after {}s",
                verb(*action),
                elapsed.as_secs()
            );
            ("apply_complete", message, hook(id, *action, more))
        }
        Event::Failed {
            id,
            action,
            elapsed,
        } => {
            let message = format!(
                "{id}: {} failed after {}s",
                verb(*action),
                elapsed.as_secs()
            );
            let more = json!({ "elapsed_seconds": elapsed.as_secs() });
            ("apply_errored", message, hook(id, *action, more))
        }
        Event::Evaluating { phase, waiting } => {
            let more = json!({ "phase": phase, "waiting": waiting });
            (
                "evaluation_start",
                format!("evaluating phase {phase}"),
                Some(("nivis".to_owned(), more)),
            )
        }
        Event::Building { builds } => {
            let more = json!({ "builds": builds });
            (
                "build_start",
                format!("building {builds} derivations"),
                Some(("nivis".to_owned(), more)),
            )
        }
        Event::Stopping => (
            "log",
            "interrupted: waiting for running operations to end".to_owned(),
            None,
        ),
    }
}

fn verb(action: Action) -> &'static str {
    match action {
        Action::NoOp => "noop",
        Action::Read => "read",
        Action::Create => "create",
        Action::Update => "update",
        Action::DeleteThenCreate | Action::CreateThenDelete => "replace",
        Action::Delete => "delete",
        Action::Forget => "forget",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn lines() {
        let id = || "a.t.x".to_owned();
        let elapsed = Duration::from_millis(2_900);
        let events = [
            Event::Started {
                id: id(),
                action: Action::Create,
            },
            Event::Finished {
                id: id(),
                action: Action::Create,
                elapsed,
                shown_id: Some("i-1".to_owned()),
            },
            Event::Failed {
                id: id(),
                action: Action::Delete,
                elapsed,
            },
            Event::Evaluating {
                phase: 2,
                waiting: 3,
            },
            Event::Building { builds: 1 },
            Event::Stopping,
        ];
        let lines: Vec<String> = events
            .iter()
            .map(|e| event_line(e, "2026-01-01T00:00:00Z"))
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        {"@level":"info","@message":"a.t.x: create started","@module":"nivis.ui","@timestamp":"2026-01-01T00:00:00Z","hook":{"action":"create","resource":{"nivis_id":"a.t.x"}},"type":"apply_start"}
        {"@level":"info","@message":"a.t.x: create complete after 2s","@module":"nivis.ui","@timestamp":"2026-01-01T00:00:00Z","hook":{"action":"create","elapsed_seconds":2,"id_key":"id","id_value":"i-1","resource":{"nivis_id":"a.t.x"}},"type":"apply_complete"}
        {"@level":"error","@message":"a.t.x: delete failed after 2s","@module":"nivis.ui","@timestamp":"2026-01-01T00:00:00Z","hook":{"action":"delete","elapsed_seconds":2,"resource":{"nivis_id":"a.t.x"}},"type":"apply_errored"}
        {"@level":"info","@message":"evaluating phase 2","@module":"nivis.ui","@timestamp":"2026-01-01T00:00:00Z","nivis":{"phase":2,"waiting":3},"type":"evaluation_start"}
        {"@level":"info","@message":"building 1 derivations","@module":"nivis.ui","@timestamp":"2026-01-01T00:00:00Z","nivis":{"builds":1},"type":"build_start"}
        {"@level":"info","@message":"interrupted: waiting for running operations to end","@module":"nivis.ui","@timestamp":"2026-01-01T00:00:00Z","type":"log"}
        "#);
    }
}
