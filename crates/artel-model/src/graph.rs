//! A graph of what needs what: execution order and cycles, in time linear in nodes and edges.

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

    /// Returns every ring that a walk by number meets, each once.
    pub fn cycles(&self) -> Vec<Cycle> {
        let mut marks = vec![Mark::Unseen; self.needs.len()];
        let mut found = Vec::new();
        for start in 0..self.needs.len() {
            self.visit(start, &mut marks, &mut Vec::new(), &mut |cycle| {
                found.push(cycle);
                Follow::On
            });
        }
        found
    }

    fn walk(&self, starts: impl Iterator<Item = usize>) -> Result<Vec<usize>, Cycle> {
        let mut marks = vec![Mark::Unseen; self.needs.len()];
        let mut order = Vec::with_capacity(self.needs.len());
        let mut cycle = None;
        for start in starts {
            self.visit(start, &mut marks, &mut order, &mut |found| {
                cycle = Some(found);
                Follow::Stop
            });
            if let Some(cycle) = cycle {
                return Err(cycle);
            }
        }
        Ok(order)
    }

    /// Depth first without recursion, so that a chain of a million nodes does not overflow the stack.
    fn visit(
        &self,
        start: usize,
        marks: &mut [Mark],
        order: &mut Vec<usize>,
        on_cycle: &mut impl FnMut(Cycle) -> Follow,
    ) {
        if marks[start] != Mark::Unseen {
            return;
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
                Mark::Open => {
                    if on_cycle(closed(&path, other)) == Follow::Stop {
                        return;
                    }
                }
            }
        }
    }
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Follow {
    On,
    Stop,
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
            let graph = graph(12, &edges);
            match graph.order() {
                Ok(order) => {
                    let mut place = [0; 12];
                    for (at, &node) in order.iter().enumerate() {
                        place[node] = at;
                    }
                    prop_assert_eq!(order.len(), 12);
                    prop_assert!(edges.iter().all(|&(node, other)| place[other] < place[node]));
                    prop_assert!(graph.cycles().is_empty());
                }
                Err(Cycle(path)) => {
                    prop_assert_eq!(path.first(), path.last());
                    prop_assert!(path.windows(2).all(|pair| edges.contains(&(pair[0], pair[1]))));
                    prop_assert!(!graph.cycles().is_empty());
                }
            }
        }
    }
}
