//! Runs that see what happens to them: operations on files that fail, signals, a provider that dies.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{Rng as _, SeedableRng as _};

use super::figures::Figures;
use super::lab::Lab;
use super::trial::Blow;
use super::{LINGER, full, passages, points};

/// Operations by kind and name of the thing, as faults of the provider name them.
const OPERATIONS: [(&str, &str); 12] = [
    ("create", "new"),
    ("create", "newer"),
    ("create", "newest"),
    ("create", "leading"),
    ("create", "swapped"),
    ("update", "changed"),
    ("update", "following"),
    ("delete", "gone"),
    ("delete", "gone-too"),
    ("delete", "leading"),
    ("delete", "left"),
    ("delete", "swapped"),
];

/// Whether a point is about files.
fn is_file((point, _): &(String, usize)) -> bool {
    !point.starts_with("send:") && !point.starts_with("answered:")
}

#[test]
fn operations_on_files_that_fail() {
    let lab = Lab::changed();
    let mut random = StdRng::seed_from_u64(3);
    let passages = passages(&lab, &mut random);
    let mut blows = Vec::new();
    for (point, nth) in passages.iter().filter(|p| is_file(p)) {
        let mut kinds: Vec<_> = ["full", "broken"]
            .into_iter()
            .flat_map(|effect| [(effect, ""), (effect, "+")])
            .collect();
        if !full() {
            kinds = vec![*kinds.choose(&mut random).unwrap()];
        }
        for (effect, lasting) in kinds {
            let order = format!("{effect}@{point}#{nth}{lasting}");
            blows.push((Blow::Order(order), Duration::ZERO));
        }
    }
    assert!(blows.len() >= 15, "only {} operations", blows.len());
    let figures = Figures::of(&lab, &blows);
    figures.print("operations on files fail");
    for (blow, trial) in figures.trials() {
        let Blow::Order(order) = blow else { continue };
        let reason = if order.starts_with("full") {
            "no space left on device"
        } else {
            "input/output error"
        };
        let told = trial.disturbed.stderr.contains(reason);
        let code = trial.disturbed.code;
        // Copies are made where links fail, and a lock goes with its process: then nothing is the matter.
        assert!(
            code == 0 || code == 1 && told,
            "{blow:?}\n{}",
            trial.disturbed
        );
    }
    figures.assert_nothing_wrong();
}

#[test]
fn everything_fails_from_some_moment_on() {
    let lab = Lab::changed();
    let mut random = StdRng::seed_from_u64(4);
    let all: usize = points(&lab).into_values().sum();
    let count = if full() { all } else { 6 };
    let blows = (0..count).map(|n| {
        let nth = if full() {
            n + 1
        } else {
            random.gen_range(1..=all)
        };
        (Blow::Order(format!("full@*#{nth}+")), Duration::ZERO)
    });
    let figures = Figures::of(&lab, &blows.collect::<Vec<_>>());
    figures.print("everything fails from some moment on");
    for (blow, trial) in figures.trials() {
        let told = trial.disturbed.stderr.contains("no space left on device");
        assert!(
            trial.disturbed.code == 0 || told,
            "{blow:?}\n{}",
            trial.disturbed
        );
    }
    figures.assert_nothing_wrong();
}

#[test]
fn signals() {
    let lab = Lab::changed();
    let mut random = StdRng::seed_from_u64(5);
    let all: usize = points(&lab).into_values().sum();
    let count = if full() { all } else { 12 };
    let blows = (0..count).map(|n| {
        let nth = if full() {
            n + 1
        } else {
            random.gen_range(1..=all)
        };
        let signal = ["int", "term", "hup"][n % 3];
        // With all later points the signal comes again.
        let again = if n % 2 == 0 { "" } else { "+" };
        let order = format!("{signal}@*#{nth}{again}");
        (Blow::Order(order), random.gen_range(Duration::ZERO..LINGER))
    });
    let figures = Figures::of(&lab, &blows.collect::<Vec<_>>());
    figures.print("signals");
    for (blow, trial) in figures.trials() {
        // A signal before the run watches for it ends it as it ends any program; one that comes late changes nothing.
        let code = trial.disturbed.code;
        assert!(
            [0, 129, 130, 143].contains(&code),
            "{blow:?}\n{}",
            trial.disturbed
        );
        let stderr = &trial.disturbed.stderr;
        assert!(
            code != 130 || stderr.is_empty() || stderr.contains("interrupted"),
            "{blow:?}\n{stderr}"
        );
        if matches!(blow, Blow::Order(order) if !order.ends_with('+')) {
            assert_eq!(trial.verdict.in_flight, 0, "{blow:?}\n{stderr}");
        }
    }
    assert!(figures.ended_with(130) * 4 > figures.tried());
    figures.assert_nothing_wrong();
}

#[test]
fn a_provider_that_dies() {
    let lab = Lab::changed();
    let mut random = StdRng::seed_from_u64(6);
    let mut faults = Vec::new();
    for (on, name) in OPERATIONS {
        for fault in ["die", "die_after"] {
            faults.push(format!(
                r#"[{{"on":"{on}","match":{{"name":"{name}"}},"do":"{fault}"}}]"#
            ));
        }
    }
    if !full() {
        faults.shuffle(&mut random);
        faults.truncate(8);
    }
    let blows = faults
        .into_iter()
        .map(|f| (Blow::Provider(f), Duration::ZERO));
    let figures = Figures::of(&lab, &blows.collect::<Vec<_>>());
    figures.print("the provider dies");
    for (blow, trial) in figures.trials() {
        let told = trial.disturbed.stderr.contains("Plugin did not respond");
        assert!(
            trial.disturbed.code == 1 && told,
            "{blow:?}\n{}",
            trial.disturbed
        );
    }
    figures.assert_nothing_lost();
}
