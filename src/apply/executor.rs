//! Walks the steps of a plan: starts each the moment what it waits for is done, evaluates Nix again when only that can go
//! on, records every outcome before anything depends on it. Sole owner of the state during an apply.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};

use crate::addr::Id;
use crate::apply::applied::Applied;
use crate::apply::depth;
use crate::apply::event::Event;
use crate::apply::judge::Judgement;
use crate::apply::later::{self, Unfinished};
use crate::apply::prepare::{Prepared, positions};
use crate::apply::work::{self, Done, Work};
use crate::diagnostic::Diagnostics;
use crate::eval::Phases;
use crate::graph::{Dag, Frontier, NodeId};
use crate::ir::{Build, Ir};
use crate::plan::Action;
use crate::plan::conditions::Kind;
use crate::plan::order::Step;
use crate::plan::{Plan, order};
use crate::provider::Pool;
use crate::state::{Record, Session};

/// What [`apply`] needs.
pub struct ApplyInput<'a> {
    /// The approved plan.
    pub plan: &'a Plan,
    /// Where running providers come from.
    pub pool: &'a Pool,
    /// How many provider operations may run at once.
    pub parallelism: usize,
    /// Set from outside to start nothing more.
    pub stop: &'a AtomicBool,
    /// Makes the paths of builds exist; it may take long.
    pub realise: Realise,
    /// Told what happens.
    pub events: &'a (dyn Fn(Event) + Send + Sync),
}

/// Makes the paths of builds exist.
pub type Realise = Arc<dyn Fn(&[Build]) -> Result<(), Diagnostics> + Send + Sync>;

/// Carries out a plan. Everything that goes wrong is in the result. Once something could not be recorded nothing more is
/// started; what runs is waited for, and the session keeps its outcome.
pub async fn apply<E: Into<Diagnostics>>(
    input: ApplyInput<'_>,
    session: &mut Session,
    phases: &mut Phases<'_, E>,
) -> Applied {
    let dag = match order::steps(input.plan, session.state()) {
        Ok(dag) => dag,
        Err(cycle) => return Applied::out_of_order(&cycle),
    };
    let outputs = input.plan.outputs.clone();
    let mut executor = Executor {
        ir: Arc::clone(phases.ir()),
        positions: positions(phases.ir()),
        beyond: HashSet::new(),
        awaited: Some(depth::awaited(phases.ir(), &outputs)),
        frontier: Frontier::new(&dag),
        dag: &dag,
        blocked: Vec::new(),
        early: Vec::new(),
        unfinished: later::made_by(&dag),
        made: HashSet::new(),
        stale: BTreeSet::new(),
        deposed: BTreeMap::new(),
        started: HashMap::new(),
        applied: Applied {
            outputs,
            checks: input.plan.checks.clone(),
            ..Applied::default()
        },
        unrecorded: false,
        untold: Vec::new(),
        input,
        session,
    };
    executor.run(phases).await;
    executor.finish()
}

pub(super) struct Executor<'a, 's> {
    pub(super) input: ApplyInput<'a>,
    pub(super) session: &'s mut Session,
    pub(super) ir: Arc<Ir>,
    pub(super) positions: HashMap<Id, usize>,
    dag: &'s Dag<Step>,
    frontier: Frontier<'s, Step, Unfinished>,
    /// What cannot be done in this plan: it needs objects that the plan does not have.
    beyond: HashSet<Id>,
    /// Whose outputs an evaluation beside running operations has to wait for; none if it would say nothing new.
    awaited: Option<BTreeSet<Id>>,
    /// Steps that wait for an evaluation.
    blocked: Vec<NodeId>,
    /// Steps that wait for others although the plan did not know of that.
    early: Vec<NodeId>,
    /// Objects that steps have still to make or read.
    pub(super) unfinished: HashSet<Id>,
    /// Those of `blocked` whose work is done: only postconditions are left.
    made: HashSet<NodeId>,
    /// Objects that turned out other than the ledger of the newest evaluation says.
    pub(super) stale: BTreeSet<Id>,
    /// Keys of objects moved aside in this run.
    pub(super) deposed: BTreeMap<Id, String>,
    started: HashMap<NodeId, Instant>,
    pub(super) applied: Applied,
    /// Something could not be recorded.
    unrecorded: bool,
    /// What is told once what it tells of is recorded.
    untold: Vec<Event>,
}

