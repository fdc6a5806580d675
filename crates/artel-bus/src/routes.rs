//! Which queues a topic leads to: a tree of the parts of the patterns, so that the cost of finding them does not grow with
//! the number of other subscriptions.

use std::collections::HashMap;
use std::sync::Arc;

use artel_model::message::{Topic, TopicPattern};

use crate::queue::Queue;

const ONE: &str = "*";
const REST: &str = ">";

/// The queues of all patterns.
#[derive(Debug, Default)]
pub(crate) struct Routes(Node);

#[derive(Debug, Default)]
struct Node {
    /// What follows a part with that name.
    named: HashMap<Box<str>, Node>,
    /// What follows any part.
    any: Option<Box<Node>>,
    /// Patterns that end here.
    here: Vec<Arc<Queue>>,
    /// Patterns that mean every topic that goes on from here.
    rest: Vec<Arc<Queue>>,
}

impl Routes {
    /// Adds a queue; it must be younger than all others.
    pub(crate) fn add(&mut self, pattern: &TopicPattern, queue: Arc<Queue>) {
        let mut node = &mut self.0;
        for part in pattern.as_str().split('.') {
            node = match part {
                REST => return node.rest.push(queue),
                ONE => node.any.get_or_insert_default(),
                name => node.named.entry(name.into()).or_default(),
            };
        }
        node.here.push(queue);
    }

    /// Removes a queue.
    pub(crate) fn remove(&mut self, pattern: &TopicPattern, number: u64) {
        self.0.remove(pattern.as_str().split('.'), number);
    }

    /// Visits every queue that a topic leads to, always in the same order.
    pub(crate) fn visit<'a>(&'a self, topic: &Topic, visit: &mut impl FnMut(&'a Arc<Queue>)) {
        self.0.visit(topic.as_str().split('.'), visit);
    }
}

impl Node {
    fn remove<'p>(&mut self, mut parts: impl Iterator<Item = &'p str> + Clone, number: u64) {
        match parts.next() {
            None => remove(&mut self.here, number),
            Some(REST) => remove(&mut self.rest, number),
            Some(ONE) => {
                if let Some(node) = &mut self.any {
                    node.remove(parts, number);
                    self.any.take_if(|node| node.is_empty());
                }
            }
            Some(name) => {
                if let Some(node) = self.named.get_mut(name) {
                    node.remove(parts, number);
                    if node.is_empty() {
                        self.named.remove(name);
                    }
                }
            }
        }
    }

    fn visit<'a, 'p>(
        &'a self,
        mut parts: impl Iterator<Item = &'p str> + Clone,
        visit: &mut impl FnMut(&'a Arc<Queue>),
    ) {
        let Some(part) = parts.next() else {
            return self.here.iter().for_each(visit);
        };
        self.rest.iter().for_each(&mut *visit);
        if let Some(node) = self.named.get(part) {
            node.visit(parts.clone(), visit);
        }
        if let Some(node) = &self.any {
            node.visit(parts, visit);
        }
    }

    fn is_empty(&self) -> bool {
        self.named.is_empty() && self.any.is_none() && self.here.is_empty() && self.rest.is_empty()
    }
}

fn remove(queues: &mut Vec<Arc<Queue>>, number: u64) {
    if let Ok(at) = queues.binary_search_by_key(&number, |queue| queue.number) {
        queues.remove(at);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(routes: &Routes, topic: &Topic) -> Vec<u64> {
        let mut numbers = Vec::new();
        routes.visit(topic, &mut |queue| numbers.push(queue.number));
        numbers.sort_unstable();
        numbers
    }

    proptest! {
        /// The tree finds what the patterns themselves say, and is empty when all have gone.
        #[test]
        fn the_tree_agrees_with_the_patterns(
            patterns in prop::collection::vec("([a-b*](\\.[a-b*]){0,3}(\\.>)?)|>", 0..20),
            topics in prop::collection::vec("[a-b](\\.[a-b]){0,4}", 1..10),
            gone in prop::collection::vec(any::<bool>(), 20),
        ) {
            let patterns: Vec<TopicPattern> = patterns.iter().map(|text| text.parse().unwrap()).collect();
            let mut routes = Routes::default();
            for (number, pattern) in (0..).zip(&patterns) {
                routes.add(pattern, Arc::new(Queue::new(number, None, 1)));
            }
            let mut left: Vec<(u64, &TopicPattern)> = (0..).zip(&patterns).collect();
            for round in 0..2 {
                for topic in &topics {
                    let topic: Topic = topic.parse().unwrap();
                    let meant = left.iter().filter(|(_, pattern)| pattern.matches(&topic));
                    prop_assert_eq!(found(&routes, &topic), meant.map(|(number, _)| *number).collect::<Vec<_>>());
                }
                let leaves = |(number, _): &(u64, &TopicPattern)| round == 1 || gone[*number as usize];
                left.iter().filter(|entry| leaves(entry)).for_each(|(number, pattern)| routes.remove(pattern, *number));
                left.retain(|entry| !leaves(entry));
            }
            prop_assert!(routes.0.is_empty());
        }
    }
}
