//! Two processes whose only link is one SQLite file: each has a store, a bus and a post office of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::time::Duration;

use artel_agents::{Awaited, OfficeConfig, ReadOptions};
use artel_model::message::{MessageDraft, MessageKind};
use artel_store::contract::{agent_id, message_id};

use crate::post_house::{AGENTS, House, about, event, request, sqlite, text};

const LONG: Duration = Duration::from_secs(30);

struct Street {
    here: House,
    there: House,
    _folder: tempfile::TempDir,
}

async fn street() -> Street {
    let folder = tempfile::tempdir().unwrap();
    let config = || OfficeConfig { poll_ms: 5, ..OfficeConfig::default() };
    let here = House::open_on(sqlite(&folder), config(), AGENTS).await;
    let there = here.other_process_on(sqlite(&folder), config());
    Street { here, there, _folder: folder }
}

#[tokio::test]
async fn mail_reaches_who_waits_elsewhere() {
    let street = street().await;
    let waiting = street.there.office.wait_for_mail(agent_id(2), LONG);
    let (waited, _) = tokio::join!(waiting, street.here.send(event(1, 2, "hello")));
    assert_eq!(waited.unwrap(), Awaited::Mail);
    assert_eq!(street.there.read(2).await, ["hello"]);
    let everything = ReadOptions { mark_read: false, with_read: true, limit: 10 };
    let mail = street.here.office.read(agent_id(2), everything).await.unwrap();
    assert!(mail[0].is_read, "it was read elsewhere");
}

#[tokio::test]
async fn a_request_is_answered_from_elsewhere_and_rings_are_seen() {
    let street = street().await;
    let (answer, ()) = tokio::join!(
        street.here.office.request(request(1, 2), LONG),
        street.there.answer(2, MessageKind::Response, "yes")
    );
    assert_eq!(text(&answer.unwrap()), "yes");

    let asking = tokio::spawn({
        let office = street.here.office.clone();
        async move { office.request(request(1, 2), LONG).await }
    });
    street.there.office.wait_for_mail(agent_id(2), LONG).await.unwrap();
    let error = street.there.office.request(request(2, 1), LONG).await.unwrap_err();
    assert_eq!(error.code(), "DEADLOCK");
    asking.abort();
}

#[tokio::test]
async fn a_message_is_the_same_wherever_it_is_sent() {
    let street = street().await;
    let draft = MessageDraft { id: Some(message_id(7)), ..event(1, 2, "once") };
    assert!(!street.here.office.send(draft.clone()).await.unwrap().is_duplicate);
    assert!(street.there.office.send(draft).await.unwrap().is_duplicate);
    assert_eq!(street.there.read(2).await, ["once"]);
}

#[tokio::test]
async fn events_are_heard_elsewhere_each_once() {
    let street = street().await;
    let mut listener = street.there.office.listen("a.*".parse().unwrap(), 0).await.unwrap();
    let mut sent = Vec::new();
    for number in 0..20 {
        let house = if number % 2 == 0 { &street.here } else { &street.there };
        sent.push(house.send(about("a.b", &format!("{number}"))).await.id);
    }
    let mut heard = Vec::new();
    while heard.len() < sent.len() {
        heard.push(tokio::time::timeout(LONG, listener.next()).await.unwrap().id);
    }
    heard.sort_unstable();
    sent.sort_unstable();
    assert_eq!(heard, sent);
}
