//! Cases about posting: who gets a message, and why it may be refused.

use artel_model::agent::AgentState;
use artel_model::message::{Address, DeadReason, Message, MessageKind, Sender};
use tokio::task::JoinSet;

use super::agent_sample::{
    EXPIRED, PLENTY, SENT, SharedAgents, agent_id, bring, correlation, delivered, from, message, message_id,
    peek_all, post, read_numbers, send, spawn, spawn_below, to, to_all, unread,
};
use super::sample::{WORKS, at};
use crate::mail::{MESSAGE_REMEMBERED_MS, MailCounts, Post, PostRefused, Posted};
use crate::page::PageRequest;

fn refused(why: PostRefused) -> Posted {
    Posted::Refused(why)
}

/// A message is kept as it was sent, in the mailbox of its recipient and in no other.
pub async fn a_message_lies_in_its_mailbox(store: SharedAgents) {
    spawn(&store, 1).await;
    spawn(&store, 2).await;
    let sent = Message {
        sender: from(1),
        kind: MessageKind::Request,
        correlation: Some(correlation(7)),
        ..to(1, 2)
    };
    assert_eq!(send(&store, sent.clone()).await, delivered(&[2]));
    let mail = store.mailbox(peek_all(2, SENT)).await.expect(WORKS);
    assert_eq!((mail.len(), &mail[0].message, mail[0].is_read), (1, &sent, false));
    assert_eq!(unread(&store, 1).await, []);
    assert_eq!(send(&store, Message { sender: from(2), ..to(2, 2) }).await, delivered(&[2]));
    assert_eq!(unread(&store, 2).await, [1, 2]);
}

/// A message to nobody, or from nobody, is an error to its sender, and nothing is written.
pub async fn strangers_neither_get_nor_send_messages(store: SharedAgents) {
    spawn(&store, 1).await;
    let version = store.version().await.expect(WORKS);
    assert_eq!(send(&store, to(1, 9)).await, refused(PostRefused::UnknownRecipient(agent_id(9))));
    let strange = Message { sender: from(8), ..to(2, 9) };
    assert_eq!(send(&store, strange).await, refused(PostRefused::UnknownSender(agent_id(8))));
    let strange = to_all(3, from(8));
    assert_eq!(send(&store, strange).await, refused(PostRefused::UnknownSender(agent_id(8))));
    assert_eq!(store.version().await.expect(WORKS), version);
    assert_eq!(store.mail_counts().await.expect(WORKS), MailCounts::default());
    // What was refused may be tried again.
    spawn(&store, 9).await;
    assert_eq!(send(&store, to(1, 9)).await, delivered(&[9]));
}

/// An id is its sender's: the same one of another sender is another message, in mailboxes and in topics.
pub async fn an_id_of_a_message_is_its_senders(store: SharedAgents) {
    for number in [1, 2, 3] {
        spawn(&store, number).await;
    }
    let guessed = Message { sender: from(1), ..to(7, 3) };
    let meant = Message { sender: from(2), ..to(7, 3) };
    assert_eq!(send(&store, guessed.clone()).await, delivered(&[3]));
    assert_eq!(send(&store, meant.clone()).await, delivered(&[3]));
    assert_eq!(send(&store, to(7, 3)).await, delivered(&[3]));
    assert_eq!(send(&store, meant).await, Posted::Duplicate);
    assert_eq!(send(&store, Message { sender: from(1), ..to(7, 2) }).await, Posted::Duplicate);
    assert_eq!(unread(&store, 3).await, [7, 7, 7]);
    assert_eq!(store.mark_read(agent_id(3), &[message_id(7)]).await.expect(WORKS), 3);
    assert_eq!(unread(&store, 3).await, []);
    let topic = Address::Topic("a".parse().expect("it is a topic"));
    let event = |sender| Message { sender, ..message(7, topic.clone()) };
    let mut places = Vec::new();
    for sender in [from(1), from(2), Sender::System, from(1)] {
        places.push(store.keep_event(event(sender), 10).await.expect(WORKS));
    }
    assert!(places[0] < places[1] && places[1] < places[2]);
    assert_eq!(places[3], places[0]);
}

