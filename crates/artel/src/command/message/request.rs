//! `artel message request`.

use std::time::Duration;

use artel_model::message::MessageKind;

use super::draft::{To, draft, refused};
use crate::backend::Backend;
use crate::cli::RequestArgs;
use crate::command::Context;
use crate::failure::Failure;
use crate::runtime::{Interrupts, wait_for};

pub(crate) fn request(context: Context<'_>, args: &RequestArgs) -> Result<(), Failure> {
    let answer = wait_for(async {
        let backend = Backend::open_or_make(context).await?;
        let document =
            draft(context, &backend, To::Somebody(&args.to), Some(&args.from), "request", &args.content)
                .await?;
        let mut interrupts = Interrupts::listen()?;
        context.output.talk(&format!("waiting for an answer, at most {} s", args.timeout));
        tokio::select! {
            answer = backend.request(&document, Duration::from_secs(args.timeout)) => {
                answer.map_err(|error| refused(context, error))
            }
            () = interrupts.next() => Err(Failure::failed("stopped waiting; an answer would lie in the mailbox")),
        }
    })?;
    if context.output.json {
        context.output.document(&answer);
    } else {
        context.output.fields(&answer.payload);
    }
    if answer.message_type == MessageKind::Error {
        return Err(Failure::failed(format!("agent {} answered with an error", answer.sender_id)));
    }
    Ok(())
}
