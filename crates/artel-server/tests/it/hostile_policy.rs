//! The ways around a policy in `fixtures/hostile/policy.toml`, each through the real server, with the refusal that it meets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use serde::Deserialize;
use serde_json::{Value, json};

use crate::agents::spawn;
use crate::client::Answered;
use crate::mcp_talker::Talker;
use crate::place::{ADMIN_TOKEN, Place, TestSkill, done};

/// Fewer rows than this are a suite that lost some.
const ROWS_MIN: usize = 40;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    bypass: Vec<Bypass>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bypass {
    name: String,
    #[serde(default)]
    skills: Vec<String>,
    #[serde(default)]
    below: Vec<Vec<String>>,
    call: Option<String>,
    spawn: Option<String>,
    refused: String,
}

fn suite() -> Vec<Bypass> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/hostile/policy.toml");
    let suite: Suite = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    suite.bypass
}

async fn place() -> Place {
    let both = json!([{"name": "run", "path": "scripts/run"}, {"name": "alt", "path": "scripts/run"}]);
    let rules = |allowed: &[&str], forbidden: &[&str]| json!({"allowed_tools": allowed, "forbidden_tools": forbidden});
    let steps = json!([{"id": "one", "skill": "good"}, {"id": "two", "skill": "bad"}]);
    let ran = done(r#"{"ran":true}"#);
    Place::open(&[
        TestSkill("bad", json!({"scripts": both}), &ran),
        TestSkill("good", json!({"scripts": both}), &ran),
        TestSkill("wrap", json!({"steps": steps}), ""),
        TestSkill("guard", rules(&["*"], &["bad"]), ""),
        TestSkill("reader", rules(&["good"], &[]), ""),
        TestSkill("spawner", rules(&["spawn_agent"], &[]), ""),
        TestSkill("everything", rules(&["*"], &[]), ""),
        TestSkill("shell", rules(&["Bash(git:*)"], &["Bash(git push:*)"]), ""),
    ])
    .await
}

/// Returns the code of a refusal; a part that is refused inside of something that ran is one too.
fn code(answered: &Answered) -> String {
    match answered.body["error"]["message"].as_str() {
        Some(message) => {
            let is_refused = message.contains("TOOL_FORBIDDEN") && answered.body["output"].is_null();
            if is_refused { "TOOL_FORBIDDEN".to_owned() } else { message.to_owned() }
        }
        None if answered.status < 300 => format!("it was done: {}", answered.text),
        None => answered.error().to_owned(),
    }
}

async fn execute(place: &Place, agent: &str, tool: &str, params: Value) -> Answered {
    let wish = json!({"operation": tool, "params": params});
    place.admin.post(&format!("/api/agents/{agent}/execute"), wish).await
}

/// Calls a tool for an agent, or for the last of those below it.
async fn called(place: &Place, row: &Bypass, tool: &str) -> String {
    let mut agent = spawn(&place.admin, json!({"driver": "external", "skills": row.skills})).await;
    for skills in &row.below {
        let below = execute(place, &agent, "spawn_agent", json!({"skills": skills})).await.expect(200);
        agent = below["output"]["agent_id"].as_str().unwrap_or_else(|| panic!("{below}")).to_owned();
    }
    code(&execute(place, &agent, tool, json!({})).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_bypass_of_a_policy_is_refused() {
    let place = place().await;
    let talker = Talker::begin(&place, ADMIN_TOKEN).await;
    let rows = suite();
    assert!(rows.len() >= ROWS_MIN, "{}", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        let mut came = Vec::new();
        match (&row.call, &row.spawn) {
            (Some(tool), None) => came.push(called(&place, row, tool).await),
            (None, Some(wish)) => {
                let wish: Value = serde_json::from_str(wish).unwrap();
                came.push(code(&place.admin.post("/api/agents", wish.clone()).await));
                let told = talker.call("spawn_agent", wish).await;
                let is_refused = told["isError"] == true && told.to_string().contains(&row.refused);
                came.push(if is_refused { row.refused.clone() } else { told.to_string() });
            }
            (_, _) => panic!("{}: it calls or it spawns", row.name),
        }
        wrong.extend(came.into_iter().filter(|code| *code != row.refused).map(|code| (&row.name, code)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The same policies let through what they should; a gate that refuses everything would pass the suite.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_policy_allows_runs() {
    let place = place().await;
    for (skills, tool) in [
        (&["guard"][..], "good"),
        (&["guard"], "good/alt"),
        (&["reader"], "good"),
        (&["everything"], "bad/alt"),
    ] {
        let agent = spawn(&place.admin, json!({"driver": "external", "skills": skills})).await;
        let ran = execute(&place, &agent, tool, json!({})).await.expect(200);
        assert_eq!(ran["output"], json!({"ran": true}), "{tool}: {ran}");
    }
}
