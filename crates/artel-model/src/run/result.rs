//! The result of a run as its users see it, made from its log.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::event::{RunEvent, StampedEvent};
use super::machine::Run;
use super::report::{AssetRecord, AttemptOutcome, ErrorKind, StepError};
use super::step::{Halt, Settled};
use super::view::StepView;
use crate::id::{PlanId, RunId, StepId};
use crate::name::SkillName;
use crate::plan::{FailureReason, Importance, PlanMetadata, PlanProblem, StepIndex, Work};
use crate::protocol::ToolEvent;
use crate::time::Timestamp;

/// What came of a plan.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultDocument {
    /// The plan's `requestId`.
    #[schemars(with = "uuid::Uuid")]
    pub plan_id: PlanId,
    /// The run; nothing when the plan could not be run at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<uuid::Uuid>")]
    pub run_id: Option<RunId>,
    /// Whether everything that is required completed.
    pub success: bool,
    /// The text that goes with the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narrative: Option<String>,
    /// The tools that ran and did not complete, in the order of the plan.
    #[schemars(with = "Vec<String>")]
    pub failed_tools: Vec<StepId>,
    /// Whether another plan might succeed.
    pub can_replan: bool,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<FailureReason>,
    /// What is wrong with the plan, when it could not be run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<PlanProblem>,
    /// Every tool, in the order of the plan.
    pub execution_trace: Vec<TraceEntry>,
    /// The state at the end.
    pub final_state: Map<String, Value>,
    /// From when it was asked for until it ended.
    pub total_execution_time_ms: u64,
    /// How the plan came to be.
    pub generation_metadata: PlanMetadata,
    /// Skills that were left out when it was made.
    #[schemars(with = "Vec<String>")]
    pub disabled_skills: Vec<SkillName>,
    /// The files that tools made.
    pub assets: Vec<AssetRecord>,
    /// Whether every try at planning failed and this is what is said instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fallback: bool,
}

impl ResultDocument {
    /// Makes the result of a plan of which nothing ran.
    pub fn not_run(
        plan_id: PlanId,
        metadata: PlanMetadata,
        disabled_skills: Vec<SkillName>,
        reason: FailureReason,
    ) -> Self {
        Self {
            plan_id,
            run_id: None,
            success: false,
            narrative: None,
            failed_tools: Vec::new(),
            can_replan: false,
            failure_reason: Some(reason),
            problems: Vec::new(),
            execution_trace: Vec::new(),
            final_state: Map::new(),
            total_execution_time_ms: 0,
            generation_metadata: metadata,
            disabled_skills,
            assets: Vec::new(),
            fallback: false,
        }
    }
}

/// What came of one tool.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TraceEntry {
    /// The tool's id in the plan.
    #[schemars(with = "String")]
    pub tool_id: StepId,
    /// What it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_path: Option<String>,
    /// Whether it completed.
    pub ok: bool,
    /// Where it stands.
    pub state: ToolState,
    /// What came out; nothing when it did not complete.
    pub output: Option<Map<String, Value>>,
    /// What its last attempt said.
    pub events: Vec<ToolEvent>,
    /// From its first attempt until it ended.
    pub execution_time_ms: u64,
    /// Attempts after the first.
    pub retry_count: u32,
    /// Why it did not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<StepError>,
    /// Every attempt, in order.
    pub attempts: Vec<AttemptTrace>,
}

/// Where a tool stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    /// It has not started.
    Pending,
    /// It runs.
    Running,
    /// It did what it should.
    Completed,
    /// It failed.
    Failed,
    /// It never ran.
    Skipped,
    /// It took too long.
    Timeout,
    /// It was ended.
    Cancelled,
}

impl ToolState {
    /// Returns the word that people and documents use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }
}

impl From<StepView<'_>> for ToolState {
    fn from(view: StepView<'_>) -> Self {
        match view {
            StepView::Pending | StepView::AwaitingApproval => Self::Pending,
            StepView::Running { .. } => Self::Running,
            StepView::Settled(Settled::Completed { .. }) => Self::Completed,
            StepView::Settled(Settled::Failed(_)) => Self::Failed,
            StepView::Settled(Settled::Skipped(_)) => Self::Skipped,
            StepView::Settled(Settled::TimedOut(_)) => Self::Timeout,
            StepView::Settled(Settled::Cancelled(_)) => Self::Cancelled,
        }
    }
}

/// One attempt at a tool.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptTrace {
    /// Which try, from 1.
    pub attempt: u32,
    /// When it began.
    #[schemars(with = "String")]
    pub started_at: Timestamp,
    /// How long it took; nothing while it runs, or when nobody saw it end.
    pub execution_time_ms: Option<u64>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<StepError>,
    /// What it said.
    pub events: Vec<ToolEvent>,
    /// What it said after `done`, and nobody heard.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped_events: u64,
    /// The end of what it wrote to stderr.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Collects from a log what a run's state does not hold: what scripts said, and the files they made.
#[derive(Debug, Default)]
pub struct Trace {
    attempts: BTreeMap<StepIndex, Vec<AttemptTrace>>,
    assets: BTreeMap<(StepIndex, u32), Vec<AssetRecord>>,
}

