//! What people are told after a crash.

use std::time::Duration;

use super::lab::Lab;
use super::trial::{self, Blow};

/// Text with the times and the keys of one run replaced.
fn normal(stderr: &str) -> String {
    let replaced = stderr
        .lines()
        .take_while(|line| !line.starts_with("nivis will"))
        .map(|line| {
            let mut line = line.to_owned();
            for (before, after, mark) in [
                ("begun at ", ",", "[TIME]"),
                ("deposed object ", ",", "[KEY]"),
            ] {
                if let Some((start, rest)) = line.split_once(before)
                    && let Some((_, end)) = rest.split_once(after)
                {
                    line = format!("{start}{before}{mark}{after}{end}");
                }
            }
            line + "\n"
        });
    replaced.collect()
}

#[test]
fn what_was_in_flight_is_named_with_what_to_do_about_it() {
    let lab = Lab::changed();
    let trial = trial::run(&lab, &Blow::Hung(6), Duration::ZERO);
    assert!(
        trial.verdict.problems.is_empty(),
        "{:?}",
        trial.verdict.problems
    );
    insta::assert_snapshot!(normal(&trial.again.stderr), @r"
    warning: Operation was interrupted
      with fake.fake_thing.leading
      the create of its object, begun at [TIME], has no known result: it may exist without being known here
      hint: look for it; if it is there, delete it, or take it over with `nivis import`; else the next apply makes another
    warning: Operation was interrupted
      with fake.fake_thing.new
      the create of its object, begun at [TIME], has no known result: it may exist without being known here
      hint: look for it; if it is there, delete it, or take it over with `nivis import`; else the next apply makes another
    warning: Operation was interrupted
      with fake.fake_thing.left
      the delete of its deposed object [KEY], begun at [TIME], has no known result: it may or may not be gone
      hint: `nivis plan` reads the real object and shows what is left to do
    warning: Operation was interrupted
      with fake.fake_thing.gone-too
      the delete of its object, begun at [TIME], has no known result: it may or may not be gone
      hint: `nivis plan` reads the real object and shows what is left to do
    warning: Operation was interrupted
      with fake.fake_thing.swapped
      the delete of its object, begun at [TIME], has no known result: it may or may not be gone
      hint: `nivis plan` reads the real object and shows what is left to do
    warning: Operation was interrupted
      with fake.fake_thing.changed
      the update of its object, begun at [TIME], has no known result: the change may or may not have been made
      hint: `nivis plan` reads the real object and shows what is left to do
    warning: State was recovered
      an earlier run did not end as it should; results taken over from its journal: 1
    ");
}
