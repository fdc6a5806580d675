//! Messages: sent, read, published and answered, by several processes on one store.

use artel_model::contract::DocumentKind;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::running::{Running, eventually};
use crate::schemas;
use crate::session::{Session, steady};

const CORRELATION: &str = "8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c";

/// A session with agents of these names.
fn with_agents(names: &[&str]) -> Session {
    let session = Session::new();
    for name in names {
        session.json(&["agent", "spawn", "--label", name]);
    }
    session
}

fn payloads(mail: &Value) -> Vec<Value> {
    mail["items"].as_array().unwrap().iter().map(|item| item["payload"].clone()).collect()
}

#[track_caller]
fn check(session: &Session, arguments: &[&str], code: i32, error: &str) {
    let output = session.output(&[&["message"], arguments, &["--json"]].concat());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    assert_eq!(document["error"].as_str().unwrap_or_default(), error, "{arguments:?}: {told}");
}

#[test]
fn mail_is_read_by_urgency_and_then_by_time() {
    let session = with_agents(&["chief", "scout"]);
    let sent = session.json(&["message", "send", "--to", "scout", "--from", "chief", "task=patrol", "n=1"]);
    schemas::check(DocumentKind::Message, &sent);
    assert_eq!(
        (&sent["message_type"], &sent["payload"]),
        (&json!("event"), &json!({"task": "patrol", "n": 1}))
    );
    session.json(&["message", "send", "--to", "scout", "{\"n\": 2}"]);
    session.json(&["message", "send", "--to", "scout", "--priority", "1", "n=3"]);
    let peeked = session.json(&["message", "read", "scout", "--peek"]);
    assert_eq!(payloads(&peeked), [json!({"n": 3}), json!({"task": "patrol", "n": 1}), json!({"n": 2})]);
    let first = session.json(&["message", "read", "scout", "--limit", "1"]);
    schemas::check(DocumentKind::Message, &first["items"][0]);
    assert_eq!((payloads(&first), &first["items"][0]["read"]), (vec![json!({"n": 3})], &json!(false)));
    assert_eq!(payloads(&session.json(&["message", "read", "scout"])).len(), 2);
    assert_eq!(payloads(&session.json(&["message", "read", "scout"])).len(), 0);
    let all = session.json(&["message", "read", "scout", "--all"]);
    assert_eq!((payloads(&all).len(), &all["items"][0]["read"]), (3, &json!(true)));
    assert_snapshot!(steady(&session.run(&["message", "read", "scout", "--all", "--limit", "1"])), @r#"
    exit 0
    --- stdout
    [when]  read  1 event  system  [id]  {"n":3}
    --- stderr
    1 message
    "#);
    assert_eq!(session.json(&["message", "counts"]), json!({"unread": 0, "read": 3, "dead": {}}));
}

#[test]
fn a_message_with_the_same_id_is_the_same() {
    let session = with_agents(&["scout"]);
    let send = || session.json(&["message", "send", "--to", "scout", "--id", CORRELATION, "n=1"]);
    assert_eq!((&send()["duplicate"], &send()["duplicate"]), (&json!(false), &json!(true)));
    assert_eq!(payloads(&session.json(&["message", "read", "scout"])).len(), 1);
}

#[test]
fn everybody_but_the_sender_gets_a_broadcast() {
    let session = with_agents(&["one", "two", "three"]);
    let sent = session.json(&["message", "send", "--to", "broadcast", "--from", "one", "news=good"]);
    assert_eq!(
        (&sent["message_type"], sent["recipients"].as_array().unwrap().len()),
        (&json!("broadcast"), 2)
    );
    assert_eq!(payloads(&session.json(&["message", "read", "one"])).len(), 0);
    assert_eq!(payloads(&session.json(&["message", "read", "two"])), [json!({"news": "good"})]);
}

#[test]
fn what_cannot_be_sent_is_told_with_its_code() {
    let session = with_agents(&["chief", "scout", "gone"]);
    session.json(&["message", "send", "--to", "gone", "n=1"]);
    session.json(&["agent", "terminate", "gone"]);
    check(&session, &["send", "--to", "gone", "n=1"], 1, "AGENT_TERMINATED");
    check(&session, &["send", "--to", "scout", "--from", "gone", "n=1"], 1, "SENDER_TERMINATED");
    check(&session, &["send", "--to", "scout", "--type", "response", "n=1"], 2, "INVALID_MESSAGE");
    let answer =
        ["send", "--to", "scout", "--from", "chief", "--type", "response", "--correlation", CORRELATION];
    check(&session, &answer, 1, "NO_SUCH_REQUEST");
    check(&session, &["send", "--to", "scout", "--ttl", "0", "--priority", "11"], 2, "INVALID_MESSAGE");
    check(&session, &["publish", "a..b", "n=1"], 2, "INVALID_MESSAGE");
    check(&session, &["send", "--to", "nobody", "n=1"], 1, "");
    check(&session, &["send", "--to", "scout", "{"], 2, "");
    check(&session, &["send", "--to", "scout", "word"], 2, "");
    check(&session, &["send", "--to", "scout", "@nowhere.json"], 3, "");
    check(&session, &["listen", "a.>.b"], 2, "");
    check(&session, &["dead", "--after", "x"], 2, "");
    let dead = session.json(&["message", "dead", "gone"]);
    assert_eq!(
        (&dead["items"][0]["reason"], &dead["items"][0]["message"]["payload"]),
        (&json!("recipient_ended"), &json!({"n": 1}))
    );
    assert_eq!(session.json(&["message", "counts"])["dead"], json!({"recipient_ended": 1}));
    assert_snapshot!(session.run(&["message", "send", "--to", "scout", "--ttl", "0", "n=1"]), @"
    exit 2
    --- stderr
    error: INVALID_MESSAGE: `ttl`: it is a number of seconds from 1 to 3600
    ");
}

#[test]
fn mail_that_nobody_reads_in_time_is_a_dead_letter() {
    let session = with_agents(&["scout"]);
    session.json(&["message", "send", "--to", "scout", "--ttl", "1", "n=1"]);
    eventually("it expires", || session.json(&["message", "counts"])["dead"]["expired"] == 1);
    assert_eq!(payloads(&session.json(&["message", "read", "scout"])).len(), 0);
    assert_snapshot!(steady(&session.run(&["message", "dead", "scout"])), @r#"
    exit 0
    --- stdout
    [when]  expired  [id]  [id]  {"n":1}
    --- stderr
    1 dead letter
    "#);
}

#[test]
fn who_listens_hears_what_another_process_publishes() {
    let session = with_agents(&["scout"]);
    session.json(&["message", "publish", "kitchen.door", "open=true"]);
    session.json(&["message", "publish", "hall.door", "open=true"]);
    let arguments =
        ["message", "listen", "kitchen.*", "--replay", "5", "--limit", "3", "--timeout", "60", "--json"];
    let mut listening = Running::start(&session, &arguments);
    listening.hear("listening to kitchen.*");
    session.json(&["message", "publish", "kitchen.door", "--from", "scout", "open=false"]);
    session.json(&["message", "publish", "garden.door", "open=false"]);
    session.json(&["message", "publish", "kitchen.light", "on=true"]);
    let ended = listening.end();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    let heard: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    heard.iter().for_each(|message| schemas::check(DocumentKind::Message, message));
    let told: Vec<(&str, &Value)> =
        heard.iter().map(|one| (one["topic"].as_str().unwrap(), &one["payload"])).collect();
    assert_eq!(
        told,
        [
            ("kitchen.door", &json!({"open": true})),
            ("kitchen.door", &json!({"open": false})),
            ("kitchen.light", &json!({"on": true})),
        ]
    );
}

#[test]
fn listening_ends_with_ctrl_c_or_its_time() {
    let session = with_agents(&[]);
    let mut listening = Running::start(&session, &["message", "listen", ">"]);
    listening.hear("listening to >");
    listening.signal("INT");
    assert_eq!(listening.end().status.code(), Some(0));
    assert_snapshot!(session.run(&["message", "listen", "a.b", "--timeout", "1"]), @"
    exit 0
    --- stderr
    listening to a.b
    0 events
    ");
}

#[test]
fn a_reader_waits_for_mail_of_another_process() {
    let session = with_agents(&["scout"]);
    let mut reading = Running::start(&session, &["message", "read", "scout", "--wait", "60", "--json"]);
    reading.hear("waiting for mail");
    session.json(&["message", "send", "--to", "scout", "n=1"]);
    let ended = reading.end();
    assert_eq!(payloads(&serde_json::from_str(&ended.stdout).unwrap()), [json!({"n": 1})]);
}

#[test]
fn a_request_is_answered_and_a_ring_is_refused() {
    let session = with_agents(&["chief", "scout"]);
    let request = [
        "message",
        "request",
        "--from",
        "chief",
        "--to",
        "scout",
        "--correlation",
        CORRELATION,
        "ready=null",
    ];
    let asking = Running::start(&session, &[&request[..], &["--timeout", "60", "--json"]].concat());
    eventually("it is asked", || payloads(&session.json(&["message", "read", "scout", "--peek"])).len() == 1);
    let back =
        session.run(&["message", "request", "--from", "scout", "--to", "chief", "--timeout", "60", "n=1"]);
    assert_snapshot!(steady(&back), @"
    exit 1
    --- stderr
    waiting for an answer, at most [time]
    error: DEADLOCK: they would wait for each other: [id] -> [id] -> [id]
    hint: one of them has to answer before it asks
    ");
    check(&session, &["request", "--from", "scout", "--to", "chief", "n=1"], 1, "DEADLOCK");
    let response = [
        "message",
        "send",
        "--from",
        "scout",
        "--to",
        "chief",
        "--type",
        "response",
        "--correlation",
        CORRELATION,
    ];
    session.json(&[&response[..], &["ready=true"]].concat());
    let ended = asking.end();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    let answer: Value = serde_json::from_str(&ended.stdout).unwrap();
    schemas::check(DocumentKind::Message, &answer);
    assert_eq!(
        (&answer["payload"], &answer["correlation_id"]),
        (&json!({"ready": true}), &json!(CORRELATION))
    );
    check(&session, &["request", "--from", "chief", "--to", "scout", "--timeout", "1", "n=1"], 1, "TIMEOUT");
}

#[test]
fn a_bus_that_is_away_only_makes_messages_later() {
    let mut session = with_agents(&["scout"]);
    session.set("ARTEL_BUS", "redis://ada:secret@127.0.0.1:1/");
    let told = session.run(&["message", "send", "--to", "scout", "n=1"]);
    assert!(
        told.contains("exit 0") && told.contains("cannot be reached") && !told.contains("secret"),
        "{told}"
    );
    assert_eq!(payloads(&session.json(&["message", "read", "scout"])), [json!({"n": 1})]);
    let doctor = session.run(&["doctor"]);
    assert!(
        doctor.contains("exit 1") && doctor.contains("redis://127.0.0.1:1/") && !doctor.contains("secret"),
        "{doctor}"
    );
    session.set("ARTEL_BUS", "nats://x");
    assert_eq!(session.output(&["message", "counts"]).status.code(), Some(2));
}
