//! The outputs ledger: what an evaluation is told about objects (docs/IR-CONTRACT.md, "Outputs ledger").
//!
//! It holds only attributes that some Nix-computed leaf needs. A part that is not known yet is `{"__unknown": true}`; a
//! sensitive part is `{"__sensitiveRef": …}`, never the value.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path as FilePath, PathBuf};

use serde_json::{Map, Value as Json, json};

use crate::addr::Id;
use crate::eval::vars::Vars;
use crate::fs::{self, PathError, PrivateDir};
use crate::ir::{Ir, Ref};
use crate::state::DeriveInput;
use crate::value::{Entries, Number, Path, PathSet, Step, Value};

/// What is known of the outputs that Nix needs: attributes by object id. Equal ledgers give equal evaluations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    outputs: BTreeMap<Id, BTreeMap<String, Json>>,
}

impl Ledger {
    /// What the last run left in the state. Entries that make no sense are left out: they cost an evaluation, no more.
    pub fn from_inputs(inputs: &[DeriveInput]) -> Self {
        let mut ledger = Self::default();
        for DeriveInput { input, value } in inputs {
            if let (Some(name), Ok(value)) = (attribute(input), serde_json::from_slice(value)) {
                ledger.put(&input.resource, name, value);
            }
        }
        ledger
    }

    /// What the next run is given.
    pub fn to_inputs(&self) -> Vec<DeriveInput> {
        let entries = self
            .outputs
            .iter()
            .flat_map(|(id, all)| all.iter().map(move |(name, v)| (id, name, v)));
        entries
            .map(|(id, name, value)| DeriveInput {
                input: Ref {
                    resource: id.clone(),
                    path: Path::root().attribute(name.as_str()),
                },
                value: value.to_string().into_bytes(),
            })
            .collect()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }

    /// The outputs it holds, one attribute each.
    pub fn refs(&self) -> impl Iterator<Item = Ref> {
        self.to_inputs().into_iter().map(|i| i.input)
    }

    /// Notes one attribute of an object, as far as it is known. Of an attribute of which nothing is known there is no entry.
    pub fn insert(&mut self, id: &Id, name: &str, object: &Value, sensitive: &PathSet) {
        let path = Path::root().attribute(name);
        if let Some(value) = object.attribute(name).filter(|v| v.is_known()) {
            let entry = render(id, value, &path, sensitive);
            self.put(id, name, entry);
        }
    }

    /// Takes over what another ledger holds of one attribute.
    pub(super) fn keep(&mut self, other: &Self, id: &Id, name: &str) {
        if let Some(value) = other.outputs.get(id).and_then(|all| all.get(name)) {
            self.put(id, name, value.clone());
        }
    }

    fn put(&mut self, id: &Id, name: &str, value: Json) {
        self.outputs
            .entry(id.clone())
            .or_default()
            .insert(name.to_owned(), value);
    }

    /// Ids of the objects that the two ledgers do not say the same about.
    pub fn changed<'a>(&'a self, other: &'a Self) -> BTreeSet<&'a Id> {
        let all = self.outputs.keys().chain(other.outputs.keys());
        all.filter(|id| self.outputs.get(*id) != other.outputs.get(*id))
            .collect()
    }

    /// Ids of the objects about which a later ledger does not say what this one says: not those of which it says more.
    pub fn revised<'a>(&'a self, later: &Self) -> BTreeSet<&'a Id> {
        let told = |id: &Id, name: &String| later.outputs.get(id)?.get(name);
        let outputs = self.outputs.iter();
        outputs
            .filter(|(id, all)| all.iter().any(|(name, v)| told(id, name) != Some(v)))
            .map(|(id, _)| id)
            .collect()
    }

    /// Whether everything here is still said by `other`.
    pub(super) fn is_part_of(&self, other: &Self) -> bool {
        let said = |id: &Id, name: &String| other.outputs.get(id)?.get(name);
        let mut all = self.outputs.iter();
        all.all(|(id, values)| {
            let mut values = values.iter();
            values.all(|(name, value)| said(id, name) == Some(value))
        })
    }

    /// What it says of an output. What does not exist counts as known: Nix says so.
    pub(super) fn look(&self, target: &Ref) -> Look {
        let found =
            attribute(target).and_then(|name| self.outputs.get(&target.resource)?.get(name));
        let Some(mut value) = found else {
            return Look::Unknown;
        };
        for step in target.path.0.iter().skip(1) {
            if is_marked(value, UNKNOWN) || is_marked(value, SECRET) {
                break;
            }
            let inside = match step {
                Step::Attribute(name) | Step::Key(name) => value.get(&**name),
                Step::Index(i) => usize::try_from(*i).ok().and_then(|i| value.get(i)),
            };
            let Some(inside) = inside else {
                return Look::Known;
            };
            value = inside;
        }
        if holds(value, UNKNOWN) {
            Look::Unknown
        } else if holds(value, SECRET) {
            Look::Secret
        } else {
            Look::Known
        }
    }

    /// What it holds: by object id, attributes by name.
    pub fn outputs(&self) -> Map<String, Json> {
        self.outputs
            .iter()
            .map(|(id, all)| (id.to_string(), json!(all)))
            .collect()
    }

    /// The ledger that holds this; none if it is not of the form of [`outputs`](Self::outputs).
    pub fn from_outputs(outputs: &Map<String, Json>) -> Option<Self> {
        let mut ledger = Self::default();
        for (id, attributes) in outputs {
            for (name, value) in attributes.as_object()? {
                ledger.put(&Id::from(id.as_str()), name, value.clone());
            }
        }
        Some(ledger)
    }
}

