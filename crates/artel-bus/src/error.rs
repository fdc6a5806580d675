//! What can go wrong, an enum per operation.

use std::error::Error;
use std::time::Duration;

use artel_model::id::CorrelationId;
use artel_model::limit::{SUBSCRIPTION_QUEUE_MAX, TOPIC_REPLAY_MAX};

use crate::limit::{REQUESTS_WAITING_MAX, STREAM_LEN_MAX, SUBSCRIPTIONS_MAX};

/// Why a message was not published, or a bus not reached.
#[derive(Debug, thiserror::Error)]
pub enum BusError {
    /// Only messages about topics go over the bus.
    #[error("the message is not about a topic: it goes to a mailbox, not over the bus")]
    NoTopic,
    /// Its time was up before it was published.
    #[error("the message's time is up")]
    Expired,
    /// The bus was closed.
    #[error("the bus is closed")]
    Closed,
    /// The server is away or does not answer. The message may have been published all the same: publishing it again with
    /// the same id does no harm.
    #[error("cannot {doing} through Redis")]
    Unavailable {
        /// What was tried.
        doing: &'static str,
        /// What went wrong.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The address is none of a Redis.
    #[error("not the address of a Redis, like `redis://localhost:6379`")]
    Address {
        /// What is wrong with it.
        source: Box<dyn Error + Send + Sync>,
    },
    /// More messages than Redis may keep, or none.
    #[error("Redis keeps from 1 to {STREAM_LEN_MAX} messages, not {0}")]
    StreamLength(usize),
}

/// Why there is no subscription.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SubscribeError {
    /// Nothing can wait, or more than may.
    #[error("from 1 to {SUBSCRIPTION_QUEUE_MAX} messages may wait for a subscriber, not {0}")]
    Queue(usize),
    /// More than is kept.
    #[error("at most {TOPIC_REPLAY_MAX} messages are kept for those who come late, not {0}")]
    Replay(usize),
    /// As many subscriptions as there may be.
    #[error("there are {SUBSCRIPTIONS_MAX} subscriptions, which is the limit")]
    TooMany,
    /// The bus was closed.
    #[error("the bus is closed")]
    Closed,
}

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// Not of the kind `request`, or without a correlation.
    #[error("the message is no request with a correlation")]
    NoRequest,
    /// Another request with that correlation waits for its answer.
    #[error("another request {0} waits for its answer")]
    CorrelationInUse(CorrelationId),
    /// As many requests wait as may.
    #[error("{REQUESTS_WAITING_MAX} requests wait for an answer, which is the limit")]
    TooMany,
    /// Nobody took it.
    #[error("nobody listens who could answer")]
    NoResponder,
    /// Somebody took it, and did not answer in time.
    #[error("no answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// It could not be published.
    #[error("cannot publish the request")]
    Bus(#[source] BusError),
}

/// Why an answer was refused.
#[derive(Debug, thiserror::Error)]
pub enum RespondError {
    /// Not of the kind `response` or `error`, or without a correlation.
    #[error("the message is no response with a correlation")]
    NoResponse,
    /// There is no such request, it has its answer, or its sender gave up.
    #[error("nobody waits for the answer to {0}")]
    NobodyWaits(CorrelationId),
    /// Its time was up.
    #[error("the response's time is up")]
    Expired,
    /// The bus did not take it.
    #[error("cannot send the response")]
    Bus(#[source] BusError),
}
