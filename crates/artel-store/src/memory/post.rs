//! Posting in memory: who gets a message, and why it may be refused.

use std::sync::Arc;

use artel_model::id::{AgentId, CorrelationId};
use artel_model::message::{Address, DeadLetter, DeadReason, Message, MessageKind, Sender};
use artel_model::time::Timestamp;

use super::tables::Tables;
use crate::mail::{Post, PostRefused, Posted};

impl Tables {
    /// Puts a message into mailboxes.
    pub(super) fn post(&mut self, post: Post) -> Posted {
        if matches!(post.message.address, Address::Topic(_)) {
            return Posted::Delivered(Vec::new());
        }
        if self.mail.remembered.contains_key(&post.message.key()) {
            return Posted::Duplicate;
        }
        if let Err(refused) = self.check(&post) {
            return Posted::Refused(refused);
        }
        let recipients = self.recipients(&post.message);
        let message = Arc::new(post.message);
        self.mail.remember(message.clone());
        let mut delivered = Vec::with_capacity(recipients.len());
        for agent in recipients {
            if self.has_room(agent, post.mailbox_max, post.now) {
                self.mail.deliver(agent, message.clone());
                delivered.push(agent);
            } else {
                let (message, recipient_id) = (Message::clone(&message), Some(agent));
                let reason = DeadReason::MailboxFull;
                self.mail.dead.bury(DeadLetter { message, recipient_id, reason, at: post.now });
            }
        }
        self.version += 1;
        Posted::Delivered(delivered)
    }

    fn check(&self, post: &Post) -> Result<(), PostRefused> {
        let Message { sender, address, kind, correlation, id, .. } = &post.message;
        if let Sender::Agent(sender) = *sender {
            let state = self.agents.state(sender).ok_or(PostRefused::UnknownSender(sender))?;
            if !state.has_mailbox() {
                return Err(PostRefused::SenderEnded(sender));
            }
        }
        if let Address::Agent(agent) = *address {
            let state = self.agents.state(agent).ok_or(PostRefused::UnknownRecipient(agent))?;
            if !state.has_mailbox() {
                return Err(PostRefused::RecipientEnded(agent, state));
            }
        }
        if *kind == MessageKind::Response {
            // A response without a correlation answers nothing; it is told the one that its request would have had.
            let correlation = correlation.unwrap_or(CorrelationId(id.0));
            let is_asked = match (*sender, address) {
                (Sender::Agent(sender), Address::Agent(asker)) => {
                    self.mail.has_asked(*asker, sender, correlation)
                }
                (Sender::System, _) | (_, Address::Broadcast | Address::Topic(_)) => false,
            };
            if !is_asked {
                return Err(PostRefused::NoSuchRequest(correlation));
            }
        }
        match *address {
            Address::Agent(agent) if !self.has_room(agent, post.mailbox_max, post.now) => {
                Err(PostRefused::MailboxFull(agent))
            }
            Address::Agent(_) | Address::Broadcast | Address::Topic(_) => Ok(()),
        }
    }

    fn recipients(&self, message: &Message) -> Vec<AgentId> {
        match message.address {
            Address::Agent(agent) => vec![agent],
            Address::Broadcast => {
                self.agents.living().filter(|agent| message.sender != Sender::Agent(*agent)).collect()
            }
            Address::Topic(_) => Vec::new(),
        }
    }

    fn has_room(&self, agent: AgentId, max: usize, now: Timestamp) -> bool {
        self.mail.mailboxes.get(&agent).map_or(max > 0, |mailbox| mailbox.has_room(max, now))
    }
}
