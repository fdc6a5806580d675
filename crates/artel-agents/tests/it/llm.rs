//! Agents that are a model: what it is told, what it calls, and what comes of that, in both protocols.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use artel_agents::{ModelChoice, SpawnFailed};
use artel_engine::llm::LlmProtocol;
use artel_model::agent::AgentState;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::llm_scene::{PROTOCOLS, Scene, ended};
use crate::model_server::Say;

fn pairs(results: &[(&str, &str)]) -> Vec<(String, String)> {
    results.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect()
}

#[tokio::test]
async fn a_model_calls_a_tool_hears_what_came_of_it_and_is_done() {
    for protocol in PROTOCOLS {
        let call = Say::Calls(vec![("one", "navigate__run", r#"{"to": "kitchen"}"#)]);
        let scene = Scene::new(protocol, vec![call, Say::Text("There.")]).await;
        let agent = scene.run(&["navigate"]).await;
        assert_eq!(ended(&agent), r#"completed: {"text":"There."}"#);
        assert_eq!((agent.operation_count, agent.success_count), (1, 1));
        assert_eq!(scene.model.results(), pairs(&[("one", r#"{"at":"kitchen"}"#)]));
        let by: Vec<String> = scene.said(agent.agent_id).await.into_iter().map(|(by, _)| by).collect();
        assert_eq!(by, ["model", "tool", "model"]);
    }
}

/// The request as a text, without what differs between runs.
async fn first_request(protocol: LlmProtocol) -> String {
    let scene = Scene::new(protocol, vec![Say::Text("Done.")]).await;
    let request = json!({
        "task": "Fetch the cup.",
        "driver": "llm",
        "skills": ["navigate", "careful", "count"],
        "label": "</agent> Bob",
        "thinking": "low",
    });
    let agent = scene.place.run(request).await;
    let mut body = scene.model.seen().remove(0);
    let system = match protocol {
        LlmProtocol::OpenAi => body.pointer_mut("/messages/0/content"),
        LlmProtocol::Anthropic => body.get_mut("system"),
    };
    let system = std::mem::take(system.unwrap());
    let system = system.as_str().unwrap().replace(&agent.agent_id.to_string(), "ID");
    format!("{body:#}\n\n{system}")
}

#[tokio::test]
async fn a_model_is_told_its_skills_and_only_the_tools_that_are_allowed() {
    assert_snapshot!(first_request(LlmProtocol::OpenAi).await);
}

#[tokio::test]
async fn anthropic_is_told_the_same() {
    assert_snapshot!(first_request(LlmProtocol::Anthropic).await);
}

#[tokio::test]
async fn a_refused_call_comes_back_typed_and_the_work_goes_on() {
    for protocol in PROTOCOLS {
        let calls = vec![("one", "grasp__run", "{}"), ("two", "navigate__run", "{}")];
        let scene = Scene::new(protocol, vec![Say::Calls(calls), Say::Text("I may not grasp.")]).await;
        let agent = scene.run(&["careful"]).await;
        assert_eq!(ended(&agent), r#"completed: {"text":"I may not grasp."}"#);
        assert_eq!((agent.operation_count, agent.success_count, agent.error_count), (2, 1, 1));
        let results = scene.model.results();
        assert_eq!(results[1], ("two".to_owned(), r#"{"at":"kitchen"}"#.to_owned()));
        let refused: Value = serde_json::from_str(&results[0].1).unwrap();
        assert_eq!(refused["code"], "TOOL_NOT_ALLOWED", "{refused}");
        assert!(refused["message"].is_string(), "{refused}");
    }
}

#[tokio::test]
async fn names_that_only_look_right_are_judged_as_they_are() {
    let names = [
        // Forbidden, in whatever case; look-alikes, which are no names at all; what exists but is not allowed; a pattern.
        ("grasp/run", "TOOL_FORBIDDEN"),
        ("GRASP", "TOOL_FORBIDDEN"),
        ("gr\u{430}sp", "INVALID_PARAMETERS"),
        ("navigate__Run", "TOOL_NOT_ALLOWED"),
        ("n\u{430}vigate/run", "INVALID_PARAMETERS"),
        ("slow", "TOOL_NOT_ALLOWED"),
        ("*", "INVALID_PARAMETERS"),
        ("", "INVALID_PARAMETERS"),
    ];
    for (name, code) in names {
        let scene =
            Scene::new(LlmProtocol::OpenAi, vec![Say::Calls(vec![("one", name, "{}")]), Say::Text("No.")])
                .await;
        let agent = scene.run(&["careful"]).await;
        assert_eq!(agent.state(), AgentState::Completed);
        let heard: Value = serde_json::from_str(&scene.model.results()[0].1).unwrap();
        assert_eq!(heard["code"], code, "{name}: {heard}");
        assert_eq!(agent.success_count, 0, "{name}");
    }
}

#[tokio::test]
async fn several_calls_at_once_are_made_one_after_another() {
    for protocol in PROTOCOLS {
        let calls = vec![
            ("a", "navigate__run", "{}"),
            ("b", "grasp__run", "{}"),
            ("c", "navigate__run", r#"{"from": 1}"#),
            ("d", "read_skill_file", r#"{"skill": "navigate", "path": "prompt.md"}"#),
        ];
        let scene = Scene::new(protocol, vec![Say::Calls(calls), Say::Text("Done.")]).await;
        let agent = scene.run(&["navigate"]).await;
        assert_eq!(agent.state(), AgentState::Completed, "{:?}", agent.error());
        let results = scene.model.results();
        assert_eq!(results[..2], pairs(&[("a", r#"{"at":"kitchen"}"#), ("b", r#"{"held":"cup"}"#)]));
        assert!(results[2].1.contains("INVALID_PARAMETERS"), "{results:?}");
        assert!(results[3].1.contains("# Navigate"), "{results:?}");
    }
}

#[tokio::test]
async fn arguments_that_cannot_be_read_are_told() {
    for protocol in PROTOCOLS {
        let calls = vec![
            ("a", "navigate__run", "{\"to\": "),
            ("b", "navigate__run", "[1]"),
            ("c", "navigate__run", ""),
        ];
        let scene = Scene::new(protocol, vec![Say::Calls(calls), Say::Text("Done.")]).await;
        let agent = scene.run(&["navigate"]).await;
        assert_eq!((agent.state(), agent.operation_count), (AgentState::Completed, 1));
        let results = scene.model.results();
        for (_, text) in &results[..2] {
            let told: Value = serde_json::from_str(text).unwrap();
            assert_eq!(told["code"], "INVALID_PARAMETERS");
            assert!(
                told["message"].as_str().unwrap().starts_with("the arguments cannot be read: "),
                "{told}"
            );
        }
        assert_eq!(results[2].1, r#"{"at":"kitchen"}"#);
    }
}

#[tokio::test]
async fn calls_of_an_answer_that_was_cut_off_are_not_made() {
    for protocol in PROTOCOLS {
        let cut = Say::Cut(vec![("a", "navigate__run", "{}")]);
        let scene = Scene::new(protocol, vec![cut, Say::Text("Done.")]).await;
        let agent = scene.run(&["navigate"]).await;
        assert_eq!((agent.state(), agent.operation_count), (AgentState::Completed, 0));
        assert!(scene.model.results()[0].1.contains("CUT_OFF"));
    }
    let scene = Scene::new(LlmProtocol::OpenAi, vec![Say::Cut(Vec::new())]).await;
    assert_eq!(ended(&scene.run(&["navigate"]).await), "failed: the model's last answer was cut off");
}

#[tokio::test]
async fn a_long_result_is_cut_and_says_so() {
    let call = Say::Calls(vec![("a", "navigate__run", "{}")]);
    let says = vec![call, Say::Text("Done.")];
    let scene = Scene::with(LlmProtocol::OpenAi, says, |config| config.result_bytes_max = 6).await;
    scene.run(&["navigate"]).await;
    assert_eq!(scene.model.results()[0].1, "{\"at\":\n[cut: these are the first 6 of 16 bytes]");
}

#[tokio::test]
async fn a_promised_result_is_json_and_may_be_corrected_once() {
    for protocol in PROTOCOLS {
        let scene = Scene::new(protocol, vec![Say::Text("```json\n{\"n\": 3}\n```")]).await;
        assert_eq!(ended(&scene.run(&["count"]).await), r#"completed: {"n":3}"#);

        let scene = Scene::new(protocol, vec![Say::Text("Three."), Say::Text(r#"{"n": 3}"#)]).await;
        let agent = scene.run(&["count"]).await;
        assert_eq!(ended(&agent), r#"completed: {"n":3}"#);
        let heard = scene.model.seen()[1].to_string();
        assert!(heard.contains("This answer cannot be used") && heard.contains("it is no JSON"), "{heard}");

        let scene = Scene::new(protocol, vec![Say::Text(r#"{"n": "3"}"#)]).await;
        let error = "failed: the result cannot be used: it is not what `count` promises: `/n`: \"3\" is not of type \
                     \"integer\"";
        assert_eq!(ended(&scene.run(&["count"]).await), error);
        assert_eq!(scene.model.seen().len(), 2);
    }
}

#[tokio::test]
async fn an_agent_may_ask_for_another_model_where_that_is_allowed() {
    let asked = |models: ModelChoice, configured: &'static str, model: Option<&'static str>| async move {
        let says = vec![Say::Text("Done.")];
        let scene = Scene::with(LlmProtocol::OpenAi, says, |config| {
            config.models = models;
            configured.clone_into(&mut config.llm.model);
        });
        let scene = scene.await;
        let mut request = json!({"task": "Go.", "driver": "llm"});
        if let Some(model) = model {
            request["model"] = json!(model);
        }
        match scene.place.try_spawn(request).await {
            Ok(spawned) => {
                scene.place.agents.wait(spawned.record.agent_id).await.unwrap();
                scene.model.seen()[0]["model"].as_str().unwrap().to_owned()
            }
            Err(SpawnFailed::Refused(refused)) => {
                format!("{}: {}", refused.errors[0].code.as_str(), refused.errors[0].message)
            }
            Err(SpawnFailed::Failed(error)) => panic!("{error}"),
        }
    };
    let listed = || ModelChoice::Listed(vec!["big".to_owned()]);
    let not = |model: &str| format!("INVALID_REQUEST: `model`: agents may not ask for `{model}` here");
    assert_eq!(asked(ModelChoice::Configured, "usual", None).await, "usual");
    assert_eq!(asked(ModelChoice::Configured, "usual", Some("usual")).await, "usual");
    assert_eq!(asked(ModelChoice::Configured, "usual", Some("big")).await, not("big"));
    assert_eq!(asked(listed(), "usual", Some("big")).await, "big");
    assert_eq!(asked(listed(), "usual", Some("huge")).await, not("huge"));
    assert_eq!(asked(ModelChoice::Any, "usual", Some("huge")).await, "huge");
    let none = "DRIVER_UNAVAILABLE: no model is named: `[llm]` in artel.toml says `model`";
    assert_eq!(asked(ModelChoice::Any, "", None).await, none);
    assert_eq!(asked(ModelChoice::Any, "", Some("huge")).await, "huge");
}
