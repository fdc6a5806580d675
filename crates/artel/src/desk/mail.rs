//! Messages: sent, asked, read, counted.

use std::collections::BTreeMap;
use std::time::Duration;

use artel_agents::{MailError, Office, ReadOptions, RequestError, SendError};
use artel_api::Paged;
use artel_api::client::{ApiPath, Client, ClientError};
use artel_api::messages::{DeadMessage, DeadQuery, MailWish, Mailbox, MessageCounts, SentMessage, WaitQuery};
use artel_engine::Clock;
use artel_model::id::AgentId;
use artel_model::message::{DeadLetter, MessageDocument, MessageDraft};
use artel_store::{Page, PageRequest};
use serde_json::{Map, Value};

use super::page::{cannot_list, not_listed, page_of, query_of};
use super::roll::AgentRoll;
use crate::command::Context;
use crate::failure::{Failure, chain, refused};
use crate::workshop::{BusAway, Store, open_office};

/// Milliseconds that a server is asked to wait for mail at once.
const WAIT_MS: u64 = 30_000;

/// A post office and its store.
pub(crate) struct Counter {
    pub(super) office: Office,
    pub(super) store: Store,
}

/// Where messages are sent and read.
pub(crate) enum MailDesk {
    Here(Counter),
    There(Client),
}

/// Why something came to nothing at the post office.
pub(crate) enum MailRefused {
    /// The post office refuses it: a code for programs, words for people, and what kind of failure it is.
    Told { code: String, message: String, kind: fn(String) -> Failure, hint: Option<&'static str> },
    /// It could not be asked.
    Failed(Failure),
}

/// A message that was written, as it is sent.
pub(crate) struct Written {
    /// As a document.
    pub(crate) document: Map<String, Value>,
    /// As it was understood.
    pub(crate) draft: MessageDraft,
}

impl MailDesk {
    /// Goes to the post office; the store is made when it is not there.
    pub(crate) async fn open(context: Context<'_>) -> Result<Self, Failure> {
        if let Some(client) = context.remote()? {
            return Ok(Self::There(client));
        }
        let store = Store::open(context.config).await?;
        let office = open_office(context, &store, BusAway::StandIn).await?;
        Ok(Self::Here(Counter { office, store }))
    }

    /// Returns the list of those who have a mailbox.
    pub(crate) fn roll(&self) -> AgentRoll<'_> {
        match self {
            Self::Here(counter) => AgentRoll::Here(&counter.store),
            Self::There(client) => AgentRoll::There(client),
        }
    }

