//! Two processes with one store that hear each other through Redis: each has a bus and a post office of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use artel_agents::{Awaited, DeadLetterBox, Listener, Office, OfficeConfig, OfficeParts, ReadOptions};
use artel_bus::BusConfig;
use artel_engine::Clock;
use artel_model::message::{Address, MessageKind, Sender};
use artel_model::time::Timestamp;
use artel_store::MemoryStore;
use artel_store::contract::{AnyAgentStore, agent_id, agent_record, new_agent};
use tokio::time::timeout;

use crate::post_house::{AGENTS, NEVER_MS, about, correlated, draft, event, request, text};
use crate::redis_server::{OwnServer, Place};

const LONG: Duration = Duration::from_secs(30);

/// The post offices of two processes, on one store that each looks at only as often as is said.
async fn offices(place: &Place, poll_ms: u64) -> [Office; 2] {
    let store: Arc<dyn AnyAgentStore> = Arc::new(MemoryStore::new());
    for number in 1..=AGENTS {
        store.create_agent(new_agent(agent_record(number, None, 10))).await.unwrap().unwrap();
    }
    let clock = Clock::starting_at(Timestamp::from_millis(1000));
    [open(place, &store, clock, poll_ms).await, open(place, &store, clock, poll_ms).await]
}

/// Opens the post office of one process.
pub(crate) async fn open(
    place: &Place,
    store: &Arc<dyn AnyAgentStore>,
    clock: Clock,
    poll_ms: u64,
) -> Office {
    let dead = DeadLetterBox::open(store.clone());
    let bus_clock = artel_bus::Clock::new(move || clock.now());
    let bus = place.bus(BusConfig { clock: bus_clock, dead_letters: Arc::new(dead.clone()) }).await;
    let parts = OfficeParts {
        mail: store.clone(),
        waits: store.clone(),
        agents: store.clone(),
        runs: store.clone(),
        bus: Arc::new(bus),
        clock,
    };
    Office::with_dead_letters(OfficeConfig { poll_ms, ..OfficeConfig::default() }, parts, dead)
}

/// Waits for mail and returns what it says.
async fn mail(office: &Office, number: u128) -> Vec<String> {
    assert_eq!(office.wait_for_mail(agent_id(number), LONG).await.unwrap(), Awaited::Mail);
    let mail = office.read(agent_id(number), ReadOptions::default()).await.unwrap();
    mail.iter().map(|mail| text(&mail.message)).collect()
}

async fn answer(office: &Office, number: u128, says: &str) {
    office.wait_for_mail(agent_id(number), LONG).await.unwrap();
    let mail = office.read(agent_id(number), ReadOptions::default()).await.unwrap();
    let request = &mail[0].message;
    let Sender::Agent(asker) = request.sender else { panic!("from an agent") };
    let answer = draft(number, Address::Agent(asker), MessageKind::Response, says);
    office.send(correlated(request.correlation.unwrap(), answer)).await.unwrap();
}

async fn next(listener: &mut Listener) -> String {
    text(&timeout(LONG, listener.next()).await.expect("an event comes"))
}

#[tokio::test]
async fn who_waits_elsewhere_is_woken_without_looking() {
    let place = Place::any();
    let [here, there] = offices(&place, NEVER_MS).await;
    for number in 0..20 {
        let says = format!("{number}");
        let (read, sent) = tokio::join!(mail(&there, 2), here.send(event(1, 2, &says)));
        sent.unwrap();
        assert_eq!(read, [says]);
    }
    let everybody = draft(1, Address::Broadcast, MessageKind::Broadcast, "all");
    let (two, three, sent) = tokio::join!(mail(&there, 2), mail(&there, 3), here.send(everybody));
    sent.unwrap();
    assert_eq!((two, three), (vec!["all".to_owned()], vec!["all".to_owned()]));
}

#[tokio::test]
async fn requests_are_answered_through_redis_without_looking() {
    let place = Place::any();
    let [here, there] = offices(&place, NEVER_MS).await;
    for _ in 0..5 {
        let (answered, ()) = tokio::join!(here.request(request(1, 2), LONG), answer(&there, 2, "yes"));
        assert_eq!(text(&answered.unwrap()), "yes");
    }
}

#[tokio::test]
async fn events_are_heard_elsewhere_once_and_in_order_without_looking() {
    let place = Place::any();
    let [here, there] = offices(&place, NEVER_MS).await;
    let mut listener = there.listen("a.*".parse().unwrap(), 0).await.unwrap();
    for number in 0..50 {
        let office = if number % 2 == 0 { &here } else { &there };
        office.send(about("a.b", &format!("{number}"))).await.unwrap();
        office.send(about("b", "not this")).await.unwrap();
    }
    for number in 0..50 {
        assert_eq!(next(&mut listener).await, format!("{number}"));
    }
}

#[tokio::test]
async fn mail_and_events_come_while_redis_is_away_and_after() {
    let mut server = OwnServer::start();
    let [here, there] = offices(&Place::at(&server.url), 5).await;
    let mut listener = there.listen("a".parse().unwrap(), 0).await.unwrap();
    let mut heard = BTreeSet::new();
    for (round, order) in [None, Some("stop"), Some("start")].into_iter().enumerate() {
        if let Some(order) = order {
            server.order(order);
        }
        for number in 0..5 {
            let says = format!("{round}/{number}");
            let (read, sent) = tokio::join!(mail(&there, 2), here.send(event(1, 2, &says)));
            sent.unwrap();
            assert_eq!(read.join(","), says);
            here.send(about("a", &says)).await.unwrap();
        }
        for _ in 0..5 {
            let says = next(&mut listener).await;
            assert!(heard.insert(says.clone()), "{says} comes twice");
        }
        let (answered, ()) = tokio::join!(here.request(request(3, 4), LONG), answer(&there, 4, "yes"));
        assert_eq!(text(&answered.unwrap()), "yes");
    }
    assert_eq!(heard.len(), 15);
}

#[tokio::test]
async fn the_bus_is_used_again_when_redis_is_back() {
    let mut server = OwnServer::start();
    let [here, there] = offices(&Place::at(&server.url), NEVER_MS).await;
    server.order("stop");
    here.send(about("a", "nobody hears it live")).await.unwrap();
    server.order("start");
    let mut listener = there.listen("a".parse().unwrap(), 0).await.unwrap();
    // The bus is left alone for a while after it was away; then events are live again.
    let heard = timeout(LONG, async {
        loop {
            here.send(about("a", "live again")).await.unwrap();
            if let Ok(event) = timeout(Duration::from_millis(100), listener.next()).await {
                return text(&event);
            }
        }
    });
    assert_eq!(heard.await.expect("it is heard"), "live again");
    let (read, sent) = tokio::join!(mail(&there, 2), here.send(event(1, 2, "rung")));
    sent.unwrap();
    assert_eq!(read, ["rung"]);
}
