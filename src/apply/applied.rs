//! What came of an apply.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::graph::Cycle;
use crate::plan::conditions::CheckResults;
use crate::plan::order::Step;
use crate::plan::resolve::OutputMap;

/// How an apply went.
#[derive(Debug, Default)]
pub struct Applied {
    /// Errors and warnings, with addresses.
    pub diagnostics: Diagnostics,
    /// Steps that were not started because something they need failed, or because the run was stopped.
    pub left: Vec<Step>,
    /// Objects created, updated, destroyed.
    pub counts: Counts,
    /// What every object shows to others now.
    pub outputs: OutputMap,
    /// How conditions came out.
    pub checks: CheckResults,
    /// Steps that were not started because they turned out to need objects that the plan does not have.
    pub postponed: Vec<Step>,
    /// Whether the stack has to be planned again: what a part of it declares came to be known.
    pub more: bool,
}

impl Applied {
    /// Nothing could be started, because steps wait for each other.
    pub(super) fn out_of_order(cycle: &Cycle) -> Self {
        let detail = format!("{} steps wait for each other", cycle.0.len());
        Self {
            diagnostics: Diagnostic::error("Dependency cycle").detail(detail).into(),
            ..Self::default()
        }
    }

    /// Whether all that was to be done is done, but for what is postponed.
    pub fn is_whole(&self) -> bool {
        self.left.is_empty() && !self.diagnostics.has_errors()
    }

    /// Adds what came of the next plan.
    pub fn follow(&mut self, next: Self) {
        let mut diagnostics = std::mem::take(&mut self.diagnostics);
        diagnostics.extend(next.diagnostics);
        let counts = self.counts.plus(next.counts);
        *self = Self {
            diagnostics,
            counts,
            ..next
        };
    }
}

/// How many objects were touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Created, replacements included.
    pub added: usize,
    /// Updated in place.
    pub changed: usize,
    /// Destroyed, replaced ones included.
    pub destroyed: usize,
    /// Imported.
    pub imported: usize,
    /// Forgotten, as the configuration asked for.
    pub forgotten: usize,
}

impl Counts {
    fn plus(self, other: Self) -> Self {
        Self {
            added: self.added + other.added,
            changed: self.changed + other.changed,
            destroyed: self.destroyed + other.destroyed,
            imported: self.imported + other.imported,
            forgotten: self.forgotten + other.forgotten,
        }
    }
}