    /// Sends a message, or publishes an event.
    pub(crate) async fn send(&self, written: Written) -> Result<SentMessage, MailRefused> {
        match self {
            Self::Here(counter) => {
                let sent = counter.office.send(written.draft).await.map_err(|error| not_sent(&error))?;
                Ok(SentMessage {
                    message: MessageDocument::of(&sent.message, None),
                    recipients: sent.recipients.iter().map(|agent| agent.0).collect(),
                    duplicate: sent.is_duplicate,
                })
            }
            Self::There(client) => {
                let sent = client.post(&ApiPath::new("/api/messages"), &written.document, None).await;
                sent.map_err(|error| told(&error))
            }
        }
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn request(
        &self,
        written: Written,
        timeout: Duration,
    ) -> Result<MessageDocument, MailRefused> {
        match self {
            Self::Here(counter) => match counter.office.request(written.draft, timeout).await {
                Ok(answer) => Ok(MessageDocument::of(&answer, None)),
                Err(error) => Err(no_answer(&error)),
            },
            Self::There(client) => {
                let timeout_ms = u64::try_from(timeout.as_millis()).ok();
                let path = ApiPath::new("/api/messages/request");
                let answer =
                    client.post_asking(&path, &WaitQuery { timeout_ms }, &written.document, None).await;
                answer.map_err(|error| told(&error))
            }
        }
    }

    /// Waits until an agent has unread mail, or the time is up.
    pub(crate) async fn wait_for_mail(&self, agent: AgentId, time: Duration) -> Result<(), MailRefused> {
        match self {
            Self::Here(counter) => {
                counter.office.wait_for_mail(agent, time).await.map(drop).map_err(|error| not_read(&error))
            }
            Self::There(client) => {
                let until = Clock::system().now() + u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                loop {
                    let left = until.millis_since(Clock::system().now());
                    let wish = MailWish {
                        agent_id: agent.0,
                        mark_read: Some(false),
                        with_read: false,
                        limit: Some(1),
                        wait_ms: Some(left.min(WAIT_MS)),
                    };
                    let found: Result<Mailbox, _> = client.post(&read_path(), &wish, None).await;
                    if !found.map_err(|error| told(&error))?.items.is_empty() || left <= WAIT_MS {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Reads a mailbox.
    pub(crate) async fn read(
        &self,
        agent: AgentId,
        options: ReadOptions,
    ) -> Result<Vec<MessageDocument>, MailRefused> {
        match self {
            Self::Here(counter) => {
                let mail = counter.office.read(agent, options).await.map_err(|error| not_read(&error))?;
                let shown = mail.iter().map(|mail| MessageDocument::of(&mail.message, Some(mail.is_read)));
                Ok(shown.collect())
            }
            Self::There(client) => {
                let wish = MailWish {
                    agent_id: agent.0,
                    mark_read: Some(options.mark_read),
                    with_read: options.with_read,
                    limit: u32::try_from(options.limit).ok(),
                    wait_ms: None,
                };
                let mailbox: Result<Mailbox, _> = client.post(&read_path(), &wish, None).await;
                Ok(mailbox.map_err(|error| told(&error))?.items)
            }
        }
    }

    /// Lists dead letters, the latest first. What expired since somebody last looked is one by then.
    pub(crate) async fn dead_letters(
        &self,
        agent: Option<AgentId>,
        page: &PageRequest,
    ) -> Result<Page<DeadMessage>, Failure> {
        match self {
            Self::Here(counter) => {
                sweep(&counter.office).await?;
                let dead = counter.office.dead_letters(agent, page).await;
                let dead = dead.map_err(|error| cannot_list(&error))?;
                Ok(Page { items: dead.items.iter().map(letter).collect(), next: dead.next })
            }
            Self::There(client) => {
                let (after, limit) = query_of(page);
                let query = DeadQuery { agent_id: agent.map(|agent| agent.0), after, limit };
                let path = ApiPath::new("/api/messages/dead-letters");
                let dead: Result<Paged<DeadMessage>, _> = client.ask(&path, &query).await;
                Ok(page_of(dead.map_err(|error| not_listed(&error))?, |letter| letter))
            }
        }
    }

    /// Counts messages.
    pub(crate) async fn counts(&self) -> Result<MessageCounts, Failure> {
        match self {
            Self::Here(counter) => {
                sweep(&counter.office).await?;
                let counted = counter.office.counts().await.map_err(|error| Failure::unavailable(&error))?;
                let dead = counted.dead.iter().map(|(reason, count)| (reason.as_str().to_owned(), *count));
                let dead: BTreeMap<String, u64> = dead.collect();
                Ok(MessageCounts { unread: counted.unread, read: counted.read, dead, unkept: counted.unkept })
            }
            Self::There(client) => {
                client.get(&ApiPath::new("/api/messages/counts")).await.map_err(|error| refused(&error))
            }
        }
    }
}

fn read_path() -> ApiPath {
    ApiPath::new("/api/messages/read")
}

async fn sweep(office: &Office) -> Result<(), Failure> {
    office.sweep().await.map_err(|error| Failure::unavailable(&error))?;
    Ok(())
}

fn letter(letter: &DeadLetter) -> DeadMessage {
    DeadMessage {
        message: MessageDocument::of(&letter.message, None),
        recipient_id: letter.recipient_id.map(|agent| agent.0),
        reason: letter.reason.as_str().to_owned(),
        at: letter.at,
    }
}

fn not_sent(error: &SendError) -> MailRefused {
    let kind: fn(String) -> Failure = match error {
        SendError::Invalid(_) => Failure::usage,
        SendError::UnknownSender(_)
        | SendError::SenderTerminated(_)
        | SendError::UnknownAgent(_)
        | SendError::AgentTerminated(_)
        | SendError::NoSuchRequest(_)
        | SendError::MailboxFull(_) => Failure::failed,
        SendError::Store(_) => Failure::missing,
    };
    MailRefused::Told { code: error.code().to_owned(), message: chain(error), kind, hint: hint(error.code()) }
}

fn no_answer(error: &RequestError) -> MailRefused {
    let kind: fn(String) -> Failure = match error {
        RequestError::Send(error) => return not_sent(error),
        RequestError::Deadlock { .. } | RequestError::Timeout(_) => Failure::failed,
        RequestError::Store(_) => Failure::missing,
    };
    MailRefused::Told { code: error.code().to_owned(), message: chain(error), kind, hint: hint(error.code()) }
}

fn not_read(error: &MailError) -> MailRefused {
    let kind: fn(String) -> Failure = match error {
        MailError::UnknownAgent(_) | MailError::AgentTerminated(_) => Failure::failed,
        MailError::Store(_) => Failure::missing,
    };
    MailRefused::Told { code: error.code().to_owned(), message: chain(error), kind, hint: None }
}

/// Reads the refusal of a server: the codes of the post office are in capitals.
fn told(error: &ClientError) -> MailRefused {
    let Some(code) = error.code().filter(|code| !code.contains(char::is_lowercase)) else {
        return MailRefused::Failed(refused(error));
    };
    let kind: fn(String) -> Failure = match error.status() {
        Some(400 | 422) => Failure::usage,
        Some(_) | None => Failure::failed,
    };
    MailRefused::Told { code: code.to_owned(), message: chain(error), kind, hint: hint(code) }
}

/// Says what to do next about a refusal.
fn hint(code: &str) -> Option<&'static str> {
    match code {
        "DEADLOCK" => Some("one of them has to answer before it asks"),
        "TIMEOUT" => Some("a late answer lies in the mailbox: `artel message read`"),
        _ => None,
    }
}
