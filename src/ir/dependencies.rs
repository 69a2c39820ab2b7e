//! Who depends on whom in a stack.

use std::collections::{BTreeSet, HashMap};

use super::{Deferred, Expr, Ir, Meta, Mode, Ref};
use crate::addr::Id;
use crate::graph::{Dag, NodeId};

/// The dependency graph of an [`Ir`]. Its nodes are the ids of resources, data sources, providers (`provider.<id>`) and
/// consumers, in this order.
///
/// A node depends on what its configuration and conditions mention, what `dependsOn`, `replaceTriggeredBy` and edges say, what
/// decides whether it is declared, and on its provider, unless it is a function call. Postconditions may mention the object itself, which is no dependency.
#[derive(Clone, Debug)]
pub struct Dependencies {
    dag: Dag<Id>,
    nodes: HashMap<Id, NodeId>,
}

impl Dependencies {
    /// The graph; whether it has cycles is asked with [`Dag::order`]. What is not declared is left out.
    pub fn of(ir: &Ir) -> Self {
        let mut this = Self {
            dag: Dag::new(),
            nodes: HashMap::new(),
        };
        let providers: Vec<Id> = ir
            .providers
            .keys()
            .map(|name| provider_node(name))
            .collect();
        let consumers = ir.consumers.iter().map(|c| Id::from(&*c.id));
        for id in ir.node_ids().cloned().chain(providers).chain(consumers) {
            this.add(id);
        }
        for r in &ir.resources {
            this.declaration(&r.id, &r.config, &r.meta);
            this.depend(&r.id, &provider_node(&r.provider));
        }
        for d in &ir.data_sources {
            this.declaration(&d.id, &d.config, &d.meta);
            // Functions do not need their provider's configuration.
            if d.mode != Mode::Call {
                this.depend(&d.id, &provider_node(&d.provider));
            }
        }
        for (name, provider) in &ir.providers {
            this.inputs(&provider_node(name), &provider.config);
        }
        for consumer in &ir.consumers {
            this.inputs(&Id::from(&*consumer.id), &consumer.value);
        }
        for import in &ir.imports {
            this.inputs(&import.to, &import.id);
        }
        for part in &ir.deferred {
            for id in part.declares.iter().flatten() {
                for input in &part.inputs {
                    this.depend(id, &input.resource);
                }
            }
        }
        for edge in &ir.edges {
            this.depend(&edge.to, &edge.from);
        }
        this
    }

    /// The graph itself: an edge leads from what is needed to what needs it.
    pub fn dag(&self) -> &Dag<Id> {
        &self.dag
    }

    /// The node of an id.
    pub fn node(&self, id: &str) -> Option<NodeId> {
        self.nodes.get(id).copied()
    }

    /// What `id` directly depends on, in no particular order; nothing if there is no such node.
    pub fn dependencies(&self, id: &str) -> impl Iterator<Item = &Id> {
        let nodes = self.node(id).into_iter();
        nodes.flat_map(|node| self.dag.dependencies(node).map(|n| &self.dag[n]))
    }

    /// The resources and data sources that the object `id` of a provider directly depends on, those that the provider's
    /// configuration depends on included; in the order of ids.
    pub fn objects(&self, id: &Id, provider: &str) -> Vec<Id> {
        let own = self
            .dependencies(id.as_str())
            .filter(|on| !on.as_str().starts_with("provider."));
        let provider = provider_node(provider);
        let all: BTreeSet<&Id> = own.chain(self.dependencies(provider.as_str())).collect();
        all.into_iter().cloned().collect()
    }

    /// What directly depends on `id`, in no particular order; nothing if there is no such node.
    pub fn dependents(&self, id: &str) -> impl Iterator<Item = &Id> {
        let nodes = self.node(id).into_iter();
        nodes.flat_map(|node| self.dag.dependents(node).map(|n| &self.dag[n]))
    }

    fn add(&mut self, id: Id) {
        let Self { dag, nodes } = self;
        nodes.entry(id).or_insert_with_key(|id| dag.add(id.clone()));
    }

    fn declaration(&mut self, id: &Id, config: &Expr, meta: &Meta) {
        self.inputs(id, config);
        for condition in &meta.preconditions {
            self.inputs(id, &condition.condition);
            self.inputs(id, &condition.message);
        }
        // What is said of the result may mention the object itself.
        let said = (meta.postconditions.iter()).flat_map(|c| [&c.condition, &c.message]);
        for on in said.flat_map(Expr::inputs).filter(|r| r.resource != *id) {
            self.depend(id, &on.resource);
        }
        let triggers = meta.lifecycle.replace_triggered_by.iter();
        for on in meta.depends_on.iter().chain(triggers.map(|t| &t.resource)) {
            self.depend(id, on);
        }
    }

    fn inputs(&mut self, id: &Id, expr: &Expr) {
        for Ref { resource, .. } in expr.inputs() {
            self.depend(id, resource);
        }
    }

    fn depend(&mut self, id: &Id, on: &Id) {
        if let (Some(before), Some(after)) = (self.nodes.get(on), self.nodes.get(id)) {
            self.dag.add_edge(*before, *after);
        }
    }
}

