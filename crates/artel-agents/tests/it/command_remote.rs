//! Agents that are programs of others, asked for over the network: only what the operator listed, as artel starts it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use artel_agents::{SpawnCaller, SpawnFailed, StartRefused};
use artel_model::agent::{
    AgentEvent, AgentRecord, AgentSpec, AgentState, CallOrigin, SpawnErrorCode, SpawnRequest,
    StampedAgentEvent,
};
use artel_model::id::AgentId;
use artel_store::{AgentStore as _, NewAgent};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::command_stage::Stage;
use crate::workplace::{cause, results, viewer};

/// Asks for an agent as a person does over the network; returns the record when it has worked, or the codes of the refusal.
async fn ask(stage: &Stage, request: Value) -> Result<AgentRecord, Vec<SpawnErrorCode>> {
    let request = SpawnRequest::read(request.as_object().unwrap()).unwrap();
    let person = viewer("ann");
    let caller = SpawnCaller { viewer: Some(&person), origin: CallOrigin::Remote };
    match stage.place.agents.spawn(&request, caller, cause()).await {
        Ok(spawned) => Ok(stage.wait(spawned.record.agent_id).await),
        Err(SpawnFailed::Refused(refused)) => Err(refused.errors.iter().map(|error| error.code).collect()),
        Err(error) => panic!("{error}"),
    }
}

/// Keeps an agent that was made before, as a store gives it back: `origin` is what its record says.
async fn kept(stage: &Stage, driver: Value, origin: Option<&str>, age_ms: u64) -> AgentId {
    let mut spec = json!({"task": "talk", "max_children": 0, "driver": driver, "policy": []});
    if let Some(origin) = origin {
        spec["call_origin"] = origin.into();
    }
    let spec: Box<AgentSpec> = Box::new(serde_json::from_value(spec).unwrap());
    let at = artel_engine::Clock::system().now() - age_ms;
    let record = AgentRecord::new(AgentId(Uuid::new_v4()), spec.clone(), at);
    let event = StampedAgentEvent { at, event: AgentEvent::Spawned { spec, cause: cause() } };
    let id = record.agent_id;
    stage.place.store.create_agent(NewAgent { record, event, agents_max: 100 }).await.unwrap().unwrap();
    id
}

fn free_line() -> Value {
    json!({"driver": "command", "command": ["other"]})
}

fn client(name: &str) -> Value {
    json!({"driver": "command", "client": name})
}

#[tokio::test]
async fn a_listed_client_is_started_with_its_own_arguments() {
    let stage = Stage::allowing(&["goose"]).await;
    let record = ask(&stage, json!({"client": "goose", "task": "look", "skills": []})).await.unwrap();
    assert_eq!(record.state(), AgentState::Completed, "{:?}", record.error());
    let seen = &results(&record)["result"];
    assert_eq!(seen["argv"], json!(["run", "--no-session", "--quiet", "--instructions", "-"]));
    // Of the server's environment it gets what the operator names: no keys, no proxies.
    let variables: Vec<&String> = seen["environment"].as_object().unwrap().keys().collect();
    assert_eq!(
        variables,
        [
            "ARTEL_AGENT_ID",
            "GOOSE_DISABLE_KEYRING",
            "GOOSE_MODE",
            "GOOSE_PATH_ROOT",
            "HOME",
            "LANG",
            "NAMED",
            "PATH",
            "TERM",
            "TMPDIR"
        ]
    );
    // What looks like an option stays the task or is no model.
    let record = ask(&stage, json!({"client": "goose", "task": "look --help", "skills": []})).await.unwrap();
    assert_eq!(results(&record)["result"]["stdin"], "look --help");
}

