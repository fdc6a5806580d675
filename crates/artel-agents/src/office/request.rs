//! Asking and waiting for the answer.

use std::pin::pin;
use std::time::Duration;

use artel_model::id::{AgentId, CorrelationId};
use artel_model::limit::REQUEST_TIMEOUT_MS_MAX;
use artel_model::message::{Address, DraftProblem, Message, MessageDraft, MessageKind, Sender, Wait};
use tokio::time::MissedTickBehavior;

use super::error::{RequestError, SendError};
use super::mail_poller::MailPoller;
use super::post_office::Office;
use super::wait::{OpenWait, RENEWAL};

impl Office {
    /// Sends a request of an agent and waits for the first answer, which counts as read then. An answer is a response, or an
    /// error with the correlation of the request: whoever asks looks at its kind. A request to one agent that would close a
    /// ring of agents who wait for each other is not sent. An answer that comes too late lies in the mailbox.
    pub async fn request(&self, draft: MessageDraft, timeout: Duration) -> Result<Message, RequestError> {
        let since = crate::clock::now();
        let came = self.try_request(draft, timeout).await;
        self.shared.meters.request_ended(since, &came);
        came
    }

    async fn try_request(&self, draft: MessageDraft, timeout: Duration) -> Result<Message, RequestError> {
        let asker = check(&draft, timeout)?;
        let request = self.shared.message(draft).await?;
        let correlation = request.correlation.expect("every request has a correlation");
        // Made before anything is sent, so that no answer comes unnoticed.
        let mut mail_poller = MailPoller::new(&self.shared, asker);
        let wait = self.begin_wait(asker, correlation, &request, timeout).await?;
        let answer = self.ask(request, timeout, &mut mail_poller, wait.as_ref()).await;
        if let Some(wait) = wait {
            wait.end().await;
        }
        answer
    }

    /// Notes who waits for whom. A request to everybody may be answered by anybody, so it closes no ring.
    async fn begin_wait(
        &self,
        waiter: AgentId,
        correlation: CorrelationId,
        request: &Message,
        timeout: Duration,
    ) -> Result<Option<OpenWait>, RequestError> {
        let Address::Agent(awaited) = request.address else { return Ok(None) };
        let since = self.shared.parts.clock.now();
        let until = since + millis(timeout);
        OpenWait::begin(&self.shared, Wait { waiter, awaited, correlation, since, until }).await.map(Some)
    }

    async fn ask(
        &self,
        request: Message,
        timeout: Duration,
        mail_poller: &mut MailPoller,
        wait: Option<&OpenWait>,
    ) -> Result<Message, RequestError> {
        let (asker, correlation) = (mail_poller.agent(), request.correlation);
        let correlation = correlation.expect("every request has a correlation");
        let mut deadline = pin!(tokio::time::sleep(timeout));
        let mut renewal = tokio::time::interval_at(crate::clock::now() + RENEWAL, RENEWAL);
        renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
        self.shared.post(request).await?;
        let mut is_over = false;
        loop {
            let now = self.shared.parts.clock.now();
            if let Some(answer) = self.shared.parts.mail.take_answer(asker, correlation, now).await? {
                return Ok(answer);
            }
            if is_over {
                return Err(RequestError::Timeout(timeout));
            }
            tokio::select! {
                () = &mut deadline => is_over = true,
                () = mail_poller.calls() => {}
                _ = renewal.tick() => if let Some(wait) = wait {
                    wait.renew().await?;
                },
            }
        }
    }
}

/// Returns who asks, if this can be asked and waited for.
fn check(draft: &MessageDraft, timeout: Duration) -> Result<AgentId, SendError> {
    let mut problems = Vec::new();
    let mut problem = |path: &str, message: String| {
        problems.push(DraftProblem { path: path.to_owned(), message });
    };
    if draft.kind != MessageKind::Request {
        problem("/message_type", "only a `request` is answered".to_owned());
    }
    match draft.address {
        Address::Agent(_) | Address::Broadcast => {}
        Address::Topic(_) => {
            problem("/recipient_id", "an answer comes from an agent: give its id, or `broadcast`".to_owned());
        }
    }
    if millis(timeout) > REQUEST_TIMEOUT_MS_MAX {
        problem(
            "/timeout",
            format!("at most {REQUEST_TIMEOUT_MS_MAX} milliseconds are waited for an answer"),
        );
    }
    let asker = match draft.sender {
        Sender::Agent(asker) => Some(asker),
        Sender::System => {
            problem("/sender_id", "only an agent has a mailbox that the answer can come to".to_owned());
            None
        }
    };
    asker.filter(|_| problems.is_empty()).ok_or(SendError::Invalid(problems))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
