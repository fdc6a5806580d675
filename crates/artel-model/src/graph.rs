//! A graph of what needs what: execution order and cycles, in time linear in nodes and edges.

use std::collections::VecDeque;

/// Nodes by number, each with the nodes it needs first.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    needs: Vec<Vec<usize>>,
}

/// A ring of nodes that need each other; the first is repeated at the end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cycle(pub Vec<usize>);

#[derive(Clone, Copy, Eq, PartialEq)]
enum Mark {
    Unseen,
    /// On the path that is being followed.
    Open,
    Done,
}

impl Graph {
    /// Makes a graph of `nodes` nodes that need nothing.
    pub fn new(nodes: usize) -> Self {
        Self { needs: vec![Vec::new(); nodes] }
    }

    /// Notes that `node` needs `other` first.
    pub fn add(&mut self, node: usize, other: usize) {
        self.needs[node].push(other);
    }

    /// Returns how many nodes there are.
    pub fn len(&self) -> usize {
        self.needs.len()
    }

    /// Says whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.needs.is_empty()
    }

    /// Returns all nodes, each after everything it needs; otherwise by number.
    pub fn order(&self) -> Result<Vec<usize>, Cycle> {
        self.walk(0..self.needs.len())
    }

    /// Returns `node` and all that it needs, directly or not, each after everything it needs.
    pub fn order_of(&self, node: usize) -> Result<Vec<usize>, Cycle> {
        self.walk(std::iter::once(node))
    }

    /// Returns one ring for every group of nodes that all need each other, by the group's first node, where the ring
    /// starts. No other ring through that node is shorter.
    pub fn cycles(&self) -> Vec<Cycle> {
        let groups = Groups::of(self);
        // By which node a node was reached from the first of its group. Groups share nothing, so one list serves all.
        let mut reached_from = vec![None; self.needs.len()];
        let mut is_met = vec![false; groups.count];
        let firsts =
            (0..self.needs.len()).filter(|&node| !std::mem::replace(&mut is_met[groups.of_node[node]], true));
        firsts.filter_map(|first| self.ring_through(first, &groups, &mut reached_from)).collect()
    }

    /// Returns the shortest ring through `first`, breadth first and without leaving its group.
    fn ring_through(
        &self,
        first: usize,
        groups: &Groups,
        reached_from: &mut [Option<usize>],
    ) -> Option<Cycle> {
        let mut queue = VecDeque::from([first]);
        while let Some(node) = queue.pop_front() {
            for &other in &self.needs[node] {
                if other == first {
                    let mut ring: Vec<usize> =
                        std::iter::successors(Some(node), |&node| reached_from[node]).collect();
                    ring.reverse();
                    ring.push(first);
                    return Some(Cycle(ring));
                }
                if groups.of_node[other] == groups.of_node[first] && reached_from[other].is_none() {
                    reached_from[other] = Some(node);
                    queue.push_back(other);
                }
            }
        }
        None
    }

    fn walk(&self, starts: impl Iterator<Item = usize>) -> Result<Vec<usize>, Cycle> {
        let mut marks = vec![Mark::Unseen; self.needs.len()];
        let mut order = Vec::with_capacity(self.needs.len());
        for start in starts {
            self.visit(start, &mut marks, &mut order)?;
        }
        Ok(order)
    }

    /// Depth first without recursion, so that a chain of a million nodes does not overflow the stack.
    fn visit(&self, start: usize, marks: &mut [Mark], order: &mut Vec<usize>) -> Result<(), Cycle> {
        if marks[start] != Mark::Unseen {
            return Ok(());
        }
        marks[start] = Mark::Open;
        let mut path = vec![(start, 0)];
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            let Some(&other) = self.needs[node].get(*next) else {
                marks[node] = Mark::Done;
                order.push(node);
                path.pop();
                continue;
            };
            *next += 1;
            match marks[other] {
                Mark::Done => {}
                Mark::Unseen => {
                    marks[other] = Mark::Open;
                    path.push((other, 0));
                }
                Mark::Open => return Err(closed(&path, other)),
            }
        }
        Ok(())
    }
}

/// Which nodes need each other, directly or not: Tarjan's strongly connected components, without recursion.
struct Groups {
    of_node: Vec<usize>,
    count: usize,
}

/// What is known about a node on the way.
#[derive(Clone, Copy)]
enum Met {
    Never,
    /// Not in a group yet: the place on the stack of such nodes, and the lowest place that is reached from there.
    Waiting {
        place: usize,
        lowest: usize,
    },
    Grouped,
}

impl Groups {
    fn of(graph: &Graph) -> Self {
        let mut groups = Self { of_node: vec![0; graph.len()], count: 0 };
        let mut met = vec![Met::Never; graph.len()];
        for start in 0..graph.len() {
            if matches!(met[start], Met::Never) {
                groups.visit(graph, start, &mut met);
            }
        }
        groups
    }

    fn visit(&mut self, graph: &Graph, start: usize, met: &mut [Met]) {
        let (mut waiting, mut path) = (vec![start], vec![(start, 0)]);
        met[start] = Met::Waiting { place: 0, lowest: 0 };
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            if let Some(&other) = graph.needs[node].get(*next) {
                *next += 1;
                match met[other] {
                    Met::Never => {
                        met[other] = Met::Waiting { place: waiting.len(), lowest: waiting.len() };
                        waiting.push(other);
                        path.push((other, 0));
                    }
                    Met::Waiting { place, .. } => reach(&mut met[node], place),
                    Met::Grouped => {}
                }
                continue;
            }
            path.pop();
            let Met::Waiting { place, lowest } = met[node] else { continue };
            if lowest < place {
                if let Some(&(parent, _)) = path.last() {
                    reach(&mut met[parent], lowest);
                }
                continue;
            }
            for member in waiting.drain(place..) {
                met[member] = Met::Grouped;
                self.of_node[member] = self.count;
            }
            self.count += 1;
        }
    }
}