impl<'a> Executor<'a, '_> {
    async fn run<E: Into<Diagnostics>>(&mut self, phases: &mut Phases<'_, E>) {
        let mut running = FuturesUnordered::new();
        let mut again: Vec<NodeId> = Vec::new();
        loop {
            let limit = self.input.parallelism.max(1).saturating_sub(running.len());
            for (node, work) in self.start(limit, &mut again) {
                let (pool, realise) = (self.input.pool, Arc::clone(&self.input.realise));
                running.push(async move { (node, work::run(work, pool, realise).await) });
            }
            if !running.is_empty() && again.is_empty() && self.is_ready_for_nix() {
                again = self.evaluate(phases, true);
            } else if let Some(first) = running.next().await {
                let mut done = vec![first];
                while let Some(Some(more)) = running.next().now_or_never() {
                    done.push(more);
                }
                self.settle(done);
                again.append(&mut self.early);
            } else if self.stopping() {
                return;
            } else if !self.blocked.is_empty() {
                again = self.evaluate(phases, false);
                again.append(&mut self.early);
            } else {
                return self.give_up_early();
            }
        }
    }

    /// Nothing goes on any more: what waits for others waits for failures, or for itself.
    fn give_up_early(&mut self) {
        let is_failed = self.applied.diagnostics.has_errors();
        for node in std::mem::take(&mut self.early) {
            if is_failed {
                self.blocked.push(node);
            } else {
                self.fail(node, later::waits_for_itself());
            }
        }
    }

    /// Whether an evaluation would say now all that it would say once nothing runs any more.
    fn is_ready_for_nix(&self) -> bool {
        let is_ready = self.awaited.as_ref().is_some_and(BTreeSet::is_empty);
        is_ready && !self.blocked.is_empty() && !self.stopping()
    }

    fn stopping(&self) -> bool {
        self.unrecorded || self.input.stop.load(Ordering::Relaxed)
    }

    /// Makes these records durable, and how steps ended that have ended since; says whether that worked.
    fn journal(&mut self, records: Records) -> bool {
        let appended = self.session.append(records);
        for event in self.untold.drain(..) {
            (self.input.events)(event);
        }
        match appended {
            Ok(()) => true,
            Err(error) => {
                self.unrecorded = true;
                self.applied.diagnostics.extend(error.into());
                false
            }
        }
    }

    /// Takes up to `limit` steps that can start, journals what they are about to do, and gives their work.
    fn start(&mut self, limit: usize, again: &mut Vec<NodeId>) -> Vec<(NodeId, Work<'a>)> {
        let mut ready = Vec::new();
        let mut records = Vec::new();
        while ready.len() < limit && !self.stopping() {
            let Some(node) = again.pop().or_else(|| self.frontier.start()) else {
                break;
            };
            if later::names(&self.dag[node], &self.beyond) {
                self.frontier.failed(node, Unfinished::Postponed);
                continue;
            }
            if self.made.contains(&node) {
                self.conclude(node);
                continue;
            }
            match self.prepare(&self.dag[node]) {
                Prepared::Nothing => self.frontier.succeeded(node),
                Prepared::Blocked => self.blocked.push(node),
                Prepared::Early => self.early.push(node),
                Prepared::Failed(diagnostics) => {
                    self.fail(node, diagnostics);
                }
                Prepared::Record(record) => {
                    self.count_forgotten(&self.dag[node]);
                    records.push(record);
                    self.frontier.succeeded(node);
                }
                Prepared::Work { work, before } => {
                    records.extend(before);
                    self.started.insert(node, Instant::now());
                    ready.push((node, work));
                }
            }
        }
        if !self.journal(records) {
            return Vec::new();
        }
        for (_, work) in &ready {
            let (id, action) = work.label();
            (self.input.events)(Event::Started { id, action });
        }
        ready
    }

    fn fail(&mut self, node: NodeId, diagnostics: Diagnostics) {
        let address = match &self.dag[node] {
            Step::Make(id)
            | Step::Unmake(id)
            | Step::UnmakeDeposed(id, _)
            | Step::Read(id)
            | Step::Check(id)
            | Step::Forget(id) => id.to_string(),
            Step::Pass => String::new(),
        };
        self.applied.diagnostics.extend_at(diagnostics, &address);
        self.frontier.failed(node, Unfinished::Failed);
    }

    /// Takes note of how steps ended, to be written down with what is started next, and lets go what waited for them.
    fn settle(&mut self, done: Vec<(NodeId, Done<'a>)>) {
        for (node, done) in done {
            let (id, action) = done.label();
            let (records, diagnostics) = self.record(done);
            self.session.stage(records);
            let elapsed = self
                .started
                .remove(&node)
                .map(|t| t.elapsed())
                .unwrap_or_default();
            if diagnostics.has_errors() {
                self.untold.push(Event::Failed {
                    id,
                    action,
                    elapsed,
                });
                self.fail(node, diagnostics);
            } else {
                self.count(action);
                let shown_id = self.shown_id(&id);
                self.applied.diagnostics.extend_at(diagnostics, &id);
                self.untold.push(Event::Finished {
                    id,
                    action,
                    elapsed,
                    shown_id,
                });
                self.conclude(node);
            }
        }
    }

    /// Lets go what waited for a step, if what came of it is as it must be.
    fn conclude(&mut self, node: NodeId) {
        let judgement = match &self.dag[node] {
            Step::Make(id) | Step::Read(id) => {
                if let Some(awaited) = &mut self.awaited {
                    awaited.remove(id);
                }
                self.judge(id, Kind::Postcondition)
            }
            _ => Judgement::Met,
        };
        match judgement {
            Judgement::Met => {
                if let Step::Make(id) | Step::Read(id) = &self.dag[node] {
                    self.unfinished.remove(id);
                }
                self.frontier.succeeded(node);
            }
            Judgement::Waits => {
                self.made.insert(node);
                self.blocked.push(node);
            }
            Judgement::Broken(diagnostics) => self.fail(node, diagnostics),
        }
    }

    /// Counts an object that is let go of although it is there.
    fn count_forgotten(&mut self, step: &Step) {
        if let Step::Forget(id) = step
            && self
                .input
                .plan
                .changes
                .get(id)
                .is_some_and(|c| c.prior.is_some())
        {
            self.applied.counts.forgotten += 1;
        }
    }

    fn count(&mut self, action: Action) {
        let counts = &mut self.applied.counts;
        match action {
            Action::Create => counts.added += 1,
            Action::Update => counts.changed += 1,
            Action::Delete => counts.destroyed += 1,
            _ => {}
        }
    }

    /// Evaluates with what is known now; gives the steps that can be tried again. A failure fails all that wait.
    fn evaluate<E: Into<Diagnostics>>(
        &mut self,
        phases: &mut Phases<'_, E>,
        beside: bool,
    ) -> Vec<NodeId> {
        let waiting = std::mem::take(&mut self.blocked);
        (self.input.events)(Event::Evaluating {
            phase: phases.evaluations() + 1,
            waiting: waiting.len(),
        });
        let outputs = &self.applied.outputs;
        let problem = match phases.advance(|id| outputs.get(id).map(|o| (&o.value, &o.sensitive))) {
            Ok(true) => {
                self.ir = Arc::clone(phases.ir());
                self.positions = positions(&self.ir);
                self.beyond = later::beyond(&self.ir, &self.input.plan.ir);
                self.awaited = Some(depth::awaited(&self.ir, &self.applied.outputs));
                self.stale.clear();
                return waiting;
            }
            Ok(false) if !self.stale.is_empty() => {
                self.stale.clear();
                return waiting;
            }
            Ok(false) if beside => {
                self.awaited = None;
                self.blocked = waiting;
                return Vec::new();
            }
            Ok(false) => None,
            Err(error) => Some(error.into()),
        };
        if let Some(diagnostics) = problem {
            self.applied.diagnostics.extend(diagnostics);
            for node in waiting {
                self.frontier.failed(node, Unfinished::Failed);
            }
        } else {
            for node in waiting {
                let diagnostics = self.stuck(&self.dag[node], phases);
                self.fail(node, diagnostics);
            }
        }
        Vec::new()
    }

    fn finish(mut self) -> Applied {
        let ended = self.frontier.finish();
        let is_open = |node: &NodeId| !self.made.contains(node) && self.dag[*node] != Step::Pass;
        let steps = |nodes: Vec<NodeId>| {
            let open = nodes.into_iter().filter(is_open);
            open.map(|node| self.dag[node].clone()).collect()
        };
        let (mut left, postponed) = later::unfinished(&ended);
        left.append(&mut self.blocked);
        left.append(&mut self.early);
        self.applied.left = steps(left);
        self.applied.postponed = steps(postponed);
        self.applied
    }
}

/// Records that one step adds to the journal.
pub(super) type Records = Vec<Record>;
