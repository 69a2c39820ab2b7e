//! Rules about how the elements of a document fit together, one function per rule. That what is referred to exists is
//! checked where references are read.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::dependencies::Dependencies;
use super::error::{At, IrError, suggest};
use super::{Expr, Index, Ir, Meta, Mode, Ref};
use crate::addr::{Id, unescape_key};
use crate::graph::Cycle;

/// All errors of all rules.
pub(super) fn all(ir: &Ir) -> Vec<IrError> {
    let mut errors = Vec::new();
    for rule in [
        unique_ids,
        ids_match_their_parts,
        names_match_their_index,
        providers_are_declared,
        edges_lead_somewhere,
        imports_have_a_resource,
        moves_are_unambiguous,
        moves_come_to_an_end,
        removals_are_not_declared,
        ephemeral_values_stay_in_the_run,
        no_cycles,
    ] {
        rule(ir, &mut errors);
    }
    errors
}

/// What resources and data sources have in common.
struct Declared<'a> {
    list: &'static str,
    /// First part of its id, before the provider.
    prefix: Option<&'static str>,
    index: usize,
    id: &'a Id,
    provider: &'a str,
    ty: &'a str,
    name: &'a str,
    meta: &'a Meta,
}

impl Declared<'_> {
    fn error(&self, key: &str, message: String) -> IrError {
        let list = At::Root.key(self.list);
        IrError::new(&list.index(self.index).key(key), message)
    }
}

fn declared(ir: &Ir) -> impl Iterator<Item = Declared<'_>> {
    let resources = ir.resources.iter().enumerate().map(|(index, r)| Declared {
        list: "resources",
        prefix: None,
        index,
        id: &r.id,
        provider: &r.provider,
        ty: &r.ty,
        name: &r.name,
        meta: &r.meta,
    });
    let modes = [Mode::Data, Mode::Ephemeral, Mode::Call];
    let of_mode = |mode| ir.data_sources.iter().filter(move |d| d.mode == mode);
    let data_sources = modes
        .into_iter()
        .flat_map(move |mode| of_mode(mode).enumerate())
        .map(|(index, d)| Declared {
            list: d.mode.list(),
            prefix: Some(d.mode.prefix()),
            index,
            id: &d.id,
            provider: &d.provider,
            ty: &d.ty,
            name: &d.name,
            meta: &d.meta,
        });
    resources.chain(data_sources)
}

/// All ids but those of providers, with the list and the position they are in.
fn listed(ir: &Ir) -> impl Iterator<Item = (&'static str, usize, &str)> {
    let consumers = ir.consumers.iter().enumerate();
    (declared(ir).map(|d| (d.list, d.index, d.id.as_str())))
        .chain(consumers.map(|(i, c)| ("nixConsumers", i, &*c.id)))
}

fn unique_ids(ir: &Ir, errors: &mut Vec<IrError>) {
    let is_provider = |id: &str| {
        (id.strip_prefix("provider.")).is_some_and(|name| ir.providers.contains_key(name))
    };
    let mut first = HashMap::new();
    for (list, index, id) in listed(ir) {
        let message = if is_provider(id) {
            format!("'{id}' is the name of a provider")
        } else if let Some((list, index)) = first.get(id) {
            format!("duplicate id '{id}', first at {list}/{index}")
        } else {
            first.insert(id, (list, index));
            continue;
        };
        let list = At::Root.key(list);
        errors.push(IrError::new(&list.index(index).key("id"), message));
    }
}

fn ids_match_their_parts(ir: &Ir, errors: &mut Vec<IrError>) {
    for d in declared(ir) {
        let Declared {
            id,
            provider,
            ty,
            name,
            ..
        } = d;
        let prefix = d.prefix.into_iter();
        let expected: Vec<_> = prefix.chain([provider, ty, name]).collect();
        let expected = expected.join(".");
        if id.as_str() != expected {
            errors.push(d.error("id", format!("expected '{expected}', found '{id}'")));
        }
    }
}

/// The name of an instance ends in `__` and its key, escaped.
fn names_match_their_index(ir: &Ir, errors: &mut Vec<IrError>) {
    for d in declared(ir) {
        let key = match &d.meta.index {
            None => continue,
            Some(Index::Number(n)) => n.to_string(),
            Some(Index::Key(key)) => key.to_string(),
        };
        let found = d
            .name
            .rsplit_once("__")
            .and_then(|(_, key)| unescape_key(key));
        if found.as_deref() != Some(key.as_bytes()) {
            let message = format!("expected a name that ends in '__' and the key '{key}', escaped");
            errors.push(d.error("name", message));
        }
    }
}

