//! What the IR contract knows and this version does not do yet: refused, so that accepted always means honoured.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::Ir;

/// Errors for everything in `ir` that would have no effect.
pub fn check(ir: &Ir) -> Result<(), Diagnostics> {
    let whole = [
        ("backend", ir.backend.is_some()),
        ("checks", !ir.checks.is_empty()),
        ("deferred", !ir.deferred.is_empty()),
        ("imports", !ir.imports.is_empty()),
        ("moved", !ir.moved.is_empty()),
        ("removed", !ir.removed.is_empty()),
        ("variables", !ir.variables.is_empty()),
    ];
    let refuse = |what: &str| {
        Diagnostic::error("Not supported yet")
            .detail(format!("this version of nivis does nothing with `{what}`"))
            .hint("remove it from the configuration")
    };
    let mut found: Vec<Diagnostic> = whole
        .iter()
        .filter(|(_, used)| *used)
        .map(|(what, _)| refuse(what))
        .collect();
    let metas = ir.resources.iter().map(|r| (&r.id, &r.meta));
    for (id, meta) in metas.chain(ir.data_sources.iter().map(|d| (&d.id, &d.meta))) {
        for (what, used) in [
            ("preconditions", !meta.preconditions.is_empty()),
            ("postconditions", !meta.postconditions.is_empty()),
        ] {
            if used {
                found.push(refuse(what).at(id.as_str()));
            }
        }
    }
    for (id, provider) in &ir.providers {
        if provider.version.is_some() {
            let d = refuse("version")
                .hint("name the provider by a path or a package that has the version you want");
            found.push(d.at(format!("provider.{id}")));
        }
    }
    Diagnostics(found).into_result().map(drop)
}
