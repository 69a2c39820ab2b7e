//! Hostile input to everything that reads files or what programs say: an answer or an error, never a panic, and quickly.

use std::collections::BTreeMap;
use std::time::Duration;

use nivis::addr::Id;
use nivis::diagnostic::Diagnostic;
use nivis::eval::ledger::Ledger;
use nivis::plan::file::{self, Made, Origin, PlanFile};
use nivis::plan::prior::Prior;
use nivis::plan::resolve::Outputs;
use nivis::plan::stack::PlanOptions;
use nivis::plan::{Action, Change, ChangeTarget, Plan, Reason};
use nivis::provider::Handshake;
use nivis::state::{
    self, Backend as _, Contents, Intent, LockInfo, Memory, Object, Operation, Outcome,
    OutputValue, Record, ResourceState, Session, State,
};
use nivis::value::{Path, PathSet, Type, Value, json, msgpack};
use nivis::{eval, ir};

use crate::support::damage::bombard;
use crate::values::compare::runner;

/// Most damaged input is refused, some is not: both must be seen, or nothing was tried.
fn both_happen((accepted, tried): (usize, usize)) {
    assert!(
        accepted > 0 && accepted < tried,
        "{accepted} of {tried} inputs were good"
    );
}

#[test]
fn of_the_ir() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ir-conformance/fixtures");
    let documents = |kind: &str| -> Vec<Vec<u8>> {
        let files = std::fs::read_dir(format!("{folder}/{kind}")).unwrap();
        files
            .map(|file| std::fs::read(file.unwrap().path()).unwrap())
            .collect()
    };
    let good = [documents("valid"), documents("invalid")].concat();
    assert!(good.len() > 100);
    both_happen(bombard(&mut runner(1), &good, |input| {
        ir::parse(input)
            .inspect_err(|errors| assert!(!errors.to_string().is_empty()))
            .is_ok()
    }));
}

#[test]
fn of_handshakes() {
    let certificate = "MIIB".repeat(40);
    let good = [
        "1|6|unix|/tmp/plugin1|grpc|".to_owned(),
        "1|5|tcp|127.0.0.1:1234|grpc|\n".to_owned(),
        format!("1|5|unix|/tmp/a b|grpc|{certificate}|true"),
        "1|4|unix|/tmp/plugin1|netrpc".to_owned(),
    ];
    let good = good.map(String::into_bytes);
    both_happen(bombard(&mut runner(1), &good, |input| {
        Handshake::parse(&String::from_utf8_lossy(input)).is_ok()
    }));
}

#[test]
fn of_types() {
    let good = [
        r#""string""#,
        r#"["object",{"a":["list","dynamic"],"b":["tuple",["bool",["set","number"]]]},["a"]]"#,
        r#"["map",["map",["map","number"]]]"#,
    ];
    let good = good.map(|text| text.as_bytes().to_vec());
    both_happen(bombard(&mut runner(1), &good, |input| {
        Type::from_json(input).is_ok()
    }));
}

fn object() -> ResourceState {
    ResourceState {
        provider: "p".to_owned(),
        provider_source: "builtin".to_owned(),
        ty: "t".to_owned(),
        name: "n".to_owned(),
        current: Some(Object {
            attributes: br#"{"id":"x","n":1.50}"#.to_vec(),
            private: vec![0, 255],
            dependencies: vec![Id::from("p.t.other")],
            ..Object::default()
        }),
        ..ResourceState::default()
    }
}

fn outcome() -> Outcome {
    Outcome {
        id: Id::from("p.t.n"),
        deposed: None,
        resource: Some(object()),
    }
}

fn stored() -> Vec<u8> {
    let mut state = State {
        lineage: "0123".to_owned(),
        ..State::default()
    };
    state.resources.insert(Id::from("p.t.n"), object());
    let value = OutputValue {
        value: br#"{"a":[1]}"#.to_vec(),
        ..OutputValue::default()
    };
    state.outputs.insert("o".to_owned(), value);
    state::encode(&state, None).unwrap()
}

