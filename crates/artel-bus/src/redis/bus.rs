//! The bus through Redis: what callers hold. Reading and ringing are done by tasks of their own, which end with it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use artel_model::id::AgentId;
use artel_model::message::{Message, TopicPattern};
use async_trait::async_trait;
use redis::Client;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::config::{Keys, RedisBusConfig};
use super::link::{Link, Resend};
use super::reader::Reader;
use super::rings::Rings;
use super::wire;
use crate::bells::Bell;
use crate::bus::{Bus, Published, SubscribeOptions};
use crate::counts::Counts;
use crate::error::{BusError, RequestError, RespondError, SubscribeError};
use crate::hub::{Hub, topic_of};
use crate::limit::STREAM_LEN_MAX;
use crate::subscription::Subscription;
use crate::waiters::{Waiters, Waiting, answered};

/// A bus through Redis. Dropping it closes it.
pub struct RedisBus {
    hub: Arc<Hub>,
    waiters: Arc<Waiters>,
    link: Arc<Link>,
    keys: Keys,
    stream_len: usize,
    heard_wait: Duration,
    rings: Arc<Rings>,
    tasks: [JoinHandle<()>; 3],
}

impl RedisBus {
    /// Connects to Redis and begins to read. What was published before can be replayed, but is not delivered.
    pub async fn connect(config: RedisBusConfig) -> Result<Self, BusError> {
        if !(1..=STREAM_LEN_MAX).contains(&config.stream_len) {
            return Err(BusError::StreamLength(config.stream_len));
        }
        let client = Client::open(config.url.as_str())
            .map_err(|source| BusError::Address { source: source.into() })?;
        let keys = Keys::new(&config.prefix, config.instance);
        let hub = Arc::new(Hub::new(config.bus));
        let waiters = Arc::new(Waiters::default());
        let link = Arc::new(Link::new(client.clone(), config.publish_wait));
        let begin = Reader::begin(client.clone(), keys.clone(), hub.clone(), waiters.clone(), link.clone());
        let doing = "begin to read";
        let reader = match timeout(config.publish_wait, begin).await {
            Ok(reader) => reader.map_err(|source| BusError::Unavailable { doing, source: source.into() })?,
            Err(source) => return Err(BusError::Unavailable { doing, source: source.into() }),
        };
        let rings = Arc::new(Rings::new(keys.wake.clone(), config.instance));
        let tasks = [
            tokio::spawn(reader.run()),
            tokio::spawn(rings.clone().tell(link.clone())),
            tokio::spawn(rings.clone().hear(client)),
        ];
        let (stream_len, heard_wait) = (config.stream_len, config.heard_wait);
        Ok(Self { hub, waiters, link, keys, stream_len, heard_wait, rings, tasks })
    }

    /// Returns the version of the server, as it says it.
    pub async fn server_version(&self) -> Result<String, BusError> {
        let mut commands = redis::pipe();
        commands.cmd("INFO").arg("server");
        let (said,): (String,) =
            self.link.run("ask for the version of the server", &commands, Resend::Harmless).await?;
        let version = said.lines().find_map(|line| line.strip_prefix("redis_version:"));
        Ok(version.unwrap_or_default().trim().to_owned())
    }

    /// Sends a request, and waits for an answer as long as somebody is there to give it.
    async fn ask(
        &self,
        request: &Message,
        wait: Duration,
        waiting: &mut Waiting<'_>,
    ) -> Result<Arc<Message>, RequestError> {
        let add = wire::add(&self.keys.topics, self.stream_len, &wire::encode(request));
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
        let commands = wire::ask(add, &self.keys.wait(waiting.correlation()), &self.keys.replies, wait_ms);
        self.link
            .run::<()>("send a request", &commands, Resend::Harmless)
            .await
            .map_err(RequestError::Bus)?;
        match timeout(self.heard_wait, &mut *waiting).await {
            Ok(answer) => answer,
            Err(_) if waiting.is_heard() => waiting.await,
            Err(_) => Err(RequestError::NoResponder),
        }
    }

    /// Says what speaks against publishing a message, and how many subscribers it has here.
    fn check(&self, message: &Arc<Message>) -> Result<usize, BusError> {
        let topic = topic_of(message)?;
        if message.is_expired(self.hub.clock().now()) {
            // It is counted and told of here, and troubles nobody else.
            drop(self.hub.publish(message));
            return Err(BusError::Expired);
        }
        Ok(self.hub.subscribers(topic))
    }
}

#[async_trait]
impl Bus for RedisBus {
    async fn publish(&self, message: Arc<Message>) -> Result<Published, BusError> {
        let subscribers = self.check(&message)?;
        let mut commands = redis::pipe();
        commands.add_command(wire::add(&self.keys.topics, self.stream_len, &wire::encode(&message))).ignore();
        self.link.run::<()>("publish a message", &commands, Resend::Harmless).await?;
        Ok(Published { subscribers })
    }

    fn subscribe(
        &self,
        pattern: TopicPattern,
        options: SubscribeOptions,
    ) -> Result<Subscription, SubscribeError> {
        self.hub.subscribe(pattern, options)
    }

    async fn request(&self, request: Arc<Message>, wait: Duration) -> Result<Arc<Message>, RequestError> {
        let mut waiting = self.waiters.wait(&request)?;
        self.check(&request).map_err(RequestError::Bus)?;
        match timeout(wait, self.ask(&request, wait, &mut waiting)).await {
            Ok(answer) => answer,
            Err(_) if waiting.is_heard() => Err(RequestError::Timeout(wait)),
            Err(_) => Err(RequestError::NoResponder),
        }
    }

    async fn respond(&self, response: Arc<Message>) -> Result<(), RespondError> {
        let correlation = answered(&response)?;
        if response.is_expired(self.hub.clock().now()) {
            return Err(RespondError::Expired);
        }
        let mut commands = redis::pipe();
        commands.add_command(wire::answer(&self.keys.wait(correlation), &wire::encode(&response)));
        let (given,): (bool,) =
            self.link.run("send a response", &commands, Resend::Never).await.map_err(RespondError::Bus)?;
        if given { Ok(()) } else { Err(RespondError::NobodyWaits(correlation)) }
    }

    fn ring(&self, agents: &[AgentId]) {
        self.rings.ring(agents);
    }

    fn hang_bell(&self, agent: AgentId) -> Result<Bell, SubscribeError> {
        self.rings.bells().hang(agent)
    }

    fn counts(&self) -> Counts {
        self.hub.counts()
    }

    async fn reachable(&self) -> Result<(), BusError> {
        let mut ping = redis::pipe();
        ping.cmd("PING").ignore();
        self.link.run::<()>("reach others", &ping, Resend::Harmless).await
    }
}

impl Drop for RedisBus {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        self.hub.close();
        self.waiters.close();
        self.rings.bells().close();
    }
}

impl fmt::Debug for RedisBus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisBus").field("keys", &self.keys).finish_non_exhaustive()
    }
}
