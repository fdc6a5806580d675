//! Messages of a caller's agents. Only they can be the sender, and only they and their kin the recipient; an administrator may
//! speak for everybody and to everybody.

use std::time::Duration;

use artel_agents::{ReadOptions, SendError, Sent};
use artel_api::Paged;
use artel_api::messages::{
    DeadMessage, DeadQuery, MailRequest, Mailbox, Marked, MessageCounts, ReadMark, SentMessage, WaitQuery,
};
use artel_model::access::Principal;
use artel_model::id::{AgentId, MessageId};
use artel_model::limit::{API_PAGE_ITEMS, API_PAGE_ITEMS_MAX, API_WAIT_MS, MAILBOX_MAX};
use artel_model::message::{Address, DeadLetter, MessageDocument, MessageDraft, MessageKind, Sender};
use serde_json::{Map, Value};

use super::owned::own_agent;
use super::page::{page_request, paged, wait_ms};
use crate::app::App;
use crate::error::OperationError;

/// Sends a message, or publishes an event.
pub async fn send(
    app: &App,
    caller: &Principal,
    document: &Map<String, Value>,
) -> Result<SentMessage, OperationError> {
    let draft = draft(app, caller, document).await?;
    let Sent { message, recipients, is_duplicate } = app.office().send(draft).await?;
    Ok(SentMessage {
        message: MessageDocument::of(&message, None),
        recipients: recipients.iter().map(|agent| agent.0).collect(),
        duplicate: is_duplicate,
    })
}

/// Publishes an event about a topic, and nothing else.
pub async fn publish(
    app: &App,
    caller: &Principal,
    mut document: Map<String, Value>,
) -> Result<SentMessage, OperationError> {
    document.entry("message_type").or_insert_with(|| MessageKind::Event.as_str().into());
    if document.get("topic").is_none_or(Value::is_null) {
        return Err(OperationError::unprocessable(
            "INVALID_MESSAGE",
            "what is published is about a topic: say `topic`",
        ));
    }
    send(app, caller, &document).await
}

/// Sends a request and waits for its answer.
pub async fn request(
    app: &App,
    caller: &Principal,
    mut document: Map<String, Value>,
    query: WaitQuery,
) -> Result<MessageDocument, OperationError> {
    document.entry("message_type").or_insert_with(|| MessageKind::Request.as_str().into());
    let millis = wait_ms("timeout_ms", query.timeout_ms.unwrap_or(API_WAIT_MS), 1)?;
    let draft = draft(app, caller, &document).await?;
    let answer = app.office().request(draft, Duration::from_millis(millis)).await?;
    Ok(MessageDocument::of(&answer, None))
}

/// Reads a draft, and checks that the caller may send it.
async fn draft(
    app: &App,
    caller: &Principal,
    document: &Map<String, Value>,
) -> Result<MessageDraft, OperationError> {
    let draft = MessageDraft::read(document).map_err(SendError::Invalid)?;
    match draft.sender {
        Sender::System if caller.is_admin() => {}
        Sender::System => {
            return Err(OperationError::forbidden(
                "Only an administrator speaks as `system`; say an agent of yours.",
            ));
        }
        Sender::Agent(sender) => drop(own_agent(app, caller, sender).await?),
    }
    if caller.is_admin() {
        return Ok(draft);
    }
    match draft.address {
        Address::Agent(recipient) => {
            let row = app.stores().agents.agent(recipient).await?;
            match row.is_some_and(|row| caller.owns(row.record.owner())) {
                true => Ok(draft),
                false => Err(OperationError::forbidden(
                    "A message goes to an agent of the same owner; only an administrator may write to others.",
                )),
            }
        }
        Address::Broadcast => Err(OperationError::forbidden(
            "A broadcast reaches the agents of everybody; only an administrator may send one.",
        )),
        Address::Topic(_) => Ok(draft),
    }
}

/// Reads a mailbox; what is returned counts as read, unless that is not wanted.
pub async fn read_mail(app: &App, caller: &Principal, wish: MailRequest) -> Result<Mailbox, OperationError> {
    let agent = AgentId(wish.agent_id);
    own_agent(app, caller, agent).await?;
    let limit = mail_limit(wish.limit)?;
    let millis = wait_ms("wait_ms", wish.wait_ms.unwrap_or(0), 0)?;
    if millis > 0 {
        app.office().wait_for_mail(agent, Duration::from_millis(millis)).await?;
    }
    let options = ReadOptions { mark_read: wish.mark_read.unwrap_or(true), with_read: wish.with_read, limit };
    let mail = app.office().read(agent, options).await?;
    let items = mail.iter().map(|mail| MessageDocument::of(&mail.message, Some(mail.is_read)));
    Ok(Mailbox { items: items.collect() })
}

/// Returns how many messages were asked for: a whole mailbox can be read at once.
fn mail_limit(asked: Option<u32>) -> Result<usize, OperationError> {
    let limit = asked.map_or(API_PAGE_ITEMS, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    match limit {
        1..=MAILBOX_MAX => Ok(limit),
        _ => Err(OperationError::bad_request("invalid_query", format!("`limit` is from 1 to {MAILBOX_MAX}"))),
    }
}

/// Marks messages as read.
pub async fn mark_read(app: &App, caller: &Principal, mark: ReadMark) -> Result<Marked, OperationError> {
    let agent = AgentId(mark.agent_id);
    own_agent(app, caller, agent).await?;
    if mark.message_ids.len() > API_PAGE_ITEMS_MAX {
        let message = format!("at most {API_PAGE_ITEMS_MAX} messages are marked at once");
        return Err(OperationError::unprocessable("invalid_body", message));
    }
    let messages: Vec<MessageId> = mark.message_ids.into_iter().map(MessageId).collect();
    Ok(Marked { marked: app.office().mark_read(agent, &messages).await? })
}

/// Lists dead letters, the latest first.
pub async fn dead_letters(
    app: &App,
    caller: &Principal,
    query: DeadQuery,
) -> Result<Paged<DeadMessage>, OperationError> {
    let recipient = query.agent_id.map(AgentId);
    match recipient {
        Some(agent) => drop(own_agent(app, caller, agent).await?),
        None if caller.is_admin() => {}
        None => {
            return Err(OperationError::forbidden(
                "Only an administrator sees everybody's dead letters; say `agent_id`.",
            ));
        }
    }
    // What expired since somebody last looked is a dead letter by now.
    app.office().sweep().await?;
    let page = app.office().dead_letters(recipient, &page_request(query.after, query.limit)?).await?;
    Ok(paged(page, |letter: DeadLetter| DeadMessage {
        message: MessageDocument::of(&letter.message, None),
        recipient_id: letter.recipient_id.map(|agent| agent.0),
        reason: letter.reason.as_str().to_owned(),
        at: letter.at,
    }))
}

/// Counts the messages of everybody.
pub async fn counts(app: &App) -> Result<MessageCounts, OperationError> {
    app.office().sweep().await?;
    let counted = app.office().counts().await?;
    Ok(MessageCounts {
        unread: counted.unread,
        read: counted.read,
        dead: counted.dead.iter().map(|(reason, count)| (reason.as_str().to_owned(), *count)).collect(),
        unkept: counted.unkept,
    })
}
