//! Cases about sweeping, dead letters and events of topics.

use artel_model::message::{Address, DeadLetter, DeadReason, Message, Sender};
use tokio::task::JoinSet;

use super::agent_sample::{
    EXPIRED, PLENTY, SENT, SharedAgents, agent_id, message, message_id, peek_all, read_numbers, send, spawn,
    to, to_all, ttl, unread,
};
use super::sample::{WORKS, at};
use crate::mail::{MailCounts, TopicEvent};
use crate::page::PageRequest;

/// Sweeping makes dead letters of what nobody read in time, and removes what was read.
pub async fn sweep_buries_what_is_expired(store: SharedAgents) {
    spawn(&store, 1).await;
    spawn(&store, 2).await;
    send(&store, Message { ttl: ttl(1), ..to_all(1, Sender::System) }).await;
    send(&store, Message { ttl: ttl(1), ..to(2, 1) }).await;
    send(&store, to(3, 1)).await;
    send(&store, Message { ttl: ttl(1), ..to(4, 2) }).await;
    store.mark_read(agent_id(1), &[message_id(2)]).await.expect(WORKS);
    let expired = at(SENT + 1000);
    assert_eq!(store.sweep(expired - 1, PLENTY).await.expect(WORKS), 0);
    assert_eq!(store.sweep(expired, PLENTY).await.expect(WORKS), 3);
    assert_eq!(store.sweep(expired, PLENTY).await.expect(WORKS), 0);
    assert_eq!(read_numbers(&store, peek_all(1, SENT)).await, [3]);
    assert_eq!(unread(&store, 2).await, []);
    let dead = store.dead_letters(None, &PageRequest { after: None, limit: 9 }).await.expect(WORKS).items;
    let told: Vec<_> =
        dead.iter().map(|letter| (letter.message.id.0.as_u128(), letter.recipient_id)).collect();
    assert_eq!(told, [(4, Some(agent_id(2))), (1, Some(agent_id(2))), (1, Some(agent_id(1)))]);
    assert!(dead.iter().all(|letter| letter.reason == DeadReason::Expired && letter.at == expired));
    assert_eq!(dead[0].message, Message { ttl: ttl(1), ..to(4, 2) });
    let counts = MailCounts { unread: 1, read: 0, dead: vec![(DeadReason::Expired, 3)] };
    assert_eq!(store.mail_counts().await.expect(WORKS), counts);
}

/// However many are expired, and whoever sweeps at the same time.
pub async fn sweep_of_many_counts_each_once(store: SharedAgents) {
    spawn(&store, 1).await;
    for number in 1..=300 {
        send(&store, to(number, 1)).await;
    }
    let mut tasks = JoinSet::new();
    for _ in 0..4 {
        let store = store.clone();
        tasks.spawn(async move { store.sweep(at(EXPIRED), PLENTY).await.expect(WORKS) });
    }
    let swept: u64 = tasks.join_all().await.into_iter().sum();
    let left = store.sweep(at(EXPIRED), PLENTY).await.expect(WORKS);
    assert_eq!(swept + left, 300);
    let counts = MailCounts { unread: 0, read: 0, dead: vec![(DeadReason::Expired, 300)] };
    assert_eq!(store.mail_counts().await.expect(WORKS), counts);
}

fn letter(number: u128, recipient: Option<u128>, reason: DeadReason, millis: i64) -> DeadLetter {
    DeadLetter {
        message: message(number, Address::Topic("a.b".parse().expect("a topic"))),
        recipient_id: recipient.map(agent_id),
        reason,
        at: at(millis),
    }
}

async fn buried(store: &SharedAgents, recipient: Option<u128>, limit: usize) -> Vec<u128> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let request = PageRequest { after, limit };
        let page = store.dead_letters(recipient.map(agent_id), &request).await.expect(WORKS);
        assert!(page.next.is_none() || page.items.len() == limit, "a page in the middle is not full");
        found.extend(page.items.iter().map(|letter| letter.message.id.0.as_u128()));
        match page.next {
            Some(next) => after = Some(next),
            None => return found,
        }
    }
}

