//! The threads on which things are awaited.

use std::future::Future;

use crate::failure::Failure;

/// Threads that wait for processes, the store and the clock; the work itself is done elsewhere.
const THREADS: usize = 2;

/// Waits for something. What is still going on afterwards is left to end by itself.
pub(crate) fn wait_for<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .map_err(|error| Failure::missing(format!("cannot start threads: {error}")))?;
    let result = runtime.block_on(work);
    runtime.shutdown_background();
    result
}
