//! How fast values are read and written, beside general-purpose codecs and beside Go's, on one large object.
//!
//! `cargo bench --bench value_codec`. Go's times are shown if the oracle of the tests is built.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and stops at the first failure"
)]

use std::hint::black_box;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use base64::Engine as _;
use nivis::value::json::{from_json, to_json};
use nivis::value::msgpack::{decode, encode};
use nivis::value::{Type, Value};
use serde_json::{Value as Json, json};

fn main() {
    let value = sample();
    let ty = value.ty();
    let bytes = encode(&value, &ty).unwrap();
    let text = to_json(&value, &ty).unwrap();
    let tree: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(rmp_serde::from_slice::<Json>(&bytes).unwrap(), tree);
    println!(
        "{} bytes of MessagePack, {} bytes of JSON",
        bytes.len(),
        text.len()
    );

    let go = go_times(&ty, &bytes);
    let rows = [
        (
            "msgpack_encode",
            time(|| encode(black_box(&value), &ty).unwrap()),
            time(|| rmp_serde::to_vec(black_box(&tree)).unwrap()),
        ),
        (
            "msgpack_decode",
            time(|| decode(black_box(&bytes), &ty).unwrap()),
            time(|| rmp_serde::from_slice::<Json>(black_box(&bytes)).unwrap()),
        ),
        (
            "json_encode",
            time(|| to_json(black_box(&value), &ty).unwrap()),
            time(|| serde_json::to_string(black_box(&tree)).unwrap()),
        ),
        (
            "json_decode",
            time(|| from_json(black_box(text.as_bytes()), &ty).unwrap()),
            time(|| serde_json::from_str::<Json>(black_box(&text)).unwrap()),
        ),
    ];
    println!("{:<16}{:>10}{:>18}{:>18}", "µs", "nivis", "serde", "go-cty");
    for (name, ours, serde) in rows {
        let go = go.as_ref().map(|times| times[name].as_f64().unwrap());
        let beside = |other: f64| format!("{:.1} ({:.1}x)", other / 1000.0, other / ours);
        let go = go.map_or("not built".to_owned(), beside);
        println!(
            "{name:<16}{:>10.1}{:>18}{go:>18}",
            ours / 1000.0,
            beside(serde)
        );
    }
}

/// Nanoseconds of one run, the best of several batches.
fn time<T>(mut run: impl FnMut() -> T) -> f64 {
    const RUNS: u32 = 200;
    let batch = |run: &mut dyn FnMut() -> T| {
        let start = Instant::now();
        for _ in 0..RUNS {
            black_box(run());
        }
        start.elapsed().as_secs_f64() * 1e9 / f64::from(RUNS)
    };
    (0..10)
        .map(|_| batch(&mut run))
        .fold(f64::INFINITY, f64::min)
}

/// The oracle's own timing of the same codecs; `None` if it is not built.
#[expect(clippy::disallowed_methods, reason = "no child of the program")]
fn go_times(ty: &Type, bytes: &[u8]) -> Option<Json> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/bin/oracle");
    let child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.ok()?;
    let request = json!({
        "op": "bench",
        "type": serde_json::from_str::<Json>(&ty.to_json()).unwrap(),
        "msgpack": base64::engine::general_purpose::STANDARD.encode(bytes),
        "count": 1000,
    });
    writeln!(child.stdin.take().unwrap(), "{request}").unwrap();
    let mut answer = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut answer).unwrap();
    child.wait().unwrap();
    let answer: Json = serde_json::from_str(&answer).unwrap();
    Some(answer["nanoseconds"].clone())
}

/// Shaped like a large cloud resource: many scalars, some maps, sets and lists of blocks.
fn sample() -> Value {
    let text =
        |i: usize| Value::string(format!("arn:aws:service:region:123456789012:thing/{i:08}"));
    let number = |i: usize| Value::Number(i64::try_from(i * 37).unwrap().into());
    let tags = |n: usize| {
        let entries = (0..n).map(|i| (format!("tag-{i}"), text(i)));
        Value::map(Type::String, entries)
    };
    let block = |i: usize| {
        Value::object([
            ("description", text(i)),
            ("enabled", Value::Bool(i.is_multiple_of(2))),
            ("from_port", number(i)),
            ("protocol", Value::string("tcp")),
            ("self", Value::null(Type::Bool)),
            ("to_port", number(i + 1)),
        ])
    };
    let blocks = |n: usize| (0..n).map(block).collect::<Vec<_>>();
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
    attributes.push((
        "names".to_owned(),
        Value::set(Type::String, (0..20).map(text).collect()),
    ));
    attributes.push(("ingress".to_owned(), Value::list(block(0).ty(), blocks(12))));
    attributes.push(("egress".to_owned(), Value::set(block(0).ty(), blocks(12))));
    Value::object(attributes)
}
