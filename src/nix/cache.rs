//! Evaluations that are kept: the document of a flake that is locked and unchanged is found again without evaluating.
//!
//! One entry for each stack, for the owner only. What is kept cannot depend on anything that its key does not name: it comes from
//! an evaluation that is restricted, which sees neither the environment nor files outside of the flake and its inputs. A plan
//! that needs more is evaluated as if there was no cache.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};

use super::cli::call;
use super::eval::{CALL, EvalError, EvalInput, attempt, evaluate};
use super::target::Source;
use crate::fs;

/// How many entries there are at most.
const ENTRIES: usize = 64;

/// Where evaluations are kept.
#[derive(Clone, Debug)]
pub struct EvalCache {
    folder: PathBuf,
}

/// What an entry says about itself, in its first line; the document follows.
#[derive(Serialize, Deserialize)]
struct Header {
    /// Digest of all that the document depends on.
    key: String,
    /// Digest of the document.
    document: String,
    /// What the author's warnings and traces said.
    messages: Vec<String>,
}

impl EvalCache {
    /// Keeps evaluations in this folder, which need not exist yet.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// As [`evaluate`], but from the cache where it can be. `question` is all that the ledger file says.
    ///
    /// Nothing is kept of a file, of a flake that is not locked or has changes that git does not know, with replaced inputs,
    /// and of a stack with sensitive variables.
    pub fn evaluate(
        &self,
        input: &EvalInput<'_>,
        question: &str,
        on_message: &mut dyn FnMut(&str),
    ) -> Result<Vec<u8>, EvalError> {
        let Some(key) = key(input, question) else {
            return evaluate(input, on_message);
        };
        let entry = self.folder.join(digest(&[
            &input.target.origin(),
            &input.target.attr_path.join("\0"),
        ]));
        if let Some((header, document)) = read(&entry).filter(|(header, _)| header.key == key) {
            for line in &header.messages {
                on_message(line);
            }
            return Ok(document);
        }
        let restricted = EvalInput {
            restricted: true,
            ..*input
        };
        let mut messages = Vec::new();
        let Ok(document) = attempt(&restricted, &mut |line| messages.push(line.to_owned())) else {
            return evaluate(input, on_message);
        };
        for line in &messages {
            on_message(line);
        }
        if is_public(&document) {
            let header = Header {
                key,
                document: hex(&Sha256::digest(&document)),
                messages,
            };
            self.keep(&entry, &header, &document);
        }
        Ok(document)
    }

    /// A cache that cannot be written is no reason to fail.
    fn keep(&self, entry: &std::path::Path, header: &Header, document: &[u8]) {
        let Ok(mut bytes) = serde_json::to_vec(header) else {
            return;
        };
        bytes.push(b'\n');
        bytes.extend_from_slice(document);
        let kept = fs::create_private_dir(&self.folder)
            .and_then(|()| fs::atomic_write(entry, &bytes, fs::PRIVATE));
        if let (Ok(()), Ok(all)) = (kept, fs::list(&self.folder)) {
            let others = all.iter().filter(|path| *path != entry);
            for path in others.take(all.len().saturating_sub(ENTRIES)) {
                drop(fs::remove(path));
            }
        }
    }
}

/// An entry, if it is whole.
fn read(entry: &std::path::Path) -> Option<(Header, Vec<u8>)> {
    let mut bytes = fs::read_optional(entry).ok()??;
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let header: Header = serde_json::from_slice(&bytes[..end]).ok()?;
    let document = bytes.split_off(end + 1);
    (header.document == hex(&Sha256::digest(&document))).then_some((header, document))
}

/// Digest of all that an evaluation depends on; `None` if that cannot be told.
fn key(input: &EvalInput<'_>, question: &str) -> Option<String> {
    let flake = fingerprint(input)?;
    let version = input.nix.version();
    let options = json!([input.nix.options().settings, input.target.attr_path]).to_string();
    Some(digest(&[
        env!("CARGO_PKG_VERSION"),
        CALL,
        version,
        &options,
        &flake,
        question,
    ]))
}

/// What a locked flake without changes consists of: its content and that of its inputs.
fn fingerprint(input: &EvalInput<'_>) -> Option<String> {
    let Source::Flake { reference, .. } = &input.target.source else {
        return None;
    };
    if !input.nix.options().override_inputs.is_empty() {
        return None;
    }
    let command = input.nix.command("nix").ok()?;
    let command = command
        .args(["flake", "metadata", "--json", "--no-update-lock-file"])
        .arg(reference);
    let metadata: Json = serde_json::from_slice(&call(&command, &mut |_| ()).ok()?).ok()?;
    content(
        &metadata,
        reference.split_once('?').map_or("", |(_, query)| query),
    )
}

