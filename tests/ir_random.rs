//! Random IR documents, well-formed and mutilated: parser and reference checker agree on every one, word for word.

#![expect(
    clippy::disallowed_methods,
    reason = "files of a test need not be written atomically"
)]

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::ir_conformance::{errors, reads_back, reference_checker, without_parser_words};

const VALID: usize = 50;
const MUTILATED: usize = 200;

/// A small source of repeatable choices.
pub(crate) struct Dice(u64);

impl Dice {
    /// The same choices for the same seed, and quite others for the next.
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Self(0x9e37_79b9_7f4a_7c15 ^ ((seed + 1) << 20));
        dice.roll(2);
        dice
    }

    /// A number below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    pub(crate) fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.roll(choices.len())].clone()
    }

    /// Up to `most` results of `make`.
    fn some<T>(&mut self, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.roll(most + 1)).map(|_| make(self)).collect()
    }
}

const TEXTS: [&str; 8] = ["", "x", "é ü", "a.b", "a/b~c", "0", "\"\\\n", "{}"];
const KEYS: [&str; 8] = ["id", "tags", "a.b", "0", "count", "path", "x/y", "é"];
const NUMBERS: [&str; 7] = [
    "0",
    "-1",
    "1.50",
    "1e3",
    "9007199254740993",
    "-2.5e-7",
    "1e400",
];

fn number(dice: &mut Dice) -> Value {
    serde_json::from_str(dice.pick(&NUMBERS)).unwrap()
}

/// A path that says the same written with dots.
fn path(dice: &mut Dice) -> Vec<Value> {
    let first = json!(dice.pick(&["id", "net", "tags"]));
    let step = |dice: &mut Dice| dice.pick(&[json!("ip"), json!("é"), json!(0), json!(12)]);
    std::iter::once(first).chain(dice.some(2, step)).collect()
}

fn target(dice: &mut Dice, ids: &[String]) -> Value {
    json!({"resource": dice.pick(ids), "path": path(dice)})
}

fn input(target: &Value) -> String {
    let mut text = target["resource"].as_str().unwrap().to_owned();
    for step in target["path"].as_array().unwrap() {
        text += ".";
        text += &step
            .as_str()
            .map_or_else(|| step.to_string(), str::to_owned);
    }
    text
}

fn derived(dice: &mut Dice, ids: &[String]) -> Value {
    let refs: Vec<Value> = (0..=dice.roll(2)).map(|_| target(dice, ids)).collect();
    let mut derived = json!({"inputs": refs.iter().map(input).collect::<Vec<_>>()});
    if dice.roll(2) == 0 {
        derived["refs"] = json!(refs);
    }
    if dice.roll(2) == 0 {
        let part = |r: &Value| [json!({"__ref": r}), json!(dice.pick(&TEXTS))];
        derived["template"] = refs.iter().flat_map(part).collect();
    }
    if dice.roll(4) == 0 {
        derived["sensitive"] = json!(true);
    }
    json!({"__derived": derived})
}

fn leaf(dice: &mut Dice, ids: &[String]) -> Value {
    let known = json!({"__build": {"path": "/nix/store/x-y/z", "drv": "/nix/store/x-y.drv"}});
    match dice.roll(if ids.is_empty() { 1 } else { 5 }) {
        0 => known,
        1 => json!({"__sensitiveRef": target(dice, ids)}),
        2 => json!({"__ref": target(dice, ids)}),
        _ => derived(dice, ids),
    }
}

fn members(dice: &mut Dice, depth: usize, ids: &[String]) -> Value {
    let member = |dice: &mut Dice| (dice.pick(&KEYS).to_owned(), tree(dice, depth, ids));
    Value::Object(dice.some(4, member).into_iter().collect())
}

