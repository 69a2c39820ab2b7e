//! Which part of a stack a run is about: `--target` and `--exclude`.
//!
//! Every node *requires* others to take part with it, so that what is done stays whole:
//!
//! - what is made or updated requires what it depends on, its provider's configuration included;
//! - what is destroyed requires what depends on it, as configured and as stored: dependents go first.
//!
//! A target takes part with all it requires; an excluded node stays out with all that requires it.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Dependencies, Index, Ir, provider_node};
use crate::plan::Plan;
use crate::plan::outputs::output_name;
use crate::state::State;

/// What the user limits a run to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// The whole stack.
    #[default]
    Nothing,
    /// These resources and data sources and what they require. The id of a repeated resource without key means all its
    /// instances.
    Only(Vec<String>),
    /// All but these and what requires them.
    Without(Vec<String>),
}

/// The part of a stack that is planned.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// What takes part; everything if there is none.
    pub selected: Option<BTreeSet<Id>>,
    /// What is only looked at, because a provider's configuration needs its outputs while objects are destroyed.
    pub needed: BTreeSet<Id>,
}

impl Scope {
    /// The scope of a run. Ids that name nothing are errors, with the nearest that exist.
    pub fn of(
        limit: &Limit,
        (ir, dependencies): (&Ir, &Dependencies),
        state: &State,
        destroy: bool,
    ) -> Result<Self, Diagnostics> {
        let stack = Stack {
            ir,
            dependencies,
            state,
            destroy,
        };
        let selected = stack.selected(limit)?;
        let needed = if destroy {
            stack.needed(selected.as_ref())
        } else {
            BTreeSet::new()
        };
        Ok(Self { selected, needed })
    }

    /// Whether something may be done about this id.
    pub fn selects(&self, id: &Id) -> bool {
        self.selected.as_ref().is_none_or(|s| s.contains(id))
    }

    /// Whether this id is at least looked at.
    pub fn visits(&self, id: &Id) -> bool {
        self.selects(id) || self.needed.contains(id)
    }
}

impl Plan {
    /// Whether it may do something about this id.
    pub fn selects(&self, id: &Id) -> bool {
        self.selected.as_ref().is_none_or(|s| s.contains(id))
    }

    /// Whether it decides the stack output of this name: everything that the output is made from takes part. What is
    /// destroyed takes only outputs along that are made from it.
    pub fn decides(&self, name: &str) -> bool {
        if self.selected.is_none() {
            return true;
        }
        let mut consumers = self.ir.consumers.iter();
        let Some(consumer) = consumers.find(|c| output_name(&c.id) == Some(name)) else {
            return !self.destroy;
        };
        let edges = self.ir.edges.iter();
        let linked = edges
            .filter(|e| e.to.as_str() == consumer.id)
            .map(|e| &e.from);
        let inputs: Vec<&Id> = consumer
            .value
            .inputs()
            .map(|r| &r.resource)
            .chain(linked)
            .collect();
        inputs.iter().all(|id| self.selects(id))
            && (!self.destroy || inputs.iter().any(|id| self.changes.contains_key(*id)))
    }

    /// Ids, configured or stored, that it leaves alone.
    pub fn left_alone(&self, state: &State) -> BTreeSet<Id> {
        let all = self.ir.node_ids().chain(state.resources.keys());
        all.filter(|id| !self.selects(id)).cloned().collect()
    }
}

/// What the user has to know about a limited plan.
pub fn warning() -> Diagnostic {
    Diagnostic::warning("Resource targeting is in effect")
        .detail("the plan is limited by `--target` or `--exclude`, so it may not do all that the configuration asks for")
        .hint("this is for exceptional situations; plan without limits afterwards")
}

/// What the user has to know after a limited apply.
pub fn applied_warning() -> Diagnostic {
    Diagnostic::warning("Applied changes may be incomplete")
        .detail("the plan was limited by `--target` or `--exclude`, so some changes that the configuration asks for may not be made")
        .hint("`nivis plan` without limits shows what is left")
}

struct Stack<'a> {
    ir: &'a Ir,
    dependencies: &'a Dependencies,
    state: &'a State,
    destroy: bool,
}

type Requirements<'a> = BTreeMap<&'a Id, Vec<&'a Id>>;

impl<'a> Stack<'a> {
    fn selected(&self, limit: &Limit) -> Result<Option<BTreeSet<Id>>, Diagnostics> {
        let chosen = match limit {
            Limit::Nothing => return Ok(None),
            Limit::Only(names) => closure(self.named("--target", names)?, &self.requirements()),
            Limit::Without(names) => {
                let start = self.named("--exclude", names)?;
                let requirements = self.requirements();
                let out = closure(start, &inverse(&requirements));
                let all = requirements.keys().copied();
                all.filter(|id| !out.contains(id)).collect()
            }
        };
        Ok(Some(chosen.into_iter().cloned().collect()))
    }

