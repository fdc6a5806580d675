//! Mailboxes as tables, and what is done with messages in general.
//!
//! Reading and marking are two statements: if the answer to one that did both were lost, so would be what it marked.

use std::collections::BTreeSet;

use artel_model::id::{AgentId, CorrelationId, MessageId};
use artel_model::message::{DeadLetter, DeadReason, Message, MessageKey, Sender, TopicPattern};
use artel_model::time::Timestamp;
use artel_store::{
    MAILBOX_READ_BYTES_MAX, MESSAGE_REMEMBERED_MS, Mail, MailCounts, MailQuery, MailStore, Page, PageRequest,
    Post, Posted, StoreError, TopicEvent,
};
use async_trait::async_trait;

use crate::dead::reason;
use crate::id::Id;
use crate::row::{bigint, column, count, document, parsed_text};
use crate::statement::Statement;
use crate::store::{PostgresStore, Sent};

const ANSWER: &str = include_str!("sql/answer.sql");
const COUNTS: &str = include_str!("sql/mail_counts.sql");
const READING: &str = "reading a mailbox";
const MARKING: &str = "marking messages as read";

/// Deliveries are locked in the order of their places: nobody waits in a circle.
const MARK_START: &str = "WITH unread AS (SELECT place FROM deliveries WHERE NOT is_read";
const MARK_END: &str = " ORDER BY place FOR UPDATE), \
    marked AS (\
        UPDATE deliveries SET is_read = true FROM unread WHERE deliveries.place = unread.place \
        RETURNING deliveries.place\
    ), \
    counted AS (\
        UPDATE write_counts SET writes = writes + 1 \
        WHERE slot = pg_backend_pid() % 64 AND EXISTS (SELECT FROM marked)\
    ) \
    SELECT place FROM marked";

/// Deliveries that are swept away by one statement.
const SWEEP_MAX: u64 = 1000;

/// What lies somewhere in a mailbox.
struct Placed {
    place: i64,
    mail: Mail,
}

#[async_trait]
impl MailStore for PostgresStore {
    async fn post(&self, post: Post) -> Result<Posted, StoreError> {
        self.put_into_mailboxes(&post).await
    }

    async fn mailbox(&self, query: MailQuery) -> Result<Vec<Mail>, StoreError> {
        loop {
            let mut found = self.look(&query).await?;
            let unread: Vec<i64> =
                found.iter().filter(|placed| !placed.mail.is_read).map(|placed| placed.place).collect();
            if query.mark_read && !unread.is_empty() {
                let ours = self.mark(unread).await?;
                found.retain(|placed| placed.mail.is_read || ours.contains(&placed.place));
                if found.is_empty() {
                    // Others were faster with all of it; there may be more.
                    continue;
                }
            }
            return Ok(found.into_iter().map(|placed| placed.mail).collect());
        }
    }

    async fn mark_read(&self, agent: AgentId, messages: &[MessageId]) -> Result<u64, StoreError> {
        let senders = self.unread_senders(agent).await?;
        let keys = senders.iter().flat_map(|sender| messages.iter().map(|id| MessageKey::of(*sender, *id).0));
        // Also messages that were kept before keys had a sender in them.
        let ids: Vec<Id> = keys.chain(messages.iter().map(|id| id.0)).map(Id).collect();
        let statement = Statement::new(MARK_START).then(" AND recipient = ").place(Id(agent.0));
        let statement = statement.then(" AND message = ANY(").place(ids).then(")").then(MARK_END);
        Ok(self.write(MARKING, &statement).await?.rows.len() as u64)
    }

    async fn take_answer(
        &self,
        asker: AgentId,
        correlation: CorrelationId,
        now: Timestamp,
    ) -> Result<Option<Message>, StoreError> {
        let statement =
            Statement::new(ANSWER).with(Id(asker.0)).with(Id(correlation.0)).with(now.as_millis());
        loop {
            let answer = self.read(READING, &statement).await?;
            let Some(row) = answer.rows.first() else { return Ok(None) };
            let place: i64 = column(READING, row, 0)?;
            if self.mark(vec![place]).await?.contains(&place) {
                return document(READING, row, 1).map(Some);
            }
        }
    }

    async fn keep_event(&self, message: Message, keep_max: usize) -> Result<u64, StoreError> {
        self.keep_topic_event(&message, keep_max).await
    }

    async fn topic_events(
        &self,
        pattern: &TopicPattern,
        after: u64,
        latest: bool,
        limit: usize,
    ) -> Result<Vec<TopicEvent>, StoreError> {
        self.kept_topic_events(pattern, after, latest, limit).await
    }

