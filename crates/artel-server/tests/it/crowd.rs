//! A thousand clients at once, on real connections: those who ask are answered, whatever the others do or leave undone.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::net::SocketAddr;
use std::time::Duration;

use artel_engine::process::allow_all_descriptors;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::place::{ADMIN_TOKEN, Place};

/// How many there are at once.
const CLIENTS: usize = 1000;
/// How long a test waits before it gives up.
const PATIENCE: Duration = Duration::from_secs(60);
/// A body that is never all sent.
const ENDLESS_CLIENTS: usize = 50;

/// Opens a place in which nobody is told that they ask too often. Both ends of every connection are in this process.
async fn crowded(configure: impl FnOnce(&mut artel_server::ServerConfig)) -> Place {
    allow_all_descriptors();
    Place::open_with(&[], |config| {
        config.connections_per_address_max = 2 * CLIENTS;
        config.requests_per_second = 1_000_000;
        config.request_burst = 1_000_000;
        configure(config);
    })
    .await
}

/// A client that says what it wants byte by byte.
struct Client(TcpStream);

impl Client {
    async fn connect(address: SocketAddr) -> Self {
        Self(timeout(PATIENCE, TcpStream::connect(address)).await.expect("it is let in").unwrap())
    }

    async fn say(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.unwrap();
    }

    async fn get(&mut self, path: &str, more: &str) {
        let head =
            format!("GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ADMIN_TOKEN}\r\n{more}\r\n");
        self.say(&head).await;
    }

    /// Reads one answer and returns its head; the connection can be used again.
    async fn answer(&mut self) -> String {
        let mut bytes = Vec::new();
        let reading = async {
            loop {
                if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
                    if bytes.len() >= end + 4 + body_bytes(&head) {
                        return head;
                    }
                }
                let mut piece = [0; 16 * 1024];
                match self.0.read(&mut piece).await.unwrap() {
                    0 => return String::from_utf8_lossy(&bytes).into_owned(),
                    count => bytes.extend_from_slice(&piece[..count]),
                }
            }
        };
        timeout(PATIENCE, reading).await.expect("it is answered")
    }

    /// Reads until the connection is over, however it ends.
    async fn until_over(mut self) {
        let mut piece = [0; 4096];
        let reading = async { while matches!(self.0.read(&mut piece).await, Ok(1..)) {} };
        timeout(PATIENCE, reading).await.expect("the connection is given up");
    }
}

fn body_bytes(head: &str) -> usize {
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    length.map_or(0, |length| length.parse().unwrap())
}

fn status(head: &str) -> &str {
    head.split(' ').nth(1).unwrap_or_default()
}

async fn crowd(address: SocketAddr) -> Vec<Client> {
    let mut clients = Vec::with_capacity(CLIENTS);
    for _ in 0..CLIENTS {
        clients.push(Client::connect(address).await);
    }
    clients
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_clients_at_once_are_all_answered_again_and_again() {
    let place = crowded(|_| {}).await;
    let tag = place.admin.get("/api/skills").await.header("etag").to_owned();
    let mut clients = crowd(place.address).await;
    let unchanged = format!("If-None-Match: {tag}\r\n");
    for (path, more, expected) in
        [("/api/skills", "", "200"), ("/api/skills", unchanged.as_str(), "304"), ("/healthz", "", "200")]
    {
        // All have asked before the first one looks at its answer, and nobody is sent away after it.
        for client in &mut clients {
            client.get(path, more).await;
        }
        for client in &mut clients {
            let head = client.answer().await;
            assert_eq!(status(&head), expected, "{path}: {head}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn more_clients_than_there_is_room_for_take_turns() {
    let place = crowded(|config| config.connections_max = 50).await;
    let mut asking = JoinSet::new();
    for _ in 0..CLIENTS {
        let address = place.address;
        asking.spawn(async move {
            let mut client = Client::connect(address).await;
            client.get("/api/skills", "Connection: close\r\n").await;
            client.answer().await
        });
    }
    while let Some(head) = asking.join_next().await {
        let head = head.unwrap();
        assert_eq!(status(&head), "200", "{head}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_half_there_are_given_up_and_hurt_nobody() {
    let place = crowded(|config| {
        config.header_timeout = Duration::from_millis(300);
        config.body_timeout = Duration::from_millis(300);
    })
    .await;
    let half_a_post = format!(
        "POST /api/catalog-api-keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ADMIN_TOKEN}\r\n\
         Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    );
    let mut left = Vec::new();
    for (number, mut client) in crowd(place.address).await.into_iter().enumerate() {
        match number % 5 {
            // Nothing, half a head, half a body: whether the other end is slow or its machine is gone looks the same.
            0 => {}
            1 => client.say("GET /healthz HTTP/1.1\r\nHo").await,
            2 => client.say(&half_a_post).await,
            // An end that says that it will send nothing more.
            3 => {
                client.say(&half_a_post).await;
                client.0.shutdown().await.unwrap();
            }
            // An end that is reset with an answer under way.
            _ => {
                client.get("/api/openapi.json", "").await;
                client.0.set_zero_linger().unwrap();
                continue;
            }
        }
        left.push(client);
        if number % 100 == 0 {
            assert_eq!(place.admin.get("/api/skills").await.status, 200);
        }
    }
    assert_eq!(place.admin.get("/api/skills").await.status, 200);
    for client in left {
        client.until_over().await;
    }
    assert_eq!(place.admin.get("/api/skills").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_without_an_end_are_cut_off_and_hurt_nobody() {
    let place = crowded(|config| config.body_bytes_max = 256 * 1024).await;
    let mut endless = JoinSet::new();
    for number in 0..ENDLESS_CLIENTS {
        let address = place.address;
        // Every other one has no credential: nothing of its body is waited for.
        let credential = if number % 2 == 0 { ADMIN_TOKEN } else { "somebody" };
        endless.spawn(async move {
            let mut client = Client::connect(address).await;
            let head = format!(
                "POST /api/catalog-api-keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {credential}\r\n\
                 Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            );
            client.say(&head).await;
            let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
            // The server stops to read and closes at some point, which is an error here.
            for _ in 0..256 {
                if client.0.write_all(chunk.as_bytes()).await.is_err() {
                    break;
                }
            }
            client.until_over().await;
        });
    }
    for _ in 0..20 {
        assert_eq!(place.admin.get("/api/skills").await.status, 200);
    }
    while let Some(ended) = endless.join_next().await {
        ended.unwrap();
    }
    assert_eq!(place.admin.get("/api/skills").await.status, 200);
}
