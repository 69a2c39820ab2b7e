//! What holds for a state that several machines reach.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nivis::diagnostic::Diagnostics;
use nivis::state::{Backend, BackendError, LockError, Session, StateError, encode};
use serde_json::{Value, json};

use super::http_server::{Failure, HttpServer};
use super::kinds::{self, Place, Reach};
use super::{create, created, info, names, open, servers};
use crate::support::overwrite;

/// The error of a session that is not to be had.
fn refused(backend: &dyn Backend) -> StateError {
    let opened = Session::open(backend, &info(backend), Duration::ZERO);
    opened.err().unwrap()
}

fn assert_held(error: &StateError, by: u32) {
    let holder = format!("by `nivis apply` of anna@example (process {by}) since ");
    let held = matches!(error, StateError::Lock(LockError::Held { .. }));
    assert!(held && error.to_string().contains(&holder), "{error}");
}

#[test]
fn machines_share_the_state_and_take_turns() {
    for place in kinds::shared() {
        let (a, b) = (place.machine("a"), place.machine("b"));
        assert_eq!(a.place(), b.place());
        let mut session = open(&*a);
        session.finish(created("a")).unwrap();
        assert_held(&refused(&*b), std::process::id());
        assert_eq!(names(&Session::read(&*b).unwrap()).len(), 0);
        session.close().unwrap();

        let mut session = open(&*b);
        assert_eq!(names(session.state()), ["p.t.a"]);
        session.finish(created("b")).unwrap();
        session.close().unwrap();
        assert_eq!(names(open(&*a).state()), ["p.t.a", "p.t.b"]);
    }
}

#[test]
fn machines_that_wait_lose_nothing() {
    for place in kinds::shared() {
        let place = &place.reach;
        let folders = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for machine in ["a", "b", "c"] {
                let backend = place.connect(&folders.path().join(machine));
                scope.spawn(move || {
                    for round in 0..2 {
                        let wait = Duration::from_secs(60);
                        let mut session = Session::open(&*backend, &info(&*backend), wait).unwrap();
                        session
                            .finish(created(&format!("{machine}{round}")))
                            .unwrap();
                        session.close().unwrap();
                    }
                });
            }
        });
        let state = Session::read(&*place.connect(&folders.path().join("a"))).unwrap();
        assert_eq!(names(&state).len(), 6);
        assert_eq!(state.serial, 6);
    }
}

/// The file in the working folder of another process that says where the state is.
const REACH: &str = "reach.json";
/// The file by which it says that it has the lock.
const READY: &str = "ready";

#[test]
#[ignore = "the other process of `the_lock_of_a_dead_process`"]
fn hold_the_lock() {
    let reach: Reach = serde_json::from_slice(&std::fs::read(REACH).unwrap()).unwrap();
    let backend = reach.connect(&std::env::current_dir().unwrap().join(".nivis/default"));
    let mut session = open(&*backend);
    session.finish(created("a")).unwrap();
    session.begin(create("b")).unwrap();
    overwrite(Path::new(READY), b"").unwrap();
    std::thread::sleep(Duration::from_secs(300));
}

