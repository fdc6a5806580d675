//! Work: how an agent begins it, what it is told meanwhile, and what comes of it.

use std::sync::Arc;
use std::time::Duration;

use artel_engine::planner::{PlanRunner, Question, Ran, ReplanConfig, Replanner, RunVerdict, offers};
use artel_engine::{Command, CommandError, FollowError};
use artel_model::agent::{
    AgentEvent, AgentRecord, AgentState, Cause, Driver, Standing, Work, WorkEnd, WorkOutcome,
};
use artel_model::id::{AgentId, MessageId, RunId};
use artel_model::message::{Payload, Sender, Topic};
use artel_model::name::SkillName;
use artel_model::plan::{FailureReason, Plan, PlanDocument, SkillLookup as _, resolve};
use artel_model::protocol::ToolEvent;
use artel_model::run::{
    Deadlines, Origin, ResultDocument, Run, RunEvent, RunState, Submission, SubmissionKind, Trace,
};
use artel_store::{LoggedEvent, Revision};
use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::Instant;
use uuid::Uuid;

use crate::agents::{Shared, Worker};
use crate::change::{ChangeError, event};
use crate::driver::{Control, Job, Wish};
use crate::error::{AgentsError, chain};
use crate::outcome::{calls, keep_promise, work_end};
use crate::prepare::Errand;
use crate::seat::{Seat, is_allowed};

/// Pauses before a store that failed is asked again: the first, and the last that is made.
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_LAST: Duration = Duration::from_secs(10);

