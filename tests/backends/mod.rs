//! What every state backend must do, checked on each of them; and what a session makes of one that fails.

mod http_server;
mod kinds;
mod remote;
mod servers;
mod stacks;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use nivis::addr::Id;
use nivis::state::{
    Backend, BackendError, Contents, Intent, Local, LockError, LockGuard, LockInfo, Memory, Object,
    Operation, Outcome, OutputValue, Record, Recovered, ResourceState, Session, State, StateError,
    UnlockError, encode,
};

/// Runs a check on a new place of every kind; gives their number.
fn on_each(check: impl Fn(&dyn Backend)) -> usize {
    on_places(&kinds::all(), check)
}

/// Runs a check in memory and on these places; gives their number.
fn on_places(places: &[kinds::Place], check: impl Fn(&dyn Backend)) -> usize {
    check(&Memory::default());
    for place in places {
        check(&*place.machine("a"));
    }
    places.len() + 1
}

/// Where to try a fault: here, and for the hardest of all also where the state is elsewhere. One such place will do: what they
/// have in common does the work.
fn places_for(fault: Fault) -> Vec<kinds::Place> {
    match fault {
        Fault::All => vec![kinds::local(), kinds::http()],
        Fault::Nothing | Fault::Half => vec![kinds::local()],
    }
}

fn info(backend: &dyn Backend) -> LockInfo {
    LockInfo::new("apply", "anna@example", &backend.place())
}

fn open(backend: &dyn Backend) -> Session {
    Session::open(backend, &info(backend), Duration::ZERO).unwrap()
}

