//! Posting: who gets a message, and why it may be refused. One change: everything is looked at and written in one
//! transaction.

use artel_model::id::{AgentId, CorrelationId};
use artel_model::message::{Address, DeadReason, Message, MessageKind, Sender};
use artel_store::{Post, PostRefused, Posted};
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use crate::agent::state;
use crate::change::Change;
use crate::dead;
use crate::effort::Effort;
use crate::row::json;

/// Puts a message into mailboxes.
pub(crate) struct PostMessage {
    message: Message,
    document: String,
    now: i64,
    mailbox_max: i64,
}

impl PostMessage {
    pub(crate) fn new(post: Post) -> Self {
        Self {
            document: json(&post.message),
            message: post.message,
            now: post.now.as_millis(),
            mailbox_max: i64::try_from(post.mailbox_max).unwrap_or(i64::MAX),
        }
    }

    fn sender(&self) -> Option<AgentId> {
        match self.message.sender {
            Sender::System => None,
            Sender::Agent(agent) => Some(agent),
        }
    }

    fn refusal(&self, connection: &Connection) -> rusqlite::Result<Option<PostRefused>> {
        if let Some(sender) = self.sender() {
            match state_of(connection, sender)? {
                None => return Ok(Some(PostRefused::UnknownSender(sender))),
                Some(state) if !state.has_mailbox() => return Ok(Some(PostRefused::SenderEnded(sender))),
                Some(_) => {}
            }
        }
        let recipient = match self.message.address {
            Address::Agent(agent) => Some(agent),
            Address::Broadcast | Address::Topic(_) => None,
        };
        if let Some(agent) = recipient {
            match state_of(connection, agent)? {
                None => return Ok(Some(PostRefused::UnknownRecipient(agent))),
                Some(state) if !state.has_mailbox() => {
                    return Ok(Some(PostRefused::RecipientEnded(agent, state)));
                }
                Some(_) => {}
            }
        }
        if self.message.kind == MessageKind::Response {
            // A response without a correlation answers nothing; it is told the one that its request would have had.
            let correlation = self.message.correlation.unwrap_or(CorrelationId(self.message.id.0));
            let is_asked = match (self.sender(), recipient) {
                (Some(sender), Some(asker)) => has_asked(connection, asker, sender, correlation)?,
                (Some(_), None) | (None, _) => false,
            };
            if !is_asked {
                return Ok(Some(PostRefused::NoSuchRequest(correlation)));
            }
        }
        match recipient {
            Some(agent) if !self.has_room(connection, agent, unread(connection, agent)?)? => {
                Ok(Some(PostRefused::MailboxFull(agent)))
            }
            Some(_) | None => Ok(None),
        }
    }