fn reach(met: &mut Met, place: usize) {
    if let Met::Waiting { lowest, .. } = met {
        *lowest = place.min(*lowest);
    }
}

/// The part of `path` from `node` on, closed with `node` again.
fn closed(path: &[(usize, usize)], node: usize) -> Cycle {
    let ring = path.iter().map(|&(node, _)| node).skip_while(|&on_path| on_path != node);
    Cycle(ring.chain(std::iter::once(node)).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn graph(nodes: usize, edges: &[(usize, usize)]) -> Graph {
        let mut graph = Graph::new(nodes);
        for &(node, other) in edges {
            graph.add(node, other);
        }
        graph
    }

    #[test]
    fn what_is_needed_comes_first_and_numbers_break_ties() {
        assert_eq!(graph(3, &[]).order(), Ok(vec![0, 1, 2]));
        assert_eq!(graph(3, &[(0, 2), (2, 1)]).order(), Ok(vec![1, 2, 0]));
        assert_eq!(graph(4, &[(3, 1)]).order_of(3), Ok(vec![1, 3]));
    }

    #[test]
    fn a_cycle_is_a_closed_path() {
        assert_eq!(graph(4, &[(0, 1), (1, 2), (2, 3), (3, 1)]).order(), Err(Cycle(vec![1, 2, 3, 1])));
        assert_eq!(graph(1, &[(0, 0)]).order(), Err(Cycle(vec![0, 0])));
        assert_eq!(
            graph(4, &[(0, 1), (1, 0), (2, 3), (3, 2)]).cycles(),
            [Cycle(vec![0, 1, 0]), Cycle(vec![2, 3, 2])]
        );
    }

    #[test]
    fn nodes_that_all_need_each_other_are_told_as_one_short_ring() {
        let all: Vec<_> = (0..5).flat_map(|node| (0..5).map(move |other| (node, other))).collect();
        let without_selves: Vec<_> = all.iter().copied().filter(|(node, other)| node != other).collect();
        assert_eq!(graph(5, &all).cycles(), [Cycle(vec![0, 0])]);
        assert_eq!(graph(5, &without_selves).cycles(), [Cycle(vec![0, 1, 0])]);
        assert_eq!(graph(4, &[(0, 1), (1, 2), (2, 3), (3, 1), (2, 1)]).cycles(), [Cycle(vec![1, 2, 1])]);
    }

    #[test]
    fn a_long_chain_with_many_ways_back_takes_no_more_than_its_edges() {
        let nodes = 200_000;
        let on = (0..nodes - 1).map(|node| (node, node + 1));
        let back = (1..nodes).map(|node| (node, 0));
        let edges: Vec<_> = on.chain(back).collect();
        assert_eq!(graph(nodes, &edges).cycles(), [Cycle(vec![0, 1, 0])]);
        let ring: Vec<_> = (0..nodes).map(|node| (node, (node + 1) % nodes)).collect();
        assert_eq!(graph(nodes, &ring).cycles()[0].0.len(), nodes + 1);
    }

    #[test]
    fn a_long_chain_does_not_overflow_the_stack() {
        let edges: Vec<_> = (0..1_000_000 - 1).map(|node| (node, node + 1)).collect();
        let order = graph(1_000_000, &edges).order().unwrap();
        assert_eq!((order[0], order[999_999]), (999_999, 0));
    }

    proptest! {
        #[test]
        fn an_order_respects_every_edge_or_there_is_a_real_cycle(
            edges in prop::collection::vec((0_usize..12, 0_usize..12), 0..30),
        ) {
            let is_real = |Cycle(path): &Cycle| {
                path.len() > 1
                    && path.first() == path.last()
                    && path.windows(2).all(|pair| edges.contains(&(pair[0], pair[1])))
            };
            let graph = graph(12, &edges);
            let cycles = graph.cycles();
            prop_assert!(cycles.iter().all(is_real));
            let mut nodes: Vec<usize> = cycles.iter().flat_map(|Cycle(path)| &path[1..]).copied().collect();
            nodes.sort_unstable();
            prop_assert!(nodes.windows(2).all(|pair| pair[0] < pair[1]), "no node is in two rings");
            match graph.order() {
                Ok(order) => {
                    let mut place = [0; 12];
                    for (at, &node) in order.iter().enumerate() {
                        place[node] = at;
                    }
                    prop_assert_eq!(order.len(), 12);
                    prop_assert!(edges.iter().all(|&(node, other)| place[other] < place[node]));
                    prop_assert!(cycles.is_empty());
                }
                Err(cycle) => {
                    prop_assert!(is_real(&cycle));
                    prop_assert!(!cycles.is_empty());
                }
            }
        }

        #[test]
        fn without_the_rings_that_are_told_there_is_an_order_in_the_end(
            edges in prop::collection::vec((0_usize..8, 0_usize..8), 0..30),
        ) {
            let mut left = edges;
            loop {
                let cycles = graph(8, &left).cycles();
                if cycles.is_empty() {
                    break;
                }
                let before = left.len();
                left.retain(|edge| cycles.iter().all(|Cycle(path)| *edge != (path[0], path[1])));
                prop_assert!(left.len() < before);
            }
            prop_assert!(graph(8, &left).order().is_ok());
        }
    }
}