const UNKNOWN: &str = "__unknown";
const SECRET: &str = "__sensitiveRef";

/// What a ledger says of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Its value.
    Known,
    /// That it, or a part of it, is a secret that is known.
    Secret,
    /// Not all of it.
    Unknown,
}

fn is_marked(value: &Json, mark: &str) -> bool {
    value.get(mark).is_some()
}

/// Whether a value is, or has inside, something with this mark.
fn holds(value: &Json, mark: &str) -> bool {
    match value {
        Json::Object(members) => is_marked(value, mark) || members.values().any(|v| holds(v, mark)),
        Json::Array(items) => items.iter().any(|v| holds(v, mark)),
        _ => false,
    }
}

/// What one evaluation is asked.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// What is known of outputs.
    pub ledger: &'a Ledger,
    /// Counted from 1.
    pub phase: u64,
    /// Only about these elements, by id, of a stack that is known otherwise.
    pub part: Option<Part<'a>>,
    /// Whether to look for places that depend on outputs without saying so, which takes longer.
    pub compare: bool,
}

/// A question about a part of a stack.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// What the stack was before.
    pub base: &'a Ir,
    /// Resources, data sources, `provider.<id>`, consumers.
    pub owners: &'a BTreeSet<String>,
    /// Outputs that only this evaluation may see, in full.
    pub secrets: Option<&'a Ledger>,
}

impl<'a> Question<'a> {
    /// About the whole stack.
    pub fn whole(ledger: &'a Ledger, phase: u64) -> Self {
        Self {
            ledger,
            phase,
            part: None,
            compare: false,
        }
    }

    /// The ledger file's content.
    pub fn to_json(self, vars: &Vars) -> String {
        let mut document = json!({ "phase": self.phase, "outputs": self.ledger.outputs() });
        if !vars.is_empty() {
            document["vars"] = vars.to_json();
        }
        if let Some(part) = self.part {
            document["only"] = json!(part.owners);
        }
        if self.compare {
            document["compare"] = json!(true);
        }
        document.to_string()
    }
}

/// A value as Nix reads it.
pub(super) fn plain(value: &Value) -> Json {
    render(&Id::from(""), value, &Path::root(), &PathSet::default())
}

/// The attribute that a reference goes through first.
pub(super) fn attribute(target: &Ref) -> Option<&str> {
    match target.path.0.first()? {
        Step::Attribute(name) | Step::Key(name) => Some(name),
        Step::Index(_) => None,
    }
}

fn render(id: &Id, value: &Value, path: &Path, sensitive: &PathSet) -> Json {
    // Elements of a set have no path that lasts: a secret in one makes the whole set secret.
    let in_a_set = matches!(value, Value::Set(_)) && sensitive.touches(path);
    if sensitive.covers(path) || in_a_set {
        return json!({ "__sensitiveRef": { "resource": id.as_str(), "path": steps(path) } });
    }
    let list = |items: &[Value]| {
        (0..)
            .zip(items)
            .map(|(i, v)| render(id, v, &path.index(i), sensitive))
            .collect::<Json>()
    };
    let entries = |entries: &Entries, step: fn(&str) -> Step| {
        let member = |(k, v): (_, &Value)| {
            let k: &crate::value::Str = k;
            (k.to_string(), render(id, v, &path.with(step(k)), sensitive))
        };
        Json::Object(entries.iter().map(member).collect())
    };
    match value {
        Value::Unknown(_) => json!({ "__unknown": true }),
        Value::Null(_) => Json::Null,
        Value::Bool(b) => Json::Bool(*b),
        Value::String(s) => Json::String(s.to_string()),
        Value::Number(n) => number(n),
        Value::List(s) | Value::Set(s) => list(&s.items),
        Value::Tuple(items) => list(items),
        Value::Map(m) => entries(&m.entries, |k| Step::Key(k.into())),
        Value::Object(o) => entries(o, |k| Step::Attribute(k.into())),
    }
}