    /// Says whether one more message fits into a mailbox in which so many lie unread. What is expired takes no room, but is
    /// looked for only when that matters, and only as much of it as must be there.
    fn has_room(&self, connection: &Connection, agent: AgentId, unread: i64) -> rusqlite::Result<bool> {
        if unread < self.mailbox_max {
            return Ok(true);
        }
        let expired_min = unread - self.mailbox_max + 1;
        let mut count = connection.prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM deliveries INDEXED BY deliveries_unread_by_expiry \
             WHERE recipient = ?1 AND is_read = 0 AND expires_at <= ?2 LIMIT ?3)",
        )?;
        let expired: i64 =
            count.query_row(params![agent.0.into_bytes(), self.now, expired_min], |row| row.get(0))?;
        Ok(expired >= expired_min)
    }

    /// Puts the message into every mailbox in which there is room for it, and returns whose.
    fn broadcast(&self, connection: &Connection) -> rusqlite::Result<Vec<AgentId>> {
        let recipients = self.living(connection)?;
        let message = self.remember(connection)?;
        let mut delivered = Vec::with_capacity(recipients.len());
        for (agent, unread) in recipients {
            if self.has_room(connection, agent, unread)? {
                self.deliver(connection, message, agent)?;
                delivered.push(agent);
            } else {
                let recipient = Some(agent.0.into_bytes());
                dead::insert(connection, recipient, DeadReason::MailboxFull, self.now, &self.document)?;
            }
        }
        Ok(delivered)
    }

    /// Returns every living agent but the sender, in the order of their ids, with how much lies unread there.
    fn living(&self, connection: &Connection) -> rusqlite::Result<Vec<(AgentId, i64)>> {
        let mut find = connection.prepare_cached(
            "SELECT id, coalesce(unread, 0) FROM agents LEFT JOIN mailboxes ON mailboxes.agent = id \
             WHERE is_live = 1 AND id IS NOT ?1 ORDER BY id",
        )?;
        let sender = self.sender().map(|sender| sender.0.into_bytes());
        let found =
            find.query_map([sender], |row| Ok((AgentId(Uuid::from_bytes(row.get(0)?)), row.get(1)?)))?;
        found.collect()
    }

    fn remember(&self, connection: &Connection) -> rusqlite::Result<i64> {
        let message = &self.message;
        let recipient = match message.address {
            Address::Agent(agent) => Some(agent.0.into_bytes()),
            Address::Broadcast | Address::Topic(_) => None,
        };
        let mut insert = connection.prepare_cached(
            "INSERT INTO messages (id, sender, recipient, kind, correlation, sent_at, expires_at, document) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        insert.execute(params![
            message.key().0.into_bytes(),
            self.sender().map(|sender| sender.0.into_bytes()),
            recipient,
            message.kind.as_str(),
            message.correlation.map(|correlation| correlation.0.into_bytes()),
            message.timestamp.as_millis(),
            message.expires_at().as_millis(),
            self.document,
        ])?;
        Ok(connection.last_insert_rowid())
    }

    fn deliver(&self, connection: &Connection, message: i64, agent: AgentId) -> rusqlite::Result<()> {
        let mut insert = connection.prepare_cached(
            "INSERT INTO deliveries (message, recipient, priority, sent_at, expires_at, is_read) \
             VALUES (?1, ?2, ?3, ?4, ?5, 0)",
        )?;
        insert.execute(params![
            message,
            agent.0.into_bytes(),
            self.message.priority.get(),
            self.message.timestamp.as_millis(),
            self.message.expires_at().as_millis(),
        ])?;
        Ok(())
    }
}

impl Change for PostMessage {
    type Answer = Posted;
    const WHAT: &'static str = "post a message";

    fn effort(&self) -> Effort {
        match self.message.address {
            Address::Agent(_) | Address::Topic(_) => Effort::rows(1, self.document.len()),
            Address::Broadcast => Effort::Long(self.document.len()),
        }
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<Posted> {
        if matches!(self.message.address, Address::Topic(_)) {
            // It lies in no mailbox, so nothing is remembered about it.
            return Ok(Posted::Delivered(Vec::new()));
        }
        let mut known = connection.prepare_cached("SELECT 1 FROM messages WHERE id = ?1")?;
        if known.exists([self.message.key().0.into_bytes()])? {
            return Ok(Posted::Duplicate);
        }
        if let Some(refused) = self.refusal(connection)? {
            return Ok(Posted::Refused(refused));
        }
        let delivered = match self.message.address {
            Address::Agent(agent) => {
                let message = self.remember(connection)?;
                self.deliver(connection, message, agent)?;
                vec![agent]
            }
            Address::Broadcast => self.broadcast(connection)?,
            Address::Topic(_) => Vec::new(),
        };
        Ok(Posted::Delivered(delivered))
    }
}

/// Returns how much lies unread in a mailbox, expired or not.
fn unread(connection: &Connection, agent: AgentId) -> rusqlite::Result<i64> {
    let mut find = connection.prepare_cached("SELECT unread FROM mailboxes WHERE agent = ?1")?;
    let unread = find.query_row([agent.0.into_bytes()], |row| row.get(0)).optional()?;
    Ok(unread.unwrap_or(0))
}

fn state_of(
    connection: &Connection,
    agent: AgentId,
) -> rusqlite::Result<Option<artel_model::agent::AgentState>> {
    let mut find = connection.prepare_cached("SELECT state FROM agents WHERE id = ?1")?;
    find.query_row([agent.0.into_bytes()], |row| state(row, 0)).optional()
}

/// Says whether somebody asked somebody else something, with that correlation.
pub(crate) fn has_asked(
    connection: &Connection,
    asker: AgentId,
    answerer: AgentId,
    correlation: CorrelationId,
) -> rusqlite::Result<bool> {
    let mut find = connection.prepare_cached(
        "SELECT 1 FROM messages WHERE correlation = ?1 AND kind = 'request' AND sender = ?2 \
         AND (recipient = ?3 OR (recipient IS NULL AND ?2 <> ?3))",
    )?;
    find.exists([correlation.0.into_bytes(), asker.0.into_bytes(), answerer.0.into_bytes()])
}
