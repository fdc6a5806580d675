//! `artel message dead` and `counts`.

use artel_api::Paged;
use artel_api::messages::{DeadQuery, MessageCounts};
use serde_json::{Value, json};

use crate::backend::Backend;
use crate::cli::DeadArgs;
use crate::command::Context;
use crate::command::runs::{page_of, tell_next};
use crate::failure::Failure;
use crate::output::{Table, Tone};
use crate::runtime::wait_for;

pub(crate) fn dead(context: Context<'_>, args: &DeadArgs) -> Result<(), Failure> {
    let page = wait_for(async {
        let backend = Backend::open_or_make(context).await?;
        let agent = match &args.agent {
            Some(agent) => Some(backend.find_agent(agent).await?.agent_id.0),
            None => None,
        };
        let (after, limit) = page_of(&args.page);
        Ok(backend.dead_letters(DeadQuery { agent_id: agent, after, limit }).await?)
    })?;
    let output = context.output;
    if output.json {
        output.document(&page);
        return Ok(());
    }
    let Paged { items, next } = page;
    let mut table = Table::new(&[Tone::Faint, Tone::Strong, Tone::Plain, Tone::Faint, Tone::Plain]);
    for letter in &items {
        let recipient = letter.recipient_id.map_or_else(|| "-".to_owned(), |agent| agent.to_string());
        let payload = Value::Object(letter.message.payload.clone()).to_string();
        let (at, reason) = (letter.at.to_string(), letter.reason.clone());
        table.row([at, reason, recipient, letter.message.message_id.to_string(), payload]);
    }
    output.data(&table.render(output));
    tell_next(context, items.len(), next.as_deref(), "dead letter");
    Ok(())
}

pub(crate) fn counts(context: Context<'_>) -> Result<(), Failure> {
    let counted = wait_for(async { Ok(Backend::open_or_make(context).await?.message_counts().await?) })?;
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
