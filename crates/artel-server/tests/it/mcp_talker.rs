//! Speaks the Model Context Protocol over HTTP as a client would write it, without the help of a library, so that tests can
//! also say what no library would.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::place::Place;

/// The revision that is spoken.
pub(crate) const VERSION: &str = "2025-11-25";
const PATIENCE: Duration = Duration::from_secs(30);

/// A client with a session, or about to get one.
pub(crate) struct Talker {
    http: reqwest::Client,
    url: String,
    token: String,
    pub(crate) session: Option<String>,
    ids: AtomicU64,
}

/// What came back for one message.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    /// Everything that was told, the answer last.
    pub(crate) messages: Vec<Value>,
    pub(crate) text: String,
}

impl Heard {
    /// Returns the answer.
    #[track_caller]
    pub(crate) fn result(&self) -> Value {
        let last = self
            .messages
            .last()
            .unwrap_or_else(|| panic!("nothing was answered: {} {}", self.status, self.text));
        assert!(last.get("error").is_none(), "{last}");
        last["result"].clone()
    }

    /// Returns the code and the message of the refusal.
    #[track_caller]
    pub(crate) fn refused(&self) -> (i64, String) {
        let error = &self.messages.last().unwrap_or_else(|| panic!("{} {}", self.status, self.text))["error"];
        (
            error["code"].as_i64().unwrap_or_else(|| panic!("{}", self.text)),
            error["message"].as_str().unwrap().to_owned(),
        )
    }
}

impl Talker {
    /// Makes a client that has no session.
    pub(crate) fn stranger(place: &Place, token: &str) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            url: format!("http://{}/mcp", place.address),
            token: token.to_owned(),
            session: None,
            ids: AtomicU64::new(1),
        }
    }

    /// Begins a conversation.
    pub(crate) async fn begin(place: &Place, token: &str) -> Self {
        let mut talker = Self::stranger(place, token);
        let heard = talker.initialize().await;
        heard.result();
        talker.session = heard.session;
        assert!(talker.session.is_some());
        let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(talker.post(&[], begun.to_string()).await.status, 202);
        talker
    }

    pub(crate) async fn initialize(&self) -> Heard {
        let params = json!({
            "protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "talker", "version": "1"},
        });
        self.ask("initialize", params).await
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Heard {
        self.ask_as(self.next_id(), method, params).await
    }

    pub(crate) async fn ask_as(&self, id: u64, method: &str, params: Value) -> Heard {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.post(&[], message.to_string()).await
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await.result()
    }

    /// Calls a tool that must do what it should, and returns its structured answer.
    #[track_caller]
    pub(crate) fn good(result: &Value) -> Value {
        assert_eq!(result["isError"], json!(false), "{result}");
        result["structuredContent"].clone()
    }

    /// Returns the names of all tools.
    pub(crate) async fn tools(&self) -> Vec<String> {
        let (mut names, mut params) = (Vec::new(), json!({}));
        loop {
            let page = self.ask("tools/list", params).await.result();
            names.extend(
                page["tools"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|tool| tool["name"].as_str().unwrap().to_owned()),
            );
            match page.get("nextCursor") {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => return names,
            }
        }
    }

    fn request(&self, method: reqwest::Method) -> reqwest::RequestBuilder {
        let request = self
            .http
            .request(method, &self.url)
            .bearer_auth(&self.token)
            .header("accept", "application/json, text/event-stream");
        match &self.session {
            Some(session) => {
                request.header("mcp-session-id", session).header("mcp-protocol-version", VERSION)
            }
            None => request,
        }
    }

    /// Posts a body as it is.
    pub(crate) async fn post(&self, headers: &[(&str, &str)], body: String) -> Heard {
        let mut request =
            self.request(reqwest::Method::POST).header("content-type", "application/json").body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        heard(request).await
    }

    /// Ends the session.
    pub(crate) async fn end(&self) -> Heard {
        heard(self.request(reqwest::Method::DELETE)).await
    }

    /// Opens the stream of what is told outside of answers.
    pub(crate) async fn listen(&self) -> Listening {
        let response = self.request(reqwest::Method::GET).send().await.unwrap();
        assert_eq!(response.status(), 200);
        Listening { response, rest: String::new() }
    }
}

async fn heard(request: reqwest::RequestBuilder) -> Heard {
    let response = tokio::time::timeout(PATIENCE, request.send()).await.unwrap().unwrap();
    let status = response.status().as_u16();
    let session = response.headers().get("mcp-session-id").map(|value| value.to_str().unwrap().to_owned());
    let text = tokio::time::timeout(PATIENCE, response.text()).await.unwrap().unwrap();
    let messages = match serde_json::from_str(&text) {
        Ok(message) => vec![message],
        Err(_) => text
            .lines()
            .filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?.trim()).ok())
            .collect(),
    };
    Heard { status, session, messages, text }
}

/// A stream of what is told outside of answers.
pub(crate) struct Listening {
    response: reqwest::Response,
    rest: String,
}

impl Listening {
    /// Waits until the server ends the stream.
    pub(crate) async fn ended(mut self) {
        while let Ok(Some(_)) = tokio::time::timeout(PATIENCE, self.response.chunk()).await.unwrap() {}
    }

    /// Waits for the next message.
    pub(crate) async fn next(&mut self) -> Value {
        loop {
            while let Some((line, rest)) = self.rest.split_once('\n') {
                let message =
                    line.strip_prefix("data:").and_then(|data| serde_json::from_str(data.trim()).ok());
                self.rest = rest.to_owned();
                if let Some(message) = message {
                    return message;
                }
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await.unwrap().unwrap();
            self.rest.push_str(std::str::from_utf8(&chunk.expect("the stream goes on")).unwrap());
        }
    }
}
