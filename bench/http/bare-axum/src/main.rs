//! A bare axum server: answers with the bytes of a file, and with "not modified" to whoever names a tag. Knows nothing of
//! keys, skills or limits.
//!
//! usage: bare-axum FILE
//!
//! Prints where it listens, and serves until its standard input ends.

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;

const TAG: &str = "\"bare\"";

#[tokio::main]
async fn main() {
    let file = std::env::args().nth(1).expect("the file is missing");
    let bytes = Bytes::from(std::fs::read(file).expect("the file can be read"));
    let handler = move |headers: HeaderMap| async move { answer(&headers, bytes) };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
    println!("http://{}", listener.local_addr().expect("it listens"));
    std::thread::spawn(|| {
        // Whoever started us closes it, however they end.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
    axum::serve(listener, Router::new().route("/api/skills", get(handler))).await.expect("it serves");
}

fn answer(headers: &HeaderMap, bytes: Bytes) -> Response {
    if headers.contains_key(header::IF_NONE_MATCH) {
        return (StatusCode::NOT_MODIFIED, [(header::ETAG, TAG)]).into_response();
    }
    ([(header::CONTENT_TYPE, "application/json"), (header::ETAG, TAG)], bytes).into_response()
}
