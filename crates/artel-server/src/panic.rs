//! A bug in one request must not hurt another.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

/// The work met a bug and was given up; the panic hook has told the operator.
pub(crate) struct Panicked;

/// Does the work, and survives a panic in it. What the work held is dropped, and nothing of it is used again.
pub(crate) async fn surviving<T>(work: impl Future<Output = T>) -> Result<T, Panicked> {
    let mut work = pin!(work);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
        Ok(polled) => polled.map(Ok),
        Err(_) => std::task::Poll::Ready(Err(Panicked)),
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_panics_is_given_up() {
        assert_eq!(surviving(async { 7 }).await.ok(), Some(7));
        let broken = surviving(async {
            tokio::task::yield_now().await;
            assert!(std::hint::black_box(false), "a bug");
        });
        assert!(broken.await.is_err());
    }
}
