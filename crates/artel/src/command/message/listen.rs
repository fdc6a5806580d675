//! `artel message listen`.

use std::time::Duration;

use artel_agents::ListenError;
use artel_catalog::visible;
use artel_model::message::MessageDocument;
use serde_json::json;

use super::draft::{line, refuse};
use super::open::Counter;
use crate::cli::ListenArgs;
use crate::command::Context;
use crate::failure::{Failure, chain};
use crate::workshop::{Interrupts, wait_for};

pub(crate) fn listen(context: Context<'_>, args: &ListenArgs) -> Result<(), Failure> {
    let output = context.output;
    wait_for(async {
        let Counter { office, .. } = Counter::open(context).await?;
        let mut interrupts = Interrupts::listen()?;
        let listening = office.listen(args.pattern.clone(), usize::from(args.replay)).await;
        let mut listener = listening.map_err(|error| not_heard(context, &error))?;
        output.talk(&format!("listening to {}", args.pattern));
        let mut time_up = std::pin::pin!(time_up(args.timeout));
        let mut heard = 0;
        while args.limit.is_none_or(|limit| heard < limit) {
            tokio::select! {
                message = listener.next() => {
                    heard += 1;
                    if output.json {
                        output.line(&json!(MessageDocument::of(&message, None)).to_string());
                    } else {
                        output.line(&visible(&line(&message)));
                    }
                }
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

fn not_heard(context: Context<'_>, error: &ListenError) -> Failure {
    match error {
        ListenError::Replay(_) => refuse(context, error.code(), &chain(error), Failure::usage),
        ListenError::Store(_) => refuse(context, error.code(), &chain(error), Failure::missing),
    }
}
