//! Many trials, and what they add up to.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::WORKERS;
use super::lab::Lab;
use super::trial::{self, Blow, Trial};

/// Trials by what disturbed them.
pub(super) struct Figures(Vec<(Blow, Trial)>);

impl Figures {
    /// Makes trials, some at once.
    pub(super) fn of(lab: &Lab, blows: &[(Blow, Duration)]) -> Self {
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| {
                    while let Some((blow, linger)) = blows.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        let trial = trial::run(lab, blow, *linger);
                        done.lock().unwrap().push((blow.clone(), trial));
                    }
                });
            }
        });
        Self(done.into_inner().unwrap())
    }

    /// How many there were.
    pub(super) fn tried(&self) -> usize {
        self.0.len()
    }

    /// How many of the disturbed runs ended with this exit code.
    pub(super) fn ended_with(&self, code: i32) -> usize {
        self.0
            .iter()
            .filter(|(_, t)| t.disturbed.code == code)
            .count()
    }

    fn failed(&self) -> impl Iterator<Item = &(Blow, Trial)> {
        self.0
            .iter()
            .filter(|(_, t)| !t.verdict.problems.is_empty())
    }

    /// One line for people.
    pub(super) fn print(&self, what: &str) {
        let sum = |of: fn(&Trial) -> usize| self.0.iter().map(|(_, t)| of(t)).sum::<usize>();
        let lost = self.failed().count();
        eprintln!(
            "crash: {what}: {} tried, {lost} lost, {} operations named in flight, {} of them creations that happened, {} converged",
            self.tried(),
            sum(|t| t.verdict.in_flight),
            sum(|t| t.verdict.orphans),
            self.tried() - lost,
        );
    }

    /// The trials.
    pub(super) fn trials(&self) -> impl Iterator<Item = &(Blow, Trial)> {
        self.0.iter()
    }

    /// Every trial went well, and some had something in flight.
    #[track_caller]
    pub(super) fn assert_nothing_lost(&self) {
        self.assert_nothing_wrong();
        let in_flight = self.0.iter().any(|(_, t)| t.verdict.in_flight > 0);
        assert!(in_flight, "nothing was in flight");
    }

    /// Every trial went well.
    #[track_caller]
    pub(super) fn assert_nothing_wrong(&self) {
        let failed: Vec<_> = self.failed().collect();
        if let Some((blow, trial)) = failed.first() {
            panic!(
                "{} of {} went wrong; the first is {blow:?}, which ended\n{}\nafter which {}",
                failed.len(),
                self.tried(),
                trial.disturbed,
                trial.verdict.problems.join("\n")
            );
        }
    }
}
