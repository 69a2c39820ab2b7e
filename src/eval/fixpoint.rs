//! Evaluation in phases: evaluate, learn outputs, evaluate again with a grown ledger, until that would bring nothing new.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::addr::Id;
use crate::eval::ledger::{Ledger, Look, Part, Question, attribute};
use crate::ir::{Expr, Ir, Meta, Ref};
use crate::value::{PathSet, Value};

/// Evaluates the configuration; gives the whole stack also if only a part of it was asked for.
pub type Evaluate<'a, E> = Box<dyn Fn(Question<'_>) -> Result<Ir, E> + Send + Sync + 'a>;

/// The phases of one run.
pub struct Phases<'a, E> {
    evaluate: Evaluate<'a, E>,
    ledger: Ledger,
    wanted: BTreeSet<Ref>,
    ir: Arc<Ir>,
    /// The secrets that the sensitive leaves of `ir` were computed from.
    told: Ledger,
    /// Whether Nix was asked without secrets since.
    is_fresh: bool,
    evaluations: u64,
    kept: BTreeSet<Id>,
}

/// A leaf that no evaluation resolves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Whose configuration it is in: a resource, data source, `provider.<id>` or consumer; or the id of a part of the stack.
    pub owner: String,
    /// Inputs that are not known.
    pub missing: Vec<Ref>,
}

impl<'a, E> Phases<'a, E> {
    /// Evaluates for the first time, with the ledger of the last run, so that a stack that has converged needs no further
    /// evaluation.
    pub fn start(evaluate: Evaluate<'a, E>, seed: Ledger) -> Result<Self, E> {
        let ir = Arc::new(evaluate(Question::whole(&seed, 1))?);
        let mut wanted: BTreeSet<Ref> = seed.refs().collect();
        wanted.extend(pending_inputs(&ir));
        Ok(Self {
            evaluate,
            ledger: seed,
            wanted,
            ir,
            told: Ledger::default(),
            is_fresh: true,
            evaluations: 1,
            kept: BTreeSet::new(),
        })
    }

    /// Goes on where a saved plan stopped, without evaluating: `told` are the secrets that the sensitive leaves of `ir` were
    /// computed from.
    pub fn resume(evaluate: Evaluate<'a, E>, ir: Arc<Ir>, ledger: Ledger, told: Ledger) -> Self {
        let mut wanted: BTreeSet<Ref> = ledger.refs().collect();
        wanted.extend(pending_inputs(&ir));
        Self {
            evaluate,
            ledger,
            wanted,
            ir,
            told,
            is_fresh: true,
            evaluations: 0,
            kept: BTreeSet::new(),
        }
    }

    /// The newest evaluation.
    pub fn ir(&self) -> &Arc<Ir> {
        &self.ir
    }

    /// What it was evaluated with.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The secrets that the sensitive leaves of the newest evaluation were computed from.
    pub fn told(&self) -> &Ledger {
        &self.told
    }

    /// How often Nix evaluated the configuration.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }

    /// From now on, what the ledger holds of these objects stays as it is: this run does not look at them.
    pub fn keep(&mut self, ids: BTreeSet<Id>) {
        self.kept = ids;
    }

