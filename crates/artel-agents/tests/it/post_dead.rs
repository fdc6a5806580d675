//! Dead letters when the store fails: they are tried again, and what cannot be kept is counted.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use artel_agents::DeadLetterBox;
use artel_bus::{DeadLetters, Undelivered};
use artel_model::id::{AgentId, CorrelationId, MessageId};
use artel_model::limit::SUBSCRIPTION_QUEUE_MAX;
use artel_model::message::{DeadLetter, DeadReason, Message, TopicPattern};
use artel_model::time::Timestamp;
use artel_store::contract::message_id;
use artel_store::{
    Mail, MailCounts, MailQuery, MailStore, MemoryStore, Page, PageRequest, Post, Posted, StoreError,
    TopicEvent,
};
use async_trait::async_trait;

use crate::post_house::about;

/// A store that keeps no dead letters for the first so many times.
struct Stumbling {
    store: MemoryStore,
    failures: AtomicUsize,
}

#[async_trait]
impl MailStore for Stumbling {
    async fn bury(&self, letters: Vec<DeadLetter>) -> Result<(), StoreError> {
        let left = self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        match left {
            Ok(_) => Err(StoreError::Full { what: "bury".to_owned(), source: "no space".into() }),
            Err(_) => self.store.bury(letters).await,
        }
    }

    async fn post(&self, post: Post) -> Result<Posted, StoreError> {
        self.store.post(post).await
    }

    async fn mailbox(&self, query: MailQuery) -> Result<Vec<Mail>, StoreError> {
        self.store.mailbox(query).await
    }

    async fn mark_read(&self, agent: AgentId, messages: &[MessageId]) -> Result<u64, StoreError> {
        self.store.mark_read(agent, messages).await
    }

    async fn take_answer(
        &self,
        asker: AgentId,
        correlation: CorrelationId,
        now: Timestamp,
    ) -> Result<Option<Message>, StoreError> {
        self.store.take_answer(asker, correlation, now).await
    }

    async fn keep_event(&self, message: Message, keep_max: usize) -> Result<u64, StoreError> {
        self.store.keep_event(message, keep_max).await
    }

    async fn topic_events(
        &self,
        pattern: &TopicPattern,
        after: u64,
        latest: bool,
        limit: usize,
    ) -> Result<Vec<TopicEvent>, StoreError> {
        self.store.topic_events(pattern, after, latest, limit).await
    }

    async fn sweep(&self, now: Timestamp, dead_max: usize) -> Result<u64, StoreError> {
        self.store.sweep(now, dead_max).await
    }

    async fn dead_letters(
        &self,
        recipient: Option<AgentId>,
        page: &PageRequest,
    ) -> Result<Page<DeadLetter>, StoreError> {
        self.store.dead_letters(recipient, page).await
    }

    async fn mail_counts(&self) -> Result<MailCounts, StoreError> {
        self.store.mail_counts().await
    }
}

fn letter(number: u128) -> Undelivered {
    let at = Timestamp::from_millis(1000);
    let message = Arc::new(about("a", "missed").send(message_id(number), at));
    Undelivered { message, recipient: None, reason: DeadReason::SubscriberBehind, at }
}

/// Takes letters while the store fails so often; returns how many are kept and how many are not.
async fn take(letters: usize, failures: usize) -> (u64, u64) {
    let store = Arc::new(Stumbling { store: MemoryStore::new(), failures: AtomicUsize::new(failures) });
    let dead = DeadLetterBox::open(store.clone());
    // The first ones are being buried when the others come.
    for number in 0..letters {
        dead.take(letter(number as u128));
        if number == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    dead.settle().await;
    let kept = store.mail_counts().await.unwrap().dead.iter().map(|(_, count)| count).sum();
    (kept, dead.unkept())
}

#[tokio::test(start_paused = true)]
async fn letters_are_brought_again_when_the_store_failed() {
    assert_eq!(take(3, 5).await, (3, 0));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_for_long_gets_the_later_ones_and_the_others_are_counted() {
    assert_eq!(take(3, 10).await, (2, 1));
}

#[tokio::test(start_paused = true)]
async fn those_for_whom_there_is_no_room_are_counted() {
    let too_many = SUBSCRIPTION_QUEUE_MAX + 8;
    let (kept, unkept) = take(too_many, 2).await;
    // The one in hand is given up for those who wait, and seven came when nobody could wait any more.
    assert_eq!((kept, unkept), (SUBSCRIPTION_QUEUE_MAX as u64, 8));
}
