//! `artel message request`.

use std::time::Duration;

use artel_agents::RequestError;
use artel_model::message::{MessageDocument, MessageKind};

use super::draft::{To, draft, not_sent, refuse};
use super::open::Counter;
use crate::cli::RequestArgs;
use crate::command::Context;
use crate::failure::{Failure, chain};
use crate::workshop::{Interrupts, wait_for};

pub(crate) fn request(context: Context<'_>, args: &RequestArgs) -> Result<(), Failure> {
    let answer = wait_for(async {
        let Counter { office, store } = Counter::open(context).await?;
        let draft =
            draft(context, &store, To::Somebody(&args.to), Some(&args.from), "request", &args.content)
                .await?;
        let mut interrupts = Interrupts::listen()?;
        context.output.talk(&format!("waiting for an answer, at most {} s", args.timeout));
        tokio::select! {
            answer = office.request(draft, Duration::from_secs(args.timeout)) => {
                answer.map_err(|error| no_answer(context, &error))
            }
            () = interrupts.next() => Err(Failure::failed("stopped waiting; an answer would lie in the mailbox")),
        }
    })?;
    let shown = MessageDocument::of(&answer, None);
    if context.output.json {
        context.output.document(&shown);
    } else {
        context.output.fields(&shown.payload);
    }
    if answer.kind == MessageKind::Error {
        return Err(Failure::failed(format!("agent {} answered with an error", answer.sender)));
    }
    Ok(())
}

fn no_answer(context: Context<'_>, error: &RequestError) -> Failure {
    match error {
        RequestError::Send(error) => not_sent(context, error),
        RequestError::Deadlock { .. } => refuse(context, error.code(), &chain(error), |message| {
            Failure::failed(message).hint("one of them has to answer before it asks")
        }),
        RequestError::Timeout(_) => refuse(context, error.code(), &chain(error), |message| {
            Failure::failed(message).hint("a late answer lies in the mailbox: `artel message read`")
        }),
        RequestError::Store(_) => refuse(context, error.code(), &chain(error), Failure::missing),
    }
}
