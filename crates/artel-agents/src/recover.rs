//! After a restart: agents that were at work go on, or fail with a reason.

use std::sync::Arc;

use artel_engine::Command;
use artel_model::agent::{AgentEvent, AgentRecord, AgentState, CallOrigin, Cause, Driver};
use artel_model::id::{AgentId, RunId};
use artel_model::run::RunState;
use artel_store::{AgentFilter, OwnerId, PageRequest, Revision, RunFilter, RunRow};
use serde_json::Value;

use crate::agents::{Agents, Shared};
use crate::change::ChangeError;
use crate::error::AgentsError;
use crate::prepare::FirstWork;
use crate::tree::Order;
use crate::work::failed;

/// Milliseconds within which an agent that is spawned begins.
const BEGINS_WITHIN_MS: u64 = 60_000;
/// Agents, or events of one, that are read at once.
const PAGE: usize = 200;

impl Agents {
    /// Tells runs to end whose agent was ended by a process that died before it could tell them, and returns them. Comes
    /// before runs are recovered, so that none of these goes on.
    pub async fn end_runs_of_the_ended(&self) -> Result<Vec<RunId>, AgentsError> {
        let parts = &self.shared.parts;
        let states = RunState::ALL.iter().copied().filter(|state| !state.is_final()).collect();
        let filter = RunFilter { states, ..RunFilter::default() };
        let mut page = PageRequest { after: None, limit: PAGE };
        let mut told = Vec::new();
        loop {
            let found = parts.stores.runs.runs(&filter, &page).await?;
            let is_left = |row: &RunRow| !row.owner.as_ref().is_some_and(|owner| (parts.is_alive)(owner));
            for row in found.items.into_iter().filter(is_left) {
                let Some(agent) = row.summary.agent_id else { continue };
                let agent = self.shared.read(agent).await?;
                if agent.is_some_and(|agent| is_ended(agent.state())) {
                    self.shared.end_part(Some(row.summary.run_id)).await;
                    told.push(row.summary.run_id);
                }
            }
            match found.next {
                Some(next) => page.after = Some(next),
                None => return Ok(told),
            }
        }
    }

    /// Takes over every agent at work whose process is gone, and lets it go on. Its runs must have been recovered before.
    pub async fn recover(&self) -> Result<Vec<AgentId>, AgentsError> {
        let states = vec![AgentState::Idle, AgentState::Running, AgentState::Paused];
        let filter = AgentFilter { states, ..AgentFilter::default() };
        let mut page = PageRequest { after: None, limit: PAGE };
        let mut recovered = Vec::new();
        loop {
            let found = self.list(&filter, &page).await?;
            for row in found.items {
                if self.shared.is_left_over(&row.record) && self.shared.take_over(&row.record).await? {
                    recovered.push(row.record.agent_id);
                }
            }
            match found.next {
                Some(next) => page.after = Some(next),
                None => return Ok(recovered),
            }
        }
    }
}

impl Shared {
    /// Says whether nobody sees to an agent that should be at work.
    fn is_left_over(&self, record: &AgentRecord) -> bool {
        if self.working().contains_key(&record.agent_id) {
            return false;
        }
        match record.standing.work() {
            Some(work) => !(self.parts.is_alive)(&OwnerId(work.owner.clone())),
            // Whoever spawned it ended before it began. One that is just being spawned begins within a moment.
            None => {
                let age_ms = self.parts.clock.now().millis_since(record.created_at);
                let begins_by_itself = !matches!(record.spec.driver, Driver::External);
                record.state() == AgentState::Idle
                    && begins_by_itself
                    && record.started_at.is_none()
                    && age_ms > BEGINS_WITHIN_MS
            }
        }
    }

    /// Sees to an agent from now on; returns whether nobody else was faster.
    async fn take_over(self: &Arc<Self>, record: &AgentRecord) -> Result<bool, AgentsError> {
        let id = record.agent_id;
        match self.effective_state(record).await? {
            AgentState::Cancelled | AgentState::Terminated => {
                // An order to a whole tree was cut short.
                let cause = Cause::by("recover").because("an agent above it has ended");
                if let Err(error) = self.order(id, Order::Cancel, cause).await {
                    tracing::warn!(agent = %id, %error, "the agent below one that ended was not cancelled");
                }
                return Ok(false);
            }
            AgentState::Idle
            | AgentState::Running
            | AgentState::Paused
            | AgentState::Completed
            | AgentState::Failed => {}
        }
        if record.standing.work().is_none() {
            let cause = Cause::by("recover").because("it had not begun");
            // No owner of the machine asks for this, so a program is started again only if the operator lists it.
            return match self.first_work(&record.spec, CallOrigin::Remote) {
                Ok(first_work) => self.clone().begin(record.clone(), first_work, cause).await.map(|_| true),
                Err(errors) => {
                    let why: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
                    let unfit = AgentEvent::Unfit { error: why.join("; ") };
                    self.changed_or_late(id, |_| vec![unfit.clone()]).await
                }
            };
        }
        let Some(record) = self.claim(record).await? else { return Ok(false) };
        tracing::info!(agent = %id, "the agent goes on after its process is gone");
        self.go_on(&record).await?;
        Ok(true)
    }

