//! `moved`: stored objects taken over under new ids before anything is planned (pure).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::graph::Dag;
use crate::ir::{Ir, Moved};
use crate::plan::ChangeTarget;
use crate::plan::providers::source_text;
use crate::plan::rename::{self, Names};
use crate::provider::ProviderAddress;
use crate::state::{ResourceState, State};

/// A stored resource that has moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// What it was called.
    pub from: ChangeTarget,
    /// Set if it became another type, or another provider's: the new provider has to take it over.
    pub crossing: Option<Crossing>,
}

/// Where an object comes from that another type or provider takes over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// Registry address of the provider that made it.
    pub provider: String,
    /// The type it was made as.
    pub ty: String,
}

/// A state in which everything is where the configuration says that it has moved to.
#[derive(Clone, Debug)]
pub struct Relocation<'a> {
    /// The state. A resource with a [`Crossing`] has its new names, but its objects are still in their old form.
    pub state: Cow<'a, State>,
    /// What has moved, by the new id.
    pub moves: BTreeMap<Id, Move>,
    /// About what could not.
    pub warnings: Diagnostics,
}

/// Gives the registry address of a provider by its id and source, as far as it can be told.
pub type AddressOf<'a> = &'a (dyn Fn(&str, &str) -> Option<ProviderAddress> + Sync);

/// Carries out the `moved` entries of `ir` on `state`, each after those that lead to its beginning.
///
/// Without a stored object an entry does nothing. An entry without an instance key moves all instances, but those that are declared
/// or have an entry of their own. Where both ends are stored nothing moves, with a warning. Errors are those of [`check`].
pub fn relocate<'a>(
    state: &'a State,
    ir: &Ir,
    address: AddressOf<'_>,
) -> Result<Relocation<'a>, Diagnostics> {
    let entries = in_order(ir)?;
    let declared = Declared::of(ir);
    let own: BTreeSet<&Id> = ir.moved.iter().map(|m| &m.from).collect();
    let mut origins: BTreeMap<Id, Id> = BTreeMap::new();
    let mut warnings = Diagnostics::default();
    let mut relocated = Cow::Borrowed(state);
    for entry in entries {
        let mut found = rename::stored_as(&relocated, &entry.from);
        // What has just become an instance is not stored as one yet.
        let arrived = |id: &&Id| {
            id.instance()
                .is_some_and(|(base, _)| base == entry.from.as_str())
        };
        found.extend(origins.keys().filter(arrived).cloned());
        found.sort();
        found.dedup();
        for old in found {
            let whole = old != entry.from;
            if whole
                && (declared.instances.contains(&entry.to)
                    || declared.ids.contains(&old)
                    || own.contains(&old))
            {
                continue;
            }
            let new = rename::renamed(&old, &entry.from, &entry.to);
            if relocated.resources.contains_key(&new) {
                warnings.push(occupied(&old, &new));
                continue;
            }
            let resources = &mut relocated.to_mut().resources;
            if let Some(resource) = resources.remove(&old) {
                resources.insert(new.clone(), resource);
                let origin = origins.remove(&old).unwrap_or(old);
                origins.insert(new, origin);
            }
        }
    }
    let mut moves = BTreeMap::new();
    if !origins.is_empty() {
        let state = relocated.to_mut();
        for (new, old) in &origins {
            if let Some(resource) = state.resources.get_mut(new) {
                let from = rename::target(old, resource);
                let crossing = take_names(resource, new, ir, address)?;
                moves.insert(new.clone(), Move { from, crossing });
            }
        }
        let renamed = origins.into_iter().map(|(new, old)| (old, new)).collect();
        rename::follow(state, &renamed);
    }
    Ok(Relocation {
        state: relocated,
        moves,
        warnings,
    })
}

/// Gives a stored resource the names of its new id; says whether it comes from somewhere else.
fn take_names(
    resource: &mut ResourceState,
    id: &Id,
    ir: &Ir,
    address: AddressOf<'_>,
) -> Result<Option<Crossing>, Diagnostics> {
    let Names {
        provider,
        ty,
        name,
        index,
    } = rename::names(id, resource, Some(ir))?;
    let declared = ir.providers.get(&provider);
    let source = declared.and_then(|decl| source_text(&provider, &decl.source).ok());
    let old = address(&resource.provider, &resource.provider_source);
    let new = source
        .as_ref()
        .and_then(|source| address(&provider, source));
    let other_provider = match (&old, &new) {
        (Some(old), Some(new)) => resource.provider != provider && new.is_other_than(old),
        _ => false,
    };
    let crossing = (other_provider || resource.ty != ty).then(|| Crossing {
        provider: old.map_or_else(|| resource.provider_source.clone(), |old| old.text),
        ty: resource.ty.clone(),
    });
    if let Some(source) = source.filter(|_| resource.provider != provider) {
        resource.provider_source = source;
    }
    resource.provider = provider;
    resource.ty = ty;
    resource.name = name;
    resource.index = index;
    Ok(crossing)
}

