//! `artel message dead` and `counts`.

use artel_agents::Office;
use artel_model::message::{DeadLetter, MessageDocument};
use artel_store::Page;
use serde_json::{Map, Value, json};

use super::open::Counter;
use crate::cli::DeadArgs;
use crate::command::Context;
use crate::command::runs::{cannot_list, page_of, tell_next};
use crate::failure::Failure;
use crate::output::{Table, Tone};
use crate::workshop::{find_agent, wait_for};

pub(crate) fn dead(context: Context<'_>, args: &DeadArgs) -> Result<(), Failure> {
    let page = wait_for(async {
        let Counter { office, store } = Counter::open(context).await?;
        let agent = match &args.agent {
            Some(agent) => Some(find_agent(&store, agent).await?.record.agent_id),
            None => None,
        };
        sweep(&office).await?;
        office.dead_letters(agent, &page_of(&args.page)).await.map_err(|error| cannot_list(&error))
    })?;
    let Page { items, next } = page;
    let output = context.output;
    if output.json {
        let items: Vec<Value> = items.iter().map(document).collect();
        output.document(&json!({"items": items, "next": next.map(|cursor| cursor.0)}));
        return Ok(());
    }
    let mut table = Table::new(&[Tone::Faint, Tone::Strong, Tone::Plain, Tone::Faint, Tone::Plain]);
    for letter in &items {
        let recipient = letter.recipient_id.map_or_else(|| "-".to_owned(), |agent| agent.to_string());
        let payload = Value::Object(letter.message.payload.object().clone()).to_string();
        let (at, reason) = (letter.at.to_string(), letter.reason.as_str().to_owned());
        table.row([at, reason, recipient, letter.message.id.to_string(), payload]);
    }
    output.data(&table.render(output));
    tell_next(context, items.len(), next.as_ref(), "dead letter");
    Ok(())
}

fn document(letter: &DeadLetter) -> Value {
    json!({
        "message": MessageDocument::of(&letter.message, None),
        "recipient_id": letter.recipient_id, "reason": letter.reason, "at": letter.at,
    })
}

pub(crate) fn counts(context: Context<'_>) -> Result<(), Failure> {
    let counted = wait_for(async {
        let Counter { office, .. } = Counter::open(context).await?;
        sweep(&office).await?;
        office.counts().await.map_err(|error| Failure::unavailable(&error))
    })?;
    let output = context.output;
    if output.json {
        let dead = counted.dead.iter().map(|(reason, count)| (reason.as_str().to_owned(), json!(count)));
        let dead: Map<String, Value> = dead.collect();
        output.document(&json!({"unread": counted.unread, "read": counted.read, "dead": dead}));
        return Ok(());
    }
    let mut table = Table::new(&[Tone::Accent, Tone::Plain]);
    table.row(["unread".to_owned(), counted.unread.to_string()]);
    table.row(["read".to_owned(), counted.read.to_string()]);
    for (reason, count) in &counted.dead {
        table.row([format!("dead: {}", reason.as_str()), count.to_string()]);
    }
    output.data(&table.render(output));
    Ok(())
}

/// What expired since somebody last looked is a dead letter by now.
async fn sweep(office: &Office) -> Result<(), Failure> {
    office.sweep().await.map_err(|error| Failure::unavailable(&error))?;
    Ok(())
}
