//! `artel message send` and `publish`.

use artel_api::messages::SentMessage;
use artel_model::message::MessageKind;
use serde_json::{Value, json};

use super::draft::{To, draft, refused};
use crate::backend::Backend;
use crate::cli::{AgentRef, ContentArgs, PublishArgs, Recipient, SendArgs};
use crate::command::Context;
use crate::failure::Failure;
use crate::runtime::wait_for;

pub(crate) fn send(context: Context<'_>, args: &SendArgs) -> Result<(), Failure> {
    let usual = match args.to {
        Recipient::Broadcast => "broadcast",
        Recipient::Agent(_) => "event",
    };
    let kind = args.kind.as_deref().unwrap_or(usual);
    dispatch(context, To::Somebody(&args.to), args.from.as_ref(), kind, &args.content)
}

pub(crate) fn publish(context: Context<'_>, args: &PublishArgs) -> Result<(), Failure> {
    dispatch(context, To::Topic(&args.topic), args.from.as_ref(), &args.kind, &args.content)
}

fn dispatch(
    context: Context<'_>,
    to: To<'_>,
    from: Option<&AgentRef>,
    kind: &str,
    content: &ContentArgs,
) -> Result<(), Failure> {
    let sent = wait_for(async {
        let backend = Backend::open_or_make(context).await?;
        let document = draft(context, &backend, to, from, kind, content).await?;
        backend.send(&document).await.map_err(|error| refused(context, error))
    })?;
    let SentMessage { message, recipients, duplicate } = &sent;
    let output = context.output;
    if output.json {
        let mut document = json!(message);
        document["recipients"] = json!(recipients);
        document["duplicate"] = Value::Bool(*duplicate);
        output.document(&document);
        return Ok(());
    }
    let whereto = match (&message.topic, message.recipient_id.as_deref()) {
        _ if *duplicate => "was sent before".to_owned(),
        (Some(topic), _) => format!("published about {topic}"),
        (None, Some(recipient)) if recipient != MessageKind::Broadcast.as_str() => {
            format!("sent to {recipient}")
        }
        (None, Some(_) | None) => match recipients.len() {
            1 => "sent to 1 agent".to_owned(),
            count => format!("sent to {count} agents"),
        },
    };
    output.line(&format!("{}: {whereto}", message.message_id));
    if let Some(correlation) = message.correlation_id {
        output.talk(&format!("its correlation is {correlation}"));
    }
    Ok(())
}
