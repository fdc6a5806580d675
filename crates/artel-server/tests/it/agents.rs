//! Agents over HTTP: spawned, listed, steered, watched, and theirs who spawned them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use serde_json::{Value, json};

use crate::client::Client;
use crate::place::{Place, TestSkill, done, done_when_told};

/// Spawns an agent that is driven from outside, and returns its id.
pub(crate) async fn spawn(client: &Client, wish: Value) -> String {
    let spawned = client.post("/api/agents", wish).await.expect(201);
    spawned["agent"]["agent_id"].as_str().unwrap().to_owned()
}

async fn place() -> Place {
    let waits = done_when_told();
    Place::open(&[
        TestSkill("greet", json!({"allowed_tools": ["greet", "fails"]}), &done(r#"{"n":1}"#)),
        TestSkill("fails", json!({}), "exit 3"),
        TestSkill("waits", json!({"timeout": 100}), &waits),
    ])
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_spawned_works_and_is_shown() {
    let place = place().await;
    let answer = place.admin.post("/api/agents", json!({"skill": "greet", "name": "scout"})).await;
    let location = answer.header("location").to_owned();
    let spawned = answer.expect(201);
    assert_eq!(spawned["warnings"], json!([]));
    let id = spawned["agent"]["agent_id"].as_str().unwrap();
    assert_eq!(location, format!("/api/agents/{id}"));
    place.agents.wait(id.parse().unwrap()).await.unwrap();
    let shown = place.admin.get(&location).await.expect(200);
    assert_eq!((&shown["state"], &shown["results"]["greet"]), (&json!("completed"), &json!({"n": 1})));
    let metrics = place.admin.get(&format!("{location}/metrics")).await.expect(200);
    assert_eq!((&metrics["operation_count"], &metrics["success_rate"]), (&json!(1), &json!(1.0)));
    let explained = place.admin.get(&format!("{location}/policy?tools=greet,fails")).await.expect(200);
    assert_eq!(explained["decisions"][0]["allowed"], true);
    assert_eq!(explained["decisions"][1]["tool"], "fails/run");
    let freed = place.admin.tell(&format!("{location}/free")).await.expect(200);
    assert_eq!(freed["state"], "idle");
    let started = place.admin.tell(&format!("{location}/start")).await.expect(200);
    assert_eq!(started["agent_id"], id);
    place.agents.wait(id.parse().unwrap()).await.unwrap();
    assert_eq!(
        place.admin.get("/api/agents?name=scout&state=completed").await.expect(200)["items"][0]["agent_id"],
        id
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_spawn_says_why_with_typed_codes() {
    let place = place().await;
    let spawn = |wish: Value| place.admin.post("/api/agents", wish);
    let unknown = spawn(json!({"skill": "nobody"})).await;
    unknown.refused(422, "INVALID_PLAN");
    let invalid = spawn(json!({"odd": 1, "timeout": "x"})).await;
    invalid.refused(422, "INVALID_REQUEST");
    assert_eq!(invalid.body["details"]["errors"].as_array().unwrap().len(), 2);
    spawn(json!({"skills": ["nobody"]})).await.refused(422, "UNKNOWN_SKILL");
    spawn(json!({"role": "nobody"})).await.refused(422, "UNKNOWN_ROLE");
    spawn(json!({"parent": "5a6c2a1e-6c4b-4a57-9a53-3a8a0b3b6b11"})).await.refused(422, "UNKNOWN_PARENT");
    spawn(json!({"skills": [], "skill": "greet"})).await.refused(403, "TOOL_NOT_ALLOWED");
    spawn(json!({"task": "think", "driver": "llm"})).await.refused(422, "DRIVER_UNAVAILABLE");
    let parent = self::spawn(&place.admin, json!({"driver": "external"})).await;
    place.admin.tell(&format!("/api/agents/{parent}/terminate")).await.expect(200);
    spawn(json!({"driver": "external", "parent": parent})).await.refused(409, "PARENT_STATE");
    assert_eq!(place.admin.get("/api/agents").await.expect(200)["items"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_caller_has_a_program_started_that_the_operator_did_not_list() {
    let place = place().await;
    let person = place.person("ann").await;
    for client in [&place.admin, &person] {
        for path in ["/api/agents", "/agent/create"] {
            for wish in [
                json!({"driver": "command", "command": ["sh", "-c", "touch /tmp/x"], "task": "x"}),
                json!({"command": ["/bin/sh"], "task": "x"}),
                json!({"client": "claude", "task": "x"}),
                json!({"client": "claude", "command": ["sh", "-c", "id"], "task": "x"}),
            ] {
                let refused = client.post(path, wish).await;
                refused.refused(403, "CLIENT_NOT_ALLOWED");
                assert!(refused.body["message"].as_str().unwrap().contains("[clients] allowed"));
            }
        }
    }
    assert_eq!(place.admin.get("/api/agents").await.expect(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_is_called_for_an_agent() {
    let place = place().await;
    let id = spawn(&place.admin, json!({"driver": "external", "skills": ["greet"]})).await;
    let path = format!("/api/agents/{id}/execute");
    let called = place.admin.post(&path, json!({"operation": "greet"})).await.expect(200);
    assert_eq!((&called["ok"], &called["output"]), (&json!(true), &json!({"n": 1})));
    place.admin.post(&path, json!({"operation": "waits"})).await.refused(403, "TOOL_NOT_ALLOWED");
    place.admin.post(&path, json!({"operation": ""})).await.refused(422, "INVALID_PARAMETERS");
    let failed = place.admin.post(&path, json!({"operation": "fails"})).await.expect(200);
    assert_eq!((&failed["ok"], &failed["error"]["code"]), (&json!(false), &json!("OPERATION_FAILED")));
    place.admin.tell(&format!("/api/agents/{id}/terminate")).await.expect(200);
    place.admin.post(&path, json!({"operation": "greet"})).await.refused(409, "INVALID_STATE");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_paused_resumed_and_cancelled() {
    let place = place().await;
    let id = spawn(&place.admin, json!({"skill": "waits"})).await;
    let tell = |word: &str| {
        let (client, path) = (place.admin.clone(), format!("/api/agents/{id}/{word}"));
        async move { client.tell(&path).await }
    };
    assert_eq!(tell("pause").await.expect(200)["state"], "paused");
    tell("pause").await.refused(409, "INVALID_STATE");
    assert_eq!(tell("resume").await.expect(200)["state"], "running");
    assert_eq!(tell("cancel").await.expect(200)["state"], "cancelled");
    tell("start").await.refused(409, "INVALID_STATE");
    assert_eq!(tell("terminate").await.expect(200)["state"], "terminated");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_to_an_agent_is_streamed_to_its_end() {
    let place = place().await;
    let id = spawn(&place.admin, json!({"driver": "external"})).await;
    let path = format!("/api/agents/{id}/events");
    let mut reader = place.admin.stream(&path, None).await;
    let first = reader.next().await.unwrap();
    assert_eq!((first.id.as_str(), first.kind.as_str()), ("1", "spawned"));
    drop(reader);
    place.admin.post(&format!("/api/agents/{id}/execute"), json!({"operation": "greet"})).await.expect(200);
    let mut reader = place.admin.stream(&path, Some("1")).await;
    assert_eq!(reader.next().await.unwrap().kind, "started");
    place.admin.tell(&format!("/api/agents/{id}/terminate")).await.expect(200);
    let rest = reader.rest().await;
    let kinds: Vec<&str> = rest.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["ended", "terminated", "end"]);
    assert_eq!(rest.last().unwrap().data["state"], "terminated");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_whose_it_is() {
    let place = place().await;
    let (ann, bob) = (place.person("ann").await, place.person("bob").await);
    let id = spawn(&ann, json!({"driver": "external"})).await;
    let path = format!("/api/agents/{id}");
    for look in ["", "/policy", "/metrics", "/mailbox", "/events"] {
        bob.get(&format!("{path}{look}")).await.refused(404, "not_found");
    }
    for word in ["pause", "resume", "cancel", "terminate", "free", "start"] {
        bob.tell(&format!("{path}/{word}")).await.refused(404, "not_found");
    }
    bob.post(&format!("{path}/execute"), json!({"operation": "greet"})).await.refused(404, "not_found");
    // An agent of somebody else is no parent.
    bob.post("/api/agents", json!({"driver": "external", "parent": id})).await.refused(422, "UNKNOWN_PARENT");
    assert_eq!(bob.get("/api/agents").await.expect(200)["items"], json!([]));
    // What an administrator spawns below it is its owner's.
    let child = spawn(&place.admin, json!({"driver": "external", "parent": id})).await;
    assert_eq!(ann.get(&format!("/api/agents/{child}")).await.status, 200);
    assert_eq!(ann.get(&format!("/api/agents?parent={id}")).await.expect(200)["items"][0]["agent_id"], child);
    // Its runs are its owner's too.
    ann.post(&format!("{path}/execute"), json!({"operation": "greet"})).await.expect(200);
    assert_eq!(ann.get("/api/runs").await.expect(200)["items"].as_array().unwrap().len(), 1);
    assert_eq!(bob.get("/api/runs").await.expect(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spawn_with_a_key_happens_once() {
    let place = place().await;
    let spawn = |name: &str| {
        let (client, body) = (place.admin.clone(), json!({"driver": "external", "name": name}));
        async move { client.call("POST", "/api/agents", &[("Idempotency-Key", "k")], Some(&body)).await }
    };
    let (first, again) = (spawn("one").await.expect(201), spawn("one").await.expect(201));
    assert_eq!(first["agent"]["agent_id"], again["agent"]["agent_id"]);
    spawn("two").await.refused(409, "idempotency_conflict");
}

#[tokio::test(flavor = "multi_thread")]
async fn older_names_of_paths_answer() {
    let place = place().await;
    let spawned = place.admin.post("/agent/create", json!({"driver": "external"})).await.expect(201);
    let id = spawned["agent"]["agent_id"].as_str().unwrap();
    assert_eq!(place.admin.get(&format!("/agent/{id}")).await.expect(200)["agent_id"], id);
    let called =
        place.admin.post(&format!("/agent/{id}/execute"), json!({"operation": "greet"})).await.expect(200);
    assert_eq!(called["ok"], true);
    place.admin.with(None).post("/agent/create", json!({})).await.refused(401, "unauthorized");
}
