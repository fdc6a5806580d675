//! Where agents tell what happens, and send their messages. The post office answers to it; tests may listen instead.

use artel_model::message::{Message, MessageDraft};
use async_trait::async_trait;

/// Takes events of topics and messages of agents.
#[async_trait]
pub trait Announce: Send + Sync {
    /// Tells whoever listens that something happened. What cannot be told is only logged: the work has been done.
    async fn announce(&self, event: Message);

    /// Sends a message of an agent, and says why it was refused otherwise.
    async fn send(&self, draft: MessageDraft) -> Result<Message, String>;
}

/// Tells nobody anything.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

#[async_trait]
impl Announce for Silent {
    async fn announce(&self, _: Message) {}

    async fn send(&self, _: MessageDraft) -> Result<Message, String> {
        Err("there is no post office".to_owned())
    }
}