/// The fingerprint in what `nix flake metadata` says.
fn content(metadata: &Json, query: &str) -> Option<String> {
    let (locked, locks) = (&metadata["locked"], &metadata["locks"]);
    // Git's content may have changes; a folder is a copy, so that its time stamp says nothing.
    let moment = match locked["type"].as_str()? {
        "path" => &Json::Null,
        _ => locked["rev"].as_str().map(|_| &locked["lastModified"])?,
    };
    let root = locks["root"].as_str()?;
    let mut inputs = locks["nodes"].as_object()?.iter();
    let is_locked =
        |(name, node): (&String, &Json)| name == root || node["locked"]["narHash"].is_string();
    inputs.all(is_locked).then_some(())?;
    let nar_hash = locked["narHash"].as_str()?;
    Some(
        json!([
            nar_hash,
            locked["rev"],
            locked["revCount"],
            moment,
            locks,
            query
        ])
        .to_string(),
    )
}

/// Whether nothing in the document was checked with a secret.
fn is_public(document: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Document {
        #[serde(default)]
        variables: BTreeMap<String, Variable>,
    }
    #[derive(Deserialize)]
    struct Variable {
        #[serde(default)]
        sensitive: bool,
    }
    let parsed = serde_json::from_slice::<Document>(document);
    parsed.is_ok_and(|document| document.variables.values().all(|v| !v.sensitive))
}

/// A digest of texts, with a border between them.
fn digest(texts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update(text.len().to_le_bytes());
        hasher.update(text);
    }
    hex(&hasher.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(change: impl FnOnce(&mut Json)) -> Option<String> {
        let mut metadata = json!({
            "locked": { "type": "git", "narHash": "sha256-a", "rev": "1", "revCount": 1, "lastModified": 1 },
            "locks": { "root": "root", "nodes": { "root": {}, "x": { "locked": { "narHash": "sha256-x" } } } },
        });
        change(&mut metadata);
        content(&metadata, "dir=a")
    }

    #[test]
    fn only_a_locked_flake_without_changes_has_a_fingerprint() {
        assert!(fingerprint(|_| ()).is_some());
        let without: [fn(&mut Json); 4] = [
            |m| m["locked"]["rev"] = Json::Null,
            |m| m["locked"]["narHash"] = Json::Null,
            |m| m["locks"]["nodes"]["x"] = json!({ "original": {} }),
            |m| m["locks"] = Json::Null,
        ];
        for change in without {
            assert_eq!(fingerprint(change), None);
        }
        let other: [fn(&mut Json); 3] = [
            |m| m["locked"]["narHash"] = json!("sha256-b"),
            |m| m["locked"]["lastModified"] = json!(2),
            |m| m["locks"]["nodes"]["x"]["locked"]["narHash"] = json!("sha256-y"),
        ];
        for change in other {
            assert_ne!(fingerprint(change), fingerprint(|_| ()));
        }
        let folder = |moment: u64| {
            fingerprint(|m| {
                m["locked"] =
                    json!({ "type": "path", "narHash": "sha256-a", "lastModified": moment });
            })
        };
        assert!(folder(1).is_some() && folder(1) == folder(2));
    }

    #[test]
    fn a_document_with_sensitive_variables_is_not_kept() {
        let table = [
            (r#"{"variables":{"a":{"sensitive":true}}}"#, false),
            (r#"{"variables":{"a":{}}}"#, true),
            ("{}", true),
            ("{", false),
        ];
        for (document, expected) in table {
            assert_eq!(is_public(document.as_bytes()), expected, "{document}");
        }
    }

    #[test]
    fn a_damaged_entry_is_none_and_the_cache_is_bounded_and_private() {
        let home = fs::PrivateDir::new(&[std::env::temp_dir()]).unwrap();
        let cache = EvalCache::new(home.path().join("evaluations"));
        let header = |document: &[u8]| Header {
            key: "k".into(),
            document: hex(&Sha256::digest(document)),
            messages: vec!["m".into()],
        };
        for i in 0..ENTRIES + 5 {
            let entry = cache.folder.join(i.to_string());
            cache.keep(&entry, &header(b"{}"), b"{}");
            assert_eq!(read(&entry).unwrap().1, b"{}");
            assert_eq!(fs::mode(&entry).unwrap(), 0o600);
        }
        assert_eq!(fs::mode(&cache.folder).unwrap(), 0o700);
        assert_eq!(fs::list(&cache.folder).unwrap().len(), ENTRIES);
        let entry = cache.folder.join("damaged");
        for bytes in ["", "x", "{}\n{}", "\n"] {
            fs::atomic_write(&entry, bytes.as_bytes(), fs::PRIVATE).unwrap();
            assert!(read(&entry).is_none(), "{bytes}");
        }
        cache.keep(&entry, &header(b"{}"), b"{ }");
        assert!(read(&entry).is_none());
    }
}
