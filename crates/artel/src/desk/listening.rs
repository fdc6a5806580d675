//! Events about topics, as they come.

use artel_agents::{ListenError, Listener};
use artel_api::client::{ApiPath, Event, Events};
use artel_api::events::EventsQuery;
use artel_model::message::{MessageDocument, TopicPattern};

use super::log::known;
use super::mail::{MailDesk, MailRefused};
use crate::failure::{Failure, chain, refused};

/// The kind of the event that says that some are missing.
const GAP: &str = "gap";

/// Somebody who listens.
pub(crate) enum Listening {
    Here(Box<Listener>),
    There(Box<Events>),
}

/// What somebody who listens hears.
pub(crate) enum Heard {
    Message(Box<MessageDocument>),
    /// Events came while nobody listened, and are not kept any more.
    Gap,
}

impl MailDesk {
    /// Listens to topics, beginning with the last `replay` events.
    pub(crate) async fn listen(&self, pattern: &TopicPattern, replay: u16) -> Result<Listening, MailRefused> {
        match self {
            Self::Here(counter) => {
                let listener = counter.office.listen(pattern.clone(), usize::from(replay)).await;
                Ok(Listening::Here(Box::new(listener.map_err(|error| not_heard(&error))?)))
            }
            Self::There(client) => {
                let query = EventsQuery { topic: pattern.to_string(), replay: Some(u32::from(replay)) };
                let events = client.events(&ApiPath::new("/api/events"), &query, None).await;
                let events = events.map_err(|error| MailRefused::Failed(refused(&error)))?;
                Ok(Listening::There(Box::new(events)))
            }
        }
    }
}

impl Listening {
    /// Waits for the next event. Giving up the wait loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Heard, Failure> {
        match self {
            Self::Here(listener) => {
                let message = listener.next().await;
                Ok(Heard::Message(Box::new(MessageDocument::of(&message, None))))
            }
            Self::There(events) => {
                let Event { kind, data, .. } = events.next().await.map_err(|error| refused(&error))?;
                if kind == GAP {
                    return Ok(Heard::Gap);
                }
                Ok(Heard::Message(Box::new(known(serde_json::from_str(&data).unwrap_or_default())?)))
            }
        }
    }
}

fn not_heard(error: &ListenError) -> MailRefused {
    let kind: fn(String) -> Failure = match error {
        ListenError::Replay(_) => Failure::usage,
        ListenError::Store(_) => Failure::missing,
    };
    MailRefused::Told { code: error.code().to_owned(), message: chain(error), kind, hint: None }
}
