//! What somebody wants to send, as the document that every way of sending reads; and why it was not sent.

use artel_agents::SendError;
use artel_model::message::{DraftProblem, Message, MessageDocument, MessageDraft};
use serde_json::{Map, Value, json};

use crate::cli::{AgentRef, ContentArgs, Recipient};
use crate::command::Context;
use crate::command::agent::payload_of;
use crate::failure::{Failure, chain};
use crate::workshop::{Store, find_agent};

/// To whom a message goes, or what it is about.
pub(super) enum To<'a> {
    Somebody(&'a Recipient),
    Topic(&'a str),
}

/// Makes the draft of what was typed.
pub(super) async fn draft(
    context: Context<'_>,
    store: &Store,
    to: To<'_>,
    from: Option<&AgentRef>,
    kind: &str,
    content: &ContentArgs,
) -> Result<MessageDraft, Failure> {
    let mut document = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            document.insert(name.to_owned(), value);
        }
    };
    match to {
        To::Topic(topic) => put("topic", Some(topic.into())),
        To::Somebody(Recipient::Broadcast) => put("recipient_id", Some("broadcast".into())),
        To::Somebody(Recipient::Agent(agent)) => put("recipient_id", Some(id(store, agent).await?.into())),
    }
    let sender = match from {
        Some(agent) => id(store, agent).await?,
        None => "system".to_owned(),
    };
    put("sender_id", Some(sender.into()));
    put("message_type", Some(kind.into()));
    put("payload", Some(Value::Object(payload_of(&content.payload)?)));
    put("priority", content.priority.map(Value::from));
    put("ttl", content.ttl.map(Value::from));
    put("correlation_id", content.correlation.clone().map(Value::from));
    put("message_id", content.id.clone().map(Value::from));
    MessageDraft::read(&document).map_err(|problems| invalid(context, &problems))
}

async fn id(store: &Store, agent: &AgentRef) -> Result<String, Failure> {
    Ok(find_agent(store, agent).await?.record.agent_id.to_string())
}

/// Says what is wrong with what was typed.
fn invalid(context: Context<'_>, problems: &[DraftProblem]) -> Failure {
    let lines: Vec<String> = problems
        .iter()
        .map(|problem| format!("`{}`: {}", problem.path.trim_start_matches('/'), problem.message))
        .collect();
    refuse(context, "INVALID_MESSAGE", &lines.join("; "), Failure::usage)
}

/// Says why a message was not sent.
pub(super) fn not_sent(context: Context<'_>, error: &SendError) -> Failure {
    let kind = match error {
        SendError::Invalid(problems) => return invalid(context, problems),
        SendError::UnknownSender(_)
        | SendError::SenderTerminated(_)
        | SendError::UnknownAgent(_)
        | SendError::AgentTerminated(_)
        | SendError::NoSuchRequest(_)
        | SendError::MailboxFull(_) => Failure::failed,
        SendError::Store(_) => Failure::missing,
    };
    refuse(context, error.code(), &chain(error), kind)
}

/// Tells a refusal with its code: as data, or as the error of the command.
pub(super) fn refuse(
    context: Context<'_>,
    code: &str,
    message: &str,
    kind: impl Fn(String) -> Failure,
) -> Failure {
    if context.output.json {
        context.output.document(&json!({"error": code, "message": message}));
        return kind(String::new());
    }
    kind(format!("{code}: {message}"))
}

/// Writes a message on one line.
pub(super) fn line(message: &Message) -> String {
    let shown = MessageDocument::of(message, None);
    let about = shown.topic.unwrap_or_else(|| shown.message_type.as_str().to_owned());
    format!("{} {about} from {} {}", shown.timestamp, shown.sender_id, Value::Object(shown.payload))
}
