//! Sees to the work of an agent at a server until it is over, while somebody watches and may press Ctrl-C.

use std::time::Duration;

use artel_api::client::Client;
use artel_engine::Clock;
use artel_model::agent::{AgentDocument, AgentState};
use artel_model::id::RunId;
use artel_store::LoggedEvent;

use super::event::line;
use crate::command::Context;
use crate::desk::{AgentDesk, AgentTrail, RunDesk, Telling, Trail};
use crate::failure::Failure;
use crate::output::{Shown, Watching};
use crate::workshop::Interrupts;

/// How often a picture is drawn, in milliseconds.
const FRAME_MS: u64 = 100;
/// How long to wait for what is written after an agent was stopped.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Sees to the work of an agent at a server.
#[derive(Clone, Copy)]
pub(super) struct SeeToThere<'a> {
    pub(super) context: Context<'a>,
    pub(super) client: &'a Client,
    pub(super) shown: Shown,
}

impl SeeToThere<'_> {
    /// Waits for the end. Ctrl-C cancels the agent with everything below it; a second one leaves that to the server.
    pub(super) async fn end(
        self,
        agent: AgentDocument,
        mut interrupts: Interrupts,
    ) -> Result<AgentDocument, Failure> {
        let id = agent.agent_id;
        if self.shown == Shown::Steps {
            self.context.output.talk(&format!("agent {id}"));
        }
        let mut work = std::pin::pin!(self.work(&agent));
        tokio::select! {
            ended = &mut work => return ended,
            () = interrupts.next() => {}
        }
        let talk = "cancelling; once more stops waiting, and the server goes on ending the agent's work";
        self.context.output.talk(talk);
        let desk = AgentDesk::There(self.client.clone());
        let mut cancelling = std::pin::pin!(desk.tell(id, Telling::Cancel));
        let mut is_told = false;
        loop {
            tokio::select! {
                ended = &mut work => return ended,
                // That it was faster is as good; what else went wrong is told by how it ends.
                _ = &mut cancelling, if !is_told => is_told = true,
                () = interrupts.next() => {
                    let message = format!("stopped waiting; the server goes on ending the work of agent {id}");
                    return Err(Failure::failed(message).hint(format!("`artel agent show {id}` says how it ended")));
                }
            }
        }
    }

    /// Waits until the agent's work is over.
    async fn work(&self, agent: &AgentDocument) -> Result<AgentDocument, Failure> {
        let desk = RunDesk::There(self.client.clone());
        let mut watching = Watching::new(self.context.output, self.shown);
        let mut trail = AgentTrail::of(self.client, agent.agent_id).await?;
        let mut run = match agent.run_id.filter(|_| watching.is_live()) {
            Some(run) => Some((run, desk.trail(run).await?)),
            None => None,
        };
        let mut frames = tokio::time::interval(Duration::from_millis(FRAME_MS));
        let ended = loop {
            tokio::select! {
                biased;
                batch = next(&mut run) => note(&mut watching, &mut run, batch),
                event = trail.next() => {
                    let Some(logged) = event? else { break trail.agent().await? };
                    if self.shown == Shown::Steps {
                        self.context.output.talk(&line(&logged.event));
                    }
                    let agent = trail.agent().await?;
                    if is_over(agent.state) {
                        break agent;
                    }
                }
                _ = frames.tick(), if watching.is_drawn() => watching.draw(Clock::system().now()),
            }
        };
        let was_stopped = matches!(ended.state, AgentState::Cancelled | AgentState::Terminated);
        while run.is_some() {
            let batch = next(&mut run).await;
            note(&mut watching, &mut run, batch);
        }
        if was_stopped && self.shown == Shown::Steps {
            self.tell_last_words(&mut trail).await?;
        }
        watching.end(Clock::system().now());
        Ok(ended)
    }

    /// Tells what comes after the end: of an agent that was stopped, what its call came to is written a moment later.
    async fn tell_last_words(&self, trail: &mut AgentTrail) -> Result<(), Failure> {
        while let Ok(event) = tokio::time::timeout(LAST_WORDS, trail.next()).await {
            let Some(logged) = event? else { return Ok(()) };
            self.context.output.talk(&line(&logged.event));
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

type Batch = (RunId, Result<Vec<LoggedEvent>, Failure>);

/// Waits for what happens in the run; for ever when there is none.
async fn next(run: &mut Option<(RunId, Trail)>) -> Batch {
    match run {
        Some((run, trail)) => (*run, trail.next().await),
        None => std::future::pending().await,
    }
}

fn note(watching: &mut Watching<'_>, run: &mut Option<(RunId, Trail)>, batch: Batch) {
    match batch {
        (id, Ok(batch)) if !batch.is_empty() => {
            batch.iter().for_each(|logged| watching.note(id, &logged.event));
        }
        // The run is over, or cannot be seen any more; what comes of it is told by the agent.
        (_, Ok(_) | Err(_)) => *run = None,
    }
}
