//! Messages over HTTP: between agents of one owner.

use serde_json::{Value, json};

use crate::agents::spawn;
use crate::client::Client;
use crate::place::Place;

async fn agent(client: &Client) -> String {
    spawn(client, json!({"driver": "external"})).await
}

fn event(from: &str, to: &str) -> Value {
    json!({"sender_id": from, "recipient_id": to, "message_type": "event", "payload": {"says": "hello"}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_lies_in_its_mailbox_until_it_is_read() {
    let place = Place::open(&[]).await;
    let ann = place.person("ann").await;
    let (one, two) = (agent(&ann).await, agent(&ann).await);
    let sent = ann.post("/api/messages", event(&one, &two)).await.expect(201);
    assert_eq!((&sent["recipients"], &sent["duplicate"]), (&json!([two]), &json!(false)));
    let mut twice = event(&one, &two);
    twice["message_id"] = sent["message"]["message_id"].clone();
    assert_eq!(ann.post("/api/messages", twice).await.expect(201)["duplicate"], true);
    let peeked = ann.get(&format!("/api/agents/{two}/mailbox")).await.expect(200);
    assert_eq!(peeked["items"][0]["payload"], json!({"says": "hello"}));
    let read = ann.post("/api/messages/read", json!({"agent_id": two, "wait_ms": 1000})).await.expect(200);
    assert_eq!((&read["items"][0]["read"], read["items"].as_array().unwrap().len()), (&json!(false), 1));
    let again = ann.post("/api/messages/read", json!({"agent_id": two, "with_read": true})).await.expect(200);
    assert_eq!(again["items"][0]["read"], true);
    let sent = ann.post("/api/messages", event(&one, &two)).await.expect(201);
    let mark = json!({"agent_id": two, "message_ids": [sent["message"]["message_id"]]});
    assert_eq!(ann.post("/api/messages/mark-read", mark.clone()).await.expect(200)["marked"], 1);
    assert_eq!(ann.post("/api/messages/mark-read", mark).await.expect(200)["marked"], 0);
    let counts = place.admin.get("/api/messages/counts").await.expect(200);
    assert_eq!((&counts["unread"], &counts["read"]), (&json!(0), &json!(2)));
    ann.get("/api/messages/counts").await.refused(403, "forbidden");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_agents_of_ones_own_speak_and_are_spoken_to() {
    let place = Place::open(&[]).await;
    let (ann, bob) = (place.person("ann").await, place.person("bob").await);
    let (hers, his) = (agent(&ann).await, agent(&bob).await);
    bob.post("/api/messages", event(&hers, &his)).await.refused(404, "not_found");
    bob.post("/api/messages", event(&his, &hers)).await.refused(403, "forbidden");
    bob.post("/api/messages", event("system", &his)).await.refused(403, "forbidden");
    let mut everybody = event(&his, "broadcast");
    everybody["message_type"] = json!("broadcast");
    bob.post("/api/messages", everybody.clone()).await.refused(403, "forbidden");
    bob.post("/api/messages/read", json!({"agent_id": hers})).await.refused(404, "not_found");
    bob.post("/api/messages/mark-read", json!({"agent_id": hers, "message_ids": []}))
        .await
        .refused(404, "not_found");
    bob.get("/api/messages/dead-letters").await.refused(403, "forbidden");
    bob.get(&format!("/api/messages/dead-letters?agent_id={hers}")).await.refused(404, "not_found");
    place.admin.post("/api/messages", event(&his, &hers)).await.expect(201);
    place.admin.post("/api/messages", event("system", &his)).await.expect(201);
    let sent = place.admin.post("/api/messages", everybody).await.expect(201);
    assert_eq!(sent["recipients"], json!([hers]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_sent_says_why() {
    let place = Place::open(&[]).await;
    let (one, two) = (agent(&place.admin).await, agent(&place.admin).await);
    let send = |body: Value| place.admin.post("/api/messages", body);
    let invalid = send(json!({"sender_id": one, "odd": 1})).await;
    invalid.refused(422, "INVALID_MESSAGE");
    assert!(invalid.body["details"]["problems"].as_array().unwrap().len() >= 3);
    send(event(&one, "5a6c2a1e-6c4b-4a57-9a53-3a8a0b3b6b11")).await.refused(404, "UNKNOWN_AGENT");
    let mut answer = event(&one, &two);
    answer["message_type"] = json!("response");
    answer["correlation_id"] = json!("5a6c2a1e-6c4b-4a57-9a53-3a8a0b3b6b11");
    send(answer).await.refused(409, "NO_SUCH_REQUEST");
    place.admin.post("/api/messages", event(&one, &two)).await.expect(201);
    place.admin.tell(&format!("/api/agents/{two}/terminate")).await.expect(200);
    send(event(&one, &two)).await.refused(409, "AGENT_TERMINATED");
    send(event(&two, &one)).await.refused(409, "SENDER_TERMINATED");
    let dead =
        place.admin.get(&format!("/api/messages/dead-letters?agent_id={two}&limit=1")).await.expect(200);
    assert_eq!(dead["items"][0]["reason"], "recipient_ended");
    place.admin.post("/api/messages/publish", event(&one, &one)).await.refused(422, "INVALID_MESSAGE");
    place
        .admin
        .post("/api/messages/read", json!({"agent_id": one, "wait_ms": 600_001}))
        .await
        .refused(400, "invalid_query");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_waits_for_its_answer() {
    let place = Place::open(&[]).await;
    let ann = place.person("ann").await;
    let (asks, answers) = (agent(&ann).await, agent(&ann).await);
    let question = json!({"sender_id": asks, "recipient_id": answers, "payload": {"n": 1}});
    let asking = ann.post("/api/messages/request?timeout_ms=20000", question.clone());
    let answering = async {
        let wish = json!({"agent_id": answers, "wait_ms": 20_000});
        let mail = ann.post("/api/messages/read", wish).await.expect(200);
        let request = &mail["items"][0];
        let answer = json!({
            "sender_id": answers, "recipient_id": request["sender_id"], "message_type": "response",
            "correlation_id": request["correlation_id"], "payload": {"n": 2},
        });
        ann.post("/api/messages", answer).await.expect(201)
    };
    let (answer, _) = tokio::join!(asking, answering);
    assert_eq!(answer.expect(200)["payload"], json!({"n": 2}));
    ann.post("/api/messages/request?timeout_ms=1", question.clone()).await.refused(504, "TIMEOUT");
    ann.post("/api/messages/request?timeout_ms=600001", question).await.refused(400, "invalid_query");
}
