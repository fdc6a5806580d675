//! Calls from outside, one by one, through the gate.

use artel_model::agent::AgentState;
use serde_json::json;

use crate::workplace::{TestSkill, Workplace, cause, done, results};

async fn place() -> Workplace {
    let steps = json!({
        "allowed_tools": ["*"],
        "steps": [{"id": "one", "skill": "forward"}, {"id": "two", "skill": "back"}],
    });
    Workplace::new(&[
        TestSkill(
            "forward",
            json!({"allowed_tools": ["forward", "send_message", "spawn_agent", "read_skill_file"]}),
            &done(r#"{"went":"on"}"#),
        ),
        TestSkill("back", json!({}), &done(r#"{"went":"back"}"#)),
        TestSkill("fails", json!({}), "exit 3"),
        TestSkill("both", steps, ""),
        TestSkill("no-return", json!({"allowed_tools": ["*"], "forbidden_tools": ["back"]}), ""),
    ])
    .await
}

#[tokio::test]
async fn an_operation_goes_through_running_and_back_to_idle() {
    let place = place().await;
    let id = place.spawn(json!({"skills": ["forward"]})).await.agent_id;
    assert_eq!(place.execute(id, "forward", json!({})).await, Ok(json!({"went": "on"})));
    assert_eq!(place.execute(id, "forward/run", json!({})).await, Ok(json!({"went": "on"})));
    let agent = place.record(id).await;
    assert_eq!((agent.state(), agent.operation_count, agent.success_count), (AgentState::Idle, 2, 2));
    assert_eq!(results(&agent)["forward"], json!({"went": "on"}));
}

#[tokio::test]
async fn a_failed_operation_is_an_error_until_the_next() {
    let place = place().await;
    let id = place.spawn(json!({})).await.agent_id;
    let (code, message) = place.execute(id, "fails", json!({})).await.unwrap_err();
    assert_eq!(code, "OPERATION_FAILED", "{message}");
    let agent = place.record(id).await;
    assert_eq!(
        (agent.state(), agent.error_count, agent.error_log.is_empty()),
        (AgentState::Failed, 1, false)
    );
    assert_eq!(agent.state().team_word(), "error");
    place.execute(id, "forward", json!({})).await.unwrap();
    assert_eq!(place.state(id).await, AgentState::Idle);
}

#[tokio::test]
async fn every_way_around_the_gate_is_closed() {
    let place = place().await;
    let id = place.spawn(json!({"skills": ["no-return"]})).await.agent_id;
    let refused = |tool: &'static str| {
        let place = &place;
        async move { place.execute(id, tool, json!({})).await.map_err(|(code, _)| code) }
    };
    // By its name, by its script's, in another case, inside a composite.
    assert_eq!(refused("back").await, Err("TOOL_FORBIDDEN".to_owned()));
    assert_eq!(refused("back/run").await, Err("TOOL_FORBIDDEN".to_owned()));
    assert_eq!(refused("BACK").await, Err("TOOL_FORBIDDEN".to_owned()));
    assert_eq!(refused(" back ").await, Err("TOOL_FORBIDDEN".to_owned()));
    assert_eq!(refused("b\u{430}ck").await, Err("INVALID_PARAMETERS".to_owned()));
    assert_eq!(refused("*").await, Err("INVALID_PARAMETERS".to_owned()));
    let (code, message) = place.execute(id, "both", json!({})).await.unwrap_err();
    assert_eq!(code, "OPERATION_FAILED");
    assert!(message.contains("TOOL_FORBIDDEN"), "{message}");
    // Below, with and without skills of its own.
    for skills in [json!({}), json!({"skills": ["both"]})] {
        let mut request = skills;
        request["label"] = json!("below");
        let below = place.execute(id, "spawn_agent", request).await.unwrap();
        let below = below["agent_id"].as_str().unwrap().parse().unwrap();
        let (code, message) = place.execute(below, "back", json!({})).await.unwrap_err();
        assert_eq!(code, "TOOL_FORBIDDEN", "{message}");
        assert!(message.contains("no-return") && message.contains(&id.to_string()), "{message}");
    }
    assert_eq!(place.execute(id, "forward", json!({})).await, Ok(json!({"went": "on"})));
}

#[tokio::test]
async fn an_agent_that_may_do_nothing_does_nothing() {
    let place = place().await;
    let id = place.spawn(json!({"skills": []})).await.agent_id;
    for tool in
        ["forward", "spawn_agent", "send_message", "read_skill_file", "solid.extrude", "nothing-like-that"]
    {
        let (code, _) = place.execute(id, tool, json!({})).await.unwrap_err();
        assert_eq!(code, "TOOL_NOT_ALLOWED", "{tool}");
    }
    let agent = place.record(id).await;
    assert_eq!((agent.operation_count, agent.error_count, agent.success_count), (6, 6, 0));
}

#[tokio::test]
async fn an_agent_that_does_not_learn_is_put_aside() {
    let place = place().await;
    let id = place.spawn(json!({"skills": []})).await.agent_id;
    for _ in 0..10 {
        place.execute(id, "forward", json!({})).await.unwrap_err();
    }
    assert_eq!(place.state(id).await, AgentState::Failed);
    let (code, _) = place.execute(id, "forward", json!({})).await.unwrap_err();
    assert_eq!(code, "INVALID_STATE");
    place.agents.free(id, cause()).await.unwrap();
    assert_eq!(place.state(id).await, AgentState::Idle);
}

#[tokio::test]
async fn a_script_cannot_reach_another_skill_by_itself() {
    let place = place().await;
    let other = place.path("skills/back/scripts/run");
    let script = format!(
        "if '{other}' >/dev/null 2>&1; then {}; else {}; fi",
        done(r#"{"reached":true}"#),
        done(r#"{"reached":false}"#)
    );
    let place = Workplace::new(&[TestSkill("sneaky", json!({}), &script)]).await;
    let agent = place.run(json!({"skill": "sneaky"})).await;
    assert_eq!(results(&agent)["sneaky"], json!({"reached": false}));
}

#[tokio::test]
async fn an_agent_speaks_for_itself_and_reads_its_own_skills() {
    let place = place().await;
    let id = place.spawn(json!({"skills": ["forward"]})).await.agent_id;
    let other = place.spawn(json!({})).await.agent_id;
    let message = json!({
        "sender_id": other, "recipient_id": other, "message_type": "event", "payload": {"hello": 1},
    });
    place.execute(id, "send_message", message).await.unwrap();
    assert_eq!(place.heard.sent()[0].sender.to_string(), id.to_string());
    let file = place
        .execute(id, "read_skill_file", json!({"skill": "forward", "path": "skill.json"}))
        .await
        .unwrap();
    assert!(file["content"].as_str().unwrap().contains("forward"));
    for (skill, path) in
        [("back", "skill.json"), ("forward", "../back/skill.json"), ("forward", "/etc/passwd")]
    {
        let (code, _) =
            place.execute(id, "read_skill_file", json!({"skill": skill, "path": path})).await.unwrap_err();
        assert_eq!(code, "INVALID_PARAMETERS", "{skill} {path}");
    }
}

#[tokio::test]
async fn a_child_reads_no_more_than_its_parent() {
    let tools = json!({"allowed_tools": ["read_skill_file", "spawn_agent"]});
    let place = Workplace::new(&[
        TestSkill("reader", tools, ""),
        TestSkill("secret", json!({"allowed_tools": ["read_skill_file"]}), &done("{}")),
    ])
    .await;
    let parent = place.spawn(json!({"skills": ["reader"]})).await.agent_id;
    for skills in [json!({}), json!({"skills": ["reader", "secret"]})] {
        let child = place.execute(parent, "spawn_agent", skills).await.unwrap();
        let child = child["agent_id"].as_str().unwrap().parse().unwrap();
        let file = json!({"skill": "secret", "path": "scripts/run"});
        let (code, message) = place.execute(child, "read_skill_file", file).await.unwrap_err();
        assert_eq!(code, "INVALID_PARAMETERS", "{message}");
        let own = json!({"skill": "reader", "path": "skill.json"});
        place.execute(child, "read_skill_file", own).await.unwrap();
    }
}

#[tokio::test]
async fn an_agent_gives_another_no_role_workspace_or_program() {
    let place = place().await;
    let id = place.spawn(json!({"skills": ["forward"]})).await.agent_id;
    for field in ["role", "workspace_id", "command", "client", "plan", "max_children", "parent", "metadata"] {
        let mut request = json!({"label": "below"});
        request[field] = json!("x");
        let (code, message) = place.execute(id, "spawn_agent", request).await.unwrap_err();
        assert_eq!(code, "INVALID_PARAMETERS", "{field}");
        assert!(message.contains(field), "{message}");
    }
}

#[tokio::test]
async fn refused_calls_between_failed_ones_still_put_an_agent_aside() {
    let place = place().await;
    let id = place.spawn(json!({"skills": ["no-return"]})).await.agent_id;
    for _ in 0..5 {
        place.execute(id, "back", json!({})).await.unwrap_err();
    }
    place.execute(id, "fails", json!({})).await.unwrap_err();
    for _ in 0..5 {
        place.execute(id, "back", json!({})).await.unwrap_err();
    }
    let (code, _) = place.execute(id, "forward", json!({})).await.unwrap_err();
    assert_eq!(code, "INVALID_STATE");
}