#[test]
fn of_the_state() {
    let good = [stored()];
    both_happen(bombard(&mut runner(1), &good, |input| {
        let Ok(snapshot) = state::decode(input, "here") else {
            return false;
        };
        // What is read can be written and read again.
        let written = state::encode(&snapshot.state, None).unwrap();
        let again = state::decode(&written, "here").unwrap().state;
        assert_eq!(state::encode(&again, None).unwrap(), written);
        true
    }));
}

#[test]
fn of_the_journal() {
    let memory = Memory::with(Contents {
        snapshot: Some(stored()),
        journal: Vec::new(),
    });
    let lock = || LockInfo::new("apply", "anna@example", &memory.place());
    let mut session = Session::open(&memory, &lock(), Duration::ZERO).unwrap();
    session
        .begin(Intent::new(Id::from("p.t.n"), None, Operation::Create))
        .unwrap();
    session.finish(outcome()).unwrap();
    session
        .append(vec![Record::Outputs(BTreeMap::new())])
        .unwrap();
    let contents = memory.read().unwrap();
    assert!(!contents.journal.is_empty());
    both_happen(bombard(
        &mut runner(1),
        std::slice::from_ref(&contents.journal),
        |input| {
            let damaged = Memory::with(Contents {
                journal: input.to_vec(),
                ..contents.clone()
            });
            let before = damaged.read().unwrap();
            let state = Session::read(&damaged);
            assert_eq!(
                damaged.read().unwrap(),
                before,
                "looking must not change anything"
            );
            state.is_ok()
        },
    ));
}

/// A plan with something of everything, as the content of its file.
fn planned() -> Vec<u8> {
    let target = ChangeTarget {
        id: Id::from("p.t.n"),
        provider: "p".to_owned(),
        ty: "t".to_owned(),
        name: "n".to_owned(),
        index: Some(ir::Index::Number(0)),
    };
    let value = Value::object([
        ("id", Value::unknown(Type::String)),
        ("n", Value::list(Type::Bool, vec![Value::Bool(true)])),
    ]);
    let prior = Prior {
        value: value.clone(),
        private: vec![0, 255],
        identity: None,
        status: state::Status::Tainted,
        sensitive: std::iter::once(Path::root().attribute("id")).collect(),
        create_before_destroy: true,
    };
    let change = Change {
        target: target.clone(),
        action: Action::DeleteThenCreate,
        reason: Some(Reason::Tainted),
        prior: Some(prior),
        after: value.clone(),
        config: Value::null(Type::Dynamic),
        config_sensitive: PathSet::default(),
        sensitive: std::iter::once(Path::root().attribute("m").key("k").index(1)).collect(),
        private: Vec::new(),
        identity: None,
        replace_paths: vec![Path::root().attribute("n")],
        create_before_destroy: false,
        dependencies: vec![Id::from("p.t.other")],
    };
    let outputs = Outputs {
        value: change.after.clone(),
        sensitive: change.sensitive.clone(),
    };
    let plan = Plan {
        changes: BTreeMap::from([(target.id.clone(), change)]),
        outputs: BTreeMap::from([(target.id, outputs)]),
        warnings: Diagnostic::warning("Careful").hint("look").into(),
        ..Plan::default()
    };
    let state = state::decode(&stored(), "here").unwrap().state;
    let file = PlanFile {
        made: Made {
            version: "1".to_owned(),
            time: "now".to_owned(),
        },
        origin: Origin::default(),
        options: PlanOptions::default(),
        vars: serde_json::Map::new(),
        providers: BTreeMap::new(),
        state,
        plan,
        ledger: Ledger::default(),
        told: Ledger::default(),
    };
    let sealed = file::encode(&file).unwrap();
    file::unseal(&sealed, file::VERSION).unwrap().to_vec()
}

