//! Rings between processes: one channel of Redis, which keeps nothing. What is heard there is not trusted, and what is not
//! heard is found by whoever looks by itself.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use artel_model::id::AgentId;
use redis::{
    AsyncConnectionConfig, Client, ErrorKind, ProtocolVersion, PushInfo, PushKind, RedisError, RedisResult,
    Value,
};
use tokio::sync::Notify;
use tokio::time::sleep;
use uuid::Uuid;

use super::link::{CONNECT_WAIT, Link, Resend};
use crate::bells::Bells;
use crate::limit::RINGS_WAITING_MAX;

/// Agents that are told of in one go.
const AT_ONCE_MAX: usize = 1024;
const ID_BYTES: usize = 16;
/// How often to ask whether the connection still works, and how long the answer may take.
const ASK_AGAIN: Duration = Duration::from_secs(1);
const ANSWER_WAIT: Duration = Duration::from_secs(2);
/// The first pause before connecting again; it doubles up to the longest.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// The bells here, and what is to be told elsewhere.
pub(super) struct Rings {
    bells: Arc<Bells>,
    channel: String,
    instance: Uuid,
    /// For whom it rang here since it was last told.
    waiting: Mutex<BTreeSet<AgentId>>,
    has_waiting: Notify,
}

impl Rings {
    pub(super) fn new(channel: String, instance: Uuid) -> Self {
        let (bells, waiting) = (Arc::default(), Mutex::default());
        Self { bells, channel, instance, waiting, has_waiting: Notify::new() }
    }

    pub(super) fn bells(&self) -> &Arc<Bells> {
        &self.bells
    }

    /// Rings here, and soon elsewhere.
    pub(super) fn ring(&self, agents: &[AgentId]) {
        self.bells.ring(agents);
        let mut waiting = self.waiting();
        let room = RINGS_WAITING_MAX.saturating_sub(waiting.len());
        waiting.extend(agents.iter().take(room));
        drop(waiting);
        self.has_waiting.notify_one();
    }

    /// Tells elsewhere what rang here, for ever. What cannot be told is forgotten.
    pub(super) async fn tell(self: Arc<Self>, link: Arc<Link>) {
        loop {
            let some = self.take_waiting();
            if some.is_empty() {
                self.has_waiting.notified().await;
                continue;
            }
            let mut commands = redis::pipe();
            commands.cmd("PUBLISH").arg(&self.channel).arg(encode(self.instance, &some)).ignore();
            if let Err(error) = link.run::<()>("ring elsewhere", &commands, Resend::Harmless).await {
                tracing::debug!(%error, agents = some.len(), "nobody elsewhere is told to look");
            }
        }
    }

    /// Hears what rang elsewhere, for ever.
    pub(super) async fn hear(self: Arc<Self>, client: Client) {
        let mut pause = PAUSE_MIN;
        loop {
            let Err(error) = self.follow(&client, &mut pause).await;
            if pause == PAUSE_MIN {
                tracing::warn!(%error, "cannot hear rings through Redis; trying again");
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Hears through one connection until it fails.
    async fn follow(self: &Arc<Self>, client: &Client, pause: &mut Duration) -> RedisResult<Infallible> {
        let (rings, is_gone) = (Arc::clone(self), Arc::new(Notify::new()));
        let gone = Arc::clone(&is_gone);
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_WAIT))
            .set_response_timeout(Some(ANSWER_WAIT))
            .set_push_sender(move |push: PushInfo| {
                // Everything else are answers to subscribing, or was not asked for.
                if push.kind == PushKind::Message {
                    rings.take(&push.data);
                } else if push.kind == PushKind::Disconnection {
                    gone.notify_one();
                }
                Ok::<(), Infallible>(())
            });
        let mut connection = pushing(client)?.get_multiplexed_async_connection_with_config(&config).await?;
        connection.subscribe(&self.channel).await?;
        *pause = PAUSE_MIN;
        // It may have rung while nobody here could hear it.
        self.bells.ring_all();
        loop {
            tokio::select! {
                () = is_gone.notified() => return Err((ErrorKind::Io, "the connection was closed").into()),
                () = sleep(ASK_AGAIN) => redis::cmd("PING").query_async::<()>(&mut connection).await?,
            }
        }
    }

    /// Rings what rang elsewhere.
    fn take(&self, data: &[Value]) {
        let [_, Value::BulkString(payload)] = data else { return };
        match decode(payload) {
            // What this bus said itself has rung here before.
            Some((instance, _)) if instance == self.instance => {}
            Some((_, agents)) => self.bells.ring(&agents),
            None => tracing::debug!(bytes = payload.len(), "what came as a ring is none"),
        }
    }

    fn take_waiting(&self) -> Vec<AgentId> {
        let mut waiting = self.waiting();
        let some: Vec<AgentId> = waiting.iter().take(AT_ONCE_MAX).copied().collect();
        some.iter().for_each(|agent| {
            waiting.remove(agent);
        });
        some
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeSet<AgentId>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a client to which Redis may say something that it was not asked.
fn pushing(client: &Client) -> Result<Client, RedisError> {
    let info = client.get_connection_info().clone();
    let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    Client::open(info.set_redis_settings(settings))
}

/// Writes which bus rings and for whom.
fn encode(instance: Uuid, agents: &[AgentId]) -> Vec<u8> {
    let ids = agents.iter().flat_map(|AgentId(id)| id.into_bytes());
    instance.into_bytes().into_iter().chain(ids).collect()
}

/// Reads which bus rings and for whom; nothing when it is none of ours.
fn decode(payload: &[u8]) -> Option<(Uuid, Vec<AgentId>)> {
    let (ids, rest) = payload.as_chunks::<ID_BYTES>();
    let (instance, agents) = ids.split_first()?;
    let fits = rest.is_empty() && agents.len() <= AT_ONCE_MAX;
    fits.then(|| {
        let agents = agents.iter().map(|id| AgentId(Uuid::from_bytes(*id))).collect();
        (Uuid::from_bytes(*instance), agents)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agents(count: usize) -> Vec<AgentId> {
        (0..count as u128).map(|number| AgentId(Uuid::from_u128(number))).collect()
    }

    #[test]
    fn rings_are_read_as_they_were_written() {
        let instance = Uuid::from_u128(9);
        for count in [0, 1, AT_ONCE_MAX] {
            assert_eq!(decode(&encode(instance, &agents(count))), Some((instance, agents(count))));
        }
        for bad in [&[][..], &[0; 15], &[0; 33], &encode(instance, &agents(AT_ONCE_MAX + 1))] {
            assert_eq!(decode(bad), None);
        }
    }

    #[test]
    fn many_rings_for_one_are_told_once_and_only_so_many_wait() {
        let rings = Rings::new("wake".to_owned(), Uuid::nil());
        rings.ring(&[agents(1), agents(1), agents(2)].concat());
        assert_eq!((rings.take_waiting(), rings.take_waiting()), (agents(2), agents(0)));
        rings.ring(&agents(RINGS_WAITING_MAX + 5));
        assert_eq!(rings.waiting().len(), RINGS_WAITING_MAX);
        assert_eq!(rings.take_waiting(), agents(AT_ONCE_MAX));
    }
}