impl Shared {
    /// Lets an agent begin what it has to do.
    pub(crate) async fn begin(
        self: Arc<Self>,
        record: AgentRecord,
        errand: Errand,
        cause: Cause,
    ) -> Result<AgentRecord, AgentsError> {
        let run_id = RunId(Uuid::now_v7());
        let mut work = self.new_work();
        match &errand {
            Errand::Nothing => return Ok(record),
            Errand::Run(_) => work.run_id = Some(run_id),
            Errand::Task | Errand::Llm | Errand::Command => {}
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
        match errand {
            Errand::Run(plan) => self.start_run(&record, run_id, *plan).await?,
            errand @ (Errand::Task | Errand::Llm | Errand::Command) => {
                self.start_task(&record, errand, Vec::new());
            }
            Errand::Nothing => {}
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
            self.end_work(record, failed(format!("its run could not begin: {}", chain(&error)))).await;
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
                Standing::Running { work } if work.run_id == Some(run) => return Ok(()),
                Standing::Paused { work } if work.run_id == Some(run) => Command::Pause,
                Standing::Running { .. }
                | Standing::Paused { .. }
                | Standing::Idle
                | Standing::Completed
                | Standing::Failed { .. }
                | Standing::Cancelled
                | Standing::Terminated => Command::Cancel,
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
                Err(FollowError::Store(error)) if pause <= RETRY_LAST => {
                    tracing::warn!(agent = %id, %run, %error, "the agent's run cannot be read; once more");
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
                Err(error @ FollowError::Unknown(_)) => {
                    self.end_work(record, failed("its run is gone")).await;
                    return Err(error);
                }
                Err(error @ (FollowError::Store(_) | FollowError::Stopped(_))) => {
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

    /// Tells a run what its agent is told.
    async fn tell_run(&self, run: RunId, wish: &mut watch::Receiver<Wish>) -> std::convert::Infallible {
        loop {
            if wish.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
            let command = match *wish.borrow_and_update() {
                Wish::Go => Command::Resume,
                Wish::Pause => Command::Pause,
                Wish::End => Command::Cancel,
            };
            if let Err(error) = self.command_run(run, &command).await {
                tracing::warn!(%run, %error, "the agent's run was not told");
            }
        }
    }

    /// Tells a run something; that it is over already, or there already, is fine.
    pub(crate) async fn command_run(&self, run: RunId, command: &Command) -> Result<(), CommandError> {
        match self.parts.engine.command(run, command, Origin("agent".to_owned())).await {
            Ok(_) | Err(CommandError::Over(_) | CommandError::NotNow { .. } | CommandError::Unknown(_)) => {
                Ok(())
            }
            Err(error @ (CommandError::NotAwaiting { .. } | CommandError::Drive(_))) => Err(error),
        }
    }

    /// Follows a run to its end, and announces what its scripts announce.
    pub(crate) async fn follow(&self, agent: AgentId, run: RunId) -> Result<(Run, Trace), FollowError> {
        let mut follow = self.parts.engine.follow(run, Revision(0));
        let (mut state, mut trace): (Option<Run>, Trace) = (None, Trace::default());
        loop {
            let batch = follow.next().await?;
            if batch.is_empty() {
                return state.map(|state| (state, trace)).ok_or(FollowError::Unknown(run));
            }
            for logged in &batch {
                trace.note(&logged.event);
                match &mut state {
                    None => state = Run::replay(run, [&logged.event]),
                    Some(state) => {
                        state.apply(&logged.event);
                        state.take_effects("");
                    }
                }
                self.announce_events(agent, run, logged).await;
            }
        }
    }

    /// An event that a script tells people is told to agents too, when its name can be a topic.
    async fn announce_events(&self, agent: AgentId, run: RunId, logged: &LoggedEvent) {
        let RunEvent::Emitted { events, .. } = &logged.event.event else { return };
        for (index, said) in events.iter().enumerate() {
            let ToolEvent::UiEvent { event: name, payload, .. } = said else { continue };
            let Ok(topic) = name.parse::<Topic>() else { continue };
            let Ok(payload) = Payload::new(object(payload.clone())) else { continue };
            let id = event_id(run, logged.revision, index);
            self.announce(event(id, Sender::Agent(agent), topic, payload, logged.event.at)).await;
        }
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
            let is_told = matches!(record.standing, Standing::Cancelled | Standing::Terminated);
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

    /// Writes the end of some work. A store that fails is tried again: without its end the agent would work for ever.
    async fn write_end(&self, id: AgentId, decide: impl Fn(&AgentRecord) -> Vec<AgentEvent> + Send + Sync) {
        let mut pause = RETRY_FIRST;
        loop {
            match self.change(id, &decide).await {
                Ok(_) => return,
                Err(ChangeError::Unknown | ChangeError::Transition(_)) => {
                    tracing::warn!(agent = %id, "the end of the agent's work comes too late");
                    return;
                }
                Err(ChangeError::Failed(error)) if pause > RETRY_LAST => {
                    tracing::error!(agent = %id, error = chain(&error), "the end of the agent's work is not kept");
                    return;
                }
                Err(ChangeError::Failed(error)) => {
                    tracing::warn!(agent = %id, error = chain(&error), "the end of the agent's work is written again");
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
            }
        }
    }

    /// Lets a planner, a model or a program work in the background.
    pub(crate) fn start_task(
        self: &Arc<Self>,
        record: &AgentRecord,
        errand: Errand,
        said: Vec<(String, Value)>,
    ) {
        let (shared, record) = (self.clone(), record.clone());
        let id = record.agent_id;
        let first = if record.state() == AgentState::Paused { Wish::Pause } else { Wish::Go };
        let (sender, wish) = watch::channel(first);
        self.take_on(id, Worker::Task(sender));
        tokio::spawn(async move {
            let control = Control::new(wish);
            let job = Job {
                seat: Seat::new(shared.clone(), record.clone(), control.clone()),
                control,
                deadline: Duration::from_millis(record.spec.timeout_ms.unwrap_or(shared.config.deadline_ms)),
                said,
            };
            // It may have been told something before it was there to hear it.
            if let Ok(Some(row)) = shared.parts.stores.agents.agent(id).await {
                shared.steer(&row.record);
            }
            let end = shared.work(&record, errand, job).await;
            shared.end_work(&record, end).await;
            shared.leave(id);
        });
    }

    async fn work(self: &Arc<Self>, record: &AgentRecord, errand: Errand, job: Job) -> WorkEnd {
        let driver = match errand {
            Errand::Task => return self.answer_task(record, job).await,
            Errand::Llm => self.parts.llm.as_ref(),
            Errand::Command => self.parts.command.as_ref(),
            Errand::Run(_) | Errand::Nothing => None,
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

    /// Writes down which run does an agent's work at the moment, before it does: whoever stops the agent, or goes on with it
    /// after a crash, finds it there. Says why the agent is not at that work any more.
    pub(crate) async fn note_run(&self, record: &AgentRecord, run_id: Option<RunId>) -> Result<(), String> {
        let own = record.standing.work().map(|work| work.id);
        let decide = |record: &AgentRecord| {
            let is_own =
                record.standing.work().is_some_and(|work| Some(work.id) == own && work.run_id != run_id);
            if is_own { vec![AgentEvent::Doing { run_id }] } else { Vec::new() }
        };
        match self.change(record.agent_id, decide).await {
            Ok(changed) if changed.after.standing.work().is_some_and(|work| Some(work.id) == own) => Ok(()),
            Ok(_) | Err(ChangeError::Unknown | ChangeError::Transition(_)) => {
                Err("the agent was told to end".to_owned())
            }
            Err(ChangeError::Failed(error)) => Err(chain(&error)),
        }
    }

    /// Has plans made for the task and run, until one succeeds.
    async fn answer_task(self: &Arc<Self>, record: &AgentRecord, job: Job) -> WorkEnd {
        let mut config = ReplanConfig::new(Arc::new(crate::prepare::fresh_plan));
        config.deadline_ms = u64::try_from(job.deadline.as_millis()).unwrap_or(u64::MAX);
        let shelf = self.parts.shelf.borrow().clone();
        let is_usable = |name: &SkillName| {
            let view = shelf.skill(name, None).filter(|view| view.health.is_usable());
            view.is_some_and(|view| is_allowed(&record.spec.policy, view.skill))
        };
        let question = Question {
            text: record.spec.task.clone().unwrap_or_default(),
            offers: offers(shelf.catalog(), is_usable),
            disabled: std::collections::BTreeSet::new(),
            check: shelf,
        };
        let runner = TaskRunner {
            shared: self.clone(),
            record: record.clone(),
            control: job.control,
            calls: tokio::sync::Mutex::default(),
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
    calls: tokio::sync::Mutex<Vec<artel_model::agent::OperationEnd>>,
}

#[async_trait]
impl PlanRunner for TaskRunner {
    async fn run(&self, document: PlanDocument, deadline: Instant) -> RunVerdict {
        let shelf = self.shared.parts.shelf.borrow().clone();
        let plan = match resolve(&document, &*shelf) {
            Ok(plan) => plan,
            Err(problems) => return RunVerdict::Invalid(problems),
        };
        let mut control = self.control.clone();
        if !control.may_go_on().await {
            return nothing_ran(&document, "the agent was told to end");
        }
        let mut submission = self.shared.submission(&self.record, plan);
        let left = deadline.saturating_duration_since(crate::clock::now()).as_millis();
        let left = u64::try_from(left).unwrap_or(u64::MAX).max(1);
        submission.deadlines.run_ms = submission.deadlines.run_ms.min(left);
        let run = RunId(Uuid::now_v7());
        let id = self.record.agent_id;
        if let Err(error) = self.shared.note_run(&self.record, Some(run)).await {
            return nothing_ran(&document, &error);
        }
        if let Err(error) = self.shared.parts.engine.submit_as(run, submission).await {
            return nothing_ran(&document, &error.to_string());
        }
        let (sender, mut wish) = watch::channel(Wish::Go);
        let relaying = async {
            loop {
                let wanted = control.changed().await;
                sender.send_replace(wanted);
            }
        };
        let followed = tokio::select! {
            followed = self.shared.follow(id, run) => followed,
            never = self.shared.tell_run(run, &mut wish) => match never {},
            () = relaying => unreachable!("it relays for ever"),
        };
        match followed {
            Ok((state, trace)) => {
                self.calls.lock().await.extend(calls(&state));
                let tools = state.plan().steps().iter().enumerate().filter(|(_, step)| step.scope.is_none());
                let tools =
                    tools.map(|(index, step)| (step.id.clone(), state.skill(index).0.clone())).collect();
                RunVerdict::Ran(Box::new(Ran { result: trace.result(&state, |_| false), tools }))
            }
            Err(error) => nothing_ran(&document, &error.to_string()),
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

/// Work that was made to stand still may be over all the same: what it was at had ended already.
pub(crate) fn ending(record: &AgentRecord, end: WorkEnd) -> Vec<AgentEvent> {
    let ended = AgentEvent::Ended(Box::new(end));
    match &record.standing {
        Standing::Running { .. } => vec![ended],
        Standing::Paused { .. } => {
            let cause = Cause::by("engine").because("its work was over already");
            vec![AgentEvent::Resumed { cause }, ended]
        }
        Standing::Idle
        | Standing::Completed
        | Standing::Failed { .. }
        | Standing::Cancelled
        | Standing::Terminated => Vec::new(),
    }
}

pub(crate) fn failed(why: impl Into<String>) -> WorkEnd {
    let outcome = WorkOutcome::Failed { error: why.into() };
    WorkEnd { outcome, calls: Vec::new(), results: Map::new() }
}

fn object(payload: Option<Value>) -> Map<String, Value> {
    match payload {
        None => Map::new(),
        Some(Value::Object(object)) => object,
        Some(other) => Map::from_iter([("value".to_owned(), other)]),
    }
}

/// The same event of the same run has the same id, whoever announces it and how often.
fn event_id(run: RunId, revision: Revision, index: usize) -> MessageId {
    MessageId(Uuid::new_v5(&run.0, format!("{}.{index}", revision.0).as_bytes()))
}
