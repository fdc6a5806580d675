//! Messages from JSON to the envelope and back: both vocabularies, every rule, and how long they live.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    Address, Message, MessageDraft, MessageKind, Payload, Priority, Sender, Topic, TopicPattern, Ttl,
};
use crate::id::{AgentId, CorrelationId, MessageId};
use crate::limit::{MESSAGE_PAYLOAD_BYTES_MAX, MESSAGE_TTL_S_MAX};
use crate::time::Timestamp;

const ONE: &str = "00000000-0000-0000-0000-000000000001";
const TWO: &str = "00000000-0000-0000-0000-000000000002";
const THREE: &str = "00000000-0000-0000-0000-000000000003";

fn agent(number: u128) -> AgentId {
    AgentId(Uuid::from_u128(number))
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

fn read(document: Value) -> Result<MessageDraft, Vec<String>> {
    let problems =
        |problems: Vec<super::DraftProblem>| problems.into_iter().map(|problem| problem.path).collect();
    MessageDraft::read(&object(document)).map_err(problems)
}

/// A document in which some fields are another than usual; `null` leaves them out.
fn with(changes: Value) -> Value {
    let mut document = json!({"sender_id": ONE, "recipient_id": TWO, "message_type": "event", "payload": {}});
    for (name, value) in object(changes) {
        document[name] = value;
    }
    document
}

#[track_caller]
fn check(changes: Value, wrong: &[&str]) {
    let expected: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    let paths = read(with(changes)).err().unwrap_or_default();
    assert_eq!(paths, expected);
}

#[test]
fn both_vocabularies_say_the_same() {
    let payload = json!({"request_type": "query_status"});
    let ours = read(json!({
        "sender_id": ONE, "recipient_id": TWO, "message_type": "request", "payload": payload,
    }));
    let teams = read(json!({
        "from_agent_id": ONE, "to_agent_id": TWO, "message_type": "request", "content": payload,
    }));
    let expected = MessageDraft::new(
        Sender::Agent(agent(1)),
        Address::Agent(agent(2)),
        MessageKind::Request,
        Payload::new(object(payload)).unwrap(),
    );
    assert_eq!(ours.as_ref(), Ok(&expected));
    assert_eq!(teams, ours);
    check(json!({"from_agent_id": ONE}), &["/from_agent_id"]);
    check(json!({"to_agent_id": TWO}), &["/to_agent_id"]);
    check(json!({"content": {}}), &["/content"]);
    check(json!({"sender_id": null, "from_agent_id": "nobody"}), &["/from_agent_id"]);
    check(json!({"payload": null, "content": []}), &["/content"]);
}

const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[test]
fn everything_that_can_be_said_is_understood() {
    let draft = read(json!({
        "message_id": THREE, "topic": "navigation.complete", "sender_id": "system", "recipient_id": null,
        "message_type": "event", "payload": {"a": 1}, "timestamp": "ignored", "read": 7, "ttl": 5, "priority": 1,
        "correlation_id": ONE, "traceparent": TRACE,
    }))
    .unwrap();
    let expected = MessageDraft {
        id: Some(MessageId(Uuid::from_u128(3))),
        sender: Sender::System,
        address: Address::Topic("navigation.complete".parse().unwrap()),
        kind: MessageKind::Event,
        payload: Payload::new(object(json!({"a": 1}))).unwrap(),
        ttl: Ttl::try_from(5).unwrap(),
        priority: Priority::try_from(1).unwrap(),
        correlation: Some(CorrelationId(Uuid::from_u128(1))),
        trace_parent: Some(TRACE.parse().unwrap()),
    };
    assert_eq!(draft, expected);
    let usual = read(with(json!({}))).unwrap();
    assert_eq!((usual.ttl.seconds(), usual.priority.get()), (60, 5));
}

#[test]
fn a_message_has_a_topic_or_a_recipient() {
    check(json!({"topic": "a.b"}), &["/topic"]);
    check(json!({"recipient_id": null}), &["/recipient_id"]);
    check(json!({"recipient_id": null, "topic": "a.b"}), &[]);
    check(json!({"recipient_id": null, "topic": "a.*"}), &["/topic"]);
    check(json!({"recipient_id": null, "topic": ""}), &["/topic"]);
    check(json!({"recipient_id": "system"}), &["/recipient_id"]);
    check(json!({"sender_id": "broadcast"}), &["/sender_id"]);
    check(json!({"recipient_id": "broadcast"}), &[]);
}

#[test]
fn numbers_have_ranges() {
    for ttl in [json!(1), json!(MESSAGE_TTL_S_MAX)] {
        check(json!({"ttl": ttl}), &[]);
    }
    let no_ttl =
        [json!(0), json!(MESSAGE_TTL_S_MAX + 1), json!(-1), json!(1.5), json!("60"), json!(u64::MAX)];
    for ttl in no_ttl {
        check(json!({"ttl": ttl}), &["/ttl"]);
    }
    for priority in [json!(1), json!(10)] {
        check(json!({"priority": priority}), &[]);
    }
    for priority in [json!(0), json!(11), json!(256 + 5), json!(-1), json!("high"), json!(2.5)] {
        check(json!({"priority": priority}), &["/priority"]);
    }
}

#[test]
fn every_field_has_a_kind() {
    for field in ["message_id", "sender_id", "recipient_id", "message_type", "correlation_id"] {
        let path = format!("/{field}");
        check(json!({field: 1}), &[&path]);
        check(json!({field: "nonsense"}), &[&path]);
    }
    for payload in [json!("text"), json!([1]), json!(1)] {
        check(json!({"payload": payload}), &["/payload"]);
    }
    check(json!({"payload": {"a": "x".repeat(MESSAGE_PAYLOAD_BYTES_MAX)}}), &["/payload"]);
    check(json!({"message_type": "Event"}), &["/message_type"]);
}

#[test]
fn everything_wrong_is_told_at_once() {
    assert_eq!(read(json!({})).unwrap_err(), ["/payload", "/recipient_id", "/sender_id", "/message_type"]);
    assert_eq!(
        read(json!({
            "message_id": 1, "sender_id": "x", "topic": "a..b", "message_type": "response", "ttl": 0, "priority": 0,
            "urgent": true, "to": TWO,
        }))
        .unwrap_err(),
        ["/to", "/urgent", "/message_id", "/sender_id", "/topic", "/ttl", "/priority", "/payload", "/correlation_id"]
    );
}

#[test]
fn kinds_go_where_they_belong() {
    check(json!({"message_type": "broadcast"}), &["/recipient_id"]);
    check(json!({"message_type": "broadcast", "recipient_id": "broadcast"}), &[]);
    check(json!({"message_type": "broadcast", "recipient_id": null, "topic": "a"}), &["/recipient_id"]);
    check(json!({"message_type": "response"}), &["/correlation_id"]);
    check(json!({"message_type": "response", "correlation_id": "x"}), &["/correlation_id"]);
    check(json!({"message_type": "response", "correlation_id": THREE}), &[]);
    check(
        json!({"message_type": "response", "recipient_id": "broadcast"}),
        &["/recipient_id", "/correlation_id"],
    );
    check(json!({"message_type": "error", "recipient_id": "broadcast"}), &[]);
    let response =
        MessageDraft::new(Sender::System, Address::Broadcast, MessageKind::Response, Payload::default());
    assert_eq!(response.problems().len(), 2, "a draft made in code has the same rules");
}

fn sent(changes: Value) -> Message {
    read(with(changes)).unwrap().send(MessageId(Uuid::from_u128(9)), Timestamp::from_millis(1000))
}

#[test]
fn a_request_has_a_correlation_and_nothing_else_gets_one() {
    let correlation = |changes: Value| sent(changes).correlation.map(|correlation| correlation.0.as_u128());
    assert_eq!(correlation(json!({"message_type": "request"})), Some(9));
    assert_eq!(correlation(json!({"message_type": "request", "message_id": THREE})), Some(3));
    assert_eq!(correlation(json!({"message_type": "request", "correlation_id": TWO})), Some(2));
    assert_eq!(correlation(json!({"message_type": "event"})), None);
    assert_eq!(correlation(json!({"message_type": "error"})), None);
    assert_eq!(correlation(json!({"message_type": "response", "correlation_id": TWO})), Some(2));
}

#[test]
fn a_message_keeps_the_id_its_sender_chose() {
    assert_eq!(sent(json!({})).id.0.as_u128(), 9);
    assert_eq!(sent(json!({"message_id": THREE})).id.0.as_u128(), 3);
}

#[test]
fn a_message_is_dead_from_exactly_its_last_moment_on() {
    let message = sent(json!({"ttl": 2}));
    let is_expired = |millis: i64| message.is_expired(Timestamp::from_millis(millis));
    assert_eq!(message.expires_at(), Timestamp::from_millis(3000));
    assert!(!is_expired(1000) && !is_expired(2999) && is_expired(3000) && is_expired(i64::MAX));
}

#[test]
fn a_message_is_written_as_documents_have_it() {
    let message = sent(json!({"message_type": "request", "payload": {"skill": "detect"}}));
    let document = json!({
        "message_id": "00000000-0000-0000-0000-000000000009", "topic": null, "sender_id": ONE, "recipient_id": TWO,
        "message_type": "request", "payload": {"skill": "detect"}, "timestamp": "1970-01-01T00:00:01.000Z",
        "ttl": 60, "priority": 5, "correlation_id": "00000000-0000-0000-0000-000000000009",
    });
    assert_eq!(serde_json::to_value(&message).unwrap(), document);
    let again = read(document).unwrap().send(MessageId(Uuid::nil()), Timestamp::from_millis(1000));
    assert_eq!(again, message, "what is shown can be sent");
}

#[test]
fn a_stored_message_that_breaks_a_rule_is_not_one() {
    let good = serde_json::to_value(sent(json!({}))).unwrap();
    let changes = [
        ("topic", json!("a.b")),
        ("recipient_id", json!(null)),
        ("recipient_id", json!("somebody")),
        ("sender_id", json!("somebody")),
        ("ttl", json!(0)),
        ("priority", json!(11)),
        ("message_type", json!("shout")),
        ("payload", json!([])),
    ];
    for (field, value) in changes {
        let mut document = good.clone();
        document[field] = value;
        assert!(serde_json::from_value::<Message>(document).is_err(), "{field}");
    }
}

fn any_message() -> impl Strategy<Value = Message> {
    let address = prop_oneof![
        "[a-z]{1,3}(\\.[a-z]{1,3}){0,3}".prop_map(|topic| Address::Topic(topic.parse().unwrap())),
        any::<u128>().prop_map(|number| Address::Agent(agent(number))),
        Just(Address::Broadcast),
    ];
    let sender = prop::option::of(any::<u128>())
        .prop_map(|number| number.map_or(Sender::System, |number| Sender::Agent(agent(number))));
    let payload = prop::collection::btree_map(".{0,4}", any::<i64>(), 0..3);
    let numbers = (any::<u128>(), 1_u32..=3600, 1_u8..=10, 0_i64..4_000_000_000_000);
    let correlation = prop::option::of(any::<u128>());
    (address, sender, prop::sample::select(MessageKind::ALL), payload, numbers, correlation).prop_map(
        |(address, sender, kind, payload, (id, ttl, priority, millis), correlation)| Message {
            id: MessageId(Uuid::from_u128(id)),
            sender,
            address,
            kind,
            payload: Payload::new(payload.into_iter().map(|(name, value)| (name, json!(value))).collect())
                .unwrap(),
            timestamp: Timestamp::from_millis(millis),
            ttl: Ttl::try_from(ttl).unwrap(),
            priority: Priority::try_from(priority).unwrap(),
            correlation: correlation.map(|number| CorrelationId(Uuid::from_u128(number))),
            trace_parent: correlation
                .and_then(|number| format!("00-{number:032x}-00f067aa0ba902b7-01").parse().ok()),
        },
    )
}

proptest! {
    #[test]
    fn a_message_survives_being_written_and_read(message in any_message()) {
        let text = serde_json::to_string(&message).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Message>(&text).unwrap(), &message);
        // What can be sent comes out of its own document again.
        let document = object(serde_json::from_str(&text).unwrap());
        if let Ok(draft) = MessageDraft::read(&document) {
            let again = draft.send(MessageId(Uuid::nil()), message.timestamp);
            let correlation = again.correlation;
            prop_assert_eq!(Message { correlation: message.correlation, ..again }, message.clone());
            prop_assert!(correlation == message.correlation || message.kind == MessageKind::Request);
        }
    }
}

