//! The state file: one JSON document, one resource per line (docs/reference/state-file.md).

use std::io::Write as _;

use serde::Serialize;

use super::check;
use super::codec::{self, Stored, Text};
use super::members::{FormError, Members};
use super::{Extra, State};
use crate::addr::Id;

/// What the member `format` says.
const FORMAT: &str = "nivis-state";
/// The version this program writes, and the newest it reads.
pub const VERSION: u64 = 1;

/// A state as stored in one piece, and how far the journal is contained in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The state.
    pub state: State,
    /// Checksum of the last journal entry whose effect is contained.
    pub journal: Option<String>,
}

/// A state file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// No bytes at all: never a state, since an empty state has a form, too.
    #[error("{place} is empty; a state file never is")]
    Empty {
        /// Which file.
        place: String,
    },
    /// The end is missing.
    #[error("{place} is cut off in line {line}")]
    Truncated {
        /// Which file.
        place: String,
        /// Where it ends.
        line: usize,
    },
    /// Not JSON.
    #[error("{place} is not JSON: {problem}")]
    NotJson {
        /// Which file.
        place: String,
        /// What the parser says.
        problem: String,
    },
    /// JSON, but something else.
    #[error("{place} is not a nivis state: its \"format\" is not {FORMAT:?}")]
    Foreign {
        /// Which file.
        place: String,
        /// It looks like a state of Terraform or OpenTofu.
        tfstate: bool,
    },
    /// Written by a later program.
    #[error("{place} has format version {version}; this nivis reads up to {VERSION}")]
    Newer {
        /// Which file.
        place: String,
        /// Its version.
        version: u64,
    },
    /// Of the right kind, but something in it is wrong.
    #[error("{place}: {error}")]
    Form {
        /// Which file.
        place: String,
        /// Where and what.
        error: FormError,
    },
}

impl FileError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Foreign { tfstate: true, .. } => {
                "it is a Terraform or OpenTofu state: `nivis state import-tfstate` reads those"
            }
            Self::Newer { .. } => "use the newer nivis that wrote it",
            _ => "the state before the last change is beside it, with the suffix `.backup`",
        }
    }
}

/// A state that has no stored form.
#[derive(Debug, thiserror::Error)]
#[error("cannot store {address}: {problem}")]
pub struct EncodeError {
    /// The resource, output or member concerned.
    pub address: String,
    /// Why.
    pub problem: String,
}

/// The text of a state file. Equal states have equal texts.
pub fn encode(state: &State, journal: Option<&str>) -> Result<Vec<u8>, EncodeError> {
    let mut lines = Lines(Vec::new());
    lines.member("format", FORMAT, &FORMAT)?;
    lines.member("version", FORMAT, &VERSION)?;
    lines.member("serial", FORMAT, &state.serial)?;
    lines.member("lineage", FORMAT, &state.lineage)?;
    if let Some(sum) = journal {
        lines.member("journal", FORMAT, &sum)?;
    }
    let outputs = state.outputs.iter();
    lines.members(
        "outputs",
        outputs.map(|(name, v)| (name.as_str(), Stored(v))),
    )?;
    let resources = state.resources.iter();
    lines.members(
        "resources",
        resources.map(|(id, v)| (id.as_str(), Stored(v))),
    )?;
    let inputs: Vec<_> = state.derive_inputs.iter().map(Stored).collect();
    lines.member("derive_inputs", "derive_inputs", &inputs)?;
    if !state.check_results.is_empty() {
        let results: Vec<_> = state.check_results.iter().map(Stored).collect();
        lines.member("check_results", "check_results", &results)?;
    }
    for (name, text) in &state.extra {
        lines.member(name, name, &Text(name, text))?;
    }
    let mut text = lines.0;
    text.extend(b"\n}\n");
    Ok(text)
}

/// The text of an object, one member per line.
struct Lines(Vec<u8>);

impl Lines {
    fn member(
        &mut self,
        name: &str,
        address: &str,
        value: &impl Serialize,
    ) -> Result<(), EncodeError> {
        let failed = |e: serde_json::Error| EncodeError {
            address: address.to_owned(),
            problem: e.to_string(),
        };
        let first = self.0.is_empty() || self.0.ends_with(b"{");
        if self.0.is_empty() {
            self.0.push(b'{');
        }
        self.0.extend(if first { &b"\n"[..] } else { b",\n" });
        serde_json::to_writer(&mut self.0, name).map_err(failed)?;
        self.0.extend(b": ");
        serde_json::to_writer(&mut self.0, value).map_err(failed)
    }

