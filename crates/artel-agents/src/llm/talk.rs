//! The loop: the model is asked, its calls are made, and it hears what came of them, until it is done or a limit is reached.

use artel_engine::llm::{Conversation, LlmClient, Reply, StopReason, Turn};
use serde_json::{Map, Value, json};

use super::config::LlmDriverConfig;
use super::halt::Halt;
use super::instructions::skill_texts;
use super::names::ToolNames;
use super::promise::Promise;
use super::prompt::{LeftOut, correction, cut, system};
use super::said::{ARTEL, ArtelSaid, Replayed, replay};
use super::timer::Timer;
use crate::agent_tools::AgentTools;
use crate::driver::Job;
use crate::outcome::split_tool;

/// Times that a model may correct its last answer.
const CORRECTIONS_MAX: u32 = 1;
/// Bytes of a refusal that are told.
const REFUSAL_BYTES_MAX: usize = 500;

/// One piece of work of a model.
pub(super) struct Talk<'d> {
    pub(super) client: &'d LlmClient,
    pub(super) config: &'d LlmDriverConfig,
    pub(super) agent_tools: AgentTools,
    pub(super) timer: Timer,
    pub(super) names: ToolNames,
    pub(super) conversation: Conversation,
    /// Answers of the model so far.
    pub(super) asked: u32,
    /// Tokens that they took.
    pub(super) tokens: u64,
    promise: Promise,
    corrections: u32,
    /// What the model said before the work was interrupted, when that is not dealt with.
    open: Option<(Reply, Vec<artel_engine::llm::ToolResult>)>,
}

impl<'d> Talk<'d> {
    /// Prepares a piece of work; one that was interrupted goes on where it was.
    pub(super) async fn new(
        client: &'d LlmClient,
        config: &'d LlmDriverConfig,
        model: String,
        job: Job,
    ) -> Self {
        let Job { agent_tools, control, deadline, said } = job;
        let spec = &agent_tools.agent().spec;
        let own = spec.skills.clone().unwrap_or_default();
        let is_own = |tool: &str| {
            let (skill, _) = split_tool(tool);
            !tool.contains('/') || own.iter().any(|name| name.as_str() == skill)
        };
        let names = ToolNames::new(agent_tools.tools(), is_own);
        let mut skills = skill_texts(agent_tools.shelf(), own.clone()).await;
        let skills_left_out = skills.len().saturating_sub(config.skills_max.unwrap_or(usize::MAX));
        skills.truncate(skills.len() - skills_left_out);
        let left_out = LeftOut { skills: skills_left_out, tools: names.left_out };
        let promise = Promise::of(spec);
        let system = system(agent_tools.agent(), &skills, promise.schema().as_ref(), left_out);
        let Replayed { turns, open, asked, tokens, corrections } = replay(&said);
        let task = Turn::User(spec.task.clone().unwrap_or_default());
        let conversation = Conversation {
            model: Some(model),
            system,
            turns: std::iter::once(task).chain(turns).collect(),
            tools: names.specs.clone(),
            thinking: spec.thinking,
        };
        let timer = Timer::new(control, deadline);
        Self {
            client,
            config,
            agent_tools,
            timer,
            names,
            conversation,
            asked,
            tokens,
            promise,
            corrections,
            open,
        }
    }

    /// Lets the model work to its end, and returns the results.
    pub(super) async fn run(mut self) -> Result<Map<String, Value>, Halt> {
        if let Some((reply, known)) = self.open.take() {
            if reply.calls.is_empty() {
                if let Some(results) = self.finish(reply).await? {
                    return Ok(results);
                }
            } else {
                let results = self.interrupted_calls(&reply, &known).await;
                self.conversation.turns.extend([Turn::Model(reply), Turn::Tools(results)]);
            }
        }
        loop {
            self.check_limits()?;
            let reply = self.ask().await?;
            if reply.calls.is_empty() {
                if let Some(results) = self.finish(reply).await? {
                    return Ok(results);
                }
            } else {
                // Nobody would hear what came of them.
                self.check_limits()?;
                let results = self.calls(&reply).await?;
                self.conversation.turns.extend([Turn::Model(reply), Turn::Tools(results)]);
            }
        }
    }

    /// Says whether the model may be asked once more.
    fn check_limits(&self) -> Result<(), Halt> {
        let (tokens, tokens_max) = (self.tokens, self.config.tokens_max);
        if self.asked >= self.config.turns_max {
            return Err(Halt::Turns { turns: self.asked });
        }
        if tokens >= tokens_max {
            return Err(Halt::Tokens { tokens, tokens_max });
        }
        Ok(())
    }

    /// Makes results of the last answer; nothing when the model has to correct it first.
    async fn finish(&mut self, reply: Reply) -> Result<Option<Map<String, Value>>, Halt> {
        match reply.stop {
            StopReason::Refused => return Err(Halt::Refused(cut(&reply.text, REFUSAL_BYTES_MAX))),
            StopReason::Length => return Err(Halt::CutOff),
            StopReason::Finished | StopReason::ToolCalls | StopReason::Other(_) => {}
        }
        let problems = match self.promise.results(&reply.text) {
            Ok(results) => return Ok(Some(results)),
            Err(problems) => problems,
        };
        if self.corrections >= CORRECTIONS_MAX || self.check_limits().is_err() {
            return Err(Halt::Unusable(problems));
        }
        self.corrections += 1;
        let text = correction(&problems);
        self.agent_tools.say(ARTEL, json!(ArtelSaid { text: text.clone() })).await;
        self.conversation.turns.extend([Turn::Model(reply), Turn::User(text)]);
        Ok(None)
    }
}
