//! The dependency graph of a stack.

use serde::Serialize;

use crate::ir::{Dependencies, Ir};

/// A graph: an edge leads from what depends to what it depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Graph {
    /// The nodes.
    pub nodes: Vec<GraphNode>,
    /// Pairs of ids.
    pub edges: Vec<(String, String)>,
}

/// A node of a [`Graph`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphNode {
    /// The id.
    pub id: String,
    /// What it is.
    pub kind: NodeKind,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeKind {
    /// A managed resource.
    Resource,
    /// A data source.
    Data,
    /// A provider.
    Provider,
    /// A stack output.
    Output,
}

/// The resources, data sources and outputs of a stack, and those providers whose configuration depends on something.
pub fn graph(ir: &Ir) -> Graph {
    let dependencies = Dependencies::of(ir);
    let needs = |id: &str| {
        let mut all: Vec<String> = dependencies
            .dependencies(id)
            .map(ToString::to_string)
            .collect();
        all.sort();
        all
    };
    let resources = ir
        .resources
        .iter()
        .map(|r| (r.id.to_string(), NodeKind::Resource));
    let data = ir
        .data_sources
        .iter()
        .map(|d| (d.id.to_string(), NodeKind::Data));
    let providers = ir
        .providers
        .keys()
        .map(|id| (format!("provider.{id}"), NodeKind::Provider));
    let providers = providers.filter(|(id, _)| !needs(id).is_empty());
    let outputs = ir
        .consumers
        .iter()
        .map(|c| (c.id.clone(), NodeKind::Output));
    let all = resources.chain(data).chain(providers).chain(outputs);
    let nodes: Vec<GraphNode> = all.map(|(id, kind)| GraphNode { id, kind }).collect();
    let shown: std::collections::BTreeSet<&str> = nodes.iter().map(|n| &*n.id).collect();
    let edges = nodes.iter().flat_map(|node| {
        let targets = needs(&node.id)
            .into_iter()
            .filter(|to| shown.contains(&**to));
        targets.map(|to| (node.id.clone(), to)).collect::<Vec<_>>()
    });
    Graph {
        edges: edges.collect(),
        nodes: nodes.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Consumer, DataSource, Expr, Meta, ProviderDecl, Ref, Resource};
    use crate::value::Path;

    #[test]
    fn plain_providers_are_left_out() {
        let reference = |id: &str| {
            Expr::Ref(Ref {
                resource: id.into(),
                path: Path::root().attribute("id"),
            })
        };
        let config = |id: &str| Expr::Object([("x".into(), reference(id))].into());
        let provider = |config| ProviderDecl {
            source: Expr::String("builtin".into()),
            version: None,
            meta: None,
            config,
        };
        let resource = |provider: &str, name: &str, config| Resource {
            id: format!("{provider}.t.{name}").into(),
            provider: provider.into(),
            ty: "t".into(),
            name: name.into(),
            config,
            meta: Meta::default(),
        };
        let ir = Ir {
            providers: [
                ("a".to_owned(), provider(Expr::Object([].into()))),
                ("k8s".to_owned(), provider(config("a.t.cluster"))),
            ]
            .into(),
            resources: vec![
                resource("a", "cluster", config("data.a.t.zone")),
                resource("k8s", "app", Expr::Object([].into())),
            ],
            data_sources: vec![DataSource {
                mode: crate::ir::Mode::Data,
                id: "data.a.t.zone".into(),
                provider: "a".into(),
                ty: "t".into(),
                name: "zone".into(),
                config: Expr::Null,
                meta: Meta::default(),
            }],
            consumers: vec![Consumer {
                id: "output.url".into(),
                value: reference("k8s.t.app"),
                sensitive: false,
                description: None,
            }],
            ..Ir::default()
        };
        let graph = graph(&ir);
        let edges: Vec<String> = graph
            .edges
            .iter()
            .map(|(from, to)| format!("{from} -> {to}"))
            .collect();
        assert_eq!(
            edges,
            [
                "a.t.cluster -> data.a.t.zone",
                "k8s.t.app -> provider.k8s",
                "provider.k8s -> a.t.cluster",
                "output.url -> k8s.t.app",
            ]
        );
        assert_eq!(graph.nodes.len(), 5);
    }
}
