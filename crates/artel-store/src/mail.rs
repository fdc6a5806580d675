//! Messages: mailboxes, events of topics, dead letters, and who waits for whom.

use artel_model::agent::AgentState;
use artel_model::id::{AgentId, CorrelationId, MessageId};
use artel_model::limit::MESSAGE_TTL_S_MAX;
use artel_model::message::{DeadLetter, DeadReason, Message, TopicPattern, Wait};
use artel_model::time::Timestamp;
use async_trait::async_trait;

use crate::error::StoreError;
use crate::page::{Page, PageRequest};

/// How long a message is remembered after its time is up: until then its sender has used its id, and if it is a request it may be
/// answered. Work that a request asks for often takes longer than the request may wait.
pub const MESSAGE_REMEMBERED_MS: u64 = MESSAGE_TTL_S_MAX as u64 * 1000;

/// How many bytes of messages, as JSON, one reading of a mailbox returns: it ends with the message that reaches them.
pub const MAILBOX_READ_BYTES_MAX: usize = 16 << 20;

/// A message to be put into mailboxes: that of one agent, or of every living agent but the sender.
#[derive(Clone, Debug)]
pub struct Post {
    /// The message; its address is an agent or everybody, never a topic.
    pub message: Message,
    /// The moment of the post.
    pub now: Timestamp,
    /// How many unread messages a mailbox holds.
    pub mailbox_max: usize,
}

/// What came of a post.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Posted {
    /// It lies in these mailboxes, in the order of their ids.
    Delivered(Vec<AgentId>),
    /// A message with its id was posted before by the same sender; nothing was written.
    Duplicate,
    /// It was refused; nothing was written.
    Refused(PostRefused),
}

/// Why a message was refused. When several hold, it is the first of them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PostRefused {
    /// The sender does not exist.
    UnknownSender(AgentId),
    /// The sender is terminated.
    SenderEnded(AgentId),
    /// The recipient does not exist.
    UnknownRecipient(AgentId),
    /// The recipient has no mailbox any more.
    RecipientEnded(AgentId, AgentState),
    /// It is a response to a request that was never addressed to its sender, or not by its recipient. Requests to
    /// everybody are addressed to every agent but who asks.
    NoSuchRequest(CorrelationId),
    /// The mailbox is full: of messages that are neither read nor expired.
    MailboxFull(AgentId),
}

/// A message in a mailbox.
#[derive(Clone, Debug, PartialEq)]
pub struct Mail {
    /// The message.
    pub message: Message,
    /// Whether its recipient had read it before this reading.
    pub is_read: bool,
}

/// What is to be read of a mailbox.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MailQuery {
    /// Whose mailbox.
    pub agent: AgentId,
    /// The moment of reading; what is expired then is not read.
    pub now: Timestamp,
    /// Whether messages that were read before are wanted too.
    pub with_read: bool,
    /// Whether what is returned counts as read from then on.
    pub mark_read: bool,
    /// How many at most.
    pub limit: usize,
}

/// An event of a topic and its place among all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicEvent {
    /// Its place; later ones have greater places.
    pub place: u64,
    /// The event; its address is a topic.
    pub message: Message,
}

/// How many messages there are.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct MailCounts {
    /// In mailboxes, unread and not swept away.
    pub unread: u64,
    /// In mailboxes, read and not swept away.
    pub read: u64,
    /// Dead letters ever, by reason in the order of [`DeadReason::ALL`], those that are not kept any more included;
    /// reasons without any are left out.
    pub dead: Vec<(DeadReason, u64)>,
}

/// Messages that wait to be read, and what became of the others.
#[async_trait]
pub trait MailStore: Send + Sync {
    /// Puts a message into mailboxes. For everybody: a mailbox that is full gets a dead letter instead. When this returns,
    /// it survives the death of the process. A message with the id of one of the same sender that is remembered is a
    /// duplicate, whatever else is wrong with it; the same id of another sender is another message.
    async fn post(&self, post: Post) -> Result<Posted, StoreError>;

    /// Reads a mailbox: the most urgent first, of those the earliest sent, of those in the order they were posted. Of many
    /// who read one mailbox at once and mark what they get, one gets each unread message. It returns fewer than the query
    /// allows when they are large (see [`MAILBOX_READ_BYTES_MAX`]), but nothing only when there is nothing.
    async fn mailbox(&self, query: MailQuery) -> Result<Vec<Mail>, StoreError>;

    /// Marks messages with these ids in a mailbox as read, and returns how many were not yet.
    async fn mark_read(&self, agent: AgentId, messages: &[MessageId]) -> Result<u64, StoreError>;

    /// Returns the first answer to a request that lies unread in the mailbox of who asked, and marks it as read. An answer
    /// is a response; or an error, from the system or somebody to whom the request was addressed.
    async fn take_answer(
        &self,
        asker: AgentId,
        correlation: CorrelationId,
        now: Timestamp,
    ) -> Result<Option<Message>, StoreError>;

    /// Keeps an event of a topic for those who come late, and forgets all but the last `keep_max`. One with the same id of
    /// the same sender is kept once. Returns its place.
    async fn keep_event(&self, message: Message, keep_max: usize) -> Result<u64, StoreError>;

    /// Returns at most `limit` kept events after a place that a pattern means, in order; with `latest`, the last ones
    /// there are instead of the first.
    async fn topic_events(
        &self,
        pattern: &TopicPattern,
        after: u64,
        latest: bool,
        limit: usize,
    ) -> Result<Vec<TopicEvent>, StoreError>;

    /// Makes dead letters of what is unread and expired, and removes what is read and expired; forgets messages that are
    /// not to be remembered any longer (see [`MESSAGE_REMEMBERED_MS`]); and removes dead letters beyond `dead_max`, the
    /// oldest first. Returns how many became dead letters.
    async fn sweep(&self, now: Timestamp, dead_max: usize) -> Result<u64, StoreError>;

    /// Keeps dead letters that somebody else noticed.
    async fn bury(&self, letters: Vec<DeadLetter>) -> Result<(), StoreError>;

    /// Lists dead letters: the latest first, and of those known since the same time the last one that was kept. What
    /// becomes dead letters in one write is kept in the order it was posted; of one message, in the order of the ids.
    async fn dead_letters(
        &self,
        recipient: Option<AgentId>,
        page: &PageRequest,
    ) -> Result<Page<DeadLetter>, StoreError>;

    /// Counts messages.
    async fn mail_counts(&self) -> Result<MailCounts, StoreError>;
}

/// Who waits for whom.
#[async_trait]
pub trait WaitStore: Send + Sync {
    /// Notes that somebody waits, and forgets waits whose time is up; unless that closes a ring: then the ring is returned
    /// and nothing is written. One who waits again for the same answer waits once.
    async fn begin_wait(&self, wait: Wait, now: Timestamp) -> Result<Result<(), Vec<AgentId>>, StoreError>;

    /// Forgets a wait.
    async fn end_wait(&self, waiter: AgentId, correlation: CorrelationId) -> Result<(), StoreError>;
}
