//! What happens during an apply, as lines for people.

use std::time::Duration;

use crate::apply::event::Event;
use crate::cli::ui::Ui;
use crate::plan::Action;

/// Shows one event on stderr.
pub(super) fn show(ui: Ui, event: &Event) {
    ui.err(&line(event));
}

fn line(event: &Event) -> String {
    match event {
        Event::Started { id, action } => format!("{id}: {}...\n", doing(*action)),
        Event::Finished {
            id,
            action: Action::NoOp,
            ..
        } => format!("{id}: nothing to do after all\n"),
        Event::Finished {
            id,
            action,
            elapsed,
            shown_id,
        } => {
            let shown = shown_id
                .as_ref()
                .map(|id| format!(" [id={id}]"))
                .unwrap_or_default();
            format!(
                "{id}: {} complete after {}{shown}\n",
                done(*action),
                seconds(*elapsed)
            )
        }
        Event::Failed {
            id,
            action,
            elapsed,
        } => {
            format!(
                "{id}: {} failed after {}\n",
                done(*action),
                seconds(*elapsed)
            )
        }
        Event::Evaluating { phase, waiting } => {
            let steps = if *waiting == 1 {
                "1 step waits"
            } else {
                &format!("{waiting} steps wait")
            };
            format!("phase {phase}: evaluating with the new outputs ({steps})...\n")
        }
        Event::Building { builds } => format!("building {builds} derivation(s)...\n"),
        Event::Stopping => {
            "interrupted: waiting for running operations to end; interrupt again to leave at once\n"
                .to_owned()
        }
    }
}

fn doing(action: Action) -> &'static str {
    match action {
        Action::Create => "creating",
        Action::Update => "updating",
        Action::Delete => "destroying",
        Action::Read => "reading",
        _ => "working",
    }
}

fn done(action: Action) -> &'static str {
    match action {
        Action::Create => "creation",
        Action::Update => "update",
        Action::Delete => "destruction",
        Action::Read => "read",
        _ => "work",
    }
}

fn seconds(elapsed: Duration) -> String {
    let s = elapsed.as_secs();
    if s < 60 {
        format!("{s}s")
    } else {
        format!("{}m{:02}s", s / 60, s % 60)
    }
}
