//! Part of a document: what another evaluation says about some of its elements.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::error::{At, IrErrors};
use super::json::{self, Json};
use super::parse::{consumer, edge, name_owners, named, parse, provider, read_lists, resource};
use super::reader::Reader;
use super::{Ir, VARIABLES, check};
use crate::addr::Id;

/// Reads the answer to a question about `owners` (resources, data sources, `provider.<id>`, consumers) and puts it in the
/// place of what `base` says about them; `secrets` says whether derived leaves may come with secret results.
///
/// A plan that takes no such questions answers with a whole document, which is the result then.
pub fn parse_part(
    bytes: &[u8],
    base: &Ir,
    owners: &BTreeSet<String>,
    secrets: bool,
) -> Result<Ir, IrErrors> {
    let json = json::parse(bytes).map_err(IrErrors)?;
    let Some(part) = json.get("part") else {
        return parse(bytes);
    };
    let variables = (!base.variables.is_empty()).then(|| Id::from(VARIABLES));
    let ids: HashSet<Id> = base.node_ids().cloned().chain(variables).collect();
    let mut reader = Reader::new(ids);
    reader.secrets = secrets;
    let read = document(&mut reader, &At::Root.key("part"), part);
    let mut errors = reader.malformed;
    if errors.is_empty() {
        errors = reader.contradictions;
    }
    let merged = merge(base, read, owners);
    if errors.is_empty() {
        errors = check::all(&merged);
    }
    if errors.is_empty() {
        return Ok(merged);
    }
    name_owners(part, &mut errors);
    errors.sort();
    Err(IrErrors(errors))
}

fn document(r: &mut Reader, at: &At, json: &Json) -> Ir {
    let lists = [
        "providers",
        "resources",
        "dataSources",
        "ephemeral",
        "calls",
        "edges",
        "nixConsumers",
    ];
    let fields = r.fields(at, json, &lists, &["ephemeral", "calls"]);
    Ir {
        providers: fields.read(r, "providers", |r, at, json| named(r, at, json, provider)),
        resources: fields.list(r, "resources", resource),
        data_sources: read_lists(r, &fields),
        edges: fields.list(r, "edges", edge),
        consumers: fields.list(r, "nixConsumers", consumer),
        ..Ir::default()
    }
}

fn merge(base: &Ir, part: Ir, owners: &BTreeSet<String>) -> Ir {
    let mut merged = base.clone();
    replace(&mut merged.resources, part.resources, |r| r.id.to_string());
    replace(&mut merged.data_sources, part.data_sources, |d| {
        d.id.to_string()
    });
    replace(&mut merged.consumers, part.consumers, |c| c.id.clone());
    merged.providers.extend(part.providers);
    merged
        .edges
        .retain(|edge| !owners.contains(edge.to.as_str()));
    merged.edges.extend(part.edges);
    merged
}

fn replace<T>(all: &mut [T], new: Vec<T>, name: impl Fn(&T) -> String) {
    let mut new: BTreeMap<String, T> = new.into_iter().map(|item| (name(&item), item)).collect();
    if new.is_empty() {
        return;
    }
    for item in all {
        if let Some(found) = new.remove(&name(item)) {
            *item = found;
        }
    }
}
