//! `artel message listen`.

use std::time::Duration;

use artel_catalog::visible;
use artel_model::message::MessageDocument;
use serde_json::json;

use super::draft::{line, refused};
use crate::backend::Backend;
use crate::cli::ListenArgs;
use crate::command::Context;
use crate::failure::Failure;
use crate::runtime::{Interrupts, wait_for};

/// The kind of the event that says that some are missing.
const GAP: &str = "gap";

pub(crate) fn listen(context: Context<'_>, args: &ListenArgs) -> Result<(), Failure> {
    let output = context.output;
    wait_for(async {
        let backend = Backend::open_or_make(context).await?;
        let mut interrupts = Interrupts::listen()?;
        let listening = backend.listen(&args.pattern, args.replay).await;
        let mut events = listening.map_err(|error| refused(context, error))?;
        output.talk(&format!("listening to {}", args.pattern));
        let mut time_up = std::pin::pin!(time_up(args.timeout));
        let mut heard = 0;
        while args.limit.is_none_or(|limit| heard < limit) {
            tokio::select! {
                next = events.next() => match next? {
                    None => return Err(Failure::missing("no more events come")),
                    Some(event) if event.kind == GAP => {
                        output.talk("the connection broke, and events in between are not kept any more");
                    }
                    Some(event) => {
                        let message: MessageDocument = event.read()?;
                        heard += 1;
                        if output.json {
                            output.line(&json!(message).to_string());
                        } else {
                            output.line(&visible(&line(&message)));
                        }
                    }
                },
                () = &mut time_up => break,
                () = interrupts.next() => break,
            }
        }
        output.talk(&if heard == 1 { "1 event".to_owned() } else { format!("{heard} events") });
        Ok(())
    })
}

async fn time_up(seconds: Option<u64>) {
    match seconds {
        Some(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
        None => std::future::pending().await,
    }
}
