//! The plan of a whole stack: every node visited once its dependencies are, planned values flowing along references.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::graph::{Dag, NodeId, walk};
use crate::ir::{Dependencies, Expr, Ir, Resource, provider_node};
use crate::plan::conditions::CheckResults;
use crate::plan::import::ImportBy;
use crate::plan::memo::Memo;
use crate::plan::moves::{Crossing, Move, Relocation, relocate, within};
use crate::plan::plan::{DataRead, DeposedChange, Drift, Plan};
use crate::plan::resolve::{OutputMap, Outputs, variables};
use crate::plan::target::{self, Limit, Scope};
use crate::plan::{Change, conditions, data_node, ephemeral, nodes, orphan, providers};
use crate::provider::{Pool, Provider};
use crate::state::{ResourceState, State};

/// What [`plan_stack`] looks at.
#[derive(Clone, Copy)]
pub struct StackInput<'a> {
    /// The evaluated configuration.
    pub ir: &'a Arc<Ir>,
    /// What exists.
    pub state: &'a State,
    /// Where running providers come from.
    pub pool: &'a Pool,
    /// What was found out in an earlier round of the same run.
    pub memo: &'a Memo,
    /// The user's wishes.
    pub options: &'a PlanOptions,
}

/// The user's wishes about a plan.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// Plan the removal of everything.
    pub destroy: bool,
    /// Read stored objects from the world first.
    pub refresh: bool,
    /// Only read stored objects from the world; nothing is to be changed there.
    pub refresh_only: bool,
    /// Which part of the stack it is about.
    pub limit: Limit,
    /// Objects to replace even if nothing changed.
    pub replace: BTreeSet<Id>,
    /// How many provider calls may run at once.
    pub parallelism: usize,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            destroy: false,
            refresh: true,
            refresh_only: false,
            limit: Limit::Nothing,
            replace: BTreeSet::new(),
            parallelism: 10,
        }
    }
}

/// One thing to plan.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// A configured resource, by position in the IR.
    Resource(usize),
    /// A data source, by position in the IR.
    Data(usize),
    /// A configured provider, by id.
    Provider(String),
    /// A stored resource that is not in the configuration.
    Orphan(Id),
}

/// A provider, started once for a walk, or why it cannot be.
type Started = OnceCell<Result<Arc<dyn Provider>, Diagnostics>>;

/// Everything the visits of one walk share.
pub(super) struct Walk<'a> {
    pub(super) input: StackInput<'a>,
    /// Ids whose replacements are created first.
    pub(super) forced_first: BTreeSet<Id>,
    /// What takes part.
    pub(super) scope: Scope,
    dependencies: Dependencies,
    providers: HashMap<&'a str, Started>,
    moves: BTreeMap<Id, Move>,
    /// What resources are imported by.
    pub(super) imports: HashMap<&'a Id, &'a Expr>,
    /// Ephemeral resources.
    pub(super) ephemeral: BTreeSet<&'a Id>,
    found: Mutex<Found>,
}

/// What the visits found so far.
#[derive(Default)]
pub(super) struct Found {
    pub(super) changes: BTreeMap<Id, Change>,
    pub(super) deposed: Vec<DeposedChange>,
    pub(super) data: BTreeMap<Id, DataRead>,
    pub(super) outputs: OutputMap,
    pub(super) drift: Vec<Drift>,
    pub(super) checks: CheckResults,
    pub(super) broken: Diagnostics,
    pub(super) imports: BTreeMap<Id, ImportBy>,
    pub(super) unresolved: Diagnostics,
    pub(super) diagnostics: Diagnostics,
}

