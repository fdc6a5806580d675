//! `artel message dead` and `counts`.

use artel_api::messages::MessageCounts;
use artel_store::Page;
use serde_json::{Value, json};

use crate::cli::DeadArgs;
use crate::command::Context;
use crate::command::runs::{page_of, tell_next};
use crate::desk::MailDesk;
use crate::failure::Failure;
use crate::output::{Table, Tone};
use crate::workshop::wait_for;

pub(crate) fn dead(context: Context<'_>, args: &DeadArgs) -> Result<(), Failure> {
    let page = wait_for(async {
        let desk = MailDesk::open(context).await?;
        let agent = match &args.agent {
            Some(agent) => Some(desk.roll().find(agent).await?.agent_id),
            None => None,
        };
        desk.dead_letters(agent, &page_of(&args.page)).await
    })?;
    let Page { items, next } = page;
    let output = context.output;
    if output.json {
        output.document(&json!({"items": items, "next": next.map(|cursor| cursor.0)}));
        return Ok(());
    }
    let mut table = Table::new(&[Tone::Faint, Tone::Strong, Tone::Plain, Tone::Faint, Tone::Plain]);
    for letter in &items {
        let recipient = letter.recipient_id.map_or_else(|| "-".to_owned(), |agent| agent.to_string());
        let payload = Value::Object(letter.message.payload.clone()).to_string();
        let (at, reason) = (letter.at.to_string(), letter.reason.clone());
        table.row([at, reason, recipient, letter.message.message_id.to_string(), payload]);
    }
    output.data(&table.render(output));
    tell_next(context, items.len(), next.as_ref(), "dead letter");
    Ok(())
}

pub(crate) fn counts(context: Context<'_>) -> Result<(), Failure> {
    let counted = wait_for(async { MailDesk::open(context).await?.counts().await })?;
    let output = context.output;
    if output.json {
        let MessageCounts { unread, read, dead, .. } = &counted;
        output.document(&json!({"unread": unread, "read": read, "dead": dead}));
        return Ok(());
    }
    let mut table = Table::new(&[Tone::Accent, Tone::Plain]);
    table.row(["unread".to_owned(), counted.unread.to_string()]);
    table.row(["read".to_owned(), counted.read.to_string()]);
    for (reason, count) in &counted.dead {
        table.row([format!("dead: {reason}"), count.to_string()]);
    }
    output.data(&table.render(output));
    Ok(())
}
