//! `artel message read`.

use std::time::Duration;

use artel_agents::{MailError, ReadOptions};
use artel_model::message::MessageDocument;
use serde_json::{Value, json};

use super::draft::refuse;
use super::open::Counter;
use crate::cli::ReadArgs;
use crate::command::Context;
use crate::failure::{Failure, chain};
use crate::output::{Table, Tone};
use crate::workshop::{Interrupts, find_agent, wait_for};

pub(crate) fn read(context: Context<'_>, args: &ReadArgs) -> Result<(), Failure> {
    let mail = wait_for(async {
        let Counter { office, store } = Counter::open(context).await?;
        let agent = find_agent(&store, &args.agent).await?.record.agent_id;
        if let Some(seconds) = args.wait {
            let mut interrupts = Interrupts::listen()?;
            context.output.talk(&format!("waiting for mail, at most {seconds} s"));
            tokio::select! {
                waited = office.wait_for_mail(agent, Duration::from_secs(seconds)) => {
                    waited.map_err(|error| not_read(context, &error))?;
                }
                () = interrupts.next() => return Err(Failure::failed("stopped waiting")),
            }
        }
        let options =
            ReadOptions { mark_read: !args.peek, with_read: args.all, limit: usize::from(args.limit) };
        office.read(agent, options).await.map_err(|error| not_read(context, &error))
    })?;
    let output = context.output;
    if output.json {
        let items: Vec<Value> =
            mail.iter().map(|mail| json!(MessageDocument::of(&mail.message, Some(mail.is_read)))).collect();
        output.document(&json!({"items": items}));
        return Ok(());
    }
    let mut table =
        Table::new(&[Tone::Faint, Tone::Plain, Tone::Accent, Tone::Strong, Tone::Faint, Tone::Plain]);
    for mail in &mail {
        let shown = MessageDocument::of(&mail.message, Some(mail.is_read));
        table.row([
            shown.timestamp.to_string(),
            if mail.is_read { "read" } else { "new" }.to_owned(),
            format!("{} {}", shown.priority, shown.message_type.as_str()),
            shown.sender_id,
            shown.message_id.to_string(),
            Value::Object(shown.payload).to_string(),
        ]);
    }
    output.data(&table.render(output));
    output.talk(&if mail.len() == 1 { "1 message".to_owned() } else { format!("{} messages", mail.len()) });
    Ok(())
}

fn not_read(context: Context<'_>, error: &MailError) -> Failure {
    match error {
        MailError::UnknownAgent(_) | MailError::AgentTerminated(_) => {
            refuse(context, error.code(), &chain(error), Failure::failed)
        }
        MailError::Store(_) => refuse(context, error.code(), &chain(error), Failure::missing),
    }
}
