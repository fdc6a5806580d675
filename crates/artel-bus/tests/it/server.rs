//! Where tests get a Redis: from `ARTEL_TEST_REDIS` if that is set, otherwise they start their own. Every bus has keys of
//! its own there.

use artel_bus::{BusConfig, KeyPrefix, RedisBus, RedisBusConfig};
use uuid::Uuid;

#[path = "own_server.rs"]
mod own_server;

pub(crate) use own_server::OwnServer;

/// A Redis, and a prefix that nobody else uses there.
pub(crate) struct Place {
    url: String,
    pub(crate) prefix: KeyPrefix,
    _own: Option<OwnServer>,
}

impl Place {
    #[expect(clippy::disallowed_methods, reason = "the one setting of these tests")]
    pub(crate) fn any() -> Self {
        match std::env::var("ARTEL_TEST_REDIS") {
            Ok(url) => Self { url, prefix: fresh_prefix(), _own: None },
            Err(_) => {
                let own = OwnServer::start();
                Self { url: own.url.clone(), prefix: fresh_prefix(), _own: Some(own) }
            }
        }
    }

    /// Makes a place on a server that somebody else looks after.
    pub(crate) fn at(url: &str) -> Self {
        Self { url: url.to_owned(), prefix: fresh_prefix(), _own: None }
    }

    /// Makes the same place reachable at another address.
    pub(crate) fn through(self, url: &str) -> Self {
        Self { url: url.to_owned(), ..self }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn config(&self, bus: BusConfig) -> RedisBusConfig {
        let mut config = RedisBusConfig::new(&self.url, Uuid::new_v4(), bus);
        config.prefix = self.prefix.clone();
        config
    }

    /// Returns one more bus that hears what the others of this place say.
    pub(crate) async fn bus(&self, bus: BusConfig) -> RedisBus {
        RedisBus::connect(self.config(bus)).await.expect("Redis is there")
    }
}

fn fresh_prefix() -> KeyPrefix {
    format!("test-{}", Uuid::new_v4().simple()).parse().expect("a prefix")
}

impl OwnServer {
    /// Returns where its socket is.
    pub(crate) fn socket(&self) -> &str {
        self.url.trim_start_matches("redis+unix://")
    }
}