/// Messages reach agents in every state but the last, and only those send some.
pub async fn only_the_terminated_have_no_mailbox(store: SharedAgents) {
    spawn(&store, 1).await;
    for (number, state) in (2..).zip(AgentState::ALL) {
        spawn(&store, number).await;
        bring(&store, number, *state, 20).await;
        let (there, back) = (to(number, number), Message { sender: from(number), ..to(number + 100, 1) });
        if state.has_mailbox() {
            assert_eq!(send(&store, there).await, delivered(&[number]), "{state:?}");
            assert_eq!(send(&store, back).await, delivered(&[1]), "{state:?}");
        } else {
            let ended = PostRefused::RecipientEnded(agent_id(number), *state);
            assert_eq!(send(&store, there).await, refused(ended));
            assert_eq!(send(&store, back).await, refused(PostRefused::SenderEnded(agent_id(number))));
        }
    }
}

/// A second message with the same id is the same message, whatever became of the first and whatever it says.
pub async fn a_message_is_posted_once(store: SharedAgents) {
    spawn(&store, 1).await;
    spawn(&store, 2).await;
    assert_eq!(send(&store, to(1, 1)).await, delivered(&[1]));
    for again in [to(1, 1), to(1, 2), to(1, 9), to_all(1, Sender::System)] {
        assert_eq!(send(&store, again).await, Posted::Duplicate);
    }
    assert_eq!((unread(&store, 1).await, unread(&store, 2).await), (vec![1], vec![]));
    store.mark_read(agent_id(1), &[message_id(1)]).await.expect(WORKS);
    assert_eq!(send(&store, to(1, 1)).await, Posted::Duplicate);
    let forgotten = at(EXPIRED) + MESSAGE_REMEMBERED_MS;
    for (now, expected) in
        [(at(EXPIRED), Posted::Duplicate), (forgotten - 1, Posted::Duplicate), (forgotten, delivered(&[1]))]
    {
        store.sweep(now, PLENTY).await.expect(WORKS);
        assert_eq!(send(&store, to(1, 1)).await, expected, "{now}");
    }
}

/// Of many that post one message, one does.
pub async fn one_of_many_posts_of_a_message_wins(store: SharedAgents) {
    for number in 1..=3 {
        spawn(&store, number).await;
    }
    for (number, message) in [(1, to(1, 1)), (2, to_all(2, Sender::System))] {
        let mut tasks = JoinSet::new();
        for _ in 0..12 {
            let (store, message) = (store.clone(), message.clone());
            tasks.spawn(async move { send(&store, message).await });
        }
        let answers = tasks.join_all().await;
        let first = answers.iter().filter(|answer| **answer != Posted::Duplicate).count();
        assert_eq!(first, 1, "{answers:?}");
        assert_eq!(unread(&store, 1).await.len(), number);
    }
}

/// A full mailbox takes nothing more until something is read or expires.
pub async fn a_full_mailbox_refuses(store: SharedAgents) {
    spawn(&store, 1).await;
    let try_at = async |number, now| {
        let message = Message { timestamp: now, ..to(number, 1) };
        store.post(Post { mailbox_max: 2, ..post(message) }).await.expect(WORKS)
    };
    assert_eq!(try_at(1, at(SENT)).await, delivered(&[1]));
    assert_eq!(try_at(2, at(SENT + 1)).await, delivered(&[1]));
    let full = refused(PostRefused::MailboxFull(agent_id(1)));
    assert_eq!(try_at(3, at(SENT + 2)).await, full);
    assert_eq!(store.mark_read(agent_id(1), &[message_id(2)]).await.expect(WORKS), 1);
    assert_eq!(try_at(3, at(SENT + 2)).await, delivered(&[1]));
    assert_eq!(try_at(4, at(EXPIRED - 1)).await, full);
    assert_eq!(try_at(4, at(EXPIRED)).await, delivered(&[1]));
    assert_eq!(read_numbers(&store, peek_all(1, EXPIRED)).await, [2, 3, 4]);
    let nothing_fits = Post { mailbox_max: 0, ..post(to(5, 1)) };
    assert_eq!(store.post(nothing_fits).await.expect(WORKS), full);
}

