//! A server on loopback that answers each connection with the next of some prepared texts, and remembers what it was asked.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::sync::{Arc, Mutex};

use artel_api::client::{Client, ClientConfig, ServerToken};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

pub(crate) struct StandIn {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl StandIn {
    /// Starts a server that answers with these texts, one for each connection, and then with nothing.
    pub(crate) async fn start(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        tokio::spawn(async move {
            let mut answers = answers.into_iter();
            while let Ok((mut connection, _)) = listener.accept().await {
                let mut bytes = Vec::new();
                while !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
                    let mut buffer = [0; 4096];
                    let count = connection.read(&mut buffer).await.unwrap();
                    bytes.extend_from_slice(&buffer[..count]);
                }
                log.lock().unwrap().push(String::from_utf8(bytes).unwrap());
                if let Some(answer) = answers.next() {
                    connection.write_all(answer.as_bytes()).await.unwrap();
                }
            }
        });
        Self { url, asked }
    }

    pub(crate) fn client(&self, token: Option<&str>) -> Client {
        let token = token.map(|text| ServerToken::new(text).unwrap());
        Client::new(ClientConfig { server: self.url.parse().unwrap(), token }).unwrap()
    }

    /// Returns what was asked so far, each with its head in small letters.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|head| head.to_lowercase()).collect()
    }
}

/// Writes an answer that is complete.
pub(crate) fn answer(status: u16, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} Said\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
}

/// Writes a stream that ends after these events.
pub(crate) fn stream(events: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{events}")
}
