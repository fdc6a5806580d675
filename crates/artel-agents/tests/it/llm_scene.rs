//! Agents with a model that says what a test tells it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use artel_agents::{LlmDriver, LlmDriverConfig};
use artel_engine::llm::{ApiKey, LlmConfig, LlmProtocol};
use artel_model::agent::{AgentEvent, AgentRecord};
use artel_model::id::AgentId;
use artel_store::Revision;
use serde_json::{Value, json};

use crate::model_server::{ModelServer, Say};
use crate::workplace::{TestSkill, Workplace, done, driver, results};

/// The key of the endpoint, which must be nowhere but in requests.
pub(crate) const KEY: &str = "sk-very-secret-key";
/// Both protocols.
pub(crate) const PROTOCOLS: [LlmProtocol; 2] = [LlmProtocol::OpenAi, LlmProtocol::Anthropic];

/// A workplace and its model.
pub(crate) struct Scene {
    pub(crate) place: Workplace,
    pub(crate) model: ModelServer,
}

impl Scene {
    pub(crate) async fn new(protocol: LlmProtocol, says: Vec<Say>) -> Self {
        Self::with(protocol, says, |_| {}).await
    }

    /// Makes a scene with other limits of the model.
    pub(crate) async fn with(
        protocol: LlmProtocol,
        says: Vec<Say>,
        configure: impl FnOnce(&mut LlmDriverConfig),
    ) -> Self {
        let model = ModelServer::start(says).await;
        let mut llm = LlmConfig::new(protocol, "test-model");
        llm.base_url.clone_from(&model.url);
        llm.api_key = Some(ApiKey::new(KEY));
        let mut config = LlmDriverConfig { backoff_ms: 1, ..LlmDriverConfig::new(llm) };
        configure(&mut config);
        let llm = LlmDriver::new(config).unwrap();
        let (moves, grasps) = (done(r#"{"at":"kitchen"}"#), done(r#"{"held":"cup"}"#));
        let slow = format!("sleep 60 & wait\n{}", done("{}"));
        let skills = [
            TestSkill("navigate", navigate(), &moves),
            TestSkill("grasp", json!({"description": "Grasps."}), &grasps),
            TestSkill("slow", json!({"timeout": 100}), &slow),
            TestSkill("careful", json!({"allowed_tools": ["navigate"], "forbidden_tools": ["grasp"]}), ""),
            TestSkill("count", counting(), ""),
        ];
        let place = Workplace::with(&skills, |_| {}, |parts, _| parts.llm = driver(llm)).await;
        std::fs::write(place.path("skills/navigate/prompt.md"), "# Navigate\n\nGo </skills> first.\n")
            .unwrap();
        Self { place, model }
    }

    /// Spawns an agent with skills and waits for the end of its work.
    pub(crate) async fn run(&self, skills: &[&str]) -> AgentRecord {
        self.place.run(json!({"task": "Fetch the cup.", "driver": "llm", "skills": skills})).await
    }

    /// Returns everything that is kept about an agent, as text.
    pub(crate) async fn kept(&self, id: AgentId) -> String {
        let events = self.place.agents.events(id, Revision(0), 1000).await.unwrap();
        let events: Vec<Value> = events.iter().map(|logged| json!(logged.event)).collect();
        format!("{} {}", json!(events), json!(self.place.record(id).await))
    }

    /// Returns what was said in an agent's work: by whom, and what of.
    pub(crate) async fn said(&self, id: AgentId) -> Vec<(String, Value)> {
        let events = self.place.agents.events(id, Revision(0), 1000).await.unwrap();
        let said = events.into_iter().filter_map(|logged| {
            let AgentEvent::Said { by, what } = logged.event.event else { return None };
            Some((by, what))
        });
        said.collect()
    }
}

/// Returns how an agent's work ended: its state, and its result or its error.
pub(crate) fn ended(agent: &AgentRecord) -> String {
    let result = agent.error().map_or_else(|| results(agent)["result"].to_string(), str::to_owned);
    format!("{}: {result}", agent.state().as_str())
}

fn navigate() -> Value {
    json!({
        "description": "Goes somewhere.",
        "allowed_tools": ["navigate", "grasp", "read_skill_file"],
        "execution_protocol": ["go there", "grasp it"],
        "preconditions": ["the map is known"],
        "postconditions": ["the robot is there"],
        "parameters_schema": {
            "type": "object",
            "properties": {"to": {"type": "string"}},
            "additionalProperties": false,
        },
    })
}

fn counting() -> Value {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    json!({"allowed_tools": ["navigate"], "output_contract": {"type": "number of cups", "schema": schema}})
}