#[tokio::test]
async fn nothing_else_is_started_over_the_network() {
    let refused = Err(vec![SpawnErrorCode::ClientNotAllowed]);
    for allowed in [&[][..], &["goose"]] {
        let stage = Stage::allowing(allowed).await;
        for request in [
            json!({"command": ["sh", "-c", "id"], "task": "x"}),
            json!({"driver": "command", "command": ["other"], "task": "look"}),
            json!({"client": "claude", "task": "look"}),
            json!({"client": "goose", "command": ["sh", "-c", "id"], "task": "look"}),
            json!({"client": "Goose", "task": "look"}),
            json!({"client": "goose\u{0}", "task": "look"}),
            json!({"client": stage.base.join("bin/goose"), "task": "look"}),
        ] {
            assert_eq!(ask(&stage, request.clone()).await.map(|record| record.state()), refused, "{request}");
        }
        assert!(!stage.base.join("agents").exists(), "nothing was made");
    }
}

#[tokio::test]
async fn a_stored_agent_gets_no_command_line_back_by_being_started() {
    let stage = Stage::allowing(&["goose"]).await;
    let start = async |driver: Value, origin: Option<&str>, from: CallOrigin| {
        let id = kept(&stage, driver, origin, 0).await;
        match stage.place.agents.start(id, from, cause()).await {
            Ok(_) => stage.wait(id).await.state().as_str().to_owned(),
            Err(StartRefused::Unfit(refused)) => refused.errors[0].code.as_str().to_owned(),
            Err(error) => panic!("{error}"),
        }
    };
    use CallOrigin::{Local, Remote};
    // A record of an older artel does not say where it came from, so nobody on the network is trusted with it, and a
    // person's command line does not start to run because the owner of the machine starts their agent.
    for (origin, from, expected) in [
        (None, Remote, "CLIENT_NOT_ALLOWED"),
        (None, Local, "CLIENT_NOT_ALLOWED"),
        (Some("remote"), Local, "CLIENT_NOT_ALLOWED"),
        (Some("local"), Remote, "CLIENT_NOT_ALLOWED"),
        (Some("local"), Local, "completed"),
    ] {
        assert_eq!(start(free_line(), origin, from).await, expected, "{origin:?} {from:?}");
    }
    assert_eq!(start(client("goose"), None, Remote).await, "completed");
    assert_eq!(start(client("codex"), None, Remote).await, "CLIENT_NOT_ALLOWED");
}

#[tokio::test]
async fn recovery_starts_no_command_line() {
    let stage = Stage::allowing(&["goose"]).await;
    // Older than an agent may take to begin, so that it counts as left over.
    let left = 120_000;
    let free = kept(&stage, free_line(), Some("local"), left).await;
    let unlisted = kept(&stage, client("codex"), None, left).await;
    let listed = kept(&stage, client("goose"), None, left).await;
    stage.place.agents.recover().await.unwrap();
    for id in [free, unlisted] {
        let record = stage.place.record(id).await;
        assert_eq!(record.state(), AgentState::Failed);
        assert!(record.error().unwrap().contains("[clients] allowed"), "{:?}", record.error());
    }
    assert_eq!(stage.wait(listed).await.state(), AgentState::Completed);
}

#[tokio::test]
async fn an_agent_below_another_is_no_program() {
    let stage = Stage::allowing(&["goose"]).await;
    let parent = stage.place.spawn(json!({"task": "x", "driver": "external"})).await.agent_id;
    for params in [
        json!({"task": "x", "command": ["sh", "-c", "id"]}),
        json!({"task": "x", "client": "goose"}),
        json!({"task": "x", "driver": "command"}),
    ] {
        let called = stage.place.execute(parent, "spawn_agent", params.clone()).await;
        assert_eq!(called.unwrap_err().0, "INVALID_PARAMETERS", "{params}");
    }
    // Over the network the parent may be anything; the program is judged by where the call comes from.
    let person = viewer("ann");
    let own = stage.place.try_spawn_as(Some(&person), json!({"driver": "external"})).await.unwrap();
    let request = json!({"command": ["other"], "task": "look", "parent": own.record.agent_id});
    assert_eq!(ask(&stage, request).await.unwrap_err(), [SpawnErrorCode::ClientNotAllowed]);
}
