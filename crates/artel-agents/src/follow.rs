//! Following the runs that do an agent's work: telling them what the agent is told, and announcing what their scripts announce.

use std::sync::Arc;

use artel_engine::{Command, CommandError, FollowError};
use artel_model::agent::{AgentEvent, AgentRecord};
use artel_model::id::{AgentId, MessageId, RunId};
use artel_model::message::{Payload, Sender, Topic};
use artel_model::protocol::ToolEvent;
use artel_model::run::{Origin, Run, RunEvent, Submission, Trace};
use artel_store::{LoggedEvent, Revision};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::agents::Shared;
use crate::change::{ChangeError, event};
use crate::driver::{Control, DriverSignal};
use crate::error::chain;

impl Shared {
    /// Runs a plan as a part of an agent's work, and tells the run what the agent is told meanwhile. The agent's log says first
    /// which run it is.
    pub(crate) async fn run_part(
        self: &Arc<Self>,
        record: &AgentRecord,
        submission: Submission,
        mut control: Control,
    ) -> Result<(Run, Trace), String> {
        let run = RunId(Uuid::now_v7());
        self.note_run(record, Some(run)).await?;
        // If nobody waits for it any more, the run has no purpose.
        let mut guard = RunGuard { shared: self.clone(), run, is_over: false };
        self.parts.engine.submit_as(run, submission).await.map_err(|error| chain(&error))?;
        let mut following = std::pin::pin!(self.follow(record.agent_id, run));
        let mut signal = control.signal();
        let mut told = DriverSignal::Go;
        loop {
            if signal != told {
                let command = match signal {
                    DriverSignal::Go => Command::Resume,
                    DriverSignal::Pause => Command::Pause,
                    DriverSignal::End => Command::Cancel,
                };
                if let Err(error) = self.command_run(run, &command).await {
                    tracing::warn!(%run, %error, "a part of the agent's work was not told");
                }
                told = signal;
            }
            tokio::select! {
                followed = &mut following => {
                    guard.is_over = true;
                    return followed.map_err(|error| format!("the run was lost: {}", chain(&error)));
                }
                // After the end there is nothing more to be told.
                changed = control.changed(), if told != DriverSignal::End => signal = changed,
            }
        }
    }

    /// Writes down which run does an agent's work at the moment, before it does: whoever stops the agent, or goes on with it
    /// after a crash, finds it there. Says why the agent is not at that work any more.
    async fn note_run(&self, record: &AgentRecord, run_id: Option<RunId>) -> Result<(), String> {
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
}

/// Cancels a run that nobody waits for any more.
struct RunGuard {
    shared: Arc<Shared>,
    run: RunId,
    is_over: bool,
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let (shared, run) = (self.shared.clone(), self.run);
        tokio::spawn(async move {
            if let Err(error) = shared.command_run(run, &Command::Cancel).await {
                tracing::warn!(%run, %error, "a run that nobody waits for was not cancelled");
            }
        });
    }
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
