//! The rulings of the loop, each as a story: what the planner makes, what comes of it, and what is asked next.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use artel_model::id::StepId;
use artel_model::name::SkillName;
use artel_model::plan::{FailureReason, PlanDocument, PlanMetadata, PlanProblem, PlanProblemCode};
use artel_model::run::{ErrorKind, ResultDocument, StepError, ToolState, TraceEntry};
use async_trait::async_trait;
use insta::assert_snapshot;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::{Answer, PlanRunner, Question, Ran, ReplanConfig, Replanner, RunVerdict};
use crate::planner::ask::{Planned, PlannedBy, Planner, PlanningRequest};
use crate::planner::error::PlanningError;
use crate::planner::pattern::PatternPlanner;
use crate::planner::stamp::stamped;
use crate::planner::testing::{ask_with, plan_id, skill};

/// What the planner does when it is asked.
#[derive(Clone, Copy)]
enum Make {
    /// A plan with these skills, one tool each.
    Plan(&'static [&'static str]),
    /// A plan of the pattern planner, without tools.
    Nothing,
    /// No plan.
    Error,
    /// It never answers.
    Hang,
}

/// What comes of a plan.
#[derive(Clone, Copy)]
enum Come {
    Success,
    /// These tools fail.
    Fail(&'static [&'static str]),
    /// These tools fail, and their skills failed too often.
    FailForGood(&'static [&'static str]),
    /// It takes too long, and no tool is to blame.
    TimeOut,
    Cancel,
    Cycle,
    Invalid,
}

/// A planner and a runner that follow a script, and what they were told.
struct Script {
    makes: Mutex<VecDeque<Make>>,
    comes: Mutex<VecDeque<Come>>,
    told: Mutex<String>,
}

#[async_trait]
impl Planner for Script {
    async fn plan(&self, ask: &PlanningRequest) -> Result<Planned, PlanningError> {
        let make = self.makes.lock().unwrap().pop_front().expect("the planner is not asked again");
        let parent = ask.parent.map_or("-".to_owned(), |parent| parent.0.as_u128().to_string());
        let disabled: Vec<&str> = ask.disabled.iter().map(SkillName::as_str).collect();
        writeln!(
            self.told.lock().unwrap(),
            "attempt {} plan {} parent {parent} without [{}] feedback {:?}",
            ask.attempt,
            ask.plan_id.0.as_u128(),
            disabled.join(" "),
            ask.feedback,
        )
        .unwrap();
        let tools: Vec<Value> = match make {
            Make::Plan(skills) => {
                skills.iter().map(|skill| json!({"toolId": format!("t-{skill}"), "skill": skill})).collect()
            }
            Make::Nothing => Vec::new(),
            Make::Error => return Err(PlanningError::NotJson { what: "it is empty".to_owned() }),
            Make::Hang => std::future::pending().await,
        };
        let by = if tools.is_empty() { PlannedBy::Pattern } else { PlannedBy::Llm };
        Ok(Planned { document: stamped(json!({"tools": tools}), ask)?, by, notes: Vec::new() })
    }
}

#[async_trait]
impl PlanRunner for Script {
    async fn run(&self, document: PlanDocument, _deadline: Instant) -> RunVerdict {
        let come = self.comes.lock().unwrap().pop_front().expect("no further plan is run");
        let problem = |code| vec![PlanProblem::new("/tools/0", code, "it is wrong")];
        let (failed, reason, can_replan) = match come {
            Come::Success => (&[][..], None, false),
            Come::Fail(tools) => (tools, Some(FailureReason::ToolFailure), true),
            Come::FailForGood(tools) => (tools, Some(FailureReason::ToolFailure), false),
            Come::TimeOut => (&[][..], Some(FailureReason::Timeout), true),
            Come::Cancel => (&["t-a"][..], Some(FailureReason::Cancelled), false),
            Come::Cycle => return RunVerdict::Invalid(problem(PlanProblemCode::Cycle)),
            Come::Invalid => return RunVerdict::Invalid(problem(PlanProblemCode::InvalidInput)),
        };
        let failed: Vec<StepId> = failed.iter().map(|tool| tool.parse().unwrap()).collect();
        let tools = document
            .tools
            .iter()
            .map(|tool| (tool.tool_id.clone(), tool.skill.clone().unwrap().name))
            .collect();
        RunVerdict::Ran(Box::new(Ran { result: result(&document, failed, reason, can_replan), tools }))
    }
}