fn resource(id: &str) -> ResourceState {
    ResourceState {
        provider: "p".to_owned(),
        provider_source: "builtin".to_owned(),
        ty: "t".to_owned(),
        name: "n".to_owned(),
        current: Some(Object {
            attributes: format!(r#"{{"id":"{id}"}}"#).into_bytes(),
            ..Object::default()
        }),
        ..ResourceState::default()
    }
}

fn id(name: &str) -> Id {
    Id::from(format!("p.t.{name}"))
}

fn create(name: &str) -> Intent {
    Intent::new(id(name), None, Operation::Create)
}

fn created(name: &str) -> Outcome {
    Outcome {
        id: id(name),
        deposed: None,
        resource: Some(resource(name)),
    }
}

fn gone(name: &str) -> Outcome {
    Outcome {
        id: id(name),
        deposed: None,
        resource: None,
    }
}

fn names(state: &State) -> Vec<&str> {
    state.resources.keys().map(Id::as_str).collect()
}

#[test]
fn looking_leaves_nothing_behind() {
    on_each(|backend| {
        let state = Session::read(backend).unwrap();
        assert_eq!((state.serial, names(&state).len()), (0, 0));
        assert!(!state.lineage.is_empty());
        let mut session = open(backend);
        session
            .append(vec![gone("a").into(), Record::Outputs(BTreeMap::new())])
            .unwrap();
        session.save().unwrap();
        assert_eq!(backend.read().unwrap(), Contents::default());
    });
}

#[test]
fn what_is_saved_comes_back() {
    on_each(|backend| {
        let mut session = open(backend);
        let value = OutputValue {
            value: b"1.10".to_vec(),
            ..OutputValue::default()
        };
        let outputs = BTreeMap::from([("o".to_owned(), value)]);
        session.begin(create("a")).unwrap();
        session.finish(created("a")).unwrap();
        session.append(vec![Record::Outputs(outputs)]).unwrap();
        session.save().unwrap();
        let saved = session.state().clone();
        drop(session);
        assert_eq!(saved.serial, 1);
        assert_eq!(names(&saved), ["p.t.a"]);
        assert_eq!(Session::read(backend).unwrap(), saved);
        assert!(backend.read().unwrap().journal.is_empty());
        assert_eq!(open(backend).state(), &saved);
    });
}

#[test]
fn the_serial_counts_changes_of_content() {
    on_each(|backend| {
        let mut serials = Vec::new();
        for outcome in [
            created("a"),
            created("a"),
            gone("b"),
            created("b"),
            gone("a"),
        ] {
            let mut session = open(backend);
            session.begin(create("a")).unwrap();
            session
                .finish(Outcome {
                    id: id("a"),
                    ..outcome.clone()
                })
                .unwrap();
            session.finish(outcome).unwrap();
            session.save().unwrap();
            session.save().unwrap();
            serials.push(session.state().serial);
        }
        assert_eq!(serials, [1, 1, 2, 3, 4]);
    });
}

#[test]
fn an_unsaved_session_is_recovered() {
    on_each(|backend| {
        let mut session = open(backend);
        session
            .append(vec![
                create("a").into(),
                create("b").into(),
                create("c").into(),
            ])
            .unwrap();
        session
            .append(vec![created("a").into(), created("b").into()])
            .unwrap();
        drop(session);

        // Twice: looking does not use it up.
        for _ in 0..2 {
            let session = open(backend);
            assert_eq!(names(session.state()), ["p.t.a", "p.t.b"]);
            assert_eq!(session.state().serial, 0);
            let recovered = session.recovered();
            assert_eq!((recovered.outcomes, recovered.torn), (2, false));
            let in_flight: Vec<_> = recovered.in_flight.iter().map(|i| i.id.as_str()).collect();
            assert_eq!(in_flight, ["p.t.c"]);
        }

        let mut session = open(backend);
        session.finish(created("d")).unwrap();
        drop(session);
        let mut session = open(backend);
        assert_eq!(names(session.state()), ["p.t.a", "p.t.b", "p.t.d"]);
        session.save().unwrap();
        drop(session);
        let session = open(backend);
        assert_eq!(session.recovered(), &Recovered::default());
        assert_eq!(session.state().serial, 1);
    });
}

#[test]
fn an_operation_that_is_in_flight_when_saving_is_named_next_time() {
    on_each(|backend| {
        let mut session = open(backend);
        session
            .append(vec![create("a").into(), create("b").into()])
            .unwrap();
        session.finish(created("a")).unwrap();
        session.save().unwrap();
        drop(session);
        let session = open(backend);
        assert_eq!(session.recovered().in_flight[0].id, id("b"));
        assert_eq!(names(session.state()), ["p.t.a"]);
    });
}

#[test]
fn an_outcome_settles_only_its_own_object() {
    on_each(|backend| {
        let mut session = open(backend);
        let deposed = Some("0a1b2c3d".to_owned());
        let delete = Intent::new(id("a"), deposed.clone(), Operation::Delete);
        session
            .append(vec![create("a").into(), delete.clone().into()])
            .unwrap();
        session.finish(created("a")).unwrap();
        drop(session);
        let mut session = open(backend);
        assert_eq!(session.recovered().in_flight, [delete]);
        session
            .finish(Outcome {
                deposed,
                ..created("a")
            })
            .unwrap();
    });
}

#[test]
fn dependencies_are_stored_in_order_and_empty_resources_not_at_all() {
    on_each(|backend| {
        let mut session = open(backend);
        let mut outcome = created("a");
        let object = outcome.resource.as_mut().unwrap().current.as_mut().unwrap();
        object.dependencies = vec![id("z"), id("b"), id("z")];
        let nothing = ResourceState {
            current: None,
            ..resource("b")
        };
        let empty = Outcome {
            resource: Some(nothing),
            ..created("b")
        };
        session
            .append(vec![outcome.into(), created("b").into(), empty.into()])
            .unwrap();
        assert_eq!(names(session.state()), ["p.t.a"]);
        let current = session.state().resources[&id("a")]
            .current
            .as_ref()
            .unwrap();
        assert_eq!(current.dependencies, [id("b"), id("z")]);
    });
}

#[test]
fn one_session_at_a_time_and_the_other_is_named() {
    on_each(|backend| {
        let first = info(backend);
        let session = Session::open(backend, &first, Duration::ZERO).unwrap();
        let wait = Duration::from_millis(20);
        let error = Session::open(backend, &info(backend), wait).err().unwrap();
        let expected = format!(
            "the state {} is locked by `nivis apply` of anna@example (process {}) since {}",
            backend.place(),
            std::process::id(),
            first.created
        );
        assert_eq!(error.to_string(), expected);
        let hint = error.hint().unwrap();
        assert!(
            hint.contains("--lock-timeout") && hint.contains(&first.id),
            "{hint}"
        );
        drop(session);
        open(backend);
    });
}

#[test]
fn sessions_that_wait_take_turns_and_lose_nothing() {
    on_each(|backend| {
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    let wait = Duration::from_secs(60);
                    for round in 0..3 {
                        let mut session = Session::open(backend, &info(backend), wait).unwrap();
                        session
                            .finish(created(&format!("{thread}-{round}")))
                            .unwrap();
                        // Every third leaves its journal to the next.
                        if (thread + round) % 3 != 0 {
                            session.save().unwrap();
                        }
                    }
                });
            }
        });
        assert_eq!(names(&Session::read(backend).unwrap()).len(), 12);
    });
}

