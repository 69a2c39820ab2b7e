//! When to evaluate Nix beside running operations, without doing it more often than if everything waited for them
//! (docs/decisions/005-phases-go-by-depth.md).

use std::collections::{BTreeSet, HashSet};

use crate::addr::Id;
use crate::apply::prepare::is_pending;
use crate::ir::{Condition, Dependencies, Expr, Ir, Meta, Ref, provider_node};
use crate::plan::resolve::{OutputMap, is_known};

/// Whose outputs the next evaluation has to wait for: they are inputs of pending leaves whose inputs can all become known
/// without an evaluation.
pub(super) fn awaited(ir: &Ir, outputs: &OutputMap) -> BTreeSet<Id> {
    let leaves = ir.exprs().chain(ir.conditions());
    let leaves = leaves.flat_map(|(_, expr)| expr.pending().map(|leaf| &leaf.inputs));
    let waiting: Vec<&Vec<Ref>> = leaves
        .chain(ir.waiting().map(|part| &part.inputs))
        .collect();
    if waiting.is_empty() {
        return BTreeSet::new();
    }
    let deep = deep(ir);
    let mut awaited = BTreeSet::new();
    for inputs in waiting {
        let unknown = inputs.iter().filter(|input| !is_known(input, outputs));
        let unknown: Vec<&Id> = unknown.map(|input| &input.resource).collect();
        if !unknown.iter().any(|id| deep.contains(*id)) {
            awaited.extend(unknown.into_iter().cloned());
        }
    }
    awaited
}

/// What can only be done after an evaluation.
fn deep(ir: &Ir) -> HashSet<Id> {
    let dependencies = Dependencies::of(ir);
    let dag = dependencies.dag();
    let waits = |conditions: &[Condition]| {
        let mut all = conditions.iter().flat_map(|c| [&c.condition, &c.message]);
        all.any(is_pending)
    };
    let resources = ir.resources.iter().map(|r| (&r.id, &r.config, &r.meta));
    let data = ir.data_sources.iter().map(|d| (&d.id, &d.config, &d.meta));
    let declared: Vec<(&Id, &Expr, &Meta)> = resources.chain(data).collect();
    let itself =
        |(_, config, meta): &&(&Id, &Expr, &Meta)| is_pending(config) || waits(&meta.preconditions);
    let blocked = declared.iter().filter(itself).map(|(id, ..)| (*id).clone());
    let providers = ir.providers.iter().filter(|(_, p)| is_pending(&p.config));
    let blocked = blocked.chain(providers.map(|(name, _)| provider_node(name)));
    let nodes: Vec<_> = blocked
        .filter_map(|id| dependencies.node(id.as_str()))
        .collect();
    // An object whose postcondition waits is there; what depends on it waits.
    let judged = declared
        .iter()
        .filter(|(_, _, meta)| waits(&meta.postconditions));
    let judged = judged.flat_map(|(id, ..)| dependencies.dependents(id.as_str()));
    let judged: Vec<_> = judged
        .filter_map(|id| dependencies.node(id.as_str()))
        .collect();
    let all = dag.descendants(nodes.into_iter().chain(judged));
    all.into_iter().map(|node| dag[node].clone()).collect()
}