/// How often a fuzz target runs in CI; `BOLERO_RANDOM_ITERATIONS` overrides it.
const ITERATIONS: usize = 5000;

const FIELDS: &[&str] = &[
    "message_id",
    "topic",
    "sender_id",
    "recipient_id",
    "message_type",
    "payload",
    "ttl",
    "priority",
    "correlation_id",
    "timestamp",
    "read",
    "from_agent_id",
    "to_agent_id",
    "content",
    "Topic",
];

fn values() -> Vec<Value> {
    let texts = ["system", "broadcast", "request", "response", "event", "a.b", ONE, TWO, ""];
    let others =
        [json!(null), json!({}), json!({"a": [1]}), json!(5), json!(0), json!(-1), json!(1.5), json!([])];
    texts.map(Value::from).into_iter().chain(others).collect()
}

/// Fields and values in any combination, and texts of any kind: no panic, the same answer twice, and either reasons or a
/// draft without problems whose message survives being written.
#[test]
fn fuzz_message_draft() {
    let values = values();
    bolero::check!().with_iterations(ITERATIONS).with_type::<Vec<(u8, u8, String)>>().for_each(|fields| {
        let mut document = object(with(json!({})));
        for (field, value, text) in fields {
            let field = FIELDS.get(usize::from(*field) % (FIELDS.len() + 1)).copied().unwrap_or(text);
            let value = values.get(usize::from(*value) % (values.len() + 2)).cloned();
            document.insert(field.to_owned(), value.unwrap_or_else(|| Value::from(text.as_str())));
        }
        let read = MessageDraft::read(&document);
        assert_eq!(read, MessageDraft::read(&document));
        match read {
            Ok(draft) => {
                assert_eq!(draft.problems(), []);
                let message = draft.send(MessageId(Uuid::nil()), Timestamp::from_millis(0));
                let text = serde_json::to_string(&message).unwrap();
                assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), message);
            }
            Err(problems) => assert!(!problems.is_empty()),
        }
    });
}

