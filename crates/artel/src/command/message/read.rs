//! `artel message read`.

use std::time::Duration;

use artel_api::messages::MailRequest;
use serde_json::{Value, json};

use super::draft::refused;
use crate::backend::Backend;
use crate::cli::ReadArgs;
use crate::command::Context;
use crate::failure::Failure;
use crate::output::{Table, Tone};
use crate::runtime::{Interrupts, wait_for};

pub(crate) fn read(context: Context<'_>, args: &ReadArgs) -> Result<(), Failure> {
    let mail = wait_for(async {
        let backend = Backend::open_or_make(context).await?;
        let agent = backend.find_agent(&args.agent).await?.agent_id;
        if let Some(seconds) = args.wait {
            let mut interrupts = Interrupts::listen()?;
            context.output.talk(&format!("waiting for mail, at most {seconds} s"));
            tokio::select! {
                waited = backend.wait_for_mail(agent, Duration::from_secs(seconds)) => {
                    waited.map_err(|error| refused(context, error))?;
                }
                () = interrupts.next() => return Err(Failure::failed("stopped waiting")),
            }
        }
        let request = MailRequest {
            agent_id: agent.0,
            mark_read: Some(!args.peek),
            with_read: args.all,
            limit: Some(u32::from(args.limit)),
            wait_ms: None,
        };
        let mailbox = backend.read_mail(request).await.map_err(|error| refused(context, error))?;
        Ok(mailbox.items)
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
