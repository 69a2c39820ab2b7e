//! From what a backend keeps to the state it means: snapshot plus journal.

use super::State;
use super::backend::Contents;
use super::file::{self, FileError};
use super::journal::{self, Journal, JournalError, Start, Tail};
use super::record::{InFlight, Intent, Record};

/// What a run before left in the journal because it did not come to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// How many outcomes were taken over from the journal.
    pub outcomes: usize,
    /// Operations that were begun and of which no outcome is known: their objects may or may not exist.
    pub in_flight: Vec<Intent>,
    /// Whether the end of the journal was cut off while being written.
    pub torn: bool,
}

/// Stored bytes that do not make a state.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    /// The snapshot cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal extends a snapshot that is not there.
    #[error("the journal of {place} continues serial {serial}, but the state file is missing")]
    Missing {
        /// Which state.
        place: String,
        /// Serial of the missing snapshot.
        serial: u64,
    },
    /// The journal extends another state.
    #[error(
        "the journal of {place} continues serial {} of lineage {}, but the state file is serial {serial} of lineage \
         {lineage}", .journal.serial, .journal.lineage
    )]
    Mismatch {
        /// Which state.
        place: String,
        /// What the journal says.
        journal: Start,
        /// Serial of the snapshot.
        serial: u64,
        /// Lineage of the snapshot.
        lineage: String,
    },
}

impl RecoverError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::File(error) => Some(error.hint()),
            Self::Journal(_) => Some(
                "each line names what was done: fix or remove the damaged one, then `nivis refresh`",
            ),
            Self::Missing { .. } | Self::Mismatch { .. } => Some(
                "put back the state file that belongs to the journal; \
                 or remove the journal, if what it says is no longer wanted",
            ),
        }
    }
}

/// A state and how it came about.
#[derive(Debug, PartialEq)]
pub(super) struct Recovery {
    pub state: State,
    pub recovered: Recovered,
    /// Where the journal goes on.
    pub tail: Tail,
    /// Whether the state is more than the snapshot.
    pub changed: bool,
}

/// The state that `contents` mean. Without snapshot and journal that is a new, empty one.
pub(super) fn recover(contents: &Contents, place: &str) -> Result<Recovery, RecoverError> {
    let journal = journal::read(&contents.journal, place)?;
    let snapshot = match &contents.snapshot {
        Some(bytes) => Some(file::decode(bytes, place)?),
        None => None,
    };
    let state = match (snapshot, &journal.start) {
        (None, None) => return Ok(untouched(new_state(), &journal)),
        (Some(snapshot), None) => return Ok(untouched(snapshot.state, &journal)),
        (None, Some(start)) if start.serial == 0 => State {
            lineage: start.lineage.clone(),
            ..State::default()
        },
        (None, Some(start)) => {
            return Err(RecoverError::Missing {
                place: place.to_owned(),
                serial: start.serial,
            });
        }
        (Some(snapshot), Some(_)) if snapshot.journal.as_ref() == Some(&journal.tail.sum) => {
            return Ok(untouched(snapshot.state, &Journal::default()));
        }
        (Some(snapshot), Some(start)) => {
            let state = snapshot.state;
            if (&state.lineage, state.serial) != (&start.lineage, start.serial) {
                return Err(RecoverError::Mismatch {
                    place: place.to_owned(),
                    journal: start.clone(),
                    serial: state.serial,
                    lineage: state.lineage,
                });
            }
            state
        }
    };
    Ok(replay(state, journal))
}

fn new_state() -> State {
    State {
        lineage: uuid::Uuid::new_v4().to_string(),
        ..State::default()
    }
}

/// A state to which the journal adds nothing; one whose first append is torn, or which is contained already.
fn untouched(state: State, journal: &Journal) -> Recovery {
    Recovery {
        state,
        recovered: Recovered {
            torn: journal.torn,
            ..Recovered::default()
        },
        tail: Tail::default(),
        changed: false,
    }
}