fn providers_are_declared(ir: &Ir, errors: &mut Vec<IrError>) {
    for d in declared(ir) {
        if !ir.providers.contains_key(d.provider) {
            let near = suggest(d.provider, ir.providers.keys().map(|name| &**name));
            let message = format!("no provider '{}'{near}", d.provider);
            errors.push(d.error("provider", message));
        }
    }
}

fn edges_lead_somewhere(ir: &Ir, errors: &mut Vec<IrError>) {
    let ids: HashSet<&str> = ir.node_ids().map(Id::as_str).collect();
    let consumers: HashSet<&str> = ir.consumers.iter().map(|c| &*c.id).collect();
    let edges = At::Root.key("edges");
    for (i, edge) in ir.edges.iter().enumerate() {
        let to = edge.to.as_str();
        let provider = to.strip_prefix("provider.");
        let exists = ids.contains(to)
            || consumers.contains(to)
            || provider.is_some_and(|name| ir.providers.contains_key(name));
        if !exists {
            let message = format!("no resource, data source, provider or consumer '{to}'");
            errors.push(IrError::new(&edges.index(i).key("to"), message));
        }
    }
}

fn imports_have_a_resource(ir: &Ir, errors: &mut Vec<IrError>) {
    let ids: HashSet<&Id> = ir.resources.iter().map(|r| &r.id).collect();
    let mut seen = HashSet::new();
    let imports = At::Root.key("imports");
    for (i, import) in ir.imports.iter().enumerate() {
        let id = &import.to;
        let message = if !ids.contains(id) {
            let near = suggest(id.as_str(), ids.iter().map(|id| id.as_str()));
            format!("no resource '{id}'{near}")
        } else if !seen.insert(id) {
            format!("'{id}' is imported twice")
        } else {
            continue;
        };
        errors.push(IrError::new(&imports.index(i).key("to"), message));
    }
}

fn moves_are_unambiguous(ir: &Ir, errors: &mut Vec<IrError>) {
    let ids: HashSet<&Id> = ir.resources.iter().map(|r| &r.id).collect();
    let (mut from, mut to) = (BTreeMap::new(), BTreeMap::new());
    let list = At::Root.key("moved");
    for (i, moved) in ir.moved.iter().enumerate() {
        let at = list.index(i);
        if ids.contains(&moved.from) {
            let message = format!("'{}' is still declared", moved.from);
            errors.push(IrError::new(&at.key("from"), message));
        }
        for (key, id, seen) in [("from", &moved.from, &mut from), ("to", &moved.to, &mut to)] {
            if let Some(first) = seen.insert(id, i) {
                let message = format!("'{id}' moves twice, first at moved/{first}");
                errors.push(IrError::new(&at.key(key), message));
            }
        }
    }
}

/// Told once for each circle, at the first of its entries.
fn moves_come_to_an_end(ir: &Ir, errors: &mut Vec<IrError>) {
    let entries = ir.moved.iter().enumerate();
    let next: HashMap<&Id, (usize, &Id)> = entries.map(|(i, m)| (&m.from, (i, &m.to))).collect();
    let list = At::Root.key("moved");
    let mut seen = HashSet::new();
    for moved in &ir.moved {
        let mut path = Vec::new();
        let mut at = &moved.from;
        while let Some((i, to)) = next.get(at).filter(|_| seen.insert(at)) {
            path.push((*i, at));
            at = to;
        }
        let Some(start) = path.iter().position(|(_, id)| *id == at) else {
            continue;
        };
        let mut circle = path.split_off(start);
        let first = (0..circle.len()).min_by_key(|n| circle[*n].0).unwrap_or(0);
        circle.rotate_left(first);
        let names = circle
            .iter()
            .chain(circle.first())
            .map(|(_, id)| id.as_str());
        let names = names.collect::<Vec<_>>().join("' to '");
        let message = format!("moves in a circle: '{names}'");
        errors.push(IrError::new(&list.index(circle[0].0), message));
    }
}

fn removals_are_not_declared(ir: &Ir, errors: &mut Vec<IrError>) {
    let ids: HashSet<&Id> = ir.resources.iter().map(|r| &r.id).collect();
    let list = At::Root.key("removed");
    for (i, removed) in ir.removed.iter().enumerate() {
        if ids.contains(&removed.from) {
            let message = format!("'{}' is still declared", removed.from);
            errors.push(IrError::new(&list.index(i).key("from"), message));
        }
    }
}

