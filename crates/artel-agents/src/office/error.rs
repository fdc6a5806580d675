//! What can go wrong at the post office, an enum per operation.

use std::time::Duration;

use artel_model::id::{AgentId, CorrelationId};
use artel_model::limit::TOPIC_REPLAY_MAX;
use artel_model::message::DraftProblem;
use artel_store::{PostRefused, StoreError};

/// Why a message was not sent.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// It is not put together as a message must be.
    #[error("the message cannot be sent: {}", told(.0))]
    Invalid(Vec<DraftProblem>),
    /// The sender does not exist.
    #[error("there is no agent {0} who could send it")]
    UnknownSender(AgentId),
    /// The sender is terminated.
    #[error("agent {0}, who should send it, is terminated")]
    SenderTerminated(AgentId),
    /// The recipient does not exist.
    #[error("there is no agent {0}")]
    UnknownAgent(AgentId),
    /// The recipient is terminated.
    #[error("agent {0} is terminated")]
    AgentTerminated(AgentId),
    /// It answers a request that its recipient never put to its sender.
    #[error("its recipient never sent a request {0} to its sender")]
    NoSuchRequest(CorrelationId),
    /// The recipient has as much unread mail as it may have.
    #[error("the mailbox of agent {0} is full")]
    MailboxFull(AgentId),
    /// The store failed. Sending the message again with the same id does no harm.
    #[error("cannot keep the message")]
    Store(#[source] StoreError),
}

impl SendError {
    /// Returns the typed code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "INVALID_MESSAGE",
            Self::UnknownSender(_) => "UNKNOWN_SENDER",
            Self::SenderTerminated(_) => "SENDER_TERMINATED",
            Self::UnknownAgent(_) => "UNKNOWN_AGENT",
            Self::AgentTerminated(_) => "AGENT_TERMINATED",
            Self::NoSuchRequest(_) => "NO_SUCH_REQUEST",
            Self::MailboxFull(_) => "MAILBOX_FULL",
            Self::Store(_) => "STORE_FAILED",
        }
    }
}

impl From<PostRefused> for SendError {
    fn from(refused: PostRefused) -> Self {
        match refused {
            PostRefused::UnknownSender(agent) => Self::UnknownSender(agent),
            PostRefused::SenderEnded(agent) => Self::SenderTerminated(agent),
            PostRefused::UnknownRecipient(agent) => Self::UnknownAgent(agent),
            PostRefused::RecipientEnded(agent, _) => Self::AgentTerminated(agent),
            PostRefused::NoSuchRequest(correlation) => Self::NoSuchRequest(correlation),
            PostRefused::MailboxFull(agent) => Self::MailboxFull(agent),
        }
    }
}

impl From<StoreError> for SendError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// It was not sent.
    #[error(transparent)]
    Send(#[from] SendError),
    /// Everybody in the ring would wait for the next one, and the last one for the first. It was not sent; unless its
    /// process stood still for so long that the wait was forgotten, and the ring was closed by others.
    #[error("they would wait for each other: {}", around(.ring))]
    Deadlock {
        /// Who waits for whom, beginning with who asked.
        ring: Vec<AgentId>,
    },
    /// Nobody answered in time.
    #[error("no answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// The store failed. The request may have been sent, and its answer may still come into the mailbox.
    #[error("cannot wait for the answer")]
    Store(#[source] StoreError),
}

impl RequestError {
    /// Returns the typed code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Send(error) => error.code(),
            Self::Deadlock { .. } => "DEADLOCK",
            Self::Timeout(_) => "TIMEOUT",
            Self::Store(_) => "STORE_FAILED",
        }
    }
}

impl From<StoreError> for RequestError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Why a mailbox was not read.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// There is no such agent.
    #[error("there is no agent {0}")]
    UnknownAgent(AgentId),
    /// It gets no mail any more.
    #[error("agent {0} is terminated")]
    AgentTerminated(AgentId),
    /// The store failed.
    #[error("cannot read the mailbox")]
    Store(#[source] StoreError),
}

impl MailError {
    /// Returns the typed code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownAgent(_) => "UNKNOWN_AGENT",
            Self::AgentTerminated(_) => "AGENT_TERMINATED",
            Self::Store(_) => "STORE_FAILED",
        }
    }
}

impl From<StoreError> for MailError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Why nobody listens.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// More than is kept.
    #[error("at most {TOPIC_REPLAY_MAX} events are kept for those who come late, not {0}")]
    Replay(usize),
    /// The store failed.
    #[error("cannot read the events that are kept")]
    Store(#[source] StoreError),
}

impl ListenError {
    /// Returns the typed code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Replay(_) => "INVALID_PARAMETERS",
            Self::Store(_) => "STORE_FAILED",
        }
    }
}

fn told(problems: &[DraftProblem]) -> String {
    let texts: Vec<String> =
        problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect();
    texts.join("; ")
}

fn around(ring: &[AgentId]) -> String {
    let names: Vec<String> = ring.iter().chain(ring.first()).map(AgentId::to_string).collect();
    names.join(" -> ")
}