    /// A member that is an object, one line for each of its members.
    fn members<'a, V: Serialize>(
        &mut self,
        name: &str,
        values: impl Iterator<Item = (&'a str, V)>,
    ) -> Result<(), EncodeError> {
        // Writing to memory cannot fail.
        let _ = write!(self.0, ",\n{}: {{", serde_json::Value::from(name));
        for (name, value) in values {
            self.member(name, name, &value)?;
        }
        self.0.extend(b"\n}");
        Ok(())
    }
}

/// Reads a state file; `place` names it in errors.
pub fn decode(bytes: &[u8], place: &str) -> Result<Snapshot, FileError> {
    let place = || place.to_owned();
    if bytes.trim_ascii().is_empty() {
        return Err(FileError::Empty { place: place() });
    }
    let syntax = |at_end: bool, problem: String| {
        if at_end {
            let line = bytes.split(|&b| b == b'\n').count();
            FileError::Truncated {
                place: place(),
                line,
            }
        } else {
            FileError::NotJson {
                place: place(),
                problem,
            }
        }
    };
    let text = str::from_utf8(bytes).map_err(|e| syntax(e.error_len().is_none(), e.to_string()))?;
    let members: Members<'_> =
        serde_json::from_str(text).map_err(|e| syntax(is_at_end(&e, text), e.to_string()))?;
    let members = check_version(members, &place)?;
    snapshot(members).map_err(|error| FileError::Form {
        place: place(),
        error,
    })
}

/// Whether it is the end of `text` that is no JSON; the parser calls half a number a syntax error.
fn is_at_end(error: &serde_json::Error, text: &str) -> bool {
    let last = text.split('\n').next_back().unwrap_or_default();
    let at_last = (error.line(), error.column()) >= (text.split('\n').count(), last.len());
    error.is_eof() || at_last
}

fn check_version<'a>(
    mut members: Members<'a>,
    place: &impl Fn() -> String,
) -> Result<Members<'a>, FileError> {
    if !matches!(members.take::<String>("format"), Ok(Some(format)) if format == FORMAT) {
        return Err(FileError::Foreign {
            place: place(),
            tfstate: matches!(members.take::<String>("terraform_version"), Ok(Some(_))),
        });
    }
    match members.need("version") {
        Ok(VERSION) => Ok(members),
        Ok(0) => Err(FormError::new("0 never was a version").within("version")),
        Ok(version) => {
            return Err(FileError::Newer {
                place: place(),
                version,
            });
        }
        Err(error) => Err(error),
    }
    .map_err(|error| FileError::Form {
        place: place(),
        error,
    })
}

