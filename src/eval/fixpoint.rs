//! Evaluation in phases: evaluate, learn outputs, evaluate again with a grown ledger, until that would bring nothing new.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::addr::Id;
use crate::eval::ledger::{Ledger, attribute};
use crate::ir::{Derived, Expr, Ir, Ref};
use crate::value::{PathSet, Value};

/// Evaluates the configuration with a ledger, in a phase counted from 1.
pub type Evaluate<'a, E> = Box<dyn Fn(&Ledger, u64) -> Result<Ir, E> + Send + Sync + 'a>;

/// The phases of one run.
pub struct Phases<'a, E> {
    evaluate: Evaluate<'a, E>,
    ledger: Ledger,
    wanted: BTreeSet<Ref>,
    ir: Arc<Ir>,
    evaluations: u64,
}

/// A leaf that no evaluation resolves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Whose configuration it is in: a resource, data source, `provider.<id>` or consumer.
    pub owner: String,
    /// Inputs that are not known.
    pub missing: Vec<Ref>,
}

impl<'a, E> Phases<'a, E> {
    /// Evaluates for the first time, with the ledger of the last run, so that a stack that has converged needs no further
    /// evaluation.
    pub fn start(evaluate: Evaluate<'a, E>, seed: Ledger) -> Result<Self, E> {
        let ir = Arc::new(evaluate(&seed, 1)?);
        let mut wanted: BTreeSet<Ref> = seed.refs().collect();
        wanted.extend(pending_inputs(&ir));
        Ok(Self {
            evaluate,
            ledger: seed,
            wanted,
            ir,
            evaluations: 1,
        })
    }

    /// The newest evaluation.
    pub fn ir(&self) -> &Arc<Ir> {
        &self.ir
    }

    /// What it was evaluated with.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// How often Nix evaluated the configuration.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }

    /// What the ledger would hold, given what is known of every object now.
    pub fn next_ledger<'v>(
        &self,
        outputs: impl Fn(&Id) -> Option<(&'v Value, &'v PathSet)>,
    ) -> Ledger {
        let mut next = Ledger::default();
        for target in &self.wanted {
            let Some((object, sensitive)) = outputs(&target.resource) else {
                continue;
            };
            if let Some(name) = attribute(target) {
                next.insert(&target.resource, name, object, sensitive);
            }
        }
        next
    }

    /// Evaluates again if what is known now changes what Nix would compute; says whether it did.
    pub fn advance<'v>(
        &mut self,
        outputs: impl Fn(&Id) -> Option<(&'v Value, &'v PathSet)>,
    ) -> Result<bool, E> {
        let next = self.next_ledger(outputs);
        if next == self.ledger {
            return Ok(false);
        }
        let ir = (self.evaluate)(&next, self.evaluations + 1)?;
        self.wanted.extend(pending_inputs(&ir));
        self.ir = Arc::new(ir);
        self.ledger = next;
        self.evaluations += 1;
        Ok(true)
    }

    /// Whether some provider's configuration waits for Nix.
    pub fn providers_pending(&self) -> bool {
        self.ir
            .providers
            .values()
            .any(|p| p.config.pending().next().is_some())
    }

    /// Whether some consumer waits for Nix.
    pub fn consumers_pending(&self) -> bool {
        self.ir
            .consumers
            .iter()
            .any(|c| c.value.pending().next().is_some())
    }

    /// Leaves of the newest evaluation that wait for outputs, with those of their inputs that `known` denies.
    pub fn stuck(&self, known: impl Fn(&Ref) -> bool) -> Vec<Stuck> {
        let stuck = |(owner, expr): (String, &'_ Expr)| {
            let missing = |d: &Derived| d.inputs.iter().filter(|r| !known(r)).cloned().collect();
            let leaves: Vec<_> = expr
                .pending()
                .map(|d| Stuck {
                    owner: owner.clone(),
                    missing: missing(d),
                })
                .collect();
            leaves
        };
        self.ir.exprs().flat_map(stuck).collect()
    }
}

/// Inputs of all leaves that wait for Nix.
fn pending_inputs(ir: &Ir) -> BTreeSet<Ref> {
    ir.exprs()
        .flat_map(|(_, expr)| expr.pending())
        .flat_map(|d| &d.inputs)
        .cloned()
        .collect()
}
