//! A model on this machine that says what a test tells it, in the protocol in which it is asked. Speaks as much HTTP/1.1 as
//! is needed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What the model says when it is asked.
#[derive(Clone, Debug)]
pub(crate) enum Say {
    /// That it is done.
    Text(&'static str),
    /// That it wants these calls: an id, a tool, and what goes in as it is written.
    Calls(Vec<(&'static str, &'static str, &'static str)>),
    /// The same, but it was not let to say all.
    Cut(Vec<(&'static str, &'static str, &'static str)>),
    /// The same, but only when it is let.
    Held(Vec<(&'static str, &'static str, &'static str)>),
    /// A status with a header and a message.
    Refusal(u16, &'static str, &'static str),
    /// Nothing, ever.
    Silence,
}

/// The model.
pub(crate) struct ModelServer {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Value>>>,
    count: watch::Receiver<usize>,
    let_go: watch::Sender<bool>,
}

impl ModelServer {
    /// Starts a model that says these things, one for each request, and the last one again and again.
    pub(crate) async fn start(says: Vec<Say>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (counted, count) = watch::channel(0);
        let (let_go, mut held) = watch::channel(false);
        let log = seen.clone();
        let mut says: VecDeque<Say> = says.into();
        tokio::spawn(async move {
            let mut silent = Vec::new();
            while let Ok((mut connection, _)) = listener.accept().await {
                let Some((head, body)) = read(&mut connection).await else { continue };
                log.lock().unwrap().push(body);
                counted.send_modify(|count| *count += 1);
                let say = if says.len() > 1 { says.pop_front() } else { says.front().cloned() };
                if matches!(say, Some(Say::Held(_))) {
                    held.wait_for(|may| *may).await.unwrap();
                }
                match say.and_then(|say| written(&say, head.starts_with("post /v1/messages "))) {
                    // Whoever asked may have hung up.
                    Some(answer) => drop(connection.write_all(answer.as_bytes()).await),
                    None => silent.push(connection),
                }
            }
        });
        Self { url, seen, count, let_go }
    }

    /// Returns the bodies of the requests so far.
    pub(crate) fn seen(&self) -> Vec<Value> {
        self.seen.lock().unwrap().clone()
    }

    /// Lets it say what it holds back.
    pub(crate) fn let_go(&self) {
        self.let_go.send_replace(true);
    }

    /// Waits until so many requests have come.
    pub(crate) async fn asked(&self, times: usize) {
        self.count.clone().wait_for(|count| *count >= times).await.unwrap();
    }

    /// Returns what the model heard of its last calls, as pairs of an id and a text.
    pub(crate) fn results(&self) -> Vec<(String, String)> {
        let seen = self.seen();
        let messages = seen.last().unwrap()["messages"].as_array().unwrap().clone();
        let calls = |message: &Value| {
            let blocks = message["content"].as_array().cloned().unwrap_or_default();
            message.get("tool_calls").is_some() || blocks.iter().any(|block| block["type"] == "tool_use")
        };
        let after = messages.iter().rposition(calls).unwrap() + 1;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let mut results = Vec::new();
        for message in &messages[after..] {
            if message["role"] == "tool" {
                results.push((text(&message["tool_call_id"]), text(&message["content"])));
            }
            for block in message["content"].as_array().into_iter().flatten() {
                if block["type"] == "tool_result" {
                    results.push((text(&block["tool_use_id"]), text(&block["content"])));
                }
            }
        }
        results
    }
}

async fn read(connection: &mut TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let length =
                head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Some((head, serde_json::from_str(body).unwrap()));
            }
        }
        let mut buffer = [0; 64 * 1024];
        match connection.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

fn written(say: &Say, is_anthropic: bool) -> Option<String> {
    let answer = |text: &str, calls: &[(&str, &str, &str)], stop: [&str; 2]| {
        if is_anthropic { anthropic(text, calls, stop[1]) } else { openai(text, calls, stop[0]) }
    };
    let (status, header, body) = match say {
        Say::Text(text) => (200, "x: y", answer(text, &[], ["stop", "end_turn"])),
        Say::Calls(calls) | Say::Held(calls) => (200, "x: y", answer("", calls, ["tool_calls", "tool_use"])),
        Say::Cut(calls) => (200, "x: y", answer("", calls, ["length", "max_tokens"])),
        Say::Refusal(status, header, message) => (*status, *header, json!({"error": {"message": message}})),
        Say::Silence => return None,
    };
    let body = body.to_string();
    let length = body.len();
    Some(format!(
        "HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{header}\r\n\
         connection: close\r\n\r\n{body}"
    ))
}

fn openai(text: &str, calls: &[(&str, &str, &str)], stop: &str) -> Value {
    let call = |(id, name, arguments): &(&str, &str, &str)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        message["tool_calls"] = calls.iter().map(call).collect();
    }
    json!({
        "choices": [{"index": 0, "message": message, "finish_reason": stop}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    })
}

/// What goes in is a value in this protocol; what is none is given as a text.
fn anthropic(text: &str, calls: &[(&str, &str, &str)], stop: &str) -> Value {
    let call = |(id, name, arguments): &(&str, &str, &str)| {
        let input: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
        json!({"type": "tool_use", "id": id, "name": name, "input": input})
    };
    let mut content: Vec<Value> = calls.iter().map(call).collect();
    if !text.is_empty() {
        content.insert(0, json!({"type": "text", "text": text}));
    }
    let usage = json!({"input_tokens": 100, "output_tokens": 10});
    json!({"type": "message", "role": "assistant", "content": content, "stop_reason": stop, "usage": usage})
}