impl Trace {
    /// Takes in one event of the log.
    pub fn note(&mut self, event: &StampedEvent) {
        match &event.event {
            RunEvent::Started { step, attempt, .. } => {
                self.attempts.entry(*step).or_default().push(AttemptTrace {
                    attempt: *attempt,
                    started_at: event.at,
                    execution_time_ms: None,
                    error: None,
                    events: Vec::new(),
                    dropped_events: 0,
                    stderr: String::new(),
                });
            }
            RunEvent::Emitted { step, attempt, events } => {
                if let Some(trace) = self.attempt(*step, *attempt) {
                    trace.events.extend(events.iter().cloned());
                }
            }
            RunEvent::Ended { step, attempt, report } => {
                if let Some(trace) = self.attempt(*step, *attempt) {
                    trace.execution_time_ms = Some(event.at.millis_since(trace.started_at));
                    trace.dropped_events = report.dropped_events;
                    trace.stderr.clone_from(&report.stderr);
                    match &report.outcome {
                        AttemptOutcome::Failed { error, .. } => trace.error = Some(error.clone()),
                        AttemptOutcome::Completed { .. } => {
                            self.assets.insert((*step, *attempt), report.assets.clone());
                        }
                    }
                }
            }
            RunEvent::Submitted(_)
            | RunEvent::TimeReached
            | RunEvent::CancelRequested { .. }
            | RunEvent::PauseRequested { .. }
            | RunEvent::ResumeRequested { .. }
            | RunEvent::Approved { .. }
            | RunEvent::Rejected { .. }
            | RunEvent::Interrupted { .. } => {}
        }
    }

    fn attempt(&mut self, step: StepIndex, attempt: u32) -> Option<&mut AttemptTrace> {
        self.attempts.get_mut(&step)?.last_mut().filter(|trace| trace.attempt == attempt)
    }

    /// Makes the result of a run. `has_failed_for_good` says of a skill's files, by their hash, whether planning with it is pointless.
    pub fn result(self, run: &Run, has_failed_for_good: impl Fn(&SkillName, &str) -> bool) -> ResultDocument {
        let parts = run.plan().parts();
        let is_failed = |step: &StepIndex| match run.step(*step) {
            StepView::Settled(settled) => settled.is_failure(),
            StepView::Pending | StepView::AwaitingApproval | StepView::Running { .. } => false,
        };
        let is_tool = |step: &StepIndex| parts.steps[*step].scope.is_none();
        let failed: Vec<StepIndex> = (0..parts.steps.len()).filter(is_tool).filter(is_failed).collect();
        let success = run.is_success() && run.halted().is_none();
        let is_for_good = |step: &StepIndex| {
            let (skill, _, content_hash) = run.skill(*step);
            has_failed_for_good(skill, content_hash)
        };
        let all_for_good = !failed.is_empty() && failed.iter().all(is_for_good);
        let ended_at = run.completed_at().unwrap_or(run.summary().created_at);
        ResultDocument {
            plan_id: parts.id,
            run_id: Some(run.id()),
            success,
            narrative: parts.narrative.clone(),
            failed_tools: failed.iter().map(|step| parts.steps[*step].id.clone()).collect(),
            can_replan: !success && run.halted() != Some(Halt::Cancelled) && !all_for_good,
            failure_reason: (!success && run.completed_at().is_some()).then(|| failure_reason(run)),
            problems: Vec::new(),
            final_state: run.merged_state(),
            total_execution_time_ms: ended_at.millis_since(run.summary().created_at),
            generation_metadata: parts.metadata.clone(),
            disabled_skills: parts.disabled_skills.clone(),
            assets: self.assets.values().flatten().cloned().collect(),
            execution_trace: self.entries(run),
            fallback: false,
        }
    }

    fn entries(mut self, run: &Run) -> Vec<TraceEntry> {
        let entry = |step: StepIndex| {
            let mut attempts = self.attempts.remove(&step).unwrap_or_default();
            let (plan, view) = (&run.plan().steps()[step], run.step(step));
            let (output, error) = match view {
                StepView::Settled(settled) => (settled.output().cloned(), settled.error().cloned()),
                StepView::Pending | StepView::AwaitingApproval | StepView::Running { .. } => (None, None),
            };
            // Why an attempt was ended from outside is known to the run alone.
            if let (StepView::Settled(Settled::TimedOut(_) | Settled::Cancelled(_)), Some(last)) =
                (view, attempts.last_mut())
            {
                last.error.clone_from(&error);
            }
            TraceEntry {
                tool_id: plan.id.clone(),
                tool_path: Some(match &plan.work {
                    Work::Script(target) => target.tool_path.clone(),
                    Work::Gather { skill, .. } => skill.to_string(),
                }),
                ok: output.is_some(),
                state: view.into(),
                output,
                events: attempts.last().map(|last| last.events.clone()).unwrap_or_default(),
                execution_time_ms: span_ms(&attempts),
                retry_count: attempts.last().map_or(0, |last| last.attempt - 1),
                error,
                attempts,
            }
        };
        (0..run.plan().steps().len()).map(entry).collect()
    }
}

