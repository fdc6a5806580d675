//! A model's work has limits, survives errors that pass and interruptions, and shows nothing that is secret.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::sync::{Arc, Mutex};

use artel_engine::llm::LlmProtocol;
use artel_model::agent::{AgentEvent, AgentPhase, AgentState, Cause, Driver, StampedAgentEvent, Work};
use artel_model::id::AgentId;
use artel_store::{AgentAppend, AgentStore as _};
use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::llm_scene::{KEY, PROTOCOLS, Scene, ended};
use crate::model_server::Say;
use crate::workplace::cause;

fn walk() -> Say {
    Say::Calls(vec![("one", "navigate__run", "{}")])
}

#[tokio::test]
async fn a_model_that_never_stops_calling_is_stopped() {
    let scene = Scene::with(LlmProtocol::OpenAi, vec![walk()], |config| config.turns_max = 3).await;
    let agent = scene.run(&["navigate"]).await;
    assert_eq!(ended(&agent), "failed: the model answered 3 times, which is the limit, and is not done");
    // What the last answer wants is not done any more: nobody would hear of it.
    assert_eq!((scene.model.seen().len(), agent.operation_count), (3, 2));
}

#[tokio::test]
async fn tokens_are_limited() {
    let scene = Scene::with(LlmProtocol::Anthropic, vec![walk()], |config| config.tokens_max = 200).await;
    let agent = scene.run(&["navigate"]).await;
    assert_eq!(ended(&agent), "failed: the model took 220 tokens, of 200 that it may, and is not done");
    // An answer that is the last may be long.
    let scene =
        Scene::with(LlmProtocol::OpenAi, vec![Say::Text("Done.")], |config| config.tokens_max = 1).await;
    assert_eq!(scene.run(&["navigate"]).await.state(), AgentState::Completed);
}

#[tokio::test]
async fn time_is_limited() {
    for says in [vec![Say::Silence], vec![Say::Calls(vec![("one", "slow__run", "{}")])]] {
        let scene = Scene::new(LlmProtocol::OpenAi, says).await;
        let request = json!({"task": "Go.", "driver": "llm", "timeout": 1});
        let agent = scene.place.run(request).await;
        assert_eq!(ended(&agent), "failed: it took longer than 1000 ms");
    }
}

#[tokio::test]
async fn errors_that_pass_are_waited_for() {
    for protocol in PROTOCOLS {
        let says = vec![
            Say::Refusal(429, "retry-after: 0", "slow down"),
            Say::Refusal(503, "x: y", "later"),
            walk(),
            Say::Refusal(529, "retry-after-ms: 2", "overloaded"),
            Say::Text("Done."),
        ];
        let scene = Scene::new(protocol, says).await;
        let agent = scene.run(&["navigate"]).await;
        assert_eq!((agent.state(), agent.operation_count), (AgentState::Completed, 1));
        assert_eq!(scene.model.seen().len(), 5);
    }
}

#[tokio::test]
async fn errors_that_stay_are_told() {
    let says = vec![Say::Refusal(500, "x: y", "broken")];
    let scene = Scene::with(LlmProtocol::OpenAi, says, |config| config.retries_max = 2).await;
    assert_eq!(
        ended(&scene.run(&["navigate"]).await),
        "failed: the model gave no answer: it answered 500: broken"
    );
    assert_eq!(scene.model.seen().len(), 3);

    let scene = Scene::new(LlmProtocol::OpenAi, vec![Say::Refusal(400, "x: y", "no such model")]).await;
    let error = "failed: the model gave no answer: it answered 400: no such model";
    assert_eq!(ended(&scene.run(&["navigate"]).await), error);
    assert_eq!(scene.model.seen().len(), 1);

    // Waiting longer than there is time would only hide why.
    let says = vec![Say::Refusal(429, "retry-after: 20", "slow down")];
    let scene = Scene::new(LlmProtocol::OpenAi, says).await;
    let agent = scene.place.run(json!({"task": "Go.", "driver": "llm", "timeout": 10})).await;
    assert_eq!(ended(&agent), "failed: the model gave no answer: it answered 429: slow down");

    let says = vec![Say::Silence];
    let scene =
        Scene::with(LlmProtocol::OpenAi, says, |config| (config.request_ms, config.retries_max) = (300, 1))
            .await;
    let error = "failed: the model gave no answer: it did not answer within 300 ms";
    assert_eq!(ended(&scene.run(&["navigate"]).await), error);
    scene.model.asked(2).await;
}