    async fn sweep(&self, now: Timestamp, dead_max: usize) -> Result<u64, StoreError> {
        let what = "sweeping mailboxes";
        let statement = Statement::new("SELECT removed, died FROM sweep_mail($1, $2, $3, $4)")
            .with(now.as_millis())
            .with((now - MESSAGE_REMEMBERED_MS).as_millis())
            .with(bigint(dead_max as u64))
            .with(bigint(SWEEP_MAX));
        let mut dead = 0;
        loop {
            let answer = self.write(what, &statement).await?;
            let Some(row) = answer.rows.first() else { return Ok(dead) };
            dead += count(what, row, 1)?;
            if count(what, row, 0)? < SWEEP_MAX {
                return Ok(dead);
            }
        }
    }

    async fn bury(&self, letters: Vec<DeadLetter>) -> Result<(), StoreError> {
        self.keep_dead_letters(&letters).await
    }

    async fn dead_letters(
        &self,
        recipient: Option<AgentId>,
        page: &PageRequest,
    ) -> Result<Page<DeadLetter>, StoreError> {
        self.kept_dead_letters(recipient, page).await
    }

    async fn mail_counts(&self) -> Result<MailCounts, StoreError> {
        let what = "counting messages";
        let answer = self.read(what, &Statement::new(COUNTS)).await?;
        let mut counts = MailCounts::default();
        for row in &answer.rows {
            let number = count(what, row, 1)?;
            match column(what, row, 0)? {
                "unread" => counts.unread = number,
                "read" => counts.read = number,
                word => counts.dead.push((reason(what, word)?, number)),
            }
        }
        counts.dead.sort_by_key(|(of, _)| DeadReason::ALL.iter().position(|other| other == of));
        Ok(counts)
    }
}

impl PostgresStore {
    /// Returns whose messages lie unread in a mailbox.
    async fn unread_senders(&self, agent: AgentId) -> Result<Vec<Sender>, StoreError> {
        let statement = Statement::new(
            "SELECT DISTINCT messages.sender::text \
             FROM deliveries JOIN messages ON messages.id = deliveries.message \
             WHERE deliveries.recipient = $1 AND NOT deliveries.is_read",
        );
        let answer = self.read(MARKING, &statement.with(Id(agent.0))).await?;
        let sender = |row| match column::<Option<&str>>(MARKING, row, 0)? {
            Some(agent) => parsed_text(MARKING, agent).map(Sender::Agent),
            None => Ok(Sender::System),
        };
        answer.rows.iter().map(sender).collect()
    }

    async fn look(&self, query: &MailQuery) -> Result<Vec<Placed>, StoreError> {
        // How long a document is can be told without reading it, so what does not fit stays where it is.
        let mut statement = Statement::new(
            "SELECT place, document, is_read FROM (\
             SELECT *, sum(octet_length(document)) OVER (ORDER BY priority, sent_at, place) \
             - octet_length(document) AS bytes_before FROM (\
             SELECT deliveries.place, deliveries.is_read, deliveries.priority, deliveries.sent_at, messages.document \
             FROM deliveries JOIN messages ON messages.id = deliveries.message \
             WHERE deliveries.recipient = $1 AND deliveries.expires_at > $2",
        )
        .with(Id(query.agent.0))
        .with(query.now.as_millis());
        if !query.with_read {
            statement = statement.then(" AND NOT deliveries.is_read");
        }
        statement = statement
            .then(" ORDER BY deliveries.priority, deliveries.sent_at, deliveries.place LIMIT ")
            .place(bigint(query.limit as u64))
            .then(") AS wanted) AS measured WHERE bytes_before < ")
            .place(bigint(MAILBOX_READ_BYTES_MAX as u64))
            .then(" ORDER BY priority, sent_at, place");
        let answer = self.read(READING, &statement).await?;
        let placed = |row| {
            let mail = Mail { message: document(READING, row, 1)?, is_read: column(READING, row, 2)? };
            Ok(Placed { place: column(READING, row, 0)?, mail })
        };
        answer.rows.iter().map(placed).collect()
    }

    /// Marks what lies somewhere as read, and returns where it was not yet. When an answer was lost, that is everywhere:
    /// what is read twice is better than what nobody reads.
    async fn mark(&self, places: Vec<i64>) -> Result<BTreeSet<i64>, StoreError> {
        let statement =
            Statement::new(MARK_START).then(" AND place = ANY(").place(&places).then(")").then(MARK_END);
        let answer = self.write(MARKING, &statement).await?;
        if answer.sent == Sent::Twice {
            return Ok(places.into_iter().collect());
        }
        answer.rows.iter().map(|row| column(MARKING, row, 0)).collect()
    }
}
