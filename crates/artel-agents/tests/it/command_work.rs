//! Agents that are programs of others, at work: what is kept of them, how they end, stand still and go on.

use std::fs;

use artel_agents::{AfterWork, ClientHome, OwnCommands, SpawnFailed};
use artel_model::agent::AgentState;
use serde_json::json;

use crate::command_stage::Stage;
use crate::workplace::{TestSkill, cause, results};

async fn stage() -> Stage {
    Stage::new(&[TestSkill("writer", json!({"allowed_tools": ["Read", "Edit"]}), "")]).await
}

#[tokio::test]
async fn only_known_clients_where_own_command_lines_are_refused() {
    let stage = Stage::with(&[], |config| config.own_commands = OwnCommands::Refused).await;
    let refused = stage.place.try_spawn(json!({"command": ["other"], "task": "look"})).await;
    assert!(matches!(refused, Err(SpawnFailed::Refused(_))));
    assert_eq!(
        stage.place.run(json!({"client": "claude", "task": "talk"})).await.state(),
        AgentState::Completed
    );
}

#[tokio::test]
async fn what_a_program_writes_is_kept_and_its_last_object_is_the_result() {
    let stage = stage().await;
    let record = stage.place.run(json!({"client": "claude", "task": "talk"})).await;
    assert_eq!(
        (record.state(), &results(&record)["result"]),
        (AgentState::Completed, &json!({"answer": 42}))
    );
    assert_eq!(stage.said(record.agent_id, "stdout").await, "{\"event\": \"started\"}\n{\"answer\": 42}");
    assert_eq!(stage.said(record.agent_id, "stderr").await, "a warning");
    let record = stage.place.run(json!({"client": "claude", "task": "result"})).await;
    assert_eq!(results(&record)["result"], json!({"text": "all is well"}));
}

#[tokio::test]
async fn a_program_that_fails_says_why() {
    let stage = stage().await;
    let record = stage.place.run(json!({"client": "goose", "task": "exit 3"})).await;
    assert_eq!(record.state(), AgentState::Failed);
    assert_eq!(record.error(), Some("`goose` ended with exit code 3: it went wrong"));
}

#[tokio::test]
async fn more_output_than_is_kept_is_counted() {
    let stage = stage().await;
    let record = stage.place.run(json!({"client": "codex", "task": "flood 20000"})).await;
    assert_eq!(
        (record.state(), &results(&record)["result"]),
        (AgentState::Completed, &json!({"last": true}))
    );
    let kept = stage.said(record.agent_id, "stdout").await.len();
    assert!((15 << 20..=16 << 20).contains(&kept), "{kept}");
    let told = stage.said(record.agent_id, "artel").await;
    assert!(told.ends_with(" bytes more were written, which are not kept"), "{told}");
}

#[tokio::test]
async fn a_program_that_takes_too_long_is_killed_with_all_that_it_started() {
    let stage = stage().await;
    let (id, mut arrived) = stage.start("hang stubborn", json!({"timeout": 1})).await;
    let record = stage.wait(id).await;
    assert_eq!(record.state(), AgentState::Failed);
    assert_eq!(record.error(), Some("`claude` took longer than 1000 ms"));
    arrived.is_gone().await;
}

#[tokio::test]
async fn cancelling_ends_a_program_politely_and_then_for_good() {
    let stage = stage().await;
    let (id, mut arrived) = stage.start("polite", json!({})).await;
    let record = stage.place.agents.cancel(id, cause()).await.unwrap();
    assert_eq!(record.state(), AgentState::Cancelled);
    arrived.is_gone().await;
    assert_eq!(stage.said(id, "stdout").await, "bye");
    let (id, mut arrived) = stage.start("hang stubborn", json!({})).await;
    assert_eq!(stage.place.agents.terminate(id, cause()).await.unwrap().state(), AgentState::Terminated);
    assert!(!fs::exists(format!("/proc/{}", arrived.pid)).unwrap());
    arrived.is_gone().await;
}

#[tokio::test]
async fn what_a_program_leaves_running_is_gone_with_it() {
    let stage = stage().await;
    let (id, mut arrived) = stage.start("leave", json!({})).await;
    assert_eq!(results(&stage.wait(id).await)["result"], json!({"left": true}));
    arrived.is_gone().await;
}

#[tokio::test]
async fn a_program_stands_still_and_goes_on() {
    let stage = stage().await;
    let (id, mut arrived) = stage.start("ask", json!({})).await;
    stage.place.agents.pause(id, cause()).await.unwrap();
    arrived.is("T").await;
    arrived.tell().await;
    stage.place.agents.resume(id, cause()).await.unwrap();
    let record = stage.wait(id).await;
    assert_eq!(
        (record.state(), &results(&record)["result"]),
        (AgentState::Completed, &json!({"went": "on"}))
    );
    // One that stands still can be cancelled.
    let (id, mut arrived) = stage.start("hang stubborn", json!({})).await;
    stage.place.agents.pause(id, cause()).await.unwrap();
    arrived.is("T").await;
    stage.place.agents.cancel(id, cause()).await.unwrap();
    arrived.is_gone().await;
}

#[tokio::test]
async fn folders_are_fresh_and_go_when_they_should() {
    let stage = Stage::with(&[], |config| config.after = AfterWork::Remove).await;
    let record = stage.place.run(json!({"client": "claude", "task": "talk"})).await;
    assert_eq!(results(&record).get("work"), None);
    assert_eq!(fs::read_dir(stage.base.join("agents")).unwrap().count(), 0);
    let stage = Stage::with(&[], |config| config.home = ClientHome::Shared(config.work_root.clone())).await;
    let record = stage.place.run(json!({"client": "claude", "task": "talk"})).await;
    let shown = results(&record);
    let work = camino::Utf8Path::new(shown["work"].as_str().unwrap());
    assert!(work.join(".claude/settings.json").exists() && !work.join("../private").exists());
}

#[tokio::test]
async fn a_skill_that_is_not_what_the_agent_was_given_is_not_handed_out() {
    let stage = stage().await;
    let file = stage.place.path("skills/writer/skill.json");
    let changed = fs::read_to_string(&file).unwrap().replace("\"Edit\"", "\"Bash\"");
    fs::write(&file, changed).unwrap();
    let record = stage.place.run(json!({"client": "claude", "task": "look", "skills": ["writer"]})).await;
    assert_eq!(record.error(), Some("the agent's skill `writer` is gone, or was changed in the meantime"));
    assert_eq!(
        fs::read_dir(stage.base.join("agents"))
            .unwrap()
            .flat_map(|entry| fs::read_dir(entry.unwrap().path()))
            .flatten()
            .count(),
        0
    );
}
