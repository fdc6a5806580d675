//! Waits for the end of an agent's work, while a person watches and may press Ctrl-C.

use std::time::Duration;

use artel_engine::Clock;
use artel_model::agent::{AgentDocument, AgentState, DriverKind};
use artel_model::id::{AgentId, RunId};
use artel_store::LoggedEvent;

use super::event::line;
use crate::backend::{Backend, EventStream, Telling, agent_event, run_event};
use crate::command::Context;
use crate::failure::Failure;
use crate::output::{Shown, Watching};
use crate::runtime::Interrupts;

/// How often a picture is drawn, in milliseconds.
const FRAME_MS: u64 = 100;
/// How long to wait for what is written after an agent was stopped.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Waits for the end of an agent's work.
#[derive(Clone, Copy)]
pub(super) struct WaitForAgent<'a> {
    pub(super) context: Context<'a>,
    pub(super) backend: &'a Backend,
    pub(super) shown: Shown,
}

impl WaitForAgent<'_> {
    /// Waits for the end of the work that an agent has by itself. Ctrl-C cancels the agent with everything below it; a second
    /// one leaves it.
    pub(super) async fn end(
        self,
        agent: AgentDocument,
        mut interrupts: Interrupts,
    ) -> Result<AgentDocument, Failure> {
        match agent.driver {
            DriverKind::External => return Ok(agent),
            DriverKind::Skill | DriverKind::Plan | DriverKind::Llm | DriverKind::Command => {}
        }
        let id = agent.agent_id;
        if self.shown == Shown::Steps {
            self.context.output.talk(&format!("agent {id}"));
        }
        let mut work = std::pin::pin!(self.work(&agent));
        tokio::select! {
            ended = &mut work => return ended,
            () = interrupts.next() => {}
        }
        self.context.output.talk(match self.backend {
            Backend::Local(_) => "cancelling; once more kills everything and leaves the agent as it is",
            Backend::Remote(_) => {
                "cancelling; once more stops waiting, and the server goes on ending the agent's work"
            }
        });
        let mut cancelling = std::pin::pin!(self.backend.tell_agent(id, Telling::Cancel));
        let mut is_told = false;
        loop {
            tokio::select! {
                ended = &mut work => return ended,
                // That it was faster is as good; what else went wrong is told by how it ends.
                _ = &mut cancelling, if !is_told => is_told = true,
                () = interrupts.next() => return Err(self.left(id)),
            }
        }
    }

    fn left(&self, id: AgentId) -> Failure {
        match self.backend {
            Backend::Local(_) => {
                Failure::failed(format!("agent {id} was left unfinished; everything it ran is killed"))
                    .hint("`artel agent recover` goes on with it")
            }
            Backend::Remote(_) => {
                Failure::failed(format!("stopped waiting; the server goes on ending the work of agent {id}"))
                    .hint(format!("`artel agent show {id}` says how it ended"))
            }
        }
    }

    /// Waits until the agent's work is over, and what it spawned in this process too.
    async fn work(&self, agent: &AgentDocument) -> Result<AgentDocument, Failure> {
        let id = agent.agent_id;
        let mut watching = Watching::new(self.context.output, self.shown);
        let mut events = self.backend.follow_agent(id).await?;
        let mut run = match agent.run_id.filter(|_| watching.is_live()) {
            Some(run) => Some((run, self.backend.follow_run(run).await?)),
            None => None,
        };
        let mut frames = tokio::time::interval(Duration::from_millis(FRAME_MS));
        let ended = loop {
            tokio::select! {
                biased;
                event = next(&mut run) => note(&mut watching, &mut run, event),
                line = events.next_line() => {
                    let is_end = match line? {
                        Some(logged) => {
                            self.tell(logged)?;
                            false
                        }
                        None => true,
                    };
                    let agent = self.backend.agent(id).await?;
                    let agent = agent.ok_or_else(|| Failure::failed(format!("agent {id} is gone")))?;
                    if is_end || is_over(agent.state) {
                        break agent;
                    }
                }
                _ = frames.tick(), if watching.is_drawn() => watching.draw(Clock::system().now()),
            }
        };
        while run.is_some() {
            let event = next(&mut run).await;
            note(&mut watching, &mut run, event);
        }
        self.backend.wait_for_children().await;
        let was_stopped = matches!(ended.state, AgentState::Cancelled | AgentState::Terminated);
        if was_stopped && self.shown == Shown::Steps {
            self.tell_last_words(&mut events).await?;
        }
        watching.end(Clock::system().now());
        Ok(ended)
    }

    /// Tells what comes after the end: of an agent that was stopped, what its call came to is written a moment later.
    async fn tell_last_words(&self, events: &mut EventStream) -> Result<(), Failure> {
        while let Ok(event) = tokio::time::timeout(LAST_WORDS, events.next_line()).await {
            let Some(logged) = event? else { return Ok(()) };
            self.tell(logged)?;
        }
        Ok(())
    }

    fn tell(&self, logged: artel_api::runs::LogLine) -> Result<(), Failure> {
        if self.shown == Shown::Steps {
            self.context.output.talk(&line(&agent_event(logged)?.event));
        }
        Ok(())
    }
}

/// Says whether an agent neither works nor stands still in the middle of its work.
fn is_over(state: AgentState) -> bool {
    match state {
        AgentState::Running | AgentState::Paused => false,
        AgentState::Idle
        | AgentState::Completed
        | AgentState::Failed
        | AgentState::Cancelled
        | AgentState::Terminated => true,
    }
}

/// Waits for what happens in the run; for ever when there is none.
async fn next(run: &mut Option<(RunId, EventStream)>) -> Option<LoggedEvent> {
    match run {
        Some((_, events)) => run_event(events.next_line().await.ok()??).ok(),
        None => std::future::pending().await,
    }
}

fn note(watching: &mut Watching<'_>, run: &mut Option<(RunId, EventStream)>, event: Option<LoggedEvent>) {
    match (event, &run) {
        (Some(logged), Some((id, _))) => watching.note(*id, &logged.event),
        // The run is over, or cannot be seen any more; what comes of it is told by the agent.
        (_, _) => *run = None,
    }
}
