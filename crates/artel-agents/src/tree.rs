//! Stopping an agent with everything below it, and letting it go on. Those above go first, so that nothing new comes below
//! while it is being stopped; what they started is gone before this returns.

use artel_engine::Command;
use artel_model::agent::{
    AgentEvent, AgentRecord, AgentState, Cause, Driver, InvalidTransition, StampedAgentEvent,
};
use artel_model::id::AgentId;
use artel_store::{OwnerId, Revision, RunRow};
use serde_json::json;
use uuid::Uuid;

use crate::agents::{Agents, LOOKS_APART, Shared};
use crate::change::ChangeError;
use crate::error::{AgentsError, CommandRefused, chain};
use crate::recover::is_ended;

/// What a whole tree is told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Order {
    Pause,
    Resume,
    Cancel,
    Terminate,
}

/// An agent that was told something.
struct CommandedAgent {
    /// The agent as it was when it was told.
    record: AgentRecord,
    /// What it heard is the last in a log of this length.
    since: Revision,
}

/// Events that are looked through for the word of another process: an agent that was told to end does little more.
const EVENTS_MAX: usize = 1000;

impl Agents {
    /// Makes an agent and everything below it stand still. Returns the agent.
    pub async fn pause(&self, id: AgentId, cause: Cause) -> Result<AgentRecord, CommandRefused> {
        self.shared.order(id, Order::Pause, cause).await
    }

    /// Lets an agent and everything below it go on.
    pub async fn resume(&self, id: AgentId, cause: Cause) -> Result<AgentRecord, CommandRefused> {
        self.shared.order(id, Order::Resume, cause).await
    }

    /// Ends the work of an agent and of everything below it. When this returns, nothing of it runs any more.
    pub async fn cancel(&self, id: AgentId, cause: Cause) -> Result<AgentRecord, CommandRefused> {
        self.shared.order(id, Order::Cancel, cause).await
    }

    /// Ends an agent and everything below it for good.
    pub async fn terminate(&self, id: AgentId, cause: Cause) -> Result<AgentRecord, CommandRefused> {
        self.shared.order(id, Order::Terminate, cause).await
    }

    /// Frees an agent whose work failed or is done, so that it can be used again, if there is room for it among the living.
    pub async fn free(&self, id: AgentId, cause: Cause) -> Result<AgentRecord, CommandRefused> {
        let living: u64 =
            self.counts().await?.iter().filter(|(state, _)| state.is_live()).map(|(_, count)| count).sum();
        if living >= self.shared.config.agents_max as u64 {
            return Err(CommandRefused::Full(living));
        }
        let freed = AgentEvent::Freed { cause };
        let changed = self.shared.change(id, |_| vec![freed.clone()]).await;
        changed.map(|changed| changed.after).map_err(|error| refused(id, error))
    }
}

impl Order {
    fn becomes(self) -> AgentState {
        match self {
            Self::Pause => AgentState::Paused,
            Self::Resume => AgentState::Running,
            Self::Cancel => AgentState::Cancelled,
            Self::Terminate => AgentState::Terminated,
        }
    }

    fn event(self, cause: Cause) -> AgentEvent {
        match self {
            Self::Pause => AgentEvent::Paused { cause },
            Self::Resume => AgentEvent::Resumed { cause },
            Self::Cancel => AgentEvent::Cancelled { cause },
            Self::Terminate => AgentEvent::Terminated { cause },
        }
    }

    fn command(self) -> Command {
        match self {
            Self::Pause => Command::Pause,
            Self::Resume => Command::Resume,
            Self::Cancel | Self::Terminate => Command::Cancel,
        }
    }

    /// Says whether an agent that stands there is to be told: one that is free has nothing to be resumed.
    fn concerns(self, state: AgentState) -> bool {
        match self {
            Self::Resume => state == AgentState::Paused,
            Self::Pause | Self::Cancel | Self::Terminate => state.may_become(self.becomes()),
        }
    }
}

impl Shared {
    pub(crate) async fn order(
        &self,
        id: AgentId,
        order: Order,
        cause: Cause,
    ) -> Result<AgentRecord, CommandRefused> {
        let above = Cause::by(id.to_string()).because("the agent above it was told");
        let (mut told, mut refusal) = (Vec::new(), None);
        let mut next = vec![(id, cause)];
        // A parent is told before its children are listed, so that no child comes after. What goes wrong with one keeps
        // nobody from being told.
        while let Some((id, cause)) = next.pop() {
            match self.tell_one(id, order, cause).await {
                Ok(one) if order.concerns(one.record.state()) => told.push(one),
                Ok(_) => {}
                Err(error) => refusal = refusal.or(Some(error)),
            }
            for child in self.parts.stores.agents.children(id, false).await.map_err(AgentsError::Store)? {
                next.push((child, above.clone()));
            }
        }
        if let Some(error) = refusal {
            return Err(error);
        }
        let root = self.read(id).await?.ok_or(CommandRefused::Unknown(id))?;
        // Somebody below may have been told although the agent itself was done; if nobody was, the order was mistaken.
        if told.is_empty() {
            let transition = InvalidTransition { from: root.state(), to: order.becomes() };
            return Err(CommandRefused::Transition(transition));
        }
        if order == Order::Cancel || order == Order::Terminate {
            self.wait_for_the_end_of(&told).await?;
        }
        self.parts.stores.runs.sync().await.map_err(AgentsError::Store)?;
        self.read(id).await?.ok_or(CommandRefused::Unknown(id))
    }

