//! Events of topics as a stream. They are read from the store, where every event has a place, so what was published elsewhere
//! is heard too. Readers know an event by the id of its message: places count the events of everyone.

use std::collections::BTreeMap;

use artel_api::events::EventsQuery;
use artel_model::access::Principal;
use artel_model::id::{AgentId, MessageId};
use artel_model::limit::TOPIC_REPLAY_MAX;
use artel_model::message::{Address, Message, MessageDocument, Sender, Topic, TopicPattern};
use artel_store::TopicEvent;
use async_trait::async_trait;
use serde_json::json;
use tokio::sync::watch;

use crate::app::App;
use crate::error::OperationError;
use crate::stream::{Next, Source, StreamEvent};

/// Events that are read at once.
const PAGE: usize = 256;
/// Agents of whom one stream remembers whose they are.
const OWNERS_MAX: usize = 10_000;
/// Topics of agents begin so, and go on with the agent's id.
const ABOUT_AGENTS: &str = "agents.";

/// Events of topics.
pub struct TopicLog {
    app: App,
    caller: Principal,
    pattern: TopicPattern,
    after: u64,
    /// What the reader had last, when something after it may be missing, until that is told.
    gap: Option<MessageId>,
    beats: watch::Receiver<u64>,
    /// Whether agents are the caller's. Whose an agent is never changes.
    owned: BTreeMap<AgentId, bool>,
}

/// Follows the events of topics after a place, or from this moment on.
pub async fn topic_log(
    app: &App,
    caller: &Principal,
    query: EventsQuery,
    after: Option<MessageId>,
) -> Result<TopicLog, OperationError> {
    let pattern: TopicPattern = query.topic.parse().map_err(|error| {
        OperationError::bad_request("invalid_query", format!("`topic` is no pattern: {error}"))
    })?;
    let replay = usize::try_from(query.replay.unwrap_or(0)).unwrap_or(usize::MAX);
    if replay > TOPIC_REPLAY_MAX {
        let message = format!("`replay` is at most {TOPIC_REPLAY_MAX}");
        return Err(OperationError::bad_request("invalid_query", message));
    }
    // Felt before the store is read, so that nothing falls between what was and what comes.
    let beats = app.poller().subscribe();
    let mut log = TopicLog {
        app: app.clone(),
        caller: caller.clone(),
        pattern,
        after: 0,
        gap: None,
        beats,
        owned: BTreeMap::new(),
    };
    match after {
        Some(last) => log.resume_after(last).await?,
        None => log.begin_with(replay).await?,
    }
    Ok(log)
}

fn everything() -> TopicPattern {
    ">".parse().expect("it stands for all topics")
}

impl TopicLog {
    /// Goes on after an event that the reader has. When it is not kept any more, everything that is kept is told.
    async fn resume_after(&mut self, last: MessageId) -> Result<(), OperationError> {
        let kept = self.app.stores().mail.topic_events(&everything(), 0, true, TOPIC_REPLAY_MAX).await?;
        // Ids are the senders' to choose: the latest one counts that is the caller's to hear. An event that is not is
        // answered like one that is not kept.
        for event in kept.iter().rev().filter(|event| event.message.id == last) {
            if self.may_hear(&event.message).await? {
                self.after = event.place;
                return Ok(());
            }
        }
        self.gap = Some(last);
        Ok(())
    }

    /// Begins with the last `replay` events that the caller may hear: those of others take up no room among them.
    async fn begin_with(&mut self, replay: usize) -> Result<(), OperationError> {
        let mail = &self.app.stores().mail;
        let last = mail.topic_events(&everything(), 0, true, 1).await?;
        self.after = last.last().map_or(0, |event| event.place);
        if replay == 0 {
            return Ok(());
        }
        let mut heard = 0;
        for event in mail.topic_events(&self.pattern, 0, true, TOPIC_REPLAY_MAX).await?.iter().rev() {
            if heard < replay && self.may_hear(&event.message).await? {
                heard += 1;
                self.after = event.place - 1;
            }
        }
        Ok(())
    }

    /// Reads the next events and returns those that are the caller's to hear; nothing when there are none.
    async fn look(&mut self) -> Result<Option<Vec<StreamEvent>>, OperationError> {
        let mail = &self.app.stores().mail;
        let events = mail.topic_events(&self.pattern, self.after, false, PAGE).await?;
        let Some(last) = events.last().map(|event| event.place) else { return Ok(None) };
        let mut told = Vec::new();
        let now = self.app.clock().now();
        for TopicEvent { message, .. } in events {
            if !message.is_expired(now) && self.may_hear(&message).await? {
                told.push(StreamEvent::new(
                    message.id,
                    message.kind.as_str(),
                    &MessageDocument::of(&message, None),
                ));
            }
        }
        self.after = last;
        Ok(Some(told))
    }

    /// Says whether an event is the caller's to hear: who sent it is, or whom it is about.
    async fn may_hear(&mut self, message: &Message) -> Result<bool, OperationError> {
        if self.caller.is_admin() {
            return Ok(true);
        }
        let about = match (&message.sender, &message.address) {
            (Sender::Agent(agent), _) => Some(*agent),
            (Sender::System, Address::Topic(topic)) => agent_of(topic),
            (Sender::System, Address::Agent(_) | Address::Broadcast) => None,
        };
        let Some(agent) = about else { return Ok(false) };
        if let Some(known) = self.owned.get(&agent) {
            return Ok(*known);
        }
        let row = self.app.stores().agents.agent(agent).await?;
        let Some(row) = row else { return Ok(false) };
        let is_own = self.caller.owns(row.record.owner());
        if self.owned.len() >= OWNERS_MAX {
            self.owned.clear();
        }
        self.owned.insert(agent, is_own);
        Ok(is_own)
    }
}

/// Returns the agent that a topic is about.
fn agent_of(topic: &Topic) -> Option<AgentId> {
    topic.as_str().strip_prefix(ABOUT_AGENTS)?.split('.').next()?.parse().ok()
}

#[async_trait]
impl Source for TopicLog {
    async fn next(&mut self) -> Next {
        if let Some(last) = self.gap.take() {
            return Next::Events(vec![StreamEvent::new(last, "gap", &json!({"after": last}))]);
        }
        loop {
            self.beats.borrow_and_update();
            match self.look().await {
                Ok(Some(told)) if !told.is_empty() => return Next::Events(told),
                Ok(Some(_)) => continue,
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!(code = error.code, pattern = %self.pattern, "topics cannot be followed");
                    return Next::Over;
                }
            }
            if self.beats.changed().await.is_err() {
                return Next::Over;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_about_an_agent_names_it() {
        let id = "5a6c2a1e-6c4b-4a57-9a53-3a8a0b3b6b11";
        let of = |text: &str| agent_of(&text.parse().unwrap()).map(|agent| agent.to_string());
        assert_eq!(of(&format!("agents.{id}.running")), Some(id.to_owned()));
        assert_eq!(of("agents.somebody.running"), None);
        assert_eq!(of("navigation.complete"), None);
    }
}
