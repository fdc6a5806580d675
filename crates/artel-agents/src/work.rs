//! Work: how an agent begins it, what it is told meanwhile, and what comes of it.

use std::sync::Arc;
use std::time::Duration;

use artel_engine::trace::{self, Span, SpanKind};
use artel_engine::{Command, FollowError};
use artel_model::agent::{
    AgentEvent, AgentPhase, AgentRecord, AgentState, Cause, Driver, Work, WorkEnd, WorkOutcome,
};
use artel_model::id::{AgentId, RunId};
use artel_model::plan::Plan;
use artel_model::run::{Deadlines, Run, RunState, Submission, SubmissionKind};
use serde_json::{Map, Value};
use tokio::sync::watch;
use uuid::Uuid;

use crate::agent_tools::AgentTools;
use crate::agents::{Shared, Worker};
use crate::change::ChangeError;
use crate::driver::{Control, DriverSignal, Job};
use crate::error::{AgentsError, chain};
use crate::outcome::{keep_promise, work_end};
use crate::prepare::FirstWork;

/// Pauses before a store that failed is asked again: the first, and the last that is made.
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_LAST: Duration = Duration::from_secs(10);

impl Shared {
    /// Lets an agent begin what it has to do.
    pub(crate) async fn begin(
        self: Arc<Self>,
        record: AgentRecord,
        first_work: FirstWork,
        cause: Cause,
    ) -> Result<AgentRecord, AgentsError> {
        let run_id = RunId(Uuid::now_v7());
        let mut work = self.new_work();
        match &first_work {
            FirstWork::Nothing => return Ok(record),
            FirstWork::Run(_) => work.run_id = Some(run_id),
            FirstWork::Task | FirstWork::Llm | FirstWork::Command => {}
        }
        if let Driver::Skill { skill, params, .. } = &record.spec.driver {
            (work.skill, work.params) = (Some(skill.clone()), params.clone());
        }
        let id = record.agent_id;
        let started = AgentEvent::Started { work: Box::new(work), cause };
        let record = match self.change(id, |_| vec![started.clone()]).await {
            Ok(changed) => changed.after,
            // Somebody was faster: it is paused, cancelled or gone, and that stands.
            Err(ChangeError::Transition(_) | ChangeError::Unknown) => return Ok(record),
            Err(ChangeError::Failed(error)) => return Err(error),
        };
        match first_work {
            FirstWork::Run(plan) => self.start_run(&record, run_id, *plan).await?,
            first_work @ (FirstWork::Task | FirstWork::Llm | FirstWork::Command) => {
                self.start_task(&record, first_work, Vec::new());
            }
            FirstWork::Nothing => {}
        }
        Ok(record)
    }

    /// Makes a piece of work that is seen to here.
    pub(crate) fn new_work(&self) -> Work {
        Work { id: Uuid::new_v4(), owner: self.config.owner.0.clone(), ..Work::default() }
    }

    /// Hands a plan to the engine and sees to its end.
    pub(crate) async fn start_run(
        self: &Arc<Self>,
        record: &AgentRecord,
        run: RunId,
        plan: Plan,
    ) -> Result<(), AgentsError> {
        if let Err(error) = self.submit(record, run, plan).await {
            let end = failed(format!("its run could not begin: {}", chain(&error)));
            let (shared, record) = (self.clone(), record.clone());
            // Whoever asked does not wait until the store is back.
            tokio::spawn(async move { shared.end_work(&record, end).await });
            return Err(error);
        }
        self.see_to_run(record, run);
        Ok(())
    }

    /// Hands a plan to the engine as the work that the agent has begun. Whoever paused or ended the agent before there was a
    /// run found nothing to tell, so the run is told here.
    pub(crate) async fn submit(
        &self,
        record: &AgentRecord,
        run: RunId,
        plan: Plan,
    ) -> Result<(), AgentsError> {
        let submission = self.submission(record, plan);
        self.parts.engine.submit_as(run, submission).await.map_err(AgentsError::Submit)?;
        let command = match self.parts.stores.agents.agent(record.agent_id).await {
            Ok(Some(row)) => match &row.record.standing {
                AgentPhase::Running { work } if work.run_id == Some(run) => return Ok(()),
                AgentPhase::Paused { work } if work.run_id == Some(run) => Command::Pause,
                AgentPhase::Running { .. }
                | AgentPhase::Paused { .. }
                | AgentPhase::Idle
                | AgentPhase::Completed
                | AgentPhase::Failed { .. }
                | AgentPhase::Cancelled
                | AgentPhase::Terminated => Command::Cancel,
            },
            Ok(None) => Command::Cancel,
            Err(error) => {
                tracing::warn!(%run, %error, "the agent of a run cannot be looked at");
                return Ok(());
            }
        };
        if let Err(error) = self.command_run(run, &command).await {
            tracing::warn!(%run, %error, "the agent's run was not told");
        }
        Ok(())
    }

