//! The ways in which a caller has a skill run: each gives the output of its script.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use serde_json::{Value, json};

use crate::chat::say;
use crate::client::Client;
use crate::mcp_talker::Talker;
use crate::place::Place;
use crate::plans::end_of;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    Run,
    Plan,
    Mcp,
    Agent,
    Chat,
}

impl Way {
    pub(crate) const ALL: [Self; 5] = [Self::Run, Self::Mcp, Self::Agent, Self::Chat, Self::Plan];

    /// Has the skill run, and returns its output. The chat needs a supervisor that was built, and finds the skill by the
    /// words of its name.
    pub(crate) async fn output(self, client: &Client, place: &Place, skill: &str) -> Value {
        match self {
            Self::Run => {
                let run = client.post("/api/runs", json!({ "skill": skill })).await.expect(202);
                first_output(&end_of(client, &run).await)
            }
            Self::Plan => {
                let tools = json!([{"toolId": "a", "skill": skill}]);
                let plan = json!({"requestId": uuid::Uuid::new_v4(), "tools": tools});
                let run = client.post("/api/runs", json!({ "plan": plan })).await.expect(202);
                first_output(&end_of(client, &run).await)
            }
            Self::Mcp => {
                let talker = Talker::begin(place, &client.credential().unwrap()).await;
                Talker::good(&talker.call(skill, json!({})).await)
            }
            Self::Agent => {
                let spawned = client.post("/api/agents", json!({ "skill": skill })).await.expect(201);
                let id = spawned["agent"]["agent_id"].as_str().unwrap();
                let agent = place.agents.wait(id.parse().unwrap()).await.unwrap().unwrap();
                agent.results.last().unwrap().value.clone()
            }
            Self::Chat => {
                let events = say(client, &skill.replace('-', " ")).await;
                first_output(&end_of(client, events.last().unwrap()).await)
            }
        }
    }
}

fn first_output(result: &Value) -> Value {
    result["executionTrace"][0]["output"].clone()
}