fn snapshot(mut members: Members<'_>) -> Result<Snapshot, FormError> {
    let serial = members.need("serial")?;
    let lineage: String = members.need("lineage")?;
    if lineage.is_empty() {
        return Err(FormError::new("is empty").within("lineage"));
    }
    let journal = members.take("journal")?;
    let resource = |id, text: &str| Ok((Id::from(id), codec::resource(text)?));
    let resources = members.take_with("resources", |text| Members::parse(text)?.map(resource))?;
    let outputs = members.take_with("outputs", codec::outputs)?;
    let derive_inputs = members.take_with("derive_inputs", codec::derive_inputs)?;
    let check_results = members.take_with("check_results", check::records)?;
    let missing = |name| FormError::new("is missing").within(name);
    let extra: Extra = members.rest();
    Ok(Snapshot {
        state: State {
            serial,
            lineage,
            resources: resources.ok_or_else(|| missing("resources"))?,
            outputs: outputs.ok_or_else(|| missing("outputs"))?,
            derive_inputs: derive_inputs.unwrap_or_default(),
            check_results: check_results.unwrap_or_default(),
            extra,
        },
        journal,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::testing;
    use proptest::prelude::*;

    fn sample() -> String {
        testing::documented("json")
    }

    #[test]
    fn the_form_is_the_documented_one() {
        let text = encode(&testing::sample(), Some("72f3c1a9e0d45b86")).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), sample());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_state_comes_back(state in testing::state(), journal: Option<String>) {
            let text = encode(&state, journal.as_deref()).unwrap();
            let snapshot = Snapshot { state, journal };
            prop_assert_eq!(&decode(&text, "s").unwrap(), &snapshot);
            let again = encode(&snapshot.state, snapshot.journal.as_deref()).unwrap();
            prop_assert_eq!(text, again);
        }
    }

    #[test]
    fn line_ends_in_attributes_become_spaces() {
        let mut state = State {
            lineage: "l".into(),
            ..State::default()
        };
        let mut resource = testing::plain("1");
        resource.current.as_mut().unwrap().attributes = b" {\n\t\"a\": \"\\n\"\r\n}\n".to_vec();
        state.resources.insert(Id::from("r"), resource);
        let text = encode(&state, None).unwrap();
        let read = decode(&text, "s").unwrap().state;
        let attributes = &read.resources["r"].current.as_ref().unwrap().attributes;
        assert_eq!(attributes, b"{ \t\"a\": \"\\n\"  }");
    }

    #[test]
    fn what_is_not_json_is_not_written() {
        let mut state = testing::sample();
        let resource = state.resources.get_mut("random.random_id.seed").unwrap();
        resource.current.as_mut().unwrap().attributes = b"{".to_vec();
        assert_eq!(
            encode(&state, None).unwrap_err().to_string(),
            "cannot store random.random_id.seed: attributes: not JSON: \
             EOF while parsing an object at line 1 column 1"
        );
    }

    #[test]
    fn no_beginning_of_a_state_is_a_state() {
        let text = sample();
        for len in 0..text.len() - 1 {
            let error = decode(&text.as_bytes()[..len], "s").unwrap_err();
            let expected = match len {
                0 => matches!(error, FileError::Empty { .. }),
                _ => matches!(error, FileError::Truncated { .. }),
            };
            assert!(expected, "{len} bytes: {error}");
        }
    }

    /// What `decode` says of the sample with `from` replaced by `to`.
    fn complaint(from: &str, to: &str) -> (String, &'static str) {
        let text = sample();
        assert!(text.contains(from), "{from}");
        let error = decode(text.replacen(from, to, 1).as_bytes(), "s.json").unwrap_err();
        (error.to_string(), error.hint())
    }

    /// What is replaced by what, and what is then wrong.
    const DAMAGE: &str = r#"
nivis-state → other → s.json is not a nivis state: its "format" is not "nivis-state"
"lineage" → lineage → s.json is not JSON: key must be a string at line 5 column 1
"version": 1 → "version": 2 → s.json has format version 2; this nivis reads up to 1
"version": 1 → "version": 0 → s.json: version: 0 never was a version
"version": 1 → "v": 1 → s.json: version: is missing
"serial": 7 → "serial": -7 → s.json: serial: invalid value: integer `-7`, expected u64
"serial" → "serial": 7, "serial" → s.json is not JSON: two members "serial" at line 4 column 24
"resources" → "resource" → s.json: resources: is missing
"outputs" → "output" → s.json: outputs: is missing
"name":"seed" → "nam":"seed" → s.json: resources/random.random_id.seed/name: is missing
"type":"random_id" → "name":"x" → s.json: resources/random.random_id.seed: two members "name"
"attributes":{"id":"1"} → "a":1 → s.json: resources/random.random_id.seed/current/attributes: is missing
"tainted" → "broken" → s.json: resources/random.random_pet.host__a/current/status: unknown status "broken"
AP8= → AP8 → s.json: resources/random.random_pet.host__a/current/private: not base64: Invalid padding
[["tags" → [[null → s.json: resources/random.random_pet.host__a/current/sensitive: null is no path
"index":"a" → "index":-1 → s.json: resources/random.random_pet.host__a/index: -1 is neither a key nor a count
0a1b2c3d → 0A1B → s.json: resources/random.random_pet.host__a/deposed/0A1B: a deposed key has 8 hexadecimal digits
["hex"] → "hex" → s.json: derive_inputs/0/path: "hex" is no path
"#;

    #[test]
    fn damage_is_named() {
        for line in DAMAGE.trim().lines() {
            let [from, to, expected] = line.split(" → ").collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            assert_eq!(complaint(from, to).0, expected, "{line}");
        }
        let error = decode(b" \n", "s").unwrap_err().to_string();
        assert_eq!(error, "s is empty; a state file never is");
    }

    #[test]
    fn hints_fit_the_damage() {
        let tfstate = decode(br#"{"version": 4, "terraform_version": "1.11.4"}"#, "s").unwrap_err();
        assert!(tfstate.hint().contains("import-tfstate"));
        assert!(
            complaint("\"version\": 1", "\"version\": 9")
                .1
                .contains("newer")
        );
        assert!(complaint("tainted", "broken").1.contains(".backup"));
    }

    #[test]
    fn not_utf8_is_not_json() {
        let error = decode(b"{\"\xff\"}", "s").unwrap_err().to_string();
        assert!(error.starts_with("s is not JSON: invalid utf-8"), "{error}");
    }
}
