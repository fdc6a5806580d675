//! Something asked in words: plans are made and run until one succeeds. It goes on whether or not the caller waits, and what
//! came of it is remembered for a while; the runs themselves are kept.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use artel_api::plans::{AskQuery, AskRequest, AskState, AskStatus};
use artel_engine::planner::{Answer, PlanRunner, Question, Ran, ReplanConfig, Replanner, RunVerdict};
use artel_engine::trace;
use artel_model::access::{Principal, UserId};
use artel_model::id::{RunId, StepId};
use artel_model::limit::ASKS_MAX;
use artel_model::name::SkillName;
use artel_model::plan::{FailureReason, PlanDocument, resolve};
use artel_model::run::{ResultDocument, Run, SubmissionKind};
use async_trait::async_trait;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::Instant;
use uuid::Uuid;

use super::page::wait_ms;
use super::plans::{offered, planner, wanted};
use super::quotas::room_for_run;
use super::run_history::read_history;
use super::runs::{fresh_plan, submission};
use crate::app::App;
use crate::clock::moment;
use crate::error::OperationError;

/// What people asked, by id. Ids grow with time, so the first is the oldest.
#[derive(Default)]
pub struct Asks {
    table: Mutex<BTreeMap<Uuid, AskEntry>>,
    /// Counts everything that became known about any of them.
    changes: watch::Sender<u64>,
}

struct AskEntry {
    owner: UserId,
    request: String,
    runs: Vec<RunId>,
    answer: Option<Answer>,
}

impl Asks {
    fn table(&self) -> MutexGuard<'_, BTreeMap<Uuid, AskEntry>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room by forgetting the oldest that is answered; nothing when all are being worked on.
    fn begin(&self, owner: UserId, request: String) -> Option<Uuid> {
        let mut table = self.table();
        if table.len() >= ASKS_MAX {
            let oldest = table.iter().find(|(_, asked)| asked.answer.is_some()).map(|(id, _)| *id)?;
            table.remove(&oldest);
        }
        let id = Uuid::now_v7();
        table.insert(id, AskEntry { owner, request, runs: Vec::new(), answer: None });
        Some(id)
    }

    fn note(&self, id: Uuid, change: impl FnOnce(&mut AskEntry)) {
        if let Some(asked) = self.table().get_mut(&id) {
            change(asked);
        }
        self.changes.send_modify(|count| *count += 1);
    }

