//! A dependency graph in the languages of drawing tools.

use std::fmt::Write as _;

use crate::json::graph::{Graph, NodeKind};

/// In DOT, the language of Graphviz.
pub fn dot(graph: &Graph) -> String {
    let node = |id: &str| format!("\"{}\"", id.replace('\\', "\\\\").replace('"', "\\\""));
    let mut text = String::from("digraph {\n  rankdir = \"RL\";\n  node [shape = \"box\"];\n");
    for n in &graph.nodes {
        let look = match n.kind {
            NodeKind::Resource => "",
            NodeKind::Data => " [style = \"rounded\"]",
            NodeKind::Provider => " [shape = \"hexagon\"]",
            NodeKind::Output => " [shape = \"note\"]",
        };
        let _ = writeln!(text, "  {}{look};", node(&n.id));
    }
    for (from, to) in &graph.edges {
        let _ = writeln!(text, "  {} -> {};", node(from), node(to));
    }
    text.push_str("}\n");
    text
}

/// In the language of Mermaid.
pub fn mermaid(graph: &Graph) -> String {
    let index = |id: &str| {
        graph
            .nodes
            .iter()
            .position(|n| n.id == id)
            .unwrap_or_default()
    };
    let label = |id: &str| id.replace('"', "#quot;");
    let mut text = String::from("flowchart RL\n");
    for (i, n) in graph.nodes.iter().enumerate() {
        let (open, close) = match n.kind {
            NodeKind::Resource => ("[", "]"),
            NodeKind::Data => ("(", ")"),
            NodeKind::Provider => ("{{", "}}"),
            NodeKind::Output => (">", "]"),
        };
        let _ = writeln!(text, "  n{i}{open}\"{}\"{close}", label(&n.id));
    }
    for (from, to) in &graph.edges {
        let _ = writeln!(text, "  n{} --> n{}", index(from), index(to));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::graph::GraphNode;

    fn sample() -> Graph {
        let node = |id: &str, kind| GraphNode {
            id: id.to_owned(),
            kind,
        };
        Graph {
            nodes: vec![
                node("a.t.x", NodeKind::Resource),
                node("data.a.t.\"z", NodeKind::Data),
                node("provider.k", NodeKind::Provider),
                node("output.o", NodeKind::Output),
            ],
            edges: vec![
                ("a.t.x".to_owned(), "data.a.t.\"z".to_owned()),
                ("output.o".to_owned(), "a.t.x".to_owned()),
            ],
        }
    }

    #[test]
    fn dot_of_a_graph() {
        insta::assert_snapshot!(dot(&sample()), @r#"
        digraph {
          rankdir = "RL";
          node [shape = "box"];
          "a.t.x";
          "data.a.t.\"z" [style = "rounded"];
          "provider.k" [shape = "hexagon"];
          "output.o" [shape = "note"];
          "a.t.x" -> "data.a.t.\"z";
          "output.o" -> "a.t.x";
        }
        "#);
    }

    #[test]
    fn mermaid_of_a_graph() {
        insta::assert_snapshot!(mermaid(&sample()), @r#"
        flowchart RL
          n0["a.t.x"]
          n1("data.a.t.#quot;z")
          n2{{"provider.k"}}
          n3>"output.o"]
          n0 --> n1
          n3 --> n0
        "#);
    }
}
