//! The crash matrix: a run is disturbed at every boundary of journal, state, lock and calls of the provider, and at random
//! instants; the next run makes world and state one again, and names what it cannot know.
//!
//! `NIVIS_CRASH=full` (`make crash`) tries every boundary and 1,000 instants, otherwise a part of them is tried.

mod figures;
mod killed;
mod lab;
mod named;
mod survived;
mod trial;
mod verdict;

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use rand::Rng as _;
use rand::rngs::StdRng;

use self::lab::Lab;

/// Trials at once. Each is two or three processes that mostly wait for each other.
const WORKERS: usize = 3;

/// How long a provider may outlive its host before it is ended, too.
const LINGER: Duration = Duration::from_millis(25);

#[expect(clippy::disallowed_methods, reason = "a test's own setting")]
fn full() -> bool {
    std::env::var_os("NIVIS_CRASH").is_some_and(|value| value == "full")
}

/// Names of the points that a run passes, and how often.
fn points(lab: &Lab) -> BTreeMap<String, usize> {
    let workspace = lab.workspace();
    let trace = workspace.path("trace");
    let mut command = workspace.command(["apply", "--file", "stack.nix", "--auto-approve"]);
    command.env("NIVIS_FAULT", format!("trace@{}", trace.display()));
    assert!(command.output().unwrap().status.success());
    let mut points = BTreeMap::new();
    for line in fs::read_to_string(trace).unwrap().lines() {
        *points.entry(line.to_owned()).or_default() += 1;
    }
    points
}

/// Every passage of every point; a random one of each unless all are wanted.
fn passages(lab: &Lab, random: &mut StdRng) -> Vec<(String, usize)> {
    let chosen = |(name, count): (String, usize)| {
        let passages = if full() {
            (1..=count).collect()
        } else {
            vec![random.gen_range(1..=count)]
        };
        passages.into_iter().map(move |nth| (name.clone(), nth))
    };
    points(lab).into_iter().flat_map(chosen).collect()
}
