//! What somebody wants to send, as the document that every way of sending reads; and why it was not sent.

use artel_model::message::{DraftProblem, MessageDocument, MessageDraft};
use serde_json::{Map, Value, json};

use crate::cli::{AgentRef, ContentArgs, Recipient};
use crate::command::Context;
use crate::command::agent::payload_of;
use crate::desk::{MailDesk, MailRefused, Written};
use crate::failure::Failure;

/// To whom a message goes, or what it is about.
pub(super) enum To<'a> {
    Somebody(&'a Recipient),
    Topic(&'a str),
}

/// Makes the draft of what was typed.
pub(super) async fn draft(
    context: Context<'_>,
    desk: &MailDesk,
    to: To<'_>,
    from: Option<&AgentRef>,
    kind: &str,
    content: &ContentArgs,
) -> Result<Written, Failure> {
    let mut document = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            document.insert(name.to_owned(), value);
        }
    };
    match to {
        To::Topic(topic) => put("topic", Some(topic.into())),
        To::Somebody(Recipient::Broadcast) => put("recipient_id", Some("broadcast".into())),
        To::Somebody(Recipient::Agent(agent)) => put("recipient_id", Some(id(desk, agent).await?.into())),
    }
    let sender = match from {
        Some(agent) => id(desk, agent).await?,
        None => "system".to_owned(),
    };
    put("sender_id", Some(sender.into()));
    put("message_type", Some(kind.into()));
    put("payload", Some(Value::Object(payload_of(&content.payload)?)));
    put("priority", content.priority.map(Value::from));
    put("ttl", content.ttl.map(Value::from));
    put("correlation_id", content.correlation.clone().map(Value::from));
    put("message_id", content.id.clone().map(Value::from));
    let draft = MessageDraft::read(&document).map_err(|problems| invalid(context, &problems))?;
    Ok(Written { document, draft })
}

async fn id(desk: &MailDesk, agent: &AgentRef) -> Result<String, Failure> {
    Ok(desk.roll().find(agent).await?.agent_id.to_string())
}

/// Says what is wrong with what was typed.
fn invalid(context: Context<'_>, problems: &[DraftProblem]) -> Failure {
    let lines: Vec<String> = problems
        .iter()
        .map(|problem| format!("`{}`: {}", problem.path.trim_start_matches('/'), problem.message))
        .collect();
    refuse(context, "INVALID_MESSAGE", &lines.join("; "), Failure::usage)
}

/// Says why something came to nothing at the post office.
pub(super) fn refused(context: Context<'_>, refusal: MailRefused) -> Failure {
    match refusal {
        MailRefused::Failed(failure) => failure,
        MailRefused::Told { code, message, kind, hint } => {
            let failure = refuse(context, &code, &message, kind);
            match hint {
                Some(hint) => failure.hint(hint),
                None => failure,
            }
        }
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
