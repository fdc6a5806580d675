//! What a list of runs shows about one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::SubmissionKind;
use crate::access::UserId;
use crate::id::{AgentId, PlanId, RunId};
use crate::time::Timestamp;

/// What a list of runs shows about one; kept beside the log and made from it.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct RunSummary {
    /// The run.
    #[schemars(with = "uuid::Uuid")]
    pub run_id: RunId,
    /// What kind of thing is run.
    pub kind: SubmissionKind,
    /// Its plan.
    #[schemars(with = "uuid::Uuid")]
    pub plan_id: PlanId,
    /// The agent it is run for.
    #[schemars(with = "Option<uuid::Uuid>")]
    pub agent_id: Option<AgentId>,
    /// Whose it is; nothing for somebody who has the data folder in hand. It never changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<UserId>,
    /// Where it stands.
    pub state: RunState,
    /// How many steps it has.
    pub steps: usize,
    /// When it was asked for.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: Timestamp,
    /// When it ended.
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub completed_at: Option<Timestamp>,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Steps run, or wait for their turn.
    Running,
    /// Nothing runs until somebody says yes or no.
    AwaitingApproval,
    /// Somebody made it stand still.
    Paused,
    /// It is being ended.
    Stopping,
    /// Everything required completed.
    Succeeded,
    /// Something required did not complete.
    Failed,
    /// Somebody ended it.
    Cancelled,
}

impl RunState {
    /// Every state.
    pub const ALL: &[Self] = &[
        Self::Running,
        Self::AwaitingApproval,
        Self::Paused,
        Self::Stopping,
        Self::Succeeded,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Says whether nothing more will happen.
    pub fn is_final(self) -> bool {
        match self {
            Self::Succeeded | Self::Failed | Self::Cancelled => true,
            Self::Running | Self::AwaitingApproval | Self::Paused | Self::Stopping => false,
        }
    }

    /// Returns the word that people and documents use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::AwaitingApproval => "awaiting_approval",
            Self::Paused => "paused",
            Self::Stopping => "stopping",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}