/// Values of ephemeral resources may be used where nothing is written down: not by Nix, not by what is stored or shown.
fn ephemeral_values_stay_in_the_run(ir: &Ir, errors: &mut Vec<IrError>) {
    let ephemeral: HashSet<&Id> = (ir.data_sources.iter())
        .filter(|d| d.mode == Mode::Ephemeral)
        .map(|d| &d.id)
        .collect();
    if ephemeral.is_empty() {
        return;
    }
    let mut refuse = |at: &At, used: Option<Id>, place: &str| {
        if let Some(id) = used {
            let message = format!("'{id}' is ephemeral and cannot be used in {place}");
            errors.push(IrError::new(at, message));
        }
    };
    let nix = "what Nix computes";
    // The first by name, whatever the order of keys.
    let is_ephemeral = |r: &Ref| ephemeral.get(&r.resource).map(|id| Id::clone(id));
    let any = |expr: &Expr| expr.inputs().filter_map(is_ephemeral).min();
    let by_nix = |expr: &Expr| {
        let inputs = expr.pending().flat_map(|derived| &derived.inputs);
        inputs.filter_map(is_ephemeral).min()
    };
    let of_mode = |mode| ir.data_sources.iter().filter(move |d| d.mode == mode);
    let resources = ir.resources.iter().map(|r| &r.config);
    let opened = of_mode(Mode::Ephemeral).map(|d| &d.config);
    for (list, configs) in [
        ("resources", resources.collect::<Vec<_>>()),
        ("ephemeral", opened.collect()),
    ] {
        for (i, config) in configs.into_iter().enumerate() {
            let at = At::Root.key(list);
            refuse(&at.index(i).key("config"), by_nix(config), nix);
        }
    }
    let providers = At::Root.key("providers");
    for (name, provider) in &ir.providers {
        let used = by_nix(&provider.config);
        refuse(&providers.key(name).key("config"), used, nix);
    }
    for (mode, key, place) in [
        (Mode::Data, "config", "a data source"),
        (Mode::Call, "arguments", "a function call"),
    ] {
        let list = At::Root.key(mode.list());
        for (i, d) in of_mode(mode).enumerate() {
            refuse(&list.index(i).key(key), any(&d.config), place);
        }
    }
    for d in declared(ir) {
        let list = At::Root.key(d.list);
        let item = list.index(d.index);
        for (key, conditions) in [
            ("preconditions", &d.meta.preconditions),
            ("postconditions", &d.meta.postconditions),
        ] {
            let meta = item.key("meta");
            let at = meta.key(key);
            for (i, c) in conditions.iter().enumerate() {
                let used = any(&c.condition).into_iter().chain(any(&c.message)).min();
                refuse(&at.index(i), used, "a condition");
            }
        }
    }
    let checks = At::Root.key("checks");
    for (i, c) in ir.checks.iter().map(|c| &c.condition).enumerate() {
        let used = any(&c.condition).into_iter().chain(any(&c.message)).min();
        refuse(&checks.index(i), used, "a check");
    }
    let consumers = At::Root.key("nixConsumers");
    for (i, c) in ir.consumers.iter().enumerate() {
        refuse(&consumers.index(i).key("value"), any(&c.value), "an output");
    }
    let imports = At::Root.key("imports");
    for (i, import) in ir.imports.iter().enumerate() {
        let used = any(&import.id);
        refuse(&imports.index(i).key("id"), used, "an import");
    }
    let deferred = At::Root.key("deferred");
    for (i, part) in ir.deferred.iter().enumerate() {
        let used = part.inputs.iter().filter_map(is_ephemeral).min();
        refuse(&deferred.index(i), used, nix);
    }
}

/// Told once: the shortest cycle, at the first of its members.
fn no_cycles(ir: &Ir, errors: &mut Vec<IrError>) {
    let dependencies = Dependencies::of(ir);
    let dag = dependencies.dag();
    let Err(Cycle(cycle)) = dag.order() else {
        return;
    };
    let Some(first) = cycle.first() else { return };
    // Each comes before the next, so that each needs the one before it, and the first the last.
    let names: Vec<&str> = (std::iter::once(first).chain(cycle.iter().rev()))
        .map(|node| dag[*node].as_str())
        .collect();
    let message = format!("dependency cycle: {}", names.join(" needs "));
    let id = dag[*first].as_str();
    errors.push(
        if let Some((list, index, _)) = listed(ir).find(|(.., listed)| *listed == id) {
            IrError::new(&At::Root.key(list).index(index), message)
        } else {
            let name = id.strip_prefix("provider.").unwrap_or_default();
            IrError::new(&At::Root.key("providers").key(name), message)
        },
    );
}
