//! An agent that was only given a task: plans are made for it and run, until one succeeds.

use std::collections::BTreeSet;
use std::sync::Arc;

use artel_engine::planner::{PlanRunner, Question, Ran, ReplanConfig, Replanner, RunVerdict, offers};
use artel_model::agent::{AgentRecord, OperationEnd, WorkEnd, WorkOutcome};
use artel_model::name::SkillName;
use artel_model::plan::{FailureReason, PlanDocument, SkillLookup as _, resolve};
use artel_model::run::ResultDocument;
use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::agent_tools::is_allowed;
use crate::agents::Shared;
use crate::clock::now;
use crate::driver::{Control, Job};
use crate::outcome::{calls, keep_promise};
use crate::prepare::fresh_plan;

impl Shared {
    /// Has plans made for the task and run, until one succeeds.
    pub(crate) async fn answer_task(self: &Arc<Self>, record: &AgentRecord, job: Job) -> WorkEnd {
        let mut config = ReplanConfig::new(Arc::new(fresh_plan));
        config.deadline_ms = u64::try_from(job.deadline.as_millis()).unwrap_or(u64::MAX);
        let shelf = self.parts.shelves.shelf(record.viewer());
        let is_usable = |name: &SkillName| {
            let view = shelf.skill(name, None).filter(|view| view.health.is_usable());
            view.is_some_and(|view| is_allowed(&record.spec.policy, view.skill))
        };
        let question = Question {
            text: record.spec.task.clone().unwrap_or_default(),
            offers: offers(shelf.catalog(), is_usable),
            disabled: BTreeSet::new(),
            check: shelf,
        };
        let runner = TaskRunner {
            shared: self.clone(),
            record: record.clone(),
            control: job.control,
            calls: Mutex::default(),
        };
        let replanner = Replanner::new(self.parts.planner.clone(), config);
        let answer = replanner.answer(&question, &runner).await;
        let made = std::mem::take(&mut *runner.calls.lock().await);
        let mut results = Map::new();
        if let Some(narrative) = &answer.result.narrative {
            results.insert("narrative".to_owned(), Value::String(narrative.clone()));
        }
        let outcome = if answer.result.success {
            WorkOutcome::Completed
        } else {
            let why = made.iter().rev().find_map(|call| call.error.clone());
            let error = why.or(answer.result.narrative).unwrap_or_else(|| "no plan succeeded".to_owned());
            WorkOutcome::Failed { error }
        };
        let mut end = WorkEnd { outcome, calls: made, results };
        keep_promise(&record.spec, &mut end);
        end
    }
}

/// Runs the plans that are made for an agent's task.
struct TaskRunner {
    shared: Arc<Shared>,
    record: AgentRecord,
    control: Control,
    calls: Mutex<Vec<OperationEnd>>,
}

#[async_trait]
impl PlanRunner for TaskRunner {
    async fn run(&self, document: PlanDocument, deadline: Instant) -> RunVerdict {
        let shelf = self.shared.parts.shelves.shelf(self.record.viewer());
        let plan = match resolve(&document, &*shelf) {
            Ok(plan) => plan,
            Err(problems) => return RunVerdict::Invalid(problems),
        };
        let mut control = self.control.clone();
        if !control.may_go_on().await {
            return nothing_ran(&document, "the agent was told to end");
        }
        let mut submission = self.shared.submission(&self.record, plan);
        let left = deadline.saturating_duration_since(now()).as_millis();
        let left = u64::try_from(left).unwrap_or(u64::MAX).max(1);
        submission.deadlines.run_ms = submission.deadlines.run_ms.min(left);
        match self.shared.run_part(&self.record, submission, control).await {
            Ok((run, trace)) => {
                self.calls.lock().await.extend(calls(&run));
                let tools = run.plan().steps().iter().enumerate().filter(|(_, step)| step.scope.is_none());
                let tools =
                    tools.map(|(index, step)| (step.id.clone(), run.skill(index).0.clone())).collect();
                RunVerdict::Ran(Box::new(Ran { result: trace.result(&run, |_, _| false), tools }))
            }
            Err(why) => nothing_ran(&document, &why),
        }
    }
}

fn nothing_ran(document: &PlanDocument, why: &str) -> RunVerdict {
    let mut result = ResultDocument::not_run(
        document.request_id,
        document.metadata.clone(),
        document.disabled_skills.clone(),
        FailureReason::Cancelled,
    );
    result.narrative = Some(why.to_owned());
    RunVerdict::Ran(Box::new(Ran { result, tools: Vec::new() }))
}