fn replay(mut state: State, journal: Journal) -> Recovery {
    let mut in_flight = InFlight::default();
    let mut outcomes = 0;
    let mut changed = false;
    for record in &journal.records {
        in_flight.note(record);
        outcomes += usize::from(matches!(record, Record::Outcome(_)));
        changed |= state.apply(record);
    }
    Recovery {
        state,
        recovered: Recovered {
            outcomes,
            in_flight: in_flight.into_intents(),
            torn: journal.torn,
        },
        tail: journal.tail,
        changed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::Id;
    use crate::state::testing::{plain, sample};
    use crate::state::{
        Backend, LockInfo, Memory, Operation, Outcome, Session, StateError, encode,
    };
    use std::collections::BTreeSet;
    use std::time::Duration;

    fn with(snapshot: &[u8], journal: &[u8]) -> Memory {
        Memory::with(Contents {
            snapshot: Some(snapshot.to_vec()),
            journal: journal.to_vec(),
        })
    }

    fn open(memory: &Memory) -> Result<Session, StateError> {
        let info = LockInfo::new("apply", "anna@example", "");
        Session::open(memory, &info, Duration::ZERO)
    }

    fn outcome(name: &str) -> Outcome {
        Outcome {
            id: Id::from(name),
            deposed: None,
            resource: Some(plain(name)),
        }
    }

    /// A stored state with a journal behind it: two outcomes, in two appends, and an intent.
    fn sample_files() -> (Vec<u8>, Vec<u8>) {
        let memory = with(&encode(&sample(), None).unwrap(), b"");
        let mut session = open(&memory).unwrap();
        session.finish(outcome("a")).unwrap();
        session
            .append(vec![
                outcome("b").into(),
                Intent::new(Id::from("c"), None, Operation::Create).into(),
            ])
            .unwrap();
        drop(session);
        let contents = memory.read().unwrap();
        (contents.snapshot.unwrap(), contents.journal)
    }

    #[test]
    fn a_state_cut_anywhere_is_an_error_and_left_alone() {
        let (snapshot, journal) = sample_files();
        for len in 0..snapshot.len() - 1 {
            let cut = &snapshot[..len];
            let memory = with(cut, &journal);
            let error = open(&memory).err().unwrap();
            let (error, hint) = (error.to_string(), error.hint().unwrap());
            assert!(error.starts_with("in memory is "), "{error}");
            assert!(hint.contains(".backup"), "{hint}");
            assert!(Session::read(&memory).is_err());
            let contents = memory.read().unwrap();
            assert_eq!(
                (&contents.snapshot.unwrap()[..], &contents.journal),
                (cut, &journal)
            );
        }
    }

    #[test]
    fn a_journal_cut_anywhere_gives_every_whole_append() {
        let (snapshot, journal) = sample_files();
        let ends: Vec<_> = (1..=journal.len())
            .filter(|&len| journal[len - 1] == b'\n')
            .collect();
        let &[first, second] = &ends[..] else {
            panic!("{ends:?}")
        };
        for len in 0..=journal.len() {
            let memory = with(&snapshot, &journal[..len]);
            let mut session = open(&memory).unwrap();
            let recovered = session.recovered().clone();
            let outcomes = usize::from(len >= first) + usize::from(len >= second);
            assert_eq!(recovered.outcomes, outcomes, "{len} bytes");
            assert_eq!(
                recovered.in_flight.len(),
                usize::from(len >= second),
                "{len} bytes"
            );
            assert_eq!(
                recovered.torn,
                ![0, first, second].contains(&len),
                "{len} bytes"
            );
            // The journal goes on behind what is whole.
            session.finish(outcome("d")).unwrap();
            drop(session);
            let names: BTreeSet<_> = ["a", "b"].into_iter().take(outcomes).chain(["d"]).collect();
            let mut session = open(&memory).unwrap();
            let there: BTreeSet<_> = session.state().resources.keys().map(Id::as_str).collect();
            assert!(
                names.is_subset(&there) && there.len() == names.len() + 2,
                "{there:?}"
            );
            session.save().unwrap();
            assert_eq!(session.state().serial, 8);
        }
    }

    #[test]
    fn files_that_do_not_belong_together_are_refused() {
        let (snapshot, journal) = sample_files();
        let text = String::from_utf8(snapshot).unwrap();
        let lineage = sample().lineage;
        let table = [
            (
                "\"serial\": 7",
                "\"serial\": 6",
                format!("serial 6 of lineage {lineage}"),
            ),
            (
                "\"serial\": 7",
                "\"serial\": 8",
                format!("serial 8 of lineage {lineage}"),
            ),
            (&*lineage, "other", "serial 7 of lineage other".to_owned()),
        ];
        for (from, to, is) in table {
            let memory = with(text.replace(from, to).as_bytes(), &journal);
            let expected = format!(
                "the journal of {} continues serial 7 of lineage {lineage}, but the state file is {is}",
                memory.place()
            );
            assert_eq!(open(&memory).err().unwrap().to_string(), expected);
            assert_eq!(Session::read(&memory).unwrap_err().to_string(), expected);
        }
        let memory = Memory::with(Contents {
            snapshot: None,
            journal,
        });
        let error = open(&memory).err().unwrap().to_string();
        assert!(
            error.ends_with("continues serial 7, but the state file is missing"),
            "{error}"
        );
    }
}
