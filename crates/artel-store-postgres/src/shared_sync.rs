//! One sync at a time: those who ask while one is under way share the next. Knows nothing of servers.

use std::sync::atomic::{AtomicU64, Ordering};

use artel_store::StoreError;
use tokio::sync::Mutex;

/// Whose turn it is to sync.
#[derive(Debug, Default)]
pub(crate) struct SharedSync {
    /// Tickets that were given out.
    asked: AtomicU64,
    last: Mutex<Last>,
}

#[derive(Debug, Default)]
struct Last {
    /// Tickets up to this one were synced.
    synced: u64,
    /// Tickets up to this one were told of an error, unless they were synced.
    failed: Option<(u64, StoreError)>,
}

impl SharedSync {
    /// Syncs, or waits for somebody else's sync that begins after this call. Dropping it leaves the turn to the next.
    pub(crate) async fn share(
        &self,
        sync: impl Future<Output = Result<(), StoreError>> + Send,
    ) -> Result<(), StoreError> {
        let ticket = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let mut last = self.last.lock().await;
        if ticket <= last.synced {
            return Ok(());
        }
        if let Some((_, error)) = last.failed.as_ref().filter(|(failed, _)| ticket <= *failed) {
            return Err(told_again(error));
        }
        let covered = self.asked.load(Ordering::SeqCst);
        match sync.await {
            Ok(()) => last.synced = covered,
            Err(error) => {
                last.failed = Some((covered, told_again(&error)));
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Returns the same error for somebody else.
fn told_again(error: &StoreError) -> StoreError {
    let text = |source: &dyn std::error::Error| source.to_string().into();
    match error {
        StoreError::Unavailable { what, source } => {
            StoreError::Unavailable { what: what.clone(), source: text(&**source) }
        }
        StoreError::Full { what, source } => StoreError::Full { what: what.clone(), source: text(&**source) },
        StoreError::Lost { what, source } => StoreError::Lost { what: what.clone(), source: text(&**source) },
        StoreError::Corrupt { what, source } => {
            StoreError::Corrupt { what: what.clone(), source: text(&**source) }
        }
        StoreError::TooNew { found, known } => StoreError::TooNew { found: *found, known: *known },
        StoreError::UnknownCursor { cursor } => StoreError::UnknownCursor { cursor: cursor.clone() },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::Semaphore;
    use tokio::task::JoinSet;

    use super::*;

    /// Syncs that end when they are allowed to, and are counted.
    #[derive(Default)]
    struct Syncs {
        turns: SharedSync,
        begun: AtomicU64,
    }

    async fn ask(syncs: Arc<Syncs>, may_end: Arc<Semaphore>, error: Option<&'static str>) -> bool {
        let sync = async {
            syncs.begun.fetch_add(1, Ordering::SeqCst);
            may_end.acquire().await.expect("it is open").forget();
            match error {
                None => Ok(()),
                Some(text) => Err(StoreError::Full { what: "syncing".to_owned(), source: text.into() }),
            }
        };
        match syncs.turns.share(sync).await {
            Ok(()) => true,
            Err(StoreError::Full { .. }) => false,
            Err(other) => panic!("{other:?}"),
        }
    }

    /// Lets one ask, and nine more while that one syncs; returns the answers and how many syncs there were.
    async fn ten(errors: [Option<&'static str>; 2]) -> (Vec<bool>, u64) {
        let (syncs, may_end) = (Arc::new(Syncs::default()), Arc::new(Semaphore::new(0)));
        let mut asking = JoinSet::new();
        asking.spawn(ask(syncs.clone(), may_end.clone(), errors[0]));
        while syncs.begun.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        for _ in 0..9 {
            asking.spawn(ask(syncs.clone(), may_end.clone(), errors[1]));
        }
        while syncs.turns.asked.load(Ordering::SeqCst) < 10 {
            tokio::task::yield_now().await;
        }
        may_end.add_permits(10);
        let mut answers = asking.join_all().await;
        answers.sort_unstable();
        (answers, syncs.begun.load(Ordering::SeqCst))
    }

    #[tokio::test]
    async fn who_asks_during_a_sync_shares_the_next() {
        assert_eq!(ten([None, None]).await, (vec![true; 10], 2));
    }

    #[tokio::test]
    async fn a_failure_is_told_to_all_who_shared_it() {
        assert_eq!(ten([None, Some("the disk is full")]).await, ([&[false; 9][..], &[true]].concat(), 2));
        assert_eq!(ten([Some("the disk is full"), None]).await, ([&[false][..], &[true; 9]].concat(), 2));
    }

    #[tokio::test]
    async fn who_gives_up_leaves_the_turn_to_the_next() {
        let turns = SharedSync::default();
        {
            let mut never = std::pin::pin!(turns.share(std::future::pending()));
            let given_up =
                std::future::poll_fn(|context| std::task::Poll::Ready(never.as_mut().poll(context)));
            assert!(given_up.await.is_pending());
        }
        turns.share(async { Ok(()) }).await.unwrap();
    }
}
