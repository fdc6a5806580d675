//! The Model Context Protocol with a server: messages are sent, and what comes back is passed on. Knows of a message only
//! whether it begins a session.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use artel_model::limit::{CLIENT_ANSWER_BYTES_MAX, CLIENT_EVENT_BYTES_MAX};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, RequestBuilder, Response};

use super::caller::Client;
use super::error::ClientError;
use super::path::ApiPath;
use super::sse::{Message, Reader};

const SESSION: &str = "Mcp-Session-Id";
const VERSION: &str = "MCP-Protocol-Version";
/// How long to wait before listening again, the first time; it doubles.
const RETRY_MIN: Duration = Duration::from_millis(100);
/// How often in a row listening may break without a single message before it is given up.
const BREAKS_MAX: u32 = 6;

/// A conversation with a server. It has a session once the first message was answered.
pub struct McpLink {
    client: Client,
    session: Mutex<Option<Session>>,
}

#[derive(Clone)]
struct Session {
    id: HeaderValue,
    /// The revision of the protocol that was agreed on.
    version: Option<HeaderValue>,
}

/// What a server says to one message: messages, one after another.
pub struct McpAnswer {
    client: Client,
    response: Option<Response>,
    reader: Reader,
    ready: VecDeque<Message>,
}

impl McpLink {
    /// Makes a conversation that has not begun.
    pub fn new(client: Client) -> Self {
        Self { client, session: Mutex::default() }
    }

    /// Sends a message, and returns what the server says to it.
    pub async fn send(&self, message: &str) -> Result<McpAnswer, ClientError> {
        let request = self.request(Method::POST).header(CONTENT_TYPE, "application/json");
        let request = request.header(ACCEPT, "application/json, text/event-stream").body(message.to_owned());
        let response = self.client.send(request).await?;
        if let Some(id) = response.headers().get(SESSION) {
            let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            if session.is_none() {
                *session = Some(Session { id: id.clone(), version: None });
            }
        }
        Ok(McpAnswer::of(self.client.clone(), response))
    }

    /// Says which revision of the protocol was agreed on; the server wants to hear it with every further message.
    pub fn agree(&self, version: &str) {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = session.as_mut() {
            session.version = HeaderValue::from_str(version).ok();
        }
    }

    /// Says whether there is a session, in which the server can speak on its own.
    pub fn has_session(&self) -> bool {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Ends the session, if there is one; a server that is gone has ended it already.
    pub async fn end(&self) {
        if self.has_session() {
            let _ = self.client.send(self.request(Method::DELETE)).await;
        }
    }

    async fn open(&self, after: Option<&str>) -> Result<McpAnswer, ClientError> {
        let mut request = self.request(Method::GET).header(ACCEPT, "text/event-stream");
        if let Some(id) = after {
            request = request.header("Last-Event-ID", id);
        }
        Ok(McpAnswer::of(self.client.clone(), self.client.send(request).await?))
    }

    fn request(&self, method: Method) -> RequestBuilder {
        let request = self.client.request(method, self.client.url(&ApiPath::new("/mcp")));
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(Session { id, version }) = session else { return request };
        let request = request.header(SESSION, id);
        match version {
            Some(version) => request.header(VERSION, version),
            None => request,
        }
    }
}

/// Hears what a server says on its own. A connection that breaks is made again.
pub struct McpListener {
    link: Arc<McpLink>,
    open: Option<McpAnswer>,
    last: Option<String>,
    breaks: u32,
}

impl McpListener {
    /// Makes one that listens to a conversation, as long as it has a session.
    pub fn new(link: Arc<McpLink>) -> Self {
        Self { link, open: None, last: None, breaks: 0 }
    }

    /// Waits for the next message.
    pub async fn next(&mut self) -> Result<String, ClientError> {
        loop {
            if let Some(answer) = &mut self.open
                && let Ok(Some(message)) = answer.next_event().await
            {
                self.breaks = 0;
                self.last = message.id.or(self.last.take());
                return Ok(message.data);
            }
            if self.breaks > 0 {
                tokio::time::sleep(RETRY_MIN * 2_u32.pow(self.breaks)).await;
            }
            self.breaks += 1;
            self.open = match self.link.open(self.last.as_deref()).await {
                Ok(answer) => Some(answer),
                Err(ClientError::Unreachable { .. }) if self.breaks <= BREAKS_MAX => None,
                Err(error) => return Err(error),
            };
            self.breaks = self.breaks.min(BREAKS_MAX);
        }
    }
}

impl McpAnswer {
    fn of(client: Client, response: Response) -> Self {
        Self { client, response: Some(response), reader: Reader::default(), ready: VecDeque::new() }
    }

    /// Waits for the next message; nothing at the end.
    pub async fn next(&mut self) -> Result<Option<String>, ClientError> {
        let is_stream = self.response.as_ref().is_some_and(|response| {
            let media = response.headers().get(CONTENT_TYPE);
            media.is_some_and(|media| media.as_bytes().starts_with(b"text/event-stream"))
        });
        if is_stream {
            return Ok(self.next_event().await?.map(|message| message.data));
        }
        let Some(response) = self.response.take() else { return Ok(None) };
        let status = response.status().as_u16();
        let bytes = self.client.collect(response, CLIENT_ANSWER_BYTES_MAX).await?;
        let text = String::from_utf8(bytes).map_err(|_| self.client.garbled(status, "no text"))?;
        Ok(Some(text).filter(|text| !text.trim().is_empty()))
    }

    async fn next_event(&mut self) -> Result<Option<Message>, ClientError> {
        loop {
            // What has no data only says from where on to listen again.
            if let Some(message) = self.ready.pop_front() {
                if message.data.is_empty() {
                    continue;
                }
                return Ok(Some(message));
            }
            let Some(response) = &mut self.response else { return Ok(None) };
            let piece = response.chunk().await.map_err(|source| self.client.unreachable(source))?;
            let Some(piece) = piece else { return Ok(None) };
            self.ready.extend(self.reader.take(&piece));
            if self.reader.kept_bytes() > CLIENT_EVENT_BYTES_MAX {
                return Err(self.client.too_large(CLIENT_EVENT_BYTES_MAX));
            }
        }
    }
}
