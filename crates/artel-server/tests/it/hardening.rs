//! Clients that are too large, too slow, too many or gone, on a real socket; and a server that ends or meets a bug.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use artel_app::Probe;
use artel_server::Certificate;
use async_trait::async_trait;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::place::{ADMIN_TOKEN, Place};

/// How long a test waits before it gives up.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time limits that are reached within a test.
const SHORT: Duration = Duration::from_millis(300);
/// Clients that read nothing.
const SLOW_READERS: usize = 1000;
const TLS_CHAIN: &[u8] = include_bytes!("keys/test-only-tls.pem");
const TLS_KEY: &[u8] = include_bytes!("keys/test-only-tls.key.pem");

/// Connects, sends something and keeps the connection.
async fn sent(address: SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    stream
}

/// Reads until the server closes; a reset ends it too.
async fn read_all(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    let reading = async {
        while let Ok(count @ 1..) = stream.read(&mut piece).await {
            bytes.extend_from_slice(&piece[..count]);
        }
    };
    timeout(PATIENCE, reading).await.expect("the server closes the connection");
    String::from_utf8_lossy(&bytes).into_owned()
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

/// Returns the JSON after the head of an answer.
fn body(answer: &str) -> Value {
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap_or_default().1).unwrap_or_default()
}

fn post_head(length: usize) -> String {
    format!(
        "POST /api/catalog-api-keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ADMIN_TOKEN}\r\n\
         Content-Type: application/json\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_is_too_large_is_refused() {
    let place = Place::open(&[]).await;
    let large = format!("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Large: {}\r\n\r\n", "x".repeat(64 * 1024));
    let many: String = (0..500).map(|number| format!("X-{number}: x\r\n")).collect();
    let many = format!("GET /healthz HTTP/1.1\r\nHost: x\r\n{many}\r\n");
    let long = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "x".repeat(64 * 1024));
    for (name, bytes) in [("a header", large), ("many headers", many), ("a path", long)] {
        let mut stream = TcpStream::connect(place.address).await.unwrap();
        // The server may close before it has read everything.
        let _ = stream.write_all(bytes.as_bytes()).await;
        let answer = read_all(&mut stream).await;
        assert!(["431", "414", "400", ""].contains(&status(&answer)), "{name}: {answer}");
    }
    assert_eq!(place.admin.get("/healthz").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_http_is_refused() {
    let place = Place::open(&[]).await;
    for bytes in
        ["\r\n\r\n\r\n", "hello\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\r\n\r\n"]
    {
        let mut stream = sent(place.address, bytes.as_bytes()).await;
        stream.shutdown().await.unwrap();
        let answer = read_all(&mut stream).await;
        assert!(["400", "505", ""].contains(&status(&answer)), "{bytes:?}: {answer}");
    }
    assert_eq!(place.admin.get("/healthz").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_too_large_is_refused() {
    let place = Place::open_with(&[], |config| config.body_bytes_max = 1000).await;
    let large = json!({"label": "x".repeat(2000)});
    place.admin.post("/api/catalog-api-keys", large.clone()).await.refused(413, "too_large");
    let (large, head) =
        (large.to_string(), post_head(0).replace("Content-Length: 0", "Transfer-Encoding: chunked"));
    let chunked = format!("{head}{:x}\r\n{large}\r\n0\r\n\r\n", large.len());
    let answer = read_all(&mut sent(place.address, chunked.as_bytes()).await).await;
    assert_eq!((status(&answer), answer.contains("too_large")), ("413", true), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_or_a_body_that_comes_too_slowly_is_given_up() {
    let place = Place::open_with(&[], |config| {
        config.header_timeout = SHORT;
        config.body_timeout = SHORT;
    })
    .await;
    for begun in ["", "GET /healthz HT", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow"] {
        let answer = read_all(&mut sent(place.address, begun.as_bytes()).await).await;
        assert!(["408", ""].contains(&status(&answer)), "{begun}: {answer}");
    }
    let begun = format!("{}{{\"label\":", post_head(100));
    let answer = read_all(&mut sent(place.address, begun.as_bytes()).await).await;
    assert_eq!((status(&answer), &body(&answer)["error"]), ("408", &json!("too_slow")), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_say_nothing_do_not_keep_others_out_for_long() {
    let place = Place::open_with(&[], |config| {
        config.connections_max = 4;
        config.header_timeout = SHORT;
    })
    .await;
    let mut silent = Vec::new();
    for _ in 0..8 {
        silent.push(TcpStream::connect(place.address).await.unwrap());
    }
    assert_eq!(place.admin.get("/healthz").await.status, 200, "they were sent away");
    for mut stream in silent {
        assert_eq!(status(&read_all(&mut stream).await), "");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_has_only_so_many_connections() {
    let place = Place::open_with(&[], |config| config.connections_per_address_max = 3).await;
    let request = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut stream = sent(place.address, request).await;
        let mut byte = [0];
        timeout(PATIENCE, stream.read_exact(&mut byte)).await.expect("it is answered").unwrap();
        held.push(stream);
    }
    let mut further = TcpStream::connect(place.address).await.unwrap();
    let _ = further.write_all(request).await;
    assert_eq!(read_all(&mut further).await, "", "it is closed at once");
    held.pop();
    let answered = async {
        loop {
            let mut stream = TcpStream::connect(place.address).await.unwrap();
            let mut byte = [0];
            let _ = stream.write_all(request).await;
            if matches!(stream.read(&mut byte).await, Ok(1)) {
                return;
            }
        }
    };
    timeout(PATIENCE, answered).await.expect("there is a place again");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_bodies_together_have_so_much_room() {
    let place = Place::open_with(&[], |config| config.bodies_bytes_max = 300_000).await;
    let large = json!({"label": "x".repeat(300_000)}).to_string();
    // The first holds the room as long as it is not answered.
    let (begun, rest) = large.split_at(160_000);
    let mut slow = sent(place.address, post_head(large.len()).as_bytes()).await;
    slow.write_all(begun.as_bytes()).await.unwrap();
    let refused = async {
        loop {
            let answer = read_all(
                &mut sent(place.address, format!("{}{large}", post_head(large.len())).as_bytes()).await,
            )
            .await;
            if status(&answer) == "503" {
                return answer;
            }
            // A client that still sends when it is refused may see the connection end instead.
            assert!(["422", ""].contains(&status(&answer)), "{answer}");
        }
    };
    let answer = timeout(PATIENCE, refused).await.expect("there is no room for a second one");
    assert!(answer.to_lowercase().contains("retry-after: 1"), "{answer}");
    assert_eq!(body(&answer)["error"], "too_many_bodies");
    place.admin.post("/api/catalog-api-keys", json!({"label": "small"})).await.expect(201);
    let _ = slow.write_all(rest.as_bytes()).await;
    drop(slow);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_clients_that_do_not_read_do_not_hurt_others() {
    let place = Place::open_with(&[], |config| {
        config.connections_per_address_max = 2 * SLOW_READERS;
        config.write_timeout = SHORT;
        config.requests_per_second = 1_000_000;
        config.request_burst = 1_000_000;
    })
    .await;
    let request = b"GET /api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut readers = Vec::new();
    for _ in 0..SLOW_READERS {
        // As little room as the system gives, so that the server is left with most of the answer.
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(1).unwrap();
        let mut reader = socket.connect(place.address).await.unwrap();
        reader.write_all(request).await.unwrap();
        readers.push(reader);
        if readers.len() % 100 == 0 {
            assert_eq!(place.admin.get("/healthz").await.status, 200);
        }
    }
    assert_eq!(place.admin.get("/api/skills").await.status, 200);
    drop(readers);
    assert_eq!(place.admin.get("/api/skills").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_answers_what_is_under_way_and_nobody_else() {
    let mut place = Place::open(&[]).await;
    let wish = json!({"label": "late"}).to_string();
    let mut stream = sent(place.address, post_head(wish.len()).as_bytes()).await;
    // It answers others, so it has read the head of the first.
    assert_eq!(place.admin.get("/healthz").await.status, 200);
    let idle = TcpStream::connect(place.address).await.unwrap();
    let address = place.address;
    let ending = tokio::spawn(async move {
        place.stop().await;
        place
    });
    let refused = async {
        while TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, refused).await.expect("nobody else is let in");
    stream.write_all(wish.as_bytes()).await.unwrap();
    let answer = read_all(&mut stream).await;
    assert_eq!(status(&answer), "201", "{answer}");
    drop(timeout(PATIENCE, ending).await.expect("it ends").unwrap());
    drop(idle);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_does_not_wait_for_ever_to_end() {
    let mut place = Place::open_with(&[], |config| config.closing_grace = SHORT).await;
    let mut stream = sent(place.address, post_head(100).as_bytes()).await;
    assert_eq!(place.admin.get("/healthz").await.status, 200);
    timeout(PATIENCE, place.stop()).await.expect("it ends");
    assert_eq!(read_all(&mut stream).await, "", "the connection is cut");
}

struct Broken;

#[async_trait]
impl Probe for Broken {
    fn name(&self) -> &'static str {
        "bus"
    }

    async fn ready(&self) -> Result<(), String> {
        panic!("a bug that a test put here");
    }
}

struct Away;

#[async_trait]
impl Probe for Away {
    fn name(&self) -> &'static str {
        "bus"
    }

    async fn ready(&self) -> Result<(), String> {
        Err("connection refused by 10.1.2.3".to_owned())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bug_in_one_request_hurts_no_other() {
    let place = Place::open_with_parts(&[], |mut parts| {
        parts.app.probes.push(Arc::new(Broken));
        parts
    })
    .await;
    for _ in 0..3 {
        let answer = place.admin.get("/readyz").await;
        answer.refused(500, "internal");
        assert!(!answer.text.contains("a bug that a test put here"));
        assert_eq!(place.admin.get("/healthz").await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_misses_something_says_what_but_not_why() {
    let place = Place::open_with_parts(&[], |mut parts| {
        parts.app.probes.push(Arc::new(Away));
        parts
    })
    .await;
    let answer = place.admin.with(None).get("/readyz").await;
    answer.refused(503, "not_ready");
    assert!(
        answer.text.contains("the bus is not there") && !answer.text.contains("10.1.2.3"),
        "{}",
        answer.text
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_are_for_whoever_has_their_token() {
    let place = Place::open_with_parts(&[], |mut parts| {
        parts.http.authenticator = parts.http.authenticator.with_metrics_token("the-token-for-metrics");
        parts.http.metrics = Arc::new(|| "artel_http_connections 1\n".to_owned());
        parts
    })
    .await;
    let reader = place.admin.with(Some("the-token-for-metrics"));
    let answer = reader.get("/metrics").await;
    assert_eq!((answer.status, answer.text.as_str()), (200, "artel_http_connections 1\n"));
    assert!(answer.header("content-type").starts_with("text/plain; version=0.0.4"));
    assert_eq!(place.admin.get("/metrics").await.status, 200);
    assert_eq!(place.admin.with(None).get("/metrics").await.status, 401);
    place.person("ann").await.get("/metrics").await.refused(403, "forbidden");
    for path in ["/api/skills", "/api/audit", "/api/catalog-api-keys"] {
        reader.get(path).await.refused(403, "forbidden");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_encrypted_if_there_is_a_certificate() {
    let certificate = Certificate { chain_pem: TLS_CHAIN.to_vec(), key_pem: TLS_KEY.to_vec() };
    let place = Place::open_with(&[], |config| {
        config.certificate = Some(certificate);
        config.header_timeout = SHORT;
    })
    .await;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(TLS_CHAIN).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let client = reqwest::Client::builder().no_proxy().tls_backend_preconfigured(tls).build().unwrap();
    let answer = client.get(format!("https://{}/healthz", place.address)).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let plain = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    let answer = read_all(&mut sent(place.address, plain).await).await;
    assert!(!answer.contains("HTTP/1.1 200"), "{answer}");
    assert_eq!(status(&read_all(&mut sent(place.address, b"").await).await), "", "a silent one is sent away");
}
