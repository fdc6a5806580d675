//! A few connections that read, each lent to one query at a time on a thread that may block.

use std::panic;
use std::sync::{Arc, Mutex, PoisonError};

use artel_store::StoreError;
use camino::Utf8Path;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::connection::open_reader;
use crate::failure::store_error;
use crate::metrics::ReadMeters;
use crate::options::SqliteOptions;

/// Connections that read.
#[derive(Debug)]
pub(crate) struct Readers {
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
    path: Arc<str>,
    meters: ReadMeters,
}

impl Readers {
    /// Opens as many as the options say.
    pub(crate) fn open(path: &Utf8Path, options: &SqliteOptions) -> Result<Self, StoreError> {
        let count = options.readers.max(1);
        let idle = (0..count).map(|_| open_reader(path, options)).collect::<Result<_, _>>()?;
        Ok(Self {
            idle: Arc::new(Mutex::new(idle)),
            permits: Arc::new(Semaphore::new(count)),
            path: path.as_str().into(),
            meters: ReadMeters::new(),
        })
    }

    /// Runs a query; `what` says what is read.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        what: &str,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let _reading = self.meters.reading();
        let permit = self.permits.clone().acquire_owned().await.expect("the semaphore is never closed");
        let idle = self.idle.clone();
        let run = move || {
            let lent = Lent::take(idle);
            let answer =
                query(lent.connection.as_ref().expect("a lent connection is there until it is dropped"));
            drop(lent);
            drop(permit);
            answer
        };
        let what = || format!("{what} in `{}`", self.path);
        match tokio::task::spawn_blocking(run).await {
            Ok(answer) => answer.map_err(|error| store_error(&what(), &error)),
            Err(error) if error.is_panic() => panic::resume_unwind(error.into_panic()),
            Err(error) => Err(StoreError::Unavailable { what: what(), source: error.into() }),
        }
    }
}

/// A connection that goes back when it is dropped, also after a panic.
struct Lent {
    connection: Option<Connection>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Lent {
    fn take(idle: Arc<Mutex<Vec<Connection>>>) -> Self {
        let connection = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Self { connection: Some(connection.expect("there are as many connections as permits")), idle }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(self.connection.take());
    }
}
