//! `artel message listen`.

use std::time::Duration;

use artel_catalog::visible;
use serde_json::json;

use super::draft::{line, refused};
use crate::cli::ListenArgs;
use crate::command::Context;
use crate::desk::{Heard, MailDesk};
use crate::failure::Failure;
use crate::workshop::{Interrupts, wait_for};

pub(crate) fn listen(context: Context<'_>, args: &ListenArgs) -> Result<(), Failure> {
    let output = context.output;
    wait_for(async {
        let desk = MailDesk::open(context).await?;
        let mut interrupts = Interrupts::listen()?;
        let listening = desk.listen(&args.pattern, args.replay).await;
        let mut listener = listening.map_err(|refusal| refused(context, refusal))?;
        output.talk(&format!("listening to {}", args.pattern));
        let mut time_up = std::pin::pin!(time_up(args.timeout));
        let mut heard = 0;
        while args.limit.is_none_or(|limit| heard < limit) {
            tokio::select! {
                next = listener.next() => match next? {
                    Heard::Message(message) => {
                        heard += 1;
                        if output.json {
                            output.line(&json!(message).to_string());
                        } else {
                            output.line(&visible(&line(&message)));
                        }
                    }
                    Heard::Gap => output.talk("the connection broke, and events in between are not kept any more"),
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
