//! What a planner is asked, what it answers, and how its answer is checked. Knows no planner.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use artel_model::id::PlanId;
use artel_model::name::SkillName;
use artel_model::plan::{PlanDocument, PlanMetadata, PlanProblem, SkillLookup, resolve};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::error::PlanningError;
use super::offer::SkillOffer;

/// Makes plans.
#[async_trait]
pub trait Planner: Send + Sync {
    /// Makes a plan for a request, before the request's deadline.
    async fn plan(&self, ask: &PlanningRequest) -> Result<Planned, PlanningError>;
}

/// A wish for a plan. Everything that a planner may use is in it, so the same wish can give the same plan.
#[derive(Clone)]
pub struct PlanningRequest {
    /// What a person asked for, in words.
    pub text: String,
    /// The skills there are.
    pub offers: Arc<[SkillOffer]>,
    /// Skills that the plan must not use.
    pub disabled: BTreeSet<SkillName>,
    /// The id of the plan.
    pub plan_id: PlanId,
    /// Which try it is, from 1.
    pub attempt: u32,
    /// The plan that failed before.
    pub parent: Option<PlanId>,
    /// What was wrong with the attempts before, for the planner to do better.
    pub feedback: Vec<String>,
    /// Until when the plan must be there.
    pub deadline: Instant,
    /// Says whether a plan could be run.
    pub check: Arc<dyn PlanCheck>,
}

/// Says what is wrong with a plan, without running it.
pub trait PlanCheck: Send + Sync {
    /// Returns every problem; nothing when the plan could be run.
    fn problems(&self, document: &PlanDocument) -> Vec<PlanProblem>;
}

impl<L: SkillLookup + Send + Sync> PlanCheck for L {
    fn problems(&self, document: &PlanDocument) -> Vec<PlanProblem> {
        resolve(document, self).err().unwrap_or_default()
    }
}

/// A plan, and how it came to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The plan.
    pub document: PlanDocument,
    /// Who made it.
    pub by: PlannedBy,
    /// What happened on the way, for the log: a planner that failed and was replaced, a reply that was corrected.
    pub notes: Vec<String>,
}

/// The kinds of planners.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedBy {
    /// Words and schemas, without any network.
    Pattern,
    /// A language model.
    Llm,
    /// A program of the operator.
    Command,
}

impl PlanningRequest {
    /// Returns the skills that may be used.
    pub fn usable(&self) -> impl Iterator<Item = &SkillOffer> {
        self.offers.iter().filter(|offer| !self.disabled.contains(&offer.name))
    }

    /// Returns how the plan came to be, as the plan itself says it.
    pub fn metadata(&self) -> PlanMetadata {
        PlanMetadata { generation_attempt: self.attempt, parent_plan_id: self.parent }
    }
}

impl fmt::Debug for PlanningRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanningRequest")
            .field("plan_id", &self.plan_id)
            .field("attempt", &self.attempt)
            .field("text", &self.text)
            .field("offers", &self.offers.len())
            .field("disabled", &self.disabled)
            .finish_non_exhaustive()
    }
}

impl PlannedBy {
    /// Returns the word that people and documents use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pattern => "pattern",
            Self::Llm => "llm",
            Self::Command => "command",
        }
    }
}

impl fmt::Display for PlannedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
