//! Planners make plans of requests in words, and the replan loop tries again when one fails.
//!
//! A [`Planner`] is asked for one plan at a time; [`Replanner`] asks it, has the plan run through a [`PlanRunner`], and
//! leaves out what failed. Knows nothing of stores, of how plans are run, and of where settings come from.

mod ask;
mod clock;
mod command;
mod command_request;
mod error;
mod llm;
mod offer;
mod pattern;
mod replan;
mod stamp;

#[cfg(test)]
mod testing;

pub use crate::llm::{ApiKey, LlmConfig, LlmConfigError, LlmProtocol};
pub use ask::{PlanCheck, Planned, PlannedBy, Planner, PlanningRequest};
pub use command::{CommandConfig, CommandPlanner};
pub use command_request::{CommandRequest, CommandScript, CommandSkill};
pub use error::PlanningError;
pub use llm::LlmPlanner;
pub use offer::{Runs, ScriptOffer, SkillOffer, offers};
pub use pattern::PatternPlanner;
pub use replan::{
    Answer, AttemptOutcome, AttemptSummary, PlanRunner, Question, Ran, ReplanConfig, ReplanState, Replanner,
    RunVerdict,
};
