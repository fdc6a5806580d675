//! The bus within one process: nothing but the hub, those who wait, and the bells.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use artel_model::id::AgentId;
use artel_model::message::{Message, TopicPattern};
use async_trait::async_trait;
use tokio::time::timeout;

use crate::bells::{Bell, Bells};
use crate::bus::{Bus, BusConfig, Published, SubscribeOptions};
use crate::counts::Counts;
use crate::error::{BusError, RequestError, RespondError, SubscribeError};
use crate::hub::Hub;
use crate::subscription::Subscription;
use crate::waiters::{Waiters, answered};

/// A bus within one process. Dropping it closes it.
pub struct InProcessBus {
    hub: Arc<Hub>,
    waiters: Waiters,
    bells: Arc<Bells>,
    /// Why the bus that it stands in for is not there.
    away: Option<String>,
}

impl InProcessBus {
    /// Makes a bus that nobody listens to yet.
    pub fn new(config: BusConfig) -> Self {
        let hub = Arc::new(Hub::new(config));
        Self { hub, waiters: Waiters::default(), bells: Arc::default(), away: None }
    }

    /// Makes a bus that is used because the one that was wanted is not there: it carries messages within the process, and
    /// says that others cannot be reached.
    pub fn standing_in(config: BusConfig, why: String) -> Self {
        let mut bus = Self::new(config);
        bus.away = Some(why);
        bus
    }
}

#[async_trait]
impl Bus for InProcessBus {
    async fn publish(&self, message: Arc<Message>) -> Result<Published, BusError> {
        self.hub.publish(&message)
    }

    fn subscribe(
        &self,
        pattern: TopicPattern,
        options: SubscribeOptions,
    ) -> Result<Subscription, SubscribeError> {
        self.hub.subscribe(pattern, options)
    }

    async fn request(&self, request: Arc<Message>, wait: Duration) -> Result<Arc<Message>, RequestError> {
        let waiting = self.waiters.wait(&request)?;
        let published = self.hub.publish(&request).map_err(RequestError::Bus)?;
        if published.subscribers == 0 {
            return Err(RequestError::NoResponder);
        }
        timeout(wait, waiting).await.unwrap_or(Err(RequestError::Timeout(wait)))
    }

    async fn respond(&self, response: Arc<Message>) -> Result<(), RespondError> {
        let correlation = answered(&response)?;
        if response.is_expired(self.hub.clock().now()) {
            return Err(RespondError::Expired);
        }
        self.waiters.answer(correlation, response)
    }

    fn ring(&self, agents: &[AgentId]) {
        self.bells.ring(agents);
    }

    fn hang_bell(&self, agent: AgentId) -> Result<Bell, SubscribeError> {
        self.bells.hang(agent)
    }

    fn counts(&self) -> Counts {
        self.hub.counts()
    }

    async fn reachable(&self) -> Result<(), BusError> {
        match &self.away {
            None => Ok(()),
            Some(why) => Err(BusError::Unavailable { doing: "reach others", source: why.as_str().into() }),
        }
    }
}

impl Drop for InProcessBus {
    fn drop(&mut self) {
        self.hub.close();
        self.waiters.close();
        self.bells.close();
    }
}

impl fmt::Debug for InProcessBus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InProcessBus")
    }
}
