//! Events that are followed while they happen: every event has an id, so that a reader who comes back misses nothing.

use std::fmt::Display;

use async_trait::async_trait;
use serde::Serialize;

/// One event of a stream.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StreamEvent {
    /// What a reader names to go on after it.
    pub id: String,
    /// What kind of event it is.
    pub kind: String,
    /// What happened, as JSON.
    pub data: String,
}

impl StreamEvent {
    /// Writes an event with an id, a kind and a document.
    pub fn new(id: impl Display, kind: &str, data: &impl Serialize) -> Self {
        let data = serde_json::to_string(data).unwrap_or_default();
        Self { id: id.to_string(), kind: kind.to_owned(), data }
    }
}

/// What comes next in a stream.
pub enum Next {
    /// These events.
    Events(Vec<StreamEvent>),
    /// This event, and nothing after it.
    Last(StreamEvent),
    /// Nothing more: a reader who wants to know more comes back.
    Over,
}

/// Where the events of a stream come from.
#[async_trait]
pub trait Source: Send + 'static {
    /// Waits for what comes next. Giving up the wait loses nothing.
    async fn next(&mut self) -> Next;
}
