//! The language model as a planner: asked once, corrected once, and replaced by the pattern planner when that is in vain.

use artel_model::plan::PlanDocument;
use async_trait::async_trait;
use tokio::time::timeout_at;

use super::error::NoPlan;
use super::prompt::{SKILLS_MAX, correction, prompt};
use super::protocol::{ReplyFormat, Speaker, Turn, body, written};
use super::reply::read;
use crate::llm::{LlmClient, LlmConfig, LlmConfigError, LlmError};
use crate::planner::ask::{Planned, PlannedBy, Planner, PlanningRequest};
use crate::planner::clock;
use crate::planner::error::PlanningError;
use crate::planner::pattern::PatternPlanner;
use crate::quote::quote;

/// Times that a model is asked for one plan.
const ROUNDS_MAX: usize = 2;
/// Characters of a note for the log.
const NOTE_CHARS_MAX: usize = 1000;

/// Asks a language model for plans.
#[derive(Debug)]
pub struct LlmPlanner {
    client: LlmClient,
    /// Skills that the model is told about.
    skills_max: usize,
}

impl LlmPlanner {
    /// Makes a planner; nothing is sent before it is asked.
    pub fn new(config: LlmConfig) -> Result<Self, LlmConfigError> {
        if config.model.trim().is_empty() {
            return Err(LlmConfigError::Model);
        }
        Ok(Self { client: LlmClient::new(config)?, skills_max: SKILLS_MAX })
    }

    /// Tells the model about at most so many skills, those that fit the request best.
    #[must_use]
    pub fn with_skills_max(self, skills_max: usize) -> Self {
        Self { skills_max, ..self }
    }

    async fn ask(&self, ask: &PlanningRequest, notes: &mut Vec<String>) -> Result<PlanDocument, NoPlan> {
        let mut turns = vec![Turn { by: Speaker::Artel, text: prompt(ask, self.skills_max) }];
        let mut last = Vec::new();
        for _ in 0..ROUNDS_MAX {
            let said = self.answer(&turns).await?;
            match read(&said, ask) {
                Ok(document) => return Ok(document),
                Err(problems) => {
                    notes.push(note("the model's plan cannot be used", &problems.join("; ")));
                    turns.push(Turn { by: Speaker::Model, text: said });
                    turns.push(Turn { by: Speaker::Artel, text: correction(&problems) });
                    last = problems;
                }
            }
        }
        Err(NoPlan::Unusable { problems: last })
    }

    /// Sends what was said and returns what the model says next.
    async fn answer(&self, turns: &[Turn]) -> Result<String, LlmError> {
        let config = self.client.config();
        let told = self.client.post(&body(config, turns, ReplyFormat::Told)).await;
        let reply = match told {
            Err(LlmError::Refused { status: 400 | 422, message, .. })
                if message.contains("response_format") =>
            {
                self.client.post(&body(config, turns, ReplyFormat::Untold)).await?
            }
            told => told?,
        };
        written(reply)
    }
}

#[async_trait]
impl Planner for LlmPlanner {
    async fn plan(&self, ask: &PlanningRequest) -> Result<Planned, PlanningError> {
        let deadline_ms = self.client.config().deadline_ms;
        let deadline = ask.deadline.min(clock::from_now(deadline_ms));
        let mut notes = Vec::new();
        let error = match timeout_at(deadline, self.ask(ask, &mut notes)).await {
            Ok(Ok(document)) => return Ok(Planned { document, by: PlannedBy::Llm, notes }),
            Ok(Err(error)) => error,
            Err(_) => NoPlan::Llm(LlmError::Deadline { deadline_ms }),
        };
        tracing::warn!(plan = %ask.plan_id, error = &error as &dyn std::error::Error, "the pattern planner takes over from the model");
        notes.push(note("the pattern planner took over from the model", &error.to_string()));
        Ok(Planned { document: PatternPlanner.compose(ask), by: PlannedBy::Pattern, notes })
    }
}

fn note(what: &str, why: &str) -> String {
    format!("{what}: {}", quote(why, NOTE_CHARS_MAX))
}