    /// Resources, data sources and providers of the configuration.
    fn configured(&self) -> impl Iterator<Item = &'a Id> {
        let consumers: BTreeSet<&str> = self.ir.consumers.iter().map(|c| &*c.id).collect();
        let nodes = self.dependencies.dag().nodes().map(|(_, id)| id);
        nodes.filter(move |id| !consumers.contains(id.as_str()))
    }

    fn is_orphan(&self, id: &Id) -> bool {
        self.dependencies.node(id.as_str()).is_none()
    }

    /// What each node requires.
    fn requirements(&self) -> Requirements<'a> {
        let mut all: Requirements<'a> = self.configured().map(|id| (id, Vec::new())).collect();
        for id in self.state.resources.keys() {
            all.entry(id).or_default();
        }
        for id in self.configured() {
            for on in self.dependencies.dependencies(id.as_str()) {
                let (who, whom) = if self.destroy { (on, id) } else { (id, on) };
                all.entry(who).or_default().push(whom);
            }
        }
        for (id, stored) in &self.state.resources {
            for on in stored.current.iter().flat_map(|o| &o.dependencies) {
                let both_go = self.destroy || self.is_orphan(id) && self.is_orphan(on);
                if let Some(required) = all.get_mut(on).filter(|_| both_go) {
                    required.push(id);
                }
            }
            if !self.destroy && self.is_orphan(id) {
                let provider = provider_node(&stored.provider);
                let inputs = self.dependencies.dependencies(provider.as_str());
                all.entry(id).or_default().extend(inputs);
            }
        }
        all
    }

    /// The ids that names of the user's stand for.
    fn named(&self, flag: &str, names: &[String]) -> Result<BTreeSet<&'a Id>, Diagnostics> {
        let resources = self.ir.resources.iter().map(|r| (&r.id, &r.meta.index));
        let data = self.ir.data_sources.iter().map(|d| (&d.id, &d.meta.index));
        let stored = self.state.resources.iter().map(|(id, s)| (id, &s.index));
        let known: BTreeMap<&'a Id, &'a Option<Index>> =
            stored.chain(resources).chain(data).collect();
        let mut found = BTreeSet::new();
        let mut wrong = Diagnostics::default();
        for name in names {
            let fits = |id: &Id, index: Option<&Index>| {
                id.as_str() == name || index.is_some() && base(id) == Some(name)
            };
            let mut any = false;
            for (id, _) in known.iter().filter(|(id, index)| fits(id, index.as_ref())) {
                found.insert(*id);
                any = true;
            }
            if !any {
                let bases = known.iter().filter(|(_, index)| index.is_some());
                let candidates = known.keys().map(|id| id.as_str());
                let candidates = candidates.chain(bases.filter_map(|(id, _)| base(id)));
                wrong.push(
                    Diagnostic::error("Resource not found")
                        .detail(format!("`{flag} {name}` names no resource or data source"))
                        .suggest(name, candidates),
                );
            }
        }
        wrong.into_result().map(|_| found)
    }

    /// What the configurations depend on of the providers that handle what is destroyed.
    fn needed(&self, selected: Option<&BTreeSet<Id>>) -> BTreeSet<Id> {
        let takes_part = |id: &Id| selected.is_none_or(|s| s.contains(id));
        let stored = self.state.resources.iter();
        let used = stored
            .filter(|(id, _)| takes_part(id))
            .filter_map(|(_, s)| self.dependencies.node(provider_node(&s.provider).as_str()));
        let dag = self.dependencies.dag();
        let ancestors = dag.ancestors(used);
        ancestors.into_iter().map(|n| dag[n].clone()).collect()
    }
}

/// The id of a repeated resource, from that of one of its instances.
fn base(id: &Id) -> Option<&str> {
    id.as_str().rsplit_once("__").map(|(base, _)| base)
}

fn closure<'a>(from: BTreeSet<&'a Id>, edges: &Requirements<'a>) -> BTreeSet<&'a Id> {
    let mut open: Vec<&Id> = from.into_iter().collect();
    let mut found = BTreeSet::new();
    while let Some(id) = open.pop() {
        if found.insert(id) {
            open.extend(edges.get(id).into_iter().flatten());
        }
    }
    found
}

fn inverse<'a>(edges: &Requirements<'a>) -> Requirements<'a> {
    let mut inverse: Requirements<'a> = BTreeMap::new();
    for (from, to) in edges {
        for id in to {
            inverse.entry(id).or_default().push(from);
        }
    }
    inverse
}
