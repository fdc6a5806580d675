//! Reads the streams and delivers what is in them. It goes on where it stopped, whatever happens to Redis.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use artel_model::id::CorrelationId;
use artel_model::limit::TOPIC_REPLAY_MAX;
use artel_model::message::{DeadReason, Message, MessageKind};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, ErrorKind, RedisError, RedisResult, Value};
use tokio::time::sleep;

use super::config::Keys;
use super::link::{CONNECT_WAIT, Link, Resend};
use super::position::{EntryId, Position, Resumed, Survey};
use super::wire::{self, Entry, RawEntry, Streams};
use crate::dead::Undelivered;
use crate::error::BusError;
use crate::hub::Hub;
use crate::waiters::Waiters;

/// Entries that are read at once.
const READ_MAX: usize = 128;
/// How long Redis keeps us waiting when there is nothing to read.
const BLOCK: Duration = Duration::from_secs(1);
/// How much later an answer may come before the connection counts as broken.
const ANSWER_WAIT: Duration = Duration::from_secs(2);
/// The first pause before connecting again; it doubles up to the longest.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_millis(500);

pub(super) struct Reader {
    pub(super) client: Client,
    pub(super) keys: Keys,
    pub(super) hub: Arc<Hub>,
    pub(super) waiters: Arc<Waiters>,
    pub(super) link: Arc<Link>,
    pub(super) topics: Position,
    pub(super) replies: Position,
    pub(super) pause: Duration,
}

impl Reader {
    /// Starts at the end of what Redis has, and keeps the last messages for those who come late.
    pub(super) async fn begin(
        client: Client,
        keys: Keys,
        hub: Arc<Hub>,
        waiters: Arc<Waiters>,
        link: Arc<Link>,
    ) -> RedisResult<Self> {
        let mut connection = connect(&client).await?;
        let topics = Position::end(survey(&mut connection, &keys.topics).await?);
        let mut last = redis::cmd("XREVRANGE");
        last.arg(&keys.topics).arg(topics.last.to_string()).arg("-").arg("COUNT").arg(TOPIC_REPLAY_MAX);
        let latest_first: Vec<RawEntry> = last.query_async(&mut connection).await?;
        for (_, fields) in latest_first.iter().rev() {
            if let Some(Entry::Message { message, reply_to: _ }) = wire::decode(fields) {
                hub.remember(&Arc::new(message));
            }
        }
        let (replies, pause) = (Position::default(), PAUSE_MIN);
        Ok(Self { client, keys, hub, waiters, link, topics, replies, pause })
    }

    /// Reads for ever.
    pub(super) async fn run(mut self) {
        loop {
            let Err(error) = self.follow().await;
            if self.pause == PAUSE_MIN {
                tracing::warn!(%error, "cannot read from Redis; trying again");
            }
            sleep(self.pause).await;
            self.pause = (self.pause * 2).min(PAUSE_MAX);
        }
    }

    /// Reads through one connection until it fails.
    async fn follow(&mut self) -> RedisResult<Infallible> {
        let mut connection = connect(&self.client).await?;
        self.resume(&mut connection).await?;
        self.pause = PAUSE_MIN;
        loop {
            let mut read = redis::cmd("XREAD");
            read.arg("COUNT").arg(READ_MAX).arg("BLOCK").arg(BLOCK.as_millis());
            read.arg("STREAMS").arg(&self.keys.topics).arg(&self.keys.replies);
            read.arg(self.topics.last.to_string()).arg(self.replies.last.to_string());
            let streams: Streams = read.query_async(&mut connection).await?;
            let Some(streams) = streams else {
                // At the end it shows whether anything is missing.
                self.resume(&mut connection).await?;
                continue;
            };
            let mut heard = Vec::new();
            for (key, entries) in streams {
                self.take(&key, &entries, &mut heard)?;
            }
            self.tell_heard(&heard).await;
        }
    }

    /// Finds out what happened to the streams while they were not read.
    async fn resume(&mut self, connection: &mut MultiplexedConnection) -> RedisResult<()> {
        match self.topics.resume(survey(connection, &self.keys.topics).await?) {
            Resumed::Whole => {}
            Resumed::Trimmed(lost) => {
                tracing::warn!(lost, "Redis let go of messages before they were read");
                self.hub.count(|counts| counts.lost += lost);
            }
            Resumed::Restarted => {
                tracing::warn!("Redis lost messages; reading what it has from the beginning");
            }
        }
        self.replies.resume(survey(connection, &self.keys.replies).await?);
        Ok(())
    }

