//! The durable record of one skill that was run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::report::StepError;
use crate::id::{AgentId, ExecutionId, RunId, StepId};
use crate::name::SkillName;
use crate::time::Timestamp;
use crate::version::Version;

/// The record of one step's run of a skill.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ExecutionRecord {
    /// Its id.
    #[schemars(with = "uuid::Uuid")]
    pub execution_id: ExecutionId,
    /// The run it belongs to.
    #[schemars(with = "uuid::Uuid")]
    pub run_id: RunId,
    /// The step of that run.
    #[schemars(with = "String")]
    pub step_id: StepId,
    /// The agent it was run for.
    #[schemars(with = "Option<uuid::Uuid>")]
    pub agent_id: Option<AgentId>,
    /// The skill.
    #[schemars(with = "String")]
    pub skill_name: SkillName,
    /// Its version.
    #[schemars(with = "String")]
    pub skill_version: Version,
    /// The hash of its files.
    pub content_hash: String,
    /// What went in, references filled in.
    pub parameters: Map<String, Value>,
    /// What came out.
    pub result: Option<Map<String, Value>>,
    /// Why it failed.
    pub error: Option<StepError>,
    /// Where it stands.
    pub status: ExecutionStatus,
    /// When its first attempt began.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub started_at: Timestamp,
    /// When it ended.
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub completed_at: Option<Timestamp>,
    /// How long it took, from the first attempt to the end.
    pub duration_ms: Option<u64>,
    /// Attempts after the first.
    pub retry_count: u32,
    /// The node it ran on.
    pub node: String,
    /// Its attempts, in order; their events are in the run's log.
    pub attempts: Vec<AttemptRecord>,
}

/// One attempt of an execution.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct AttemptRecord {
    /// Which try, from 1.
    pub attempt: u32,
    /// When it began.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub started_at: Timestamp,
    /// When it ended.
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub completed_at: Option<Timestamp>,
    /// Why it failed.
    pub error: Option<StepError>,
    /// The end of what it wrote to stderr.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

/// Where an execution stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionStatus {
    /// It waits, for its turn or for its next attempt.
    Pending,
    /// An attempt runs.
    Running,
    /// It did what it should.
    Success,
    /// It failed.
    Failed,
    /// It took too long.
    Timeout,
    /// Somebody ended it.
    Cancelled,
}

impl ExecutionStatus {
    /// Every status.
    pub const ALL: &[Self] =
        &[Self::Pending, Self::Running, Self::Success, Self::Failed, Self::Timeout, Self::Cancelled];

    /// Returns the word that people and documents use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }
}
