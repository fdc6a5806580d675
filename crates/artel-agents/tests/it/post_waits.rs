//! Waits for answers: they stand as long as somebody waits, not longer, and only an answer ends them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::time::Duration;

use artel_agents::{RequestError, SendError};
use artel_model::message::{Message, MessageKind, Wait};
use artel_store::contract::{agent_id, correlation};
use tokio::task::JoinHandle;

use crate::post_house::{House, correlated, draft, request, text, to};

const MINUTES: Duration = Duration::from_secs(600);
const SECOND: Duration = Duration::from_secs(1);

/// Lets one agent ask another one, and returns when the request has come.
async fn ask(house: &House, from: u128, whom: u128) -> JoinHandle<Result<Message, RequestError>> {
    let (office, ask) = (house.office.clone(), correlated(correlation(from), request(from, whom)));
    let asking = tokio::spawn(async move { office.request(ask, MINUTES).await });
    house.office.wait_for_mail(agent_id(whom), MINUTES).await.unwrap();
    asking
}

/// Asks and returns the code of why there is no answer.
async fn asked_in_vain(house: &House, from: u128, whom: u128) -> &'static str {
    house.office.request(request(from, whom), SECOND).await.unwrap_err().code()
}

#[tokio::test(start_paused = true)]
async fn a_wait_stands_as_long_as_somebody_waits() {
    let house = House::quick().await;
    let asking = ask(&house, 1, 2).await;
    for _ in 0..40 {
        tokio::time::sleep(Duration::from_secs(7)).await;
        assert_eq!(asked_in_vain(&house, 2, 1).await, "DEADLOCK");
    }
    asking.abort();
    tokio::task::yield_now().await;
    assert_eq!(asked_in_vain(&house, 2, 1).await, "TIMEOUT");
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_forgotten_soon_after_its_process_died() {
    let house = House::quick().await;
    let asking = ask(&house, 1, 2).await;
    // As others see it, with time going on and without a turn for who waits.
    let now = house.clock.now();
    let stands = Wait {
        waiter: agent_id(2),
        awaited: agent_id(1),
        correlation: correlation(9),
        since: now,
        until: now + 600_000,
    };
    // Half a minute after it was last noted it holds nobody, although its own time is not up.
    assert!(house.store.begin_wait(stands, now).await.unwrap().is_err());
    assert!(house.store.begin_wait(stands, now + 29_000).await.unwrap().is_err());
    assert!(house.store.begin_wait(stands, now + 30_000).await.unwrap().is_ok());
    asking.abort();
}

#[tokio::test(start_paused = true)]
async fn who_was_forgotten_and_closes_a_ring_is_told() {
    let house = House::quick().await;
    let asking = ask(&house, 1, 2).await;
    let now = house.clock.now();
    house.store.end_wait(agent_id(1), correlation(1)).await.unwrap();
    let back = Wait {
        waiter: agent_id(2),
        awaited: agent_id(1),
        correlation: correlation(9),
        since: now,
        until: now + 600_000,
    };
    assert!(house.store.begin_wait(back, now).await.unwrap().is_ok());
    assert_eq!(asking.await.unwrap().unwrap_err().code(), "DEADLOCK");
}

#[tokio::test(start_paused = true)]
async fn only_who_was_asked_ends_a_wait() {
    let house = House::quick().await;
    let asking = ask(&house, 1, 2).await;
    let from_3 = |kind| correlated(correlation(1), draft(3, to(1), kind, "not asked"));
    house.send(from_3(MessageKind::Error)).await;
    let refused = house.office.send(from_3(MessageKind::Response)).await.unwrap_err();
    assert!(matches!(refused, SendError::NoSuchRequest(_)), "{refused}");
    assert_eq!(asked_in_vain(&house, 2, 1).await, "DEADLOCK", "1 still waits for 2");
    house.answer(2, MessageKind::Error, "I cannot").await;
    assert_eq!(text(&asking.await.unwrap().unwrap()), "I cannot");
    assert_eq!(asked_in_vain(&house, 2, 1).await, "TIMEOUT");
}
