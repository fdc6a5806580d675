//! `artel mcp` in front of a server: what a client says over stdin is sent there, what the server says is written to stdout.
//! A session that the server has forgotten is begun again without the client hearing of it.

use std::sync::Arc;
use std::time::Duration;

use artel_api::client::{ApiPath, Client, ClientError, McpAnswer, McpLink, McpListener};
use artel_api::operator::Whoami;
use artel_model::limit::MCP_BODY_BYTES_MAX;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, stdin, stdout};
use tokio::sync::{Mutex, mpsc};
use tokio::task::{JoinHandle, JoinSet};

use super::context::Context;
use super::mcp::by_hand;
use crate::failure::{Failure, chain, refused};
use crate::runtime::Interrupts;

/// How long what was asked last may take once the client has gone away.
const GRACE: Duration = Duration::from_secs(5);
/// Messages that wait to be written.
const WAITING_MAX: usize = 64;
/// The code of an error that is not the client's.
const INTERNAL_ERROR: i32 = -32603;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// What is looked at of a message.
#[derive(Deserialize)]
struct Head {
    id: Option<Value>,
    method: Option<String>,
}

/// A conversation, and how it was begun.
struct Relay {
    client: Client,
    said: mpsc::Sender<String>,
    state: Mutex<Conversation>,
}

#[derive(Default)]
struct Conversation {
    link: Option<Arc<McpLink>>,
    /// The message that began it.
    opening: Option<String>,
    /// Hears what the server says on its own.
    listener: Option<JoinHandle<()>>,
}

/// Passes messages on until the client goes away.
pub(super) async fn relay(context: Context<'_>) -> Result<(), Failure> {
    let Some(client) = context.remote()? else { return Err(Failure::usage("there is no server")) };
    // Whoever is not let in is told now: a client shows nobody why a conversation did not begin.
    let _: Whoami = client.get(&ApiPath::new("/api/whoami")).await.map_err(|error| refused(&error))?;
    let mut interrupts = Interrupts::listen()?;
    let (said, waiting) = mpsc::channel(WAITING_MAX);
    let writer = tokio::spawn(write(waiting));
    let relay = Arc::new(Relay { client, said, state: Mutex::default() });
    let mut begun = Vec::new();
    tokio::select! {
        () = hear(&relay, &mut begun) => {}
        () = interrupts.next() => {}
    }
    let has_begun = relay.state.lock().await.opening.is_some();
    relay.end().await;
    drop(relay);
    for task in begun {
        task.abort();
    }
    let _ = tokio::time::timeout(GRACE, writer).await;
    if has_begun { Ok(()) } else { Err(by_hand("the client did not begin a conversation".to_owned())) }
}

/// Takes one message after another; what is asked is answered beside that, what is only told keeps its order.
async fn hear(relay: &Arc<Relay>, begun: &mut Vec<tokio::task::AbortHandle>) {
    let mut input = BufReader::new(stdin());
    let mut asked: JoinSet<()> = JoinSet::new();
    loop {
        let mut line = Vec::new();
        let limit = MCP_BODY_BYTES_MAX as u64 + 1;
        match (&mut input).take(limit).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        let Ok(message) = String::from_utf8(line) else { continue };
        let message = message.trim().to_owned();
        if message.is_empty() {
            continue;
        }
        let head: Head = serde_json::from_str(&message).unwrap_or(Head { id: None, method: None });
        let is_question = head.id.is_some() && head.method.is_some();
        if is_question && head.method.as_deref() != Some("initialize") {
            let relay = Arc::clone(relay);
            begun.push(asked.spawn(async move { relay.pass_on(message, head).await }));
        } else {
            relay.pass_on(message, head).await;
        }
        while asked.try_join_next().is_some() {}
        begun.retain(|task| !task.is_finished());
    }
    let _ = tokio::time::timeout(GRACE, async { while asked.join_next().await.is_some() {} }).await;
}

