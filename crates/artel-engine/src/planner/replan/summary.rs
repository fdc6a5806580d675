//! What is kept of every attempt to answer a request. Values only.

use artel_model::id::{PlanId, StepId};
use artel_model::name::SkillName;
use artel_model::plan::FailureReason;
use serde::{Deserialize, Serialize};

use crate::planner::ask::PlannedBy;

/// One attempt to answer a request.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptSummary {
    /// Which one, from 1.
    pub attempt: u32,
    /// The plan; the one that was asked for when there is none.
    pub plan_id: PlanId,
    /// The plan that failed before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<PlanId>,
    /// Who made the plan; nobody when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planner: Option<PlannedBy>,
    /// The skills that it uses, by name.
    pub skills: Vec<SkillName>,
    /// What came of it.
    pub outcome: AttemptOutcome,
    /// The tools that failed.
    pub failed_tools: Vec<StepId>,
    /// The skills that are left out from here on because of it, by name.
    pub disabled: Vec<SkillName>,
    /// What happened on the way, and what was wrong.
    pub notes: Vec<String>,
}

/// What came of an attempt.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "reason")]
pub enum AttemptOutcome {
    /// Everything that is required completed.
    Success,
    /// The plan ran and failed.
    Failed(FailureReason),
    /// The plan could not be run.
    Invalid(FailureReason),
    /// There was no plan.
    NotPlanned,
    /// The planner has nothing more to offer, and the plan was not run.
    NothingLeft,
}
