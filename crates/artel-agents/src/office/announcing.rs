//! The post office as agents see it.

use std::error::Error;

use artel_model::message::{Address, Message, MessageDraft};
use async_trait::async_trait;

use super::post_office::Office;
use crate::announce::Announce;

#[async_trait]
impl Announce for Office {
    async fn announce(&self, event: Message) {
        match event.address {
            Address::Topic(_) => {}
            Address::Agent(_) | Address::Broadcast => {
                tracing::warn!(message = %event.id, "only what is about a topic is announced");
                return;
            }
        }
        let id = event.id;
        if let Err(error) = self.shared.publish(event).await {
            tracing::warn!(message = %id, error = &error as &dyn Error, "an event is not kept");
        }
    }

    async fn send(&self, draft: MessageDraft) -> Result<Message, String> {
        match Office::send(self, draft).await {
            Ok(sent) => Ok(sent.message),
            Err(error) => Err(format!("{}: {}", error.code(), chain(&error))),
        }
    }
}

/// Tells an error with everything that led to it.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}
