//! New ids for stored resources: their records under the new names, and what depends on them told (pure).

use std::collections::BTreeMap;

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Index, Ir};
use crate::plan::ChangeTarget;
use crate::state::{Outcome, Record, ResourceState, State};

/// The names in an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// Provider id.
    pub provider: String,
    /// Resource type.
    pub ty: String,
    /// Name, with `__<key>` for an instance.
    pub name: String,
    /// The key of an instance.
    pub index: Option<Index>,
}

/// The names in `id`, which a resource that is stored as `old` is to have: as declared in `ir`; else the id is taken apart,
/// with the help of what is known of providers and of the stored instance key. An error if it is no id of a resource.
pub fn names(id: &Id, old: &ResourceState, ir: Option<&Ir>) -> Result<Names, Diagnostics> {
    let declared = ir.and_then(|ir| ir.resources.iter().find(|r| r.id == *id));
    if let Some(resource) = declared {
        return Ok(Names {
            provider: resource.provider.clone(),
            ty: resource.ty.clone(),
            name: resource.name.clone(),
            index: resource.meta.index.clone(),
        });
    }
    let known = ir.into_iter().flat_map(|ir| ir.providers.keys());
    let provider = known
        .chain([&old.provider])
        .filter(|p| {
            id.as_str()
                .strip_prefix(p.as_str())
                .is_some_and(|rest| rest.starts_with('.'))
        })
        .max_by_key(|p| p.len())
        .map(String::as_str)
        .or_else(|| id.as_str().split_once('.').map(|(first, _)| first));
    let rest = provider.and_then(|p| Some((p, id.as_str().get(p.len() + 1..)?.split_once('.')?)));
    let Some((provider, (ty, name))) =
        rest.filter(|(p, (t, n))| !p.is_empty() && !t.is_empty() && !n.is_empty())
    else {
        return Err(Diagnostic::error("Invalid resource id")
            .detail(format!("`{id}` is no id of a resource"))
            .hint("write `<provider>.<type>.<name>`")
            .into());
    };
    Ok(Names {
        provider: provider.to_owned(),
        ty: ty.to_owned(),
        name: name.to_owned(),
        index: index(id, old.index.as_ref()),
    })
}

/// The key in the id of an instance, of the kind that it had.
fn index(id: &Id, old: Option<&Index>) -> Option<Index> {
    let (_, key) = id.instance().filter(|_| old.is_some())?;
    match (old, key.parse()) {
        (Some(Index::Number(_)), Ok(number)) => Some(Index::Number(number)),
        _ => Some(Index::Key(key.into())),
    }
}

/// The names of a stored resource.
pub fn target(id: &Id, stored: &ResourceState) -> ChangeTarget {
    ChangeTarget {
        id: id.clone(),
        provider: stored.provider.clone(),
        ty: stored.ty.clone(),
        name: stored.name.clone(),
        index: stored.index.clone(),
    }
}

/// Makes what depends on renamed resources depend on their new ids. `renamed` leads from old to new.
pub fn follow(state: &mut State, renamed: &BTreeMap<Id, Id>) {
    for resource in state.resources.values_mut() {
        for object in resource
            .current
            .iter_mut()
            .chain(resource.deposed.values_mut())
        {
            for on in &mut object.dependencies {
                if let Some(new) = renamed.get(on) {
                    on.clone_from(new);
                }
            }
            object.dependencies.sort();
            object.dependencies.dedup();
        }
    }
}

/// Ids of the stored resources that `id` stands for: the resource itself, or all instances of it.
pub fn stored_as(state: &State, id: &Id) -> Vec<Id> {
    let own = state.resources.get_key_value(id).into_iter();
    let instances = instances(&state.resources, id).filter(|(_, r)| r.index.is_some());
    own.chain(instances).map(|(id, _)| id.clone()).collect()
}

/// The entries whose ids are those of instances of `id`.
pub fn instances<'a, T>(
    entries: &'a BTreeMap<Id, T>,
    id: &'a Id,
) -> impl Iterator<Item = (&'a Id, &'a T)> {
    let start = format!("{id}__");
    let instance = |entry: &Id| {
        entry
            .instance()
            .is_some_and(|(base, _)| base == id.as_str())
    };
    entries
        .range(Id::from(start.as_str())..)
        .take_while(move |(entry, _)| entry.as_str().starts_with(&start))
        .filter(move |(entry, _)| instance(entry))
}

/// The id that the stored `old`, found as (an instance of) `from`, has under `to`.
pub fn renamed(old: &Id, from: &Id, to: &Id) -> Id {
    match old.as_str().strip_prefix(from.as_str()) {
        Some(key) => Id::from(format!("{to}{key}")),
        None => to.clone(),
    }
}

/// What is to be recorded to get from the resources of one state to those of another.
pub fn differences(before: &State, after: &State) -> Vec<Record> {
    let gone = before
        .resources
        .keys()
        .filter(|id| !after.resources.contains_key(id.as_str()));
    let gone = gone.map(|id| (id, None));
    let new = after
        .resources
        .iter()
        .filter(|(id, r)| before.resources.get(id.as_str()) != Some(r));
    let record = |(id, resource): (&Id, Option<&ResourceState>)| {
        Outcome {
            id: id.clone(),
            deposed: None,
            resource: resource.cloned(),
        }
        .into()
    };
    gone.chain(new.map(|(id, r)| (id, Some(r))))
        .map(record)
        .collect()
}
