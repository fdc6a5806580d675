//! Runs and executions: what is asked for, and what lists hold.

use artel_model::access::UserId;
use artel_model::id::{AgentId, PlanId, RunId, StepId};
use artel_model::limit::API_PAGE_ITEMS_MAX;
use artel_model::name::{LocalName, SkillName};
use artel_model::run::{RunState, RunSummary, SubmissionKind};
use artel_model::time::Timestamp;
use artel_model::version::Version;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::number::whole;
use crate::shapes;

/// Something to be run: a skill, or a plan.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(transform = shapes::skill_or_plan)]
#[schemars(example = json!({"skill": "navigate", "params": {"location": "kitchen"}}))]
pub struct RunRequest {
    /// The skill; either this or `plan`.
    #[serde(default)]
    pub skill: Option<SkillName>,
    /// Its version; the usual one when absent.
    #[serde(default)]
    #[schemars(schema_with = "shapes::version")]
    pub version: Option<Version>,
    /// The script of the skill; the one that it runs by itself when absent.
    #[serde(default)]
    pub script: Option<LocalName>,
    /// The parameters; with `chain`, an object for each skill by its name.
    #[serde(default)]
    pub params: Map<String, Value>,
    /// Whether everything that the skill depends on runs first.
    #[serde(default)]
    pub chain: bool,
    /// The plan.
    #[serde(default)]
    pub plan: Option<Map<String, Value>>,
    /// Milliseconds that the run may take.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
}

/// A run: what lists show about it, and whether somebody sees to it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RunStatus {
    /// The run.
    #[schemars(with = "Uuid")]
    pub run_id: RunId,
    /// What kind of thing is run.
    pub kind: SubmissionKind,
    /// Its plan.
    #[schemars(with = "Uuid")]
    pub plan_id: PlanId,
    /// The agent it is run for.
    #[schemars(with = "Option<Uuid>")]
    pub agent_id: Option<AgentId>,
    /// Whose it is; nothing for somebody who has the data folder in hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<UserId>,
    /// Where it stands.
    pub state: RunState,
    /// How many steps it has.
    pub steps: usize,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Whether somebody alive drives it; nobody drives a run that is over.
    pub driven: bool,
}

impl RunStatus {
    /// Shows a run.
    pub fn of(summary: RunSummary, driven: bool) -> Self {
        let RunSummary { run_id, kind, plan_id, agent_id, owner, state, steps, created_at, completed_at } =
            summary;
        Self { run_id, kind, plan_id, agent_id, owner, state, steps, created_at, completed_at, driven }
    }

    /// Returns what lists show about it.
    pub fn summary(self) -> RunSummary {
        let Self {
            run_id,
            kind,
            plan_id,
            agent_id,
            owner,
            state,
            steps,
            created_at,
            completed_at,
            driven: _,
        } = self;
        RunSummary { run_id, kind, plan_id, agent_id, owner, state, steps, created_at, completed_at }
    }
}

/// A run that was asked for.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct StartedRun {
    /// The run.
    #[schemars(with = "Uuid")]
    pub run_id: RunId,
    /// What kind of thing is run.
    pub kind: SubmissionKind,
    /// Its plan.
    #[schemars(with = "Uuid")]
    pub plan_id: PlanId,
    /// The agent it is run for.
    #[schemars(with = "Option<Uuid>")]
    pub agent_id: Option<AgentId>,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<UserId>,
    /// Where it stands.
    pub state: RunState,
    /// How many steps it has.
    pub steps: usize,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Whether an earlier request with the same Idempotency-Key began it.
    pub repeated: bool,
}

impl StartedRun {
    /// Shows a run that was asked for.
    pub fn of(summary: RunSummary, repeated: bool) -> Self {
        let RunSummary { run_id, kind, plan_id, agent_id, owner, state, steps, created_at, completed_at } =
            summary;
        Self { run_id, kind, plan_id, agent_id, owner, state, steps, created_at, completed_at, repeated }
    }
}