/// Writes messages, one a line.
async fn write(mut waiting: mpsc::Receiver<String>) {
    let mut output = stdout();
    while let Some(message) = waiting.recv().await {
        // A line break within a message stands between its parts, never in a text.
        let line = format!("{}\n", message.trim().replace(['\n', '\r'], " "));
        if output.write_all(line.as_bytes()).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

impl Relay {
    async fn pass_on(self: &Arc<Self>, message: String, head: Head) {
        let is_opening = head.method.as_deref() == Some("initialize");
        let done = if is_opening { self.begin(&message).await } else { self.send(&message).await };
        if head.method.as_deref() == Some("notifications/initialized") {
            self.listen().await;
        }
        if let (Err(error), Some(id)) = (&done, head.id) {
            let error = json!({"code": INTERNAL_ERROR, "message": chain(error)});
            let _ = self.said.send(json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()).await;
        } else if let Err(error) = &done {
            tracing::warn!(error = error as &dyn std::error::Error, "the server does not take a message");
        }
    }

    /// Begins a conversation.
    async fn begin(&self, opening: &str) -> Result<(), ClientError> {
        let link = Arc::new(McpLink::new(self.client.clone()));
        let mut answer = link.send(opening).await?;
        while let Some(message) = answer.next().await? {
            agree(&link, &message);
            let _ = self.said.send(message).await;
        }
        let mut state = self.state.lock().await;
        state.opening = Some(opening.to_owned());
        state.link = Some(link);
        Ok(())
    }

    /// Sends a message. Where the server has forgotten the conversation, it is begun again first.
    async fn send(self: &Arc<Self>, message: &str) -> Result<(), ClientError> {
        let link = self.state.lock().await.link.clone();
        let link = link.unwrap_or_else(|| Arc::new(McpLink::new(self.client.clone())));
        match link.send(message).await {
            Err(error) if error.status() == Some(404) && link.has_session() => {
                let again = self.begin_again(&link).await?;
                self.tell(again.send(message).await?).await
            }
            answer => self.tell(answer?).await,
        }
    }

    async fn tell(&self, mut answer: McpAnswer) -> Result<(), ClientError> {
        while let Some(message) = answer.next().await? {
            let _ = self.said.send(message).await;
        }
        Ok(())
    }

    /// Begins the conversation again that was forgotten, unless somebody else has done it already.
    async fn begin_again(self: &Arc<Self>, forgotten: &Arc<McpLink>) -> Result<Arc<McpLink>, ClientError> {
        let mut state = self.state.lock().await;
        if let Some(link) = state.link.as_ref().filter(|link| !Arc::ptr_eq(link, forgotten)) {
            return Ok(Arc::clone(link));
        }
        let link = Arc::new(McpLink::new(self.client.clone()));
        if let Some(opening) = &state.opening {
            let mut answer = link.send(opening).await?;
            while let Some(message) = answer.next().await? {
                agree(&link, &message);
            }
            let mut answer = link.send(INITIALIZED).await?;
            while answer.next().await?.is_some() {}
        }
        state.link = Some(Arc::clone(&link));
        self.listen_to(&mut state);
        Ok(link)
    }

    async fn listen(self: &Arc<Self>) {
        self.listen_to(&mut *self.state.lock().await);
    }

    /// Hears what the server says on its own; where it does not do that, there is nothing to hear.
    fn listen_to(self: &Arc<Self>, state: &mut Conversation) {
        let Some(link) = state.link.clone().filter(|link| link.has_session()) else { return };
        let said = self.said.clone();
        let listener = tokio::spawn(async move {
            let mut listener = McpListener::new(link);
            loop {
                match listener.next().await {
                    Ok(message) => drop(said.send(message).await),
                    Err(error) => {
                        tracing::debug!(error = &error as &dyn std::error::Error, "nothing more is heard");
                        return;
                    }
                }
            }
        });
        if let Some(before) = state.listener.replace(listener) {
            before.abort();
        }
    }

    async fn end(&self) {
        let mut state = self.state.lock().await;
        if let Some(listener) = state.listener.take() {
            listener.abort();
        }
        if let Some(link) = state.link.take() {
            let _ = tokio::time::timeout(GRACE, link.end()).await;
        }
    }
}

/// Remembers the revision of the protocol that both speak.
fn agree(link: &McpLink, answer: &str) {
    let answer: Value = serde_json::from_str(answer).unwrap_or(Value::Null);
    if let Some(version) = answer["result"]["protocolVersion"].as_str() {
        link.agree(version);
    }
}
