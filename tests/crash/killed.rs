//! Runs that are killed.

use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::figures::Figures;
use super::lab::Lab;
use super::trial::{self, Blow};
use super::{LINGER, full, passages};

/// SIGKILL as an exit code.
const KILLED: i32 = 128 + 9;

fn kill_at_boundaries(lab: &Lab, what: &str) {
    let mut random = StdRng::seed_from_u64(1);
    let mut passages = passages(lab, &mut random);
    if !full() {
        // A part of the calls of the provider does.
        passages.retain(|(name, _)| !name.starts_with("send:") || name.contains("Apply"));
    }
    for point in [
        "sync:journal.jsonl",
        "rename:state.json",
        "lock:lock",
        "answered:ApplyResourceChange",
    ] {
        assert!(
            passages.iter().any(|p| p.0 == point),
            "{point} is not passed"
        );
    }
    let orders = passages
        .iter()
        .map(|(name, nth)| format!("kill@{name}#{nth}"));
    let blows = orders.map(|order| (Blow::Order(order), random.gen_range(Duration::ZERO..LINGER)));
    let figures = Figures::of(lab, &blows.collect::<Vec<_>>());
    figures.print(what);
    let killed = figures.ended_with(KILLED);
    // Runs differ a little in how often they pass a point.
    assert!(
        killed * 10 >= figures.tried() * 9,
        "only {killed} were killed"
    );
    figures.assert_nothing_lost();
}

#[test]
fn killed_at_every_boundary() {
    kill_at_boundaries(&Lab::changed(), "killed at boundaries");
}

#[test]
fn killed_at_every_boundary_of_a_first_run() {
    kill_at_boundaries(&Lab::fresh(), "a new stack, killed at boundaries");
}

#[test]
fn killed_at_random_instants() {
    let lab = Lab::changed();
    let mut random = StdRng::seed_from_u64(2);
    let begun = Instant::now();
    trial::run(&lab, &Blow::Provider("[]".to_owned()), Duration::ZERO);
    let whole = begun.elapsed() / 2;
    let count = if full() { 1000 } else { 40 };
    let blows = (0..count).map(|n| {
        let blow = if n % 5 == 0 {
            Blow::AfterStart(random.gen_range(Duration::ZERO..whole))
        } else {
            Blow::AfterIntent(random.gen_range(Duration::ZERO..whole / 2))
        };
        (blow, random.gen_range(Duration::ZERO..LINGER))
    });
    let figures = Figures::of(&lab, &blows.collect::<Vec<_>>());
    figures.print("killed at random instants");
    let killed = figures.ended_with(KILLED);
    assert!(killed * 2 > figures.tried(), "only {killed} were killed");
    figures.assert_nothing_lost();
}
