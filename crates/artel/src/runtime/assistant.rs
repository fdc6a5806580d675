//! The model that answers in the chat, as the configuration names it.

use std::sync::Arc;

use artel_app::Assistant;
use artel_engine::llm::LlmClient;
use artel_model::limit::CHAT_PROMPT_SKILLS;

use super::planner::Endpoint;
use crate::config::{AnsweredBy, Config};
use crate::failure::{Failure, chain};

/// Returns the model; nothing when plans are made and run instead.
pub(super) fn assistant(config: &Config) -> Result<Option<Assistant>, Failure> {
    match config.chat.value {
        AnsweredBy::Planner => Ok(None),
        AnsweredBy::Llm => model(config).map(Some),
    }
}

fn model(config: &Config) -> Result<Assistant, Failure> {
    let settings = &config.llm.value;
    let Some(model) = &settings.model else {
        return Err(Failure::usage("no model is configured for the chat")
            .hint("`[llm]` in artel.toml says `model`; `[chat] answered_by = \"planner\"` needs none"));
    };
    let endpoint = Endpoint {
        protocol: settings.protocol,
        url: settings.url.as_deref(),
        api_key_env: settings.api_key_env.as_deref(),
    };
    let mut reached = endpoint.config(&config.environment, model)?;
    reached.deadline_ms = settings.answer_ms;
    let client = LlmClient::new(reached).map_err(|error| Failure::usage(chain(&error)))?;
    let (turns_max, tokens_max) = (settings.turns_max, settings.tokens_max);
    let skills_max = config.prompt_skills_max.value.unwrap_or(CHAT_PROMPT_SKILLS);
    Ok(Assistant { client: Arc::new(client), turns_max, tokens_max, skills_max })
}