/// Texts of any kind, and texts made of the characters of patterns: no panic, written as they were read, and what matches
/// is what the parts say.
#[test]
fn fuzz_topic_pattern() {
    const PIECES: &[&str] = &["a", "b", ".", "*", ">", "a.b", "-", "_", "\u{e9}", " "];
    bolero::check!().with_iterations(ITERATIONS).with_type::<(Vec<u8>, Vec<u8>, String)>().for_each(
        |(pieces, topic_pieces, noise)| {
            let join = |pieces: &[u8]| -> String {
                pieces.iter().map(|piece| PIECES[usize::from(*piece) % PIECES.len()]).collect()
            };
            for text in [join(pieces), noise.clone()] {
                let Ok(pattern) = text.parse::<TopicPattern>() else { continue };
                assert_eq!(pattern.to_string(), text);
                assert_eq!(pattern.exact().is_some(), text.parse::<Topic>().is_ok());
                let Ok(topic) = join(topic_pieces).parse::<Topic>() else { continue };
                assert_eq!(pattern.matches(&topic), means(&text, topic.as_str()), "{pattern} {topic}");
            }
        },
    );
}

/// Whether a pattern means a topic, told part by part from the front.
fn means(pattern: &str, topic: &str) -> bool {
    let split = |text: &str| -> Vec<String> { text.split('.').map(str::to_owned).collect() };
    let (pattern, topic) = (split(pattern), split(topic));
    let (fixed, is_open) = match pattern.split_last() {
        Some((last, before)) if last == ">" => (before, true),
        Some(_) | None => (&pattern[..], false),
    };
    let long_enough = if is_open { topic.len() > fixed.len() } else { topic.len() == fixed.len() };
    long_enough && fixed.iter().zip(&topic).all(|(wanted, found)| wanted == "*" || wanted == found)
}
