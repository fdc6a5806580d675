//! One request, one answer.

use artel_api::client::{ApiPath, Client, ClientConfig, ClientError};
use serde_json::{Value, json};

use crate::stand_in::{StandIn, answer};

fn skills() -> ApiPath {
    ApiPath::new("/api/skills")
}

#[tokio::test]
async fn a_request_carries_the_token_and_the_key_and_gets_a_document() {
    let server = StandIn::start(vec![answer(202, r#"{"run_id":1}"#), answer(204, "")]).await;
    let client = server.client(Some("secret-token"));
    let made: Value = client.post(&skills(), &json!({"a": 1}), Some("once")).await.unwrap();
    assert_eq!(made, json!({"run_id": 1}));
    client.delete(&skills().name("a/b")).await.unwrap();
    let asked = server.asked();
    assert!(asked[0].starts_with("post /api/skills http/1.1"), "{}", asked[0]);
    assert!(asked[0].contains("authorization: bearer secret-token"), "{}", asked[0]);
    assert!(asked[0].contains("idempotency-key: once"), "{}", asked[0]);
    assert!(asked[1].starts_with("delete /api/skills/a%2fb "), "{}", asked[1]);
}

#[tokio::test]
async fn a_refusal_is_told_in_the_servers_words() {
    let body = r#"{"error":"not_found","message":"there is no such run","request_id":"7"}"#;
    let server = StandIn::start(vec![answer(404, body)]).await;
    let error = server.client(None).get::<Value>(&skills()).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no such run");
    assert_eq!((error.status(), error.code()), (Some(404), Some("not_found")));
}

#[tokio::test]
async fn what_is_no_artel_server_is_told_apart() {
    let server = StandIn::start(vec![
        answer(200, "<html>"),
        answer(502, "<h1>Bad\u{1b}[31m Gateway</h1>"),
        answer(302, "moved"),
    ])
    .await;
    let client = server.client(None);
    for status in [200, 502, 302] {
        let error = client.get::<Value>(&skills()).await.unwrap_err();
        assert!(matches!(error, ClientError::Garbled { status: told, .. } if told == status), "{error}");
        assert!(!error.to_string().contains('\u{1b}'), "{error}");
    }
    // A token does not go where an answer sends it.
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn nobody_there_is_told_without_the_path() {
    let server = StandIn::start(Vec::new()).await;
    let error = server.client(Some("secret-token")).get::<Value>(&skills()).await.unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { .. }), "{error}");
    let unused = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let config = ClientConfig { server: format!("http://{unused}").parse().unwrap(), token: None };
    let error = Client::new(config).unwrap().get::<Value>(&skills()).await.unwrap_err();
    assert_eq!(error.to_string(), format!("cannot reach `http://{unused}`"));
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off() {
    let server = StandIn::start(vec![answer(200, &"x".repeat(1000))]).await;
    let error = server.client(None).bytes(&skills(), 999).await.unwrap_err();
    assert!(matches!(error, ClientError::TooLarge { bytes_max: 999, .. }), "{error}");
}
