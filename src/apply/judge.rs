//! Conditions during an apply: before an object is changed, and of what came of it.

use std::sync::Arc;

use crate::addr::Id;
use crate::apply::executor::Executor;
use crate::apply::prepare::is_pending;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::plan::conditions::{CheckStatus, Kind, evaluate};

/// What conditions say about going on.
pub(super) enum Judgement {
    /// They hold.
    Met,
    /// Nix has still to compute one.
    Waits,
    /// One does not hold, or cannot be told.
    Broken(Diagnostics),
}

impl Executor<'_, '_> {
    /// Evaluates the conditions of a resource or data source with what is known now, and notes how they came out.
    pub(super) fn judge(&mut self, id: &Id, kind: Kind) -> Judgement {
        let ir = Arc::clone(&self.ir);
        let found = if self.input.plan.data.contains_key(id) {
            self.data_source(&ir, id).map(|d| (&d.meta, &d.provider))
        } else {
            self.resource(&ir, id).map(|r| (&r.meta, &r.provider))
        };
        let (meta, provider) = match found {
            Ok(found) => found,
            Err(diagnostics) => return Judgement::Broken(diagnostics),
        };
        let conditions = meta.conditions(kind);
        if conditions.is_empty() {
            return Judgement::Met;
        }
        let outdated = !self.stale.is_empty()
            && (self.stale.contains(id) || self.depends_on_stale(&ir, id, provider));
        if outdated || conditions.iter().any(|c| is_pending(&c.condition)) {
            return Judgement::Waits;
        }
        let (result, mut problems) = evaluate(conditions, kind, &self.applied.outputs);
        if result.status == CheckStatus::Unknown {
            let d = Diagnostic::error("Condition is not known")
                .detail("something it refers to did not become known when it was applied");
            problems.push(d);
        }
        self.applied.checks.set(id, kind, result);
        if problems.has_errors() {
            Judgement::Broken(problems)
        } else {
            Judgement::Met
        }
    }
}
