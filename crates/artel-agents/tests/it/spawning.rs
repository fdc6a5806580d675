//! Spawning: what is refused leaves nothing behind, what is spawned begins.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use artel_agents::{AtLimit, SpawnFailed};
use artel_model::agent::AgentState;
use artel_store::{AgentFilter, PageRequest};
use serde_json::{Value, json};

use crate::workplace::{TestSkill, Workplace, done, results};

async fn place() -> Workplace {
    let navigate = done(r#"{"final_position":{"x":10,"y":5}}"#);
    Workplace::new(&[
        TestSkill("navigate", json!({"allowed_tools": ["navigate", "detect"]}), &navigate),
        TestSkill("detect", json!({"dependencies": ["navigate"]}), &done(r#"{"objects":["cup"]}"#)),
        TestSkill("grasp", json!({"dependencies": ["detect"]}), &done(r#"{"grasped":true}"#)),
        TestSkill("careful", json!({"allowed_tools": ["*"], "forbidden_tools": ["grasp/*"]}), ""),
    ])
    .await
}

/// Spawns and returns the codes of the refusal.
async fn codes(place: &Workplace, request: Value) -> Vec<&'static str> {
    match place.try_spawn(request).await {
        Ok(spawned) => panic!("spawned {:?}", spawned.record),
        Err(SpawnFailed::Refused(refused)) => {
            refused.errors.iter().map(|error| error.code.as_str()).collect()
        }
        Err(SpawnFailed::Failed(error)) => panic!("{error}"),
    }
}

async fn count(place: &Workplace) -> usize {
    let page = PageRequest { after: None, limit: 100 };
    place.agents.list(&AgentFilter::default(), &page).await.unwrap().items.len()
}

#[tokio::test]
async fn an_agent_runs_a_chain_and_keeps_its_results() {
    let place = place().await;
    let agent = place.run(json!({"skill": "grasp", "chain": true, "label": "Fetcher"})).await;
    assert_eq!(agent.state(), AgentState::Completed);
    assert_eq!(
        results(&agent),
        json!({
            "navigate": {"final_position": {"x": 10, "y": 5}},
            "detect": {"objects": ["cup"]},
            "grasp": {"grasped": true},
        })
    );
    assert_eq!((agent.operation_count, agent.success_count, agent.error_count), (3, 3, 0));
    assert_eq!(place.history(agent.agent_id).await, ["spawned somebody", "started somebody", "ended"]);
}

#[tokio::test]
async fn what_is_refused_leaves_nothing_behind() {
    let place = place().await;
    assert_eq!(codes(&place, json!({"task": "x", "skills": ["nope"]})).await, ["UNKNOWN_SKILL"]);
    assert_eq!(codes(&place, json!({"skill": "nope"})).await, ["INVALID_PLAN"]);
    assert_eq!(codes(&place, json!({"skill": "grasp", "skills": []})).await, ["TOOL_NOT_ALLOWED"]);
    assert_eq!(codes(&place, json!({"skill": "grasp", "skills": ["careful"]})).await, ["TOOL_FORBIDDEN"]);
    let plan = json!({
        "requestId": "123e4567-e89b-42d3-a456-426614174000",
        "tools": [{"toolId": "a", "skill": "navigate"}, {"toolId": "b", "skill": "grasp"}],
    });
    assert_eq!(codes(&place, json!({"plan": plan, "skills": ["careful"]})).await, ["TOOL_FORBIDDEN"]);
    assert_eq!(codes(&place, json!({"task": "x", "driver": "llm"})).await, ["DRIVER_UNAVAILABLE"]);
    let unknown = json!({"parent": "123e4567-e89b-42d3-a456-426614174000"});
    assert_eq!(codes(&place, unknown).await, ["UNKNOWN_PARENT"]);
    assert_eq!(count(&place).await, 0);
}

#[tokio::test]
async fn depth_and_children_have_limits() {
    let place = place().await;
    let mut parent = place.spawn(json!({})).await.agent_id;
    for _ in 0..3 {
        parent = place.spawn(json!({"parent": parent})).await.agent_id;
    }
    assert_eq!(codes(&place, json!({"parent": parent})).await, ["DEPTH_LIMIT"]);
    let wide = place.spawn(json!({"max_children": 2})).await.agent_id;
    let first = place.spawn(json!({"parent": wide})).await.agent_id;
    place.spawn(json!({"parent": wide})).await;
    assert_eq!(codes(&place, json!({"parent": wide})).await, ["CHILDREN_LIMIT"]);
    place.agents.terminate(first, crate::workplace::cause()).await.unwrap();
    place.spawn(json!({"parent": wide})).await;
}

#[tokio::test]
async fn at_the_limit_a_spawn_is_refused_or_waits() {
    let place = Workplace::with(&[], |config| config.agents_max = 1, |_, _| {}).await;
    let first = place.spawn(json!({})).await.agent_id;
    assert_eq!(codes(&place, json!({})).await, ["AGENTS_LIMIT"]);
    let queued = |config: &mut artel_agents::AgentsConfig| {
        config.agents_max = 1;
        config.at_limit = AtLimit::Queue { wait_ms: 30_000 };
    };
    place.agents.terminate(first, crate::workplace::cause()).await.unwrap();
    let place = Workplace::with(&[], queued, |_, _| {}).await;
    let first = place.spawn(json!({})).await.agent_id;
    let (second, ended) =
        tokio::join!(place.try_spawn(json!({})), place.agents.terminate(first, crate::workplace::cause()),);
    assert_eq!(ended.unwrap().state(), AgentState::Terminated);
    assert_eq!(second.unwrap().record.state(), AgentState::Idle);
}

#[tokio::test]
async fn a_task_without_a_plan_is_planned_with_what_the_agent_may_use() {
    let skills = [
        TestSkill(
            "say-hello",
            json!({"description": "Say hello to somebody.", "allowed_tools": ["say-hello"]}),
            &done(r#"{"said":"hello"}"#),
        ),
        TestSkill(
            "say-goodbye",
            json!({"description": "Say goodbye to somebody."}),
            &done(r#"{"said":"bye"}"#),
        ),
    ];
    let place = Workplace::new(&skills).await;
    let agent = place.run(json!({"task": "say hello", "skills": ["say-hello"]})).await;
    assert_eq!((agent.state(), agent.error()), (AgentState::Completed, None));
    assert_eq!(results(&agent)["say-hello"], json!({"said": "hello"}));
    let agent = place.run(json!({"task": "say goodbye", "skills": ["say-hello"]})).await;
    assert!(results(&agent).get("say-goodbye").is_none(), "{agent:?}");
}

#[tokio::test]
async fn what_a_script_announces_reaches_whoever_listens() {
    let script = format!(
        r#"echo '{{"version":"0","type":"ui_event","event":"navigation.complete","payload":{{"x":1}}}}'
{}"#,
        done("{}")
    );
    let place = Workplace::new(&[TestSkill("navigate", json!({}), &script)]).await;
    place.run(json!({"skill": "navigate"})).await;
    assert_eq!(place.heard.events(), [("navigation.complete".to_owned(), json!({"x": 1}))]);
}

#[tokio::test]
async fn a_promise_that_is_not_kept_is_a_failure() {
    let contract = json!({
        "allowed_tools": ["count"],
        "output_contract": {"type": "count", "schema": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}},
    });
    let place = Workplace::new(&[TestSkill("count", contract, &done(r#"{"n":"many"}"#))]).await;
    let agent = place.run(json!({"skill": "count", "skills": ["count"]})).await;
    assert_eq!(agent.state(), AgentState::Failed);
    assert_eq!(agent.spec.contracts.len(), 1);
}
