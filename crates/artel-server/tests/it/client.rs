//! A small HTTP client for the tests: JSON in and out, and server-sent events one by one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::time::Duration;

use serde_json::Value;

/// How long a test waits for an answer or an event before it gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// Somebody who calls the server with a credential.
#[derive(Clone)]
pub(crate) struct Client {
    base: String,
    http: reqwest::Client,
    credential: Option<String>,
}

/// What the server answered.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    /// The body, when it is JSON.
    pub(crate) body: Value,
    pub(crate) text: String,
}

impl Answered {
    /// Returns the code of the error.
    pub(crate) fn error(&self) -> &str {
        self.body["error"].as_str().unwrap_or_default()
    }

    /// Returns the body when the status is the expected one.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.body
    }

    /// Checks that it is an error in its envelope.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.error()), (status, code), "{}", self.text);
        assert!(self.body["message"].as_str().is_some_and(|message| !message.is_empty()), "{}", self.text);
        assert!(self.body["request_id"].as_str().is_some_and(|id| !id.is_empty()), "{}", self.text);
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

impl Client {
    /// Makes a client of a server, with a bearer token or without.
    pub(crate) fn new(base: impl Into<String>, credential: Option<&str>) -> Self {
        // Somebody may have done it before in this process.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { base: base.into(), http, credential: credential.map(str::to_owned) }
    }

    /// Returns the same client with another credential.
    pub(crate) fn with(&self, credential: Option<&str>) -> Self {
        Self { credential: credential.map(str::to_owned), ..self.clone() }
    }

    /// Returns what it calls with.
    pub(crate) fn credential(&self) -> Option<String> {
        self.credential.clone()
    }

    fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.request(method.parse().unwrap(), format!("{}{path}", self.base));
        match &self.credential {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// Sends a request with these headers and this body.
    pub(crate) async fn call(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Answered {
        let mut request = self.request(method, path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        answered(request).await
    }

    /// Sends a text as it is, as the body of a type.
    pub(crate) async fn send_text(&self, method: &str, path: &str, media: &str, body: &str) -> Answered {
        answered(self.request(method, path).header("content-type", media).body(body.to_owned())).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answered {
        self.call("GET", path, &[], None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answered {
        self.call("POST", path, &[], Some(&body)).await
    }

    /// Posts without a body.
    pub(crate) async fn tell(&self, path: &str) -> Answered {
        self.call("POST", path, &[], None).await
    }

    /// Opens a stream of events, after the one with that id.
    pub(crate) async fn stream(&self, path: &str, after: Option<&str>) -> EventReader {
        let mut request = self.request("GET", path);
        if let Some(id) = after {
            request = request.header("Last-Event-ID", id);
        }
        let response = tokio::time::timeout(PATIENCE, request.send()).await.unwrap().unwrap();
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        EventReader { response, rest: String::new() }
    }
}

async fn answered(request: reqwest::RequestBuilder) -> Answered {
    let response = tokio::time::timeout(PATIENCE, request.send()).await.unwrap().unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = tokio::time::timeout(PATIENCE, response.text()).await.unwrap().unwrap();
    let body = serde_json::from_str(&text).unwrap_or_default();
    Answered { status, headers, body, text }
}

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StreamEvent {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) data: Value,
}

/// Reads a stream of events one by one.
pub(crate) struct EventReader {
    response: reqwest::Response,
    rest: String,
}

impl EventReader {
    /// Returns the next event; nothing when the server ended the stream.
    pub(crate) async fn next(&mut self) -> Option<StreamEvent> {
        loop {
            while let Some((block, rest)) = self.rest.split_once("\n\n") {
                let event = read(block);
                self.rest = rest.to_owned();
                if event.is_some() {
                    return event;
                }
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await.unwrap();
            // A connection that breaks off ends the stream too.
            let chunk = chunk.ok().flatten()?;
            self.rest.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// Reads to the end of the stream.
    pub(crate) async fn rest(mut self) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// Reads one event; nothing when there are only comments.
fn read(block: &str) -> Option<StreamEvent> {
    let mut event = StreamEvent::default();
    let mut data = Vec::new();
    for line in block.lines() {
        match line.split_once(':').map(|(name, value)| (name, value.trim_start())) {
            Some(("id", value)) => event.id = value.to_owned(),
            Some(("event", value)) => event.kind = value.to_owned(),
            Some(("data", value)) => data.push(value),
            Some(_) | None => {}
        }
    }
    if data.is_empty() {
        return None;
    }
    event.data = serde_json::from_str(&data.join("\n")).unwrap();
    Some(event)
}
