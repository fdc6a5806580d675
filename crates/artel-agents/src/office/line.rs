//! The line to the bus, which may be away: then nobody waits for it long, or often. What it does not carry is found in the
//! store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use artel_bus::{Bell, Bus, BusError, SubscribeOptions, Subscription};
use artel_engine::Clock;
use artel_model::id::AgentId;
use artel_model::message::{Message, TopicPattern};
use artel_model::time::Timestamp;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How long a bus may take to publish before it counts as away.
const PATIENCE: Duration = Duration::from_millis(250);
/// How long a bus that is away is left alone.
const AWAY_MS: u64 = 1000;
/// How many agents are woken in one go before others have their turn.
const WOKEN_AT_ONCE: usize = 64;

pub(super) struct Line {
    bus: Arc<dyn Bus>,
    clock: Clock,
    runtime: Handle,
    /// Until when the bus is left alone; nothing while it works.
    away_until: Mutex<Option<Timestamp>>,
}

impl Line {
    pub(super) fn new(bus: Arc<dyn Bus>, clock: Clock, runtime: Handle) -> Self {
        Self { bus, clock, runtime, away_until: Mutex::default() }
    }

    /// Publishes a message if the bus is there.
    pub(super) async fn publish(&self, message: Arc<Message>) {
        let now = self.clock.now();
        if self.away_until().is_some_and(|until| now < until) {
            return;
        }
        match timeout(PATIENCE, self.bus.publish(message)).await {
            Ok(Ok(_)) => self.works(),
            // It says nothing about the bus.
            Ok(Err(error @ (BusError::NoTopic | BusError::Expired))) => {
                tracing::debug!(%error, "a message is not published");
            }
            Ok(Err(
                error @ (BusError::Closed
                | BusError::Unavailable { .. }
                | BusError::Address { .. }
                | BusError::StreamLength(_)),
            )) => self.is_away(&error),
            Err(elapsed) => self.is_away(&elapsed),
        }
    }

    /// Wakes whoever waits for the mail of agents. Never waits itself.
    pub(super) fn wake(&self, agents: &[AgentId]) {
        if agents.len() <= WOKEN_AT_ONCE {
            self.bus.ring(agents);
            return;
        }
        let (bus, agents) = (Arc::clone(&self.bus), agents.to_vec());
        self.runtime.spawn(async move {
            for some in agents.chunks(WOKEN_AT_ONCE) {
                bus.ring(some);
                tokio::task::yield_now().await;
            }
        });
    }

    /// Hangs up a bell for an agent if the bus is there.
    pub(super) fn hang_bell(&self, agent: AgentId) -> Option<Bell> {
        match self.bus.hang_bell(agent) {
            Ok(bell) => Some(bell),
            Err(error) => {
                tracing::debug!(%error, %agent, "the bus has no room for a bell");
                None
            }
        }
    }

    /// Listens to topics if the bus is there.
    pub(super) fn subscribe(
        &self,
        pattern: &TopicPattern,
        options: SubscribeOptions,
    ) -> Option<Subscription> {
        match self.bus.subscribe(pattern.clone(), options) {
            Ok(subscription) => Some(subscription),
            Err(error) => {
                tracing::debug!(%error, %pattern, "the bus has no room for who listens");
                None
            }
        }
    }

    fn works(&self) {
        if self.away_until().take().is_some() {
            tracing::info!("the bus is back");
        }
    }

    fn is_away(&self, error: &dyn std::error::Error) {
        let until = self.clock.now() + AWAY_MS;
        if self.away_until().replace(until).is_none() {
            tracing::warn!(error = %error, "the bus is away: messages come a little later");
        }
    }

    fn away_until(&self) -> MutexGuard<'_, Option<Timestamp>> {
        self.away_until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
