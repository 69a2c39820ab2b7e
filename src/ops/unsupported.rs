//! What the IR contract knows and this version does not do yet: refused, so that accepted always means honoured.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::Ir;

/// Errors for everything in `ir` that would have no effect.
pub fn check(ir: &Ir) -> Result<(), Diagnostics> {
    let whole = [("deferred", !ir.deferred.is_empty())];
    let refuse = |what: &str| {
        Diagnostic::error("Not supported yet")
            .detail(format!("this version of nivis does nothing with `{what}`"))
            .hint("remove it from the configuration")
    };
    let found: Vec<Diagnostic> = whole
        .iter()
        .filter(|(_, used)| *used)
        .map(|(what, _)| refuse(what))
        .collect();
    Diagnostics(found).into_result().map(drop)
}