fn result(
    document: &PlanDocument,
    failed_tools: Vec<StepId>,
    failure_reason: Option<FailureReason>,
    can_replan: bool,
) -> ResultDocument {
    let entry = |tool: &StepId| TraceEntry {
        tool_id: tool.clone(),
        tool_path: None,
        ok: false,
        state: ToolState::Failed,
        output: None,
        events: Vec::new(),
        execution_time_ms: 0,
        retry_count: 0,
        error: Some(StepError::new(ErrorKind::ToolExecutionFailed, "it broke")),
        attempts: Vec::new(),
    };
    ResultDocument {
        plan_id: document.request_id,
        run_id: None,
        success: failure_reason.is_none(),
        narrative: Some("what the plan says".to_owned()),
        can_replan,
        failure_reason,
        problems: Vec::new(),
        execution_trace: failed_tools.iter().map(entry).collect(),
        failed_tools,
        final_state: Map::new(),
        total_execution_time_ms: 1,
        generation_metadata: document.metadata.clone(),
        disabled_skills: document.disabled_skills.clone(),
        assets: Vec::new(),
        fallback: false,
    }
}

fn question(text: &str, disabled: &[&str]) -> Question {
    let skills = ["a", "b", "c"].map(|name| skill(name, "Does it.", json!({"type": "object"})));
    let ask = ask_with(text, skills.to_vec());
    Question {
        text: ask.text,
        offers: ask.offers,
        disabled: disabled.iter().map(|name| name.parse().unwrap()).collect(),
        check: ask.check,
    }
}

fn config() -> ReplanConfig {
    let last = AtomicU64::new(0);
    ReplanConfig::new(Arc::new(move || plan_id(u128::from(last.fetch_add(1, Ordering::Relaxed)) + 1)))
}

/// Tells a story, and returns what was asked and answered.
async fn tell(makes: &[Make], comes: &[Come]) -> String {
    let script = Arc::new(Script {
        makes: Mutex::new(makes.iter().copied().collect()),
        comes: Mutex::new(comes.iter().copied().collect()),
        told: Mutex::default(),
    });
    let answer =
        Replanner::new(script.clone(), config()).answer(&question("do `it`\nnow", &[]), &*script).await;
    assert!(script.makes.lock().unwrap().is_empty() && script.comes.lock().unwrap().is_empty(), "{answer:?}");
    let told = script.told.lock().unwrap().clone();
    format!("{told}{}", shown(&answer))
}

fn shown(answer: &Answer) -> String {
    let mut text = String::new();
    for attempt in &answer.attempts {
        let names = |names: &[SkillName]| names.iter().map(SkillName::as_str).collect::<Vec<_>>().join(" ");
        let failed: Vec<&str> = attempt.failed_tools.iter().map(StepId::as_str).collect();
        writeln!(
            text,
            "{}. plan {} by {} with [{}]: {:?}, failed [{}], disabled [{}] {:?}",
            attempt.attempt,
            attempt.plan_id.0.as_u128(),
            attempt.planner.map_or("nobody", |planner| planner.as_str()),
            names(&attempt.skills),
            attempt.outcome,
            failed.join(" "),
            names(&attempt.disabled),
            attempt.notes,
        )
        .unwrap();
    }
    let result = &answer.result;
    let PlanMetadata { generation_attempt, parent_plan_id } = &result.generation_metadata;
    write!(
        text,
        "{}: plan {} attempt {generation_attempt} parent {} success {} canReplan {} fallback {} because {:?}\n{}",
        answer.state,
        result.plan_id.0.as_u128(),
        parent_plan_id.map_or("-".to_owned(), |parent| parent.0.as_u128().to_string()),
        result.success,
        result.can_replan,
        result.fallback,
        result.failure_reason,
        result.narrative.as_deref().unwrap_or_default(),
    )
    .unwrap();
    text
}

