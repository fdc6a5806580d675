//! Which events a listener has had already. The oldest are forgotten, so that it stays small.

use std::collections::{HashSet, VecDeque};

use artel_model::message::MessageKey;

/// The keys of the last events.
#[derive(Debug, Default)]
pub(super) struct Seen {
    ids: HashSet<MessageKey>,
    oldest_first: VecDeque<MessageKey>,
}

impl Seen {
    /// Says whether an event is remembered.
    pub(super) fn has(&self, id: MessageKey) -> bool {
        self.ids.contains(&id)
    }

    /// Remembers an event and at most `max` of them; says whether it is the first time.
    pub(super) fn is_first(&mut self, id: MessageKey, max: usize) -> bool {
        if !self.ids.insert(id) {
            return false;
        }
        self.oldest_first.push_back(id);
        if self.oldest_first.len() > max
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.ids.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn the_oldest_are_forgotten() {
        let mut seen = Seen::default();
        let mut is_first = |number: u128| seen.is_first(MessageKey(Uuid::from_u128(number)), 2);
        assert_eq!([1, 2, 2, 1].map(&mut is_first), [true, true, false, false]);
        assert_eq!([3, 2, 1].map(&mut is_first), [true, false, true]);
        assert_eq!((seen.ids.len(), seen.oldest_first.len()), (2, 2));
    }
}
