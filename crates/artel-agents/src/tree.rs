//! Stopping an agent with everything below it, and letting it go on. Those above go first, so that nothing new comes below
//! while it is being stopped; what they started is gone before this returns.

use artel_engine::Command;
use artel_model::agent::{AgentEvent, AgentRecord, AgentState, Cause, InvalidTransition};
use artel_model::id::AgentId;

use crate::agents::{Agents, Shared};
use crate::change::ChangeError;
use crate::error::{AgentsError, CommandRefused};

/// What a whole tree is told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Order {
    Pause,
    Resume,
    Cancel,
    Terminate,
}

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
                Ok(before) if order.concerns(before.state()) => told.push(before),
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

    /// Tells one agent, and what works for it. Returns the agent as it was when it was told.
    async fn tell_one(&self, id: AgentId, order: Order, cause: Cause) -> Result<AgentRecord, CommandRefused> {
        let decide = |record: &AgentRecord| {
            if order.concerns(record.state()) { vec![order.event(cause.clone())] } else { Vec::new() }
        };
        let changed = self.change(id, decide).await.map_err(|error| refused(id, error))?;
        let work = changed.before.standing.work().filter(|_| order.concerns(changed.before.state()));
        if let Some(run) = work.and_then(|work| work.run_id) {
            self.command_run(run, &order.command()).await.map_err(CommandRefused::Run)?;
        }
        Ok(changed.before)
    }

    /// Waits until nothing of the agents' work is left, those below first; not longer than work may take to end. What
    /// another process works at is told to end, and ends when that process looks.
    async fn wait_for_the_end_of(&self, told: &[AgentRecord]) -> Result<(), CommandRefused> {
        let until = crate::clock::from_now(self.config.grace_ms * 2);
        let mut late = Vec::new();
        for record in told.iter().rev() {
            let id = record.agent_id;
            let run = record.standing.work().and_then(|work| work.run_id);
            let mut seen = self.changed.subscribe();
            loop {
                seen.mark_unchanged();
                let is_over = match run {
                    Some(run) => {
                        let row = self.parts.stores.runs.run(run).await.map_err(AgentsError::Store)?;
                        row.is_none_or(|row| row.summary.state.is_final())
                    }
                    None => true,
                };
                if is_over && !self.working().contains_key(&id) {
                    break;
                }
                if crate::clock::now() >= until {
                    late.push(id);
                    break;
                }
                self.something_changes(&mut seen).await;
            }
        }
        if late.is_empty() { Ok(()) } else { Err(CommandRefused::StillEnding(late)) }
    }

    async fn read(&self, id: AgentId) -> Result<Option<AgentRecord>, AgentsError> {
        Ok(self.parts.stores.agents.agent(id).await?.map(|row| row.record))
    }
}

fn refused(id: AgentId, error: ChangeError) -> CommandRefused {
    match error {
        ChangeError::Unknown => CommandRefused::Unknown(id),
        ChangeError::Transition(transition) => CommandRefused::Transition(transition),
        ChangeError::Failed(error) => CommandRefused::Failed(error),
    }
}
