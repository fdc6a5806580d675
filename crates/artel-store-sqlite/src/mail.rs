//! Mailboxes as tables: reading and marking, answers, and what is swept away.

use artel_model::id::{AgentId, CorrelationId, MessageId};
use artel_model::message::{DeadLetter, DeadReason, Message, MessageKey, MessageKind, Sender, TopicPattern};
use artel_model::time::Timestamp;
use artel_store::{
    MAILBOX_READ_BYTES_MAX, MESSAGE_REMEMBERED_MS, Mail, MailCounts, MailQuery, MailStore, Page, PageRequest,
    Post, Posted, StoreError, TopicEvent,
};
use async_trait::async_trait;
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use crate::change::Change;
use crate::dead::{self, Bury};
use crate::effort::Effort;
use crate::post::{PostMessage, has_asked};
use crate::row::{natural, parsed, unreadable};
use crate::store::SqliteStore;
use crate::topic::{KeepEvent, topic_events};

/// How many deliveries are swept away in one transaction, and how many messages forgotten.
const SWEEP_MAX: u32 = 1000;
/// How many bytes of dead letters one transaction of a sweep makes.
const SWEEP_BYTES_MAX: u32 = 4 << 20;

#[async_trait]
impl MailStore for SqliteStore {
    async fn post(&self, post: Post) -> Result<Posted, StoreError> {
        self.writer.write(PostMessage::new(post)).await
    }

    async fn mailbox(&self, query: MailQuery) -> Result<Vec<Mail>, StoreError> {
        let what = "read a mailbox";
        if query.mark_read {
            return self.writer.write(ReadAndMark(query)).await;
        }
        let read = move |connection: &Connection| {
            Ok(mail(connection, &query)?.into_iter().map(|(_, mail)| mail).collect())
        };
        self.readers.read(what, read).await
    }

    async fn mark_read(&self, agent: AgentId, messages: &[MessageId]) -> Result<u64, StoreError> {
        self.writer.write(MarkRead { agent, messages: messages.to_vec() }).await
    }

    async fn take_answer(
        &self,
        asker: AgentId,
        correlation: CorrelationId,
        now: Timestamp,
    ) -> Result<Option<Message>, StoreError> {
        // Who waits looks often, and mostly in vain: only what is there needs the writer. Somebody else may take it first.
        loop {
            let find = move |connection: &Connection| answer(connection, asker, correlation, now);
            match self.readers.read("look for an answer", find).await? {
                None => return Ok(None),
                Some((place, message)) if self.writer.write(Take { place }).await? => {
                    return Ok(Some(message));
                }
                Some(_) => {}
            }
        }
    }

    async fn keep_event(&self, message: Message, keep_max: usize) -> Result<u64, StoreError> {
        self.writer.write(KeepEvent::new(&message, keep_max)).await
    }

    async fn topic_events(
        &self,
        pattern: &TopicPattern,
        after: u64,
        latest: bool,
        limit: usize,
    ) -> Result<Vec<TopicEvent>, StoreError> {
        let pattern = pattern.clone();
        let read = move |connection: &Connection| topic_events(connection, &pattern, after, latest, limit);
        self.readers.read("read events of topics", read).await
    }

    async fn sweep(&self, now: Timestamp, dead_max: usize) -> Result<u64, StoreError> {
        let dead_max = i64::try_from(dead_max).unwrap_or(i64::MAX);
        let mut died = 0;
        loop {
            let swept = self.writer.write(Sweep { now: now.as_millis(), dead_max }).await?;
            died += swept.died;
            if swept.is_done {
                return Ok(died);
            }
        }
    }

    async fn bury(&self, letters: Vec<DeadLetter>) -> Result<(), StoreError> {
        self.writer.write(Bury::new(&letters)).await
    }

    async fn dead_letters(
        &self,
        recipient: Option<AgentId>,
        page: &PageRequest,
    ) -> Result<Page<DeadLetter>, StoreError> {
        let (after, limit) = (dead::place(page)?, page.limit);
        let read = move |connection: &Connection| dead::page(connection, recipient, after, limit);
        self.readers.read("list dead letters", read).await
    }

    async fn mail_counts(&self) -> Result<MailCounts, StoreError> {
        let read = |connection: &Connection| {
            let mut count = connection
                .prepare_cached("SELECT count(*) FILTER (WHERE is_read = 0), count(*) FILTER (WHERE is_read = 1) FROM deliveries")?;
            let (unread, read) = count.query_row([], |row| Ok((natural(row, 0)?, natural(row, 1)?)))?;
            Ok(MailCounts { unread, read, dead: dead::counts(connection)? })
        };
        self.readers.read("count messages", read).await
    }
}