/// Plans the stack. On errors all of them are returned, each with its address; what depends on something that failed is
/// left out silently.
pub async fn plan_stack(input: StackInput<'_>) -> Result<Plan, Diagnostics> {
    let address = |id: &str, source: &str| input.pool.address(id, source);
    let Relocation {
        state,
        moves,
        warnings,
    } = relocate(input.state, input.ir, &address)?;
    let input = StackInput {
        state: &state,
        ..input
    };
    let dependencies = Dependencies::of(input.ir);
    let options = input.options;
    let of = (&**input.ir, &dependencies);
    let scope = Scope::of(&options.limit, of, input.state, options.destroy)?;
    within(&moves, |id| scope.selects(id))?;
    let kept = orphan::kept(input, &dependencies, &scope);
    let graph = graph(input, &dependencies, (&scope, &kept))?;
    let walk_state = Walk {
        input,
        forced_first: nodes::create_before_destroy(input.ir, &dependencies),
        scope,
        dependencies,
        providers: input
            .ir
            .providers
            .keys()
            .map(|id| (id.as_str(), OnceCell::new()))
            .collect(),
        moves,
        imports: input.ir.imports.iter().map(|i| (&i.to, &i.id)).collect(),
        ephemeral: ephemeral::opened(input.ir),
        found: Mutex::new(Found {
            diagnostics: warnings,
            outputs: variables(input.ir).into_iter().collect(),
            ..Found::default()
        }),
    };
    walk(
        &graph,
        input.options.parallelism,
        || false,
        |node| visit(&walk_state, &graph[node]),
    )
    .await;
    let mut found = walk_state
        .found
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    found
        .deposed
        .sort_by(|a, b| (&a.target.id, &a.key).cmp(&(&b.target.id, &b.key)));
    found.drift.sort_by(|a, b| a.target.id.cmp(&b.target.id));
    if options.limit != Limit::Nothing {
        found.diagnostics.push(target::warning());
    }
    Ok(Plan {
        ir: Arc::clone(input.ir),
        destroy: options.destroy,
        refresh_only: options.refresh_only,
        selected: walk_state.scope.selected,
        changes: found.changes,
        deposed: found.deposed,
        data: found.data,
        outputs: found.outputs,
        kept,
        drift: found.drift,
        checks: found.checks,
        warnings: found.diagnostics.into_result().map_err(|mut errors| {
            errors.extend(found.broken.clone());
            errors
        })?,
        broken: found.broken,
        moves: walk_state.moves,
        imports: found.imports,
        unresolved: found.unresolved,
    })
}

/// Providers, resources, data sources and orphans, each after what its configuration depends on.
fn graph(
    input: StackInput<'_>,
    dependencies: &Dependencies,
    (scope, kept): (&Scope, &[Id]),
) -> Result<Dag<Node>, Diagnostics> {
    let ir = input.ir;
    let ids = dependencies.dag();
    let mut dag = Dag::new();
    let mut nodes: HashMap<&Id, NodeId> = HashMap::new();
    let resources = ir
        .resources
        .iter()
        .enumerate()
        .map(|(i, r)| (r.id.clone(), Node::Resource(i)));
    let data = ir
        .data_sources
        .iter()
        .enumerate()
        .map(|(i, d)| (d.id.clone(), Node::Data(i)));
    let providers = ir
        .providers
        .keys()
        .map(|id| (provider_node(id), Node::Provider(id.clone())));
    let mut kinds: HashMap<Id, Node> = resources.chain(data).chain(providers).collect();
    for (_, id) in ids.nodes() {
        if let Some(node) = kinds.remove(id).filter(|_| scope.visits(id)) {
            nodes.insert(id, dag.add(node));
        }
    }
    for (_, id) in ids.nodes().filter(|(_, id)| nodes.contains_key(id)) {
        for on in dependencies
            .dependencies(id.as_str())
            .filter_map(|on| nodes.get(on))
        {
            dag.add_edge(*on, nodes[id]);
        }
    }
    for (id, stored) in
        orphan::orphans(input, dependencies, scope).filter(|(id, _)| !kept.contains(id))
    {
        let node = dag.add(Node::Orphan(id.clone()));
        if let Some(provider) = nodes.get(&provider_node(&stored.provider)) {
            dag.add_edge(*provider, node);
        }
    }
    match dag.order() {
        Ok(_) => Ok(dag),
        Err(cycle) => {
            let mut names: Vec<_> = cycle.0.iter().map(|n| name(ir, &dag[*n])).collect();
            names.extend(names.first().cloned());
            Err(Diagnostic::error("Dependency cycle")
                .detail(names.join(" -> "))
                .into())
        }
    }
}

fn name(ir: &Ir, node: &Node) -> String {
    match node {
        Node::Resource(i) => ir.resources[*i].id.to_string(),
        Node::Data(i) => ir.data_sources[*i].id.to_string(),
        Node::Provider(id) => provider_node(id).to_string(),
        Node::Orphan(id) => id.to_string(),
    }
}