/// A number, if Nix reads it as the number it is: integers of 64 bits and decimals that a 64-bit float stands for. Nix reads
/// larger integers as negative ones or as floats, so all others go as text, which providers take for a number again.
fn number(n: &Number) -> Json {
    let is_float = || !n.is_integer() && Number::from_f64(n.to_f64()).as_ref() == Some(n);
    match n.to_json_number() {
        Some(json) if n.as_i64().is_some() || is_float() => Json::Number(json),
        _ => Json::String(n.to_string()),
    }
}

fn steps(path: &Path) -> Json {
    let step = |step: &Step| match step {
        Step::Attribute(name) | Step::Key(name) => Json::String(name.to_string()),
        Step::Index(i) => json!(i),
    };
    path.0.iter().map(step).collect()
}

/// A question on disk, for the owner only, in memory where there is a folder for that; gone when dropped.
#[derive(Debug)]
pub struct LedgerFile {
    _folder: PrivateDir,
    path: PathBuf,
    secrets: Option<PathBuf>,
}

impl LedgerFile {
    /// Writes a question into a new folder in the first of `parents` that can have one.
    pub fn write(
        question: Question<'_>,
        vars: &Vars,
        parents: &[PathBuf],
    ) -> Result<Self, PathError> {
        let folder = PrivateDir::new(parents)?;
        let path = folder.path().join("ledger.json");
        fs::atomic_write(&path, question.to_json(vars).as_bytes(), fs::PRIVATE)?;
        let secrets = match question.part.and_then(|part| part.secrets) {
            None => None,
            Some(secrets) => {
                let path = folder.path().join("secrets.json");
                let content = json!({ "outputs": secrets.outputs() }).to_string();
                fs::atomic_write(&path, content.as_bytes(), fs::PRIVATE)?;
                Some(path)
            }
        };
        Ok(Self {
            _folder: folder,
            path,
            secrets,
        })
    }

    /// Where the ledger is.
    pub fn path(&self) -> &FilePath {
        &self.path
    }