fn occupied(old: &Id, new: &Id) -> Diagnostic {
    Diagnostic::warning("Object could not move")
        .detail(format!(
            "`{old}` has moved to `{new}`, but both have an object: the one of `{old}` stays what it is, and as it is not in the \
             configuration it is to be destroyed"
        ))
        .hint(format!(
            "to keep it, declare it under another id, or make room with `nivis state rm {new}`"
        ))
        .at(old.as_str())
}

/// An error if a run that is limited leaves out what has moved: moves are recorded before anything else, all of them.
pub fn within(
    moves: &BTreeMap<Id, Move>,
    selects: impl Fn(&Id) -> bool,
) -> Result<(), Diagnostics> {
    let left_out = moves.iter().filter(|(id, _)| !selects(id));
    let problems = left_out.map(|(id, moved)| {
        Diagnostic::error("Moved resource is left out")
            .detail(format!(
                "it has moved from `{}`, and the run is limited to others",
                moved.from.id
            ))
            .hint(format!(
                "let it take part (`--target {id}`), or apply without limits first"
            ))
            .at(id.as_str())
    });
    Diagnostics(problems.collect()).into_result().map(drop)
}

/// What the configuration declares.
struct Declared<'a> {
    ids: BTreeSet<&'a Id>,
    instances: BTreeSet<&'a Id>,
    /// Ids of repeated resources, without key.
    bases: BTreeSet<&'a str>,
}

impl<'a> Declared<'a> {
    fn of(ir: &'a Ir) -> Self {
        let repeated = || ir.resources.iter().filter(|r| r.meta.index.is_some());
        Self {
            ids: ir.resources.iter().map(|r| &r.id).collect(),
            instances: repeated().map(|r| &r.id).collect(),
            bases: repeated()
                .filter_map(|r| r.id.instance())
                .map(|(base, _)| base)
                .collect(),
        }
    }
}

/// Errors of `moved` entries: those that go in a circle, and those from a repeated resource that is still declared.
pub fn check(ir: &Ir) -> Diagnostics {
    in_order(ir).err().unwrap_or_default()
}

/// The entries, each after those that lead to its beginning.
fn in_order(ir: &Ir) -> Result<Vec<&Moved>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let declared = Declared::of(ir);
    for entry in &ir.moved {
        let whole = declared.bases.contains(entry.to.as_str())
            || declared.ids.contains(&entry.to) && !declared.instances.contains(&entry.to);
        if whole && declared.bases.contains(entry.from.as_str()) {
            problems.push(
                Diagnostic::error("Moved resource is still declared")
                    .detail(format!(
                        "instances of `{}` are in the configuration",
                        entry.from
                    ))
                    .hint("remove them, or the entry in `moved`")
                    .at(entry.from.as_str()),
            );
        }
    }
    let dag = graph(&ir.moved);
    match dag.order() {
        Ok(order) => {
            problems.into_result()?;
            Ok(order.into_iter().map(|node| dag[node]).collect())
        }
        Err(cycle) => {
            let ids: Vec<_> = cycle.0.iter().map(|node| &dag[*node].from).collect();
            let names: Vec<_> = ids
                .iter()
                .chain(ids.first())
                .map(|id| format!("`{id}`"))
                .collect();
            let mut problem = Diagnostic::error("Moves in a circle").detail(names.join(" to "));
            if let Some(id) = ids.first() {
                problem = problem.at(id.as_str());
            }
            problems.push(problem.hint("say once where the object is to be"));
            Err(problems)
        }
    }
}

