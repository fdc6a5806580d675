//! The bus through Redis: what callers hold. Reading and ringing are done by tasks of their own, which end with it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use artel_model::id::AgentId;
use artel_model::message::{Message, TopicPattern};
use async_trait::async_trait;
use redis::{Client, RedisResult};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

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

/// Pauses before Redis is looked for again at the start: the first, and the longest.
const BEGIN_PAUSE_MIN: Duration = Duration::from_millis(50);
const BEGIN_PAUSE_MAX: Duration = Duration::from_secs(2);

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
        let wait = config.publish_wait;
        let start = Start::new(config)?;
        let doing = "begin to read";
        let reader = match timeout(wait, start.reader()).await {
            Ok(reader) => reader.map_err(|source| BusError::Unavailable { doing, source: source.into() })?,
            Err(source) => return Err(BusError::Unavailable { doing, source: source.into() }),
        };
        let reading = tokio::spawn(reader.run());
        Ok(start.bus(reading))
    }

    /// Makes a bus whose Redis may be away. It begins to read as soon as Redis is there.
    pub fn connect_later(config: RedisBusConfig) -> Result<Self, BusError> {
        let start = Start::new(config)?;
        let later = start.clone();
        let reading = tokio::spawn(async move { later.read_when_there().await });
        Ok(start.bus(reading))
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

/// What a bus is made of before it reads.
#[derive(Clone)]
struct Start {
    client: Client,
    keys: Keys,
    hub: Arc<Hub>,
    waiters: Arc<Waiters>,
    link: Arc<Link>,
    rings: Arc<Rings>,
    stream_len: usize,
    heard_wait: Duration,
}

impl Start {
    fn new(config: RedisBusConfig) -> Result<Self, BusError> {
        if !(1..=STREAM_LEN_MAX).contains(&config.stream_len) {
            return Err(BusError::StreamLength(config.stream_len));
        }
        let client = Client::open(config.url.as_str())
            .map_err(|source| BusError::Address { source: source.into() })?;
        let keys = Keys::new(&config.prefix, config.instance);
        Ok(Self {
            hub: Arc::new(Hub::new(config.bus)),
            waiters: Arc::default(),
            link: Arc::new(Link::new(client.clone(), config.publish_wait)),
            rings: Arc::new(Rings::new(keys.wake.clone(), config.instance)),
            stream_len: config.stream_len,
            heard_wait: config.heard_wait,
            client,
            keys,
        })
    }

    async fn reader(&self) -> RedisResult<Reader> {
        let Self { client, keys, hub, waiters, link, .. } = self.clone();
        Reader::begin(client, keys, hub, waiters, link).await
    }

    async fn read_when_there(self) {
        let mut pause = BEGIN_PAUSE_MIN;
        loop {
            match self.reader().await {
                Ok(reader) => {
                    tracing::info!("Redis is there: messages go through it");
                    drop(self);
                    return reader.run().await;
                }
                Err(error) => tracing::debug!(%error, "Redis is away"),
            }
            sleep(pause).await;
            pause = (pause * 2).min(BEGIN_PAUSE_MAX);
        }
    }

    fn bus(self, reading: JoinHandle<()>) -> RedisBus {
        let Self { client, keys, hub, waiters, link, rings, stream_len, heard_wait } = self;
        let tasks = [
            reading,
            tokio::spawn(rings.clone().tell(link.clone())),
            tokio::spawn(rings.clone().hear(client)),
        ];
        RedisBus { hub, waiters, link, keys, stream_len, heard_wait, rings, tasks }
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
