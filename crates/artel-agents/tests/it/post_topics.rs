//! Listening to topics through the post office: live, late, from elsewhere, and over a bus that falls.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use artel_agents::{Announce, Listener, OfficeConfig};
use artel_bus::{Bus, SubscribeOptions};
use artel_model::limit::TOPIC_REPLAY_MAX;
use artel_model::message::{Address, MessageDraft, MessageKind};
use artel_store::contract::{agent_id, message_id};
use tokio::time::Instant;

use crate::post_house::{House, about, draft, event, short_lived, text};

async fn listen(house: &House, pattern: &str, replay: usize) -> Listener {
    house.office.listen(pattern.parse().unwrap(), replay).await.unwrap()
}

/// Returns what is told until nothing comes for a while.
async fn heard(listener: &mut Listener) -> Vec<String> {
    let mut heard = Vec::new();
    while let Ok(event) = tokio::time::timeout(Duration::from_millis(500), listener.next()).await {
        heard.push(text(&event));
    }
    heard
}

#[tokio::test(start_paused = true)]
async fn live_events_come_at_once_and_once() {
    let house = House::quick().await;
    let mut listener = listen(&house, "work.*", 0).await;
    let begin = Instant::now();
    house.send(about("work.begun", "a")).await;
    house.send(about("play.begun", "not this")).await;
    house.send(about("work.done", "b")).await;
    let told = [listener.next().await, listener.next().await].map(|event| text(&event));
    assert_eq!((told, begin.elapsed()), (["a".to_owned(), "b".to_owned()], Duration::ZERO));
    assert_eq!(heard(&mut listener).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn who_comes_late_hears_the_last_ones_first_and_no_request() {
    let house = House::open(OfficeConfig::default()).await;
    house.send(short_lived(about("a", "expired"))).await;
    tokio::time::advance(Duration::from_secs(2)).await;
    for says in ["one", "two", "three"] {
        house.send(about("a", says)).await;
    }
    let asked = draft(1, Address::Topic("a".parse().unwrap()), MessageKind::Request, "asked");
    house.send(asked).await;
    let mut listener = listen(&house, "a", 2).await;
    house.send(about("a", "four")).await;
    assert_eq!(heard(&mut listener).await, ["two", "three", "four"]);
    assert_eq!(heard(&mut listen(&house, ">", 0).await).await, [""; 0]);
    assert_eq!(
        heard(&mut listen(&house, ">", TOPIC_REPLAY_MAX).await).await,
        ["one", "two", "three", "four"]
    );
    let too_many = house.office.listen(">".parse().unwrap(), TOPIC_REPLAY_MAX + 1).await;
    assert_eq!(too_many.unwrap_err().code(), "INVALID_PARAMETERS");
}

#[tokio::test(start_paused = true)]
async fn events_of_other_processes_come_through_the_store() {
    let house = House::open(OfficeConfig::default()).await;
    let other = house.other_process(OfficeConfig::default());
    let mut listener = listen(&house, "a.>", 0).await;
    other.send(about("a.b", "there 1")).await;
    other.send(about("b", "not this")).await;
    other.send(about("a.c", "there 2")).await;
    assert_eq!(heard(&mut listener).await, ["there 1", "there 2"]);
    let twice = MessageDraft { id: Some(message_id(7)), ..about("a.b", "both") };
    other.send(twice.clone()).await;
    house.send(twice).await;
    assert_eq!(heard(&mut listener).await, ["both"]);
}

#[tokio::test(start_paused = true)]
async fn events_that_were_kept_in_the_meantime_come_in_order() {
    let house = House::open(OfficeConfig::default()).await;
    let other = house.other_process(OfficeConfig::default());
    let mut listener = listen(&house, ">", 0).await;
    let mut sent = Vec::new();
    for number in 0..700 {
        let says = format!("{number}");
        if number % 2 == 0 { &house } else { &other }.send(about("a", &says)).await;
        sent.push(says);
    }
    let heard = heard(&mut listener).await;
    assert_eq!(heard, sent);
}

#[tokio::test(start_paused = true)]
async fn a_bus_that_falls_loses_no_event() {
    let house = House::open(OfficeConfig::default()).await;
    let mut listener = listen(&house, ">", 0).await;
    house.send(about("a", "before")).await;
    house.bus.fall();
    house.send(about("a", "while it is away")).await;
    assert_eq!(heard(&mut listener).await, ["before", "while it is away"]);
    house.bus.rise();
    house.send(about("a", "it is left alone for a while")).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(heard(&mut listener).await, ["it is left alone for a while"]);
    let begin = Instant::now();
    let (told, _) = tokio::join!(listener.next(), house.send(about("a", "live again")));
    assert_eq!((text(&told), begin.elapsed()), ("live again".to_owned(), Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_bus_that_hangs_holds_nobody_up_for_long() {
    let house = House::open(OfficeConfig::default()).await;
    house.bus.hang();
    let begin = Instant::now();
    house.send(event(1, 2, "mail")).await;
    assert_eq!(begin.elapsed(), Duration::ZERO);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let begin = Instant::now();
    house.send(about("a", "it is given a moment")).await;
    house.send(about("a", "and then left alone")).await;
    assert_eq!(begin.elapsed(), Duration::from_millis(250));
    let mut listener = listen(&house, ">", 0).await;
    house.send(about("a", "found in the store")).await;
    assert_eq!(heard(&mut listener).await, ["found in the store"]);
}

#[tokio::test(start_paused = true)]
async fn giving_up_the_wait_loses_nothing() {
    let house = House::open(OfficeConfig::default()).await;
    let other = house.other_process(OfficeConfig::default());
    let mut listener = listen(&house, ">", 0).await;
    let mut told = BTreeSet::new();
    for number in 0..200 {
        if number % 3 == 0 { &other } else { &house }.send(about("a", &format!("{number}"))).await;
        let wait = Duration::from_millis(number % 7);
        if let Ok(event) = tokio::time::timeout(wait, listener.next()).await {
            assert!(told.insert(text(&event)));
        }
    }
    let rest = heard(&mut listener).await;
    assert!(rest.into_iter().all(|says| told.insert(says)));
    assert_eq!(told.len(), 200);
}

#[tokio::test(start_paused = true)]
async fn nobody_hears_rings_and_they_are_no_dead_letters() {
    let house = House::open(OfficeConfig::default()).await;
    let mut listener = listen(&house, ">", 0).await;
    let (waited, ()) = tokio::join!(house.office.wait_for_mail(agent_id(2), Duration::from_secs(1)), async {
        for number in 0..10 {
            house.send(event(1, 2, &format!("{number}"))).await;
        }
    });
    waited.unwrap();
    assert_eq!(heard(&mut listener).await, [""; 0]);
    drop(listener);
    house.dead.settle().await;
    assert_eq!(house.dead_letters().await, []);
}

#[tokio::test(start_paused = true)]
async fn what_subscribers_of_the_bus_miss_is_a_dead_letter() {
    let house = House::quick().await;
    let options = SubscribeOptions { queue_max: 1, replay: 0, subscriber: Some(agent_id(3)) };
    let slow = house.bus.subscribe("a".parse().unwrap(), options).unwrap();
    house.send(about("a", "first")).await;
    house.send(about("a", "second")).await;
    drop(slow);
    house.dead.settle().await;
    let expected = [("recipient_ended", "first".to_owned()), ("subscriber_behind", "second".to_owned())];
    let mut found = house.dead_letters().await;
    found.sort();
    assert_eq!(found, expected);
}

#[tokio::test(start_paused = true)]
async fn what_is_announced_is_heard() {
    let house = House::quick().await;
    let mut listener = listen(&house, "agents.>", 0).await;
    let sent = house.send(about("agents.1.running", "it runs")).await;
    let again: Arc<dyn Announce> = Arc::new(house.office.clone());
    again.announce(artel_model::message::Message { id: message_id(9), ..sent }).await;
    assert_eq!(heard(&mut listener).await, ["it runs", "it runs"]);
}

#[tokio::test(start_paused = true)]
async fn who_is_far_behind_hears_every_event_once() {
    let house = House::open(OfficeConfig::default()).await;
    let mut listener = listen(&house, ">", 0).await;
    // Far more than is kept, and than is remembered: all of it waits on the bus.
    let events = 6 * TOPIC_REPLAY_MAX;
    for number in 0..events {
        house.send(about("a", &format!("{number}"))).await;
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let heard = heard(&mut listener).await;
    assert_eq!(heard.len(), events);
    assert_eq!(BTreeSet::from_iter(heard).len(), events);
}
