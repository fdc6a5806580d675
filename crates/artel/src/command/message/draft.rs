//! What somebody wants to send, as the document that every way of sending reads; and why it was not sent.

use artel_api::ErrorKind;
use artel_model::message::{DraftProblem, MessageDocument, MessageDraft};
use serde_json::{Map, Value, json};

use crate::backend::{Backend, BackendError};
use crate::cli::{AgentRef, ContentArgs, Recipient};
use crate::command::Context;
use crate::command::agent::payload_of;
use crate::failure::Failure;

/// To whom a message goes, or what it is about.
pub(super) enum To<'a> {
    Somebody(&'a Recipient),
    Topic(&'a str),
}

/// Makes the draft of what was typed.
pub(super) async fn draft(
    context: Context<'_>,
    backend: &Backend,
    to: To<'_>,
    from: Option<&AgentRef>,
    kind: &str,
    content: &ContentArgs,
) -> Result<Map<String, Value>, Failure> {
    let mut document = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            document.insert(name.to_owned(), value);
        }
    };
    match to {
        To::Topic(topic) => put("topic", Some(topic.into())),
        To::Somebody(Recipient::Broadcast) => put("recipient_id", Some("broadcast".into())),
        To::Somebody(Recipient::Agent(agent)) => put("recipient_id", Some(id(backend, agent).await?.into())),
    }
    let sender = match from {
        Some(agent) => id(backend, agent).await?,
        None => "system".to_owned(),
    };
    put("sender_id", Some(sender.into()));
    put("message_type", Some(kind.into()));
    put("payload", Some(Value::Object(payload_of(&content.payload)?)));
    put("priority", content.priority.map(Value::from));
    put("ttl", content.ttl.map(Value::from));
    put("correlation_id", content.correlation.clone().map(Value::from));
    put("message_id", content.id.clone().map(Value::from));
    MessageDraft::read(&document).map_err(|problems| invalid(context, &problems))?;
    Ok(document)
}

async fn id(backend: &Backend, agent: &AgentRef) -> Result<String, Failure> {
    Ok(backend.find_agent(agent).await?.agent_id.to_string())
}

/// Says what is wrong with what was typed.
fn invalid(context: Context<'_>, problems: &[DraftProblem]) -> Failure {
    let lines: Vec<String> = problems
        .iter()
        .map(|problem| format!("`{}`: {}", problem.path.trim_start_matches('/'), problem.message))
        .collect();
    refuse(context, "INVALID_MESSAGE", &lines.join("; "), Failure::usage)
}

/// Says why something came to nothing at the post office, and what to do next.
pub(super) fn refused(context: Context<'_>, error: BackendError) -> Failure {
    let Some(code) = error.code().filter(|code| !code.contains(char::is_lowercase)) else {
        return error.into();
    };
    let kind: fn(String) -> Failure = match error.kind() {
        Some(ErrorKind::BadRequest | ErrorKind::Unprocessable) => Failure::usage,
        Some(_) | None => Failure::failed,
    };
    let failure = refuse(context, code, &error.message(), kind);
    match code {
        "DEADLOCK" => failure.hint("one of them has to answer before it asks"),
        "TIMEOUT" => failure.hint("a late answer lies in the mailbox: `artel message read`"),
        _ => failure,
    }
}

/// Tells a refusal with its code: as data, or as the error of the command.
fn refuse(context: Context<'_>, code: &str, message: &str, kind: fn(String) -> Failure) -> Failure {
    if context.output.json {
        context.output.document(&json!({"error": code, "message": message}));
        return kind(String::new());
    }
    kind(format!("{code}: {message}"))
}

/// Writes a message on one line.
pub(super) fn line(shown: &MessageDocument) -> String {
    let about = shown.topic.as_deref().unwrap_or(shown.message_type.as_str());
    let payload = Value::Object(shown.payload.clone());
    format!("{} {about} from {} {payload}", shown.timestamp, shown.sender_id)
}
