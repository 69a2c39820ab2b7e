//! The journal beside the state file: one line of JSON per append, each with a checksum over itself and all before it
//! (docs/reference/state-file.md).

use std::fmt::Write as _;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::codec::Stored;
use super::file::EncodeError;
use super::members::{FormError, Members};
use super::record::{self, Record};

/// A journal that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A line is damaged, and lines follow it: that is no torn append.
    #[error("{place} is damaged in line {line}")]
    Damaged {
        /// Which journal.
        place: String,
        /// Where.
        line: usize,
    },
    /// A line is whole, but says something unheard of.
    #[error("{place}: line {line}: {error}")]
    Form {
        /// Which journal.
        place: String,
        /// Where.
        line: usize,
        /// What is wrong.
        error: FormError,
    },
}

/// The version of the journal this program writes, and the newest it reads.
const VERSION: u64 = 1;

/// The state that a journal extends; the first entry of every session has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Lineage of the state.
    pub lineage: String,
    /// Serial of the stored snapshot; 0 if there is none.
    pub serial: u64,
    /// Id of the run: that of its lock.
    pub run: String,
}

/// The end of the whole part of a journal: where the next append goes, and what its checksum builds on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tail {
    /// Bytes up to here.
    pub len: u64,
    /// Checksum of the last entry; empty before the first.
    pub sum: String,
}

/// What a journal says.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Journal {
    /// What it extends; `None` if it says nothing.
    pub start: Option<Start>,
    /// In the order they were written.
    pub records: Vec<Record>,
    /// Where it ends.
    pub tail: Tail,
    /// Whether an append was cut off in the middle.
    pub torn: bool,
}

/// The line that adds `records` behind `tail`, and the tail then. `start` comes with the first records of a session.
pub(super) fn entry(
    tail: &Tail,
    start: Option<&Start>,
    records: &[Record],
) -> Result<(Vec<u8>, Tail), EncodeError> {
    let entry = serde_json::to_string(&Entry { start, records }).map_err(|e| EncodeError {
        address: addresses(records),
        problem: e.to_string(),
    })?;
    let sum = checksum(&tail.sum, &entry);
    let line = format!("{{\"sum\":\"{sum}\",\"entry\":{entry}}}\n").into_bytes();
    let len = tail.len + line.len() as u64;
    Ok((line, Tail { len, sum }))
}

/// What one append adds.
struct Entry<'a> {
    start: Option<&'a Start>,
    records: &'a [Record],
}

impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(start) = self.start {
            map.serialize_entry("start", &Stored(start))?;
        }
        map.serialize_entry("records", self.records)?;
        map.end()
    }
}

impl Serialize for Stored<&Start> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("version", &VERSION)?;
        map.serialize_entry("lineage", &self.0.lineage)?;
        map.serialize_entry("serial", &self.0.serial)?;
        map.serialize_entry("run", &self.0.run)?;
        map.end()
    }
}

/// Reads a journal; `place` names it in errors. Only its last line may be damaged: that append never returned.
pub(super) fn read(bytes: &[u8], place: &str) -> Result<Journal, JournalError> {
    let mut journal = Journal::default();
    let mut lines = bytes.split_inclusive(|&b| b == b'\n').zip(1..).peekable();
    while let Some((bytes, line)) = lines.next() {
        let Some((sum, text)) = checked(bytes, &journal.tail.sum) else {
            if lines.peek().is_none() {
                journal.torn = true;
                break;
            }
            let place = place.to_owned();
            return Err(JournalError::Damaged { place, line });
        };
        journal.add(text).map_err(|error| JournalError::Form {
            place: place.to_owned(),
            line,
            error,
        })?;
        journal.tail = Tail {
            len: journal.tail.len + bytes.len() as u64,
            sum,
        };
    }
    Ok(journal)
}

/// Checksum and entry of a line that is whole and follows the entry with the checksum `before`.
fn checked<'a>(line: &'a [u8], before: &str) -> Option<(String, &'a str)> {
    let text = str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
    let mut members = Members::parse(text).ok()?;
    let sum: String = members.need("sum").ok()?;
    let entry: &RawValue = members.need("entry").ok()?;
    (checksum(before, entry.get()) == sum).then(|| (sum, entry.get()))
}

impl Journal {
    fn add(&mut self, entry: &str) -> Result<(), FormError> {
        let mut members = Members::parse(entry)?;
        let start = members.take_with("start", start)?;
        let records = members.take_with("records", record::records)?;
        members.finish()?;
        // A later session goes on where the first one did not end.
        self.start = self.start.take().or(start);
        self.records.extend(records.unwrap_or_default());
        Ok(())
    }
}

fn start(text: &str) -> Result<Start, FormError> {
    let mut members = Members::parse(text)?;
    let version: u64 = members.need("version")?;
    if version != VERSION {
        let problem = format!("{version} is unknown; this nivis reads {VERSION}");
        return Err(FormError::new(problem).within("version"));
    }
    let start = Start {
        lineage: members.need("lineage")?,
        serial: members.need("serial")?,
        run: members.need("run")?,
    };
    members.finish().map(|()| start)
}