/// Returns what is wanted of a mailbox, with the places.
fn mail(connection: &Connection, query: &MailQuery) -> rusqlite::Result<Vec<(i64, Mail)>> {
    // Unread ones lie in their order in one index; with those that were read they have to be sorted. The plus keeps SQLite
    // from another index, by which all would have to be sorted.
    let filter = if query.with_read { "" } else { "AND is_read = 0" };
    let sql = format!(
        "SELECT place, is_read, message FROM deliveries WHERE recipient = ?1 AND +expires_at > ?2 {filter} \
         ORDER BY priority, sent_at, place LIMIT ?3"
    );
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let mut deliveries = connection.prepare_cached(&sql)?;
    let mut rows = deliveries.query(params![query.agent.0.into_bytes(), query.now.as_millis(), limit])?;
    let mut document = connection.prepare_cached("SELECT document FROM messages WHERE key = ?1")?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while bytes < MAILBOX_READ_BYTES_MAX
        && let Some(row) = rows.next()?
    {
        let (place, is_read, key): (i64, bool, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let read = |row: &Row<'_>| Ok((row.get_ref(0)?.as_str()?.len(), parsed(row, 0)?));
        let (length, message) = document.query_row([key], read)?;
        bytes += length;
        found.push((place, Mail { is_read, message }));
    }
    Ok(found)
}

fn mark(connection: &Connection, place: i64) -> rusqlite::Result<usize> {
    connection
        .prepare_cached("UPDATE deliveries SET is_read = 1 WHERE place = ?1 AND is_read = 0")?
        .execute([place])
}

/// Reads a mailbox and marks what is returned.
struct ReadAndMark(MailQuery);

impl Change for ReadAndMark {
    type Answer = Vec<Mail>;
    const WHAT: &'static str = "read a mailbox";

    fn effort(&self) -> Effort {
        Effort::Long(0)
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<Vec<Mail>> {
        let found = mail(connection, &self.0)?;
        for (place, mail) in &found {
            if !mail.is_read {
                mark(connection, *place)?;
            }
        }
        Ok(found.into_iter().map(|(_, mail)| mail).collect())
    }
}

/// Marks messages as read.
struct MarkRead {
    agent: AgentId,
    messages: Vec<MessageId>,
}

impl Change for MarkRead {
    /// How many were not yet.
    type Answer = u64;
    const WHAT: &'static str = "mark messages as read";

    fn effort(&self) -> Effort {
        Effort::rows(self.messages.len(), 0)
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<u64> {
        let mut update = connection.prepare_cached(
            "UPDATE deliveries SET is_read = 1 WHERE message = (SELECT key FROM messages WHERE id = ?1) \
             AND recipient = ?2 AND is_read = 0",
        )?;
        let mut marked = 0;
        for sender in unread_senders(connection, self.agent)? {
            for message in &self.messages {
                let key = MessageKey::of(sender, *message).0;
                marked += update.execute([key.into_bytes(), self.agent.0.into_bytes()])?;
            }
        }
        // Messages that were kept before keys had a sender in them.
        for message in &self.messages {
            marked += update.execute([message.0.into_bytes(), self.agent.0.into_bytes()])?;
        }
        Ok(marked as u64)
    }
}

/// Returns whose messages lie unread in a mailbox.
fn unread_senders(connection: &Connection, agent: AgentId) -> rusqlite::Result<Vec<Sender>> {
    let mut find = connection.prepare_cached(
        "SELECT DISTINCT messages.sender FROM deliveries JOIN messages ON messages.key = deliveries.message \
         WHERE deliveries.recipient = ?1 AND deliveries.is_read = 0",
    )?;
    let sender = |row: &Row<'_>| {
        let agent: Option<[u8; 16]> = row.get(0)?;
        Ok(agent.map_or(Sender::System, |agent| Sender::Agent(AgentId(Uuid::from_bytes(agent)))))
    };
    find.query_map([agent.0.into_bytes()], sender)?.collect()
}

/// Returns the first answer to a request that lies unread with who asked.
fn answer(
    connection: &Connection,
    asker: AgentId,
    correlation: CorrelationId,
    now: Timestamp,
) -> rusqlite::Result<Option<(i64, Message)>> {
    // The cross join makes SQLite begin with the few messages of the correlation, not with the whole mailbox.
    let mut find = connection.prepare_cached(
        "SELECT place, messages.sender, kind, document FROM messages CROSS JOIN deliveries ON message = messages.key \
         WHERE correlation = ?1 AND deliveries.recipient = ?2 AND is_read = 0 AND +deliveries.expires_at > ?3 \
         AND kind IN ('response', 'error') ORDER BY priority, deliveries.sent_at, place",
    )?;
    let mut rows = find.query(params![correlation.0.into_bytes(), asker.0.into_bytes(), now.as_millis()])?;
    while let Some(row) = rows.next()? {
        let sender = row.get::<_, Option<[u8; 16]>>(1)?.map(|sender| AgentId(Uuid::from_bytes(sender)));
        let is_answer = match (kind(row, 2)?, sender) {
            (MessageKind::Error, Some(sender)) => has_asked(connection, asker, sender, correlation)?,
            (MessageKind::Response, _) | (MessageKind::Error, None) => true,
            (MessageKind::Event | MessageKind::Request | MessageKind::Broadcast, _) => false,
        };
        if is_answer {
            return Ok(Some((row.get(0)?, parsed(row, 3)?)));
        }
    }
    Ok(None)
}

fn kind(row: &Row<'_>, column: usize) -> rusqlite::Result<MessageKind> {
    let word = row.get_ref(column)?.as_str()?;
    let kind = MessageKind::ALL.iter().copied().find(|kind| kind.as_str() == word);
    kind.ok_or_else(|| unreadable(column, format!("`{word}` is no kind of message")))
}

/// Marks what lies somewhere in a mailbox.
struct Take {
    place: i64,
}

impl Change for Take {
    /// Whether it lay there unread.
    type Answer = bool;
    const WHAT: &'static str = "take an answer";

    fn effort(&self) -> Effort {
        Effort::ROW
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<bool> {
        Ok(mark(connection, self.place)? > 0)
    }
}

/// Sweeps away some of what is expired.
struct Sweep {
    now: i64,
    dead_max: i64,
}

/// What was swept away.
struct Swept {
    died: u64,
    is_done: bool,
}

impl Change for Sweep {
    type Answer = Swept;
    const WHAT: &'static str = "sweep mailboxes";

    fn effort(&self) -> Effort {
        Effort::Long(SWEEP_BYTES_MAX as usize)
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<Swept> {
        let swept = self.sweep(connection)?;
        let is_done = swept.is_done && self.forget(connection)? < SWEEP_MAX as usize;
        if is_done {
            dead::keep_latest(connection, self.dead_max)?;
        }
        Ok(Swept { is_done, ..swept })
    }
}

impl Sweep {
    /// Removes some deliveries that are expired.
    fn sweep(&self, connection: &Connection) -> rusqlite::Result<Swept> {
        let mut find = connection.prepare_cached(
            "SELECT place, is_read, octet_length(document) FROM deliveries JOIN messages ON messages.key = message \
             WHERE place IN (SELECT place FROM deliveries WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2) \
             ORDER BY place",
        )?;
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let expired: Vec<(i64, bool, u32)> =
            find.query_map(params![self.now, SWEEP_MAX], row)?.collect::<Result<_, _>>()?;
        let (mut died, mut bytes) = (0, 0);
        for (place, is_read, length) in &expired {
            if bytes >= SWEEP_BYTES_MAX {
                return Ok(Swept { died, is_done: false });
            }
            if !is_read {
                dead::bury_delivery(connection, *place, DeadReason::Expired, self.now)?;
                died += 1;
                bytes += length;
            }
            dead::remove_delivery(connection, *place)?;
        }
        Ok(Swept { died, is_done: expired.len() < SWEEP_MAX as usize })
    }

    /// Removes some messages that are not to be remembered any longer, and returns how many.
    fn forget(&self, connection: &Connection) -> rusqlite::Result<usize> {
        let remembered = i64::try_from(MESSAGE_REMEMBERED_MS).unwrap_or(i64::MAX);
        let mut forget = connection.prepare_cached(
            "DELETE FROM messages WHERE key IN (SELECT key FROM messages WHERE expires_at <= ?1 \
             AND NOT EXISTS (SELECT 1 FROM deliveries WHERE message = messages.key) LIMIT ?2)",
        )?;
        forget.execute(params![self.now.saturating_sub(remembered), SWEEP_MAX])
    }
}
