//! One mailbox in memory: what is unread and what is read, each in the order of reading.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use artel_model::id::MessageId;
use artel_model::message::{Message, Priority};
use artel_model::time::Timestamp;

use crate::mail::{MAILBOX_READ_BYTES_MAX, Mail, MailQuery};

/// Where a message lies: the most urgent first, of those the earliest, of those in the order of posting.
pub(super) type Place = (Priority, Timestamp, u64);

/// One mailbox.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    pub(super) unread: BTreeMap<Place, Arc<Message>>,
    pub(super) read: BTreeMap<Place, Arc<Message>>,
}

impl Mailbox {
    /// Says whether one more message may lie here. What is expired takes no room, but is looked for only when that matters.
    pub(super) fn has_room(&self, max: usize, now: Timestamp) -> bool {
        self.unread.len() < max
            || self.unread.values().filter(|message| !message.is_expired(now)).count() < max
    }

    /// Puts a message in; `number` counts what was ever put anywhere.
    pub(super) fn put(&mut self, message: Arc<Message>, number: u64) {
        let place = (message.priority, message.timestamp, number);
        self.unread.insert(place, message);
    }

    /// Returns what is wanted, and says whether anything was marked.
    pub(super) fn look(&mut self, query: &MailQuery) -> (Vec<Mail>, bool) {
        let unread = self.unread.iter().map(|(place, message)| (*place, message, false));
        let read = self.read.iter().map(|(place, message)| (*place, message, true));
        let mut found: Vec<_> = unread.chain(read.filter(|_| query.with_read)).collect();
        found.retain(|(_, message, _)| !message.is_expired(query.now));
        found.sort_by_key(|(place, ..)| *place);
        found.truncate(query.limit);
        found.truncate(count_within_bytes(found.iter().map(|(_, message, _)| &***message)));
        let mail: Vec<Mail> = found
            .iter()
            .map(|(_, message, is_read)| Mail { message: Message::clone(message), is_read: *is_read })
            .collect();
        let fresh: Vec<Place> = found
            .iter()
            .filter(|(.., is_read)| query.mark_read && !is_read)
            .map(|(place, ..)| *place)
            .collect();
        for place in &fresh {
            self.mark(*place);
        }
        (mail, !fresh.is_empty())
    }

    /// Marks messages with these ids as read, and returns how many were not yet.
    pub(super) fn mark_messages(&mut self, ids: &[MessageId]) -> u64 {
        let ids: BTreeSet<MessageId> = ids.iter().copied().collect();
        let meant = self.unread.extract_if(.., |_, message| ids.contains(&message.id));
        let mut marked = 0;
        self.read.extend(meant.inspect(|_| marked += 1));
        marked
    }

    /// Marks what lies somewhere as read, and says whether something did.
    pub(super) fn mark(&mut self, place: Place) -> bool {
        let found = self.unread.remove(&place);
        let was_unread = found.is_some();
        self.read.extend(found.map(|message| (place, message)));
        was_unread
    }

    /// Takes everything out that is unread and fits, with its number.
    pub(super) fn take_unread(&mut self, fits: impl Fn(&Message) -> bool) -> Vec<(u64, Arc<Message>)> {
        let gone: Vec<_> = self.unread.extract_if(.., |_, message| fits(message)).collect();
        gone.into_iter().map(|((.., number), message)| (number, message)).collect()
    }

    /// Removes what is read and expired.
    pub(super) fn forget_read(&mut self, now: Timestamp) {
        self.read.retain(|_, message| !message.is_expired(now));
    }
}

/// Returns how many messages one reading returns at most: up to the one that reaches the limit of bytes.
fn count_within_bytes<'a>(messages: impl Iterator<Item = &'a Message>) -> usize {
    let mut bytes = 0;
    let fitting = messages.take_while(|message| {
        let fits = bytes < MAILBOX_READ_BYTES_MAX;
        bytes += serde_json::to_vec(message).map_or(0, |text| text.len());
        fits
    });
    fitting.count()
}

#[cfg(test)]
mod tests {
    use artel_model::message::Payload;
    use serde_json::Map;

    use super::*;
    use crate::contract::{peek, to};

    #[test]
    fn a_reading_ends_with_the_message_that_reaches_the_limit_of_bytes() {
        let object = Map::from_iter([("text".to_owned(), "x".repeat(260_000).into())]);
        let payload = Payload::new(object).unwrap();
        let mut mailbox = Mailbox::default();
        for number in 1..=67 {
            let message = Message { payload: payload.clone(), ..to(number.into(), 1) };
            mailbox.put(Arc::new(message), number);
        }
        let query = MailQuery { mark_read: true, ..peek(1, 1000) };
        let pieces: Vec<usize> = (0..3).map(|_| mailbox.look(&query).0.len()).collect();
        assert_eq!(pieces, [65, 2, 0]);
    }
}
