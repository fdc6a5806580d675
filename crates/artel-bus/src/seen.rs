//! Which messages came already. The oldest are forgotten, so that it stays small.

use std::collections::{HashSet, VecDeque};

use artel_model::message::MessageKey;

/// The keys of the last messages.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    ids: HashSet<MessageKey>,
    oldest_first: VecDeque<MessageKey>,
}

/// Whether a message came for the first time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Arrival {
    First,
    Repeated,
}

impl Seen {
    /// Remembers a message, and at most `max` of them.
    pub(crate) fn arrive(&mut self, id: MessageKey, max: usize) -> Arrival {
        if !self.ids.insert(id) {
            return Arrival::Repeated;
        }
        if self.oldest_first.len() >= max
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.ids.remove(&oldest);
        }
        self.oldest_first.push_back(id);
        Arrival::First
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn the_oldest_are_forgotten() {
        let mut seen = Seen::default();
        let mut arrive = |number: u128| seen.arrive(MessageKey(Uuid::from_u128(number)), 2);
        assert_eq!([1, 2, 2, 1].map(&mut arrive)[2..], [Arrival::Repeated; 2]);
        assert_eq!([3, 2, 1].map(&mut arrive), [Arrival::First, Arrival::Repeated, Arrival::First]);
        assert_eq!((seen.ids.len(), seen.oldest_first.len()), (2, 2));
    }
}
