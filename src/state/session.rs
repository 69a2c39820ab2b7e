//! One run's hold on a state: read it, write down what happens, and put it away.

use std::time::{Duration, Instant};

use super::State;
use super::backend::{Backend, BackendError, LockGuard};
use super::file::{self, EncodeError};
use super::journal::{self, Start, Tail};
use super::lock::{LockError, LockInfo};
use super::record::{InFlight, Intent, Outcome, Record};
use super::recover::{RecoverError, Recovered, Recovery, recover};

/// How often [`Session::read`] starts again because a run ended meanwhile.
const READS: u32 = 10;

/// A locked state.
///
/// [`append`](Self::append) makes facts durable one by one; [`save`](Self::save) folds them into the state file. A session
/// that is dropped without `save` loses nothing: the next one recovers it from the journal.
pub struct Session {
    guard: Box<dyn LockGuard>,
    run: String,
    place: String,
    state: State,
    recovered: Recovered,
    /// Where the journal goes on.
    tail: Tail,
    /// Whether there may be a journal.
    journal: bool,
    /// Whether this session said in the journal what it extends.
    started: bool,
    /// Whether the state is more than the snapshot.
    changed: bool,
    /// Operations of this session that have no outcome yet.
    in_flight: InFlight,
    /// Facts that are in the state, but not in the journal yet.
    unsaved: Vec<Record>,
    cost: Cost,
}

/// What it took to make facts durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cost {
    writes: u64,
    bytes: u64,
    time: Duration,
}

impl Cost {
    /// Counts a write that began at `start`.
    fn add(&mut self, bytes: &[u8], start: Instant) {
        self.writes += 1;
        self.bytes += bytes.len() as u64;
        self.time += start.elapsed();
    }
}

/// A state cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Somebody else works on it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The place that keeps it failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// What is kept is no state.
    #[error(transparent)]
    Recover(#[from] RecoverError),
    /// It cannot be put into its stored form.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// Something that happened is written down nowhere.
    #[error("what was done could not be saved: {error}")]
    Unsaved {
        /// What went wrong.
        error: Box<StateError>,
        /// The text of the whole state, to be put where there is room.
        snapshot: Vec<u8>,
    },
    /// The replacement is no later version of the present state.
    #[error(
        "serial {serial} of lineage {lineage} does not follow serial {} of lineage {} in {place}", .present.0, .present.1
    )]
    NoSuccessor {
        /// Which state.
        place: String,
        /// Serial and lineage there.
        present: (u64, String),
        /// Serial of the replacement.
        serial: u64,
        /// Lineage of the replacement.
        lineage: String,
    },
}

impl StateError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Lock(error) => error.hint(),
            Self::Recover(error) => error.hint().map(str::to_owned),
            Self::Unsaved { error, .. } => error.hint(),
            Self::Backend(error) => error.hint(),
            Self::Encode(_) | Self::NoSuccessor { .. } => None,
        }
    }
}

