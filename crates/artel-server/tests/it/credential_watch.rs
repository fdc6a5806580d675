//! What was opened with a key and lasts: it ends soon after the key is not good any more.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::time::Duration;

use artel_engine::Clock;
use artel_store::KeyStore as _;
use serde_json::json;

use crate::agents::spawn;
use crate::client::Client;
use crate::mcp_talker::Talker;
use crate::place::Place;

const KEYS: &str = "/api/catalog-api-keys";
const EVENTS: &str = "/api/events?topic=work.*";

/// Returns a client with a key of its own, and the id of the key.
async fn keyed(place: &Place, user: &str) -> (Client, String) {
    let wish = json!({"owner_user_id": user, "scopes": ["agents:write"]});
    let made = place.admin.post(KEYS, wish).await.expect(201);
    (place.admin.with(made["key"].as_str()), made["record"]["key_id"].as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_revoked_ends_its_streams_and_no_others() {
    let place = Place::open(&[]).await;
    let ((ann, key), (again, _)) = (keyed(&place, "ann").await, keyed(&place, "ann").await);
    let agent = spawn(&again, json!({"driver": "external"})).await;
    let (mut ended, mut other) = (ann.stream(EVENTS, None).await, again.stream(EVENTS, None).await);
    assert_eq!(place.admin.call("DELETE", &format!("{KEYS}/{key}"), &[], None).await.status, 204);
    assert_eq!(ended.next().await, None);
    let event = json!({"sender_id": agent, "topic": "work.done", "payload": {}});
    again.post("/api/messages/publish", event).await.expect(201);
    assert!(other.next().await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_somebody_else_revokes_ends_its_streams() {
    let place = Place::open(&[]).await;
    let (ann, key) = keyed(&place, "ann").await;
    let mut stream = ann.stream(EVENTS, None).await;
    place.store.revoke_key(&key, Clock::system().now()).await.unwrap();
    assert_eq!(stream.next().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_expires_ends_its_streams() {
    let place = Place::open(&[]).await;
    let until = Clock::system().now() + u64::try_from(Duration::from_secs(3).as_millis()).unwrap();
    let wish = json!({"owner_user_id": "ann", "scopes": ["agents:write"], "expires_at": until});
    let made = place.admin.post(KEYS, wish).await.expect(201);
    let mut stream = place.admin.with(made["key"].as_str()).stream(EVENTS, None).await;
    assert_eq!(stream.next().await, None);
    assert!(Clock::system().now() >= until);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_revoked_ends_its_sessions_of_mcp() {
    let place = Place::open(&[]).await;
    let (ann, key) = keyed(&place, "ann").await;
    let talker = Talker::begin(&place, &ann.credential().unwrap()).await;
    let listening = talker.listen().await;
    assert_eq!(place.admin.call("DELETE", &format!("{KEYS}/{key}"), &[], None).await.status, 204);
    listening.ended().await;
}