    /// Returns what changes whenever something becomes known about a request.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

/// Begins to answer something that was asked in words.
pub async fn ask(app: &App, caller: &Principal, wish: AskRequest) -> Result<AskStatus, OperationError> {
    ask_with(app, caller, wish, |_| true)
}

/// Begins to answer something that was asked in words, with those of the caller's skills that `may_use` lets pass.
pub(super) fn ask_with(
    app: &App,
    caller: &Principal,
    wish: AskRequest,
    may_use: impl Fn(&SkillName) -> bool,
) -> Result<AskStatus, OperationError> {
    let text = wanted(&wish)?;
    let planner = planner(app, wish.planner)?;
    let shelf = app.shelves().shelf(Some(&caller.viewer));
    // What is not offered is forbidden as well: a planner may know of a skill from elsewhere.
    let names = shelf.catalog().registry().all().map(|skill| &skill.name);
    let disabled: BTreeSet<SkillName> = names.filter(|name| !may_use(name)).cloned().collect();
    let offers = offered(&shelf).iter().filter(|offer| may_use(&offer.name)).cloned().collect();
    let question = Question { text: text.clone(), offers, disabled, check: shelf };
    let id = app.asks().begin(caller.viewer.user.clone(), text).ok_or_else(|| {
        OperationError::unavailable(
            "too_many_asks",
            format!("{ASKS_MAX} requests in words are being answered already"),
        )
    })?;
    let mut config = ReplanConfig::new(Arc::new(fresh_plan));
    config.deadline_ms = wish.timeout_ms.unwrap_or(config.deadline_ms);
    let replanner = Replanner::new(planner, config);
    let runner = Runner { app: app.clone(), caller: caller.clone(), ask: id };
    tokio::spawn(trace::within(trace::current(), async move {
        let answer = replanner.answer(&question, &runner).await;
        runner.app.asks().note(id, |asked| asked.answer = Some(answer));
    }));
    read_ask(app, caller, id)
}

/// Says where the answer stands, as soon as more is known than the caller knows, or the time is up.
pub async fn wait_for_ask(
    app: &App,
    caller: &Principal,
    id: Uuid,
    query: AskQuery,
) -> Result<AskStatus, OperationError> {
    let deadline = moment() + Duration::from_millis(wait_ms("wait_ms", query.wait_ms.unwrap_or(0), 0)?);
    let mut changes = app.asks().changes();
    loop {
        changes.borrow_and_update();
        let status = read_ask(app, caller, id)?;
        let is_news = status.state == AskState::Answered || status.runs.len() > query.known_runs;
        if is_news || tokio::time::timeout_at(deadline, changes.changed()).await.is_err() {
            return Ok(status);
        }
    }
}

/// Says where the answer stands.
pub(super) fn read_ask(app: &App, caller: &Principal, id: Uuid) -> Result<AskStatus, OperationError> {
    let table = app.asks().table();
    let asked = table.get(&id).filter(|asked| caller.owns(Some(&asked.owner)));
    let asked = asked.ok_or_else(|| OperationError::not_found("request"))?;
    let attempts = asked.answer.iter().flat_map(|answer| &answer.attempts);
    Ok(AskStatus {
        ask_id: id,
        request: asked.request.clone(),
        state: if asked.answer.is_some() { AskState::Answered } else { AskState::Working },
        runs: asked.runs.iter().map(|run| run.0).collect(),
        result: asked.answer.as_ref().map(|answer| answer.result.clone()),
        attempts: attempts.map(|attempt| json!(attempt)).collect(),
    })
}

/// Runs the plans that are made for one request.
struct Runner {
    app: App,
    caller: Principal,
    ask: Uuid,
}

#[async_trait]
impl PlanRunner for Runner {
    async fn run(&self, document: PlanDocument, deadline: Instant) -> RunVerdict {
        let shelf = self.app.shelves().shelf(Some(&self.caller.viewer));
        let metadata = document.metadata.clone();
        let disabled = document.disabled_skills.clone();
        let plan = match resolve(&document, &*shelf) {
            Ok(plan) => plan,
            Err(problems) => return RunVerdict::Invalid(problems),
        };
        let plan_id = plan.id();
        let left = deadline.saturating_duration_since(moment()).as_millis();
        let run_ms = u64::try_from(left).unwrap_or(u64::MAX).clamp(1, self.app.run_settings().deadline_ms);
        let submission = submission(&self.app, &self.caller, SubmissionKind::Plan, plan, run_ms);
        match self.carry_out(submission).await {
            Ok((run, result)) => RunVerdict::Ran(Box::new(Ran { tools: tools(&run), result })),
            Err(error) => {
                tracing::warn!(code = error.code, message = error.message, "a plan was not carried out");
                let result = ResultDocument::not_run(plan_id, metadata, disabled, FailureReason::ToolFailure);
                RunVerdict::Ran(Box::new(Ran { tools: Vec::new(), result }))
            }
        }
    }
}

impl Runner {
    async fn carry_out(
        &self,
        submission: artel_model::run::Submission,
    ) -> Result<(Run, ResultDocument), OperationError> {
        let room = room_for_run(&self.app, &self.caller).await?;
        let run = self.app.engine().submit(submission, None).await?.run();
        drop(room);
        self.app.asks().note(self.ask, |asked| asked.runs.push(run));
        self.app.engine().wait(run).await?;
        read_history(&self.app, run).await
    }
}

/// Returns the skill of every tool; of a composite it is the composite.
fn tools(run: &Run) -> Vec<(StepId, SkillName)> {
    let steps = run.plan().steps().iter().enumerate().filter(|(_, step)| step.scope.is_none());
    steps.map(|(index, step)| (step.id.clone(), run.skill(index).0.clone())).collect()
}
