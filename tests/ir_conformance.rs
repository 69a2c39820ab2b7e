//! The IR contract: schema, reference checker, parser and the contract's own examples say the same.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use nivis::ir;
use serde_json::{Value, json};

const MIN_VALID: usize = 20;
const MIN_INVALID: usize = 100;
const MIN_EXAMPLES: usize = 12;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn fixtures(kind: &str, floor: usize) -> Vec<PathBuf> {
    let folder = root().join("tests/ir-conformance/fixtures").join(kind);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    assert!(files.len() >= floor, "only {} {kind} fixtures", files.len());
    files
}

/// What the parser says about a document, line by line. The words of the JSON parser are nobody's contract.
pub(crate) fn errors(bytes: &[u8]) -> Vec<String> {
    let Err(errors) = ir::parse(bytes) else {
        return Vec::new();
    };
    let errors = errors.to_string();
    errors.lines().map(without_parser_words).collect()
}

/// The line, with `…` for what some JSON parser says.
pub(crate) fn without_parser_words(line: &str) -> String {
    match line.split_once("not JSON: ") {
        Some((at, _)) => format!("{at}not JSON: …"),
        None => line.to_owned(),
    }
}

/// Runs the reference checker; gives its standard output.
#[expect(
    clippy::disallowed_methods,
    reason = "the reference checker is a program of its own"
)]
pub(crate) fn reference_checker(arguments: &[&str]) -> (bool, String) {
    let output = std::process::Command::new("python3")
        .arg(root().join("tests/ir-conformance/check.py"))
        .args(arguments)
        .output()
        .unwrap();
    let complaints = String::from_utf8(output.stderr).unwrap();
    assert!(
        complaints.is_empty(),
        "check.py needs python3 and the packages of its requirements.txt: {complaints}"
    );
    let said = String::from_utf8(output.stdout).unwrap();
    (output.status.success(), said)
}

#[test]
fn reference_checker_passes_its_suite() {
    let (success, said) = reference_checker(&["test"]);
    assert!(success, "{said}");
    let summary = said.lines().last().unwrap();
    let passed: usize = summary.split(' ').next().unwrap().parse().unwrap();
    assert!(passed >= MIN_VALID + MIN_INVALID, "{summary}");
}

#[test]
fn valid_fixtures_are_read() {
    for file in fixtures("valid", MIN_VALID) {
        let errors = errors(&std::fs::read(&file).unwrap());
        assert!(errors.is_empty(), "{}: {errors:#?}", file.display());
    }
}

/// What was read is written as a document that reads as the same, and that others accept too.
#[test]
fn what_was_read_can_be_written() {
    let schema = std::fs::read(root().join("docs/ir-schema.json")).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap();
    for file in fixtures("valid", MIN_VALID) {
        let document = reads_back(&std::fs::read(&file).unwrap());
        let found = schema_errors(&schema, &document);
        assert!(found.is_empty(), "{}: {found:?}", file.display());
    }
}

/// Reads, writes and reads a valid document; gives what was written.
pub(crate) fn reads_back(bytes: &[u8]) -> Value {
    let read = ir::parse(bytes).unwrap();
    let written = ir::write(&read);
    let again = ir::read_back(written.to_string().as_bytes());
    assert_eq!(again.unwrap(), read, "{written:#}");
    written
}

#[test]
fn invalid_fixtures_are_refused_in_the_words_of_the_reference() {
    for file in fixtures("invalid", MIN_INVALID) {
        let found = errors(&std::fs::read(&file).unwrap());
        let expected = std::fs::read_to_string(file.with_extension("expect")).unwrap();
        let expected: Vec<&str> = expected.lines().collect();
        assert!(!found.is_empty(), "{} is accepted", file.display());
        assert_eq!(found, expected, "{}", file.display());
    }
}

/// Addresses of what another validator than the reference's finds against the schema.
fn schema_errors(schema: &jsonschema::Validator, document: &Value) -> BTreeSet<String> {
    (schema.iter_errors(document))
        .map(|error| match error.instance_path().as_str() {
            "" => "<root>".to_owned(),
            pointer => pointer[1..].to_owned(),
        })
        .collect()
}

#[test]
fn schema_names_the_elements_that_the_parser_names() {
    let schema = std::fs::read(root().join("docs/ir-schema.json")).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap();
    for file in fixtures("valid", MIN_VALID) {
        let document = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let found = schema_errors(&schema, &document);
        assert!(found.is_empty(), "{}: {found:?}", file.display());
    }
    let mut malformed = 0;
    for file in fixtures("invalid", MIN_INVALID) {
        let bytes = std::fs::read(&file).unwrap();
        let Ok(document) = serde_json::from_slice(&bytes) else {
            continue;
        };
        let found = schema_errors(&schema, &document);
        let unknown_version = found.contains("schemaVersion");
        if found.is_empty() || unknown_version {
            continue;
        }
        malformed += 1;
        let addresses: BTreeSet<String> = (errors(&bytes).iter())
            .map(|line| line["at ".len()..].split(": ").next().unwrap().to_owned())
            .collect();
        assert_eq!(found, addresses, "{}", file.display());
    }
    assert!(
        malformed >= 50,
        "only {malformed} fixtures break the schema"
    );
}

/// The fenced blocks of a Markdown text whose info string starts with `json`: its other word, and the text.
fn examples(markdown: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        if let Some(kind) = line.strip_prefix("```json") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push((kind.trim().to_owned(), text.join("\n")));
        }
    }
    found
}

/// A document that declares what the contract's examples mention, and has `config` and `meta` in a resource.
fn document_around(config: &Value, meta: &Value) -> Value {
    let declare = |id: &str, ty: &str, name: &str| json!({"id": id, "provider": "alpha", "type": ty, "name": name, "config": {}});
    let mut host = declare("alpha.alpha_host.web", "alpha_host", "web");
    host["config"] = config.clone();
    host["meta"] = meta.clone();
    json!({
        "schemaVersion": 1,
        "providers": {"alpha": {"source": "/opt/alpha"}},
        "resources": [declare("alpha.alpha_token.api", "alpha_token", "api"), host],
        "dataSources": [declare("data.alpha.alpha_region.here", "alpha_region", "here")],
        "edges": [],
        "nixConsumers": [],
    })
}

#[test]
fn examples_of_the_contract_are_valid() {
    let contract = std::fs::read_to_string(root().join("docs/IR-CONTRACT.md")).unwrap();
    let examples = examples(&contract);
    assert!(examples.len() >= MIN_EXAMPLES, "{}", examples.len());
    for (kind, text) in examples {
        let example: Value = serde_json::from_str(&text).unwrap();
        let document = match kind.as_str() {
            "document" => example,
            "leaf" => document_around(&json!({"attribute": example}), &json!({})),
            "meta" => document_around(&json!({}), &example),
            "part" => {
                let mut document = document_around(&json!({}), &json!({}));
                for (key, value) in example.as_object().unwrap() {
                    match &mut document[key] {
                        Value::Array(list) => list.extend(value.as_array().unwrap().clone()),
                        absent => *absent = value.clone(),
                    }
                }
                document
            }
            "ledger" => {
                let keys: Vec<&String> = example.as_object().unwrap().keys().collect();
                assert_eq!(keys, ["only", "outputs", "phase", "salt", "vars"]);
                continue;
            }
            other => panic!("an example of the kind {other:?}"),
        };
        let errors = errors(document.to_string().as_bytes());
        assert!(errors.is_empty(), "{text}\n{errors:#?}");
    }
}