/// 16 hexadecimal digits of the SHA-256 of the checksum before and the text.
fn checksum(before: &str, text: &str) -> String {
    let digest = Sha256::new()
        .chain_update(before)
        .chain_update(text)
        .finalize();
    digest.iter().take(8).fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// What records are about, for an error.
fn addresses(records: &[Record]) -> String {
    let ids: Vec<&str> = records
        .iter()
        .map(|record| match record {
            Record::Intent(intent) => intent.id.as_str(),
            Record::Outcome(outcome) => outcome.id.as_str(),
            Record::Outputs(_) => "outputs",
            Record::DeriveInputs(_) => "derive_inputs",
            Record::CheckResults(_) => "check_results",
        })
        .collect();
    ids.join(", ")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::cast_possible_truncation, reason = "small journals")]

    use super::*;
    use crate::addr::Id;
    use crate::state::testing::{documented, plain, record};
    use crate::state::{Intent, Operation, Outcome};
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn start() -> Start {
        Start {
            lineage: "f7a3c1de-0000-4000-8000-000000000000".to_owned(),
            serial: 7,
            run: "0b54e6a2-0000-4000-8000-000000000000".to_owned(),
        }
    }

    /// A journal of these appends, with the tail after each.
    fn journal(appends: &[Vec<Record>]) -> (Vec<u8>, Vec<Tail>) {
        let (mut bytes, mut tails) = (Vec::new(), vec![Tail::default()]);
        for (i, records) in appends.iter().enumerate() {
            let start = (i == 0).then(start);
            let (line, tail) = entry(&tails[i], start.as_ref(), records).unwrap();
            bytes.extend(line);
            tails.push(tail);
        }
        (bytes, tails)
    }

    fn sample() -> Vec<Vec<Record>> {
        let id = Id::from("random.random_id.seed");
        let intent = Intent {
            time: "2026-01-02T03:04:05Z".to_owned(),
            ..Intent::new(id.clone(), None, Operation::Create)
        };
        let outcome = |resource| Outcome {
            id: id.clone(),
            deposed: None,
            resource,
        };
        vec![
            vec![Record::Intent(intent)],
            vec![
                outcome(Some(plain("é"))).into(),
                Record::Outputs(crate::state::testing::sample().outputs),
            ],
        ]
    }

    #[test]
    fn the_form_is_the_documented_one() {
        let (bytes, _) = journal(&sample());
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text, documented("jsonl"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_journal_comes_back(appends in vec(vec(record(), 0..3), 1..3)) {
            let (bytes, tails) = journal(&appends);
            let expected = Journal {
                start: Some(start()),
                records: appends.concat(),
                tail: tails.last().unwrap().clone(),
                torn: false,
            };
            prop_assert_eq!(read(&bytes, "j").unwrap(), expected);
        }
    }

    #[test]
    fn a_cut_journal_is_its_whole_entries() {
        let appends = sample();
        let (bytes, tails) = journal(&appends);
        for len in 0..=bytes.len() {
            let read = read(&bytes[..len], "j").unwrap();
            let whole = tails
                .iter()
                .rposition(|tail| tail.len as usize <= len)
                .unwrap();
            assert_eq!(read.records, appends[..whole].concat(), "{len} bytes");
            assert_eq!(read.tail, tails[whole], "{len} bytes");
            assert_eq!(read.torn, tails[whole].len as usize != len, "{len} bytes");
        }
    }

    #[test]
    fn damage_before_the_last_line_is_an_error() {
        let mut appends = sample();
        appends.push(vec![]);
        let (bytes, tails) = journal(&appends);
        // Without its end the second line would be one with the last, which may be torn.
        for at in 0..tails[2].len as usize - 1 {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            let line = 1 + usize::from(at >= tails[1].len as usize);
            let error = read(&bytes, "j").unwrap_err().to_string();
            assert_eq!(error, format!("j is damaged in line {line}"), "byte {at}");
        }
    }

    #[test]
    fn a_missing_line_is_damage() {
        let appends = [sample(), sample()].concat();
        let (bytes, tails) = journal(&appends);
        let without_second = [
            &bytes[..tails[1].len as usize],
            &bytes[tails[2].len as usize..],
        ]
        .concat();
        let error = read(&without_second, "j").unwrap_err().to_string();
        assert_eq!(error, "j is damaged in line 2");
    }

    #[test]
    fn what_a_later_version_wrote_is_not_ignored() {
        let table = [
            (
                r#"{"records":[{"news":1}]}"#,
                "records/0/news: is not known to this version",
            ),
            (
                r#"{"records":[{}]}"#,
                "records/0: not exactly one kind of record",
            ),
            (
                r#"{"records":[{"outputs":{},"derive_inputs":[]}]}"#,
                "records/0: not exactly one kind of record",
            ),
            (r#"{"what":1}"#, "what: is not known to this version"),
            (
                r#"{"start":{"version":2}}"#,
                "start/version: 2 is unknown; this nivis reads 1",
            ),
            (
                r#"{"records":[{"intent":{"id":"a","operation":"paint","time":""}}]}"#,
                "records/0/intent/operation: unknown operation \"paint\"",
            ),
        ];
        for (entry, expected) in table {
            let sum = checksum("", entry);
            let line = format!("{{\"sum\":\"{sum}\",\"entry\":{entry}}}\n");
            let error = read(line.as_bytes(), "j").unwrap_err().to_string();
            assert_eq!(error, format!("j: line 1: {expected}"));
        }
    }
}
