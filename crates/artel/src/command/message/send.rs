//! `artel message send` and `publish`.

use artel_agents::Sent;
use artel_model::message::{Address, MessageDocument};
use serde_json::{Value, json};

use super::draft::{To, draft, not_sent};
use super::open::Counter;
use crate::cli::{AgentRef, ContentArgs, PublishArgs, Recipient, SendArgs};
use crate::command::Context;
use crate::failure::Failure;
use crate::workshop::wait_for;

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
        let Counter { office, store } = Counter::open(context).await?;
        let draft = draft(context, &store, to, from, kind, content).await?;
        office.send(draft).await.map_err(|error| not_sent(context, &error))
    })?;
    let Sent { message, recipients, is_duplicate } = &sent;
    let output = context.output;
    if output.json {
        let mut document = json!(MessageDocument::of(message, None));
        document["recipients"] = json!(recipients);
        document["duplicate"] = Value::Bool(*is_duplicate);
        output.document(&document);
        return Ok(());
    }
    let whereto = match (&message.address, is_duplicate) {
        (_, true) => "was sent before".to_owned(),
        (Address::Topic(topic), false) => format!("published about {topic}"),
        (Address::Agent(agent), false) => format!("sent to {agent}"),
        (Address::Broadcast, false) => match recipients.len() {
            1 => "sent to 1 agent".to_owned(),
            count => format!("sent to {count} agents"),
        },
    };
    output.line(&format!("{}: {whereto}", message.id));
    if let Some(correlation) = message.correlation {
        output.talk(&format!("its correlation is {correlation}"));
    }
    Ok(())
}
