//! Plans over HTTP: checked, run, made of words, asked for.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use serde_json::{Value, json};

use crate::client::Client;
use crate::place::{Place, TestSkill, done, done_when_told};

/// Returns a plan of one tool.
pub(crate) fn plan(skill: &str, input: Value) -> Value {
    json!({
        "requestId": "6f1d2b1c-0d0a-4f1c-9a57-3d2f6f9f0a01",
        "tools": [{"toolId": "one", "skill": skill, "input": input}],
    })
}

/// Waits for the end of a run, and returns its result.
pub(crate) async fn end_of(client: &Client, run: &Value) -> Value {
    let id = run["run_id"].as_str().unwrap();
    let events = client.stream(&format!("/api/runs/{id}/events"), None).await.rest().await;
    assert_eq!(events.last().unwrap().kind, "end");
    client.get(&format!("/api/runs/{id}")).await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_checked_without_being_run() {
    let place = Place::open(&[TestSkill("greet", json!({}), &done(r#"{"n":1}"#))]).await;
    let good = place.admin.post("/api/plans/validate", plan("greet", json!({}))).await.expect(200);
    assert_eq!(good, json!({"valid": true, "tools": 1, "problems": []}));
    let bad = place.admin.post("/api/plans/validate", plan("nobody", json!({}))).await.expect(200);
    assert_eq!((&bad["valid"], &bad["problems"][0]["code"]), (&json!(false), &json!("unknown_skill")));
    let none = place.admin.post("/api/plans/validate", json!([1])).await.expect(200);
    assert_eq!(none["valid"], false);
    assert_eq!(place.admin.get("/api/runs").await.expect(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_runs_and_can_be_looked_at() {
    let place = Place::open(&[TestSkill("greet", json!({}), &done(r#"{"n":1}"#))]).await;
    let answer = place.admin.post("/api/plans/run", plan("greet", json!({}))).await;
    let location = answer.header("location").to_owned();
    let run = answer.expect(202);
    assert_eq!(location, format!("/api/runs/{}", run["run_id"].as_str().unwrap()));
    assert_eq!(run["owner"], "admin");
    let result = end_of(&place.admin, &run).await;
    assert_eq!(
        (&result["success"], &result["executionTrace"][0]["output"]),
        (&json!(true), &json!({"n": 1}))
    );
    let refused = place.admin.post("/api/plans/run", plan("nobody", json!({}))).await;
    refused.refused(422, "invalid_plan");
    assert_eq!(refused.body["details"]["problems"][0]["path"], "/tools/0/skill");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_asks_for_the_same_run() {
    let place = Place::open(&[
        TestSkill("greet", json!({}), &done(r#"{"n":1}"#)),
        TestSkill("part", json!({}), &done(r#"{"n":2}"#)),
    ])
    .await;
    let run = |client: &Client, skill: &str, key: &str| {
        let (client, key, body) = (client.clone(), key.to_owned(), plan(skill, json!({})));
        async move { client.call("POST", "/api/plans/run", &[("Idempotency-Key", &key)], Some(&body)).await }
    };
    let first = run(&place.admin, "greet", "k").await.expect(202);
    let again = run(&place.admin, "greet", "k").await.expect(202);
    assert_eq!(first["run_id"], again["run_id"]);
    run(&place.admin, "part", "k").await.refused(409, "idempotency_conflict");
    let other = run(&place.admin, "greet", "l").await.expect(202);
    assert_ne!(first["run_id"], other["run_id"]);
    // A key is its sender's alone.
    let ann = place.person("ann").await;
    let hers = run(&ann, "greet", "k").await.expect(202);
    assert_ne!(first["run_id"], hers["run_id"]);
    run(&place.admin, "greet", &"x".repeat(256)).await.refused(400, "invalid_idempotency_key");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_made_of_words() {
    let manifest = json!({"description": "Greets people in the morning.", "tags": ["greeting"]});
    let place = Place::open(&[TestSkill("greet-people", manifest, &done(r#"{"said":"hello"}"#))]).await;
    let wish = json!({"request": "greet people"});
    let made = place.admin.post("/api/plans/generate", wish.clone()).await.expect(200);
    assert_eq!(
        (&made["planner"], &made["plan"]["tools"][0]["skill"]),
        (&json!("pattern"), &json!("greet-people"))
    );
    place.admin.post("/api/plans/generate", json!({"request": " "})).await.refused(422, "invalid_body");
    place
        .admin
        .post("/api/plans/generate", json!({"request": "x", "odd": 1}))
        .await
        .refused(422, "invalid_body");
    let answer = place.admin.call("POST", "/api/plans/ask", &[("Idempotency-Key", "k")], Some(&wish)).await;
    let location = answer.header("location").to_owned();
    let asked = answer.expect(202);
    let again = place
        .admin
        .call("POST", "/api/plans/ask", &[("Idempotency-Key", "k")], Some(&wish))
        .await
        .expect(202);
    assert_eq!(asked["ask_id"], again["ask_id"]);
    let answered = loop {
        let status = place.admin.get(&location).await.expect(200);
        match status["runs"].get(0) {
            Some(run) => drop(end_of(&place.admin, &json!({"run_id": run})).await),
            None => tokio::task::yield_now().await,
        }
        if status["state"] == "answered" {
            break status;
        }
    };
    assert_eq!(answered["result"]["success"], true);
    assert_eq!(answered["attempts"].as_array().unwrap().len(), 1);
    place.person("ann").await.get(&location).await.refused(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_needs_the_right_scope() {
    let place = Place::open(&[TestSkill("waits", json!({}), &done_when_told())]).await;
    let reader = place.somebody("ann", &["catalog:read"]).await;
    reader.post("/api/plans/run", plan("waits", json!({}))).await.refused(403, "forbidden");
}
