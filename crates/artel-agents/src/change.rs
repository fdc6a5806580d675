//! Changing an agent: read, decide, write if nobody else wrote in between, tell.

use artel_engine::{Command, trace};
use artel_model::agent::{Agent, AgentEvent, AgentRecord, InvalidTransition, StampedAgentEvent, Transition};
use artel_model::id::{AgentId, MessageId};
use artel_model::message::{Address, Message, MessageKind, Payload, Priority, Sender, Topic, Ttl};
use artel_model::time::Timestamp;
use artel_store::{AgentAppend, AgentAppendError, AgentRow, Revision};
use serde_json::json;
use uuid::Uuid;

use crate::agents::Shared;
use crate::error::AgentsError;

/// How often somebody else may be faster.
const TRIES_MAX: usize = 1000;

/// An agent that was changed.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    /// What it was: the very record that the change was decided on.
    pub(crate) before: AgentRecord,
    /// What it is.
    pub(crate) after: AgentRecord,
    /// How long its log is since.
    pub(crate) revision: Revision,
}

/// Why an agent was not changed.
#[derive(Debug)]
pub(crate) enum ChangeError {
    Unknown,
    Transition(InvalidTransition),
    Failed(AgentsError),
}

impl Shared {
    /// Changes an agent by the events that `decide` wants for its record; none leave it as it is.
    pub(crate) async fn change(
        &self,
        id: AgentId,
        decide: impl Fn(&AgentRecord) -> Vec<AgentEvent> + Send + Sync,
    ) -> Result<Changed, ChangeError> {
        for _ in 0..TRIES_MAX {
            let row = self.parts.stores.agents.agent(id).await.map_err(failed)?;
            let Some(AgentRow { record, revision }) = row else { return Err(ChangeError::Unknown) };
            let wanted = decide(&record);
            if wanted.is_empty() {
                return Ok(Changed { before: record.clone(), after: record, revision });
            }
            let at = self.parts.clock.now();
            let before = record.clone();
            let mut agent = Agent::from_record(record);
            let mut events = Vec::with_capacity(wanted.len());
            let mut transitions = Vec::with_capacity(wanted.len());
            for event in wanted {
                let event = StampedAgentEvent { at, event };
                transitions.push(agent.apply(&event).map_err(ChangeError::Transition)?);
                events.push(event);
            }
            let after = agent.into_record();
            let is_ended = events.iter().any(|event| matches!(event.event, AgentEvent::Ended(_)));
            let append = AgentAppend { expected: revision, events, record: after.clone() };
            match self.parts.stores.agents.append_agent(append).await {
                Ok(revision) => {
                    let changed = Changed { before, after, revision };
                    self.steer(&changed.after);
                    if !is_ended {
                        self.end_abandoned_run(&changed).await;
                    }
                    self.tell(&changed.after, &transitions).await;
                    return Ok(changed);
                }
                Err(AgentAppendError::Conflict { .. }) => {}
                Err(AgentAppendError::Unknown) => return Err(ChangeError::Unknown),
                Err(AgentAppendError::Store(error)) => return Err(failed(error)),
            }
        }
        Err(ChangeError::Failed(AgentsError::Contended(id)))
    }

    /// Work that an agent left without its having ended goes on for nobody.
    async fn end_abandoned_run(&self, changed: &Changed) {
        let left = changed.before.standing.work().filter(|_| changed.after.standing.work().is_none());
        let Some(run) = left.and_then(|work| work.run_id) else { return };
        if let Err(error) = self.command_run(run, &Command::Cancel).await {
            tracing::warn!(agent = %changed.after.agent_id, %run, %error, "the run of an agent that left it was not cancelled");
        }
    }

    /// Tells who waits for the agent, and whoever listens, where it went.
    async fn tell(&self, record: &AgentRecord, transitions: &[Transition]) {
        for transition in transitions.iter().filter(|transition| transition.from != transition.to) {
            self.meters.went(transition);
            let (from, to) = (transition.from.as_str(), transition.to.as_str());
            tracing::info!(agent = %record.agent_id, from, to, "the agent changes");
            let about = json!({"agent_id": record.agent_id, "from": from, "to": to});
            self.announce_about(record.agent_id, to, about).await;
        }
        self.changed.send_modify(|count| *count += 1);
    }

    /// Announces `agents.ID.WHAT`.
    pub(crate) async fn announce_about(&self, agent: AgentId, what: &str, about: serde_json::Value) {
        let topic: Topic =
            format!("agents.{agent}.{what}").parse().expect("ids and states are parts of topics");
        let serde_json::Value::Object(about) = about else { unreachable!("it is made as an object") };
        let payload = Payload::new(about).expect("an id and two words are small");
        let at = self.parts.clock.now();
        self.announce(event(MessageId(Uuid::new_v4()), Sender::System, topic, payload, at)).await;
    }

    /// Announces an event, unless its time is up: it may come from a log that is read again.
    pub(crate) async fn announce(&self, event: Message) {
        if !event.is_expired(self.parts.clock.now()) {
            self.parts.announce.announce(event).await;
        }
    }
}

/// Makes an event of a topic.
pub(crate) fn event(id: MessageId, sender: Sender, topic: Topic, payload: Payload, at: Timestamp) -> Message {
    Message {
        id,
        sender,
        address: Address::Topic(topic),
        kind: MessageKind::Event,
        payload,
        timestamp: at,
        ttl: Ttl::default(),
        priority: Priority::default(),
        correlation: None,
        trace_parent: trace::current(),
    }
}

fn failed(error: artel_store::StoreError) -> ChangeError {
    ChangeError::Failed(AgentsError::Store(error))
}
