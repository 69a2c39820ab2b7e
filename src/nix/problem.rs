//! What goes wrong with Nix, for people.

use super::{EvalError, NixError, RealiseError, TargetError};
use crate::diagnostic::{Diagnostic, Diagnostics};

fn diagnostics(summary: &str, detail: String, hint: Option<&str>) -> Diagnostics {
    let diagnostic = Diagnostic::error(summary).detail(detail);
    match hint {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    }
    .into()
}

impl From<EvalError> for Diagnostics {
    fn from(error: EvalError) -> Self {
        diagnostics("Evaluation failed", error.to_string(), error.hint())
    }
}

impl From<NixError> for Diagnostics {
    fn from(error: NixError) -> Self {
        diagnostics("Cannot run Nix", error.to_string(), error.hint())
    }
}

impl From<TargetError> for Diagnostics {
    fn from(error: TargetError) -> Self {
        diagnostics(
            "Cannot find the configuration",
            error.to_string(),
            error.hint(),
        )
    }
}

impl From<RealiseError> for Diagnostics {
    fn from(error: RealiseError) -> Self {
        diagnostics("Build failed", error.to_string(), error.hint().as_deref())
    }
}