impl Ir {
    /// Every configuration, import id and consumer value, each with the node it belongs to.
    pub fn exprs(&self) -> impl Iterator<Item = (String, &Expr)> {
        let resources = self.resources.iter().map(|r| (r.id.to_string(), &r.config));
        let data = self
            .data_sources
            .iter()
            .map(|d| (d.id.to_string(), &d.config));
        let providers = self
            .providers
            .iter()
            .map(|(id, p)| (provider_node(id).to_string(), &p.config));
        let consumers = self.consumers.iter().map(|c| (c.id.clone(), &c.value));
        let imports = self.imports.iter().map(|i| (i.to.to_string(), &i.id));
        resources
            .chain(data)
            .chain(providers)
            .chain(consumers)
            .chain(imports)
    }

    /// Every condition and its message, each with the node, or the check, it belongs to.
    pub fn conditions(&self) -> impl Iterator<Item = (String, &Expr)> {
        let resources = self.resources.iter().map(|r| (&r.id, &r.meta));
        let data = self.data_sources.iter().map(|d| (&d.id, &d.meta));
        let declared = resources.chain(data).flat_map(|(id, meta)| {
            let all = meta.preconditions.iter().chain(&meta.postconditions);
            all.map(move |condition| (id.to_string(), condition))
        });
        let checks = self.checks.iter();
        let checks = checks.map(|c| (format!("check.{}", c.name), &c.condition));
        let both = declared.chain(checks);
        both.flat_map(|(owner, c)| [(owner.clone(), &c.condition), (owner, &c.message)])
    }

    /// The parts of the stack that are not declared yet.
    pub fn waiting(&self) -> impl Iterator<Item = &Deferred> {
        self.deferred.iter().filter(|part| part.declares.is_none())
    }

    /// Ids of all resources, then of all data sources.
    pub fn node_ids(&self) -> impl Iterator<Item = &Id> {
        let data_sources = self.data_sources.iter().map(|d| &d.id);
        self.resources.iter().map(|r| &r.id).chain(data_sources)
    }
}

/// What a provider is called where ids of all kinds meet.
pub fn provider_node(name: &str) -> Id {
    Id::from(format!("provider.{name}"))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::ir::parse;

    fn fixture() -> Ir {
        let resource = |name: &str, config: &str, meta: &str| {
            format!(
                r#"{{"id":"p.t.{name}","provider":"p","type":"t","name":"{name}","config":{config},"meta":{meta}}}"#
            )
        };
        let to_a = r#"{"x":{"__ref":{"resource":"p.t.a","path":["id"]}}}"#;
        let meta = r#"{
            "dependsOn": ["p.t.b"],
            "lifecycle": {"replaceTriggeredBy": ["p.t.a"]},
            "preconditions": [{"condition": {"__derived": {"inputs": ["data.p.t.d.ok"]}}, "message": ""}],
            "postconditions": [{"condition": {"__derived": {"inputs": ["p.t.c.ok", "data.p.t.e.ok"]}}, "message": ""}]
        }"#;
        let resources = [
            resource("a", "{}", "{}"),
            resource("b", to_a, "{}"),
            resource("c", "{}", meta),
        ]
        .join(",");
        let data = ["d", "e"].map(|name| {
            format!(r#"{{"id":"data.p.t.{name}","provider":"p","type":"t","name":"{name}","config":{{}}}}"#)
        });
        let data = data.join(",");
        let document = format!(
            r#"{{"schemaVersion":1,"resources":[{resources}],"dataSources":[{data}],
                "providers":{{"p":{{"source":"x"}},"q":{{"source":"x","config":{to_a}}}}},
                "edges":[{{"from":"p.t.c","to":"output.o","via":""}}],
                "nixConsumers":[{{"id":"output.o","value":{to_a}}}]}}"#
        );
        parse(document.as_bytes()).unwrap()
    }

    #[test]
    fn all_kinds_of_dependencies() {
        let ir = fixture();
        let dependencies = Dependencies::of(&ir);
        for (id, want) in [
            ("p.t.a", &["provider.p"][..]),
            ("p.t.b", &["p.t.a", "provider.p"]),
            (
                "p.t.c",
                &["data.p.t.d", "data.p.t.e", "p.t.a", "p.t.b", "provider.p"],
            ),
            ("data.p.t.d", &["provider.p"]),
            ("provider.p", &[]),
            ("provider.q", &["p.t.a"]),
            ("output.o", &["p.t.a", "p.t.c"]),
            ("nothing", &[]),
        ] {
            let found: BTreeSet<&str> = dependencies.dependencies(id).map(Id::as_str).collect();
            assert_eq!(found, want.iter().copied().collect(), "{id}");
        }
        assert_eq!(dependencies.dependents("p.t.b").count(), 1);
        assert_eq!(dependencies.dag().len(), 8);
        dependencies.dag().order().unwrap();
    }

    #[test]
    fn a_hub_of_many_costs_little() {
        let mut resources =
            String::from(r#"{"id":"p.t.hub","provider":"p","type":"t","name":"hub","config":{}}"#);
        for i in 0..20_000 {
            write!(
                resources,
                r#",{{"id":"p.t.n{i}","provider":"p","type":"t","name":"n{i}",
                    "config":{{"x":{{"__ref":{{"resource":"p.t.hub","path":["id"]}}}}}}}}"#
            )
            .unwrap();
        }
        let document = format!(
            r#"{{"schemaVersion":1,"providers":{{"p":{{"source":"x"}}}},"edges":[],"nixConsumers":[],"resources":[{resources}]}}"#
        );
        let ir = parse(document.as_bytes()).unwrap();
        assert_eq!(Dependencies::of(&ir).dependents("p.t.hub").count(), 20_000);
    }
}
