//! What this module has to say to people.

use super::lock::{LockError, UnlockError};
use super::record::{Intent, Operation};
use super::{Recovered, StateError};
use crate::diagnostic::{Diagnostic, Diagnostics};

impl From<StateError> for Diagnostics {
    fn from(error: StateError) -> Self {
        let summary = match &error {
            StateError::Lock(LockError::Held { .. }) => "State is locked",
            StateError::Lock(LockError::Backend(_)) | StateError::Backend(_) => {
                "Cannot reach the state"
            }
            StateError::Recover(_) => "Cannot read the state",
            StateError::Encode(_) | StateError::Unsaved { .. } => "Cannot save the state",
            StateError::NoSuccessor { .. } => "State would lose changes",
        };
        with_hint(
            Diagnostic::error(summary).detail(error.to_string()),
            error.hint(),
        )
        .into()
    }
}

impl From<UnlockError> for Diagnostics {
    fn from(error: UnlockError) -> Self {
        let hint = match &error {
            UnlockError::OtherLock { holder, .. } => Some(format!(
                "`nivis {}` of {} has it since {}",
                holder.operation, holder.who, holder.created
            )),
            UnlockError::Backend(error) => error.hint(),
            UnlockError::NotLocked { .. } => None,
        };
        with_hint(
            Diagnostic::error("Cannot unlock the state").detail(error.to_string()),
            hint,
        )
        .into()
    }
}

fn with_hint(diagnostic: Diagnostic, hint: Option<String>) -> Diagnostic {
    match hint {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    }
}

impl From<&Recovered> for Diagnostics {
    /// Warnings: nothing if the run before came to its end.
    fn from(recovered: &Recovered) -> Self {
        let mut diagnostics = Self::default();
        if recovered.outcomes > 0 {
            let detail = format!(
                "an earlier run did not end as it should; results taken over from its journal: {}",
                recovered.outcomes
            );
            diagnostics.push(Diagnostic::warning("State was recovered").detail(detail));
        }
        for intent in &recovered.in_flight {
            diagnostics.push(interrupted(intent));
        }
        diagnostics
    }
}

fn interrupted(intent: &Intent) -> Diagnostic {
    let Intent {
        id,
        deposed,
        operation,
        time,
    } = intent;
    let object = match deposed {
        Some(key) => format!("its deposed object {key}"),
        None => "its object".to_owned(),
    };
    let (what, hint) = match operation {
        Operation::Create => (
            "it may exist without being known here",
            "look for it; if it is there, delete it, or take it over with `nivis import`; else the next apply makes another",
        ),
        Operation::Update => (
            "the change may or may not have been made",
            "`nivis plan` reads the real object and shows what is left to do",
        ),
        Operation::Delete => (
            "it may or may not be gone",
            "`nivis plan` reads the real object and shows what is left to do",
        ),
    };
    Diagnostic::warning("Operation was interrupted")
        .at(id.as_str())
        .detail(format!(
            "the {operation} of {object}, begun at {time}, has no known result: {what}"
        ))
        .hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::Id;
    use crate::state::{Backend as _, LockInfo, Memory, Session};
    use std::time::Duration;

    #[test]
    fn an_undisturbed_run_says_nothing() {
        assert_eq!(
            Diagnostics::from(&Recovered::default()),
            Diagnostics::default()
        );
    }

    #[test]
    fn interrupted_operations_are_named() {
        let intent = |deposed: Option<&str>, operation| Intent {
            time: "2026-01-02T03:04:05Z".to_owned(),
            ..Intent::new(Id::from("p.t.n"), deposed.map(str::to_owned), operation)
        };
        let recovered = Recovered {
            outcomes: 2,
            in_flight: vec![
                intent(None, Operation::Create),
                intent(Some("0a1b2c3d"), Operation::Delete),
                intent(None, Operation::Update),
            ],
            torn: true,
        };
        let diagnostics = Diagnostics::from(&recovered);
        assert!(!diagnostics.has_errors());
        let expected = "\
State was recovered: an earlier run did not end as it should; results taken over from its journal: 2
p.t.n: Operation was interrupted: the create of its object, begun at 2026-01-02T03:04:05Z, has no known result: \
it may exist without being known here
p.t.n: Operation was interrupted: the delete of its deposed object 0a1b2c3d, begun at 2026-01-02T03:04:05Z, has no \
known result: it may or may not be gone
p.t.n: Operation was interrupted: the update of its object, begun at 2026-01-02T03:04:05Z, has no known result: \
the change may or may not have been made";
        assert_eq!(diagnostics.to_string(), expected);
        assert!(diagnostics.0[1..].iter().all(|d| d.hint.is_some()));
    }

    #[test]
    fn errors_come_with_their_hints() {
        let memory = Memory::default();
        let info = LockInfo::new("apply", "anna@example", "");
        let _session = Session::open(&memory, &info, Duration::ZERO).unwrap();
        let error = Session::open(&memory, &info, Duration::ZERO).err().unwrap();
        let diagnostic = &Diagnostics::from(error).0[0];
        assert_eq!(diagnostic.summary, "State is locked");
        assert!(diagnostic.hint.as_ref().unwrap().contains("--lock-timeout"));

        let diagnostic = &Diagnostics::from(memory.unlock("x").unwrap_err()).0[0];
        assert_eq!(
            diagnostic.detail,
            format!("the lock of the state in memory is {}, not x", info.id)
        );
        assert!(diagnostic.hint.as_ref().unwrap().contains("anna@example"));
    }
}