async fn visit(walk: &Walk<'_>, node: &Node) -> Result<(), ()> {
    let result = match node {
        Node::Resource(i) => {
            let resource = &walk.input.ir.resources[*i];
            let planning = nodes::resource(walk, resource);
            conditions::around(walk, (&resource.id, &resource.meta), planning).await
        }
        Node::Data(i) => {
            let source = &walk.input.ir.data_sources[*i];
            let planning = data_node::data(walk, source);
            conditions::around(walk, (&source.id, &source.meta), planning).await
        }
        Node::Provider(id) => nodes::provider(walk, id).await,
        Node::Orphan(id) => orphan::orphan(walk, id).await,
    };
    result.map_err(|diagnostics| {
        walk.found(|f| {
            f.diagnostics
                .extend_at(diagnostics, &name(walk.input.ir, node));
        });
    })
}

impl Walk<'_> {
    /// Reads or adds to what was found; never held across an await.
    pub(super) fn found<T>(&self, f: impl FnOnce(&mut Found) -> T) -> T {
        f(&mut self.found.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The provider of a configured id, configured with what is known of its configuration now.
    pub(super) async fn provider(&self, id: &str) -> Result<Arc<dyn Provider>, Diagnostics> {
        let (Some(cell), Some(decl)) = (self.providers.get(id), self.input.ir.providers.get(id))
        else {
            return Err(undeclared(id));
        };
        cell.get_or_init(|| async {
            let config = self.found(|f| providers::Configuration::resolve(id, decl, &f.outputs))?;
            let (provider, warnings) = providers::start(self.input.pool, config).await?;
            self.found(|f| f.diagnostics.extend(warnings));
            Ok(provider)
        })
        .await
        .clone()
    }

    /// A process of a configured provider for what needs no configuration.
    pub(super) async fn unconfigured(&self, id: &str) -> Result<Arc<dyn Provider>, Diagnostics> {
        let Some(decl) = self.input.ir.providers.get(id) else {
            return Err(undeclared(id));
        };
        let source = providers::source_text(id, &decl.source)?;
        self.input.pool.unconfigured(id, &source).await
    }

    /// The provider of a stored object whose provider is not in the configuration any more: without configuration.
    pub(super) async fn stored_provider(
        &self,
        stored: &ResourceState,
    ) -> Result<Arc<dyn Provider>, Diagnostics> {
        let config =
            providers::Configuration::unconfigured(&stored.provider, &stored.provider_source);
        let (provider, warnings) = providers::start(self.input.pool, config).await?;
        self.found(|f| f.diagnostics.extend(warnings));
        Ok(provider)
    }

    /// Resources and data sources that a node directly depends on, those of its provider's configuration included.
    pub(super) fn dependencies(&self, id: &Id, provider: &str) -> Vec<Id> {
        self.dependencies.objects(id, provider)
    }

    /// Where the objects of a resource come from, if that is another type or provider.
    pub(super) fn crossing(&self, id: &Id) -> Option<&Crossing> {
        self.moves.get(id)?.crossing.as_ref()
    }

    /// Everything that nodes depend on, directly or not.
    pub(super) fn ancestors(&self, ids: &[Id]) -> Vec<Id> {
        let dag = self.dependencies.dag();
        let nodes = ids
            .iter()
            .filter_map(|id| self.dependencies.node(id.as_str()));
        let ancestors = dag.ancestors(nodes);
        ancestors.into_iter().map(|n| dag[n].clone()).collect()
    }

    /// Resources that a node itself refers to or explicitly depends on.
    pub(super) fn resources_of(&self, id: &Id) -> Vec<Id> {
        let direct = self.dependencies.dependencies(id.as_str());
        self.found(|f| {
            let resources = direct.filter(|on| f.changes.contains_key(*on));
            resources.cloned().collect()
        })
    }

    /// Publishes what others may refer to.
    pub(super) fn publish(&self, id: &Id, outputs: Outputs) {
        self.found(|f| f.outputs.insert(id.clone(), outputs));
    }
}

fn undeclared(provider: &str) -> Diagnostics {
    Diagnostic::error("Provider not declared")
        .detail(format!("no provider `{provider}` in the configuration"))
        .into()
}

/// Names for messages and stored records.
pub(super) fn target_of(resource: &Resource) -> crate::plan::ChangeTarget {
    crate::plan::ChangeTarget {
        id: resource.id.clone(),
        provider: resource.provider.clone(),
        ty: resource.ty.clone(),
        name: resource.name.clone(),
        index: resource.meta.index.clone(),
    }
}
