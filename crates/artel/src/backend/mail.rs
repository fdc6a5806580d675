//! Messages: sent, asked, read, listened to, counted.

use std::time::Duration;

use artel_api::Paged;
use artel_api::client::ApiPath;
use artel_api::events::EventsQuery;
use artel_api::messages::{
    DeadMessage, DeadQuery, MailRequest, Mailbox, MessageCounts, SentMessage, WaitQuery,
};
use artel_app::operations;
use artel_engine::Clock;
use artel_model::id::AgentId;
use artel_model::message::{MessageDocument, TopicPattern};
use serde_json::{Map, Value};

use super::error::BackendError;
use super::events::EventStream;
use super::open::Backend;

/// Milliseconds that one request waits for mail.
const WAIT_MS: u64 = 30_000;
/// Where messages are, at a server.
const MESSAGES: &str = "/api/messages";

impl Backend {
    /// Sends a message, or publishes an event.
    pub(crate) async fn send(&self, document: &Map<String, Value>) -> Result<SentMessage, BackendError> {
        match self {
            Self::Local(local) => Ok(operations::send(&local.app, &local.caller, document).await?),
            Self::Remote(client) => Ok(client.post(&ApiPath::new(MESSAGES), document, None).await?),
        }
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn request(
        &self,
        document: &Map<String, Value>,
        timeout: Duration,
    ) -> Result<MessageDocument, BackendError> {
        let query = WaitQuery { timeout_ms: u64::try_from(timeout.as_millis()).ok() };
        match self {
            Self::Local(local) => {
                Ok(operations::request(&local.app, &local.caller, document.clone(), query).await?)
            }
            Self::Remote(client) => Ok(client
                .post_asking(&ApiPath::new(MESSAGES).then("request"), &query, document, None)
                .await?),
        }
    }

    /// Waits until an agent has unread mail, or the time is up.
    pub(crate) async fn wait_for_mail(&self, agent: AgentId, time: Duration) -> Result<(), BackendError> {
        let until = Clock::system().now() + u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        loop {
            let left = until.millis_since(Clock::system().now());
            let request = MailRequest {
                agent_id: agent.0,
                mark_read: Some(false),
                with_read: false,
                limit: Some(1),
                wait_ms: Some(left.min(WAIT_MS)),
            };
            if !self.read_mail(request).await?.items.is_empty() || left <= WAIT_MS {
                return Ok(());
            }
        }
    }

    /// Reads a mailbox.
    pub(crate) async fn read_mail(&self, request: MailRequest) -> Result<Mailbox, BackendError> {
        match self {
            Self::Local(local) => Ok(operations::read_mail(&local.app, &local.caller, request).await?),
            Self::Remote(client) => {
                Ok(client.post(&ApiPath::new(MESSAGES).then("read"), &request, None).await?)
            }
        }
    }

    /// Lists dead letters, the latest first.
    pub(crate) async fn dead_letters(&self, query: DeadQuery) -> Result<Paged<DeadMessage>, BackendError> {
        match self {
            Self::Local(local) => Ok(operations::dead_letters(&local.app, &local.caller, query).await?),
            Self::Remote(client) => {
                Ok(client.ask(&ApiPath::new(MESSAGES).then("dead-letters"), &query).await?)
            }
        }
    }

    /// Counts messages.
    pub(crate) async fn message_counts(&self) -> Result<MessageCounts, BackendError> {
        match self {
            Self::Local(local) => Ok(operations::counts(&local.app).await?),
            Self::Remote(client) => Ok(client.get(&ApiPath::new(MESSAGES).then("counts")).await?),
        }
    }

    /// Listens to topics, beginning with the last `replay` events.
    pub(crate) async fn listen(
        &self,
        pattern: &TopicPattern,
        replay: u16,
    ) -> Result<EventStream, BackendError> {
        let query = EventsQuery { topic: pattern.to_string(), replay: Some(u32::from(replay)) };
        match self {
            Self::Local(local) => {
                let log = operations::topic_log(&local.app, &local.caller, query, None).await?;
                Ok(EventStream::local(log))
            }
            Self::Remote(client) => {
                let events = client.events(&ApiPath::new("/api/events"), &query, None).await?;
                Ok(EventStream::Remote(Box::new(events)))
            }
        }
    }
}
