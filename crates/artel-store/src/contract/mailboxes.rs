//! Cases about reading mailboxes and taking answers.

use artel_model::agent::AgentState;
use artel_model::message::{Address, DeadReason, Message, MessageKind, Payload, Sender};
use serde_json::Map;
use tokio::task::JoinSet;

use super::agent_sample::{
    EXPIRED, SENT, SharedAgents, agent_id, bring, correlation, from, message, message_id, numbers_of, peek,
    peek_all, priority, read_numbers, send, spawn, to, to_all, ttl, unread,
};
use super::sample::{WORKS, at};
use crate::mail::{MailCounts, MailQuery, Posted};
use crate::page::PageRequest;

/// The most urgent comes first, of those the earliest sent, of those the first posted.
pub async fn mail_is_read_in_order(store: SharedAgents) {
    spawn(&store, 1).await;
    for (number, urgency, sent) in
        [(1, 5, 20), (2, 10, 10), (3, 5, 10), (9, 1, 30), (5, 5, 10), (4, 5, 10), (7, 5, -10), (8, 1, 40)]
    {
        let timestamp = at(sent);
        send(&store, Message { priority: priority(urgency), timestamp, ..to(number, 1) }).await;
    }
    let order = [9, 8, 7, 3, 5, 4, 1, 2];
    assert_eq!(read_numbers(&store, peek(1, 50)).await, order);
    for limit in 0..=8 {
        assert_eq!(read_numbers(&store, MailQuery { limit, ..peek(1, 50) }).await, order[..limit]);
    }
    store.mark_read(agent_id(1), &[message_id(9), message_id(3), message_id(2)]).await.expect(WORKS);
    assert_eq!(read_numbers(&store, peek(1, 50)).await, [8, 7, 5, 4, 1]);
    assert_eq!(read_numbers(&store, peek_all(1, 50)).await, order);
}

