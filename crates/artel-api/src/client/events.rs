//! A stream of events that goes on where it broke off.

use std::time::Duration;

use artel_model::limit::CLIENT_EVENT_BYTES_MAX;
use reqwest::{Response, Url};
use serde::de::DeserializeOwned;

use super::caller::Client;
use super::error::ClientError;
use super::sse::{Message, Reader};

/// How long to wait before coming back, the first time; it doubles.
const RETRY_MIN: Duration = Duration::from_millis(100);
/// How long a stream may be silent: a server that has nothing to tell says so every few seconds.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// How often in a row a stream may break without a single event before it is given up.
const BREAKS_MAX: u32 = 6;

/// One event of a stream.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Event {
    /// Its id in the stream.
    pub id: Option<String>,
    /// What kind of event it is.
    pub kind: String,
    /// What it says, as JSON.
    pub data: String,
}

impl Event {
    /// Reads what it says.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.data)
    }
}

/// A stream of events. A connection that breaks is made again, and no event is missed or told twice.
pub struct Events {
    client: Client,
    url: Url,
    last: Option<String>,
    open: Option<Response>,
    reader: Reader,
    ready: std::collections::VecDeque<Message>,
    breaks: u32,
}

impl Events {
    pub(crate) async fn open(client: Client, url: Url, after: Option<String>) -> Result<Self, ClientError> {
        let mut events = Self {
            client,
            url,
            last: after,
            open: None,
            reader: Reader::default(),
            ready: std::collections::VecDeque::new(),
            breaks: 0,
        };
        // What the server refuses is told at once, not with the first event.
        events.connect().await?;
        Ok(events)
    }

    /// Waits for the next event. A stream has no end of its own: the events say when there is nothing more to come. Giving
    /// up the wait loses nothing.
    pub async fn next(&mut self) -> Result<Event, ClientError> {
        loop {
            if let Some(Message { id, kind, data }) = self.ready.pop_front() {
                self.breaks = 0;
                self.last = id.clone().or(self.last.take());
                return Ok(Event { id, kind, data });
            }
            match self.piece().await {
                Ok(true) => {}
                Ok(false) => self.break_off(None).await?,
                Err(error @ ClientError::Unreachable { .. }) => self.break_off(Some(error)).await?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes in one piece; nothing when the stream has ended.
    async fn piece(&mut self) -> Result<bool, ClientError> {
        if self.open.is_none() {
            self.connect().await?;
        }
        let Some(response) = &mut self.open else { return Ok(false) };
        let Ok(piece) = tokio::time::timeout(SILENCE_MAX, response.chunk()).await else { return Ok(false) };
        let Some(piece) = piece.map_err(|source| self.client.unreachable(source))? else { return Ok(false) };
        self.ready.extend(self.reader.take(&piece));
        if self.reader.kept_bytes() > CLIENT_EVENT_BYTES_MAX {
            return Err(self.client.too_large(CLIENT_EVENT_BYTES_MAX));
        }
        Ok(true)
    }

    async fn connect(&mut self) -> Result<(), ClientError> {
        let response = self.client.open_stream(self.url.clone(), self.last.as_deref()).await?;
        self.reader = Reader::default();
        self.open = Some(response);
        Ok(())
    }

    /// Waits a little before the stream is opened again; gives up when that never helps.
    async fn break_off(&mut self, error: Option<ClientError>) -> Result<(), ClientError> {
        self.open = None;
        self.breaks += 1;
        if self.breaks > BREAKS_MAX {
            return Err(error.unwrap_or_else(|| self.client.garbled(200, "a stream that ends at once")));
        }
        tokio::time::sleep(RETRY_MIN * 2_u32.pow(self.breaks)).await;
        Ok(())
    }
}
