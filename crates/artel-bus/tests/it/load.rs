//! Many publishers and subscribers that come and go: every message is accounted for, at any moment.

use std::sync::Arc;

use artel_bus::{Bus, InProcessBus, SubscribeOptions, Subscription};
use proptest::prelude::*;
use tokio::task::JoinSet;

use crate::sample::{World, event};

const PUBLISHERS: u128 = 4;
const MESSAGES: u128 = 5000;

const OPTIONS: SubscribeOptions = SubscribeOptions { queue_max: 64, replay: 16, subscriber: None };

/// Comes and leaves, whatever still waits; returns how many messages it got.
async fn visit(bus: Arc<InProcessBus>, pattern: &'static str, stay: usize) -> u64 {
    let mut delivered = 0;
    for _ in 0..200 {
        let mut subscription = bus.subscribe(pattern.parse().unwrap(), OPTIONS).unwrap();
        for _ in 0..stay {
            delivered += u64::from(subscription.try_next().is_some());
            tokio::task::yield_now().await;
        }
    }
    delivered
}

async fn listen(mut subscription: Subscription) -> u64 {
    let mut delivered = 0;
    while subscription.next().await.is_some() {
        delivered += 1;
    }
    delivered
}

async fn publish(bus: Arc<InProcessBus>, publisher: u128) {
    for number in 0..MESSAGES {
        let topic = ["a.x", "b.x", "a.y.z"][(number % 3) as usize];
        bus.publish(event(publisher << 64 | number, topic)).await.unwrap();
        if number % 64 == 0 {
            let counts = bus.counts();
            assert!(counts.is_balanced(), "{counts:?}");
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_lost_silently_under_load() {
    let world = World::default();
    let bus = Arc::new(InProcessBus::new(world.config()));
    let (mut visitors, mut listeners, mut publishers) = (JoinSet::new(), JoinSet::new(), JoinSet::new());
    for (pattern, stay) in [("a.*", 50), ("b.x", 7), (">", 20)] {
        visitors.spawn(visit(bus.clone(), pattern, stay));
    }
    for pattern in ["a.>", "*.x", ">"] {
        listeners.spawn(listen(bus.subscribe(pattern.parse().unwrap(), OPTIONS).unwrap()));
    }
    for publisher in 0..PUBLISHERS {
        publishers.spawn(publish(bus.clone(), publisher));
    }
    publishers.join_all().await;
    let visited: u64 = visitors.join_all().await.into_iter().sum();
    while bus.counts().waiting > 0 {
        tokio::task::yield_now().await;
    }
    let counts = bus.counts();
    drop(bus);
    let listened: u64 = listeners.join_all().await.into_iter().sum();
    assert!(counts.is_balanced() && counts.published == (PUBLISHERS * MESSAGES) as u64, "{counts:?}");
    assert_eq!(counts.delivered, visited + listened);
    assert_eq!(counts.refused + counts.abandoned, world.dead().len() as u64);
}

#[derive(Clone, Debug)]
enum Act {
    Publish(u8, u8),
    Subscribe(u8),
    Leave(u8),
    Read(u8),
    Wait(u8),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (any::<u8>(), 0_u8..3).prop_map(|(number, topic)| Act::Publish(number, topic)),
        1 => any::<u8>().prop_map(Act::Subscribe),
        1 => any::<u8>().prop_map(Act::Leave),
        3 => any::<u8>().prop_map(Act::Read),
        1 => (0_u8..40).prop_map(Act::Wait),
    ]
}

proptest! {
    /// Whatever is done in whatever order, the numbers add up after every step, and each dead letter is counted.
    #[test]
    fn the_numbers_always_add_up(acts in prop::collection::vec(act(), 0..200)) {
        let world = World::default();
        let bus = InProcessBus::new(world.config());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut subscriptions = Vec::new();
        for act in acts {
            match act {
                Act::Publish(number, topic) => {
                    let topic = ["a", "b", "a.b"][usize::from(topic)];
                    drop(runtime.block_on(bus.publish(event(number.into(), topic))));
                }
                Act::Subscribe(kind) => {
                    let pattern = ["a", "*", ">", "a.*"][usize::from(kind % 4)].parse().unwrap();
                    let options = SubscribeOptions { queue_max: 3, replay: usize::from(kind % 5), subscriber: None };
                    subscriptions.push(bus.subscribe(pattern, options).unwrap());
                }
                Act::Leave(which) if !subscriptions.is_empty() => {
                    subscriptions.remove(usize::from(which) % subscriptions.len());
                }
                Act::Read(which) if !subscriptions.is_empty() => {
                    let at = usize::from(which) % subscriptions.len();
                    subscriptions[at].try_next();
                }
                Act::Wait(seconds) => world.time.pass(seconds.into()),
                Act::Leave(_) | Act::Read(_) => {}
            }
            let counts = bus.counts();
            prop_assert!(counts.is_balanced(), "{:?}", counts);
        }
    }
}
