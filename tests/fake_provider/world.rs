//! The record: the remote world of the fake provider, as JSON lines in a file.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

/// What exists.
#[derive(Clone, Debug)]
pub(crate) struct World(pub(crate) PathBuf);

/// The last word of the record about an id.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Found {
    /// It is there, with these attributes.
    Object(Json),
    /// It was never made, or unmade since.
    Gone,
}

impl World {
    /// Appends what was done to a thing.
    pub(crate) fn note(&self, op: &str, ty: &str, id: &str, object: &Json) -> Result<(), String> {
        append(
            &self.0,
            &json!({"op": op, "type": ty, "id": id, "object": object}),
        )
    }

    /// What there is of that type and id.
    pub(crate) fn find(&self, ty: &str, id: &str) -> Found {
        let about = |line: &&Json| line["type"] == ty && line["id"] == id;
        let lines = self.lines();
        match lines.iter().rev().find(about) {
            Some(line) if line["op"] != "delete" => Found::Object(line["object"].clone()),
            _ => Found::Gone,
        }
    }

    /// How many things of that type were made under a name, those unmade included.
    pub(crate) fn created(&self, ty: &str, name: &str) -> usize {
        let made = |line: &&Json| {
            line["op"] == "create" && line["type"] == ty && line["object"]["name"] == name
        };
        self.lines().iter().filter(made).count()
    }

    /// Whether a thing of that type and name exists.
    pub(crate) fn exists(&self, ty: &str, name: &str) -> bool {
        let lines = self.lines();
        let ids = lines
            .iter()
            .filter(|l| l["type"] == ty)
            .filter_map(|l| l["id"].as_str());
        ids.map(|id| self.find(ty, id))
            .any(|found| matches!(found, Found::Object(o) if o["name"] == name))
    }

    fn lines(&self) -> Vec<Json> {
        let text = std::fs::read_to_string(&self.0).unwrap_or_default();
        text.lines()
            .filter_map(|l| serde_json::from_str(l).ok())
            .collect()
    }
}

/// Appends one line to a file, in one write.
pub(crate) fn append(path: &Path, line: &Json) -> Result<(), String> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()))
        .map_err(|e| format!("{}: {e}", path.display()))
}
