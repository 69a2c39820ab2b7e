//! A directed graph that should have no cycle: order, closure, and the shortest cycle if there is one after all.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::{Direction, Incoming, Outgoing};

/// A node of one [`Dag`]. Ids compare in the order in which the nodes were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(NodeIndex);

impl NodeId {
    /// Position in the order of addition, from 0.
    pub fn index(self) -> usize {
        self.0.index()
    }
}

/// Nodes that depend on each other in a circle: each comes before the next, the last before the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle(pub Vec<NodeId>);

/// Nodes and "a comes before b". Every operation costs in proportion to the nodes and edges it looks at, give or take a
/// logarithm for order.
#[derive(Clone, Debug)]
pub struct Dag<N> {
    graph: DiGraph<N, ()>,
    edges: HashSet<(NodeIndex, NodeIndex)>,
}

impl<N> Default for Dag<N> {
    fn default() -> Self {
        Self {
            graph: DiGraph::default(),
            edges: HashSet::default(),
        }
    }
}

/// How many steps [`Dag::shortest_cycle`] may take after its first find.
const CYCLE_SEARCH_STEPS: usize = 1_000_000;

impl<N> Dag<N> {
    /// A graph without nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a node.
    pub fn add(&mut self, node: N) -> NodeId {
        NodeId(self.graph.add_node(node))
    }

    /// Says that `before` comes before `after`. Saying it twice changes nothing; a circle is found by [`Self::order`].
    pub fn add_edge(&mut self, before: NodeId, after: NodeId) {
        if self.edges.insert((before.0, after.0)) {
            self.graph.add_edge(before.0, after.0, ());
        }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.graph.node_count()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All nodes in the order of addition.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &N)> {
        self.graph
            .node_indices()
            .zip(self.graph.node_weights())
            .map(|(i, n)| (NodeId(i), n))
    }

    /// What `node` directly needs, in no particular order.
    pub fn dependencies(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        self.neighbours(node, Incoming)
    }

    /// What directly needs `node`, in no particular order.
    pub fn dependents(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        self.neighbours(node, Outgoing)
    }

    /// `of`, and all that these nodes need, directly or not.
    pub fn ancestors(&self, of: impl IntoIterator<Item = NodeId>) -> BTreeSet<NodeId> {
        self.closure(of, Incoming)
    }

    /// `of`, and all that needs these nodes, directly or not.
    pub fn descendants(&self, of: impl IntoIterator<Item = NodeId>) -> BTreeSet<NodeId> {
        self.closure(of, Outgoing)
    }

    /// The nodes, each after all that it needs; of nodes that could come next, the one that was added first.
    pub fn order(&self) -> Result<Vec<NodeId>, Cycle> {
        let mut missing: Vec<usize> = (self.nodes())
            .map(|(n, _)| self.dependencies(n).count())
            .collect();
        let mut ready: BinaryHeap<_> = (self.nodes().map(|(n, _)| n))
            .filter(|n| missing[n.index()] == 0)
            .map(Reverse)
            .collect();
        let mut order = Vec::with_capacity(self.len());
        while let Some(Reverse(node)) = ready.pop() {
            order.push(node);
            for next in self.dependents(node) {
                missing[next.index()] -= 1;
                if missing[next.index()] == 0 {
                    ready.push(Reverse(next));
                }
            }
        }
        if order.len() < self.len()
            && let Some(cycle) = self.shortest_cycle()
        {
            return Err(cycle);
        }
        Ok(order)
    }

    /// A shortest cycle: of those the one through the node that was added first, told from that node. In a knot of many
    /// thousands of nodes it may be merely a short one, so that the message does not take minutes.
    pub fn shortest_cycle(&self) -> Option<Cycle> {
        let mut suspects: Vec<NodeIndex> = kosaraju_scc(&self.graph)
            .into_iter()
            .filter(|knot| knot.len() > 1 || self.edges.contains(&(knot[0], knot[0])))
            .flatten()
            .collect();
        suspects.sort();
        let mut shortest: Option<Vec<NodeId>> = None;
        let mut steps = 0;
        for start in suspects {
            let limit = shortest.as_ref().map_or(usize::MAX, Vec::len);
            if limit == 1 || (steps > CYCLE_SEARCH_STEPS && shortest.is_some()) {
                break;
            }
            shortest = self
                .cycle_through(NodeId(start), limit, &mut steps)
                .or(shortest);
        }
        shortest.map(Cycle)
    }

    /// The shortest cycle through `start` with fewer than `limit` nodes, breadth first.
    fn cycle_through(&self, start: NodeId, limit: usize, steps: &mut usize) -> Option<Vec<NodeId>> {
        let mut came_from = HashMap::new();
        let mut queue = VecDeque::from([(start, 1)]);
        while let Some((node, length)) = queue.pop_front() {
            if length >= limit {
                return None;
            }
            let mut nexts: Vec<_> = self.dependents(node).collect();
            nexts.sort();
            *steps += nexts.len();
            for next in nexts {
                if next == start {
                    let back = |n: &NodeId| came_from.get(n).copied();
                    let mut cycle: Vec<_> = std::iter::successors(Some(node), back).collect();
                    cycle.reverse();
                    return Some(cycle);
                }
                came_from.entry(next).or_insert_with(|| {
                    queue.push_back((next, length + 1));
                    node
                });
            }
        }
        None
    }

