//! Redis is killed, hangs, or loses its data: what it acknowledged arrives once, and nobody waits for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use artel_bus::{Bus as _, BusError, RedisBus, SubscribeOptions};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::proxy::{Line, Proxy};
use crate::sample::{PATIENCE, World, event, take};
use crate::server::{OwnServer, Place};

const MESSAGES: u128 = 10_000;
const PUBLISHERS: u128 = 50;

/// Publishes a share of the messages, each until it is acknowledged.
async fn publish_share(bus: Arc<RedisBus>, first: u128, acknowledged: Arc<AtomicU64>) {
    for number in (first..MESSAGES).step_by(PUBLISHERS as usize) {
        while let Err(error) = bus.publish(event(number, "a.b")).await {
            assert!(matches!(error, BusError::Unavailable { .. }), "{error:?}");
        }
        acknowledged.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_arrives_once_although_redis_is_killed_twice() {
    let mut server = OwnServer::start();
    let (place, world) = (Place::at(&server.url), World::default());
    let (one, two) = (Arc::new(place.bus(world.config()).await), place.bus(world.config()).await);
    let options = SubscribeOptions::default();
    let mut subscriptions = [
        one.subscribe("a.*".parse().unwrap(), options).unwrap(),
        two.subscribe(">".parse().unwrap(), options).unwrap(),
    ];
    let acknowledged = Arc::new(AtomicU64::new(0));
    let mut publishers = JoinSet::new();
    for first in 0..PUBLISHERS {
        publishers.spawn(publish_share(one.clone(), first, acknowledged.clone()));
    }
    for third in 1..=2 {
        while u128::from(acknowledged.load(Ordering::SeqCst)) < third * MESSAGES / 3 {
            tokio::task::yield_now().await;
        }
        assert!(!publishers.is_empty());
        tokio::task::block_in_place(|| server.order("restart"));
    }
    for subscription in &mut subscriptions {
        let mut numbers = take(subscription, MESSAGES as usize).await;
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..MESSAGES));
    }
    publishers.join_all().await;
    for (bus, subscription) in [&*one, &two].into_iter().zip(&mut subscriptions) {
        bus.publish(event(MESSAGES, "a.b")).await.unwrap();
        bus.publish(event(MESSAGES + 1, "a.b")).await.unwrap();
        // Whatever came twice would be in between.
        assert_eq!(take(subscription, 2).await, [MESSAGES, MESSAGES + 1]);
        let counts = bus.counts();
        assert!(counts.is_balanced() && counts.lost == 0, "{counts:?}");
    }
}

#[tokio::test]
async fn a_redis_that_lost_its_data_is_read_from_its_beginning() {
    let mut server = OwnServer::start();
    let (place, world) = (Place::at(&server.url), World::default());
    let (one, two) = (place.bus(world.config()).await, place.bus(world.config()).await);
    let mut subscription = one.subscribe(">".parse().unwrap(), SubscribeOptions::default()).unwrap();
    for number in 0..10 {
        two.publish(event(number, "a")).await.unwrap();
    }
    assert_eq!(take(&mut subscription, 10).await.len(), 10);
    server.order("lose");
    server.order("start");
    for number in 10..15 {
        two.publish(event(number, "a")).await.unwrap();
    }
    assert!(take(&mut subscription, 5).await.into_iter().eq(10..15));
}

#[tokio::test]
async fn a_redis_that_is_away_is_told_and_welcomed_back() {
    let mut server = OwnServer::start();
    let (place, world) = (Place::at(&server.url), World::default());
    let mut config = place.config(world.config());
    config.publish_wait = Duration::from_millis(300);
    let bus = RedisBus::connect(config).await.unwrap();
    let mut subscription = bus.subscribe("a".parse().unwrap(), SubscribeOptions::default()).unwrap();
    server.order("stop");
    for _ in 0..2 {
        let refused = timeout(PATIENCE, bus.publish(event(1, "a"))).await.expect("it does not hang");
        assert!(matches!(refused, Err(BusError::Unavailable { .. })), "{refused:?}");
    }
    server.order("start");
    bus.publish(event(1, "a")).await.unwrap();
    assert_eq!(take(&mut subscription, 1).await, [1]);
}

#[tokio::test]
async fn a_redis_that_hangs_is_told_and_left() {
    let server = OwnServer::start();
    let proxy = Proxy::start(server.socket()).await;
    let (place, world) = (Place::at(&proxy.url), World::default());
    let mut config = place.config(world.config());
    config.publish_wait = Duration::from_millis(300);
    let bus = RedisBus::connect(config).await.unwrap();
    let mut subscription = bus.subscribe("a".parse().unwrap(), SubscribeOptions::default()).unwrap();
    bus.publish(event(1, "a")).await.unwrap();
    proxy.set(Line::Hung);
    for _ in 0..2 {
        let refused = timeout(PATIENCE, bus.publish(event(2, "a"))).await.expect("it does not hang");
        assert!(matches!(refused, Err(BusError::Unavailable { .. })), "{refused:?}");
    }
    proxy.set(Line::Open);
    bus.publish(event(2, "a")).await.unwrap();
    assert_eq!(take(&mut subscription, 2).await, [1, 2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bus_that_began_without_redis_is_used_when_redis_is_there() {
    let mut server = OwnServer::start();
    let (place, world) = (Place::at(&server.url), World::default());
    tokio::task::block_in_place(|| server.order("stop"));
    let late = RedisBus::connect_later(place.config(world.config())).unwrap();
    let mut subscription = late.subscribe("a.*".parse().unwrap(), SubscribeOptions::default()).unwrap();
    assert!(matches!(late.reachable().await, Err(BusError::Unavailable { .. })));
    tokio::task::block_in_place(|| server.order("start"));
    let other = place.bus(world.config()).await;
    // What is published before it reads is not delivered.
    let mut number = 0;
    loop {
        other.publish(event(number, "a.b")).await.unwrap();
        if timeout(Duration::from_millis(200), take(&mut subscription, 1)).await.is_ok() {
            break;
        }
        number += 1;
    }
    late.reachable().await.unwrap();
}
