//! Problems, for programs.

use serde::Serialize;

use crate::diagnostic::{Diagnostic, Severity};

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiagnosticDoc {
    /// `error` or `warning`.
    pub severity: &'static str,
    /// One line: what is wrong.
    pub summary: String,
    /// More about it; may be empty.
    pub detail: String,
    /// The id of what it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Where inside its configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl From<&Diagnostic> for DiagnosticDoc {
    fn from(diagnostic: &Diagnostic) -> Self {
        Self {
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            summary: diagnostic.summary.clone(),
            detail: diagnostic.detail.clone(),
            address: diagnostic.address.clone(),
            path: diagnostic
                .path
                .as_ref()
                .filter(|p| !p.is_root())
                .map(ToString::to_string),
            hint: diagnostic.hint.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Path;

    #[test]
    fn only_what_is_there_is_written() {
        let text = |d: &Diagnostic| serde_json::to_string(&DiagnosticDoc::from(d)).expect("JSON");
        let bare = Diagnostic::warning("Old").path(Path::root());
        assert_eq!(
            text(&bare),
            r#"{"severity":"warning","summary":"Old","detail":""}"#
        );
        let full = Diagnostic::error("Bad")
            .detail("very")
            .at("p.t.n")
            .path(Path::from_dotted("a.0"))
            .hint("do");
        assert_eq!(
            text(&full),
            r#"{"severity":"error","summary":"Bad","detail":"very","address":"p.t.n","path":"a[0]","hint":"do"}"#
        );
    }
}
