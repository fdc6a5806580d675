//! Sees to the work of an agent until it is over, while somebody watches and may press Ctrl-C.

use std::time::Duration;

use artel_agents::{Agents, CommandRefused};
use artel_engine::{Clock, Follow, FollowError};
use artel_model::agent::{AgentDocument, AgentRecord};
use artel_model::id::{AgentId, RunId};
use artel_store::{LoggedEvent, Revision};

use super::event::line;
use crate::command::Context;
use crate::failure::{Failure, chain};
use crate::output::{Shown, Watching};
use crate::workshop::{Interrupts, Workshop, cause};

/// How often to look what happened, in milliseconds.
const LOOK_MS: u64 = 50;
/// Events of an agent that are read at once.
const EVENTS_PAGE: usize = 500;

/// Sees to an agent's work.
#[derive(Clone, Copy)]
pub(super) struct SeeTo<'a> {
    pub(super) context: Context<'a>,
    pub(super) workshop: &'a Workshop,
    pub(super) agents: &'a Agents,
    pub(super) shown: Shown,
}

impl SeeTo<'_> {
    /// Waits for the end. Ctrl-C cancels the agent with everything below it; a second one leaves it as it is.
    pub(super) async fn end(
        self,
        record: AgentRecord,
        mut interrupts: Interrupts,
    ) -> Result<AgentDocument, Failure> {
        let id = record.agent_id;
        if self.shown == Shown::Steps {
            self.context.output.talk(&format!("agent {id}"));
        }
        let mut work = std::pin::pin!(self.work(&record));
        tokio::select! {
            ended = &mut work => return ended,
            () = interrupts.next() => {}
        }
        self.context.output.talk("cancelling; once more kills everything and leaves the agent as it is");
        let mut cancelling = std::pin::pin!(self.cancel(id));
        let mut is_told = false;
        loop {
            tokio::select! {
                ended = &mut work => return ended,
                told = &mut cancelling, if !is_told => {
                    told?;
                    is_told = true;
                }
                () = interrupts.next() => {
                    let message = format!("agent {id} was left unfinished; everything it ran is killed");
                    return Err(Failure::failed(message).hint("`artel agent recover` goes on with it"));
                }
            }
        }
    }

    async fn cancel(&self, id: AgentId) -> Result<(), Failure> {
        match self.agents.cancel(id, cause(self.context).because("Ctrl-C")).await {
            // It was faster.
            Ok(_) | Err(CommandRefused::Transition(_) | CommandRefused::Unknown(_)) => Ok(()),
            Err(
                error @ (CommandRefused::Run(_)
                | CommandRefused::Full(_)
                | CommandRefused::StillEnding(_)
                | CommandRefused::Failed(_)),
            ) => Err(Failure::missing(chain(&error))),
        }
    }

    /// Waits until the agent's work is over, and that of all that it spawned.
    async fn work(&self, record: &AgentRecord) -> Result<AgentDocument, Failure> {
        let id = record.agent_id;
        let mut watching = Watching::new(self.context.output, self.shown);
        let mut told = Revision(0);
        let run = record.standing.work().and_then(|work| work.run_id);
        let mut follow = run.map(|run| (run, self.workshop.engine.follow(run, Revision(0))));
        let mut looks = tokio::time::interval(Duration::from_millis(LOOK_MS));
        let mut waiting = std::pin::pin!(self.agents.wait(id));
        let ended = loop {
            tokio::select! {
                biased;
                batch = next(&mut follow) => note(&mut watching, &mut follow, batch),
                ended = &mut waiting => break ended,
                _ = looks.tick() => {
                    told = self.tell(id, told).await?;
                    watching.draw(Clock::system().now());
                }
            }
        };
        while follow.is_some() {
            let batch = next(&mut follow).await;
            note(&mut watching, &mut follow, batch);
        }
        while self.agents.is_busy() {
            told = self.tell(id, told).await?;
            looks.tick().await;
        }
        self.tell(id, told).await?;
        watching.end(Clock::system().now());
        let ended = ended.map_err(|error| Failure::missing(chain(&error)))?;
        let ended = ended.ok_or_else(|| Failure::failed(format!("agent {id} is gone")))?;
        Ok(AgentDocument::of(&ended))
    }

    /// Tells what happened to the agent since, when somebody watches; returns how far it was told.
    async fn tell(&self, id: AgentId, after: Revision) -> Result<Revision, Failure> {
        if self.shown != Shown::Steps {
            return Ok(after);
        }
        let events = self.agents.events(id, after, EVENTS_PAGE).await;
        let events = events.map_err(|error| Failure::missing(chain(&error)))?;
        for logged in &events {
            self.context.output.talk(&line(&logged.event));
        }
        Ok(events.last().map_or(after, |last| last.revision))
    }
}

type Batch = Option<(RunId, Result<Vec<LoggedEvent>, FollowError>)>;

/// Waits for what happens in the run; for ever when there is none.
async fn next(follow: &mut Option<(RunId, Follow)>) -> Batch {
    match follow {
        Some((run, follow)) => Some((*run, follow.next().await)),
        None => std::future::pending().await,
    }
}

fn note(watching: &mut Watching<'_>, follow: &mut Option<(RunId, Follow)>, batch: Batch) {
    match batch {
        Some((run, Ok(batch))) if !batch.is_empty() => {
            batch.iter().for_each(|logged| watching.note(run, &logged.event));
        }
        // The run is over, or cannot be seen any more; what comes of it is told by the agent.
        Some((_, Ok(_) | Err(_))) | None => *follow = None,
    }
}
