//! The post office: mailboxes, requests, and what is refused.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::sync::Arc;
use std::time::Duration;

use artel_agents::{Announce, Awaited, OfficeConfig, OfficeCounts, ReadOptions, RequestError, SendError};
use artel_model::message::{Address, DeadReason, MessageDraft, MessageKind};
use artel_store::AgentStore;
use artel_store::contract::{agent_id, agent_record, correlation, message_id, new_agent};
use tokio::time::Instant;

use crate::post_house::{
    House, NEVER_MS, correlated, draft, event, ids, request, short_lived, text, to, urgent,
};

const LONG: Duration = Duration::from_secs(30);

#[tokio::test(start_paused = true)]
async fn mail_comes_by_priority_then_time() {
    let house = House::quick().await;
    for (priority, says) in [(5, "c"), (9, "e"), (1, "a")] {
        house.send(urgent(priority, event(1, 2, says))).await;
    }
    tokio::time::advance(Duration::from_millis(1)).await;
    for (priority, says) in [(5, "d"), (1, "b")] {
        house.send(urgent(priority, event(3, 2, says))).await;
    }
    assert_eq!(house.read(2).await, ["a", "b", "c", "d", "e"]);
    assert_eq!(house.read(2).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn peeking_leaves_mail_unread_and_what_was_read_is_still_there() {
    let house = House::quick().await;
    let sent = house.send(event(1, 2, "a")).await;
    let read = async |mark_read, with_read| {
        let options = ReadOptions { mark_read, with_read, limit: 10 };
        let mail = house.office.read(agent_id(2), options).await.unwrap();
        mail.into_iter().map(|mail| mail.is_read).collect::<Vec<bool>>()
    };
    assert_eq!(read(false, false).await, [false]);
    assert_eq!(read(false, true).await, [false]);
    assert_eq!(house.office.mark_read(agent_id(2), &[sent.id]).await.unwrap(), 1);
    assert_eq!(read(true, false).await, [false; 0]);
    assert_eq!(read(false, true).await, [true]);
}

#[tokio::test(start_paused = true)]
async fn expired_mail_is_not_read_and_becomes_a_dead_letter_by_itself() {
    let config = OfficeConfig { poll_ms: NEVER_MS, sweep_ms: 5000, ..OfficeConfig::default() };
    let house = House::open(config).await;
    house.send(short_lived(event(1, 2, "late"))).await;
    tokio::time::advance(Duration::from_millis(1000)).await;
    assert_eq!(house.read(2).await, [""; 0]);
    assert_eq!(house.dead_letters().await, []);
    tokio::time::sleep(Duration::from_millis(10_000)).await;
    assert_eq!(house.dead_letters().await, [("expired", "late".to_owned())]);
    let counts = OfficeCounts { dead: vec![(DeadReason::Expired, 1)], ..OfficeCounts::default() };
    assert_eq!(house.office.counts().await.unwrap(), counts);
    assert_eq!(house.office.sweep().await.unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_broadcast_reaches_everybody_else_each_with_a_copy() {
    let house = House::quick().await;
    let sent = house.office.send(draft(2, Address::Broadcast, MessageKind::Broadcast, "hi")).await.unwrap();
    assert_eq!(sent.recipients, ids(&[1, 3, 4]));
    assert_eq!((house.read(1).await, house.read(2).await), (vec!["hi".to_owned()], vec![]));
    assert_eq!(house.read(3).await, ["hi"]);
    assert_eq!(house.read(3).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_broadcast_to_a_full_mailbox_is_a_dead_letter() {
    let config = OfficeConfig { mailbox_max: 1, poll_ms: NEVER_MS, ..OfficeConfig::default() };
    let house = House::open(config).await;
    house.send(event(1, 2, "first")).await;
    let refused = house.office.send(event(1, 2, "second")).await.unwrap_err();
    assert_eq!((refused.code(), matches!(refused, SendError::MailboxFull(_))), ("MAILBOX_FULL", true));
    let sent = house.office.send(draft(1, Address::Broadcast, MessageKind::Broadcast, "all")).await.unwrap();
    assert_eq!(sent.recipients, ids(&[3, 4]));
    assert_eq!(house.dead_letters().await, [("mailbox_full", "all".to_owned())]);
    assert_eq!(house.read(2).await, ["first"]);
}

#[tokio::test(start_paused = true)]
async fn sending_twice_with_one_id_sends_once() {
    let house = House::quick().await;
    let twice = MessageDraft { id: Some(message_id(7)), ..event(1, 2, "a") };
    let (first, second) =
        (house.office.send(twice.clone()).await.unwrap(), house.office.send(twice).await.unwrap());
    assert_eq!((first.is_duplicate, second.is_duplicate), (false, true));
    assert_eq!((first.recipients, second.recipients), (ids(&[2]), vec![]));
    assert_eq!(first.message, second.message);
    assert_eq!(house.read(2).await, ["a"]);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_sent_is_told_with_a_code() {
    let house = House::quick().await;
    house.terminate(4).await;
    let answer = |from, recipient| {
        correlated(correlation(5), draft(from, to(recipient), MessageKind::Response, "yes"))
    };
    let topic =
        |topic: &str, from| draft(from, Address::Topic(topic.parse().unwrap()), MessageKind::Event, "so");
    let cases = [
        ("UNKNOWN_AGENT", event(1, 9, "")),
        ("AGENT_TERMINATED", event(1, 4, "")),
        ("UNKNOWN_SENDER", event(9, 1, "")),
        ("SENDER_TERMINATED", event(4, 1, "")),
        ("UNKNOWN_SENDER", topic("a.b", 9)),
        ("SENDER_TERMINATED", topic("a.b", 4)),
        ("NO_SUCH_REQUEST", answer(1, 2)),
        ("INVALID_MESSAGE", draft(1, to(2), MessageKind::Response, "to what?")),
        ("INVALID_MESSAGE", draft(1, to(2), MessageKind::Broadcast, "to one?")),
    ];
    for (code, draft) in cases {
        let told = format!("{draft:?}");
        let error = house.office.send(draft.clone()).await.unwrap_err();
        assert_eq!(error.code(), code, "{told}");
        let announced = Announce::send(&house.office, draft).await.unwrap_err();
        assert!(announced.starts_with(&format!("{code}: ")), "{announced}");
    }
    assert_eq!(house.office.counts().await.unwrap(), OfficeCounts::default());
    let unknown = house.office.read(agent_id(9), ReadOptions::default()).await.unwrap_err();
    assert_eq!(unknown.code(), "UNKNOWN_AGENT");
    assert_eq!(house.office.wait_for_mail(agent_id(4), LONG).await.unwrap_err().code(), "AGENT_TERMINATED");
}

#[tokio::test(start_paused = true)]
async fn what_team_agents_say_to_each_other_has_a_shape() {
    let house = House::quick().await;
    let mut member = agent_record(8, None, 10);
    member.spec.role = Some("modeler".parse().unwrap());
    AgentStore::create_agent(&*house.store, new_agent(member)).await.unwrap().unwrap();
    for (from, recipient) in [(8, 1), (1, 8)] {
        let error = house.office.send(request(from, recipient)).await.unwrap_err();
        assert!(error.to_string().contains("/payload/request_type"), "{error}");
    }
    house.send(request(1, 2)).await;
    house.send(event(8, 1, "events are free")).await;
}

#[tokio::test(start_paused = true)]
async fn a_request_is_answered_at_once() {
    let house = House::quick().await;
    let begin = Instant::now();
    for kind in [MessageKind::Response, MessageKind::Error] {
        let (answer, ()) =
            tokio::join!(house.office.request(request(1, 2), LONG), house.answer(2, kind, "done"));
        let answer = answer.unwrap();
        assert_eq!((answer.kind, text(&answer)), (kind, "done".to_owned()));
    }
    assert_eq!(begin.elapsed(), Duration::ZERO);
    assert_eq!(house.read(1).await, [""; 0], "an answer that was waited for is read");
}

#[tokio::test(start_paused = true)]
async fn a_request_to_everybody_takes_the_first_answer() {
    let house = House::quick().await;
    let everybody = draft(1, Address::Broadcast, MessageKind::Request, "who?");
    let (answer, ()) =
        tokio::join!(house.office.request(everybody, LONG), house.answer(3, MessageKind::Response, "me"));
    assert_eq!(text(&answer.unwrap()), "me");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_asked_is_not_sent() {
    let house = House::quick().await;
    let cases = [
        (event(1, 2, ""), LONG),
        (request(0, 2), LONG),
        (draft(1, Address::Topic("a".parse().unwrap()), MessageKind::Request, ""), LONG),
        (request(1, 2), Duration::from_secs(3601)),
    ];
    for (draft, timeout) in cases {
        let error = house.office.request(draft, timeout).await.unwrap_err();
        assert_eq!(error.code(), "INVALID_MESSAGE", "{error}");
    }
    let unknown = house.office.request(request(1, 9), LONG).await.unwrap_err();
    assert_eq!(unknown.code(), "UNKNOWN_AGENT");
    assert_eq!(house.office.counts().await.unwrap(), OfficeCounts::default());
}

#[tokio::test(start_paused = true)]
async fn a_request_without_an_answer_ends_in_time_and_so_does_its_wait() {
    let house = House::quick().await;
    let begin = Instant::now();
    let error = house.office.request(request(1, 2), Duration::from_secs(3)).await.unwrap_err();
    assert_eq!((error.code(), begin.elapsed()), ("TIMEOUT", Duration::from_secs(3)));
    let back = house.office.request(request(2, 1), Duration::from_secs(1)).await.unwrap_err();
    assert_eq!(back.code(), "TIMEOUT", "nobody waits for 2 any longer");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_given_up_ends_its_wait() {
    let house = House::quick().await;
    assert!(
        tokio::time::timeout(Duration::from_secs(1), house.office.request(request(1, 2), LONG))
            .await
            .is_err()
    );
    tokio::task::yield_now().await;
    let (answer, ()) =
        tokio::join!(house.office.request(request(2, 1), LONG), house.answer(1, MessageKind::Response, "ok"));
    assert_eq!(text(&answer.unwrap()), "ok");
}

/// Lets agents ask each other in a ring, and returns what the last of them is told.
async fn ask_around(house: &House, ring: &[u128]) -> RequestError {
    let (last, others) = ring.split_last().unwrap();
    let mut waiting = Vec::new();
    for (at, asker) in others.iter().enumerate() {
        let (office, ask) = (house.office.clone(), request(*asker, ring[at + 1]));
        waiting.push(tokio::spawn(async move { office.request(ask, LONG).await }));
        house.office.wait_for_mail(agent_id(ring[at + 1]), LONG).await.unwrap();
    }
    let error = house.office.request(request(*last, ring[0]), LONG).await.unwrap_err();
    waiting.iter().for_each(tokio::task::JoinHandle::abort);
    error
}

#[tokio::test(start_paused = true)]
async fn agents_that_would_wait_for_each_other_are_told_the_ring_at_once() {
    for ring in [&[2_u128, 1][..], &[1, 3, 2], &[1]] {
        let house = House::quick().await;
        let begin = Instant::now();
        let error = ask_around(&house, ring).await;
        assert_eq!((error.code(), begin.elapsed()), ("DEADLOCK", Duration::ZERO));
        let RequestError::Deadlock { ring: told } = error else { panic!("a ring") };
        let (last, others) = ring.split_last().unwrap();
        assert_eq!(told, ids(&[&[*last], others].concat()));
        assert_eq!(house.read(ring[0]).await, [""; 0], "the last request was not sent");
    }
}

#[tokio::test(start_paused = true)]
async fn who_has_answered_may_ask_back() {
    for kind in [MessageKind::Response, MessageKind::Error] {
        let house = House::quick().await;
        let (office, ask) = (house.office.clone(), request(1, 2));
        let asking = tokio::spawn(async move { office.request(ask, LONG).await });
        house.answer(2, kind, "first").await;
        // The answer lies there, but who asked has had no turn to take it.
        let back = house.office.request(request(2, 1), Duration::from_secs(1)).await.unwrap_err();
        assert_eq!(back.code(), "TIMEOUT");
        assert_eq!(text(&asking.await.unwrap().unwrap()), "first");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wake_up_comes_at_once() {
    let house = House::quick().await;
    let begin = Instant::now();
    let waited = house.office.wait_for_mail(agent_id(2), LONG);
    let (waited, _) = tokio::join!(waited, house.send(event(1, 2, "a")));
    assert_eq!((waited.unwrap(), begin.elapsed()), (Awaited::Mail, Duration::ZERO));
    let broadcast = house.send(draft(1, Address::Broadcast, MessageKind::Broadcast, "b"));
    let (waited, _) = tokio::join!(house.office.wait_for_mail(agent_id(3), LONG), broadcast);
    assert_eq!((waited.unwrap(), begin.elapsed()), (Awaited::Mail, Duration::ZERO));
    let nothing = house.office.wait_for_mail(agent_id(1), LONG).await.unwrap();
    assert_eq!((nothing, begin.elapsed()), (Awaited::TimeUp, LONG));
}

#[tokio::test(start_paused = true)]
async fn without_the_bus_mail_is_found_at_the_next_look() {
    let house = House::open(OfficeConfig { poll_ms: 50, ..OfficeConfig::default() }).await;
    let other = house.other_process(OfficeConfig { poll_ms: 50, ..OfficeConfig::default() });
    let wait = || house.office.wait_for_mail(agent_id(2), LONG);

    let begin = Instant::now();
    let (waited, _) = tokio::join!(wait(), other.send(event(1, 2, "from elsewhere")));
    assert_eq!(waited.unwrap(), Awaited::Mail);
    assert!(begin.elapsed() <= Duration::from_millis(100), "{:?}", begin.elapsed());
    assert_eq!(house.read(2).await, ["from elsewhere"]);

    house.bus.fall();
    let begin = Instant::now();
    let (waited, _) = tokio::join!(wait(), house.send(event(1, 2, "without a bus")));
    assert_eq!(waited.unwrap(), Awaited::Mail);
    assert!(begin.elapsed() <= Duration::from_millis(100), "{:?}", begin.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_request_is_answered_by_another_process() {
    let house = House::open(OfficeConfig::default()).await;
    let other = house.other_process(OfficeConfig::default());
    let (answer, ()) = tokio::join!(
        house.office.request(request(1, 2), LONG),
        other.answer(2, MessageKind::Response, "from elsewhere")
    );
    assert_eq!(text(&answer.unwrap()), "from elsewhere");
}

#[tokio::test(start_paused = true)]
async fn nothing_goes_on_when_the_office_is_dropped() {
    let house = House::open(OfficeConfig::default()).await;
    let waited = house.office.wait_for_mail(agent_id(1), Duration::from_secs(1)).await.unwrap();
    assert_eq!(waited, Awaited::TimeUp);
    let store = house.store.clone();
    drop(house);
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    assert_eq!(Arc::strong_count(&store), 1);
}
