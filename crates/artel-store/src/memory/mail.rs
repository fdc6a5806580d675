//! Mail in memory: every mailbox, what is remembered of messages, and what became of those that nobody got.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use artel_model::id::{AgentId, CorrelationId, MessageId};
use artel_model::message::{
    Address, DeadLetter, DeadReason, Message, MessageKey, MessageKind, Sender, TopicPattern,
};
use artel_model::time::Timestamp;
use async_trait::async_trait;

use super::dead::Cemetery;
use super::mailbox::Mailbox;
use super::store::MemoryStore;
use super::topics::TopicTable;
use crate::error::StoreError;
use crate::mail::{MESSAGE_REMEMBERED_MS, Mail, MailCounts, MailQuery, MailStore, Post, Posted, TopicEvent};
use crate::page::{Page, PageRequest};

/// All mail.
#[derive(Debug, Default)]
pub(super) struct MailTables {
    /// Every message that is remembered; its key is taken.
    pub(super) remembered: BTreeMap<MessageKey, Arc<Message>>,
    /// The requests among them.
    requests: BTreeMap<CorrelationId, BTreeSet<MessageKey>>,
    pub(super) mailboxes: BTreeMap<AgentId, Mailbox>,
    pub(super) dead: Cemetery,
    topics: TopicTable,
    /// Counts what was put into mailboxes.
    delivered: u64,
}

impl MailTables {
    /// Remembers a message.
    pub(super) fn remember(&mut self, message: Arc<Message>) {
        if let (MessageKind::Request, Some(correlation)) = (message.kind, message.correlation) {
            self.requests.entry(correlation).or_default().insert(message.key());
        }
        self.remembered.insert(message.key(), message);
    }

    /// Puts a message into a mailbox.
    pub(super) fn deliver(&mut self, agent: AgentId, message: Arc<Message>) {
        self.delivered += 1;
        self.mailboxes.entry(agent).or_default().put(message, self.delivered);
    }

    /// Says whether `asker` asked `answerer` something, with that correlation.
    pub(super) fn has_asked(&self, asker: AgentId, answerer: AgentId, correlation: CorrelationId) -> bool {
        let requests = self.requests.get(&correlation).into_iter().flatten();
        requests.filter_map(|id| self.remembered.get(id)).any(|request| {
            let is_addressed = match request.address {
                Address::Agent(agent) => agent == answerer,
                Address::Broadcast => answerer != asker,
                Address::Topic(_) => false,
            };
            is_addressed && request.sender == Sender::Agent(asker)
        })
    }

    /// Makes dead letters of what lies unread with agents that are no more.
    pub(super) fn end_unread(&mut self, agents: &[AgentId], at: Timestamp) {
        let mut gone = Vec::new();
        for agent in agents {
            let Some(mailbox) = self.mailboxes.get_mut(agent) else { continue };
            gone.extend(
                mailbox.take_unread(|_| true).into_iter().map(|(number, message)| (number, *agent, message)),
            );
        }
        self.bury(gone, at);
    }

    /// Removes whole mailboxes.
    pub(super) fn remove_mailboxes(&mut self, agents: &[AgentId]) {
        for agent in agents {
            self.mailboxes.remove(agent);
        }
    }

    /// Keeps dead letters in the order in which they were delivered.
    fn bury(&mut self, mut gone: Vec<(u64, AgentId, Arc<Message>)>, at: Timestamp) {
        gone.sort_by_key(|(number, ..)| *number);
        for (_, agent, message) in gone {
            let reason =
                if message.is_expired(at) { DeadReason::Expired } else { DeadReason::RecipientEnded };
            let message = Message::clone(&message);
            self.dead.bury(DeadLetter { message, recipient_id: Some(agent), reason, at });
        }
    }

    fn take_answer(&mut self, asker: AgentId, correlation: CorrelationId, now: Timestamp) -> Option<Message> {
        let is_answer = |message: &Message| {
            message.correlation == Some(correlation)
                && !message.is_expired(now)
                && match (message.kind, message.sender) {
                    (MessageKind::Response, _) | (MessageKind::Error, Sender::System) => true,
                    (MessageKind::Error, Sender::Agent(sender)) => self.has_asked(asker, sender, correlation),
                    (MessageKind::Event | MessageKind::Request | MessageKind::Broadcast, _) => false,
                }
        };
        let unread = self.mailboxes.get(&asker)?.unread.iter();
        let (place, answer) = unread.clone().find(|(_, message)| is_answer(message))?;
        let (place, answer) = (*place, Message::clone(answer));
        self.mailboxes.get_mut(&asker)?.mark(place);
        Some(answer)
    }