/// Which entry may move on what another one moves.
fn graph(moved: &[Moved]) -> Dag<&Moved> {
    let mut dag = Dag::new();
    let nodes: Vec<_> = moved.iter().map(|entry| dag.add(entry)).collect();
    let base = |id: &'_ Id| id.instance().map(|(base, _)| Id::from(base));
    // From a resource to an instance of it, or back, is no move of all instances.
    let whole =
        |m: &Moved| base(&m.to).as_ref() != Some(&m.from) && base(&m.from).as_ref() != Some(&m.to);
    let mut from: BTreeMap<Id, Vec<usize>> = BTreeMap::new();
    let mut from_instance_of: BTreeMap<Id, Vec<usize>> = BTreeMap::new();
    for (i, entry) in moved.iter().enumerate() {
        from.entry(entry.from.clone()).or_default().push(i);
        if let Some(base) = base(&entry.from) {
            from_instance_of.entry(base).or_default().push(i);
        }
    }
    for (i, entry) in moved.iter().enumerate() {
        let of = |map: &BTreeMap<Id, Vec<usize>>, id: &Id| map.get(id).cloned().unwrap_or_default();
        let mut later = of(&from, &entry.to);
        if whole(entry) {
            later.extend(of(&from_instance_of, &entry.to));
        }
        let all = base(&entry.to)
            .map(|base| of(&from, &base))
            .unwrap_or_default();
        later.extend(all.into_iter().filter(|j| whole(&moved[*j])));
        for j in later {
            dag.add_edge(nodes[i], nodes[j]);
        }
    }
    dag
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Index, Meta, ProviderDecl, Resource};
    use crate::provider::provider_address;
    use crate::state::Object;

    /// A configuration of these names, `name` or `base[key]`, and these moves, `from to` of `p.t.` ids.
    fn configured(names: &str, moves: &[&str]) -> Ir {
        let resource = |name: &str| {
            let (name, index) = split(name);
            Resource {
                id: Id::from(format!("p.t.{name}")),
                provider: "p".into(),
                ty: "t".into(),
                name,
                config: crate::ir::Expr::default(),
                meta: Meta {
                    index,
                    ..Meta::default()
                },
            }
        };
        let entry = |text: &&str| {
            let (from, to) = text.split_once(' ').unwrap();
            let id = |name: &str| {
                let whole = name.contains('.');
                Id::from(if whole {
                    name.to_owned()
                } else {
                    format!("p.t.{}", split(name).0)
                })
            };
            Moved {
                from: id(from),
                to: id(to),
            }
        };
        let provider = |source: &str| ProviderDecl {
            source: crate::ir::Expr::String(source.into()),
            version: None,
            meta: None,
            config: crate::ir::Expr::default(),
        };
        Ir {
            providers: [("p", "acme/one"), ("same", "acme/one"), ("q", "acme/two")]
                .map(|(id, source)| (id.to_owned(), provider(source)))
                .into(),
            resources: names.split_whitespace().map(resource).collect(),
            moved: moves.iter().map(entry).collect(),
            ..Ir::default()
        }
    }

    /// `base[key]` to the name and index.
    fn split(name: &str) -> (String, Option<Index>) {
        match name.strip_suffix(']').and_then(|n| n.split_once('[')) {
            Some((base, key)) => (format!("{base}__{key}"), Some(Index::Key(key.into()))),
            None => (name.to_owned(), None),
        }
    }

    /// Objects of these names, each dependent on the one before; told apart by their private bytes.
    fn stored(names: &str) -> State {
        let mut state = State::default();
        let mut previous: Option<Id> = None;
        for text in names.split_whitespace() {
            let (name, index) = split(text);
            let id = Id::from(format!("p.t.{name}"));
            let object = Object {
                private: text.as_bytes().to_vec(),
                dependencies: previous.into_iter().collect(),
                ..Object::default()
            };
            let resource = ResourceState {
                provider: "p".into(),
                provider_source: "acme/one".into(),
                ty: "t".into(),
                name,
                index,
                current: Some(object),
                ..ResourceState::default()
            };
            state.resources.insert(id.clone(), resource);
            previous = Some(id);
        }
        state
    }

    fn relocated<'a>(state: &'a State, ir: &Ir) -> Result<Relocation<'a>, Diagnostics> {
        relocate(state, ir, &|_, source| provider_address(source, None))
    }

    /// Where the stored objects are after the moves: `new=object`, and warnings after `!`.
    fn outcome(configured_names: &str, moves: &[&str], stored_names: &str) -> String {
        let ir = configured(configured_names, moves);
        let state = stored(stored_names);
        match relocated(&state, &ir) {
            Ok(found) => {
                let places = found.state.resources.iter().map(|(id, r)| {
                    let object = r.current.as_ref().unwrap();
                    let private = String::from_utf8(object.private.clone()).unwrap();
                    format!("{}={private}", id.as_str().strip_prefix("p.t.").unwrap())
                });
                let warned = found
                    .warnings
                    .0
                    .iter()
                    .map(|w| format!("!{}", w.address.as_ref().unwrap()));
                places.chain(warned).collect::<Vec<_>>().join(" ")
            }
            Err(problems) => problems.to_string(),
        }
    }

    #[test]
    fn where_objects_go() {
        for (names, moves, state, expected) in [
            ("b", &["a b"][..], "a", "b=a"),
            ("b", &["a b"], "", ""),
            ("b", &["a b"], "b", "b=b"),
            ("b", &["a b"], "a b", "a=a b=b !p.t.a"),
            // Chains, written in any order.
            ("c", &["a b", "b c"], "a", "c=a"),
            ("c", &["b c", "a b"], "a", "c=a"),
            ("c", &["b c", "a b"], "b", "c=b"),
            ("c", &["a b", "b c"], "a b", "a=a c=b !p.t.a"),
            // Whole resources, and single instances of them.
            ("n[a] n[b]", &["o n"], "o[a] o[b]", "n__a=o[a] n__b=o[b]"),
            (
                "n[a] n[c]",
                &["o n", "o[b] n[c]"],
                "o[a] o[b]",
                "n__a=o[a] n__c=o[b]",
            ),
            ("n[a]", &["o n", "n[x] n[a]"], "o[x]", "n__a=o[x]"),
            ("n[a]", &["s o[a]", "o n"], "s", "n__a=s"),
            (
                "n[a] n[b]",
                &["o n"],
                "o[a] n[a] o[b]",
                "n__a=n[a] n__b=o[b] o__a=o[a] !p.t.o__a",
            ),
            // Between one object and several.
            ("o[0]", &["o o[0]"], "o", "o__0=o"),
            ("o", &["o[0] o"], "o[0] o[1]", "o=o[0] o__1=o[1]"),
            ("o[a]", &["o o[0]", "o[0] o[a]"], "o", "o__a=o"),
            ("o[a]", &["o o[a]"], "o[b]", "o__b=o[b]"),
            // Refused.
            (
                "",
                &["a b", "b a"],
                "",
                "p.t.a: Moves in a circle: `p.t.a` to `p.t.b` to `p.t.a`",
            ),
            (
                "",
                &["a a"],
                "a",
                "p.t.a: Moves in a circle: `p.t.a` to `p.t.a`",
            ),
            (
                "",
                &["o n", "n[a] o[a]"],
                "",
                "p.t.o: Moves in a circle: `p.t.o` to `p.t.n__a` to `p.t.o`",
            ),
            (
                "n o[a]",
                &["o n"],
                "o[a]",
                "p.t.o: Moved resource is still declared: instances of `p.t.o` are in the configuration",
            ),
            (
                "",
                &["a .x"],
                "a",
                "Invalid resource id: `.x` is no id of a resource",
            ),
        ] {
            assert_eq!(
                outcome(names, moves, state),
                expected,
                "{names} {moves:?} {state}"
            );
        }
    }

    #[test]
    fn records_and_dependants_take_the_new_names() {
        let ir = configured("n[k]", &["a b", "o n"]);
        let state = stored("a o[k] z");
        let found = relocated(&state, &ir).unwrap();
        let resources = &found.state.resources;
        let moved = &resources["p.t.n__k"];
        assert_eq!(
            (&*moved.name, &moved.index),
            ("n__k", &Some(Index::Key("k".into())))
        );
        assert_eq!(
            moved.current.as_ref().unwrap().dependencies,
            [Id::from("p.t.b")]
        );
        assert_eq!(
            resources["p.t.z"].current.as_ref().unwrap().dependencies,
            [Id::from("p.t.n__k")]
        );
        assert_eq!(found.moves["p.t.n__k"].from.id, Id::from("p.t.o__k"));
        assert_eq!(found.moves["p.t.b"].crossing, None);
    }

    #[test]
    fn other_types_and_other_providers_take_over() {
        for (to, crossing) in [
            ("p.u.a", true),
            ("q.t.a", true),
            ("same.t.a", false),
            ("gone.t.a", false),
        ] {
            let ir = configured("", &[&format!("a {to}")]);
            let state = stored("a");
            let found = relocated(&state, &ir).unwrap();
            let expected = crossing.then(|| Crossing {
                provider: "registry.terraform.io/acme/one".into(),
                ty: "t".into(),
            });
            assert_eq!(found.moves[to].crossing, expected, "{to}");
        }
    }
}