    /// Where the secrets are, if the question has any.
    pub fn secrets(&self) -> Option<&FilePath> {
        self.secrets.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Type;
    use std::os::unix::fs::PermissionsExt;

    fn rendered(value: Value, sensitive: &[Path]) -> Json {
        let mut ledger = Ledger::default();
        let object = Value::object([("a", value)]);
        ledger.insert(
            &"p.t.x".into(),
            "a",
            &object,
            &sensitive.iter().cloned().collect(),
        );
        let json: Json = serde_json::from_str(&content(&ledger, 2)).unwrap();
        assert_eq!(json["phase"], 2);
        json["outputs"]["p.t.x"]["a"].clone()
    }

    fn content(ledger: &Ledger, phase: u64) -> String {
        Question::whole(ledger, phase).to_json(&Vars::default())
    }

    fn parsed(number: &str) -> Value {
        Value::Number(number.parse().unwrap())
    }

    #[test]
    fn numbers_that_nix_would_change_are_text() {
        let table = [
            ("0", "0"),
            ("9223372036854775807", "9223372036854775807"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("9223372036854775808", r#""9223372036854775808""#),
            ("18446744073709551615", r#""18446744073709551615""#),
            ("-9223372036854775809", r#""-9223372036854775809""#),
            ("1e30", r#""1000000000000000000000000000000""#),
            ("0.1", "0.1"),
            ("-2.5", "-2.5"),
            ("3.0", "3"),
            ("0.30000000000000004", "0.30000000000000004"),
            ("0.300000000000000041", r#""0.300000000000000041""#),
            ("123456789.123456789123", r#""123456789.123456789123""#),
        ];
        for (number, expected) in table {
            assert_eq!(
                rendered(parsed(number), &[]).to_string(),
                expected,
                "{number}"
            );
        }
    }

    #[test]
    fn unknown_and_sensitive_parts_are_marked_where_they_are() {
        let at = |path: &str| Path::from_dotted(path);
        let value = Value::object([
            (
                "known",
                Value::list(
                    Type::Number,
                    vec![parsed("1"), Value::unknown(Type::Number)],
                ),
            ),
            (
                "map",
                Value::map(Type::String, [("key", Value::string("secret"))]),
            ),
            (
                "set",
                Value::set(
                    Type::String,
                    vec![Value::string("a"), Value::string("secret")],
                ),
            ),
            ("null", Value::null(Type::String)),
        ]);
        let key = at("a.map").key("key");
        let json = rendered(value, &[key, at("a.set").index(1)]);
        let reference =
            |path: Json| json!({ "__sensitiveRef": { "resource": "p.t.x", "path": path } });
        let expected = json!({
            "known": [1, { "__unknown": true }],
            "map": { "key": reference(json!(["a", "map", "key"])) },
            "set": reference(json!(["a", "set"])),
            "null": null,
        });
        assert_eq!(json, expected);
        assert!(!json.to_string().contains("secret\""));
    }

    #[test]
    fn a_sensitive_attribute_or_object_is_only_referred_to() {
        let expected = json!({ "__sensitiveRef": { "resource": "p.t.x", "path": ["a"] } });
        for path in [Path::root(), Path::root().attribute("a")] {
            assert_eq!(rendered(Value::string("secret"), &[path]), expected);
        }
    }

    #[test]
    fn an_attribute_that_is_unknown_or_missing_has_no_entry() {
        let mut ledger = Ledger::default();
        let object = Value::object([("a", Value::unknown(Type::String))]);
        for name in ["a", "b"] {
            ledger.insert(&"p.t.x".into(), name, &object, &PathSet::default());
        }
        assert!(ledger.is_empty());
        assert_eq!(content(&ledger, 1), r#"{"outputs":{},"phase":1}"#);
    }

    #[test]
    fn what_is_known_of_an_output() {
        let secret = Path::root().attribute("a").attribute("secret");
        let value = Value::object([
            (
                "list",
                Value::tuple([Value::string("x"), Value::unknown(Type::String)]),
            ),
            ("secret", Value::string("s")),
            ("plain", Value::string("p")),
        ]);
        let object = Value::object([("a", value), ("b", Value::string("b"))]);
        let mut ledger = Ledger::default();
        let sensitive = [secret].into_iter().collect();
        ledger.insert(&"p.t.x".into(), "a", &object, &sensitive);
        for (path, expected) in [
            ("a", Look::Unknown),
            ("a.list", Look::Unknown),
            ("a.list.0", Look::Known),
            ("a.list.1", Look::Unknown),
            ("a.list.1.deeper", Look::Unknown),
            ("a.secret", Look::Secret),
            ("a.secret.deeper", Look::Secret),
            ("a.plain", Look::Known),
            ("a.nothing.such", Look::Known),
            ("b", Look::Unknown),
        ] {
            let mut steps = path.split('.');
            let first = Path::root().attribute(steps.next().unwrap());
            let path = steps.fold(first, |path, step| match step.parse() {
                Ok(index) => path.index(index),
                Err(_) => path.attribute(step),
            });
            let resource = Id::from("p.t.x");
            let target = Ref { resource, path };
            assert_eq!(ledger.look(&target), expected, "{target}");
        }
        let mut more = ledger.clone();
        more.insert(&"p.t.x".into(), "b", &object, &sensitive);
        assert!(ledger.is_part_of(&more) && !more.is_part_of(&ledger));
    }

    #[test]
    fn what_the_state_keeps_makes_the_same_ledger() {
        let mut ledger = Ledger::default();
        let object = Value::object([("a", parsed("0.1")), ("b", Value::string("x"))]);
        for name in ["a", "b"] {
            ledger.insert(&"p.t.x".into(), name, &object, &PathSet::default());
        }
        assert_eq!(Ledger::from_inputs(&ledger.to_inputs()), ledger);
    }

    #[test]
    fn the_file_is_private_and_goes_away() {
        let parents = [PathBuf::from("/no/such"), std::env::temp_dir()];
        let (base, owners, secrets) = (Ir::default(), BTreeSet::new(), Ledger::default());
        let question = Question {
            ledger: &Ledger::default(),
            phase: 7,
            part: Some(Part {
                base: &base,
                owners: &owners,
                secrets: Some(&secrets),
            }),
            compare: false,
        };
        let file = LedgerFile::write(question, &Vars::default(), &parents).unwrap();
        let path = file.path().to_owned();
        let mode_of_secrets = fs::mode(file.secrets().unwrap()).unwrap() & 0o777;
        assert_eq!(mode_of_secrets, 0o600);
        let mode = |p: &FilePath| std::fs::metadata(p).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(
            fs::read(&path).unwrap(),
            br#"{"only":[],"outputs":{},"phase":7}"#
        );
        drop(file);
        assert!(!path.parent().unwrap().exists());
    }
}
