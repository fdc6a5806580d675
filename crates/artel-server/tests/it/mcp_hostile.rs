//! The Model Context Protocol with clients that mean no good: what is not theirs, what is too much, what makes no sense.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use artel_model::limit::{MCP_BODY_BYTES_MAX, MCP_SESSIONS_PER_USER_MAX};
use serde_json::json;

use crate::mcp_talker::{Talker, VERSION};
use crate::place::{ADMIN_TOKEN, Place, TestSkill, done};

async fn place() -> Place {
    Place::open(&[TestSkill("greet", json!({"description": "Greets."}), &done("{}"))]).await
}

/// Makes a key and returns it.
async fn key(place: &Place, user: &str, scopes: &[&str]) -> String {
    let wish = json!({"label": "test", "owner_user_id": user, "scopes": scopes});
    let made = place.admin.post("/api/catalog-api-keys", wish).await.expect(201);
    made["key"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_in_without_a_credential() {
    let place = place().await;
    for method in ["POST", "GET", "DELETE"] {
        place.admin.with(None).call(method, "/mcp", &[], None).await.refused(401, "unauthorized");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scope_decides_which_tools_there_are() {
    let place = place().await;
    let reader = Talker::begin(&place, &key(&place, "ann", &["catalog:read"]).await).await;
    assert_eq!(reader.tools().await, ["search_skills", "read_skill", "read_skill_file"]);
    for (tool, scope) in
        [("run_skill", "runs:write"), ("greet", "runs:write"), ("spawn_agent", "agents:write")]
    {
        let refused = reader.call(tool, json!({"skill": "greet"})).await;
        assert_eq!(refused["_meta"]["artel/error"]["error"], "forbidden", "{refused}");
        assert!(refused["_meta"]["artel/error"]["message"].as_str().unwrap().contains(scope));
    }
    let runner = Talker::begin(&place, &key(&place, "bo", &["runs:write"]).await).await;
    assert_eq!(runner.tools().await, ["run_skill", "run_plan", "get_run"]);
    assert_eq!(runner.ask("tools/call", json!({"name": "greet"})).await.refused().0, -32602);
    for method in ["resources/list", "prompts/list", "skills/list"] {
        assert!(runner.ask(method, json!({})).await.refused().1.contains("catalog:read"), "{method}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_and_a_run_are_whose_they_are() {
    let place = place().await;
    let scopes = ["catalog:read", "runs:write"];
    let ann = Talker::begin(&place, &key(&place, "ann", &scopes).await).await;
    let ran = Talker::good(&ann.call("run_skill", json!({"skill": "greet"})).await);
    let bo = Talker::begin(&place, &key(&place, "bo", &scopes).await).await;
    let refused = bo.call("get_run", json!({"run_id": ran["run_id"]})).await;
    assert_eq!(refused["_meta"]["artel/error"]["error"], "not_found", "{refused}");
    let mut thief = Talker::stranger(&place, &key(&place, "bo", &scopes).await);
    thief.session = ann.session.clone();
    assert_eq!(thief.ask("tools/list", json!({})).await.status, 404);
    assert_eq!(thief.end().await.status, 404);
    let mut sibling = Talker::stranger(&place, &key(&place, "ann", &["catalog:read"]).await);
    sibling.session = ann.session.clone();
    assert_eq!(sibling.ask("tools/list", json!({})).await.status, 404, "another key of the same user");
    assert_eq!(ann.ask("tools/list", json!({})).await.status, 200);
    assert_eq!(ann.end().await.status, 202);
    assert_eq!(ann.ask("tools/list", json!({})).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_other_sites_are_turned_away() {
    let place = place().await;
    let talker = Talker::stranger(&place, ADMIN_TOKEN);
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "page", "version": "1"}},
    });
    for (origin, status) in [
        ("http://evil.example", 403),
        ("null", 403),
        ("http://localhost:5173", 200),
        ("http://127.0.0.1:7420", 200),
    ] {
        let heard = talker.post(&[("origin", origin)], message.to_string()).await;
        assert_eq!(heard.status, status, "{origin}: {}", heard.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_makes_no_sense_is_refused_and_the_next_request_is_answered() {
    let place = place().await;
    let talker = Talker::begin(&place, ADMIN_TOKEN).await;
    for body in
        ["", "{", "[]", "null", "{\"jsonrpc\": \"1.0\"}", "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":7}"]
    {
        let status = talker.post(&[], body.to_owned()).await.status;
        assert!((400..500).contains(&status), "{body}: {status}");
    }
    let huge = json!({"name": "search_skills", "arguments": {"query": "x".repeat(MCP_BODY_BYTES_MAX)}});
    assert_eq!(talker.ask("tools/call", huge).await.status, 413);
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let body = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{{\"name\":\"greet\",\"arguments\":{{\"a\":{deep}}}}}}}"
    );
    assert!((400..500).contains(&talker.post(&[], body).await.status));
    let long = talker.ask("tools/call", json!({"name": "x".repeat(100_000)})).await;
    assert!(long.refused().1.len() < 200);
    for cursor in ["!", "AAAA====", "%"] {
        assert_eq!(talker.ask("resources/list", json!({"cursor": cursor})).await.refused().0, -32602);
    }
    let wrong = [
        ("search_skills", json!({"query": ["a"]})),
        ("read_skill", json!({"skill": "../etc"})),
        ("read_skill", json!({})),
        ("get_run", json!({"run_id": "x"})),
        ("run_plan", json!({"plan": []})),
        ("read_messages", json!({"agent_id": 7})),
        ("search_skills", json!({"unknown": true})),
    ];
    for (tool, arguments) in wrong {
        let refused = talker.call(tool, arguments).await;
        assert_eq!(refused["_meta"]["artel/error"]["error"], "invalid_arguments", "{tool}: {refused}");
    }
    assert_eq!(talker.call("greet", json!({})).await["isError"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_sessions_of_one_user_end_the_oldest_and_nobody_elses() {
    let place = place().await;
    let bo = Talker::begin(&place, &key(&place, "bo", &["catalog:read"]).await).await;
    let hoarder = key(&place, "ann", &["catalog:read"]).await;
    let first = Talker::begin(&place, &hoarder).await;
    let second = Talker::begin(&place, &hoarder).await;
    for _ in 0..MCP_SESSIONS_PER_USER_MAX - 1 {
        assert_eq!(first.ask("ping", json!({})).await.status, 200);
        assert_eq!(Talker::stranger(&place, &hoarder).initialize().await.status, 200);
    }
    assert_eq!(second.ask("ping", json!({})).await.status, 404, "it was not used for longest");
    assert_eq!(first.ask("ping", json!({})).await.status, 200);
    assert_eq!(bo.ask("ping", json!({})).await.status, 200);
}