    /// Tells one agent, and what works for it.
    async fn tell_one(
        &self,
        id: AgentId,
        order: Order,
        cause: Cause,
    ) -> Result<CommandedAgent, CommandRefused> {
        let decide = |record: &AgentRecord| {
            if order.concerns(record.state()) { vec![order.event(cause.clone())] } else { Vec::new() }
        };
        let changed = self.change(id, decide).await.map_err(|error| refused(id, error))?;
        let work = changed.before.standing.work().filter(|_| order.concerns(changed.before.state()));
        if let Some(run) = work.and_then(|work| work.run_id) {
            self.command_run(run, &order.command()).await.map_err(CommandRefused::Run)?;
        }
        Ok(CommandedAgent { record: changed.before, since: changed.revision })
    }

    /// Waits until nothing of the agents' work is left, those below first; not longer than work may take to end, and another
    /// process to hear of it.
    async fn wait_for_the_end_of(&self, told: &[CommandedAgent]) -> Result<(), CommandRefused> {
        let heard_ms = self.config.poll_ms * u64::from(LOOKS_APART);
        let until = crate::clock::from_now(self.config.grace_ms * 2 + heard_ms);
        let mut late = Vec::new();
        for one in told.iter().rev() {
            let mut seen = self.changed.subscribe();
            loop {
                seen.mark_unchanged();
                if self.is_over(one).await? {
                    break;
                }
                if crate::clock::now() >= until {
                    late.push(one.record.agent_id);
                    break;
                }
                self.something_changes(&mut seen).await;
            }
        }
        if late.is_empty() { Ok(()) } else { Err(CommandRefused::StillEnding(late)) }
    }

    /// Says whether nothing is left of what an agent was at. What a process that is gone was at ended with it.
    async fn is_over(&self, told: &CommandedAgent) -> Result<bool, AgentsError> {
        let CommandedAgent { record, since } = told;
        if self.working().contains_key(&record.agent_id) {
            return Ok(false);
        }
        let Some(work) = record.standing.work() else { return Ok(true) };
        let is_alive = |owner: &OwnerId| (self.parts.is_alive)(owner);
        if let Some(run) = work.run_id {
            let row = self.parts.stores.runs.run(run).await?;
            let goes_on =
                |row: &RunRow| !row.summary.state.is_final() && row.owner.as_ref().is_some_and(is_alive);
            if row.as_ref().is_some_and(goes_on) {
                return Ok(false);
            }
        }
        let owner = OwnerId(work.owner.clone());
        let is_here = owner == self.config.owner;
        if is_here || !is_task(record) || !is_alive(&owner) {
            return Ok(true);
        }
        self.has_word_of(record.agent_id, work.id, *since).await
    }

    /// Says whether the process that worked for an agent left word that it is done.
    async fn has_word_of(&self, id: AgentId, work: Uuid, since: Revision) -> Result<bool, AgentsError> {
        let events = self.parts.stores.agents.agent_events(id, since, EVENTS_MAX).await?;
        Ok(events.iter().any(|logged| is_word_of(&logged.event.event, work)))
    }

    /// Leaves word that work is done that its agent was told to leave: another process may wait for that.
    pub(crate) async fn leave_word(&self, record: &AgentRecord) {
        let id = record.agent_id;
        let Some(work) = record.standing.work() else { return };
        let found = self.read(id).await;
        if !found.is_ok_and(|now| now.is_some_and(|now| is_ended(now.state()))) {
            return;
        }
        let event = StampedAgentEvent { at: self.parts.clock.now(), event: word_of(work.id) };
        if let Err(error) = self.parts.stores.agents.append_said(id, vec![event]).await {
            tracing::warn!(agent = %id, error = chain(&error), "nobody learns that the agent's work is over");
        }
    }

    /// Returns an agent.
    pub(crate) async fn read(&self, id: AgentId) -> Result<Option<AgentRecord>, AgentsError> {
        Ok(self.parts.stores.agents.agent(id).await?.map(|row| row.record))
    }
}

/// Says whether an agent's work is more than a run of the engine.
fn is_task(record: &AgentRecord) -> bool {
    let is_operation = record.standing.work().is_some_and(|work| work.operation.is_some());
    match &record.spec.driver {
        Driver::Plan { plan: None } | Driver::Llm | Driver::Command(_) => !is_operation,
        Driver::Plan { plan: Some(_) } | Driver::Skill { .. } | Driver::External => false,
    }
}

/// What a process says that has ended a piece of work after its agent left it.
fn word_of(work: Uuid) -> AgentEvent {
    AgentEvent::Said { by: "artel".to_owned(), what: json!({"text": "the work is over", "work": work}) }
}

fn is_word_of(event: &AgentEvent, work: Uuid) -> bool {
    *event == word_of(work)
}

fn refused(id: AgentId, error: ChangeError) -> CommandRefused {
    match error {
        ChangeError::Unknown => CommandRefused::Unknown(id),
        ChangeError::Transition(transition) => CommandRefused::Transition(transition),
        ChangeError::Failed(error) => CommandRefused::Failed(error),
    }
}
