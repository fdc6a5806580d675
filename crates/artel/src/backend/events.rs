//! Events of a run, an agent or a topic, as they happen.

use artel_api::client::Events;
use artel_api::runs::LogLine;
use artel_app::{Next, Source};
use serde::de::DeserializeOwned;

use super::log::known;
use crate::failure::{Failure, refused};

/// The kind of the event that says that nothing more comes.
const END: &str = "end";

/// Events as they happen.
pub(crate) enum EventStream {
    Local(LocalEvents),
    Remote(Box<Events>),
}

/// Events of the application in this process.
pub(crate) struct LocalEvents {
    source: Box<dyn Source>,
    ready: std::collections::VecDeque<artel_app::StreamEvent>,
    is_over: bool,
}

/// One event.
pub(crate) struct StreamedEvent {
    pub(crate) kind: String,
    data: String,
}

impl StreamedEvent {
    /// Reads what it says; a newer server may say what this program does not know.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        known(serde_json::from_str(&self.data).unwrap_or_default())
    }
}

impl EventStream {
    /// Follows events of the application in this process.
    pub(super) fn local(source: impl Source) -> Self {
        Self::Local(LocalEvents { source: Box::new(source), ready: [].into(), is_over: false })
    }

    /// Waits for the next event; nothing after the end. Giving up the wait loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Option<StreamedEvent>, Failure> {
        let event = match self {
            Self::Remote(events) => {
                let event = events.next().await.map_err(|error| refused(&error))?;
                StreamedEvent { kind: event.kind, data: event.data }
            }
            Self::Local(local) => match local.next().await {
                Some(event) => StreamedEvent { kind: event.kind, data: event.data },
                None => return Ok(None),
            },
        };
        Ok((event.kind != END).then_some(event))
    }

    /// Waits for the next line of a log; nothing after the end.
    pub(crate) async fn next_line(&mut self) -> Result<Option<LogLine>, Failure> {
        match self.next().await? {
            Some(event) => event.read().map(Some),
            None => Ok(None),
        }
    }
}

impl LocalEvents {
    async fn next(&mut self) -> Option<artel_app::StreamEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            match self.source.next().await {
                Next::Events(events) => self.ready.extend(events),
                Next::Last(event) => {
                    self.ready.push_back(event);
                    self.is_over = true;
                }
                Next::Over => self.is_over = true,
            }
        }
    }
}
