//! The last messages, for those who come late.

use std::collections::VecDeque;
use std::sync::Arc;

use artel_model::limit::TOPIC_REPLAY_MAX;
use artel_model::message::{Address, Message, MessageKind, TopicPattern};
use artel_model::time::Timestamp;

/// The last messages, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Replay(VecDeque<Arc<Message>>);

impl Replay {
    /// Keeps a message, unless it is one that only makes sense at its time.
    pub(crate) fn keep(&mut self, message: &Arc<Message>) {
        match message.kind {
            MessageKind::Request | MessageKind::Response => return,
            MessageKind::Event | MessageKind::Error | MessageKind::Broadcast => {}
        }
        if self.0.len() >= TOPIC_REPLAY_MAX {
            self.0.pop_front();
        }
        self.0.push_back(Arc::clone(message));
    }

    /// Returns the last `wanted` messages that a pattern means and whose time is not up, oldest first.
    pub(crate) fn last(&self, pattern: &TopicPattern, wanted: usize, now: Timestamp) -> Vec<Arc<Message>> {
        let is_meant = |message: &&Arc<Message>| match &message.address {
            Address::Topic(topic) => pattern.matches(topic),
            Address::Agent(_) | Address::Broadcast => false,
        };
        let latest_first = self.0.iter().rev().filter(|message| !message.is_expired(now)).filter(is_meant);
        let mut found: Vec<Arc<Message>> = latest_first.take(wanted).cloned().collect();
        found.reverse();
        found
    }

    /// Lets go of everything.
    pub(crate) fn clear(&mut self) {
        self.0 = VecDeque::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{event, id, now, request};

    fn last(replay: &Replay, pattern: &str, wanted: usize, now: Timestamp) -> Vec<u128> {
        let found = replay.last(&pattern.parse().unwrap(), wanted, now);
        found.iter().map(|message| id(message)).collect()
    }

    #[test]
    fn the_last_that_match_come_oldest_first() {
        let mut replay = Replay::default();
        for (number, topic) in [(1, "a.b"), (2, "a.c"), (3, "b"), (4, "a.b")] {
            replay.keep(&event(number, topic));
        }
        replay.keep(&request(5, "a.b"));
        assert_eq!(last(&replay, "a.>", 2, now()), [2, 4]);
        assert_eq!(last(&replay, "a.b", 9, now()), [1, 4]);
        assert_eq!(last(&replay, ">", 0, now()), []);
        assert_eq!(last(&replay, ">", 9, now() + 60_000), []);
    }

    #[test]
    fn only_so_many_are_kept() {
        let mut replay = Replay::default();
        (0..=TOPIC_REPLAY_MAX as u128).for_each(|number| replay.keep(&event(number, "a")));
        let kept = last(&replay, ">", TOPIC_REPLAY_MAX + 1, now());
        assert_eq!((kept[0], kept.len()), (1, TOPIC_REPLAY_MAX));
    }
}