    /// What the ledger would hold, given what is known of every object now.
    pub fn next_ledger<'v>(
        &self,
        outputs: impl Fn(&Id) -> Option<(&'v Value, &'v PathSet)>,
    ) -> Ledger {
        let mut next = Ledger::default();
        for target in &self.wanted {
            if self.kept.contains(&target.resource) {
                if let Some(name) = attribute(target) {
                    next.keep(&self.ledger, &target.resource, name);
                }
                continue;
            }
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
        let next = self.next_ledger(&outputs);
        // Where less is known than before, that may be for want of the secrets.
        if !self.ledger.is_part_of(&next) && self.tell(&outputs)? {
            return Ok(true);
        }
        let grown = self.is_worthwhile(&next);
        if grown {
            let owners = affected(&self.ir, &self.ledger.changed(&next));
            self.ask(&next, owners.as_ref(), None)?;
            self.wanted.extend(pending_inputs(&self.ir));
            (self.ledger, self.is_fresh) = (next, true);
        }
        Ok(self.tell(&outputs)? || grown)
    }

    /// Evaluates the sensitive leaves whose inputs are known, if these are other than before; says whether they were.
    fn tell<'v>(
        &mut self,
        outputs: impl Fn(&Id) -> Option<(&'v Value, &'v PathSet)>,
    ) -> Result<bool, E> {
        let Ready {
            owners,
            secrets,
            is_untold,
        } = ready_secrets(&self.ir, outputs);
        if secrets == self.told && !(is_untold && self.is_fresh) {
            return Ok(false);
        }
        let ledger = std::mem::take(&mut self.ledger);
        let asked = self.ask(&ledger, Some(&owners), Some(&secrets));
        self.ledger = ledger;
        asked?;
        (self.told, self.is_fresh) = (secrets, false);
        Ok(true)
    }

    /// Whether an evaluation with this ledger can say anything new: something it was told has changed, or something that
    /// waits has all it waits for.
    fn is_worthwhile(&self, next: &Ledger) -> bool {
        if next == &self.ledger {
            return false;
        }
        let is_ready = |ledger: &Ledger, inputs: &[Ref], sensitive: bool| {
            let ready = |look| look == Look::Known || look == Look::Secret && !sensitive;
            inputs.iter().all(|input| ready(ledger.look(input)))
        };
        let newly = |inputs: &[Ref], sensitive: bool| {
            is_ready(next, inputs, sensitive) && !is_ready(&self.ledger, inputs, sensitive)
        };
        let leaves = self.ir.exprs().chain(self.ir.conditions());
        let mut leaves = leaves.flat_map(|(_, expr)| expr.pending());
        !self.ledger.is_part_of(next)
            || leaves.any(|leaf| newly(&leaf.inputs, leaf.sensitive))
            || self.ir.waiting().any(|part| newly(&part.inputs, false))
    }

    fn ask(
        &mut self,
        ledger: &Ledger,
        owners: Option<&BTreeSet<String>>,
        secrets: Option<&Ledger>,
    ) -> Result<(), E> {
        let part = owners.map(|owners| Part {
            base: &self.ir,
            owners,
            secrets,
        });
        let question = Question {
            ledger,
            phase: self.evaluations + 1,
            part,
            compare: false,
        };
        self.ir = Arc::new((self.evaluate)(question)?);
        self.evaluations += 1;
        Ok(())
    }

    /// Whether some part of the stack is not declared yet.
    pub fn parts_waiting(&self) -> bool {
        self.ir.waiting().next().is_some()
    }

    /// Whether some provider's configuration waits for Nix.
    pub fn providers_pending(&self) -> bool {
        self.ir
            .providers
            .values()
            .any(|p| p.config.pending().next().is_some())
    }

    /// Whether some consumer, or check of the stack, waits for Nix.
    pub fn consumers_pending(&self) -> bool {
        let values = self.ir.consumers.iter().map(|c| &c.value);
        let checks = self.ir.checks.iter().map(|c| &c.condition);
        let mut all = values.chain(checks.flat_map(|c| [&c.condition, &c.message]));
        all.any(|expr| expr.pending().next().is_some())
    }

    /// Leaves and parts of the newest evaluation that wait for outputs, with those of their inputs that `known` denies.
    pub fn stuck(&self, known: impl Fn(&Ref) -> bool) -> Vec<Stuck> {
        let missing = |inputs: &[Ref]| inputs.iter().filter(|r| !known(r)).cloned().collect();
        let stuck = |(owner, expr): (String, &'_ Expr)| {
            let leaves: Vec<_> = expr
                .pending()
                .map(|d| Stuck {
                    owner: owner.clone(),
                    missing: missing(&d.inputs),
                })
                .collect();
            leaves
        };
        let all = self.ir.exprs().chain(self.ir.conditions());
        let parts = self.ir.waiting().map(|part| Stuck {
            owner: part.id.clone(),
            missing: missing(&part.inputs),
        });
        all.flat_map(stuck).chain(parts).collect()
    }
}

/// Inputs of all leaves and parts that wait for Nix.
fn pending_inputs(ir: &Ir) -> BTreeSet<Ref> {
    ir.exprs()
        .chain(ir.conditions())
        .flat_map(|(_, expr)| expr.pending())
        .flat_map(|d| &d.inputs)
        .chain(ir.waiting().flat_map(|part| &part.inputs))
        .cloned()
        .collect()
}

/// What can differ once more is known of the objects in `changed`; none if that is most of the stack, or cannot be told.
///
/// Every use of an output is an edge, whether the leaf was resolved or not; conditions and what concerns the whole stack have
/// none. What decides which elements there are is no question about those there are.
fn affected(ir: &Ir, changed: &BTreeSet<&Id>) -> Option<BTreeSet<String>> {
    let has_conditions = |m: &Meta| !m.preconditions.is_empty() || !m.postconditions.is_empty();
    let mut deciding = ir.deferred.iter().flat_map(|part| &part.inputs);
    let unclear = deciding.any(|input| changed.contains(&input.resource))
        || !ir.checks.is_empty()
        || !ir.imports.is_empty()
        || ir.resources.iter().any(|r| has_conditions(&r.meta))
        || ir.data_sources.iter().any(|d| has_conditions(&d.meta));
    let owners = || -> BTreeSet<String> {
        let edges = ir.edges.iter().filter(|e| changed.contains(&e.from));
        edges.map(|e| e.to.to_string()).collect()
    };
    let all = ir.resources.len() + ir.data_sources.len();
    Some(owners()).filter(|owners| !unclear && owners.len() * 2 <= all)
}

/// Sensitive leaves that can be computed.
#[derive(Default)]
struct Ready {
    /// Who has any.
    owners: BTreeSet<String>,
    /// Their inputs in full.
    secrets: Ledger,
    /// Whether one has not been.
    is_untold: bool,
}

/// Who has sensitive leaves whose inputs are all known, and these inputs in full.
fn ready_secrets<'v>(ir: &Ir, outputs: impl Fn(&Id) -> Option<(&'v Value, &'v PathSet)>) -> Ready {
    let mut ready = Ready::default();
    let value = |target: &Ref| outputs(&target.resource)?.0.attribute(attribute(target)?);
    // Checks of the stack are no elements that could be asked about, and have no secrets.
    let conditions = ir
        .conditions()
        .filter(|(owner, _)| !owner.starts_with("check."));
    for (owner, expr) in ir.exprs().chain(conditions) {
        for leaf in expr.secrets() {
            let is_known = |r: &Ref| value(r).is_some_and(Value::is_wholly_known);
            if !leaf.inputs.iter().all(is_known) {
                continue;
            }
            ready.owners.insert(owner.clone());
            ready.is_untold |= leaf.value.is_none();
            for input in &leaf.inputs {
                if let (Some((object, _)), Some(name)) =
                    (outputs(&input.resource), attribute(input))
                {
                    let secrets = &mut ready.secrets;
                    secrets.insert(&input.resource, name, object, &PathSet::default());
                }
            }
        }
    }
    ready
}