/// Dead letters are listed the latest first, in pages, for all or one who did not get them.
pub async fn dead_letters_are_listed_latest_first(store: SharedAgents) {
    let behind = DeadReason::SubscriberBehind;
    store.bury(Vec::new()).await.expect(WORKS);
    let letters = [(1, Some(1), 10), (2, None, 30), (3, Some(2), 10), (4, Some(1), -5), (5, Some(1), 30)];
    let letters: Vec<_> = letters.map(|(number, who, at)| letter(number, who, behind, at)).into();
    store.bury(letters.clone()).await.expect(WORKS);
    // The same letter again is another one.
    store.bury(vec![letters[0].clone()]).await.expect(WORKS);
    for limit in 1..=7 {
        assert_eq!(buried(&store, None, limit).await, [5, 2, 1, 3, 1, 4], "pages of {limit}");
        assert_eq!(buried(&store, Some(1), limit).await, [5, 1, 1, 4], "pages of {limit}");
    }
    assert_eq!(buried(&store, Some(9), 3).await, []);
    let page =
        store.dead_letters(Some(agent_id(2)), &PageRequest { after: None, limit: 1 }).await.expect(WORKS);
    assert_eq!((page.items, page.next), (vec![letters[2].clone()], None));
}

/// Only so many dead letters are kept, the latest ones; all are counted.
pub async fn dead_letters_are_capped_and_counted(store: SharedAgents) {
    let letters = [
        (1, DeadReason::Expired, 30),
        (2, DeadReason::MailboxFull, 10),
        (3, DeadReason::RecipientEnded, 20),
        (4, DeadReason::SubscriberBehind, 20),
        (5, DeadReason::Expired, 20),
    ];
    let letters = letters.map(|(number, reason, at)| letter(number, None, reason, at)).into();
    store.bury(letters).await.expect(WORKS);
    for (dead_max, expected) in
        [(5, vec![1, 5, 4, 3, 2]), (4, vec![1, 5, 4, 3]), (2, vec![1, 5]), (9, vec![1, 5]), (0, vec![])]
    {
        assert_eq!(store.sweep(at(50), dead_max).await.expect(WORKS), 0);
        assert_eq!(buried(&store, None, 9).await, expected);
        let dead =
            DeadReason::ALL.iter().map(|reason| (*reason, 1 + u64::from(*reason == DeadReason::Expired)));
        let counts = MailCounts { unread: 0, read: 0, dead: dead.collect() };
        assert_eq!(store.mail_counts().await.expect(WORKS), counts);
    }
}

fn about(number: u128, topic: &str) -> Message {
    message(number, Address::Topic(topic.parse().expect("a topic")))
}

async fn replayed(store: &SharedAgents, pattern: &str, after: u64, latest: bool, limit: usize) -> Vec<u128> {
    let pattern = pattern.parse().expect("a pattern");
    let events = store.topic_events(&pattern, after, latest, limit).await.expect(WORKS);
    let places: Vec<u64> = events.iter().map(|event| event.place).collect();
    assert!(places.is_sorted_by(|one, next| one < next), "{places:?}");
    events.iter().map(|event| event.message.id.0.as_u128()).collect()
}

