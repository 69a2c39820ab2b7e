//! Visiting the nodes of a [`Dag`], several at once, each after what it needs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use futures_util::stream::{FuturesUnordered, StreamExt};

use super::{Dag, NodeId};

/// How a [`walk`] went. Every node is in exactly one of the lists.
#[derive(Debug, PartialEq, Eq)]
pub struct Walked<E> {
    /// Visited, in the order in which they finished.
    pub succeeded: Vec<NodeId>,
    /// Visited in vain, in the order in which they finished.
    pub failed: Vec<(NodeId, E)>,
    /// Not visited, because something they need failed.
    pub skipped: Vec<Skipped>,
    /// Not visited, because the walk was stopped before their turn (or because they wait for themselves).
    pub not_started: Vec<NodeId>,
}

/// A node that could not be visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The node.
    pub node: NodeId,
    /// The failed node that it needs, directly or not; of several the one that failed first.
    pub because: NodeId,
}

/// Visits each node as soon as all its dependencies succeeded, at most `limit` (at least 1) at a time; of nodes that could
/// be next, the one that was added first. A failure only keeps its dependents from being visited.
///
/// `stop` is asked before each start: once it says true nothing more is started, and what runs is waited for.
/// All visits run on the caller's task, so that they may share what is not `Send`.
pub async fn walk<N, E, Visit>(
    dag: &Dag<N>,
    limit: usize,
    stop: impl Fn() -> bool,
    mut visit: impl FnMut(NodeId) -> Visit,
) -> Walked<E>
where
    Visit: Future<Output = Result<(), E>>,
{
    let mut frontier = Frontier::new(dag);
    let mut running = FuturesUnordered::new();
    loop {
        while running.len() < limit.max(1) && !stop() {
            let Some(node) = frontier.start() else { break };
            let visiting = visit(node);
            running.push(async move { (node, visiting.await) });
        }
        match running.next().await {
            Some((node, Ok(()))) => frontier.succeeded(node),
            Some((node, Err(error))) => frontier.failed(node, error),
            None => return frontier.finish(),
        }
    }
}

/// Which nodes may be visited now: what [`walk`] goes by, for walks with rules of their own.
pub struct Frontier<'a, N, E> {
    dag: &'a Dag<N>,
    fate: Vec<Fate>,
    ready: BinaryHeap<Reverse<NodeId>>,
    walked: Walked<E>,
}

#[derive(Clone, Copy)]
enum Fate {
    /// Not started; that many dependencies have not succeeded yet.
    Waits(usize),
    Started,
    Skipped,
}

impl<'a, N, E> Frontier<'a, N, E> {
    /// Nothing visited yet.
    pub fn new(dag: &'a Dag<N>) -> Self {
        let fate: Vec<_> = (dag.nodes())
            .map(|(n, _)| Fate::Waits(dag.dependencies(n).count()))
            .collect();
        let ready = (dag.nodes())
            .filter(|(n, _)| matches!(fate[n.index()], Fate::Waits(0)))
            .map(|(n, _)| Reverse(n))
            .collect();
        let walked = Walked {
            succeeded: Vec::new(),
            failed: Vec::new(),
            skipped: Vec::new(),
            not_started: Vec::new(),
        };
        Self {
            dag,
            fate,
            ready,
            walked,
        }
    }

    /// A node that may be visited now; it counts as started.
    pub fn start(&mut self) -> Option<NodeId> {
        let Reverse(node) = self.ready.pop()?;
        self.fate[node.index()] = Fate::Started;
        Some(node)
    }

    /// A started node was visited: its dependents have one dependency less to wait for.
    pub fn succeeded(&mut self, node: NodeId) {
        self.walked.succeeded.push(node);
        for next in self.dag.dependents(node) {
            if let Fate::Waits(missing) = &mut self.fate[next.index()] {
                *missing -= 1;
                if *missing == 0 {
                    self.ready.push(Reverse(next));
                }
            }
        }
    }

    /// A started node was visited in vain: all that need it will be skipped.
    pub fn failed(&mut self, failed: NodeId, error: E) {
        self.walked.failed.push((failed, error));
        let mut todo = vec![failed];
        while let Some(node) = todo.pop() {
            for next in self.dag.dependents(node) {
                if matches!(self.fate[next.index()], Fate::Waits(_)) {
                    self.fate[next.index()] = Fate::Skipped;
                    self.walked.skipped.push(Skipped {
                        node: next,
                        because: failed,
                    });
                    todo.push(next);
                }
            }
        }
    }