/// A tree whose leaves mention only `ids`.
fn tree(dice: &mut Dice, depth: usize, ids: &[String]) -> Value {
    match dice.roll(if depth == 0 { 5 } else { 9 }) {
        0 => dice.pick(&[json!(null), json!(true), json!(false)]),
        1 => number(dice),
        2 => json!(dice.pick(&TEXTS)),
        3 | 4 => leaf(dice, ids),
        5 => dice.some(3, |dice| tree(dice, depth - 1, ids)).into(),
        6 => {
            let mut inner = members(dice, depth - 1, ids);
            inner["__ref"] = tree(dice, depth - 1, ids);
            json!({"__object": inner})
        }
        _ => members(dice, depth - 1, ids),
    }
}

fn meta(dice: &mut Dice, ids: &[String], is_resource: bool) -> Value {
    let mut meta = Map::new();
    if dice.roll(2) == 0 && !ids.is_empty() {
        meta.insert(
            "dependsOn".into(),
            json!(dice.some(2, |dice| dice.pick(ids))),
        );
    }
    if dice.roll(3) == 0 {
        meta.insert("sensitive".into(), json!(["a.0", ["b", 0]]));
        let condition = json!({"condition": tree(dice, 1, ids), "message": tree(dice, 1, ids)});
        meta.insert("preconditions".into(), json!([condition]));
    }
    if is_resource && dice.roll(3) == 0 {
        let triggers = dice.some(2, |dice| match ids {
            [] => json!([]),
            _ => json!({"__ref": target(dice, ids)}),
        });
        let triggers: Vec<_> = triggers.into_iter().filter(Value::is_object).collect();
        meta.insert(
            "lifecycle".into(),
            json!({"ignoreChanges": dice.pick(&[json!(["*"]), json!(["a.b", ["c"]])]), "replaceTriggeredBy": triggers}),
        );
    }
    Value::Object(meta)
}

/// A valid document: entries mention only entries made before them.
fn document(dice: &mut Dice) -> Value {
    let mut ids: Vec<String> = Vec::new();
    let (mut resources, mut data_sources, mut edges) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..dice.roll(6) {
        let is_resource = dice.roll(3) > 0;
        let provider = dice.pick(&["alpha", "example.org/x/beta"]);
        let (prefix, name) = (if is_resource { "" } else { "data." }, format!("n__{i}"));
        let id = format!("{prefix}{provider}.thing.{name}");
        let mut meta = meta(dice, &ids, is_resource);
        if dice.roll(2) == 0 {
            meta["index"] = dice.pick(&[json!(i), json!(i.to_string())]);
        }
        let entry = json!({"id": id, "provider": provider, "type": "thing", "name": name,
            "config": members(dice, 3, &ids), "meta": meta});
        let list = if is_resource {
            &mut resources
        } else {
            &mut data_sources
        };
        list.push(entry);
        if !ids.is_empty() {
            edges.extend(dice.some(
                2,
                |dice| json!({"from": dice.pick(&ids), "to": id, "via": "a.0"}),
            ));
        }
        ids.push(id);
    }
    let consumer = |i: usize, dice: &mut Dice| json!({"id": format!("output.o{i}"), "value": tree(dice, 2, &ids)});
    let consumers: Vec<Value> = (0..dice.roll(3)).map(|i| consumer(i, dice)).collect();
    let mut document = json!({
        "schemaVersion": 1,
        "providers": {"alpha": {"source": "/opt/alpha", "config": {}}, "example.org/x/beta": {"source": "x/beta", "version": "~> 1.0"}},
        "resources": resources, "dataSources": data_sources, "edges": edges, "nixConsumers": consumers,
    });
    if dice.roll(3) == 0 {
        document["backend"] = json!({"type": "local", "x": [1, {"y": null}]});
        document["moved"] = json!([{"from": "alpha.thing.gone", "to": "alpha.thing.n__0"}]);
        document["variables"] = json!({"v": {"default": [number(dice)]}});
        document["checks"] =
            json!([{"name": "c", "condition": tree(dice, 1, &ids), "message": ""}]);
    }
    document
}

