//! What only a bus between processes can get wrong.

use std::time::Duration;

use artel_bus::{Bus as _, BusError, RedisBus, RedisBusConfig, RequestError, SubscribeOptions};
use uuid::Uuid;

use crate::proxy::{Line, Proxy};
use crate::sample::{PATIENCE, World, answer_to, event, next, number, request, take};
use crate::server::{OwnServer, Place};

fn everything() -> artel_model::message::TopicPattern {
    ">".parse().unwrap()
}

#[tokio::test]
async fn all_buses_hear_the_same_in_the_same_order() {
    let (place, world) = (Place::any(), World::default());
    let buses = [place.bus(world.config()).await, place.bus(world.config()).await];
    let mut subscriptions =
        [0, 1].map(|bus: usize| buses[bus].subscribe(everything(), SubscribeOptions::default()).unwrap());
    for number in 0..50 {
        buses[number % 2].publish(event(number as u128, "a")).await.unwrap();
    }
    for subscription in &mut subscriptions {
        assert!(take(subscription, 50).await.into_iter().eq(0..50));
    }
}

#[tokio::test]
async fn a_message_published_by_two_buses_is_delivered_once() {
    let (place, world) = (Place::any(), World::default());
    let (one, two) = (place.bus(world.config()).await, place.bus(world.config()).await);
    let mut subscription = one.subscribe(everything(), SubscribeOptions::default()).unwrap();
    for bus in [&one, &two, &one] {
        bus.publish(event(1, "a")).await.unwrap();
    }
    two.publish(event(2, "a")).await.unwrap();
    assert_eq!(take(&mut subscription, 2).await, [1, 2]);
}

#[tokio::test]
async fn a_bus_that_comes_late_knows_the_last_messages() {
    let (place, world) = (Place::any(), World::default());
    let early = place.bus(world.config()).await;
    for number in 1..=3 {
        early.publish(event(number, "a")).await.unwrap();
    }
    let late = place.bus(world.config()).await;
    let replay = SubscribeOptions { replay: 2, ..SubscribeOptions::default() };
    let mut subscription = late.subscribe(everything(), replay).unwrap();
    early.publish(event(4, "a")).await.unwrap();
    assert_eq!(take(&mut subscription, 3).await, [2, 3, 4]);
    assert_eq!(late.counts().published, 1);
}

#[tokio::test]
async fn requests_are_answered_from_elsewhere() {
    let (place, world) = (Place::any(), World::default());
    let (asks, answers) = (place.bus(world.config()).await, place.bus(world.config()).await);
    let mut requests = answers.subscribe("ask".parse().unwrap(), SubscribeOptions::default()).unwrap();
    let responder = tokio::spawn(async move {
        for _ in 0..20 {
            let asked = next(&mut requests).await.message;
            answers.respond(answer_to(&asked)).await.unwrap();
        }
    });
    for number in 0..20 {
        let asked = request(number, "ask");
        assert_eq!(asks.request(asked.clone(), PATIENCE).await.unwrap(), answer_to(&asked));
    }
    responder.await.unwrap();
}

#[tokio::test]
async fn a_request_that_was_heard_elsewhere_waits_for_its_answer() {
    let (place, world) = (Place::any(), World::default());
    let mut config = place.config(world.config());
    config.heard_wait = Duration::from_millis(200);
    let (asks, hears) = (RedisBus::connect(config).await.unwrap(), place.bus(world.config()).await);
    let mut requests = hears.subscribe("ask".parse().unwrap(), SubscribeOptions::default()).unwrap();
    let answer = asks.request(request(1, "ask"), Duration::from_millis(600)).await;
    assert!(matches!(answer, Err(RequestError::Timeout(_))), "{answer:?}");
    assert_eq!(number(&next(&mut requests).await.message), 1);
}

#[tokio::test]
async fn what_is_no_message_is_counted_and_passed_over() {
    let (place, world) = (Place::any(), World::default());
    let bus = place.bus(world.config()).await;
    let mut subscription = bus.subscribe(everything(), SubscribeOptions::default()).unwrap();
    let client = ::redis::Client::open(place.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut garbage = ::redis::cmd("XADD");
    garbage.arg(format!("{{{}}}:topics", place.prefix)).arg("*").arg("m").arg("{}");
    garbage.query_async::<()>(&mut connection).await.unwrap();
    bus.publish(event(1, "a")).await.unwrap();
    assert_eq!(take(&mut subscription, 1).await, [1]);
    assert_eq!(bus.counts().unreadable, 1);
}

#[tokio::test]
async fn what_redis_let_go_of_is_counted() {
    const MESSAGES: u128 = 1000;
    let server = OwnServer::start();
    let proxy = Proxy::start(server.socket()).await;
    let (place, world) = (Place::at(&server.url), World::default());
    let mut config = place.config(world.config());
    config.stream_len = 100;
    let writes = RedisBus::connect(config).await.unwrap();
    let reads = place.through(&proxy.url).bus(world.config()).await;
    let mut subscription = reads.subscribe(everything(), SubscribeOptions::default()).unwrap();
    writes.publish(event(0, "a")).await.unwrap();
    assert_eq!(take(&mut subscription, 1).await, [0]);
    proxy.set(Line::Cut);
    for number in 1..=MESSAGES {
        writes.publish(event(number, "a")).await.unwrap();
    }
    proxy.set(Line::Open);
    while take(&mut subscription, 1).await != [MESSAGES] {}
    let counts = reads.counts();
    assert!(counts.lost > 0, "{counts:?}");
    assert_eq!(u128::from(counts.published + counts.lost), MESSAGES + 1);
}

#[tokio::test]
async fn mistakes_are_told_and_passwords_are_not() {
    let world = World::default();
    let config = |url: &str| RedisBusConfig::new(url, Uuid::nil(), world.config());
    let secret = config("redis://:secret@localhost");
    assert!(!format!("{secret:?}").contains("secret"));
    let wrong = RedisBus::connect(config("http://localhost")).await;
    assert!(matches!(wrong, Err(BusError::Address { .. })), "{wrong:?}");
    let wrong = RedisBus::connect(RedisBusConfig { stream_len: 0, ..secret }).await;
    assert!(matches!(wrong, Err(BusError::StreamLength(0))), "{wrong:?}");
    let wrong = RedisBus::connect(config("redis+unix:///nowhere/socket")).await;
    assert!(matches!(wrong, Err(BusError::Unavailable { .. })), "{wrong:?}");
}