/// Which runs a list holds; everything that is not said fits.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RunsQuery {
    /// States, with commas between: `running,paused`.
    #[serde(default)]
    #[schemars(schema_with = "shapes::run_states")]
    pub state: Option<String>,
    /// Asked for at this time or later.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// Asked for before this time.
    #[serde(default)]
    pub until: Option<Timestamp>,
    /// Whose; an administrator's to say, everybody else sees their own.
    #[serde(default)]
    #[schemars(with = "Option<UserId>")]
    pub owner: Option<String>,
    /// The `next` of the page before.
    #[serde(default)]
    #[schemars(schema_with = "shapes::cursor")]
    pub after: Option<String>,
    /// Items on one page.
    #[serde(default)]
    #[schemars(range(min = 1, max = API_PAGE_ITEMS_MAX))]
    pub limit: Option<u32>,
}

/// An event of a log.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct LogLine {
    /// Its place in the log, from 1; also its id in the stream.
    pub revision: u64,
    /// When it happened.
    pub at: Timestamp,
    /// What happened; its `type` says what else there is.
    pub event: Map<String, Value>,
}

/// Which part of a log is read.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LogQuery {
    /// The revision after which it begins; the beginning of the log when absent.
    #[serde(default)]
    pub after: Option<u64>,
    /// Items on one page.
    #[serde(default)]
    #[schemars(range(min = 1, max = API_PAGE_ITEMS_MAX))]
    pub limit: Option<u32>,
}

/// A part of a log, as far as it is written.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct LogPage {
    /// The events, in order; nothing at the end.
    pub items: Vec<LogLine>,
}

/// What ended long ago and may be removed.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"before": "2026-01-31T12:00:00Z"}))]
pub struct PruneRequest {
    /// What ended before this time.
    pub before: Timestamp,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct PrunedRuns {
    /// How many runs.
    pub removed: u64,
    /// How many files that only they had made.
    pub assets: u64,
}

/// What somebody says about a step that waits for approval.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"step": "deploy", "note": "looks good"}))]
pub struct Word {
    /// The step; the only one that waits when absent.
    #[serde(default)]
    #[schemars(with = "Option<StepId>")]
    pub step: Option<String>,
    /// What goes with it.
    #[serde(default)]
    pub note: Option<String>,
}

/// Which executions a list holds; everything that is not said fits.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ExecutionsQuery {
    /// Part of this run.
    #[serde(default)]
    pub run: Option<Uuid>,
    /// Run for this agent.
    #[serde(default)]
    pub agent: Option<Uuid>,
    /// Of this skill.
    #[serde(default)]
    pub skill: Option<SkillName>,
    /// Statuses, with commas between: `failed,timeout`.
    #[serde(default)]
    #[schemars(schema_with = "shapes::execution_statuses")]
    pub status: Option<String>,
    /// Begun at this time or later.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// Begun before this time.
    #[serde(default)]
    pub until: Option<Timestamp>,
    /// The `next` of the page before.
    #[serde(default)]
    #[schemars(schema_with = "shapes::cursor")]
    pub after: Option<String>,
    /// Items on one page.
    #[serde(default)]
    #[schemars(range(min = 1, max = API_PAGE_ITEMS_MAX))]
    pub limit: Option<u32>,
}

/// By what executions are counted.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CountedBy {
    /// By skill.
    #[default]
    Skill,
    /// By agent.
    Agent,
}

/// Which executions are counted, and how.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StatsQuery {
    /// By what.
    #[serde(default)]
    pub by: CountedBy,
    /// Begun at this time or later.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// Begun before this time.
    #[serde(default)]
    pub until: Option<Timestamp>,
}

/// What can be said about the executions of one skill, or for one agent.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct StatsItem {
    /// The skill's name or the agent's id; nothing for executions of no agent.
    pub of: Option<String>,
    /// How many there are.
    pub count: u64,
    /// How many have ended, in any way.
    pub ended: u64,
    /// How many of those did what they should.
    pub succeeded: u64,
    /// The part of those that ended; nothing when none has.
    pub success_rate: Option<f64>,
    /// Attempts after the first, of all together.
    pub retries: u64,
    /// The duration of half of those that ended, in milliseconds.
    pub p50_ms: Option<u64>,
    /// That of 95 in 100.
    pub p95_ms: Option<u64>,
    /// That of 99 in 100.
    pub p99_ms: Option<u64>,
}

/// What can be said about many executions.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct StatsAnswer {
    /// By what they are counted.
    pub by: CountedBy,
    /// The most first.
    pub items: Vec<StatsItem>,
}