    /// Makes this process the one that sees to the agent's work; nothing when another was faster.
    async fn claim(&self, seen: &AgentRecord) -> Result<Option<AgentRecord>, AgentsError> {
        let own = seen.standing.work().map(|work| (work.id, work.owner.clone()));
        let taken = AgentEvent::TakenOver { owner: self.config.owner.0.clone() };
        let is_as_seen =
            |record: &AgentRecord| record.standing.work().map(|work| (work.id, work.owner.clone())) == own;
        let decide = |record: &AgentRecord| if is_as_seen(record) { vec![taken.clone()] } else { Vec::new() };
        match self.change(seen.agent_id, decide).await {
            Ok(changed) => Ok(is_as_seen(&changed.before).then_some(changed.after)),
            Err(ChangeError::Unknown | ChangeError::Transition(_)) => Ok(None),
            Err(ChangeError::Failed(error)) => Err(error),
        }
    }

    async fn changed_or_late(
        &self,
        id: AgentId,
        decide: impl Fn(&AgentRecord) -> Vec<AgentEvent> + Send + Sync,
    ) -> Result<bool, AgentsError> {
        match self.change(id, decide).await {
            Ok(_) => Ok(true),
            Err(ChangeError::Unknown | ChangeError::Transition(_)) => Ok(false),
            Err(ChangeError::Failed(error)) => Err(error),
        }
    }

    async fn go_on(self: &Arc<Self>, record: &AgentRecord) -> Result<(), AgentsError> {
        let Some(work) = record.standing.work() else { return Ok(()) };
        let is_kept = match work.run_id {
            Some(run) => self.parts.stores.runs.run(run).await?.is_some(),
            None => false,
        };
        match (&record.spec.driver, work.run_id, &work.operation) {
            (_, Some(run), Some(_))
            | (Driver::Skill { .. } | Driver::Plan { plan: Some(_) }, Some(run), None)
                if is_kept =>
            {
                self.see_to_run(record, run);
            }
            // The process ended between writing that the agent begins and handing its plan to the engine.
            (Driver::Skill { .. } | Driver::Plan { plan: Some(_) }, Some(run), None) => {
                match self.first_work(&record.spec, CallOrigin::Remote) {
                    Ok(FirstWork::Run(plan)) => self.start_run(record, run, *plan).await?,
                    Ok(_) | Err(_) => {
                        self.give_up(record, "interrupted: its work cannot be begun any more").await
                    }
                }
            }
            (Driver::Plan { plan: None }, run, None) => {
                self.end_part(run).await;
                self.start_task(record, FirstWork::Task, Vec::new());
            }
            (Driver::Llm, run, None) => {
                // A call that was under way is told to the model as interrupted.
                self.end_part(run).await;
                let said = self.said(record.agent_id).await?;
                self.start_task(record, FirstWork::Llm, said);
            }
            (
                Driver::Skill { .. }
                | Driver::Plan { .. }
                | Driver::Llm
                | Driver::Command(_)
                | Driver::External,
                _,
                _,
            ) => {
                self.give_up(record, "interrupted: the process that saw to it died").await;
            }
        }
        Ok(())
    }

    /// Ends the run that was a part of an interrupted piece of work, so that nothing is done twice at once.
    async fn end_part(&self, run: Option<RunId>) {
        let Some(run) = run else { return };
        if let Err(error) = self.command_run(run, &Command::Cancel).await {
            tracing::warn!(%run, %error, "a part of interrupted work was not cancelled");
        }
    }

    async fn give_up(&self, record: &AgentRecord, why: &str) {
        self.end_work(record, failed(why)).await;
        if let (Driver::Command(_), Some(driver)) = (&record.spec.driver, self.parts.command.clone()) {
            let id = record.agent_id;
            // Nobody waits for what its program left behind to be removed.
            tokio::task::spawn_blocking(move || driver.clear(id));
        }
    }

    /// Returns what was said in the work that the agent is at.
    async fn said(&self, id: AgentId) -> Result<Vec<(String, Value)>, AgentsError> {
        let mut said = Vec::new();
        let mut after = Revision(0);
        loop {
            let page = self.parts.stores.agents.agent_events(id, after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(said) };
            after = last.revision;
            for logged in page {
                match logged.event.event {
                    AgentEvent::Started { .. } => said.clear(),
                    AgentEvent::Said { by, what } => said.push((by, what)),
                    AgentEvent::Spawned { .. }
                    | AgentEvent::Paused { .. }
                    | AgentEvent::Resumed { .. }
                    | AgentEvent::TakenOver { .. }
                    | AgentEvent::Doing { .. }
                    | AgentEvent::Called(_)
                    | AgentEvent::Denied(_)
                    | AgentEvent::Ended(_)
                    | AgentEvent::Unfit { .. }
                    | AgentEvent::Retried { .. }
                    | AgentEvent::Freed { .. }
                    | AgentEvent::Cancelled { .. }
                    | AgentEvent::Terminated { .. } => {}
                }
            }
        }
    }
}

/// Says whether somebody ended an agent, so that nothing of it may go on.
pub(crate) fn is_ended(state: AgentState) -> bool {
    match state {
        AgentState::Cancelled | AgentState::Terminated => true,
        AgentState::Idle
        | AgentState::Running
        | AgentState::Paused
        | AgentState::Completed
        | AgentState::Failed => false,
    }
}