/// However many post at once, exactly as many messages fit as may, and all fit where there is room.
pub async fn many_posts_at_once_stay_within_the_mailbox(store: SharedAgents) {
    spawn(&store, 1).await;
    spawn(&store, 2).await;
    for (agent, mailbox_max, fitting) in [(1, 7, 7), (2, PLENTY, 40)] {
        let mut tasks = JoinSet::new();
        for number in 0..40 {
            let store = store.clone();
            let post = Post { mailbox_max, ..post(to(agent * 100 + number, agent)) };
            tasks.spawn(async move { store.post(post).await.expect(WORKS) });
        }
        let answers = tasks.join_all().await;
        let full = refused(PostRefused::MailboxFull(agent_id(agent)));
        assert_eq!(answers.iter().filter(|answer| **answer == delivered(&[agent])).count(), fitting);
        assert_eq!(answers.iter().filter(|answer| **answer == full).count(), 40 - fitting);
        assert_eq!(unread(&store, agent).await.len(), fitting);
    }
}

/// A message to everybody reaches the living but its sender; everyone has a copy and a flag of their own.
pub async fn a_broadcast_reaches_the_living(store: SharedAgents) {
    spawn(&store, 100).await;
    for (number, state) in (1..).zip(AgentState::ALL) {
        spawn_below(&store, number, 100).await;
        bring(&store, number, *state, 20).await;
    }
    assert_eq!(send(&store, to_all(1, from(2))).await, delivered(&[1, 3, 100]));
    assert_eq!(send(&store, to_all(2, from(4))).await, delivered(&[1, 2, 3, 100]));
    assert_eq!(send(&store, to_all(3, Sender::System)).await, delivered(&[1, 2, 3, 100]));
    assert_eq!((unread(&store, 2).await, unread(&store, 4).await), (vec![2, 3], vec![]));
    store.mark_read(agent_id(1), &[message_id(1), message_id(2)]).await.expect(WORKS);
    assert_eq!((unread(&store, 1).await, unread(&store, 3).await), (vec![3], vec![1, 2, 3]));
    let mail = store.mailbox(peek_all(1, SENT)).await.expect(WORKS);
    assert_eq!(mail[0].message, to_all(1, from(2)));
    assert_eq!(mail.iter().map(|mail| mail.is_read).collect::<Vec<_>>(), [true, true, false]);
}

/// A message to everybody that does not fit a mailbox becomes a dead letter there, and reaches the others.
pub async fn a_broadcast_passes_full_mailboxes_by(store: SharedAgents) {
    for number in 1..=4 {
        spawn(&store, number).await;
    }
    send(&store, to(1, 1)).await;
    send(&store, to(2, 3)).await;
    let now = at(SENT + 5);
    let all = Post { message: to_all(3, from(4)), now, mailbox_max: 1 };
    assert_eq!(store.post(all).await.expect(WORKS), delivered(&[2]));
    let dead = store.dead_letters(None, &PageRequest { after: None, limit: 9 }).await.expect(WORKS).items;
    let told: Vec<_> = dead.iter().map(|letter| (letter.recipient_id, letter.reason, letter.at)).collect();
    let full = |agent| (Some(agent_id(agent)), DeadReason::MailboxFull, now);
    assert_eq!(told, [full(3), full(1)]);
    assert!(dead.iter().all(|letter| letter.message == to_all(3, from(4))));
    let counts = MailCounts { unread: 3, read: 0, dead: vec![(DeadReason::MailboxFull, 2)] };
    assert_eq!(store.mail_counts().await.expect(WORKS), counts);
    let alone = Post { mailbox_max: 0, ..post(to_all(4, Sender::System)) };
    assert_eq!(store.post(alone).await.expect(WORKS), delivered(&[]));
    assert_eq!(send(&store, to_all(4, Sender::System)).await, Posted::Duplicate);
}

