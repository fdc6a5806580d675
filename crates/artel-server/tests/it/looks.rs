//! What commands ask besides: where a run stands, its log so far, what is left over, and removing what is old.

use artel_model::agent::Cause;
use serde_json::{Value, json};

use crate::place::{Place, TestSkill, done, done_when_told};
use crate::plans::{end_of, plan};

#[tokio::test(flavor = "multi_thread")]
async fn a_run_says_whether_somebody_drives_it_and_what_happened_so_far() {
    let place = Place::open(&[TestSkill("wait", json!({}), &done_when_told())]).await;
    let run = place.admin.post("/api/runs", json!({"skill": "wait"})).await.expect(202);
    assert_eq!(run["repeated"], false);
    let path = |then: &str| format!("/api/runs/{}/{then}", run["run_id"].as_str().unwrap());
    let status = place.admin.get(&path("status")).await.expect(200);
    assert_eq!((&status["state"], &status["driven"]), (&json!("running"), &json!(true)));
    assert_eq!(place.admin.get("/api/runs").await.expect(200)["items"], json!([status]));
    let first = place.admin.get(&path("log?limit=1")).await.expect(200);
    assert_eq!((first["items"].as_array().unwrap().len(), &first["items"][0]["revision"]), (1, &json!(1)));
    assert_eq!(first["items"][0]["event"]["type"], "submitted");
    place.go("wait");
    end_of(&place.admin, &run).await;
    let status = place.admin.get(&path("status")).await.expect(200);
    assert_eq!((&status["state"], &status["driven"]), (&json!("succeeded"), &json!(false)));
    let rest = place.admin.get(&path("log?after=1")).await.expect(200);
    let last = rest["items"].as_array().unwrap().last().unwrap()["revision"].as_u64().unwrap();
    assert_eq!(place.admin.get(&path(&format!("log?after={last}"))).await.expect(200)["items"], json!([]));
    let ann = place.person("ann").await;
    ann.get(&path("status")).await.refused(404, "not_found");
    ann.get(&path("log")).await.refused(404, "not_found");
    place.admin.get(&path("log?limit=0")).await.refused(400, "invalid_query");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_was_used_for_something_else_names_the_run() {
    let skills = [TestSkill("greet", json!({}), &done("{}")), TestSkill("part", json!({}), &done("{}"))];
    let place = Place::open(&skills).await;
    let start = async |skill: &str| {
        let headers = [("idempotency-key", "once")];
        place.admin.call("POST", "/api/runs", &headers, Some(&json!({"skill": skill}))).await
    };
    let run = start("greet").await.expect(202);
    let again = start("greet").await.expect(202);
    assert_eq!((&again["run_id"], &again["repeated"]), (&run["run_id"], &json!(true)));
    let other = start("part").await;
    other.refused(409, "idempotency_conflict");
    assert_eq!(other.body["details"]["run_id"], run["run_id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_has_a_log_and_is_not_left_over_while_somebody_sees_to_it() {
    let place = Place::open(&[TestSkill("wait", json!({}), &done_when_told())]).await;
    let spawned = place.admin.post("/api/agents", json!({"skill": "wait"})).await.expect(201);
    let id = spawned["agent"]["agent_id"].as_str().unwrap();
    let log = place.admin.get(&format!("/api/agents/{id}/log?limit=1")).await.expect(200);
    assert_eq!(log["items"][0]["event"]["type"], "spawned");
    assert_eq!(place.admin.get("/api/agents/left-over").await.expect(200), json!({"agent_ids": []}));
    place.go("wait");
    place.agents.wait(id.parse().unwrap()).await.unwrap();
    let ann = place.person("ann").await;
    ann.get(&format!("/api/agents/{id}/log")).await.refused(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_old_is_removed_by_an_administrator_and_that_is_written_down() {
    let place = Place::open(&[TestSkill("greet", json!({}), &done("{}"))]).await;
    let run = place.admin.post("/api/runs", json!({"skill": "greet"})).await.expect(202);
    end_of(&place.admin, &run).await;
    let spawned = place.admin.post("/api/agents", json!({"skill": "greet"})).await.expect(201);
    let id = spawned["agent"]["agent_id"].as_str().unwrap();
    place.agents.wait(id.parse().unwrap()).await.unwrap();
    let ann = place.person("ann").await;
    let before = |time: &str| json!({"before": time});
    for path in ["/api/runs/prune", "/api/agents/prune"] {
        ann.post(path, before("2100-01-01T00:00:00Z")).await.refused(403, "forbidden");
        place.admin.post(path, json!({})).await.refused(422, "invalid_body");
    }
    let nothing = place.admin.post("/api/runs/prune", before("2000-01-01T00:00:00Z")).await.expect(200);
    assert_eq!(nothing, json!({"removed": 0, "assets": 0}));
    let runs = place.admin.post("/api/runs/prune", before("2100-01-01T00:00:00Z")).await.expect(200);
    assert_eq!(runs["removed"], 2);
    place.agents.terminate(id.parse().unwrap(), Cause::by("somebody")).await.unwrap();
    let agents = place.admin.post("/api/agents/prune", before("2100-01-01T00:00:00Z")).await.expect(200);
    assert_eq!(agents, json!({"removed": 1, "folders": 0}));
    assert_eq!(place.admin.get("/api/runs").await.expect(200)["items"], json!([]));
    let audit = place.admin.get("/api/audit").await.expect(200);
    let told: Vec<&Value> = audit["items"].as_array().unwrap().iter().map(|entry| &entry["action"]).collect();
    assert!(told.contains(&&json!("runs_pruned")) && told.contains(&&json!("agents_pruned")), "{audit}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_in_words_is_waited_for() {
    let place = Place::open(&[TestSkill("greet", json!({}), &done("{}"))]).await;
    let asked = place.admin.post("/api/plans/ask", json!({"request": "greet", "planner": "pattern"})).await;
    let path = format!("/api/plans/asks/{}", asked.expect(202)["ask_id"].as_str().unwrap());
    let mut status = json!({"runs": []});
    while status["state"] != "answered" {
        let known = status["runs"].as_array().unwrap().len();
        status = place.admin.get(&format!("{path}?wait_ms=30000&known_runs={known}")).await.expect(200);
    }
    assert!(status["result"].is_object(), "{status}");
    place.admin.get(&format!("{path}?wait_ms=600001")).await.refused(400, "invalid_query");
    let wish = json!({"request": "greet", "planner": "llm"});
    place.admin.post("/api/plans/generate", wish).await.refused(422, "planner_unavailable");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_may_say_how_many_tools_run_at_once() {
    let place = Place::open(&[TestSkill("greet", json!({}), &done("{}"))]).await;
    let run = place.admin.post("/api/plans/run?slots=1", plan("greet", json!({}))).await.expect(202);
    let log = format!("/api/runs/{}/log?limit=1", run["run_id"].as_str().unwrap());
    assert_eq!(place.admin.get(&log).await.expect(200)["items"][0]["event"]["slots"], 1);
    place.admin.post("/api/plans/run?slots=0", plan("greet", json!({}))).await.refused(400, "invalid_query");
}
