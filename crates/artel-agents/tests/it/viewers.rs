//! Agents see skills with the eyes of whoever they were spawned for: nobody's private skill is run, read or named by others.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use artel_agents::SpawnFailed;
use artel_model::access::Viewer;
use artel_model::agent::{AgentRecord, AgentState};
use artel_model::id::AgentId;
use serde_json::{Value, json};

use crate::workplace::{TestSkill, Workplace, done, results, viewer};

/// A place where Ann and Bob each have a skill `greet` of their own, and Ann alone has `secret`.
async fn place() -> Workplace {
    let place = Workplace::new(&[TestSkill("common", json!({}), &done(r#"{"of":"all"}"#))]).await;
    let [ann, bob] = ["ann", "bob"].map(|user| done(&json!({ "of": user }).to_string()));
    let note = json!({"description": "Only Ann knows."});
    place.give("ann", &[TestSkill("greet", json!({}), &ann), TestSkill("secret", note, &ann)]);
    place.give("bob", &[TestSkill("greet", json!({}), &bob)]);
    place
}

async fn spawn(place: &Workplace, viewer: &Viewer, request: Value) -> AgentRecord {
    place.try_spawn_as(Some(viewer), request).await.unwrap().record
}

async fn run(place: &Workplace, viewer: &Viewer, request: Value) -> AgentRecord {
    let id = spawn(place, viewer, request).await.agent_id;
    place.agents.wait(id).await.unwrap().unwrap()
}

/// Returns the codes and the words of a refusal.
async fn refusal(place: &Workplace, viewer: &Viewer, request: Value) -> Vec<(&'static str, String)> {
    match place.try_spawn_as(Some(viewer), request).await {
        Err(SpawnFailed::Refused(refused)) => {
            refused.errors.into_iter().map(|error| (error.code.as_str(), error.message)).collect()
        }
        Err(SpawnFailed::Failed(error)) => panic!("{error}"),
        Ok(spawned) => panic!("it was spawned: {:?}", spawned.record),
    }
}

/// Makes words about a skill that somebody else has the same as those about one that nobody has.
fn about(name: &str, words: &str) -> String {
    words.replace(name, "NAME")
}

#[tokio::test]
async fn two_viewers_run_skills_of_the_same_name_each_their_own() {
    let place = place().await;
    for user in ["ann", "bob"] {
        let viewer = viewer(user);
        let agent = run(&place, &viewer, json!({"skill": "greet"})).await;
        assert_eq!((agent.state(), agent.owner()), (AgentState::Completed, Some(&viewer.user)));
        assert_eq!(results(&agent)["greet"], json!({"of": user}));
        let plan = json!({
            "requestId": "123e4567-e89b-42d3-a456-426614174000",
            "tools": [{"toolId": "hello", "skill": "greet"}],
        });
        assert_eq!(results(&run(&place, &viewer, json!({"plan": plan})).await)["hello"], json!({"of": user}));
        let driven = spawn(&place, &viewer, json!({})).await.agent_id;
        assert_eq!(place.execute(driven, "greet", json!({})).await, Ok(json!({"of": user})));
        assert_eq!(place.execute(driven, "common", json!({})).await, Ok(json!({"of": "all"})));
    }
}

#[tokio::test]
async fn nobody_spawns_with_what_only_another_sees() {
    let (place, bob) = (place().await, viewer("bob"));
    let requests: [fn(&str) -> Value; 3] = [
        |name| json!({ "skill": name }),
        |name| json!({"skills": [name]}),
        |name| json!({"plan": {"requestId": "123e4567-e89b-42d3-a456-426614174000", "tools": [{"toolId": "a", "skill": name}]}}),
    ];
    for request in requests {
        let told = refusal(&place, &bob, request("secret")).await;
        let of_nobody = refusal(&place, &bob, request("nobody")).await;
        let same = |told: Vec<(&'static str, String)>, name: &str| -> Vec<(&'static str, String)> {
            told.into_iter().map(|(code, words)| (code, about(name, &words))).collect()
        };
        assert_eq!(same(told, "secret"), same(of_nobody, "nobody"));
    }
    let told = refusal(&place, &bob, json!({"skills": ["secret"]})).await;
    assert_eq!(told, [("UNKNOWN_SKILL", "there is no skill `secret`".to_owned())]);
}

#[tokio::test]
async fn nobody_calls_or_reads_what_only_another_sees() {
    let (place, bob) = (place().await, viewer("bob"));
    let id = spawn(&place, &bob, json!({})).await.agent_id;
    let told = async |tool: &str, params: Value, name: &str| {
        let (code, words) = place.execute(id, tool, params).await.unwrap_err();
        (code, about(name, &words))
    };
    let read = |name: &str| json!({"skill": name, "path": "skill.json"});
    for tool in ["", "/run"] {
        let own = told(&format!("secret{tool}"), json!({}), "secret").await;
        assert_eq!(own, told(&format!("nobody{tool}"), json!({}), "nobody").await);
        assert_eq!(own.0, "UNKNOWN_TOOL");
    }
    let own = told("read_skill_file", read("secret"), "secret").await;
    assert_eq!(own, told("read_skill_file", read("nobody"), "nobody").await);
    let below = |name: &str| json!({"skills": [name]});
    let own = told("spawn_agent", below("secret"), "secret").await;
    assert_eq!(own, told("spawn_agent", below("nobody"), "nobody").await);
    // What it reads of a skill that both have is its own.
    let file = place.execute(id, "read_skill_file", json!({"skill": "greet", "path": "scripts/run"})).await;
    assert!(file.unwrap()["content"].as_str().unwrap().contains("bob"));
}

#[tokio::test]
async fn a_child_sees_what_its_parent_sees() {
    let place = place().await;
    let (ann, bob) = (viewer("ann"), viewer("bob"));
    let parent = spawn(&place, &ann, json!({})).await.agent_id;
    let spawned = place.execute(parent, "spawn_agent", json!({"skill": "secret"})).await.unwrap();
    let child: AgentId = spawned["agent_id"].as_str().unwrap().parse().unwrap();
    let child = place.agents.wait(child).await.unwrap().unwrap();
    assert_eq!((child.state(), child.viewer()), (AgentState::Completed, Some(&ann)));
    // Whoever has the data folder in hand spawns below anybody, and what comes is that somebody's.
    let below = place.spawn(json!({"parent": parent.to_string(), "skill": "secret"})).await;
    assert_eq!(below.viewer(), Some(&ann));
    // For others there is no such parent, nor for anybody one that nobody owns.
    let told = refusal(&place, &bob, json!({ "parent": parent.to_string() })).await;
    assert_eq!(told, [("UNKNOWN_PARENT", format!("there is no agent {parent}"))]);
    let unowned = place.spawn(json!({})).await.agent_id;
    let told = refusal(&place, &bob, json!({ "parent": unowned.to_string() })).await;
    assert_eq!(told[0].0, "UNKNOWN_PARENT");
}

#[tokio::test]
async fn a_run_goes_on_with_its_files_after_the_skills_of_its_viewer_changed() {
    let (place, ann) = (place().await, viewer("ann"));
    let waits = "while [ ! -e \"$ARTEL_DATA_DIR/go\" ]; do sleep 0.01; done";
    place.give(
        "ann",
        &[
            TestSkill("waits", json!({"timeout": 100}), &format!("{waits}\n{}", done("{}"))),
            TestSkill("greet", json!({}), &done(r#"{"of":"ann"}"#)),
        ],
    );
    let plan = json!({
        "requestId": "123e4567-e89b-42d3-a456-426614174000",
        "tools": [{"toolId": "a", "skill": "waits"}, {"toolId": "b", "skill": "greet", "dependencies": ["a"]}],
    });
    let id = spawn(&place, &ann, json!({ "plan": plan })).await.agent_id;
    // The same name and version, with other files; what waits is there no more.
    place.give("ann", &[TestSkill("greet", json!({}), &done(r#"{"of":"somebody else"}"#))]);
    std::fs::write(place.data_of("waits", Some(&ann)).join("go"), "").unwrap();
    let agent = place.agents.wait(id).await.unwrap().unwrap();
    assert_eq!((agent.state(), &results(&agent)["b"]), (AgentState::Completed, &json!({"of": "ann"})));
    let again = run(&place, &ann, json!({"skill": "greet"})).await;
    assert_eq!(results(&again)["greet"], json!({"of": "somebody else"}));
}