    fn neighbours(&self, node: NodeId, direction: Direction) -> impl Iterator<Item = NodeId> {
        self.graph.neighbors_directed(node.0, direction).map(NodeId)
    }

    fn closure(
        &self,
        of: impl IntoIterator<Item = NodeId>,
        direction: Direction,
    ) -> BTreeSet<NodeId> {
        let mut found: BTreeSet<_> = of.into_iter().collect();
        let mut todo: Vec<_> = found.iter().copied().collect();
        while let Some(node) = todo.pop() {
            todo.extend(
                self.neighbours(node, direction)
                    .filter(|next| found.insert(*next)),
            );
        }
        found
    }
}

impl<N> std::ops::Index<NodeId> for Dag<N> {
    type Output = N;

    /// # Panics
    /// If the id belongs to another graph and is out of range here.
    fn index(&self, node: NodeId) -> &N {
        &self.graph[node.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes are one letter each; `ab` in `edges` puts `a` before `b`.
    fn dag(nodes: &str, edges: &[&str]) -> Dag<char> {
        let mut dag = Dag::new();
        let ids: HashMap<char, NodeId> = nodes.chars().map(|c| (c, dag.add(c))).collect();
        for edge in edges {
            let ends: Vec<char> = edge.chars().collect();
            dag.add_edge(ids[&ends[0]], ids[&ends[1]]);
        }
        dag
    }

    fn names(dag: &Dag<char>, ids: impl IntoIterator<Item = NodeId>) -> String {
        ids.into_iter().map(|n| dag[n]).collect()
    }

    fn node(dag: &Dag<char>, name: char) -> NodeId {
        dag.nodes().find(|(_, n)| **n == name).unwrap().0
    }

    #[test]
    fn order_or_cycle() {
        for (nodes, edges, want) in [
            ("", &[][..], Ok("")),
            ("cab", &[], Ok("cab")),
            ("cab", &["ac", "bc"], Ok("abc")),
            ("cab", &["bc", "bc", "ba"], Ok("bca")),
            ("abcd", &["db", "da"], Ok("cdab")),
            ("abc", &["ab", "bb"], Err("b")),
            ("abcde", &["ab", "bc", "ca", "cd", "de", "ed"], Err("de")),
            ("abcd", &["ba", "ab", "dc", "cd"], Err("ab")),
            ("zabc", &["za", "cb", "ba", "ac"], Err("acb")),
        ] {
            let dag = dag(nodes, edges);
            let got = match dag.order() {
                Ok(order) => Ok(names(&dag, order)),
                Err(Cycle(nodes)) => Err(names(&dag, nodes)),
            };
            let want = want.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(got, want, "{nodes} {edges:?}");
        }
    }

    #[test]
    fn neighbours_and_closures() {
        let dag = dag("abcdef", &["ab", "bc", "ad", "dc", "ce", "ab"]);
        let (a, c) = (node(&dag, 'a'), node(&dag, 'c'));
        let sorted = |ids: Vec<NodeId>| names(&dag, BTreeSet::from_iter(ids));
        assert_eq!(sorted(dag.dependencies(c).collect()), "bd");
        assert_eq!(sorted(dag.dependents(a).collect()), "bd");
        assert_eq!(names(&dag, dag.ancestors([c])), "abcd");
        assert_eq!(names(&dag, dag.descendants([node(&dag, 'b')])), "bce");
        assert_eq!(names(&dag, dag.descendants([])), "");
        assert_eq!(dag.dependents(a).count(), 2, "an edge said twice is one");
    }

    #[test]
    fn cost_is_linear() {
        let mut dag = Dag::new();
        let hub = dag.add(0);
        let spokes: Vec<NodeId> = (1..=200_000).map(|i| dag.add(i)).collect();
        let sink = dag.add(200_001);
        for spoke in &spokes {
            dag.add_edge(hub, *spoke);
            dag.add_edge(*spoke, sink);
            dag.add_edge(*spoke, sink);
        }
        assert_eq!(dag.order().unwrap().last(), Some(&sink));
        assert_eq!(dag.ancestors([sink]).len(), dag.len());
        dag.add_edge(sink, hub);
        assert_eq!(dag.order().unwrap_err().0, [hub, spokes[0], sink]);
    }

    #[test]
    fn a_huge_ring_is_told_in_time() {
        let mut dag = Dag::new();
        let ring: Vec<NodeId> = (0..100_000).map(|i| dag.add(i)).collect();
        for (i, node) in ring.iter().enumerate() {
            dag.add_edge(*node, ring[(i + 1) % ring.len()]);
        }
        assert_eq!(dag.order().unwrap_err().0, ring);
    }
}