    fn take(
        &mut self,
        key: &str,
        entries: &[RawEntry],
        heard: &mut Vec<(String, CorrelationId)>,
    ) -> RedisResult<()> {
        for (id, fields) in entries {
            let id: EntryId = id.parse().map_err(|error| nonsense("the id of an entry", error))?;
            let entry = wire::decode(fields);
            if key == self.keys.topics {
                self.topics.pass(id);
                heard.extend(self.take_published(entry));
            } else {
                self.replies.pass(id);
                self.take_reply(entry);
            }
        }
        Ok(())
    }

    /// Delivers a message; returns whom to tell that a request was taken.
    fn take_published(&self, entry: Option<Entry>) -> Option<(String, CorrelationId)> {
        let Some(Entry::Message { message, reply_to }) = entry else {
            self.hub.count(|counts| counts.unreadable += 1);
            return None;
        };
        let message = Arc::new(message);
        let subscribers = match self.hub.publish(&message) {
            Ok(published) => published.subscribers,
            // It was counted, and is a dead letter.
            Err(BusError::Expired | BusError::Closed) => 0,
            Err(
                BusError::NoTopic
                | BusError::Unavailable { .. }
                | BusError::Address { .. }
                | BusError::StreamLength(_),
            ) => {
                self.hub.count(|counts| counts.unreadable += 1);
                0
            }
        };
        let correlation = message.correlation.filter(|_| message.kind == MessageKind::Request)?;
        reply_to.filter(|_| subscribers > 0).map(|reply_to| (reply_to, correlation))
    }

    fn take_reply(&self, entry: Option<Entry>) {
        match entry {
            Some(Entry::Heard(correlation)) => self.waiters.hear(correlation),
            Some(Entry::Message { message, reply_to: _ }) => self.take_answer(Arc::new(message)),
            None => self.hub.count(|counts| counts.unreadable += 1),
        }
    }

    fn take_answer(&self, message: Arc<Message>) {
        let at = self.hub.clock().now();
        let reason = if message.is_expired(at) {
            DeadReason::Expired
        } else {
            let answered =
                message.correlation.map(|correlation| self.waiters.answer(correlation, message.clone()));
            if matches!(answered, Some(Ok(()))) {
                return;
            }
            DeadReason::RecipientEnded
        };
        self.hub.count(|counts| counts.unclaimed += 1);
        self.hub.bury(Undelivered { message, recipient: None, reason, at });
    }

    /// Tells those who asked that somebody took their requests. If that fails they may give up early, which is no worse than
    /// Redis being away.
    async fn tell_heard(&self, heard: &[(String, CorrelationId)]) {
        let (here, elsewhere): (Vec<_>, Vec<_>) =
            heard.iter().partition(|(reply_to, _)| *reply_to == self.keys.replies);
        here.iter().for_each(|(_, correlation)| self.waiters.hear(*correlation));
        if elsewhere.is_empty() {
            return;
        }
        let mut commands = redis::pipe();
        elsewhere.iter().for_each(|(to, correlation)| wire::tell_heard(&mut commands, to, *correlation));
        let told = self.link.run::<()>("tell that a request was taken", &commands, Resend::Harmless).await;
        if let Err(error) = told {
            tracing::debug!(%error, "a request was taken, and its sender not told");
        }
    }
}

async fn connect(client: &Client) -> RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(CONNECT_WAIT))
        .set_response_timeout(Some(BLOCK + ANSWER_WAIT));
    client.get_multiplexed_async_connection_with_config(&config).await
}

async fn survey(connection: &mut MultiplexedConnection, key: &str) -> RedisResult<Survey> {
    let mut commands = redis::pipe();
    commands.atomic().cmd("EXISTS").arg(key).cmd("XINFO").arg("STREAM").arg(key).ignore_errors();
    let (exists, reply): (bool, Value) = commands.query_async(connection).await?;
    if !exists {
        return Ok(Survey::Gone);
    }
    wire::survey(reply).ok_or_else(|| nonsense("what Redis says of a stream", key))
}

fn nonsense(what: &'static str, detail: impl ToString) -> RedisError {
    RedisError::from((ErrorKind::Parse, what, detail.to_string()))
}
