//! From changes to the order to carry them out in: every rule about who waits for whom lives here.
//!
//! Each object has up to two nodes: `make` (create, update, or the new half of a replacement) and `unmake` (destroy, or the
//! old half). Objects that stay as they are take part as nodes without work, so that order carries through them and the
//! number of edges stays that of the direct dependencies. With X depending on R (as configured for `make`, as stored for
//! `unmake`):
//!
//! 1. `make(X)` after `make(R)`.
//! 2. `make(X)` after `unmake(R)`: what R was must be gone before X is built on what R is now.
//! 3. `unmake(R)` and `make(R)` after `unmake(X)`: dependants go first.
//! 4. `make(X)` after `unmake(X)` in a replacement.
//!
//! Where the object unmade is of the create-first kind, "`make` after `unmake`" turns into "`unmake` after `make`".

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::Id;
use crate::graph::{Cycle, Dag, NodeId};
use crate::ir::Mode;
use crate::plan::Action;
use crate::plan::Plan;
use crate::plan::conditions::CheckStatus;
use crate::state::State;

/// One unit of work of an apply.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Create, update, or create the successor of the current object.
    Make(Id),
    /// Destroy the current object, or its predecessor that was moved aside.
    Unmake(Id),
    /// Destroy an object that an earlier run left deposed.
    UnmakeDeposed(Id, String),
    /// Read a data source, call a function, or open an ephemeral resource.
    Read(Id),
    /// Drop the record of an object that is gone already.
    Forget(Id),
    /// Evaluate the conditions of an object that stays as it is.
    Check(Id),
    /// Nothing; keeps others in order.
    Pass,
}

/// The steps of a plan, each after those it must wait for.
pub fn steps(plan: &Plan, state: &State) -> Result<Dag<Step>, Cycle> {
    let mut builder = Builder {
        dag: Dag::new(),
        make: BTreeMap::new(),
        unmake: BTreeMap::new(),
    };
    builder.nodes(plan, state);
    let first = create_first(plan, state);
    builder.configured_edges(plan);
    builder.stored_edges(state, &first);
    builder.replacement_edges(plan, &first);
    builder.deposed(plan, state);
    builder.dag.order()?;
    Ok(builder.dag)
}

struct Builder<'a> {
    dag: Dag<Step>,
    make: BTreeMap<&'a Id, NodeId>,
    unmake: BTreeMap<&'a Id, NodeId>,
}

impl<'a> Builder<'a> {
    fn nodes(&mut self, plan: &'a Plan, state: &'a State) {
        let pass = |id: &Id| match plan.checks.of(id) {
            Some(result) if result.status == CheckStatus::Unknown => Step::Check(id.clone()),
            _ => Step::Pass,
        };
        for (id, change) in &plan.changes {
            let make = match change.action {
                Action::Create
                | Action::Update
                | Action::DeleteThenCreate
                | Action::CreateThenDelete => Some(Step::Make(id.clone())),
                Action::NoOp | Action::Read => Some(pass(id)),
                Action::Delete | Action::Forget => None,
            };
            if let Some(step) = make {
                self.make.insert(id, self.dag.add(step));
            }
        }
        let works = (plan.changes.values())
            .any(|c| !matches!(c.action, Action::NoOp | Action::Read))
            || !plan.deposed.is_empty()
            || plan.data.values().any(|d| d.deferred);
        for (id, read) in &plan.data {
            let opened = read.mode == Mode::Ephemeral && works;
            let step = if read.deferred || opened {
                Step::Read(id.clone())
            } else {
                pass(id)
            };
            self.make.insert(id, self.dag.add(step));
        }
        for id in state.resources.keys() {
            let step = match plan.changes.get(id).map(|c| c.action) {
                Some(Action::Delete | Action::DeleteThenCreate | Action::CreateThenDelete) => {
                    Step::Unmake(id.clone())
                }
                Some(Action::Forget) => Step::Forget(id.clone()),
                _ => Step::Pass,
            };
            self.unmake.insert(id, self.dag.add(step));
        }
    }

    fn configured_edges(&mut self, plan: &Plan) {
        let data = plan.data.iter().map(|(id, d)| (id, &d.dependencies));
        let resources = plan.changes.iter().map(|(id, c)| (id, &c.dependencies));
        for (id, dependencies) in resources.chain(data) {
            let Some(&after) = self.make.get(id) else {
                continue;
            };
            for from in dependencies.iter().filter_map(|d| self.make.get(d)) {
                self.dag.add_edge(*from, after);
            }
        }
    }

