//! Where the bus leaves what subscribers did not get. Taking never waits; a task of its own brings it to the store, and tries
//! again when the store fails. What still cannot be kept is counted.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use artel_bus::{DeadLetters, Undelivered};
use artel_model::limit::SUBSCRIPTION_QUEUE_MAX;
use artel_model::message::{DeadLetter, DeadReason};
use artel_store::{MailStore, StoreError};
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use crate::metrics::DeadMeters;

/// How many are kept in one write.
const BATCH: usize = 256;
/// How often it is tried to keep the same letters, in about a quarter of a minute.
const ATTEMPTS_MAX: usize = 10;
/// The first pause before trying again; it doubles up to the longest.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Takes dead letters and keeps them in the store; clones are the same. What waits is still brought there when it is dropped.
#[derive(Clone)]
pub struct DeadLetterBox {
    queue: mpsc::Sender<Item>,
    meters: DeadMeters,
    losses: Arc<Losses>,
}

enum Item {
    Letter(Box<DeadLetter>),
    Settle(oneshot::Sender<()>),
}

impl DeadLetterBox {
    /// Opens a box for a store, within a runtime.
    pub fn open(mail: Arc<dyn MailStore>) -> Self {
        let (queue, items) = mpsc::channel(SUBSCRIPTION_QUEUE_MAX);
        let meters = DeadMeters::new();
        let losses = Arc::new(Losses { unkept: AtomicU64::new(0), meters: meters.clone() });
        tokio::spawn(bury(mail, items, losses.clone()));
        Self { queue, meters, losses }
    }

    /// Waits until everything that was taken before is kept, or counted as what cannot be.
    pub async fn settle(&self) {
        let (done, is_done) = oneshot::channel();
        // An error means that the runtime ends, and then nobody keeps anything.
        if self.queue.send(Item::Settle(done)).await.is_ok() {
            let _ = is_done.await;
        }
    }

    /// Returns how many could not be kept.
    pub fn unkept(&self) -> u64 {
        self.losses.unkept.load(Ordering::Relaxed)
    }

    pub(super) fn put(&self, letter: DeadLetter) {
        self.meters.add(letter.reason, 1);
        if let Err(refused) = self.queue.try_send(Item::Letter(Box::new(letter))) {
            self.losses.add(1, &refused);
        }
    }
}

impl DeadLetters for DeadLetterBox {
    fn take(&self, letter: Undelivered) {
        // Somebody without a name who stops to listen does not want what comes later: nothing is missed.
        if letter.reason != DeadReason::RecipientEnded || letter.recipient.is_some() {
            self.put(letter.into());
        }
    }
}

impl fmt::Debug for DeadLetterBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DeadLetterBox")
    }
}

/// What could not be kept.
struct Losses {
    unkept: AtomicU64,
    meters: DeadMeters,
}

impl Losses {
    fn add(&self, count: u64, error: &(dyn Error + 'static)) {
        self.meters.unkept.increment(count);
        let before = self.unkept.fetch_add(count, Ordering::Relaxed);
        let unkept = before + count;
        // Whoever reads the log should see that it grows, not every single one.
        if before.checked_ilog2() != unkept.checked_ilog2() {
            tracing::error!(error, unkept, "dead letters are not kept");
        }
    }
}

async fn bury(mail: Arc<dyn MailStore>, mut items: mpsc::Receiver<Item>, losses: Arc<Losses>) {
    let mut batch = Vec::with_capacity(BATCH);
    while items.recv_many(&mut batch, BATCH).await > 0 {
        let (mut letters, mut waiting) = (Vec::new(), Vec::new());
        for item in batch.drain(..) {
            match item {
                Item::Letter(letter) => letters.push(*letter),
                Item::Settle(done) => waiting.push(done),
            }
        }
        let count = letters.len();
        if count > 0
            && let Err(error) = keep(&*mail, letters, &items).await
        {
            losses.add(count as u64, &error);
        }
        for done in waiting {
            // Who asked may have gone.
            let _ = done.send(());
        }
    }
}

/// Keeps letters, and tries again for a while as long as others find room to wait. If the store only could not say that it
/// kept them, they are there twice, which is better than not at all.
async fn keep(
    mail: &dyn MailStore,
    letters: Vec<DeadLetter>,
    items: &mpsc::Receiver<Item>,
) -> Result<(), StoreError> {
    let mut pause = PAUSE_MIN;
    for _ in 1..ATTEMPTS_MAX {
        match mail.bury(letters.clone()).await {
            Ok(()) => return Ok(()),
            Err(error) if items.capacity() == 0 => return Err(error),
            Err(error) => tracing::warn!(error = &error as &dyn Error, "dead letters have to wait"),
        }
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
    mail.bury(letters).await
}