const A: Make = Make::Plan(&["a"]);
const B: Make = Make::Plan(&["b"]);

#[tokio::test(start_paused = true)]
async fn success_returns() {
    assert_snapshot!(tell(&[Make::Plan(&["a", "b"])], &[Come::Success]).await);
    assert_snapshot!(tell(&[Make::Nothing], &[Come::Success]).await);
}

#[tokio::test(start_paused = true)]
async fn a_failed_tool_disables_its_skill_and_is_planned_around() {
    let story = tell(&[Make::Plan(&["a", "b"]), B], &[Come::Fail(&["t-a"]), Come::Success]).await;
    assert_snapshot!(story);
}

#[tokio::test(start_paused = true)]
async fn a_circular_or_invalid_plan_disables_nothing_and_is_fed_back() {
    assert_snapshot!(tell(&[A, A, A], &[Come::Cycle, Come::Invalid, Come::Success]).await);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_planned_again_returns() {
    assert_snapshot!(tell(&[A], &[Come::FailForGood(&["t-a"])]).await);
    assert_snapshot!(tell(&[A], &[Come::Cancel]).await);
}

#[tokio::test(start_paused = true)]
async fn when_nothing_is_left_to_plan_with_the_failure_is_the_answer() {
    let all = Make::Plan(&["a", "b", "c"]);
    assert_snapshot!(tell(&[all], &[Come::Fail(&["t-a", "t-b", "t-c"])]).await);
    assert_snapshot!(tell(&[A, Make::Nothing], &[Come::Fail(&["t-a"])]).await);
}

#[tokio::test(start_paused = true)]
async fn a_planner_error_uses_up_an_attempt() {
    assert_snapshot!(tell(&[Make::Error, A], &[Come::Success]).await);
    assert_snapshot!(tell(&[Make::Error; 5], &[]).await);
}

#[tokio::test(start_paused = true)]
async fn after_five_attempts_there_is_a_template_answer() {
    assert_snapshot!(tell(&[A; 5], &[Come::Cycle; 5]).await);
    assert_snapshot!(tell(&[A; 5], &[Come::TimeOut; 5]).await);
    let last_fails = [Make::Error, Make::Error, Make::Error, A, Make::Error];
    assert_snapshot!(tell(&last_fails, &[Come::Fail(&["t-a"])]).await);
}

#[tokio::test(start_paused = true)]
async fn a_planner_that_hangs_is_stopped_by_the_deadline() {
    assert_snapshot!(tell(&[Make::Error, Make::Hang], &[]).await);
}

#[tokio::test(start_paused = true)]
async fn skills_that_were_left_out_from_the_start_stay_out() {
    let script = Arc::new(Script {
        makes: Mutex::new([A, B].into()),
        comes: Mutex::new([Come::Fail(&["t-a"]), Come::Success].into()),
        told: Mutex::default(),
    });
    Replanner::new(script.clone(), config()).answer(&question("it", &["c"]), &*script).await;
    assert_snapshot!(script.told.lock().unwrap().as_str(), @r#"
    attempt 1 plan 1 parent - without [c] feedback []
    attempt 2 plan 2 parent 1 without [a c] feedback ["tool `t-a` (skill `a`): it broke"]
    "#);
}

#[tokio::test(start_paused = true)]
async fn long_requests_are_quoted_in_part() {
    let script = Script {
        makes: Mutex::default(),
        comes: Mutex::new([Come::Cycle; 5].into()),
        told: Mutex::default(),
    };
    let text = format!("roll {}", "\u{1f3b2} ".repeat(500));
    let answer =
        Replanner::new(Arc::new(PatternPlanner), config()).answer(&question(&text, &[]), &script).await;
    let narrative = answer.result.narrative.unwrap();
    assert!(
        narrative.starts_with("I could not do `roll \u{1f3b2}") && narrative.chars().count() < 300,
        "{narrative}"
    );
}
