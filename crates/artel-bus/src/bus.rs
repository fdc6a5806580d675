//! What every bus can do.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use artel_model::id::AgentId;
use artel_model::limit::SUBSCRIPTION_QUEUE_MAX;
use artel_model::message::{Message, TopicPattern};
use async_trait::async_trait;

use crate::bells::Bell;
use crate::clock::Clock;
use crate::counts::Counts;
use crate::dead::{DeadLetters, NotCollected};
use crate::error::{BusError, RequestError, RespondError, SubscribeError};
use crate::subscription::Subscription;

/// Carries messages about topics to whoever listens, and answers to whoever asked.
///
/// All subscribers of one bus see messages of the same priority in the same order. A message that comes again with the same
/// id is delivered once.
#[async_trait]
pub trait Bus: Send + Sync {
    /// Gives a message to every subscription that matches its topic.
    async fn publish(&self, message: Arc<Message>) -> Result<Published, BusError>;

    /// Listens to the topics that a pattern means, from this moment on, and if wished to the last messages before it.
    fn subscribe(
        &self,
        pattern: TopicPattern,
        options: SubscribeOptions,
    ) -> Result<Subscription, SubscribeError>;

    /// Publishes a request and waits for the first answer, at most `timeout`. To ask again, make another request: one with
    /// the same id is not delivered twice.
    async fn request(&self, request: Arc<Message>, timeout: Duration) -> Result<Arc<Message>, RequestError>;

    /// Answers the request that has the same correlation.
    async fn respond(&self, response: Arc<Message>) -> Result<(), RespondError>;

    /// Rings for some agents: every bell that hangs for one of them rings, on this bus at once, on others soon. It never
    /// waits. Rings are no messages: nothing of them is kept or counted. They may be lost on the way to other processes, so
    /// whoever waits for a bell looks by itself from time to time.
    fn ring(&self, agents: &[AgentId]);

    /// Hangs up a bell for an agent, which rings from this moment on.
    fn hang_bell(&self, agent: AgentId) -> Result<Bell, SubscribeError>;

    /// Returns what became of the messages so far. It looks at every subscription.
    fn counts(&self) -> Counts;

    /// Says whether others can be reached through it.
    async fn reachable(&self) -> Result<(), BusError>;
}

/// That a message was published.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Published {
    /// How many subscriptions of this bus take it; through Redis, there may be more elsewhere. None for a repetition.
    pub subscribers: usize,
}

/// How to listen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SubscribeOptions {
    /// How many messages may wait; further ones are refused and counted.
    pub queue_max: usize,
    /// How many of the last messages are wanted first; never more than may wait. Requests are not repeated.
    pub replay: usize,
    /// Which agent listens, for dead letters.
    pub subscriber: Option<AgentId>,
}

impl Default for SubscribeOptions {
    fn default() -> Self {
        Self { queue_max: SUBSCRIPTION_QUEUE_MAX, replay: 0, subscriber: None }
    }
}

/// What every bus needs to know.
#[derive(Clone)]
pub struct BusConfig {
    /// What time it is.
    pub clock: Clock,
    /// Who is told what subscribers did not get.
    pub dead_letters: Arc<dyn DeadLetters>,
}

impl BusConfig {
    /// Makes a configuration in which dead letters are counted only.
    pub fn new(clock: Clock) -> Self {
        Self { clock, dead_letters: Arc::new(NotCollected) }
    }
}

impl fmt::Debug for BusConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BusConfig").field("clock", &self.clock).finish_non_exhaustive()
    }
}