/// A process on machine `a` that has the lock, has made one thing, and makes another.
#[expect(
    clippy::disallowed_methods,
    reason = "a process to be killed, of this very program"
)]
fn holder(place: &Place) -> Child {
    let working = place.folder("a");
    let working = working.parent().unwrap().parent().unwrap();
    std::fs::create_dir_all(working).unwrap();
    let reach = serde_json::to_vec(&place.reach).unwrap();
    overwrite(&working.join(REACH), &reach).unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "backends::remote::hold_the_lock"])
        .current_dir(working)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !working.join(READY).exists() {
        assert!(Instant::now() < deadline, "no lock in the other process");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn the_lock_of_a_dead_process() {
    for place in kinds::all() {
        let mut child = holder(&place);
        let pid = child.id();
        let (a, b) = (place.machine("a"), place.machine("b"));
        assert_held(&refused(&*b), pid);
        assert_held(&refused(&*a), pid);
        child.kill().unwrap();
        child.wait().unwrap();
        if place.frees_the_dead {
            let wait = Duration::from_secs(60);
            drop(Session::open(&*b, &info(&*b), wait).unwrap());
        } else {
            let error = refused(&*a);
            assert_held(&error, pid);
            let hint = error.hint().unwrap();
            let (_, id) = hint.split_once("nivis unlock ").unwrap();
            b.unlock(id.trim_end_matches('`')).unwrap();
        }
        let mut session = open(&*a);
        let recovered = session.recovered();
        assert_eq!((recovered.outcomes, recovered.in_flight.len()), (1, 1));
        session.save().unwrap();
        session.close().unwrap();
        assert_eq!(names(&Session::read(&*b).unwrap()), ["p.t.a"]);
    }
}

/// A session of machine `a` that has made something, and a state that somebody wrote meanwhile without asking.
fn overtaken(place: &Place) -> (Session, Vec<u8>) {
    let a = place.machine("a");
    let mut session = open(&*a);
    session.finish(created("a")).unwrap();
    session.save().unwrap();
    let mut theirs = session.state().clone();
    theirs.serial += 1;
    let theirs = encode(&theirs, None).unwrap();
    place.put(&theirs);
    session.finish(created("b")).unwrap();
    (session, theirs)
}

#[test]
fn nothing_is_written_over_what_somebody_else_wrote() {
    for place in kinds::shared() {
        let (session, theirs) = overtaken(&place);
        let error = session.close().unwrap_err();
        let copy = place.folder("a").join("state.errored.json");
        let expected = format!(
            "the state {} was changed by somebody else since it was read: nothing is written over it; what was done is kept \
             on this machine",
            place.machine("a").place()
        );
        assert_eq!(error.to_string(), expected);
        assert!(error.hint().unwrap().contains(copy.to_str().unwrap()));
        let b = place.machine("b");
        assert_eq!(b.read().unwrap().snapshot.unwrap(), theirs);
        let copy = String::from_utf8(std::fs::read(copy).unwrap()).unwrap();
        assert!(copy.contains("p.t.a") && copy.contains("p.t.b"), "{copy}");

        // The journal says what was done, and does not fit any more: that is for a person to decide.
        let diagnostics = Diagnostics::from(refused(&*place.machine("a")));
        let text = diagnostics.to_string();
        assert!(
            text.contains("continues serial 1") && text.contains("is serial 2"),
            "{text}"
        );
    }
}

#[test]
fn an_answer_that_was_lost_is_no_conflict() {
    let place = kinds::http();
    let (server, path) = (HttpServer::shared(), path_of(&place));
    let backend = place.machine("a");
    let mut session = open(&*backend);
    for n in 0..3 {
        session.finish(created(&n.to_string())).unwrap();
        // To reading, to writing, and to reading and writing again.
        server.fail(
            &path,
            &[Failure::Status(503), Failure::NoAnswer, Failure::NoAnswer],
        );
        session.save().unwrap();
    }
    assert_eq!(
        names(&Session::read(&*place.machine("b")).unwrap()).len(),
        3
    );
}

#[test]
fn a_write_that_fails_is_made_up_for_by_the_next_run() {
    let place = kinds::http();
    let (server, path) = (HttpServer::shared(), path_of(&place));
    let (a, b) = (place.machine("a"), place.machine("b"));
    let mut session = open(&*a);
    session.finish(created("a")).unwrap();
    server.fail(&path, &[Failure::Status(507); 3]);
    let error = session.close().unwrap_err();
    assert!(matches!(
        error,
        StateError::Backend(BackendError::Kept { .. })
    ));
    let text = error.to_string();
    assert!(text.contains("the server answers 507"), "{text}");
    let errored = place.folder("a").join("state.errored.json");
    assert!(errored.exists());
    assert_eq!(b.read().unwrap().snapshot, None);

    // The lock is free: the run came to its end.
    let session = open(&*a);
    assert_eq!(session.recovered().outcomes, 1);
    session.close().unwrap();
    assert!(!errored.exists());
    assert_eq!(names(open(&*b).state()), ["p.t.a"]);
}

#[test]
fn what_comes_over_http_is_checked() {
    let place = kinds::http();
    let (server, path) = (HttpServer::shared(), path_of(&place));
    let backend = place.machine("a");
    let mut session = open(&*backend);
    session.finish(created("a")).unwrap();
    session.close().unwrap();
    for (failures, expected) in [
        (
            vec![Failure::WrongSum],
            "does not have the checksum that the server says",
        ),
        (
            vec![Failure::Status(500); 3],
            "answers 500 Internal Server Error when asked to read it",
        ),
        (
            vec![Failure::Status(302)],
            "answers 302 Found when asked to read it",
        ),
    ] {
        server.fail(&path, &failures);
        let error = Session::read(&*backend).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let asked = server.asked(&path);
    let writes: Vec<_> = asked
        .iter()
        .filter(|line| line.starts_with("POST"))
        .collect();
    assert!(
        writes[0].starts_with(&format!("POST {path}?ID=")),
        "{writes:?}"
    );
}

#[test]
fn without_its_password_a_server_says_where_that_goes() {
    let mut place = kinds::http();
    place.reach.environment.clear();
    let diagnostics = Diagnostics::from(refused(&*place.machine("a")));
    let text = diagnostics.to_string();
    assert!(
        text.contains("answers 401 Unauthorized when asked to lock it"),
        "{text}"
    );
    let hint = diagnostics.0[0].hint.as_ref().unwrap();
    assert!(hint.contains("TF_HTTP_PASSWORD"), "{hint}");
}

/// The path of a state on the web server.
fn path_of(place: &Place) -> String {
    let address = place.machine("a").place();
    let at = address.rfind('/').unwrap();
    address[at..].to_owned()
}

/// Ends the connections to PostgreSQL that have this name.
fn disconnect(name: &str) {
    let end = format!(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = '{name}'"
    );
    let ended = servers::psql_in(servers::postgres().unwrap(), "nivis", &end, b"").unwrap();
    assert_eq!(ended, "1");
    // Until both ends know.
    std::thread::sleep(Duration::from_millis(200));
}

#[test]
fn a_connection_to_postgres_that_breaks_costs_the_lock_only_if_somebody_took_it() {
    let Some(mut place) = kinds::pg() else {
        return;
    };
    let (a, b) = ("breaks-a", "breaks-b");
    let mut named = |name: &str| {
        let string = json!(format!("application_name={name}"));
        place
            .reach
            .config
            .settings
            .insert("conn_str".to_owned(), string);
        place.machine(name)
    };
    let (at_a, at_b) = (named(a), named(b));
    let mut session = open(&*at_a);
    session.finish(created("one")).unwrap();
    disconnect(a);
    session.save().unwrap();

    session.finish(created("two")).unwrap();
    disconnect(a);
    let mut other = open(&*at_b);
    let lost = session.save().unwrap_err().to_string();
    assert!(
        lost.contains("was broken: nothing more is written to it"),
        "{lost}"
    );
    other.finish(created("three")).unwrap();
    other.close().unwrap();
    let lost = session.save().unwrap_err().to_string();
    assert!(
        lost.contains("was broken: nothing more is written to it"),
        "{lost}"
    );
    assert_eq!(
        names(&Session::read(&*at_b).unwrap()),
        ["p.t.one", "p.t.three"]
    );
}

/// Changes how a place is reached, looks, and gives what is said, with the hint; nothing if there is no such place here.
fn said(place: Option<Place>, change: impl FnOnce(&mut Reach)) -> String {
    let Some(mut place) = place else {
        return String::new();
    };
    change(&mut place.reach);
    let read = Session::read(&*place.machine("a")).unwrap_err();
    let diagnostics = Diagnostics::from(read);
    let hint = diagnostics.0[0].hint.clone().unwrap_or_default();
    format!("{diagnostics} ({hint})")
}

fn assert_said(said: &str, expected: &[&str]) {
    for part in expected {
        assert!(said.is_empty() || said.contains(part), "{part}: {said}");
    }
}

#[test]
fn a_server_that_is_not_there_or_does_not_let_us_in_is_no_empty_state() {
    let variable = |name: &'static str, value: &'static str| {
        move |reach: &mut Reach| {
            reach.environment.insert(name.to_owned(), value.to_owned());
        }
    };
    let setting = |name: &'static str, value: &'static str| {
        move |reach: &mut Reach| {
            reach
                .config
                .settings
                .insert(name.to_owned(), Value::from(value));
        }
    };
    assert_said(
        &said(kinds::pg(), variable("PGPASSWORD", "wrong")),
        &["password authentication failed", "PGPASSWORD"],
    );
    assert_said(
        &said(kinds::pg(), variable("PGDATABASE", "nowhere")),
        &["database \"nowhere\" does not exist", "PGDATABASE"],
    );
    assert_said(
        &said(kinds::pg(), variable("PGPORT", "1")),
        &["Connection refused", "PGHOST"],
    );
    assert_said(
        &said(kinds::pg(), variable("PGSSLMODE", "require")),
        &["server does not support TLS"],
    );
    assert_said(
        &said(kinds::s3(), setting("bucket", "nowhere")),
        &[
            "The specified bucket does not exist. (NoSuchBucket)",
            "AWS_ACCESS_KEY_ID",
        ],
    );
    assert_said(
        &said(kinds::s3(), variable("AWS_SECRET_ACCESS_KEY", "wrong")),
        &["(SignatureDoesNotMatch)", "AWS_SECRET_ACCESS_KEY"],
    );
    let mut unreachable = kinds::http();
    unreachable
        .reach
        .config
        .settings
        .insert("address".to_owned(), json!("http://127.0.0.1:1/x"));
    assert_said(&said(Some(unreachable), |_| {}), &["Connection refused"]);
}

#[test]
fn an_object_is_encrypted_by_its_store_as_asked_for_and_not_otherwise() {
    let server = HttpServer::shared();
    for (settings, expected) in [
        (json!({}), vec![]),
        (
            json!({ "encrypt": true }),
            vec![("x-amz-server-side-encryption", "AES256")],
        ),
        (
            json!({ "kms_key_id": "arn:k" }),
            vec![
                ("x-amz-server-side-encryption", "aws:kms"),
                ("x-amz-server-side-encryption-aws-kms-key-id", "arn:k"),
            ],
        ),
    ] {
        let path = server.new_path();
        let Value::Object(mut settings) = settings else {
            unreachable!();
        };
        settings.insert("bucket".to_owned(), json!(&path[1..]));
        settings.insert("key".to_owned(), json!("web"));
        settings.insert("endpoint".to_owned(), json!(server.url("")));
        let reach = Reach {
            config: kinds::config("s3", Value::Object(settings)),
            environment: servers::s3_environment(),
        };
        let folder = tempfile::tempdir().unwrap();
        let error = refused(&*reach.connect(folder.path())).to_string();
        assert!(error.contains("401"), "{error}");
        let headers = server.headers("PUT", &format!("{path}/web.lock"));
        let encryption: Vec<_> = headers
            .iter()
            .filter(|(name, _)| name.contains("encryption"))
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(encryption, expected);
        assert_eq!(headers["if-none-match"], "*");
    }
}