/// Damage is done to what is sealed, or the seal would keep all of it out.
#[test]
fn of_plans() {
    let good = planned();
    both_happen(bombard(&mut runner(1), &[good], |input| {
        let Ok(plan) = file::decode(&file::seal(input, file::VERSION)) else {
            return false;
        };
        // What is read can be written and read again.
        let written = file::encode(&plan).unwrap();
        let again = file::decode(&written).unwrap();
        assert_eq!(file::encode(&again).unwrap(), written);
        true
    }));
    let sealed = file::seal(&planned(), file::VERSION);
    let (accepted, _) = bombard(&mut runner(1), std::slice::from_ref(&sealed), |input| {
        file::decode(input).is_ok() && *input != *sealed
    });
    assert_eq!(accepted, 0, "damaged plans were read");
}

#[test]
fn of_ledgers() {
    let inputs = |text: &[u8]| {
        let input = state::DeriveInput {
            input: ir::Ref {
                resource: Id::from("p.t.n"),
                path: Path::root().attribute("a"),
            },
            value: text.to_vec(),
        };
        eval::ledger::Ledger::from_inputs(&[input])
    };
    let good = [br#"{"a":[1,null,"x"],"b":{"__unknown":true}}"#.to_vec()];
    both_happen(bombard(&mut runner(1), &good, |input| {
        !inputs(input).is_empty()
    }));
}

/// Input that asks for more than there is: depth, length, digits.
#[test]
fn bombs_are_refused() {
    let deep = |open: &str, close: &str| {
        const DEPTH: usize = 1_000_000;
        (open.repeat(DEPTH) + &close.repeat(DEPTH)).into_bytes()
    };
    let (lists, objects) = (deep("[", "]"), deep(r#"{"a":"#, "}"));
    for input in [&lists, &objects] {
        assert!(ir::parse(input).is_err());
        assert!(state::decode(input, "here").is_err());
        assert!(Type::from_json(input).is_err());
        assert!(json::from_json(input, &Type::Dynamic).is_err());
        assert!(file::decode(&file::seal(input, file::VERSION)).is_err());
    }
    let mut nested = Type::Bool;
    for _ in 0..200 {
        nested = Type::list(nested);
    }
    assert!(json::from_json(&lists, &nested).is_err());
    // Arrays and maps, each of one element that is another one.
    for marker in [&[0x91][..], &[0x81, 0xa1, b'a']] {
        let input = marker.repeat(1_000_000);
        assert!(msgpack::decode(&input, &nested).is_err());
        assert!(msgpack::decode(&input, &Type::Dynamic).is_err());
    }
    // Lengths of four billion: reserving memory for them would end the process.
    for (input, ty) in [
        (&[0xdd, 0xff, 0xff, 0xff, 0xff][..], Type::list(Type::Bool)),
        (&[0xdd, 0xff, 0xff, 0xff, 0xff], Type::set(Type::Bool)),
        (&[0xdf, 0xff, 0xff, 0xff, 0xff], Type::map(Type::Bool)),
        (&[0xdb, 0xff, 0xff, 0xff, 0xff], Type::String),
        (&[0xc6, 0xff, 0xff, 0xff, 0xff], Type::String),
        (&[0xc9, 0xff, 0xff, 0xff, 0xff, 0x0c], Type::Bool),
        (&[0xdd, 0xff, 0xff, 0xff, 0xff], Type::tuple([Type::Bool])),
        (
            &[0xdf, 0xff, 0xff, 0xff, 0xff],
            Type::object([("a", Type::Bool)]),
        ),
    ] {
        assert!(msgpack::decode(input, &ty).is_err(), "{input:02x?}");
    }
    for digits in ["1e999999999", "1e-999999999", &"9".repeat(20_000)] {
        assert!(json::from_json(digits.as_bytes(), &Type::Number).is_err());
        assert!(Value::from_untyped_json(&serde_json::from_str(digits).unwrap()).is_err());
    }
}