    /// How it went, once nothing runs any more.
    pub fn finish(mut self) -> Walked<E> {
        self.walked.skipped.sort_by_key(|s| s.node);
        self.walked.not_started = (self.dag.nodes())
            .filter(|(n, _)| matches!(self.fate[n.index()], Fate::Waits(_)))
            .map(|(n, _)| n)
            .collect();
        self.walked
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    /// `edges` are pairs "before, after" of positions.
    fn dag(nodes: usize, edges: &[(usize, usize)]) -> (Dag<usize>, Vec<NodeId>) {
        let mut dag = Dag::new();
        let ids: Vec<NodeId> = (0..nodes).map(|n| dag.add(n)).collect();
        for (before, after) in edges {
            dag.add_edge(ids[*before], ids[*after]);
        }
        (dag, ids)
    }

    /// Finishes after that many turns of the event loop.
    async fn turns(n: usize) {
        for _ in 0..n {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn dependencies_finish_first_and_the_limit_holds() {
        let edges = [(0, 2), (1, 2), (2, 3), (2, 4), (5, 4)];
        for limit in [0, 1, 2, 100] {
            let (dag, _) = dag(7, &edges);
            let (running, most) = (Cell::new(0), Cell::new(0));
            let done = RefCell::new(Vec::new());
            let walked = walk(
                &dag,
                limit,
                || false,
                |node| {
                    for before in dag.dependencies(node) {
                        assert!(done.borrow().contains(&before));
                    }
                    running.set(running.get() + 1);
                    most.set(most.get().max(running.get()));
                    let (running, done) = (&running, &done);
                    async move {
                        turns(10 - node.index()).await;
                        running.set(running.get() - 1);
                        done.borrow_mut().push(node);
                        Ok::<(), ()>(())
                    }
                },
            )
            .await;
            assert_eq!(walked.succeeded.len(), 7, "limit {limit}");
            assert!(most.get() <= limit.max(1) && most.get() <= 4);
            assert_eq!(most.get() > 1, limit > 1);
            if limit == 1 {
                let order: Vec<usize> = done.borrow().iter().map(|n| n.index()).collect();
                assert_eq!(order, [0, 1, 2, 3, 5, 4, 6]);
            }
        }
    }

    #[tokio::test]
    async fn a_failure_skips_its_dependents_only() {
        let (dag, ids) = dag(7, &[(0, 2), (1, 2), (2, 3), (1, 4), (5, 6)]);
        let walked = walk(
            &dag,
            3,
            || false,
            |node| async move {
                if node.index() == 0 {
                    Err("broken")
                } else {
                    Ok(())
                }
            },
        )
        .await;
        assert_eq!(walked.failed, [(ids[0], "broken")]);
        let skipped = |node: usize| Skipped {
            node: ids[node],
            because: ids[0],
        };
        assert_eq!(walked.skipped, [skipped(2), skipped(3)]);
        let mut succeeded = walked.succeeded;
        succeeded.sort();
        assert_eq!(succeeded, [ids[1], ids[4], ids[5], ids[6]]);
        assert!(walked.not_started.is_empty());
    }

    #[tokio::test]
    async fn stopping_waits_for_what_runs_and_starts_nothing() {
        let (dag, ids) = dag(5, &[(0, 3), (1, 4)]);
        let stop = Cell::new(false);
        let walked = walk(
            &dag,
            2,
            || stop.get(),
            |node| {
                let stop = &stop;
                async move {
                    turns(node.index() * 5).await;
                    stop.set(true);
                    Ok::<(), ()>(())
                }
            },
        )
        .await;
        assert_eq!(walked.succeeded, [ids[0], ids[1]]);
        assert_eq!(walked.not_started, [ids[2], ids[3], ids[4]]);
    }

    #[tokio::test]
    async fn every_node_is_accounted_for_even_on_a_cycle() {
        let (dag, ids) = dag(4, &[(0, 1), (1, 2), (2, 1), (2, 3)]);
        let walked = walk(&dag, 9, || false, |_| async { Ok::<(), ()>(()) }).await;
        assert_eq!(walked.succeeded, [ids[0]]);
        assert_eq!(walked.not_started, ids[1..]);
    }

    #[tokio::test]
    async fn cost_is_linear() {
        let spokes = 50_000;
        let edges: Vec<_> = (1..=spokes)
            .flat_map(|i| [(0, i), (i, spokes + 1)])
            .collect();
        let (dag, _) = dag(spokes + 2, &edges);
        let walked = walk(&dag, spokes, || false, |_| async { Ok::<(), ()>(()) }).await;
        assert_eq!(walked.succeeded.len(), spokes + 2);
    }
}
