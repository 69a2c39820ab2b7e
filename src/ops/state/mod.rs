//! The state alone: no provider is asked, the world stays as it is.

mod export;
mod import;
mod mapping;
mod select;

use serde_json::Value as Json;

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::plan::rename;
use crate::state::{self, Session, State, Status};

pub use export::{TfExport, export_tfstate, provider_refs};
pub use import::{TfImport, TfImported, import_tfstate, prepare_import};
pub use mapping::MapFile;
pub use select::{list_json, select};

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

/// Gives a stored resource, or all instances of it, another id; gives the old ids with the new ones. What depends on it
/// follows.
///
/// An error if there is no such resource, if something has the new id, or if the new id is of another type: only a `moved` entry
/// can have a provider make another type of an object.
pub fn rename(session: &mut Session, from: &Id, to: &Id) -> Result<Vec<(Id, Id)>, Diagnostics> {
    let (after, moved) = renamed(session.state(), from, to)?;
    record(session, &after)?;
    Ok(moved)
}

/// The state as [`rename()`] would make it of `before`.
pub fn renamed(before: &State, from: &Id, to: &Id) -> Result<(State, Vec<(Id, Id)>), Diagnostics> {
    let found = rename::stored_as(before, from);
    if found.is_empty() {
        return Err(not_found(before, from));
    }
    let mut after = before.clone();
    let mut moved = Vec::new();
    for old in found {
        let Some(mut resource) = after.resources.remove(&old) else {
            continue;
        };
        let new = rename::renamed(&old, from, to);
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
        if before.resources.contains_key(&new) {
            return Err(Diagnostic::error("Resource exists already")
                .detail(format!("the state has a resource `{new}`"))
                .hint("remove or rename that one first")
                .into());
        }
        after.resources.insert(new.clone(), resource);
        moved.push((old, new));
    }
    rename::follow(&mut after, &moved.iter().cloned().collect());
    Ok((after, moved))
}

/// Forgets stored resources: their objects stay, but nothing manages them any more. Gives the ids of what was forgotten;
/// an error, and nothing is forgotten, if one of `wanted`, as [`select`] takes them, is not there.
pub fn remove(session: &mut Session, wanted: &[String]) -> Result<Vec<Id>, Diagnostics> {
    let forgotten = select(session.state(), wanted)?;
    let mut after = session.state().clone();
    after.resources.retain(|id, _| !forgotten.contains(id));
    record(session, &after)?;
    Ok(forgotten)
}

/// The state as a document.
pub fn text(state: &State) -> Result<Vec<u8>, Diagnostics> {
    state::encode(state, None).map_err(|e| state::StateError::from(e).into())
}

/// What [`text`] writes; `name` says in errors what it is.
pub fn parse(text: &[u8], name: &str) -> Result<State, Diagnostics> {
    let snapshot = state::decode(text, name).map_err(|e| {
        let hint = e.hint();
        Diagnostic::error("Cannot read the state")
            .detail(e.to_string())
            .hint(hint)
    })?;
    Ok(snapshot.state)
}

/// Puts a state in the place of the present one: a later version of it, unless there is none yet, or `force`. Gives its
/// serial; `None` if it is the present one.
///
/// What is forced gets a serial beyond the present one, so that nobody takes it for an older version.
pub fn push(
    session: &mut Session,
    mut state: State,
    force: bool,
) -> Result<Option<u64>, Diagnostics> {
    let present = session.state();
    if same(&state, present)? {
        return Ok(None);
    }
    if force {
        state.serial = state.serial.max(present.serial + 1);
    }
    let serial = state.serial;
    session.replace(state, force)?;
    Ok(Some(serial))
}

/// Whether two states say the same, however their parts are laid out.
fn same(one: &State, other: &State) -> Result<bool, Diagnostics> {
    let document = |state| -> Result<Option<Json>, Diagnostics> {
        Ok(serde_json::from_slice(&text(state)?).ok())
    };
    let one = document(one)?;
    Ok(one.is_some() && one == document(other)?)
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
