//! Sending: mail goes into mailboxes, events to whoever listens.

use std::sync::{Arc, PoisonError};

use artel_engine::trace;
use artel_model::agent::AgentState;
use artel_model::id::{AgentId, MessageId};
use artel_model::message::{Address, Message, MessageDraft, Sender, content_problems};
use artel_store::{Post, Posted, StoreError};
use uuid::Uuid;

use super::error::SendError;
use super::post_office::{Office, Shared};

/// Agents of whom is remembered whether they belong to a team.
const TEAMS_MAX: usize = 100_000;

/// A message that was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// The message. Of a duplicate it is the one that would have been sent; the first one stands.
    pub message: Message,
    /// In whose mailboxes it lies, in the order of their ids; nobody's for a topic or a duplicate.
    pub recipients: Vec<AgentId>,
    /// Whether a message with its id was sent before, so that nothing was sent.
    pub is_duplicate: bool,
}

impl Office {
    /// Sends a message. When this returns, what goes to agents lies in their mailboxes and survives a power cut, and what
    /// is about a topic is on its way to whoever listens, here or in another process on the same store. Sending it again
    /// with the same id does no harm.
    pub async fn send(&self, draft: MessageDraft) -> Result<Sent, SendError> {
        self.shared.send(draft).await
    }
}

impl Shared {
    pub(super) async fn send(&self, draft: MessageDraft) -> Result<Sent, SendError> {
        let came = self.try_send(draft).await;
        if let Err(error) = &came {
            self.meters.refused(error);
        }
        came
    }

    async fn try_send(&self, draft: MessageDraft) -> Result<Sent, SendError> {
        let message = self.message(draft).await?;
        match &message.address {
            Address::Topic(_) => {
                self.check_sender(message.sender).await?;
                self.publish(message.clone()).await?;
                Ok(Sent { message, recipients: Vec::new(), is_duplicate: false })
            }
            Address::Agent(_) | Address::Broadcast => self.post(message).await,
        }
    }

    /// Makes a message of a draft in which everything fits.
    pub(super) async fn message(&self, draft: MessageDraft) -> Result<Message, SendError> {
        let mut problems = draft.problems();
        if self.is_of_team(&draft).await? {
            problems.extend(content_problems(draft.kind, draft.payload.object()));
        }
        if !problems.is_empty() {
            return Err(SendError::Invalid(problems));
        }
        // A sender who follows a trace of their own says so.
        let draft = MessageDraft { trace_parent: draft.trace_parent.or_else(trace::current), ..draft };
        Ok(draft.send(MessageId(Uuid::new_v4()), self.parts.clock.now()))
    }

    /// Puts a message into mailboxes.
    pub(super) async fn post(&self, message: Message) -> Result<Sent, SendError> {
        let (now, mailbox_max) = (self.parts.clock.now(), self.config.mailbox_max);
        let posted = self.parts.mail.post(Post { message: message.clone(), now, mailbox_max }).await?;
        let sent = match posted {
            Posted::Delivered(recipients) => {
                self.meters.sent(message.kind);
                // Who is woken may act before the mail survives a power cut. What it then writes comes later in the same
                // store, so nobody can remember mail that is forgotten.
                self.line.wake(&recipients);
                self.end_answered_wait(&message).await;
                Sent { message, recipients, is_duplicate: false }
            }
            Posted::Duplicate => Sent { message, recipients: Vec::new(), is_duplicate: true },
            Posted::Refused(refused) => return Err(refused.into()),
        };
        // A duplicate may be of a message whose sender was cut off before this.
        self.parts.runs.sync().await?;
        Ok(sent)
    }

    /// Gives an event to whoever listens here, and keeps it for the others.
    pub(super) async fn publish(&self, event: Message) -> Result<(), StoreError> {
        self.meters.sent(event.kind);
        self.line.publish(Arc::new(event.clone())).await;
        self.parts.mail.keep_event(event, self.config.topic_events_max).await?;
        Ok(())
    }

    async fn check_sender(&self, sender: Sender) -> Result<(), SendError> {
        let Sender::Agent(agent) = sender else { return Ok(()) };
        match self.parts.agents.agent(agent).await?.map(|row| row.record.state()) {
            None => Err(SendError::UnknownSender(agent)),
            Some(AgentState::Terminated) => Err(SendError::SenderTerminated(agent)),
            Some(
                AgentState::Idle
                | AgentState::Running
                | AgentState::Paused
                | AgentState::Completed
                | AgentState::Failed
                | AgentState::Cancelled,
            ) => Ok(()),
        }
    }

    /// Says whether the sender or the recipient belongs to a team.
    async fn is_of_team(&self, draft: &MessageDraft) -> Result<bool, StoreError> {
        if let Sender::Agent(sender) = draft.sender
            && self.is_in_team(sender).await?
        {
            return Ok(true);
        }
        match draft.address {
            Address::Agent(recipient) => self.is_in_team(recipient).await,
            Address::Broadcast | Address::Topic(_) => Ok(false),
        }
    }

    async fn is_in_team(&self, agent: AgentId) -> Result<bool, StoreError> {
        let teams = || self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = teams().get(&agent).copied() {
            return Ok(known);
        }
        let Some(row) = self.parts.agents.agent(agent).await? else { return Ok(false) };
        let is_in_team = row.record.spec.role.is_some();
        let mut teams = teams();
        if teams.len() >= TEAMS_MAX {
            teams.clear();
        }
        teams.insert(agent, is_in_team);
        Ok(is_in_team)
    }
}