    fn sweep(&mut self, now: Timestamp, dead_max: usize) -> u64 {
        let mut gone = Vec::new();
        for (agent, mailbox) in &mut self.mailboxes {
            let expired = mailbox.take_unread(|message| message.is_expired(now)).into_iter();
            gone.extend(expired.map(|(number, message)| (number, *agent, message)));
            mailbox.forget_read(now);
        }
        let count = gone.len() as u64;
        self.bury(gone, now);
        self.remembered.retain(|_, message| message.expires_at() + MESSAGE_REMEMBERED_MS > now);
        self.requests.retain(|_, requests| {
            requests.retain(|id| self.remembered.contains_key(id));
            !requests.is_empty()
        });
        self.dead.keep_latest(dead_max);
        count
    }
}

#[async_trait]
impl MailStore for MemoryStore {
    async fn post(&self, post: Post) -> Result<Posted, StoreError> {
        Ok(self.tables().post(post))
    }

    async fn mailbox(&self, query: MailQuery) -> Result<Vec<Mail>, StoreError> {
        let mut tables = self.tables();
        let Some(mailbox) = tables.mail.mailboxes.get_mut(&query.agent) else { return Ok(Vec::new()) };
        let (mail, is_changed) = mailbox.look(&query);
        tables.version += u64::from(is_changed);
        Ok(mail)
    }

    async fn mark_read(&self, agent: AgentId, messages: &[MessageId]) -> Result<u64, StoreError> {
        let mut tables = self.tables();
        let Some(mailbox) = tables.mail.mailboxes.get_mut(&agent) else { return Ok(0) };
        let marked = mailbox.mark_messages(messages);
        tables.version += u64::from(marked > 0);
        Ok(marked)
    }

    async fn take_answer(
        &self,
        asker: AgentId,
        correlation: CorrelationId,
        now: Timestamp,
    ) -> Result<Option<Message>, StoreError> {
        let mut tables = self.tables();
        let answer = tables.mail.take_answer(asker, correlation, now);
        tables.version += u64::from(answer.is_some());
        Ok(answer)
    }

    async fn keep_event(&self, message: Message, keep_max: usize) -> Result<u64, StoreError> {
        let mut tables = self.tables();
        tables.version += 1;
        Ok(tables.mail.topics.keep(message, keep_max))
    }

    async fn topic_events(
        &self,
        pattern: &TopicPattern,
        after: u64,
        latest: bool,
        limit: usize,
    ) -> Result<Vec<TopicEvent>, StoreError> {
        Ok(self.tables().mail.topics.events(pattern, after, latest, limit))
    }

    async fn sweep(&self, now: Timestamp, dead_max: usize) -> Result<u64, StoreError> {
        let mut tables = self.tables();
        tables.version += 1;
        Ok(tables.mail.sweep(now, dead_max))
    }

    async fn bury(&self, letters: Vec<DeadLetter>) -> Result<(), StoreError> {
        let mut tables = self.tables();
        tables.version += 1;
        for letter in letters {
            tables.mail.dead.bury(letter);
        }
        Ok(())
    }

    async fn dead_letters(
        &self,
        recipient: Option<AgentId>,
        page: &PageRequest,
    ) -> Result<Page<DeadLetter>, StoreError> {
        self.tables().mail.dead.page(recipient, page)
    }

    async fn mail_counts(&self) -> Result<MailCounts, StoreError> {
        let tables = self.tables();
        let mailboxes = || tables.mail.mailboxes.values();
        Ok(MailCounts {
            unread: mailboxes().map(|mailbox| mailbox.unread.len() as u64).sum(),
            read: mailboxes().map(|mailbox| mailbox.read.len() as u64).sum(),
            dead: tables.mail.dead.counts(),
        })
    }
}