/// Events of topics are replayed by pattern, after a place, the first or the last of them.
pub async fn topic_events_are_replayed(store: SharedAgents) {
    let mut places = Vec::new();
    for (number, topic) in [(1, "a.b"), (2, "a.c"), (3, "a.b.c"), (4, "b"), (5, "a.b"), (6, "A.b")] {
        places.push(store.keep_event(about(number, topic), PLENTY).await.expect(WORKS));
    }
    assert!(places.is_sorted_by(|one, next| one < next), "{places:?}");
    let first = store.topic_events(&"a.c".parse().expect("a pattern"), 0, false, 9).await.expect(WORKS);
    assert_eq!(first, [TopicEvent { place: places[1], message: about(2, "a.c") }]);
    let check = async |pattern: &str, after, latest, limit, expected: &[u128]| {
        let found = replayed(&store, pattern, after, latest, limit).await;
        assert_eq!(found, expected, "{pattern} after {after}, latest: {latest}, {limit}");
    };
    check(">", 0, false, 9, &[1, 2, 3, 4, 5, 6]).await;
    check("a.b", 0, false, 9, &[1, 5]).await;
    check("a.*", 0, false, 9, &[1, 2, 5]).await;
    check("*.b", 0, false, 9, &[1, 5, 6]).await;
    check("a.>", 0, false, 9, &[1, 2, 3, 5]).await;
    check("*", 0, false, 9, &[4]).await;
    check("c.>", 0, false, 9, &[]).await;
    for latest in [false, true] {
        check("a.>", places[0], latest, usize::MAX, &[2, 3, 5]).await;
        check("a.b", places[0], latest, 9, &[5]).await;
        check(">", places[5], latest, 9, &[]).await;
        check(">", u64::MAX, latest, 9, &[]).await;
        check(">", 0, latest, 0, &[]).await;
    }
    check("a.>", 0, false, 2, &[1, 2]).await;
    check("a.>", 0, true, 2, &[3, 5]).await;
    check("a.b", 0, false, 1, &[1]).await;
    check("a.b", 0, true, 1, &[5]).await;
}

/// An event is kept once, and only so many are kept: the last ones. A place is never given out twice.
pub async fn topic_events_are_kept_once_and_capped(store: SharedAgents) {
    let first = store.keep_event(about(1, "a"), 3).await.expect(WORKS);
    let second = store.keep_event(about(2, "a"), 3).await.expect(WORKS);
    assert_eq!(store.keep_event(about(1, "a"), 3).await.expect(WORKS), first);
    assert_eq!(replayed(&store, "a", 0, false, 9).await, [1, 2]);
    let mut last = second;
    for number in 3..=5 {
        let place = store.keep_event(about(number, "b"), 3).await.expect(WORKS);
        assert!(place > last);
        last = place;
    }
    assert_eq!(replayed(&store, ">", 0, false, 9).await, [3, 4, 5]);
    let again = store.keep_event(about(1, "a"), 1).await.expect(WORKS);
    assert!(again > last);
    assert_eq!(replayed(&store, ">", 0, true, 9).await, [1]);
    let unkept = store.keep_event(about(6, "a"), 0).await.expect(WORKS);
    assert_eq!(replayed(&store, ">", 0, false, 9).await, []);
    assert!(store.keep_event(about(7, "a"), 1).await.expect(WORKS) > unkept);
}

/// Who reads on from the last place seen misses nothing that is kept meanwhile.
pub async fn followers_of_topics_miss_nothing(store: SharedAgents) {
    let mut tasks = JoinSet::new();
    for writer in 0..4 {
        let store = store.clone();
        tasks.spawn(async move {
            for number in 0..25 {
                store.keep_event(about(writer * 100 + number, "a"), PLENTY).await.expect(WORKS);
            }
        });
    }
    let pattern = "a".parse().expect("a pattern");
    let (mut seen, mut after) = (Vec::new(), 0);
    while seen.len() < 100 {
        let is_over = tasks.is_empty();
        let events = store.topic_events(&pattern, after, false, 10).await.expect(WORKS);
        assert!(!is_over || !events.is_empty(), "{} of 100 events were seen: {seen:?}", seen.len());
        after = events.last().map_or(after, |event| event.place);
        seen.extend(events.iter().map(|event| event.message.id.0.as_u128()));
        if tasks.try_join_next().is_none() {
            tokio::task::yield_now().await;
        }
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 100);
}