fn request(number: u128, asker: u128, address: Address) -> Message {
    Message {
        sender: from(asker),
        kind: MessageKind::Request,
        correlation: Some(correlation(number)),
        ..message(number, address)
    }
}

fn response(number: u128, answerer: u128, asker: u128, to_request: u128) -> Message {
    let correlation = Some(correlation(to_request));
    Message { sender: from(answerer), kind: MessageKind::Response, correlation, ..to(number, asker) }
}

/// Only who was asked may answer, and only to who asked.
pub async fn a_response_needs_its_request(store: SharedAgents) {
    for number in 1..=4 {
        spawn(&store, number).await;
    }
    send(&store, request(7, 1, Address::Agent(agent_id(2)))).await;
    // An event with a correlation asks nothing.
    send(&store, Message { sender: from(1), correlation: Some(correlation(8)), ..to(8, 2) }).await;
    let unasked = |number| refused(PostRefused::NoSuchRequest(correlation(number)));
    assert_eq!(send(&store, response(20, 3, 1, 7)).await, unasked(7));
    assert_eq!(send(&store, response(20, 2, 3, 7)).await, unasked(7));
    assert_eq!(send(&store, response(20, 1, 2, 7)).await, unasked(7));
    assert_eq!(send(&store, response(20, 2, 1, 8)).await, unasked(8));
    assert_eq!(send(&store, response(20, 2, 1, 9)).await, unasked(9));
    let nameless = Message { correlation: None, ..response(20, 2, 1, 7) };
    assert_eq!(send(&store, nameless).await, unasked(20));
    let system = Message { sender: Sender::System, ..response(20, 2, 1, 7) };
    assert_eq!(send(&store, system).await, unasked(7));
    // Wrong answers are told before a full mailbox.
    let full = Post { mailbox_max: 0, ..post(response(20, 3, 1, 7)) };
    assert_eq!(store.post(full).await.expect(WORKS), unasked(7));
    assert_eq!(send(&store, response(20, 2, 1, 7)).await, delivered(&[1]));
    assert_eq!(send(&store, response(21, 2, 1, 7)).await, delivered(&[1]));
}

/// A request to everybody may be answered by everybody but who asks; and also after it was read or is expired.
pub async fn requests_are_answered_by_all_who_were_asked(store: SharedAgents) {
    for number in 1..=3 {
        spawn(&store, number).await;
    }
    send(&store, request(7, 1, Address::Broadcast)).await;
    spawn(&store, 4).await;
    let unasked = refused(PostRefused::NoSuchRequest(correlation(7)));
    assert_eq!(send(&store, response(20, 1, 1, 7)).await, unasked);
    assert_eq!(send(&store, response(20, 2, 3, 7)).await, unasked);
    for answerer in 2..=4 {
        assert_eq!(send(&store, response(20 + answerer, answerer, 1, 7)).await, delivered(&[1]));
    }
    store.mark_read(agent_id(2), &[message_id(7)]).await.expect(WORKS);
    store.sweep(at(EXPIRED), PLENTY).await.expect(WORKS);
    assert_eq!(send(&store, response(30, 2, 1, 7)).await, delivered(&[1]));
    store.sweep(at(EXPIRED) + MESSAGE_REMEMBERED_MS, PLENTY).await.expect(WORKS);
    assert_eq!(send(&store, response(31, 2, 1, 7)).await, unasked);
}
