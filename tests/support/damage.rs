//! Hostile input made from good input.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

/// How long to go on: a second, or `NIVIS_FUZZ_SECONDS`.
#[expect(clippy::disallowed_methods, reason = "a test's own setting")]
pub(crate) fn patience() -> Duration {
    let seconds = std::env::var("NIVIS_FUZZ_SECONDS").ok();
    Duration::from_secs(seconds.map_or(1, |s| s.parse().unwrap()))
}

/// Changes to good input, each likely to reach another corner.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    Set(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Double(prop::sample::Index, prop::sample::Index),
    Remove(prop::sample::Index),
}

impl Damage {
    pub(crate) fn arbitrary() -> impl Strategy<Value = Self> {
        // Markers of every kind, with the lengths that follow them, are among these.
        let byte = prop_oneof![
            any::<u8>(),
            0xc0_u8..=0xdf,
            0x80_u8..=0x9f,
            Just(0xff),
            Just(b'"'),
            Just(b'[')
        ];
        let at = any::<prop::sample::Index>;
        prop_oneof![
            4 => (at(), byte).prop_map(|(i, b)| Self::Set(i, b)),
            1 => at().prop_map(Self::Cut),
            1 => (at(), at()).prop_map(|(i, j)| Self::Double(i, j)),
            1 => at().prop_map(Self::Remove),
        ]
    }

    pub(crate) fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let len = bytes.len();
        match self {
            Self::Set(i, b) => bytes[i.index(len)] = *b,
            Self::Cut(i) => bytes.truncate(i.index(len)),
            Self::Double(i, j) => {
                let (i, j) = (i.index(len), j.index(len));
                let part = bytes[i.min(j)..i.max(j)].to_vec();
                bytes.splice(i.min(j)..i.min(j), part);
            }
            Self::Remove(i) => drop(bytes.remove(i.index(len))),
        }
    }
}

pub(crate) fn next<S: Strategy>(runner: &mut TestRunner, strategy: &S) -> S::Value {
    strategy.new_tree(runner).unwrap().current()
}

/// Calls `read` with damaged copies of `good` for as long as [`patience`] lasts; gives how many of them were read without
/// an error, and of how many. A single input that takes longer than a second is a failure.
pub(crate) fn bombard(
    runner: &mut TestRunner,
    good: &[Vec<u8>],
    mut read: impl FnMut(&[u8]) -> bool,
) -> (usize, usize) {
    let harm = prop::collection::vec(Damage::arbitrary(), 0..6);
    let noise = prop::collection::vec(any::<u8>(), 0..64);
    let (start, patience) = (Instant::now(), patience());
    let (mut accepted, mut tried) = (0, 0);
    let mut timed = |input: &[u8]| {
        let start = Instant::now();
        let is_good = read(input);
        let took = start.elapsed();
        assert!(
            took < Duration::from_secs(5),
            "took {took:?}: {:?}",
            String::from_utf8_lossy(input)
        );
        is_good
    };
    while start.elapsed() < patience {
        for good in good {
            let mut input = good.clone();
            for damage in next(runner, &harm) {
                damage.apply(&mut input);
            }
            tried += 1;
            accepted += usize::from(timed(&input));
        }
        timed(&next(runner, &noise));
    }
    (accepted, tried)
}
