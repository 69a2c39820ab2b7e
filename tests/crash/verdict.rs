//! What must hold when a run was disturbed and another came to its end behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value as Json;

use super::lab::NAMES;
use crate::support::{Output, Workspace};

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// Operations that were named as in flight.
    pub(super) in_flight: usize,
    /// Objects that exist, are not in the state, and were named.
    pub(super) orphans: usize,
    /// What must not be.
    pub(super) problems: Vec<String>,
}

/// Judges what two runs left behind: the world is what the state says, but for creations that were named as in flight.
pub(super) fn judge(workspace: &Workspace, disturbed: &Output, again: &Output) -> Verdict {
    // Either run may name it, or both.
    let named: BTreeSet<_> = [&disturbed.stderr, &again.stderr]
        .into_iter()
        .flat_map(|said| named(said))
        .collect();
    let mut verdict = Verdict {
        in_flight: named.len(),
        ..Verdict::default()
    };
    let problems = &mut verdict.problems;
    if disturbed.stderr.contains("panicked") {
        problems.push("the disturbed run panicked".to_owned());
    }
    if again.code != 0 || again.stderr.contains("panicked") {
        problems.push(format!("the next run fails\n{again}"));
        return verdict;
    }
    for left in leftovers(workspace) {
        problems.push(format!("{left} is left over"));
    }
    if !workspace.path(".nivis/stack/.gitignore").exists() {
        problems.push("the state may get into version control".to_owned());
    }
    let (world, mut wrong) = world(workspace);
    problems.append(&mut wrong);
    let state = state(workspace);
    let ids: BTreeSet<_> = state.values().map(|object| text(object, "name")).collect();
    if state.len() != NAMES.len() || !ids.iter().eq(&NAMES) {
        problems.push(format!("the state has {ids:?}"));
    }
    for (id, object) in &state {
        match world.get(id) {
            None => problems.push(format!("{id} is in the state, but does not exist")),
            Some(real) if real != object => {
                problems.push(format!("{id} is {real}, but the state says {object}"));
            }
            Some(_) => {}
        }
    }
    let creations = named.iter().filter(|n| n.1 == "create");
    let mut creations: BTreeSet<_> = creations.map(|n| n.0.as_str()).collect();
    for (id, object) in world.iter().filter(|(id, _)| !state.contains_key(*id)) {
        let address = format!("fake.fake_thing.{}", text(object, "name"));
        if creations.remove(&*address) {
            verdict.orphans += 1;
        } else {
            problems.push(format!("{id} exists, and nobody was told"));
        }
    }
    if !problems.is_empty() {
        problems.push(format!("the next run said\n{again}"));
    }
    verdict
}

fn text<'a>(object: &'a Json, name: &str) -> &'a str {
    object[name].as_str().unwrap()
}

/// Address and operation of everything that was named as in flight.
fn named(stderr: &str) -> Vec<(String, String)> {
    let mut lines = stderr.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        if !line.ends_with(": Operation was interrupted") {
            continue;
        }
        let with = lines.next().and_then(|l| l.strip_prefix("  with "));
        let what = lines.next().and_then(|l| l.strip_prefix("  the "));
        let operation = what.and_then(|w| w.split(' ').next()).unwrap();
        found.push((with.unwrap().to_owned(), operation.to_owned()));
    }
    found
}

/// Files that only a run that goes on may have.
fn leftovers(workspace: &Workspace) -> Vec<String> {
    let entries = fs::read_dir(workspace.path(".nivis/stack")).unwrap();
    let names = entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
    let stays = ["state.json", "state.json.backup", ".gitignore"];
    names.filter(|n| !stays.contains(&n.as_str())).collect()
}

/// Attributes of every object in the state by their ids, deposed ones included.
fn state(workspace: &Workspace) -> BTreeMap<String, Json> {
    let bytes = fs::read(workspace.path(".nivis/stack/state.json")).unwrap();
    let state: Json = serde_json::from_slice(&bytes).unwrap();
    let mut objects = BTreeMap::new();
    for resource in state["resources"].as_object().unwrap().values() {
        let deposed = resource["deposed"].as_object().into_iter().flatten();
        for object in deposed.map(|d| d.1).chain(resource.get("current")) {
            let attributes = object["attributes"].clone();
            objects.insert(text(&attributes, "id").to_owned(), attributes);
        }
    }
    objects
}

/// What exists by ids, and what was done that never makes sense.
fn world(workspace: &Workspace) -> (BTreeMap<String, Json>, Vec<String>) {
    let record = fs::read_to_string(workspace.path("record")).unwrap();
    let mut alive = BTreeMap::new();
    let mut problems = Vec::new();
    for line in record.lines() {
        let line: Json = serde_json::from_str(line).unwrap();
        let id = text(&line, "id").to_owned();
        if text(&line, "op") != "delete" {
            alive.insert(id, line["object"].clone());
        } else if alive.remove(&id).is_none() {
            problems.push(format!("{id} was destroyed twice"));
        }
    }
    (alive, problems)
}