    fn stored_edges(&mut self, state: &State, first: &BTreeSet<&Id>) {
        for (id, stored) in &state.resources {
            let dependencies = stored.current.iter().flat_map(|o| &o.dependencies);
            for on in dependencies {
                self.make_after_unmake(id, on, first);
                if let (Some(&x), Some(&r)) = (self.unmake.get(id), self.unmake.get(on)) {
                    self.dag.add_edge(x, r);
                }
                self.make_after_unmake(on, id, first);
            }
        }
    }

    fn replacement_edges(&mut self, plan: &Plan, first: &BTreeSet<&Id>) {
        for (id, _) in plan.changes.iter().filter(|(_, c)| c.action.is_replace()) {
            self.make_after_unmake(id, id, first);
        }
    }

    fn make_after_unmake(&mut self, make: &Id, unmake: &Id, first: &BTreeSet<&Id>) {
        if let (Some(&make), Some(&gone)) = (self.make.get(make), self.unmake.get(unmake)) {
            let (before, after) = if first.contains(unmake) {
                (make, gone)
            } else {
                (gone, make)
            };
            self.dag.add_edge(before, after);
        }
    }

    /// Left-over predecessors go once their successors and all who used them are up to date or gone.
    fn deposed(&mut self, plan: &Plan, state: &State) {
        let mut nodes: BTreeMap<&Id, Vec<NodeId>> = BTreeMap::new();
        for change in &plan.deposed {
            let id = &change.target.id;
            let node = self
                .dag
                .add(Step::UnmakeDeposed(id.clone(), change.key.clone()));
            nodes.entry(id).or_default().push(node);
            if let Some(&make) = self.make.get(id) {
                self.dag.add_edge(make, node);
            }
        }
        for (id, stored) in state.resources.iter().filter(|_| !nodes.is_empty()) {
            for on in stored.current.iter().flat_map(|o| &o.dependencies) {
                for &node in nodes.get(on).into_iter().flatten() {
                    for before in [self.make.get(id), self.unmake.get(id)]
                        .into_iter()
                        .flatten()
                    {
                        self.dag.add_edge(*before, node);
                    }
                }
            }
        }
    }
}

