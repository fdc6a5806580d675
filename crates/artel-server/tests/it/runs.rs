//! Runs over HTTP: started, listed, watched, steered.

use serde_json::{Value, json};

use crate::place::{Place, TestSkill, done, done_when_told};
use crate::plans::end_of;

fn waits() -> String {
    done_when_told()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_runs_with_its_parameters() {
    let schema = json!({"parameters_schema": {
        "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false,
    }});
    let place = Place::open(&[TestSkill("greet", schema, &done(r#"{"n":1}"#))]).await;
    let run =
        place.admin.post("/api/runs", json!({"skill": "greet", "params": {"name": "Ann"}})).await.expect(202);
    assert_eq!(run["kind"], json!({"kind": "skill", "skill": "greet"}));
    assert_eq!(end_of(&place.admin, &run).await["success"], true);
    let records = place.admin.get("/api/executions?skill=greet&status=success").await.expect(200);
    let record = &records["items"][0];
    assert_eq!((&record["parameters"], &record["result"]), (&json!({"name": "Ann"}), &json!({"n": 1})));
    let id = record["execution_id"].as_str().unwrap();
    assert_eq!(place.admin.get(&format!("/api/executions/{id}")).await.expect(200), *record);
    let stats = place.admin.get("/api/executions/stats").await.expect(200);
    assert_eq!(
        (&stats["items"][0]["of"], &stats["items"][0]["success_rate"]),
        (&json!("greet"), &json!(1.0))
    );
    let ann = place.person("ann").await;
    assert_eq!(ann.get("/api/runs/stats").await.expect(200)["items"], json!([]));
    ann.get(&format!("/api/executions/{id}")).await.refused(404, "not_found");
    assert_eq!(ann.get("/api/executions").await.expect(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_run_is_refused_with_everything_that_is_wrong() {
    let place = Place::open(&[TestSkill("greet", json!({}), &done("{}"))]).await;
    let post = |body: Value| place.admin.post("/api/runs", body);
    post(json!({"skill": "nobody"})).await.refused(422, "invalid_plan");
    post(json!({})).await.refused(422, "invalid_body");
    post(json!({"skill": "greet", "plan": {}})).await.refused(422, "invalid_body");
    post(json!({"plan": {}, "params": {"a": 1}})).await.refused(422, "invalid_body");
    post(json!({"skill": "greet", "odd": 1})).await.refused(422, "invalid_body");
    post(json!({"skill": "greet", "chain": true, "params": {"greet": 1}})).await.refused(422, "invalid_body");
    let text = place.admin.call("POST", "/api/runs", &[("content-type", "text/plain")], None).await;
    text.refused(415, "unsupported_media_type");
    let place_of = |path: &str| format!("/api/runs{path}");
    place.admin.get(&place_of("?odd=1")).await.refused(400, "unknown_parameter");
    place.admin.get(&place_of("?state=odd")).await.refused(400, "invalid_query");
    place.admin.get(&place_of("?limit=0")).await.refused(400, "invalid_query");
    place.admin.get(&place_of("?after=odd")).await.refused(400, "invalid_cursor");
    place.admin.get(&place_of("/odd")).await.refused(404, "not_found");
    place.admin.get(&place_of("/5a6c2a1e-6c4b-4a57-9a53-3a8a0b3b6b11")).await.refused(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_listed_page_by_page_to_their_owner() {
    let place = Place::open(&[TestSkill("greet", json!({}), &done("{}"))]).await;
    let (ann, bob) = (place.person("ann").await, place.person("bob").await);
    let mut hers = Vec::new();
    for _ in 0..3 {
        let run = ann.post("/api/runs", json!({"skill": "greet"})).await.expect(202);
        end_of(&ann, &run).await;
        hers.insert(0, run["run_id"].clone());
    }
    let his = bob.post("/api/runs", json!({"skill": "greet"})).await.expect(202);
    end_of(&bob, &his).await;
    let ids = |page: &Value| -> Vec<Value> {
        page["items"].as_array().unwrap().iter().map(|run| run["run_id"].clone()).collect()
    };
    let first = ann.get("/api/runs?limit=2&state=succeeded,failed").await.expect(200);
    assert_eq!(ids(&first), hers[..2]);
    let next = first["next"].as_str().unwrap();
    let second = ann.get(&format!("/api/runs?limit=2&after={next}")).await.expect(200);
    assert_eq!((ids(&second), &second["next"]), (hers[2..].to_vec(), &Value::Null));
    assert_eq!(ids(&ann.get("/api/runs?until=2000-01-01T00:00:00Z").await.expect(200)), Vec::<Value>::new());
    ann.get("/api/runs?owner=bob").await.refused(403, "forbidden");
    assert_eq!(ids(&place.admin.get("/api/runs?owner=bob").await.expect(200)), [his["run_id"].clone()]);
    assert_eq!(ids(&place.admin.get("/api/runs").await.expect(200)).len(), 4);
    // What is somebody else's does not exist.
    let path = format!("/api/runs/{}", hers[0].as_str().unwrap());
    bob.get(&path).await.refused(404, "not_found");
    for word in ["cancel", "pause", "resume", "approve", "reject"] {
        bob.tell(&format!("{path}/{word}")).await.refused(404, "not_found");
    }
    bob.get(&format!("{path}/events")).await.refused(404, "not_found");
    assert_eq!(place.admin.get(&path).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_paused_resumed_and_cancelled() {
    let place = Place::open(&[TestSkill("waits", json!({"timeout": 100}), &waits())]).await;
    let run = place.admin.post("/api/runs", json!({"skill": "waits"})).await.expect(202);
    let path = format!("/api/runs/{}", run["run_id"].as_str().unwrap());
    place.admin.tell(&format!("{path}/resume")).await.refused(409, "invalid_state");
    assert_eq!(place.admin.tell(&format!("{path}/pause")).await.expect(200)["state"], "paused");
    assert_eq!(place.admin.tell(&format!("{path}/resume")).await.expect(200)["state"], "running");
    place.admin.tell(&format!("{path}/cancel")).await.expect(200);
    let result = end_of(&place.admin, &run).await;
    assert_eq!(result["failureReason"], "cancelled");
    let over = place.admin.tell(&format!("{path}/cancel")).await;
    over.refused(409, "run_over");
    assert_eq!(over.body["details"]["state"], "cancelled");
    let events = place.admin.stream(&format!("{path}/events"), None).await.rest().await;
    let paused = events.iter().find(|event| event.kind == "pause_requested").unwrap();
    assert_eq!(paused.data["event"]["by"], "admin");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_waits_for_approval() {
    let steps = json!({"steps": [{"id": "one", "skill": "greet", "approval": true}]});
    let place =
        Place::open(&[TestSkill("greet", json!({}), &done(r#"{"n":1}"#)), TestSkill("careful", steps, "")])
            .await;
    for (word, success) in [("approve", true), ("reject", false)] {
        let run = place.admin.post("/api/runs", json!({"skill": "careful"})).await.expect(202);
        let path = format!("/api/runs/{}", run["run_id"].as_str().unwrap());
        let say = |body: Value| {
            let (client, path) = (place.admin.clone(), format!("{path}/{word}"));
            async move { client.post(&path, body).await }
        };
        let other = say(json!({"step": "other"})).await;
        other.refused(409, "not_awaiting_approval");
        assert_eq!(other.body["details"]["awaiting"], json!(["careful/one"]));
        say(json!({"step": ""})).await.refused(422, "invalid_body");
        say(json!({"step": "careful/one", "note": "fine"})).await.expect(200);
        assert_eq!(end_of(&place.admin, &run).await["success"], success, "{word}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_taken_up_again_misses_nothing() {
    let place = Place::open(&[TestSkill("waits", json!({"timeout": 100}), &waits())]).await;
    let run = place.admin.post("/api/runs", json!({"skill": "waits"})).await.expect(202);
    let path = format!("/api/runs/{}/events", run["run_id"].as_str().unwrap());
    let mut reader = place.admin.stream(&path, None).await;
    let (first, second) = (reader.next().await.unwrap(), reader.next().await.unwrap());
    assert_eq!((first.id.as_str(), first.kind.as_str()), ("1", "submitted"));
    assert_eq!((second.id.as_str(), second.kind.as_str()), ("2", "started"));
    drop(reader);
    place.go("waits");
    let rest = place.admin.stream(&path, Some(&second.id)).await.rest().await;
    let ids: Vec<u64> = rest.iter().map(|event| event.id.parse().unwrap()).collect();
    let (end, events) = ids.split_last().unwrap();
    assert_eq!(events, (3..=*end).collect::<Vec<_>>());
    let last = rest.last().unwrap();
    assert_eq!((last.kind.as_str(), &last.data["state"]), ("end", &json!("succeeded")));
    // Who has everything is told the end again.
    let again = place.admin.stream(&path, Some(&last.id)).await.rest().await;
    assert_eq!(again, std::slice::from_ref(last));
    let wrong = place.admin.call("GET", &path, &[("Last-Event-ID", "odd")], None).await;
    wrong.refused(400, "invalid_last_event_id");
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_are_counted_and_end_with_the_server() {
    let skills = [TestSkill("waits", json!({"timeout": 100}), &waits())];
    let mut place = Place::open_with(&skills, |config| config.streams_max = 1).await;
    let run = place.admin.post("/api/runs", json!({"skill": "waits"})).await.expect(202);
    let path = format!("/api/runs/{}/events", run["run_id"].as_str().unwrap());
    let mut reader = place.admin.stream(&path, None).await;
    assert_eq!(reader.next().await.unwrap().kind, "submitted");
    let refused = place.admin.get(&path).await;
    refused.refused(503, "too_many_streams");
    assert!(!refused.header("retry-after").is_empty());
    place.stop().await;
    let rest = reader.rest().await;
    assert!(rest.iter().all(|event| event.kind != "end"), "{rest:?}");
}