#[test]
fn reading_beside_a_session_sees_every_fact_that_is_durable() {
    on_each(|backend| {
        let known = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut session = open(backend);
                for n in 1..=60 {
                    session.finish(created(&n.to_string())).unwrap();
                    known.store(n, SeqCst);
                    if n % 5 == 0 {
                        session.save().unwrap();
                    }
                }
            });
            loop {
                let least = known.load(SeqCst);
                let state = Session::read(backend).unwrap();
                assert!(
                    state.resources.len() >= least,
                    "{} of {least}",
                    state.resources.len()
                );
                if least == 60 {
                    break;
                }
            }
        });
    });
}

#[test]
fn a_broken_lock_stops_its_holder() {
    on_each(|backend| {
        let holder = info(backend);
        let none = backend.unlock(&holder.id).unwrap_err();
        assert!(matches!(none, UnlockError::NotLocked { .. }), "{none}");

        let mut old = Session::open(backend, &holder, Duration::ZERO).unwrap();
        old.finish(created("a")).unwrap();
        let other = backend.unlock("another").unwrap_err();
        assert!(
            other
                .to_string()
                .ends_with(&format!("is {}, not another", holder.id)),
            "{other}"
        );
        backend.unlock(&holder.id).unwrap();

        let mut new = open(backend);
        assert_eq!(names(new.state()), ["p.t.a"]);
        new.finish(created("b")).unwrap();
        let lost = |error: StateError| {
            assert!(
                matches!(error, StateError::Backend(BackendError::LockLost { .. })),
                "{error}"
            );
        };
        lost(old.finish(created("c")).unwrap_err());
        lost(old.save().unwrap_err());
        assert_eq!(names(old.state()), ["p.t.a", "p.t.c"]);
        drop(old);
        let error = Session::open(backend, &info(backend), Duration::ZERO)
            .err()
            .unwrap();
        assert!(
            matches!(error, StateError::Lock(LockError::Held { .. })),
            "{error}"
        );
        new.save().unwrap();
        assert_eq!(names(&Session::read(backend).unwrap()), ["p.t.a", "p.t.b"]);
    });
}

#[test]
fn a_large_state_comes_back() {
    let text = "x".repeat(1 << 20);
    let large = State {
        lineage: "l".to_owned(),
        serial: 1,
        resources: (0..20)
            .map(|n| (id(&n.to_string()), resource(&text)))
            .collect(),
        ..State::default()
    };
    let large = encode(&large, None).unwrap();
    on_each(|backend| {
        let mut guard = backend.lock(&info(backend), Duration::ZERO).unwrap();
        assert_eq!(guard.read().unwrap(), Contents::default());
        guard.write(&large).unwrap();
        guard.free().unwrap();
        drop(guard);
        assert!(backend.read().unwrap().snapshot.as_ref() == Some(&large));
    });
}

#[test]
fn what_cannot_be_read_is_an_error_and_no_new_state() {
    for place in kinds::all() {
        let backend = place.machine("a");
        for (damage, expected) in [
            ("", "is empty; a state file never is"),
            ("<html>", "is not JSON"),
            ("{}", "is not a nivis state"),
        ] {
            place.put(damage.as_bytes());
            let read = Session::read(&*backend).unwrap_err();
            let opened = Session::open(&*backend, &info(&*backend), Duration::ZERO);
            for error in [read, opened.err().unwrap()] {
                let error = error.to_string();
                assert!(error.contains(expected), "{error}");
                assert!(error.contains(&backend.place()), "{error}");
            }
        }
    }
}

