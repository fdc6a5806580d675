//! Reading mailboxes and dead letters, and waiting for mail.

use std::pin::pin;
use std::time::Duration;

use artel_model::id::{AgentId, MessageId};
use artel_model::limit::MAILBOX_MAX;
use artel_model::message::{DeadLetter, DeadReason};
use artel_store::{Mail, MailCounts, MailQuery, Page, PageRequest, StoreError};

use super::error::MailError;
use super::mail_poller::MailPoller;
use super::post_office::Office;

/// How a mailbox is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReadOptions {
    /// Whether what is returned counts as read from then on.
    pub mark_read: bool,
    /// Whether messages that were read before are wanted too.
    pub with_read: bool,
    /// How many at most.
    pub limit: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { mark_read: true, with_read: false, limit: MAILBOX_MAX }
    }
}

/// What came of waiting for mail.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Awaited {
    /// There is unread mail.
    Mail,
    /// There is none, and the time is up.
    TimeUp,
}

/// How many messages there are.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OfficeCounts {
    /// In mailboxes, unread and not swept away.
    pub unread: u64,
    /// In mailboxes, read and not swept away.
    pub read: u64,
    /// Dead letters ever, by reason in the order of [`DeadReason::ALL`]; reasons without any are left out.
    pub dead: Vec<(DeadReason, u64)>,
    /// Dead letters of this process that could not be kept, since it began.
    pub unkept: u64,
}

impl Office {
    /// Reads a mailbox: the most urgent first, of those the earliest. What is expired is not there.
    pub async fn read(&self, agent: AgentId, options: ReadOptions) -> Result<Vec<Mail>, MailError> {
        let query = MailQuery {
            agent,
            now: self.shared.parts.clock.now(),
            with_read: options.with_read,
            mark_read: options.mark_read,
            limit: options.limit,
        };
        let mail = self.shared.parts.mail.mailbox(query).await?;
        if mail.is_empty() && self.shared.parts.agents.agent(agent).await?.is_none() {
            return Err(MailError::UnknownAgent(agent));
        }
        Ok(mail)
    }

    /// Marks messages in a mailbox as read, and returns how many were not yet.
    pub async fn mark_read(&self, agent: AgentId, messages: &[MessageId]) -> Result<u64, MailError> {
        Ok(self.shared.parts.mail.mark_read(agent, messages).await?)
    }

    /// Waits until there is unread mail for an agent.
    pub async fn wait_for_mail(&self, agent: AgentId, timeout: Duration) -> Result<Awaited, MailError> {
        let row = self.shared.parts.agents.agent(agent).await?.ok_or(MailError::UnknownAgent(agent))?;
        if !row.record.state().has_mailbox() {
            return Err(MailError::AgentTerminated(agent));
        }
        let mut mail_poller = MailPoller::new(&self.shared, agent);
        let mut deadline = pin!(tokio::time::sleep(timeout));
        let mut is_over = false;
        loop {
            if self.has_mail(agent).await? {
                return Ok(Awaited::Mail);
            }
            if is_over {
                return Ok(Awaited::TimeUp);
            }
            tokio::select! {
                () = &mut deadline => is_over = true,
                () = mail_poller.calls() => {}
            }
        }
    }

    async fn has_mail(&self, agent: AgentId) -> Result<bool, StoreError> {
        let now = self.shared.parts.clock.now();
        let query = MailQuery { agent, now, with_read: false, mark_read: false, limit: 1 };
        Ok(!self.shared.parts.mail.mailbox(query).await?.is_empty())
    }

    /// Lists dead letters, of everybody or of one recipient: the latest first.
    pub async fn dead_letters(
        &self,
        recipient: Option<AgentId>,
        page: &PageRequest,
    ) -> Result<Page<DeadLetter>, StoreError> {
        self.shared.parts.mail.dead_letters(recipient, page).await
    }

    /// Counts messages.
    pub async fn counts(&self) -> Result<OfficeCounts, StoreError> {
        let MailCounts { unread, read, dead } = self.shared.parts.mail.mail_counts().await?;
        Ok(OfficeCounts { unread, read, dead, unkept: self.shared.dead.unkept() })
    }

    /// Makes dead letters of what is expired and forgets what is old, and returns how many became dead letters. This happens
    /// by itself from time to time.
    pub async fn sweep(&self) -> Result<u64, StoreError> {
        let now = self.shared.parts.clock.now();
        self.shared.parts.mail.sweep(now, self.shared.config.dead_letters_max).await
    }
}
