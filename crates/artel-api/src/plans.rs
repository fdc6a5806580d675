//! Plans: checked, run, made of words.

use artel_model::limit::API_WAIT_MS_MAX;
use artel_model::plan::{PlanDocument, PlanProblem};
use artel_model::run::ResultDocument;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use crate::number::whole;
use crate::shapes;

/// Whether a plan could be run.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct PlanCheck {
    /// Whether nothing is wrong with it.
    pub valid: bool,
    /// How many tools it has; nothing when something is wrong with it.
    #[serde(default)]
    pub tools: Option<usize>,
    /// Everything that is wrong with it.
    pub problems: Vec<PlanProblem>,
}

/// How a plan is run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RunQuery {
    /// Milliseconds that the run may take.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// Tools that may run at once; what is configured when absent.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub slots: Option<usize>,
}

/// Something that is wanted, in words.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"request": "navigate to the kitchen"}))]
pub struct AskRequest {
    /// What is wanted.
    #[schemars(schema_with = "shapes::said")]
    pub request: String,
    /// Milliseconds that it may take; what is configured when absent.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// Who makes the plan; who is configured when absent.
    #[serde(default)]
    pub planner: Option<PlannerWord>,
}

/// Who makes plans.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannerWord {
    /// Rules, without any network.
    Pattern,
    /// A model.
    Llm,
    /// A program.
    Command,
}

/// A plan that was made of words, and how it came to be.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct GeneratedPlan {
    /// The plan, ready to be run.
    pub plan: PlanDocument,
    /// Who made it.
    #[schemars(with = "PlannerWord")]
    pub planner: String,
    /// What happened on the way.
    pub notes: Vec<String>,
}

/// Where the answer to something that was asked in words stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AskState {
    /// Plans are being made and run.
    Working,
    /// There is an answer.
    Answered,
}

/// Something that was asked in words: the plans that are made of it are run until one succeeds.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct AskStatus {
    /// Its id.
    pub ask_id: Uuid,
    /// What was asked.
    pub request: String,
    /// Where it stands.
    pub state: AskState,
    /// The runs that were begun for it, in order.
    pub runs: Vec<Uuid>,
    /// What came of it; nothing while plans are being made and run.
    pub result: Option<ResultDocument>,
    /// How it came to the answer: every plan that was tried.
    pub attempts: Vec<serde_json::Value>,
}

/// How long to wait for something to become known about a request in words.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AskQuery {
    /// Milliseconds to wait until there is an answer, or another run; not at all when absent.
    #[serde(default)]
    #[schemars(range(min = 0, max = API_WAIT_MS_MAX))]
    pub wait_ms: Option<u64>,
    /// How many of its runs are known already.
    #[serde(default)]
    pub known_runs: usize,
}
