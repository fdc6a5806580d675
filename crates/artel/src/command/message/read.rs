//! `artel message read`.

use std::time::Duration;

use artel_agents::ReadOptions;
use serde_json::{Value, json};

use super::draft::refused;
use crate::cli::ReadArgs;
use crate::command::Context;
use crate::desk::MailDesk;
use crate::failure::Failure;
use crate::output::{Table, Tone};
use crate::workshop::{Interrupts, wait_for};

pub(crate) fn read(context: Context<'_>, args: &ReadArgs) -> Result<(), Failure> {
    let mail = wait_for(async {
        let desk = MailDesk::open(context).await?;
        let agent = desk.roll().find(&args.agent).await?.agent_id;
        if let Some(seconds) = args.wait {
            let mut interrupts = Interrupts::listen()?;
            context.output.talk(&format!("waiting for mail, at most {seconds} s"));
            tokio::select! {
                waited = desk.wait_for_mail(agent, Duration::from_secs(seconds)) => {
                    waited.map_err(|refusal| refused(context, refusal))?;
                }
                () = interrupts.next() => return Err(Failure::failed("stopped waiting")),
            }
        }
        let options =
            ReadOptions { mark_read: !args.peek, with_read: args.all, limit: usize::from(args.limit) };
        desk.read(agent, options).await.map_err(|refusal| refused(context, refusal))
    })?;
    let output = context.output;
    if output.json {
        output.document(&json!({"items": mail}));
        return Ok(());
    }
    let mut table =
        Table::new(&[Tone::Faint, Tone::Plain, Tone::Accent, Tone::Strong, Tone::Faint, Tone::Plain]);
    for shown in &mail {
        table.row([
            shown.timestamp.to_string(),
            if shown.read == Some(true) { "read" } else { "new" }.to_owned(),
            format!("{} {}", shown.priority, shown.message_type.as_str()),
            shown.sender_id.clone(),
            shown.message_id.to_string(),
            Value::Object(shown.payload.clone()).to_string(),
        ]);
    }
    output.data(&table.render(output));
    output.talk(&if mail.len() == 1 { "1 message".to_owned() } else { format!("{} messages", mail.len()) });
    Ok(())
}
