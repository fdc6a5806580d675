//! An endpoint on this machine that behaves, or misbehaves, as a test tells it. Speaks as much HTTP/1.1 as is needed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// How the endpoint answers one request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// With a status and a body.
    Body(u16, String),
    /// With a status, a header and no body.
    Header(u16, String),
    /// With headers that send the client elsewhere.
    Redirect(String),
    /// With a body that is longer than anybody wants.
    Endless,
    /// With half of the body that it announced.
    BreakOff,
    /// With half of the body that it announced, and then nothing more, ever.
    Stall,
    /// Not at all.
    Silence,
    /// With something that is no HTTP.
    Garbage,
    /// By hanging up.
    HangUp,
}

/// A request that was seen.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// The endpoint.
pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Starts an endpoint that gives these answers, one for each request.
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut replies: VecDeque<Reply> = replies.into_iter().collect();
        let log = seen.clone();
        tokio::spawn(async move {
            // Connections that were not answered stay open as long as the endpoint does.
            let mut open = Vec::new();
            while let Ok((mut connection, _)) = listener.accept().await {
                let Some(request) = read(&mut connection).await else { continue };
                log.lock().expect("nobody panicked").push(request);
                let reply = replies.pop_front().unwrap_or(Reply::Body(599, "no answer is left".to_owned()));
                if answer(&mut connection, reply).await == After::KeepOpen {
                    open.push(connection);
                }
            }
        });
        Self { url, seen }
    }

    /// Returns the requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("nobody panicked").clone()
    }
}

/// A reply of an OpenAI-compatible endpoint.
pub(crate) fn openai(content: &str) -> Reply {
    let message = json!({"role": "assistant", "content": content});
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    Reply::Body(200, json!({"id": "x", "object": "chat.completion", "choices": [choice]}).to_string())
}

async fn read(connection: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
            });
            if body.len() >= length.unwrap_or(0) {
                return Some(Seen {
                    head: head.to_lowercase(),
                    body: serde_json::from_str(body).unwrap_or_default(),
                });
            }
        }
        let mut buffer = [0; 64 * 1024];
        match connection.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

#[derive(PartialEq)]
enum After {
    Close,
    KeepOpen,
}

async fn answer(connection: &mut TcpStream, reply: Reply) -> After {
    let (text, after) = match reply {
        Reply::Body(status, body) => (http(status, body.len(), &body), After::Close),
        Reply::Header(status, header) => {
            (format!("HTTP/1.1 {status} Said\r\n{header}\r\ncontent-length: 0\r\n\r\n"), After::Close)
        }
        Reply::Redirect(to) => {
            (format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n"), After::Close)
        }
        Reply::Endless => (http(200, 1 << 30, &" ".repeat(8 << 20)), After::Close),
        Reply::BreakOff => (http(200, 1000, "{\"choices\": ["), After::Close),
        Reply::Stall => (http(200, 1000, "{\"choices\": ["), After::KeepOpen),
        Reply::Silence => (String::new(), After::KeepOpen),
        Reply::Garbage => ("what?\r\n\r\n".to_owned(), After::Close),
        Reply::HangUp => (String::new(), After::Close),
    };
    // A client that has heard enough hangs up.
    let _ = connection.write_all(text.as_bytes()).await;
    after
}

fn http(status: u16, length: usize, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    )
}
