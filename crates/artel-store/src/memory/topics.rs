//! Events of topics in memory.

use std::collections::BTreeMap;

use artel_model::message::{Address, Message, TopicPattern};

use crate::mail::TopicEvent;

/// The events of topics that are kept, by their places.
#[derive(Debug, Default)]
pub(super) struct TopicTable {
    events: BTreeMap<u64, Message>,
    last: u64,
}

impl TopicTable {
    /// Keeps an event unless it is kept, and forgets all but the latest.
    pub(super) fn keep(&mut self, message: Message, keep_max: usize) -> u64 {
        if let Some((place, _)) = self.events.iter().find(|(_, kept)| kept.key() == message.key()) {
            return *place;
        }
        self.last += 1;
        self.events.insert(self.last, message);
        while self.events.len() > keep_max {
            self.events.pop_first();
        }
        self.last
    }

    /// Returns the first or the last events after a place that are meant, in order.
    pub(super) fn events(
        &self,
        pattern: &TopicPattern,
        after: u64,
        latest: bool,
        limit: usize,
    ) -> Vec<TopicEvent> {
        let is_meant = |message: &Message| match &message.address {
            Address::Topic(topic) => pattern.matches(topic),
            Address::Agent(_) | Address::Broadcast => false,
        };
        let later = self.events.iter().filter(|(place, message)| **place > after && is_meant(message));
        let mut found: Vec<TopicEvent> =
            later.map(|(place, message)| TopicEvent { place: *place, message: message.clone() }).collect();
        if latest {
            found.drain(..found.len().saturating_sub(limit));
        } else {
            found.truncate(limit);
        }
        found
    }
}