/// Looking changes nothing; reading marks what is returned, and nothing else.
pub async fn reading_marks_and_peeking_does_not(store: SharedAgents) {
    spawn(&store, 1).await;
    for number in 1..=4 {
        send(&store, to(number, 1)).await;
    }
    let reading = MailQuery { mark_read: true, limit: 2, ..peek(1, SENT) };
    assert_eq!(unread(&store, 1).await, [1, 2, 3, 4]);
    let mail = store.mailbox(reading).await.expect(WORKS);
    assert_eq!((numbers_of(&mail), mail[0].is_read), (vec![1, 2], false));
    assert_eq!(unread(&store, 1).await, [3, 4]);
    let everything = MailQuery { with_read: true, limit: 3, ..reading };
    let mail = store.mailbox(everything).await.expect(WORKS);
    assert_eq!(numbers_of(&mail), [1, 2, 3]);
    assert_eq!(mail.iter().map(|mail| mail.is_read).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(unread(&store, 1).await, [4]);
    assert_eq!(store.mark_read(agent_id(1), &[message_id(3), message_id(4)]).await.expect(WORKS), 1);
    assert_eq!(unread(&store, 1).await, []);
    assert_eq!(read_numbers(&store, peek_all(1, SENT)).await, [1, 2, 3, 4]);
    let counts = MailCounts { unread: 0, read: 4, dead: Vec::new() };
    assert_eq!(store.mail_counts().await.expect(WORKS), counts);
}

/// Marking counts what was unread in that mailbox, once.
pub async fn marking_counts_what_was_unread(store: SharedAgents) {
    spawn(&store, 1).await;
    spawn(&store, 2).await;
    for number in 1..=3 {
        send(&store, to_all(number, Sender::System)).await;
    }
    let twice = [message_id(1), message_id(2), message_id(1), message_id(9)];
    assert_eq!(store.mark_read(agent_id(1), &twice).await.expect(WORKS), 2);
    assert_eq!(store.mark_read(agent_id(1), &twice).await.expect(WORKS), 0);
    assert_eq!(store.mark_read(agent_id(1), &[]).await.expect(WORKS), 0);
    assert_eq!(store.mark_read(agent_id(9), &twice).await.expect(WORKS), 0);
    assert_eq!((unread(&store, 1).await, unread(&store, 2).await), (vec![3], vec![1, 2, 3]));
    assert_eq!(read_numbers(&store, peek(9, SENT)).await, []);
}

/// What is expired is never returned, whether it was swept or not.
pub async fn expired_mail_is_never_returned(store: SharedAgents) {
    spawn(&store, 1).await;
    let short = Message {
        ttl: ttl(1),
        sender: from(1),
        kind: MessageKind::Request,
        correlation: Some(correlation(7)),
        ..to(1, 1)
    };
    send(&store, short).await;
    let answer = Message {
        ttl: ttl(1),
        sender: from(1),
        kind: MessageKind::Response,
        correlation: Some(correlation(7)),
        ..to(2, 1)
    };
    send(&store, answer).await;
    send(&store, to(3, 1)).await;
    let expired = SENT + 1000;
    assert_eq!(read_numbers(&store, peek(1, expired - 1)).await, [1, 2, 3]);
    for query in [peek(1, expired), peek_all(1, expired)] {
        assert_eq!(read_numbers(&store, query).await, [3]);
    }
    assert_eq!(store.take_answer(agent_id(1), correlation(7), at(expired)).await.expect(WORKS), None);
    let reading = MailQuery { mark_read: true, limit: 1, ..peek(1, expired) };
    assert_eq!(read_numbers(&store, reading).await, [3]);
    assert_eq!(read_numbers(&store, peek(1, expired - 1)).await, [1, 2]);
}

/// Of many that read one mailbox and mark what they get, one gets each message, and all is got.
pub async fn readers_share_a_mailbox(store: SharedAgents) {
    spawn(&store, 1).await;
    for number in 1..=60 {
        send(&store, to(number, 1)).await;
    }
    let mut tasks = JoinSet::new();
    for _ in 0..6 {
        let store = store.clone();
        tasks.spawn(async move {
            let mut found = Vec::new();
            loop {
                let reading = MailQuery { mark_read: true, limit: 7, ..peek(1, SENT) };
                let got = read_numbers(&store, reading).await;
                if got.is_empty() {
                    return found;
                }
                found.extend(got);
            }
        });
    }
    let mut all: Vec<u128> = tasks.join_all().await.into_iter().flatten().collect();
    all.sort_unstable();
    assert!(all.iter().copied().eq(1..=60), "{all:?}");
}

/// However much lies in a mailbox, who reads on gets all of it, once and in order, and never much more than fits.
pub async fn much_mail_is_read_in_pieces(store: SharedAgents) {
    spawn(&store, 1).await;
    let text = "x".repeat(260_000);
    for number in 1..=67 {
        let object = Map::from_iter([("text".to_owned(), text.as_str().into())]);
        let payload = Payload::new(object).expect("it is short enough");
        send(&store, Message { payload, ..to(number, 1) }).await;
    }
    let (mut all, mut pieces) = (Vec::new(), Vec::new());
    // The one that reaches the limit of bytes is the last of a reading.
    assert_eq!(read_numbers(&store, peek(1, SENT)).await.len(), 65);
    loop {
        let piece = read_numbers(&store, MailQuery { mark_read: true, ..peek(1, SENT) }).await;
        if piece.is_empty() {
            break;
        }
        pieces.push(piece.len());
        all.extend(piece);
    }
    assert_eq!(pieces, [65, 2]);
    assert!(all.iter().copied().eq(1..=67), "{all:?}");
}

fn answer(number: u128, kind: MessageKind, sender: Sender) -> Message {
    Message { sender, kind, correlation: Some(correlation(7)), ..to(number, 1) }
}

/// An answer is taken once, by who asked, in the order of the mailbox.
pub async fn an_answer_is_taken_by_who_asked(store: SharedAgents) {
    for number in 1..=3 {
        spawn(&store, number).await;
    }
    let asked = message(1, Address::Broadcast);
    let kind = MessageKind::Request;
    send(&store, Message { sender: from(1), kind, correlation: Some(correlation(7)), ..asked }).await;
    let take = async |asker| {
        let taken = store.take_answer(agent_id(asker), correlation(7), at(SENT)).await.expect(WORKS);
        taken.map(|answer| answer.id.0.as_u128())
    };
    assert_eq!(take(1).await, None);
    send(&store, answer(10, MessageKind::Response, from(2))).await;
    send(&store, Message { priority: priority(1), ..answer(11, MessageKind::Error, from(3)) }).await;
    send(&store, answer(12, MessageKind::Event, from(2))).await;
    send(&store, answer(13, MessageKind::Error, Sender::System)).await;
    send(&store, Message { correlation: Some(correlation(8)), ..answer(14, MessageKind::Error, from(2)) })
        .await;
    assert_eq!(take(2).await, None);
    assert_eq!(take(9).await, None);
    assert_eq!(
        (take(1).await, take(1).await, take(1).await, take(1).await),
        (Some(11), Some(10), Some(13), None)
    );
    assert_eq!(unread(&store, 1).await, [12, 14]);
    assert_eq!(read_numbers(&store, peek_all(1, SENT)).await, [11, 10, 12, 13, 14]);
}

/// An error from somebody who was not asked answers nothing, whatever it carries.
pub async fn an_error_of_a_stranger_is_no_answer(store: SharedAgents) {
    for number in 1..=3 {
        spawn(&store, number).await;
    }
    let kind = MessageKind::Request;
    send(&store, Message { sender: from(1), kind, correlation: Some(correlation(7)), ..to(1, 2) }).await;
    send(&store, answer(10, MessageKind::Error, from(3))).await;
    let take = async || store.take_answer(agent_id(1), correlation(7), at(SENT)).await.expect(WORKS);
    assert_eq!(take().await, None);
    assert_eq!(unread(&store, 1).await, [10]);
    send(&store, answer(11, MessageKind::Error, from(2))).await;
    assert_eq!(take().await.map(|answer| answer.id), Some(message_id(11)));
}

/// What lies unread with an agent that is terminated becomes dead letters in that write.
pub async fn termination_makes_dead_letters(store: SharedAgents) {
    spawn(&store, 1).await;
    spawn(&store, 2).await;
    for number in 1..=3 {
        send(&store, to_all(number, Sender::System)).await;
    }
    send(&store, Message { ttl: ttl(1), priority: priority(1), ..to(4, 1) }).await;
    store.mark_read(agent_id(1), &[message_id(2)]).await.expect(WORKS);
    bring(&store, 1, AgentState::Cancelled, SENT + 500).await;
    assert_eq!(unread(&store, 1).await, [4, 1, 3]);
    bring(&store, 1, AgentState::Terminated, SENT + 1000).await;
    assert_eq!(read_numbers(&store, peek_all(1, SENT)).await, [2]);
    assert_eq!(unread(&store, 2).await, [1, 2, 3]);
    let dead = store.dead_letters(None, &PageRequest { after: None, limit: 9 }).await.expect(WORKS).items;
    let told: Vec<_> = dead.iter().map(|letter| (letter.message.id.0.as_u128(), letter.reason)).collect();
    let ended = DeadReason::RecipientEnded;
    assert_eq!(told, [(4, DeadReason::Expired), (3, ended), (1, ended)]);
    assert!(
        dead.iter().all(|letter| letter.recipient_id == Some(agent_id(1)) && letter.at == at(SENT + 1000))
    );
    let dead = vec![(DeadReason::Expired, 1), (DeadReason::RecipientEnded, 2)];
    assert_eq!(store.mail_counts().await.expect(WORKS), MailCounts { unread: 3, read: 1, dead });
    assert_eq!(store.sweep(at(EXPIRED), 100).await.expect(WORKS), 3);
}

/// Whatever is posted while an agent is terminated is a dead letter or was refused: nothing lies unread for ever.
pub async fn nothing_is_posted_behind_a_termination(store: SharedAgents) {
    for round in 1..=5 {
        spawn(&store, round).await;
        let mut tasks = JoinSet::new();
        for number in 0..12 {
            let store = store.clone();
            tasks.spawn(async move {
                if number == 6 {
                    bring(&store, round, AgentState::Terminated, SENT).await;
                    return 0;
                }
                let posted = send(&store, to(round * 100 + number, round)).await;
                usize::from(matches!(posted, Posted::Delivered(_)))
            });
        }
        let delivered: usize = tasks.join_all().await.into_iter().sum();
        assert_eq!(unread(&store, round).await, []);
        let page = PageRequest { after: None, limit: 100 };
        let dead = store.dead_letters(Some(agent_id(round)), &page).await.expect(WORKS).items;
        assert_eq!(dead.len(), delivered);
    }
}
