//! Lets a language model work for an agent.

use artel_engine::llm::{LlmClient, LlmConfigError};
use artel_model::agent::{AgentSpec, SpawnError, SpawnErrorCode, WorkEnd, WorkOutcome};
use async_trait::async_trait;

use super::config::LlmDriverConfig;
use super::halt::Halt;
use super::talk::Talk;
use crate::driver::{Job, WorkDriver};
use crate::work::failed;

/// Lets a language model work for agents: it calls their tools until it is done.
#[derive(Debug)]
pub struct LlmDriver {
    client: LlmClient,
    config: LlmDriverConfig,
}

impl LlmDriver {
    /// Makes a driver; nothing is sent before an agent works.
    pub fn new(config: LlmDriverConfig) -> Result<Self, LlmConfigError> {
        Ok(Self { client: LlmClient::new(config.llm.clone())?, config })
    }

    /// Returns the model that an agent works with.
    fn model(&self, spec: &AgentSpec) -> Result<String, SpawnError> {
        let usual = self.config.llm.model.trim();
        let refused = |code, message: String| Err(SpawnError::new(code, message));
        match spec.model.as_deref().map(str::trim).filter(|model| *model != usual) {
            None if usual.is_empty() => {
                let message = "no model is named: `[llm]` in artel.toml says `model`".to_owned();
                refused(SpawnErrorCode::DriverUnavailable, message)
            }
            None => Ok(usual.to_owned()),
            Some(model) if !model.is_empty() && self.config.models.allows(model) => Ok(model.to_owned()),
            Some(model) => {
                let message = format!("`model`: agents may not ask for `{model}` here");
                refused(SpawnErrorCode::InvalidRequest, message)
            }
        }
    }
}

#[async_trait]
impl WorkDriver for LlmDriver {
    fn check(&self, spec: &AgentSpec) -> Result<(), SpawnError> {
        self.model(spec).map(|_| ())
    }

    async fn work(&self, job: Job) -> WorkEnd {
        let agent = job.agent_tools.agent().agent_id;
        let worked = match self.model(&job.agent_tools.agent().spec) {
            Ok(model) => Talk::new(&self.client, &self.config, model, job).await.run().await,
            // The configuration may have changed since the agent was spawned.
            Err(error) => Err(Halt::Model(error.message)),
        };
        match worked {
            Ok(results) => WorkEnd { outcome: WorkOutcome::Completed, calls: Vec::new(), results },
            Err(halt) => {
                tracing::info!(%agent, %halt, "the model's work comes to nothing");
                failed(halt.to_string())
            }
        }
    }
}