    /// Makes what the engine gets: the plan with the agent's policy, which every step passes.
    pub(crate) fn submission(&self, record: &AgentRecord, plan: Plan) -> Submission {
        let kind = match &record.spec.driver {
            Driver::Skill { skill, .. } => SubmissionKind::Skill { skill: skill.clone() },
            Driver::Plan { .. } | Driver::Llm | Driver::Command(_) | Driver::External => SubmissionKind::Plan,
        };
        Submission {
            kind,
            plan,
            state: Map::new(),
            deadlines: Deadlines { run_ms: record.spec.timeout_ms.unwrap_or(self.config.deadline_ms) },
            slots: self.config.slots,
            agent: Some(record.agent_id),
            policy: Some(record.spec.policy.clone()),
            viewer: record.viewer().cloned(),
            trace_parent: None,
        }
    }

    /// Waits for the end of a run in the background, and tells the agent.
    pub(crate) fn see_to_run(self: &Arc<Self>, record: &AgentRecord, run: RunId) {
        let (shared, record) = (self.clone(), record.clone());
        self.take_on(record.agent_id, Worker::Run);
        tokio::spawn(async move {
            // Whoever started it has nobody to tell.
            let _ = shared.wait_for_run_of(&record, run).await;
            shared.leave(record.agent_id);
        });
    }

    /// Waits for the end of a run that is an agent's work, and writes what came of it. A run that artel leaves because it
    /// closes stays the agent's work, to be recovered.
    pub(crate) async fn wait_for_run_of(&self, record: &AgentRecord, run: RunId) -> Result<Run, FollowError> {
        let id = record.agent_id;
        let mut pause = RETRY_FIRST;
        loop {
            match self.follow(id, run).await {
                Ok((state, _)) => {
                    self.end_of_run(record, run, &state).await;
                    return Ok(state);
                }
                // The driver of the run waits for the store too.
                Err(FollowError::Store(error)) => {
                    tracing::warn!(agent = %id, %run, %error, "the agent's run cannot be read; once more");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(RETRY_LAST);
                }
                Err(error @ FollowError::Unknown(_)) => {
                    self.end_work(record, failed("its run is gone")).await;
                    return Err(error);
                }
                Err(error @ FollowError::Stopped(_)) => {
                    tracing::warn!(agent = %id, %run, %error, "the agent's run is left to be recovered");
                    return Err(error);
                }
            }
        }
    }

    pub(crate) fn leave(&self, id: AgentId) {
        self.let_go(id);
        self.changed.send_modify(|count| *count += 1);
    }

    /// Writes what came of a run into its agent's record.
    async fn end_of_run(&self, record: &AgentRecord, run: RunId, state: &Run) {
        let mut end = work_end(state, &record.spec);
        let is_operation = record.standing.work().is_some_and(|work| work.operation.is_some());
        if is_operation && end.outcome == WorkOutcome::Completed {
            end.outcome = WorkOutcome::Returned;
        }
        if state.state() != RunState::Cancelled || is_operation {
            return self.end_work(record, end).await;
        }
        let is_seen_to_here = record.standing.work().is_some_and(|work| work.owner == self.config.owner.0);
        let called = || end.calls.iter().cloned().map(AgentEvent::Called);
        let decide = |record: &AgentRecord| {
            let is_of_this_run = record.standing.work().is_some_and(|work| work.run_id == Some(run));
            if is_of_this_run {
                let cause = Cause::by("engine").because("its run was cancelled");
                return called().chain([AgentEvent::Cancelled { cause }]).collect();
            }
            // Somebody cancelled the agent, and so its run: what was done until then counts all the same.
            let is_told = matches!(record.standing, AgentPhase::Cancelled | AgentPhase::Terminated);
            if is_told && is_seen_to_here { called().collect() } else { Vec::new() }
        };
        self.write_end(record.agent_id, decide).await;
    }

