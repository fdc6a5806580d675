//! The connection that messages are published through. It is made when it is needed, and again after it failed; nobody
//! waits for it longer than was agreed.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ErrorKind, FromRedisValue, Pipeline, RedisError, ServerErrorKind,
};
use tokio::time::{sleep, timeout};

use crate::error::BusError;

/// How long one attempt to connect may take.
pub(super) const CONNECT_WAIT: Duration = Duration::from_secs(1);
/// How long to wait before the next attempt.
const PAUSE: Duration = Duration::from_millis(20);

/// Whether commands may be carried out twice, which happens when only the answer is lost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Resend {
    /// It does no harm: a message has an id.
    Harmless,
    /// It would make a difference.
    Never,
}

pub(super) struct Link {
    client: Client,
    /// How long all of it may take.
    wait: Duration,
    current: Mutex<Current>,
    /// Held by whoever connects, so that the others wait instead of connecting too.
    connecting: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Current {
    connection: Option<Connection>,
    last_number: u64,
}

#[derive(Clone)]
struct Connection {
    /// Tells a connection from its successor.
    number: u64,
    connection: MultiplexedConnection,
}

impl Link {
    pub(super) fn new(client: Client, wait: Duration) -> Self {
        Self { client, wait, current: Mutex::default(), connecting: tokio::sync::Mutex::default() }
    }

    /// Runs commands, and tries for as long as was agreed. An error leaves open whether they were carried out.
    pub(super) async fn run<T: FromRedisValue>(
        &self,
        doing: &'static str,
        commands: &Pipeline,
        resend: Resend,
    ) -> Result<T, BusError> {
        let mut used = None;
        match timeout(self.wait, self.send(commands, resend, &mut used)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(source)) => Err(BusError::Unavailable { doing, source: source.into() }),
            Err(source) => {
                // A connection that does not answer is not trusted again, even if it is still open.
                used.into_iter().for_each(|number| self.forget(number));
                Err(BusError::Unavailable { doing, source: source.into() })
            }
        }
    }

    async fn send<T: FromRedisValue>(
        &self,
        commands: &Pipeline,
        resend: Resend,
        used: &mut Option<u64>,
    ) -> Result<T, RedisError> {
        loop {
            let mut current = self.connection().await;
            *used = Some(current.number);
            let error = match commands.query_async(&mut current.connection).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            if error.is_io_error() || error.is_unrecoverable_error() {
                self.forget(current.number);
                if resend == Resend::Never {
                    return Err(error);
                }
            } else if error.kind() != ErrorKind::Server(ServerErrorKind::BusyLoading) {
                return Err(error);
            }
            sleep(PAUSE).await;
        }
    }

    /// Returns the connection, or tries to connect for as long as the caller waits.
    async fn connection(&self) -> Connection {
        if let Some(connection) = self.lock().connection.clone() {
            return connection;
        }
        let _turn = self.connecting.lock().await;
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_WAIT))
            .set_response_timeout(None);
        loop {
            // Somebody else may have connected while we waited for our turn.
            if let Some(connection) = self.lock().connection.clone() {
                return connection;
            }
            match self.client.get_multiplexed_async_connection_with_config(&config).await {
                Ok(connection) => self.remember(connection),
                Err(error) => {
                    tracing::debug!(%error, "Redis is away");
                    sleep(PAUSE).await;
                }
            }
        }
    }
    fn remember(&self, connection: MultiplexedConnection) {
        let mut current = self.lock();
        current.last_number += 1;
        current.connection = Some(Connection { number: current.last_number, connection });
    }

    /// Forgets the connection, if it is still the one with that number.
    fn forget(&self, number: u64) {
        self.lock().connection.take_if(|current| current.number == number);
    }

    fn lock(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