#[tokio::test]
async fn a_model_that_cannot_be_told_how_long_to_think_works_all_the_same() {
    for (protocol, field) in [(LlmProtocol::OpenAi, "reasoning_effort"), (LlmProtocol::Anthropic, "thinking")]
    {
        let refusal = Say::Refusal(400, "x: y", "Unsupported: 'reasoning_effort' or thinking");
        let scene = Scene::new(protocol, vec![refusal, walk(), Say::Text("Done.")]).await;
        let request = json!({"task": "Go.", "driver": "llm", "thinking": "high"});
        assert_eq!(scene.place.run(request).await.state(), AgentState::Completed);
        let told: Vec<bool> = scene.model.seen().iter().map(|body| body.get(field).is_some()).collect();
        assert_eq!(told, [true, false, false]);
    }
}

#[tokio::test]
async fn the_key_is_kept_nowhere() {
    let says = vec![
        Say::Refusal(429, "retry-after: 0", "bad key sk-very-secret-key"),
        Say::Calls(vec![("one", "navigate__run", r#"{"to": "sk-very-secret-key"}"#)]),
        Say::Refusal(401, "x: y", "Incorrect API key provided: sk-very-secret-key"),
    ];
    let log = Log::default();
    let _listening = tracing::subscriber::set_default(log.clone());
    let scene = Scene::new(LlmProtocol::OpenAi, says).await;
    let agent = scene.run(&["navigate"]).await;
    let error = "failed: the model gave no answer: it answered 401: Incorrect API key provided: ***";
    assert_eq!(ended(&agent), error);
    let kept = scene.kept(agent.agent_id).await;
    assert!(!kept.contains(KEY), "{kept}");
    let logged = log.0.lock().unwrap();
    assert!(logged.contains("the model is asked again"), "{logged}");
    assert!(!logged.contains(KEY), "{logged}");
}

/// Everything that is logged, at every level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.lock().unwrap().push_str(&format!("{field}={value:?} "));
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut self.clone());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn an_agent_that_is_told_to_end_ends_at_once() {
    for says in [vec![Say::Silence], vec![Say::Calls(vec![("one", "slow__run", "{}")])]] {
        let scene = Scene::new(LlmProtocol::OpenAi, says).await;
        let id = scene.place.spawn(json!({"task": "Go.", "driver": "llm"})).await.agent_id;
        scene.model.asked(1).await;
        scene.place.agents.cancel(id, cause()).await.unwrap();
        assert_eq!(scene.place.state(id).await, AgentState::Cancelled);
        while scene.place.agents.is_busy() {
            tokio::task::yield_now().await;
        }
        assert_eq!(scene.model.seen().len(), 1);
    }
}

#[tokio::test]
async fn what_a_model_says_while_its_agent_stands_still_is_kept_and_not_done_before_it_goes_on() {
    let held = Say::Held(vec![("one", "navigate__run", "{}")]);
    let scene = Scene::new(LlmProtocol::OpenAi, vec![held, Say::Text("Done.")]).await;
    let id = scene.place.spawn(json!({"task": "Go.", "driver": "llm"})).await.agent_id;
    scene.model.asked(1).await;
    scene.place.agents.pause(id, cause()).await.unwrap();
    scene.model.let_go();
    while scene.said(id).await.is_empty() {
        tokio::task::yield_now().await;
    }
    let agent = scene.place.record(id).await;
    assert_eq!((agent.state(), agent.operation_count), (AgentState::Paused, 0));
    scene.place.agents.resume(id, cause()).await.unwrap();
    let agent = scene.place.agents.wait(id).await.unwrap().unwrap();
    assert_eq!((ended(&agent).as_str(), agent.operation_count), (r#"completed: {"text":"Done."}"#, 1));
}

#[tokio::test]
async fn a_model_that_does_not_learn_what_it_may_is_put_aside() {
    let scene = Scene::new(LlmProtocol::OpenAi, vec![Say::Calls(vec![("one", "grasp__run", "{}")])]).await;
    assert_eq!(ended(&scene.run(&["careful"]).await), "failed: 10 calls in a row were not allowed");
    while scene.place.agents.is_busy() {
        tokio::task::yield_now().await;
    }
    assert!(scene.model.seen().len() <= 11, "{}", scene.model.seen().len());
}

/// Makes an agent whose process died after this was said, and lets another process go on with it.
async fn go_on(scene: &Scene, skills: &[&str], said: Vec<(&str, Value)>) -> AgentId {
    let id = scene.place.spawn(json!({"skills": skills, "driver": "external"})).await.agent_id;
    let row = scene.place.store.agent(id).await.unwrap().unwrap();
    let mut record = row.record;
    record.spec.driver = Driver::Llm;
    record.spec.task = Some("Fetch the cup.".to_owned());
    let work = Work { owner: "dead".to_owned(), ..Work::default() };
    record.standing = AgentPhase::Running { work: Box::new(work.clone()) };
    let started = AgentEvent::Started { work: Box::new(work), cause: Cause::by("it") };
    let said = said.into_iter().map(|(by, what)| AgentEvent::Said { by: by.to_owned(), what });
    let at = record.created_at;
    let events = std::iter::once(started).chain(said).map(|event| StampedAgentEvent { at, event }).collect();
    scene.place.store.append_agent(AgentAppend { expected: row.revision, events, record }).await.unwrap();
    let again = scene.place.another("second");
    assert_eq!(again.recover().await.unwrap(), [id]);
    again.wait(id).await.unwrap();
    id
}

fn model_said(text: &str, calls: &[&str]) -> (&'static str, Value) {
    let call = |id: &&str| json!({"id": id, "name": "navigate__run", "arguments": {"object": {}}});
    let calls: Vec<Value> = calls.iter().map(call).collect();
    ("model", json!({"reply": {"text": text, "calls": calls, "stop": "finished"}, "tokens": 50}))
}

fn tool_said(id: &str) -> (&'static str, Value) {
    ("tool", json!({"tool": "navigate/run", "result": {"id": id, "content": "{}", "is_error": false}}))
}

#[tokio::test]
async fn interrupted_work_goes_on_where_it_was_and_repeats_nothing() {
    for protocol in PROTOCOLS {
        let scene = Scene::new(protocol, vec![Say::Text("Done.")]).await;
        let said =
            vec![model_said("", &["a"]), tool_said("a"), model_said("", &["b", "c", "d"]), tool_said("b")];
        let id = go_on(&scene, &["navigate"], said).await;
        let agent = scene.place.record(id).await;
        assert_eq!((ended(&agent).as_str(), agent.operation_count), (r#"completed: {"text":"Done."}"#, 0));
        let results = scene.model.results();
        assert_eq!(results[0], ("b".to_owned(), "{}".to_owned()));
        for ((id, text), (expected, why)) in
            results[1..].iter().zip([("c", "is not known"), ("d", "before this call was made")])
        {
            assert_eq!(id, expected);
            assert!(text.contains("INTERRUPTED") && text.contains(why), "{text}");
        }
        let by: Vec<String> = scene.said(id).await.into_iter().map(|(by, _)| by).collect();
        assert_eq!(by, ["model", "tool", "model", "tool", "tool", "tool", "model"]);
    }
}

#[tokio::test]
async fn what_was_used_before_an_interruption_counts() {
    let scene = Scene::with(LlmProtocol::OpenAi, vec![walk()], |config| config.turns_max = 2).await;
    let said = vec![model_said("", &["a"]), tool_said("a"), model_said("", &["b"]), tool_said("b")];
    let id = go_on(&scene, &["navigate"], said).await;
    let error = "failed: the model answered 2 times, which is the limit, and is not done";
    assert_eq!(ended(&scene.place.record(id).await), error);
    assert!(scene.model.seen().is_empty());
}

#[tokio::test]
async fn an_answer_that_was_given_before_an_interruption_stands() {
    let scene = Scene::new(LlmProtocol::OpenAi, vec![Say::Text(r#"{"n": 2}"#)]).await;
    let id = go_on(&scene, &["count"], vec![model_said(r#"{"n": 1}"#, &[])]).await;
    assert_eq!(ended(&scene.place.record(id).await), r#"completed: {"n":1}"#);
    assert!(scene.model.seen().is_empty());

    let told = ("artel", json!({"text": "Again."}));
    let id = go_on(&scene, &["count"], vec![model_said("One.", &[]), told]).await;
    assert_eq!(ended(&scene.place.record(id).await), r#"completed: {"n":2}"#);
    assert!(scene.model.seen()[0].to_string().contains("Again."));
}
