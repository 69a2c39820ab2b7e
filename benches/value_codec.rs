//! How fast values are read and written, beside general-purpose codecs and beside Go's.
//!
//! `make bench-values`. Go's times need the oracle of the tests.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and stops at the first failure"
)]

use std::hint::black_box;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use nivis::value::json::{from_json, to_json};
use nivis::value::msgpack::{decode, encode};
use nivis::value::{Type, Value};
use serde_json::{Value as Json, json};

/// Time given to each operation, in as many rounds as fit, and the least number of rounds.
const PATIENCE: Duration = Duration::from_millis(300);
const ROUNDS: u32 = 5;

fn main() {
    println!("best round; in brackets how many times as long the others take");
    println!(
        "{:<16}{:<16}{:>10}{:>12}{:>20}{:>22}",
        "data", "operation", "bytes", "nivis, µs", "serde, µs", "go-cty, µs"
    );
    let rules = Value::object([
        ("id", text(0)),
        ("ingress", Value::set(rule(0).ty(), rules(1000))),
        ("egress", Value::list(rule(0).ty(), rules(1000))),
    ]);
    let user_data = "#!/bin/sh\necho \"<é> & \\ 日本\"\n".repeat(1_000_000 / 34);
    let user_data = Value::object([("id", text(0)), ("user_data", Value::string(user_data))]);
    for (name, values) in [
        ("instance", vec![instance()]),
        ("2,000 rules", vec![rules]),
        ("1 MB string", vec![user_data]),
        ("10,000 small", (0..10_000).map(rule).collect()),
    ] {
        compare(name, &values);
    }
}

/// Prints the times for values of one type.
fn compare(name: &str, values: &[Value]) {
    let ty = values[0].ty();
    let bytes: Vec<Vec<u8>> = values.iter().map(|v| encode(v, &ty).unwrap()).collect();
    let texts: Vec<String> = values.iter().map(|v| to_json(v, &ty).unwrap()).collect();
    let tree = |text: &String| serde_json::from_str::<Json>(text).unwrap();
    let trees: Vec<Json> = texts.iter().map(tree).collect();
    for (bytes, tree) in bytes.iter().zip(&trees) {
        assert_eq!(&rmp_serde::from_slice::<Json>(bytes).unwrap(), tree);
    }
    let go = go_times(&ty, &bytes);
    let rows = [
        (
            "msgpack_encode",
            time(values, |v| encode(v, &ty).unwrap()),
            time(&trees, |tree| rmp_serde::to_vec(tree).unwrap()),
        ),
        (
            "msgpack_decode",
            time(&bytes, |b| decode(b, &ty).unwrap()),
            time(&bytes, |b| rmp_serde::from_slice::<Json>(b).unwrap()),
        ),
        (
            "json_encode",
            time(values, |v| to_json(v, &ty).unwrap()),
            time(&trees, |tree| serde_json::to_string(tree).unwrap()),
        ),
        (
            "json_decode",
            time(&texts, |t| from_json(t.as_bytes(), &ty).unwrap()),
            time(&texts, |t| serde_json::from_str::<Json>(t).unwrap()),
        ),
    ];
    for (operation, ours, serde) in rows {
        let size: usize = if operation.starts_with("json") {
            texts.iter().map(String::len).sum()
        } else {
            bytes.iter().map(Vec::len).sum()
        };
        let beside = |other: f64| format!("{:.1} ({:.1}x)", other / 1000.0, other / ours);
        let go = go.as_ref().map(|times| times[operation].as_f64().unwrap());
        println!(
            "{name:<16}{operation:<16}{size:>10}{:>12.1}{:>20}{:>22}",
            ours / 1000.0,
            beside(serde),
            go.map_or("not built".to_owned(), beside)
        );
    }
}

/// Nanoseconds for all items, the best of several rounds.
fn time<T, R>(items: &[T], run: impl Fn(&T) -> R) -> f64 {
    let begun = Instant::now();
    let (mut best, mut rounds) = (f64::INFINITY, 0);
    while rounds < ROUNDS || begun.elapsed() < PATIENCE {
        let start = Instant::now();
        for item in items {
            black_box(run(black_box(item)));
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9);
        rounds += 1;
    }
    best
}

/// The oracle's own timing of the same codecs; `None` if it is not built.
#[expect(clippy::disallowed_methods, reason = "no child of the program")]
fn go_times(ty: &Type, messages: &[Vec<u8>]) -> Option<Json> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/bin/oracle");
    let child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.ok()?;
    let base64 = |bytes: &Vec<u8>| base64::engine::general_purpose::STANDARD.encode(bytes);
    let request = json!({
        "op": "bench",
        "type": serde_json::from_str::<Json>(&ty.to_json()).unwrap(),
        "messages": messages.iter().map(base64).collect::<Vec<_>>(),
    });
    writeln!(child.stdin.take().unwrap(), "{request}").unwrap();
    let mut answer = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut answer).unwrap();
    child.wait().unwrap();
    let answer: Json = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer.get("failure"), None);
    Some(answer["nanoseconds"].clone())
}

fn text(i: usize) -> Value {
    Value::string(format!("arn:aws:service:region:123456789012:thing/{i:08}"))
}

fn number(i: usize) -> Value {
    Value::Number(i64::try_from(i * 37).unwrap().into())
}

/// A rule of a security group.
fn rule(i: usize) -> Value {
    Value::object([
        ("description", text(i)),
        ("enabled", Value::Bool(i.is_multiple_of(2))),
        ("from_port", number(i)),
        ("protocol", Value::string("tcp")),
        ("self", Value::null(Type::Bool)),
        ("to_port", number(i + 1)),
    ])
}

fn rules(n: usize) -> Vec<Value> {
    (0..n).map(rule).collect()
}

/// Shaped like a virtual machine of a large cloud: many scalars, some maps, sets and lists of blocks.
fn instance() -> Value {
    let tags = |n: usize| {
        let entries = (0..n).map(|i| (format!("tag-{i}"), text(i)));
        Value::map(Type::String, entries)
    };
    let mut attributes: Vec<(String, Value)> = Vec::new();
    for i in 0..30 {
        attributes.push((format!("text_{i}"), text(i)));
    }
    for i in 0..10 {
        attributes.push((format!("number_{i}"), number(i)));
        attributes.push((format!("unset_{i}"), Value::null(Type::String)));
    }
    attributes.push(("tags".to_owned(), tags(10)));
    attributes.push(("tags_all".to_owned(), tags(12)));
    let names = (0..20).map(text).collect();
    attributes.push(("names".to_owned(), Value::set(Type::String, names)));
    attributes.push(("ingress".to_owned(), Value::list(rule(0).ty(), rules(12))));
    attributes.push(("egress".to_owned(), Value::set(rule(0).ty(), rules(12))));
    Value::object(attributes)
}