/// Ids whose objects are unmade only after what replaces them is made: by their own rule, as stored, or because something
/// that depends on them is of that kind.
fn create_first<'a>(plan: &'a Plan, state: &'a State) -> BTreeSet<&'a Id> {
    let stored = |id: &Id| state.resources.get(id).and_then(|s| s.current.as_ref());
    let planned = plan
        .changes
        .iter()
        .filter(|(_, c)| c.create_before_destroy)
        .map(|(id, _)| id);
    let kept = state
        .resources
        .keys()
        .filter(|id| stored(id).is_some_and(|o| o.create_before_destroy));
    let mut open: Vec<&Id> = planned.chain(kept).collect();
    let mut found = BTreeSet::new();
    while let Some(id) = open.pop() {
        if found.insert(id) {
            open.extend(
                plan.changes
                    .get(id)
                    .into_iter()
                    .flat_map(|c| &c.dependencies),
            );
            open.extend(
                state
                    .resources
                    .get(id)
                    .and_then(|s| s.current.as_ref())
                    .into_iter()
                    .flat_map(|o| &o.dependencies),
            );
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Change, ChangeTarget};
    use crate::state::{Object, ResourceState};
    use crate::value::{PathSet, Type, Value};

    /// One resource of a case: name, action, `first` for create-before-destroy, configured and stored dependencies.
    struct Given<'a>(&'a str, Action, bool, &'a [&'a str], &'a [&'a str]);

    fn change(given: &Given<'_>) -> Change {
        let Given(name, action, first, configured, _) = given;
        let null = || Value::null(Type::Dynamic);
        Change {
            target: ChangeTarget {
                id: Id::from(*name),
                provider: "p".into(),
                ty: "t".into(),
                name: (*name).into(),
                index: None,
            },
            action: *action,
            reason: None,
            prior: None,
            after: null(),
            config: null(),
            config_sensitive: PathSet::default(),
            sensitive: PathSet::default(),
            private: Vec::new(),
            identity: None,
            replace_paths: Vec::new(),
            create_before_destroy: *first,
            dependencies: configured.iter().map(|d| Id::from(*d)).collect(),
        }
    }

    fn case(all: &[Given<'_>]) -> Dag<Step> {
        let plan = Plan {
            changes: all.iter().map(|g| (Id::from(g.0), change(g))).collect(),
            ..Plan::default()
        };
        let stored =
            all.iter()
                .filter(|g| g.1 != Action::Create)
                .map(|Given(name, _, first, _, stored)| {
                    let object = Object {
                        dependencies: stored.iter().map(|d| Id::from(*d)).collect(),
                        create_before_destroy: *first,
                        ..Object::default()
                    };
                    (
                        Id::from(*name),
                        ResourceState {
                            current: Some(object),
                            ..ResourceState::default()
                        },
                    )
                });
        let state = State {
            resources: stored.collect(),
            ..State::default()
        };
        steps(&plan, &state).expect("no cycle")
    }

    /// The working steps in an order that the graph allows, where `a<b` pairs are forced.
    fn forced(dag: &Dag<Step>, pair: &str) -> bool {
        let (before, after) = pair.split_once('<').expect("a pair");
        let find = |text: &str| {
            let id = Id::from(&text[1..]);
            let step = if text.starts_with('d') {
                Step::Unmake(id)
            } else {
                Step::Make(id)
            };
            dag.nodes()
                .find(|(_, s)| **s == step)
                .map_or_else(|| panic!("no step {text}"), |(n, _)| n)
        };
        dag.ancestors([find(after)]).contains(&find(before))
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn who_waits_for_whom() {
        use Action::{
            Create, CreateThenDelete as First, Delete, DeleteThenCreate as Replace, NoOp, Update,
        };
        let none: &[&str] = &[];
        let a: &[&str] = &["A"];
        let b: &[&str] = &["B"];
        let rows: &[(&str, Vec<Given<'_>>, &[&str])] = &[
            (
                "create both",
                vec![
                    Given("A", Create, false, none, none),
                    Given("B", Create, false, a, none),
                ],
                &["cA<cB"],
            ),
            (
                "update both",
                vec![
                    Given("A", Update, false, none, none),
                    Given("B", Update, false, a, a),
                ],
                &["cA<cB"],
            ),
            (
                "destroy both",
                vec![
                    Given("A", Delete, false, none, none),
                    Given("B", Delete, false, none, a),
                ],
                &["dB<dA"],
            ),
            (
                "replace both",
                vec![
                    Given("A", Replace, false, none, none),
                    Given("B", Replace, false, a, a),
                ],
                &["dB<dA", "dA<cA", "cA<cB"],
            ),
            (
                "replace A, update B",
                vec![
                    Given("A", Replace, false, none, none),
                    Given("B", Update, false, a, a),
                ],
                &["dA<cA", "cA<cB"],
            ),
            (
                "update A, destroy B",
                vec![
                    Given("A", Update, false, none, none),
                    Given("B", Delete, false, none, a),
                ],
                &["dB<cA"],
            ),
            (
                "replace both, A creates first",
                vec![
                    Given("A", First, true, none, none),
                    Given("B", Replace, false, a, a),
                ],
                &["dB<cA", "cA<cB", "cB<dA"],
            ),
            (
                "replace A, which creates first, update B",
                vec![
                    Given("A", First, true, none, none),
                    Given("B", Update, false, a, a),
                ],
                &["cA<cB", "cB<dA"],
            ),
            (
                "destroy A, which creates first, B stops using it",
                vec![
                    Given("A", Delete, true, none, none),
                    Given("B", Update, false, none, a),
                ],
                &["cB<dA"],
            ),
            (
                "destroy A, B stops using it",
                vec![
                    Given("A", Delete, false, none, none),
                    Given("B", Update, false, none, a),
                ],
                &["dA<cB"],
            ),
            (
                "replace both, B creates first and forces A to",
                vec![
                    Given("A", First, true, none, none),
                    Given("B", First, true, a, a),
                ],
                &["cA<cB", "cB<dB", "dB<dA"],
            ),
            (
                "order carries through what stays",
                vec![
                    Given("A", Replace, false, none, none),
                    Given("B", NoOp, false, a, a),
                    Given("C", Delete, false, none, b),
                    Given("D", Create, false, b, none),
                ],
                &["dC<dA", "dA<cA", "cA<cD"],
            ),
        ];
        for (name, given, pairs) in rows {
            let dag = case(given);
            for pair in *pairs {
                assert!(forced(&dag, pair), "{name}: {pair}");
                let (before, after) = pair.split_once('<').expect("a pair");
                assert!(
                    !forced(&dag, &format!("{after}<{before}")),
                    "{name}: {after}<{before}"
                );
            }
        }
    }

    #[test]
    fn edges_grow_with_direct_dependencies() {
        let names: Vec<String> = (0..200).map(|i| format!("n{i:03}")).collect();
        let previous: Vec<Vec<&str>> = (0..200)
            .map(|i| names[..i].last().map(String::as_str).into_iter().collect())
            .collect();
        let given: Vec<_> = names
            .iter()
            .zip(&previous)
            .map(|(n, d)| Given(n, Action::DeleteThenCreate, false, d, d))
            .collect();
        let dag = case(&given);
        let edges: usize = dag.nodes().map(|(n, _)| dag.dependencies(n).count()).sum();
        assert!(edges <= 5 * 200, "{edges} edges");
    }
}