#[test]
fn only_a_later_version_replaces_a_state() {
    on_each(|backend| {
        let mut session = open(backend);
        let version = |serial, lineage: &str| State {
            serial,
            lineage: lineage.to_owned(),
            ..State::default()
        };
        session.replace(version(5, "mine"), false).unwrap();
        session.finish(created("a")).unwrap();
        for (serial, lineage) in [(6, "mine"), (5, "mine"), (9, "other")] {
            let error = session
                .replace(version(serial, lineage), false)
                .unwrap_err();
            let expected = format!(
                "serial {serial} of lineage {lineage} does not follow serial 6 of lineage mine in {}",
                backend.place()
            );
            assert_eq!(error.to_string(), expected);
        }
        session.replace(version(7, "mine"), false).unwrap();
        session.replace(version(2, "other"), true).unwrap();
        drop(session);
        assert_eq!(open(backend).state(), &version(2, "other"));
    });
}

/// A backend of which one write does not succeed.
struct Faulty<'a> {
    backend: &'a dyn Backend,
    fault: Fault,
    /// Whether the writes after that one succeed.
    heals: bool,
    /// Up to and with that one.
    writes_left: Arc<AtomicUsize>,
}

/// How a write fails.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// Nothing was done.
    Nothing,
    /// Of an append, half was done.
    Half,
    /// Everything was done, but that is not known.
    All,
}

struct FaultyGuard {
    guard: Box<dyn LockGuard>,
    fault: Fault,
    heals: bool,
    writes_left: Arc<AtomicUsize>,
}

impl Backend for Faulty<'_> {
    fn place(&self) -> String {
        self.backend.place()
    }

    fn read(&self) -> Result<Contents, BackendError> {
        self.backend.read()
    }

    fn lock(&self, info: &LockInfo, timeout: Duration) -> Result<Box<dyn LockGuard>, LockError> {
        Ok(Box::new(FaultyGuard {
            guard: self.backend.lock(info, timeout)?,
            fault: self.fault,
            heals: self.heals,
            writes_left: Arc::clone(&self.writes_left),
        }))
    }

    fn unlock(&self, id: &str) -> Result<(), UnlockError> {
        self.backend.unlock(id)
    }
}

impl FaultyGuard {
    fn write_with(
        &mut self,
        write: impl FnOnce(&mut dyn LockGuard) -> Result<(), BackendError>,
    ) -> Result<(), BackendError> {
        let left = self.writes_left.load(SeqCst);
        self.writes_left.store(left.saturating_sub(1), SeqCst);
        let fails = left == 1 || (left == 0 && !self.heals);
        if !fails || (left == 1 && self.fault == Fault::All) {
            write(&mut *self.guard)?;
        }
        if !fails {
            return Ok(());
        }
        let place = "the fault".to_owned();
        Err(BackendError::LockLost { place })
    }
}

impl LockGuard for FaultyGuard {
    fn read(&mut self) -> Result<Contents, BackendError> {
        self.guard.read()
    }

    fn write(&mut self, snapshot: &[u8]) -> Result<(), BackendError> {
        self.write_with(|guard| guard.write(snapshot))
    }

    fn append(&mut self, at: u64, bytes: &[u8]) -> Result<(), BackendError> {
        if self.fault == Fault::Half && self.writes_left.load(SeqCst) == 1 {
            self.guard.append(at, &bytes[..bytes.len() / 2])?;
        }
        self.write_with(|guard| guard.append(at, bytes))
    }

    fn remove_journal(&mut self) -> Result<(), BackendError> {
        self.write_with(|guard| guard.remove_journal())
    }
}

/// What a run was told: which operations began, and which ended.
#[derive(Default)]
struct Told {
    begun: Vec<String>,
    finished: Vec<String>,
}

/// Three runs' worth of steps; the error of a step ends it if `give_up`.
fn work(backend: &dyn Backend, told: &mut Told, give_up: bool) -> Result<(), StateError> {
    let survive = |result: Result<(), StateError>| match result {
        Err(error) if give_up => Err(error),
        other => Ok(other.is_ok()),
    };
    for run in 0..3 {
        let mut session = match Session::open(backend, &info(backend), Duration::ZERO) {
            Err(_) if !give_up => Session::open(backend, &info(backend), Duration::ZERO)?,
            other => other?,
        };
        for step in 0..2 {
            let name = format!("{run}{step}");
            if survive(session.begin(create(&name)))? {
                told.begun.push(name.clone());
                if survive(session.finish(created(&name)))? {
                    told.finished.push(name);
                }
            }
        }
        if run != 1 && !survive(session.save())? {
            survive(session.save())?;
        }
    }
    Ok(())
}

