//! The floor plan of `src/lib.rs`, held by a test: who may use whom, which crate has which door, how long files may be.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Crates that only these places (path prefixes below `src/`) may name.
const DOORS: &[(&str, &[&str])] = &[
    ("duct", &["process.rs"]),
    ("which", &["process.rs"]),
    ("tempfile", &["fs.rs"]),
    ("rustix", &["fs/fault.rs"]),
    ("petgraph", &["graph/"]),
    ("rmp", &["value/"]),
    ("jsonschema", &["ir/"]),
    ("tonic", &["provider/", "builtin/"]),
    ("prost", &["provider/", "builtin/"]),
    (
        "rustls",
        &[
            "provider/",
            "builtin/",
            "registry/",
            "state/http/",
            "state/pg/",
        ],
    ),
    ("rcgen", &["provider/", "builtin/"]),
    ("ureq", &["registry/", "state/http/"]),
    ("object_store", &["state/object/"]),
    ("tokio_postgres", &["state/pg/"]),
    ("zip", &["registry/"]),
    ("pgp", &["registry/"]),
    ("clap", &["cli/"]),
];

/// Longest file, counted without its `#[cfg(test)]` part.
const LONGEST_FILE: usize = 400;

fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut open = vec![root.clone()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("src is readable") {
            let path: PathBuf = entry.expect("src is readable").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path
                    .strip_prefix(&root)
                    .expect("below src")
                    .to_string_lossy()
                    .into_owned();
                found.push((name, fs::read_to_string(&path).expect("sources are text")));
            }
        }
    }
    assert!(
        found.len() > 60,
        "only {} files found: the test looks in the wrong place",
        found.len()
    );
    found
}

/// The lines before the file's test module, without comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .take_while(|l| l.trim() != "#[cfg(test)]")
        .filter(|l| !l.trim_start().starts_with("//"))
}

fn floors() -> BTreeMap<String, usize> {
    let lib =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs")).expect("lib.rs");
    let names = lib
        .lines()
        .filter_map(|l| l.strip_prefix("pub mod ")?.strip_suffix(';'));
    names
        .enumerate()
        .map(|(floor, name)| (name.to_owned(), floor))
        .collect()
}

/// Every name of `names` that `line` uses as a path root, as in `crate::plan::…` with `prefix` `crate::`.
fn paths<'a>(line: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    line.match_indices(prefix).map(move |(at, _)| {
        let rest = &line[at + prefix.len()..];
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        &rest[..end]
    })
}

#[test]
fn a_module_uses_only_those_below_it() {
    let floors = floors();
    assert!(floors.len() >= 17, "lib.rs lists {} modules", floors.len());
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let own = file.split(['/', '.']).next().unwrap_or_default();
        let Some(&floor) = floors.get(own) else {
            continue;
        };
        for line in code(&text) {
            for used in paths(line, "crate::") {
                if floors.get(used).is_some_and(|&other| other > floor) {
                    wrong.push(format!(
                        "{file}: `{own}` uses `{used}`, which is above it: {}",
                        line.trim()
                    ));
                }
            }
            if line.contains("super::super::") {
                wrong.push(format!(
                    "{file}: `super::super::` escapes the count: {}",
                    line.trim()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn crates_come_in_by_their_doors() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        for (name, doors) in DOORS {
            if doors.iter().any(|door| file.starts_with(door)) {
                continue;
            }
            let path = format!("{name}::");
            let uses = |line: &&str| {
                line.match_indices(&path).any(|(at, _)| {
                    !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
                })
            };
            if let Some(line) = code(&text).find(uses) {
                wrong.push(format!(
                    "{file} names `{name}`, whose door is {doors:?}: {}",
                    line.trim()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_are_short_and_say_what_they_are() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let length = text
            .lines()
            .take_while(|l| l.trim() != "#[cfg(test)]")
            .count();
        if length > LONGEST_FILE {
            wrong.push(format!(
                "{file} has {length} lines without its tests, more than {LONGEST_FILE}"
            ));
        }
        if !text.starts_with("//!") {
            wrong.push(format!("{file} does not open with `//!`"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