    /// Ends a piece of work, if the agent is still at it.
    pub(crate) async fn end_work(&self, record: &AgentRecord, end: WorkEnd) {
        let own = record.standing.work().map(|work| work.id);
        let decide = |record: &AgentRecord| {
            let is_own = record.standing.work().map(|work| work.id) == own;
            if is_own { ending(record, end.clone()) } else { Vec::new() }
        };
        self.write_end(record.agent_id, decide).await;
    }

    /// Writes the end of some work. A store that fails is tried again for as long as the process lives: without its end the
    /// agent would work for ever.
    async fn write_end(&self, id: AgentId, decide: impl Fn(&AgentRecord) -> Vec<AgentEvent> + Send + Sync) {
        let mut pause = RETRY_FIRST;
        loop {
            match self.change(id, &decide).await {
                Ok(_) => return,
                Err(ChangeError::Unknown | ChangeError::Transition(_)) => {
                    tracing::warn!(agent = %id, "the end of the agent's work comes too late");
                    return;
                }
                Err(ChangeError::Failed(error)) => {
                    tracing::warn!(agent = %id, error = chain(&error), "the end of the agent's work is written again");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(RETRY_LAST);
                }
            }
        }
    }

    /// Lets a planner, a model or a program work in the background.
    pub(crate) fn start_task(
        self: &Arc<Self>,
        record: &AgentRecord,
        first_work: FirstWork,
        said: Vec<(String, Value)>,
    ) {
        let (shared, record) = (self.clone(), record.clone());
        let id = record.agent_id;
        let first = if record.state() == AgentState::Paused { DriverSignal::Pause } else { DriverSignal::Go };
        let (sender, signal) = watch::channel(first);
        self.take_on(id, Worker::Task(sender));
        let mut span = Span::begin("agent work", SpanKind::Internal, trace::current());
        span.set("artel.agent.id", id.to_string());
        tokio::spawn(trace::within(span.place(), async move {
            let _span = span;
            let control = Control::new(signal);
            let job = Job {
                agent_tools: AgentTools::new(shared.clone(), record.clone(), control.clone()),
                control,
                deadline: Duration::from_millis(record.spec.timeout_ms.unwrap_or(shared.config.deadline_ms)),
                said,
            };
            // It may have been told something before it was there to hear it.
            if let Ok(Some(row)) = shared.parts.stores.agents.agent(id).await {
                shared.steer(&row.record);
            }
            let end = shared.work(&record, first_work, job).await;
            shared.end_work(&record, end).await;
            shared.leave_word(&record).await;
            shared.leave(id);
        }));
    }

    async fn work(self: &Arc<Self>, record: &AgentRecord, first_work: FirstWork, job: Job) -> WorkEnd {
        let driver = match first_work {
            FirstWork::Task => return self.answer_task(record, job).await,
            FirstWork::Llm => self.parts.llm.as_ref(),
            FirstWork::Command => self.parts.command.as_ref(),
            FirstWork::Run(_) | FirstWork::Nothing => None,
        };
        match driver {
            Some(driver) => {
                let mut end = driver.work(job).await;
                keep_promise(&record.spec, &mut end);
                end
            }
            None => failed("what makes it act is not configured here"),
        }
    }
}

/// Work that was made to stand still may be over all the same: what it was at had ended already.
pub(crate) fn ending(record: &AgentRecord, end: WorkEnd) -> Vec<AgentEvent> {
    let ended = AgentEvent::Ended(Box::new(end));
    match &record.standing {
        AgentPhase::Running { .. } => vec![ended],
        AgentPhase::Paused { .. } => {
            let cause = Cause::by("engine").because("its work was over already");
            vec![AgentEvent::Resumed { cause }, ended]
        }
        AgentPhase::Idle
        | AgentPhase::Completed
        | AgentPhase::Failed { .. }
        | AgentPhase::Cancelled
        | AgentPhase::Terminated => Vec::new(),
    }
}

pub(crate) fn failed(why: impl Into<String>) -> WorkEnd {
    let outcome = WorkOutcome::Failed { error: why.into() };
    WorkEnd { outcome, calls: Vec::new(), results: Map::new() }
}
