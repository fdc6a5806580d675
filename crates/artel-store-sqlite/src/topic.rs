//! Events of topics as a table: keeping the last ones, and finding those that a pattern means.

use artel_model::message::{Address, Message, TopicPattern};
use artel_store::TopicEvent;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::change::Change;
use crate::effort::Effort;
use crate::row::{json, natural, parsed};

/// How many events of topics are looked at to find those of a pattern with wildcards.
const TOPIC_PAGE: i64 = 1000;

/// Keeps an event of a topic.
pub(crate) struct KeepEvent {
    id: [u8; 16],
    topic: String,
    document: String,
    keep_max: i64,
}

impl KeepEvent {
    pub(crate) fn new(message: &Message, keep_max: usize) -> Self {
        let topic = match &message.address {
            Address::Topic(topic) => topic.to_string(),
            Address::Agent(_) | Address::Broadcast => String::new(),
        };
        let keep_max = i64::try_from(keep_max).unwrap_or(i64::MAX);
        Self { id: message.key().0.into_bytes(), topic, document: json(message), keep_max }
    }
}

impl Change for KeepEvent {
    /// Its place.
    type Answer = u64;
    const WHAT: &'static str = "keep an event of a topic";

    fn effort(&self) -> Effort {
        Effort::rows(1, self.document.len())
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<u64> {
        let mut find = connection.prepare_cached("SELECT place FROM topic_events WHERE id = ?1")?;
        if let Some(place) = find.query_row([self.id], |row| natural(row, 0)).optional()? {
            return Ok(place);
        }
        let mut insert =
            connection.prepare_cached("INSERT INTO topic_events (id, topic, message) VALUES (?1, ?2, ?3)")?;
        insert.execute(params![self.id, self.topic, self.document])?;
        let place = connection.last_insert_rowid();
        // Places are counted up, and only the first ones are ever removed: there are no gaps.
        let mut forget = connection.prepare_cached("DELETE FROM topic_events WHERE place <= ?1")?;
        forget.execute([place.saturating_sub(self.keep_max)])?;
        Ok(place.unsigned_abs())
    }
}

/// Returns kept events after a place that a pattern means.
pub(crate) fn topic_events(
    connection: &Connection,
    pattern: &TopicPattern,
    after: u64,
    latest: bool,
    limit: usize,
) -> rusqlite::Result<Vec<TopicEvent>> {
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let order = if latest { "DESC" } else { "ASC" };
    let (mut from, mut to) = (after, i64::MAX);
    let mut found = Vec::new();
    loop {
        let sql = format!(
            "SELECT place, message FROM topic_events WHERE place > ?1 AND place < ?2 ORDER BY place {order} LIMIT ?3"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let row = |row: &Row<'_>| Ok(TopicEvent { place: natural(row, 0)?, message: parsed(row, 1)? });
        let page: Vec<TopicEvent> =
            statement.query_map([from, to, TOPIC_PAGE], row)?.collect::<Result<_, _>>()?;
        let Some(last) = page.last().map(|event| i64::try_from(event.place).unwrap_or(i64::MAX)) else {
            break;
        };
        if latest {
            to = last;
        } else {
            from = last;
        }
        let is_meant = |event: &TopicEvent| match &event.message.address {
            Address::Topic(topic) => pattern.matches(topic),
            Address::Agent(_) | Address::Broadcast => false,
        };
        found.extend(page.into_iter().filter(is_meant));
        if found.len() >= limit {
            break;
        }
    }
    found.truncate(limit);
    if latest {
        found.reverse();
    }
    Ok(found)
}
