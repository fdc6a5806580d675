//! Rings between processes: they take no room from messages, and come again when Redis does.

use std::time::Duration;

use artel_bus::{Bell, Bus as _, Heard, RedisBus};
use artel_model::id::AgentId;
use tokio::time::timeout;
use uuid::Uuid;

use crate::proxy::{Line, Proxy};
use crate::sample::{PATIENCE, World, event};
use crate::server::{OwnServer, Place};

fn agent(number: u128) -> AgentId {
    AgentId(Uuid::from_u128(number))
}

/// Rings on one bus until a bell on another one is heard.
async fn ring_until_heard(bus: &RedisBus, number: u128, bell: &mut Bell) {
    let rung = timeout(PATIENCE, async {
        loop {
            bus.ring(&[agent(number)]);
            if let Ok(heard) = timeout(Duration::from_millis(50), bell.rings()).await {
                return heard;
            }
        }
    });
    assert_eq!(rung.await.expect("it is heard"), Heard::Ring);
}

/// Waits until everything that one bus rang has come to another one, and until that hears it at all.
async fn settle(here: &RedisBus, there: &RedisBus) {
    // What is told at once is told in the order of the ids, and this is the last one.
    let last = u128::MAX;
    let mut bell = there.hang_bell(agent(last)).unwrap();
    ring_until_heard(here, last, &mut bell).await;
}

/// Says whether a bell has rung, and hushes it.
async fn has_rung(bell: &mut Bell) -> bool {
    timeout(Duration::ZERO, bell.rings()).await.is_ok()
}

#[tokio::test]
async fn one_ring_is_heard_elsewhere() {
    let (place, world) = (Place::any(), World::default());
    let (here, there) = (place.bus(world.config()).await, place.bus(world.config()).await);
    settle(&here, &there).await;
    let (mut bell, mut other) = (there.hang_bell(agent(1)).unwrap(), there.hang_bell(agent(2)).unwrap());
    here.ring(&[agent(1), agent(3)]);
    assert_eq!(timeout(PATIENCE, bell.rings()).await.expect("it rings"), Heard::Ring);
    here.ring(&[agent(2)]);
    assert_eq!(timeout(PATIENCE, other.rings()).await.expect("it rings"), Heard::Ring);
    assert!(!has_rung(&mut bell).await, "it rang for 2");
}

#[tokio::test]
async fn what_a_bus_rings_itself_does_not_come_back() {
    let (place, world) = (Place::any(), World::default());
    let (here, there) = (place.bus(world.config()).await, place.bus(world.config()).await);
    settle(&here, &there).await;
    settle(&there, &here).await;
    let (mut own, mut other) = (here.hang_bell(agent(1)).unwrap(), there.hang_bell(agent(1)).unwrap());
    here.ring(&[agent(1)]);
    assert!(has_rung(&mut own).await);
    assert_eq!(timeout(PATIENCE, other.rings()).await.expect("it rings"), Heard::Ring);
    // Whatever comes back has come before this.
    settle(&there, &here).await;
    assert!(!has_rung(&mut own).await, "its own ring came back");
}

#[tokio::test]
async fn rings_for_many_take_no_room_from_messages() {
    let (place, world) = (Place::any(), World::default());
    let mut config = place.config(world.config());
    config.stream_len = 100;
    let here = RedisBus::connect(config).await.unwrap();
    let there = place.bus(world.config()).await;
    for number in 0..50 {
        here.publish(event(number, "a")).await.unwrap();
    }
    let everybody: Vec<AgentId> = (0..30_000).map(agent).collect();
    let mut bell = there.hang_bell(agent(29_999)).unwrap();
    settle(&here, &there).await;
    here.ring(&everybody);
    assert_eq!(timeout(PATIENCE, bell.rings()).await.expect("it rings"), Heard::Ring);
    let client = ::redis::Client::open(place.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut length = ::redis::cmd("XLEN");
    length.arg(format!("{{{}}}:topics", place.prefix));
    assert_eq!(length.query_async::<u64>(&mut connection).await.unwrap(), 50);
    let counts = here.counts();
    assert!(counts.is_balanced() && counts.refused == 0 && counts.lost == 0, "{counts:?}");
}

#[tokio::test]
async fn bells_ring_again_when_redis_is_back() {
    let mut server = OwnServer::start();
    let (place, world) = (Place::at(&server.url), World::default());
    let (here, there) = (place.bus(world.config()).await, place.bus(world.config()).await);
    let mut bell = there.hang_bell(agent(1)).unwrap();
    ring_until_heard(&here, 1, &mut bell).await;
    server.order("stop");
    let mut own = here.hang_bell(agent(1)).unwrap();
    here.ring(&[agent(1)]);
    assert_eq!(timeout(PATIENCE, own.rings()).await.expect("here it rings without Redis"), Heard::Ring);
    server.order("start");
    ring_until_heard(&here, 1, &mut bell).await;
}

#[tokio::test]
async fn a_line_that_was_cut_is_made_again() {
    let server = OwnServer::start();
    let proxy = Proxy::start(server.socket()).await;
    let (place, world) = (Place::at(&server.url), World::default());
    let here = place.bus(world.config()).await;
    let there = place.through(&proxy.url).bus(world.config()).await;
    let mut bell = there.hang_bell(agent(1)).unwrap();
    ring_until_heard(&here, 1, &mut bell).await;
    proxy.set(Line::Cut);
    proxy.set(Line::Open);
    ring_until_heard(&here, 1, &mut bell).await;
}

#[tokio::test]
async fn what_is_no_ring_wakes_nobody() {
    let (place, world) = (Place::any(), World::default());
    let (here, there) = (place.bus(world.config()).await, place.bus(world.config()).await);
    settle(&here, &there).await;
    let mut bell = there.hang_bell(agent(1)).unwrap();
    let client = ::redis::Client::open(place.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    for garbage in [&b""[..], b"x", &[0; 47]] {
        let mut publish = ::redis::cmd("PUBLISH");
        publish.arg(format!("{{{}}}:wake", place.prefix)).arg(garbage);
        assert!(publish.query_async::<u64>(&mut connection).await.unwrap() >= 1);
    }
    settle(&here, &there).await;
    assert!(!has_rung(&mut bell).await);
    ring_until_heard(&here, 1, &mut bell).await;
}