impl Session {
    /// The present state without a lock: for those who only look.
    pub fn read(backend: &dyn Backend) -> Result<State, StateError> {
        let mut attempts = 1..READS;
        loop {
            match recover(&backend.read()?, &backend.place()) {
                Ok(recovery) => return Ok(recovery.state),
                // A run may have ended between the reading of journal and snapshot.
                Err(RecoverError::Mismatch { .. }) if attempts.next().is_some() => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Locks a state, waiting up to `timeout` for whoever holds it, and reads it.
    pub fn open(
        backend: &dyn Backend,
        info: &LockInfo,
        timeout: Duration,
    ) -> Result<Self, StateError> {
        let mut guard = backend.lock(info, timeout)?;
        let place = backend.place();
        let contents = guard.read()?;
        let Recovery {
            state,
            recovered,
            tail,
            changed,
        } = recover(&contents, &place)?;
        if tail.len == 0 && !contents.journal.is_empty() {
            // A run died between writing the state file and removing the journal, or in its first append.
            guard.remove_journal()?;
        }
        Ok(Self {
            guard,
            run: info.id.clone(),
            place,
            state,
            recovered,
            journal: tail.len > 0,
            tail,
            started: false,
            changed,
            in_flight: InFlight::default(),
            unsaved: Vec::new(),
            cost: Cost::default(),
        })
    }

    /// The state with everything recorded so far.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What the run before left behind.
    pub fn recovered(&self) -> &Recovered {
        &self.recovered
    }

    /// What the next session will find of this one if it is saved now: operations without a known result.
    pub fn in_doubt(&self) -> Recovered {
        Recovered {
            in_flight: self.in_flight.clone().into_intents(),
            ..Recovered::default()
        }
    }

    /// Writes down that an operation begins. The provider may be asked only after this returned without error.
    pub fn begin(&mut self, intent: Intent) -> Result<(), StateError> {
        self.append(vec![intent.into()])
    }

    /// Writes down what came of an operation.
    pub fn finish(&mut self, outcome: Outcome) -> Result<(), StateError> {
        self.append(vec![outcome.into()])
    }

    /// Writes down facts, all of them or none, at the cost of one durable append: a caller that has several gives them
    /// together. Facts that are no news cost nothing.
    ///
    /// After an error the state has the facts nevertheless, intents excepted, and the next call or [`save`](Self::save) tries
    /// again to make them durable.
    pub fn append(&mut self, records: Vec<Record>) -> Result<(), StateError> {
        self.stage(records);
        let appended = self.flush();
        if appended.is_err() {
            let in_flight = &mut self.in_flight;
            self.unsaved.retain(|record| match record {
                Record::Intent(intent) => {
                    in_flight.forget(intent);
                    false
                }
                _ => true,
            });
        }
        appended
    }

    /// Takes facts into the state; the next [`append`](Self::append) writes them down with its own, as one.
    pub fn stage(&mut self, records: Vec<Record>) {
        for record in records {
            let record = tidy(record);
            let news = self.in_flight.note(&record);
            let changed = self.state.apply(&record);
            self.changed |= changed;
            if news || changed {
                self.unsaved.push(record);
            }
        }
    }

    /// Appends what is not in the journal yet.
    fn flush(&mut self) -> Result<(), StateError> {
        if self.unsaved.is_empty() {
            return Ok(());
        }
        let begun = Instant::now();
        let start = Start {
            lineage: self.state.lineage.clone(),
            serial: self.state.serial,
            run: self.run.clone(),
        };
        let start = (!self.started).then_some(&start);
        let (line, tail) = journal::entry(&self.tail, start, &self.unsaved)?;
        self.journal = true;
        self.guard.append(self.tail.len, &line)?;
        self.cost.add(&line, begun);
        self.tail = tail;
        self.started = true;
        self.unsaved.clear();
        Ok(())
    }

    /// Folds the journal into the state file, with the next serial if the state changed; the journal goes. What
    /// [`recovered`](Self::recovered) named as in flight is not named again.
    ///
    /// While an operation of this session has no outcome, the journal stays instead, so that the next session names it.
    pub fn save(&mut self) -> Result<(), StateError> {
        if !self.in_flight.is_empty() {
            return self.flush();
        }
        if self.changed {
            let mut state = std::mem::take(&mut self.state);
            state.serial += 1;
            let written = self.write(&state);
            if written.is_err() {
                state.serial -= 1;
            }
            self.state = state;
            written?;
        }
        self.changed = false;
        self.unsaved.clear();
        if self.journal {
            self.guard.remove_journal()?;
        }
        self.journal = false;
        self.tail = Tail::default();
        self.started = false;
        Ok(())
    }

    /// [`save`](Self::save), and the lock goes.
    pub fn close(mut self) -> Result<(), StateError> {
        let saved = self.save();
        let Cost {
            writes,
            bytes,
            time,
        } = self.cost;
        tracing::debug!(target: "nivis::state", writes, bytes, ms = time.as_millis(), "saved");
        if saved.is_ok() {
            return Ok(self.guard.free()?);
        }
        if self.unsaved.is_empty() {
            return saved;
        }
        let snapshot = file::encode(&self.state, None)?;
        saved.map_err(|error| StateError::Unsaved {
            error: Box::new(error),
            snapshot,
        })
    }

    fn write(&mut self, state: &State) -> Result<(), StateError> {
        let begun = Instant::now();
        let sum = Some(self.tail.sum.as_str()).filter(|sum| !sum.is_empty());
        let snapshot = file::encode(state, sum)?;
        self.guard.write(&snapshot)?;
        self.cost.add(&snapshot, begun);
        Ok(())
    }

    /// Puts another version of the state in its place, with its serial and lineage: a later one of the same lineage, unless
    /// the present state is empty and new, or `force`.
    pub fn replace(&mut self, state: State, force: bool) -> Result<(), StateError> {
        self.save()?;
        let present = (self.state.serial, self.state.lineage.clone());
        let follows = state.lineage == present.1 && state.serial > present.0;
        if !(follows || present.0 == 0 || force) {
            return Err(StateError::NoSuccessor {
                place: self.place.clone(),
                present,
                serial: state.serial,
                lineage: state.lineage,
            });
        }
        self.write(&state)?;
        self.state = state;
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The last chance of facts that could not be appended; whoever cares about failure has called `save`.
        let _ = self.flush();
    }
}

/// Dependencies in order, each once; a resource without objects is none.
fn tidy(mut record: Record) -> Record {
    if let Record::Outcome(outcome) = &mut record {
        outcome
            .resource
            .take_if(|resource| resource.current.is_none() && resource.deposed.is_empty());
        let resource = outcome.resource.iter_mut();
        for object in resource.flat_map(|r| r.current.iter_mut().chain(r.deposed.values_mut())) {
            object.dependencies.sort();
            object.dependencies.dedup();
        }
    }
    record
}