fn span_ms(attempts: &[AttemptTrace]) -> u64 {
    let (Some(first), Some(last)) = (attempts.first(), attempts.last()) else { return 0 };
    (last.started_at + last.execution_time_ms.unwrap_or(0)).millis_since(first.started_at)
}

/// The first required tool that failed says why; a tool that was skipped did not fail by itself.
fn failure_reason(run: &Run) -> FailureReason {
    match run.halted() {
        Some(Halt::Cancelled) => return FailureReason::Cancelled,
        Some(Halt::DeadlinePassed) => return FailureReason::Timeout,
        None => {}
    }
    let errors = run.plan().steps().iter().enumerate().filter_map(|(step, plan)| match run.step(step) {
        StepView::Settled(settled) if plan.importance == Importance::Required && settled.is_failure() => {
            settled.error()
        }
        StepView::Settled(_) | StepView::Pending | StepView::AwaitingApproval | StepView::Running { .. } => {
            None
        }
    });
    match errors.map(|error| error.kind).next() {
        Some(ErrorKind::Timeout) => FailureReason::Timeout,
        Some(ErrorKind::ProtocolViolation) => FailureReason::ProtocolViolation,
        Some(
            ErrorKind::ToolExecutionFailed
            | ErrorKind::DependencyFailed
            | ErrorKind::Cancelled
            | ErrorKind::PolicyDenied
            | ErrorKind::SpawnFailed,
        )
        | None => FailureReason::ToolFailure,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::Story;
    use super::*;
    use crate::plan::Concurrency;

    fn result(plan: &str, words: &str, broken: &[&str]) -> Value {
        let mut story = Story::new(plan, Concurrency::Parallel, 2);
        words.split_whitespace().for_each(|word| story.tell(word));
        let mut trace = Trace::default();
        story.log.iter().for_each(|event| trace.note(event));
        let result = trace.result(&story.run, |skill, _| broken.contains(&skill.as_str()));
        let read: ResultDocument = serde_json::from_value(serde_json::to_value(&result).unwrap()).unwrap();
        assert_eq!(read, result);
        serde_json::to_value(result).unwrap()
    }

    #[track_caller]
    fn check(plan: &str, words: &str, expected: Value) {
        let result = result(plan, words, &["broken"]);
        let told =
            json!([result["success"], result["failedTools"], result["canReplan"], result["failureReason"]]);
        assert_eq!(told, expected);
    }

    #[test]
    fn the_reason_is_that_of_the_first_required_tool_that_failed() {
        check("a; b <- a", "go a. go b.", json!([true, [], false, null]));
        check("a; b <- a", "go ax", json!([false, ["a"], true, "tool_failure"]));
        check("a ?; b", "go av bx", json!([false, ["a", "b"], true, "tool_failure"]));
        check("a; b", "go av b.", json!([false, ["a"], true, "protocol_violation"]));
        check("a", "go +1000 ax", json!([false, ["a"], true, "timeout"]));
        check("a; b <- a", "go +10000 ax", json!([false, ["a"], true, "timeout"]));
        check("a; b <- a", "go cancel ax", json!([false, [], false, "cancelled"]));
    }

    #[test]
    fn a_failed_optional_tool_is_told_but_does_not_fail_the_plan() {
        check("a ?; b", "go ax b.", json!([true, ["a"], false, null]));
    }

    #[test]
    fn planning_again_is_pointless_when_every_failed_skill_is_broken_for_good() {
        check("broken", "go brokenx", json!([false, ["broken"], false, "tool_failure"]));
        check("broken; a", "go brokenx ax", json!([false, ["broken", "a"], true, "tool_failure"]));
    }

    #[test]
    fn the_trace_lists_tools_in_plan_order_with_every_attempt() {
        let result = result("b <- a; a +", "go ax +100 go a. go +7 b.", &[]);
        let entry = |index: usize| {
            let entry = &result["executionTrace"][index];
            json!([
                entry["toolId"],
                entry["state"],
                entry["ok"],
                entry["retryCount"],
                entry["executionTimeMs"]
            ])
        };
        assert_eq!(entry(0), json!(["b", "completed", true, 0, 7]));
        assert_eq!(entry(1), json!(["a", "completed", true, 1, 100]));
        let attempts = &result["executionTrace"][1]["attempts"];
        assert_eq!(attempts[0]["error"]["type"], "ToolExecutionFailed");
        assert_eq!(attempts[1]["error"], Value::Null);
        assert_eq!(result["totalExecutionTimeMs"], 107);
        assert_eq!(result["finalState"], json!({"a": true, "b": true, "last": "b"}));
    }

    #[test]
    fn an_attempt_that_was_ended_says_why() {
        let result = result("a; b", "go +500 cancel ax bx", &[]);
        let error = &result["executionTrace"][0]["attempts"][0]["error"];
        assert_eq!(error["type"], "Cancelled");
        assert_eq!(result["executionTrace"][0]["state"], "cancelled");
    }
}