/// JSON pointers of all elements but the root.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(i, v)| (i.to_string(), v))
            .collect(),
        Value::Object(members) => {
            let escape = |key: &String| key.replace('~', "~0").replace('/', "~1");
            members.iter().map(|(k, v)| (escape(k), v)).collect()
        }
        _ => Vec::new(),
    };
    for (step, child) in children {
        let at = format!("{at}/{step}");
        pointers(child, &at, found);
        found.push(at);
    }
}

/// Replaces, renames, removes or copies one element; texts often by other texts, for documents that contradict themselves.
fn mutilate(dice: &mut Dice, document: &mut Value) {
    let mut all = Vec::new();
    pointers(document, "", &mut all);
    let victim = dice.pick(&all);
    let texts = |at: &&String| document.pointer(at).unwrap().is_string();
    if dice.roll(2) == 0 && texts(&&victim) {
        let text = dice.pick(&all.iter().filter(texts).collect::<Vec<_>>());
        let text = document.pointer(text).unwrap().clone();
        *document.pointer_mut(&victim).unwrap() = text;
        return;
    }
    let other = document.pointer(&dice.pick(&all)).unwrap().clone();
    let replacements = [
        json!(null),
        json!(true),
        json!(-1),
        json!(0.5),
        json!(""),
        json!("alpha.thing.n__9"),
        json!([]),
        json!({}),
        json!({"__ref": 1}),
        json!({"__derived": {"inputs": ["x.y"], "path": []}, "count": 1}),
        json!([["a"], "*"]),
        json!({"for_each": {}, "dependOn": []}),
    ];
    let (parent, step) = victim.rsplit_once('/').unwrap();
    let key = step.replace("~1", "/").replace("~0", "~");
    match (dice.roll(5), document.pointer_mut(parent).unwrap()) {
        (0, Value::Object(members)) => {
            members.remove(&key);
        }
        (1, Value::Object(members)) => {
            let value = members.remove(&key).unwrap();
            let new = dice.pick(&["count", "__ref", "__object", "inputs", "extra", "dependsOn"]);
            members.insert(new.to_owned(), value);
        }
        (2, Value::Object(members)) => {
            members.insert(dice.pick(&KEYS).to_owned(), other);
        }
        (2 | 3, Value::Array(items)) => items.push(other),
        (3, _) => *document.pointer_mut(&victim).unwrap() = other,
        _ => *document.pointer_mut(&victim).unwrap() = dice.pick(&replacements),
    }
}

#[test]
fn parser_and_reference_agree() {
    let folder = tempfile::tempdir().unwrap();
    let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for i in 0..VALID + MUTILATED {
        let mut dice = Dice::new(i as u64);
        let mut document = document(&mut dice);
        if i >= VALID {
            (0..=dice.roll(2)).for_each(|_| mutilate(&mut dice, &mut document));
        }
        let bytes = document.to_string();
        let found = errors(bytes.as_bytes());
        if i < VALID {
            assert!(found.is_empty(), "{document:#}\n{found:#?}");
            reads_back(bytes.as_bytes());
        }
        let file = folder.path().join(format!("{i}.json"));
        std::fs::write(&file, bytes).unwrap();
        expected.insert(file.to_str().unwrap().to_owned(), found);
    }
    let refused = expected
        .values()
        .filter(|errors| !errors.is_empty())
        .count();
    assert!(
        refused > MUTILATED / 2,
        "only {refused} documents are wrong"
    );

    let arguments: Vec<&str> = std::iter::once("validate")
        .chain(expected.keys().map(|f| &**f))
        .collect();
    let (_, said) = reference_checker(&arguments);
    let mut found: BTreeMap<String, Vec<String>> = (expected.keys())
        .map(|file| (file.clone(), Vec::new()))
        .collect();
    for line in said.lines() {
        let (file, error) = line.split_once(": ").unwrap();
        found
            .get_mut(file)
            .unwrap()
            .push(without_parser_words(error));
    }
    for (file, errors) in &expected {
        let document = std::fs::read_to_string(file).unwrap();
        assert_eq!(
            errors, &found[file],
            "parser left, reference right: {document}"
        );
    }
}