#[test]
fn a_crash_in_any_write_loses_nothing_that_was_reported() {
    for fault in [Fault::Nothing, Fault::Half, Fault::All] {
        let mut crashes = 0;
        loop {
            let done = AtomicUsize::new(0);
            let kinds = on_places(&places_for(fault), |backend| {
                let writes_left = Arc::new(AtomicUsize::new(crashes + 1));
                let heals = false;
                let faulty = Faulty {
                    backend,
                    fault,
                    heals,
                    writes_left,
                };
                let mut told = Told::default();
                let result = work(&faulty, &mut told, true);
                done.fetch_add(usize::from(result.is_ok()), SeqCst);

                let session = open(backend);
                let at = format!("{fault:?} of write {crashes} on {}", backend.place());
                for name in &told.begun {
                    let known = session.state().resources.contains_key(&id(name));
                    let in_flight = &session.recovered().in_flight;
                    let named = in_flight.iter().any(|intent| intent.id == id(name));
                    let finished = told.finished.contains(name);
                    assert!(known || (named && !finished), "{name} is lost after {at}");
                }
            });
            crashes += 1;
            if done.into_inner() == kinds {
                break;
            }
        }
        assert!(crashes > 15, "{crashes} writes");
    }
}

#[test]
fn after_a_failed_write_the_session_goes_on() {
    for fault in [Fault::Nothing, Fault::Half, Fault::All] {
        for write in 1..=20 {
            on_places(&places_for(fault), |backend| {
                let writes_left = Arc::new(AtomicUsize::new(write));
                let mut told = Told::default();
                let heals = true;
                let faulty = Faulty {
                    backend,
                    fault,
                    heals,
                    writes_left,
                };
                work(&faulty, &mut told, false).unwrap();
                let session = open(backend);
                let state = session.state();
                // What was begun did happen, whether or not it could be written down at once.
                let expected: Vec<_> = told.begun.iter().map(|name| id(name)).collect();
                let there: Vec<_> = state.resources.keys().cloned().collect();
                assert_eq!(there, expected, "{fault:?} of write {write}");
                assert_eq!(session.recovered(), &Recovered::default());
            });
        }
    }
}

/// The folder of `work_until_killed`, in the working folder of its process.
const KILLED: &str = "killed";

#[test]
#[ignore = "the other process of `a_killed_process_frees_its_lock_and_loses_nothing`"]
fn work_until_killed() {
    let mut session = open(&Local::new(Path::new(KILLED)));
    for n in 0..100_000 {
        let name = format!("{n:06}");
        session.begin(create(&name)).unwrap();
        session.finish(created(&name)).unwrap();
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a process to be killed, of this very program"
)]
fn a_killed_process_frees_its_lock_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let local = Local::new(&folder.path().join(KILLED));
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "backends::work_until_killed"])
        .current_dir(folder.path())
        .spawn()
        .unwrap();
    let written = || Session::read(&local).unwrap().resources.len();
    let deadline = Instant::now() + Duration::from_secs(60);
    while written() < 20 {
        assert!(Instant::now() < deadline, "the other process does nothing");
        std::thread::sleep(Duration::from_millis(5));
    }
    let error = Session::open(&local, &info(&local), Duration::ZERO)
        .err()
        .unwrap();
    let holder = format!("anna@example (process {})", child.id());
    assert!(error.to_string().contains(&holder), "{error}");
    let least = written();
    child.kill().unwrap();
    child.wait().unwrap();

    let mut session = open(&local);
    let there: Vec<_> = session.state().resources.keys().cloned().collect();
    let expected: Vec<_> = (0..there.len()).map(|n| id(&format!("{n:06}"))).collect();
    assert_eq!(there, expected);
    assert!(there.len() >= least);
    assert_eq!(session.recovered().outcomes, there.len());
    for intent in &session.recovered().in_flight {
        assert_eq!(intent.id, id(&format!("{:06}", there.len())));
    }
    session.save().unwrap();
}
