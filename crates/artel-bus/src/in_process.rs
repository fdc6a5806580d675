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
}

impl InProcessBus {
    /// Makes a bus that nobody listens to yet.
    pub fn new(config: BusConfig) -> Self {
        Self { hub: Arc::new(Hub::new(config)), waiters: Waiters::default(), bells: Arc::default() }
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
