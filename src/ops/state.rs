//! Changes of the state alone: no provider is asked, the world stays as it is.

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::plan::rename;
use crate::state::{Session, State, Status};

/// Marks the current object of a resource to be replaced by the next apply ([`Status::Tainted`]), or takes the mark away. An
/// error if the mark to take away is not there.
pub fn mark(session: &mut Session, id: &Id, status: Status) -> Result<(), Diagnostics> {
    let mut after = session.state().clone();
    let stored = after
        .resources
        .get_mut(id)
        .ok_or_else(|| not_found(session.state(), id))?;
    let Some(object) = &mut stored.current else {
        return Err(Diagnostic::error("Resource has no object")
            .detail("only objects left over from replacements are stored, which the next apply destroys")
            .at(id.as_str())
            .into());
    };
    if status == Status::Ready && object.status == Status::Ready {
        return Err(Diagnostic::error("Resource is not tainted")
            .detail("there is no mark to take away")
            .at(id.as_str())
            .into());
    }
    object.status = status;
    record(session, &after)
}

/// Gives a stored resource, or all instances of it, another id; gives the new ids. What depends on it follows.
///
/// An error if there is no such resource, if something has the new id, or if the new id is of another type: only a `moved` entry
/// can have a provider make another type of an object.
pub fn rename(session: &mut Session, from: &Id, to: &Id) -> Result<Vec<Id>, Diagnostics> {
    let found = rename::stored_as(session.state(), from);
    if found.is_empty() {
        return Err(not_found(session.state(), from));
    }
    let mut after = session.state().clone();
    let mut new_ids = Vec::new();
    for old in &found {
        let Some(mut resource) = after.resources.remove(old) else {
            continue;
        };
        let new = rename::renamed(old, from, to);
        let names = rename::names(&new, &resource, None)?;
        if names.ty != resource.ty {
            let detail = format!(
                "`{old}` is a `{}`, and `{new}` would be a `{}`",
                resource.ty, names.ty
            );
            return Err(Diagnostic::error("Resource cannot change its type")
                .detail(detail)
                .hint("declare the new resource, with an entry in `moved`")
                .into());
        }
        resource.provider = names.provider;
        resource.name = names.name;
        resource.index = names.index;
        if session.state().resources.contains_key(&new) {
            return Err(Diagnostic::error("Resource exists already")
                .detail(format!("the state has a resource `{new}`"))
                .hint("remove or rename that one first")
                .into());
        }
        after.resources.insert(new.clone(), resource);
        new_ids.push(new);
    }
    let renamed = found.into_iter().zip(new_ids.iter().cloned()).collect();
    rename::follow(&mut after, &renamed);
    record(session, &after)?;
    Ok(new_ids)
}

/// Forgets stored resources, each with all its instances: their objects stay, but nothing manages them any more. Gives the ids
/// of what was forgotten; an error, and nothing is forgotten, if one of them is not there.
pub fn remove(session: &mut Session, ids: &[Id]) -> Result<Vec<Id>, Diagnostics> {
    let mut after = session.state().clone();
    let mut forgotten = Vec::new();
    let mut problems = Diagnostics::default();
    for id in ids {
        let found = rename::stored_as(session.state(), id);
        if found.is_empty() {
            problems.extend(not_found(session.state(), id));
        }
        forgotten.extend(
            found
                .into_iter()
                .filter(|id| after.resources.remove(id).is_some()),
        );
    }
    problems.into_result()?;
    record(session, &after)?;
    Ok(forgotten)
}

/// The error for an id that the state does not have.
pub fn not_found(state: &State, id: &Id) -> Diagnostics {
    Diagnostic::error("Resource not found")
        .detail(format!("the state has no resource `{id}`"))
        .hint("`nivis state list` shows what there is")
        .suggest(id.as_str(), state.resources.keys().map(Id::as_str))
        .into()
}

fn record(session: &mut Session, after: &State) -> Result<(), Diagnostics> {
    let records = rename::differences(session.state(), after);
    Ok(session.append(records)?)
}
