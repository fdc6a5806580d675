//! The live bus: messages about topics to whoever listens, questions that are answered, and bells that ring. Within one process, or through
//! Redis between many. It keeps nothing for long: mail that must not be lost belongs to the stores. It knows nothing of
//! agents, runs or policies.

mod bells;
mod bus;
mod clock;
mod counts;
mod dead;
mod error;
mod hub;
mod in_process;
mod limit;
mod metrics;
mod queue;
mod redis;
mod replay;
mod routes;
mod seen;
mod subscription;
#[cfg(test)]
mod testing;
mod waiters;

pub use self::bells::{Bell, Heard};
pub use self::bus::{Bus, BusConfig, Published, SubscribeOptions};
pub use self::clock::Clock;
pub use self::counts::Counts;
pub use self::dead::{DeadLetters, NotCollected, Undelivered};
pub use self::error::{BusError, RequestError, RespondError, SubscribeError};
pub use self::in_process::InProcessBus;
pub use self::limit::{
    BELLS_MAX, REPLY_STREAM_LEN_MAX, REQUESTS_WAITING_MAX, RINGS_WAITING_MAX, SEEN_MESSAGES_MAX, STREAM_LEN,
    STREAM_LEN_MAX, SUBSCRIPTIONS_MAX,
};
pub use self::metrics::METRICS;
pub use self::redis::{KeyPrefix, KeyPrefixError, RedisBus, RedisBusConfig};
pub use self::subscription::{Delivery, Origin, Subscription};
