//! What a plan cannot do any more because of what the stack turned out to declare: it is left for the next plan.

use std::collections::HashSet;

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::graph::{Dag, NodeId, Walked};
use crate::ir::{Dependencies, Ir};
use crate::plan::order::Step;

/// Why a step did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfinished {
    /// It failed.
    Failed,
    /// It is for the next plan.
    Postponed,
}

/// What of `ir` directly depends on objects that `planned`, which the plan was made from, did not have.
pub(super) fn beyond(ir: &Ir, planned: &Ir) -> HashSet<Id> {
    if ir.deferred.is_empty() {
        return HashSet::new();
    }
    let known: HashSet<&Id> = planned.node_ids().collect();
    let dependencies = Dependencies::of(ir);
    let needs_new = |id: &Id, provider: &str| {
        let mut needed = dependencies.objects(id, provider).into_iter();
        needed.any(|on| !known.contains(&on))
    };
    let resources = ir.resources.iter().map(|r| (&r.id, &r.provider));
    let data = ir.data_sources.iter().map(|d| (&d.id, &d.provider));
    let found = resources.chain(data).filter(|(id, p)| needs_new(id, p));
    found.map(|(id, _)| id.clone()).collect()
}

/// What the steps make or read.
pub(super) fn made_by(dag: &Dag<Step>) -> HashSet<Id> {
    let ids = dag.nodes().filter_map(|(_, step)| match step {
        Step::Make(id) | Step::Read(id) => Some(id.clone()),
        _ => None,
    });
    ids.collect()
}

/// Why a step cannot go on that refers to the outcome of others, if none of these failed.
pub(super) fn waits_for_itself() -> Diagnostics {
    Diagnostic::error("Dependency cycle")
        .detail("a value that Nix computed refers to something that depends on this")
        .hint("what a `derive` gives must not refer to what is made from it")
        .into()
}

/// Whether the step is about one of these objects, and not its removal.
pub(super) fn names(step: &Step, ids: &HashSet<Id>) -> bool {
    match step {
        Step::Make(id) | Step::Read(id) | Step::Check(id) => ids.contains(id),
        _ => false,
    }
}

/// What was not started or not ended: because of failures or a stop, and because it is for the next plan.
pub(super) fn unfinished(ended: &Walked<Unfinished>) -> (Vec<NodeId>, Vec<NodeId>) {
    let postponed: HashSet<NodeId> = (ended.failed.iter())
        .filter(|(_, why)| *why == Unfinished::Postponed)
        .map(|(node, _)| *node)
        .collect();
    let mut left = ended.not_started.clone();
    let mut later: Vec<NodeId> = postponed.iter().copied().collect();
    later.sort_unstable();
    for skipped in &ended.skipped {
        let list = if postponed.contains(&skipped.because) {
            &mut later
        } else {
            &mut left
        };
        list.push(skipped.node);
    }
    (left, later)
}
