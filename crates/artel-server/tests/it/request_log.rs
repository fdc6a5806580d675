//! What an operator reads in the log about requests, at the level that a server has by default.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::time::Duration;

use artel_model::time::Timestamp;
use artel_store::KeyStore as _;
use serde_json::{Value, json};

use crate::logged::Logged;
use crate::place::Place;
use crate::provider::Provider;

/// A word that stands in everything that must not be logged.
const SECRET: &str = "marked-and-never-logged";

async fn key(place: &Place, scopes: &[&str]) -> (String, String) {
    let made =
        place.admin.post("/api/catalog-api-keys", json!({"owner_user_id": "ann", "scopes": scopes})).await;
    let made = made.expect(201);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&made["record"]["key_id"]), text(&made["key"]))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_refused_credential_is_a_line_that_says_why() {
    let logged = Logged::begin(tracing::Level::INFO);
    let provider = Provider::open().await;
    let place = Place::open_with_parts(&[], |mut parts| {
        parts.http.config.refused_per_minute = 1_000_000;
        provider.trusted_by(parts)
    })
    .await;
    let (id, good) = key(&place, &["catalog:read"]).await;
    let secret = good.split_once('.').unwrap().1.to_owned();
    let (revoked_id, revoked) = key(&place, &["catalog:read"]).await;
    place.admin.call("DELETE", &format!("/api/catalog-api-keys/{revoked_id}"), &[], None).await;
    let mut row = place.store.key(&id).await.unwrap().unwrap();
    (row.key_id, row.expires_at) = ("expiredexpir".to_owned(), Some(Timestamp::from_millis(1)));
    assert!(place.store.create_key(&row, 1000).await.unwrap());
    let mut over = provider.claims("bob", &[]);
    over["exp"] = json!(1_000_000);
    let over = provider.signed(&json!({"alg": "EdDSA", "kid": "one"}), &over);
    let token = provider.token("bob", &[]);
    let ask = |credential: Option<String>, path: &'static str| {
        let client = place.admin.with(credential.as_deref());
        async move { client.get(path).await.status }
    };
    // What is refused, the owner that the line names, and the reason.
    let refused = [
        (None, "-", "no credential"),
        (Some(format!("{SECRET}-token")), "-", "unknown token"),
        (Some(format!("artel_{}.{}", "a".repeat(12), "b".repeat(32))), "-", "unknown key"),
        (Some(format!("artel_{id}.{}", "b".repeat(32))), "ann", "wrong secret"),
        (Some(format!("artel_expiredexpir.{secret}")), "ann", "expired key"),
        (Some(revoked.clone()), "ann", "revoked key"),
        (Some(over.clone()), "-", "expired token"),
        (Some(format!("{token}x")), "-", "wrong token"),
    ];
    for (number, (credential, owner, why)) in refused.iter().enumerate() {
        // A few of one address are told in a second; the clock decides when the next one is.
        let owner = format!("principal=\"{owner}\"");
        let words = ["WARN", "a credential was refused", owner.as_str(), "127.0.0.1", "/api/skills", why];
        let mut status = ask(credential.clone(), "/api/skills").await;
        while logged.lines(&words).is_empty() {
            status = ask(credential.clone(), "/api/skills").await;
            assert_eq!(status, 401, "{number}: {}", logged.text());
            tokio::task::yield_now().await;
        }
        assert_eq!(status, 401, "{why}");
    }
    let log = logged.text();
    for secret in [secret.as_str(), &token, &over, SECRET, revoked.split_once('.').unwrap().1] {
        assert!(!log.contains(secret), "{secret} is logged");
    }
    assert!(logged.lines(&[&format!("artel_{id}")]).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_scope_is_a_line_and_a_flood_is_a_few() {
    let logged = Logged::begin(tracing::Level::INFO);
    let place = Place::open_with(&[], |config| config.refused_per_minute = 1_000_000).await;
    let reader = place.somebody("ann", &["catalog:read"]).await;
    reader.post("/api/runs", json!({"skill": "bake"})).await.refused(403, "forbidden");
    let words = ["a credential was refused", "principal=\"ann\"", "/api/runs", "scope `runs:write`"];
    assert_eq!(logged.lines(&words).len(), 1, "{}", logged.text());
    let nobody = place.admin.with(None);
    for _ in 0..300 {
        nobody.get("/api/skills").await;
    }
    let told = logged.lines(&["a credential was refused", "no credential"]).len();
    assert!((1..150).contains(&told), "{told} lines for 300 refusals");
    assert!(!logged.lines(&["more credentials were refused", "left_out="]).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_a_line_with_who_where_what_and_how_long() {
    let logged = Logged::begin(tracing::Level::INFO);
    let place = Place::open_with(&[], |config| config.slow_request = Duration::ZERO).await;
    let ann = place.person("ann").await;
    ann.get(&format!("/api/skills?q={SECRET}")).await.expect(200);
    let run = json!({"skill": "bake", "params": {"password": SECRET}});
    ann.call("POST", "/api/runs", &[("Idempotency-Key", SECRET), ("Cookie", SECRET)], Some(&run)).await;
    ann.get("/nowhere/%1b[31m%0aINFO%20forged").await.refused(404, "not_found");
    ann.get("/healthz").await.expect(200);
    let line =
        ["INFO", "answered", "principal=\"ann\"", "address=127.0.0.1", "method=GET", "route=/api/skills"];
    assert_eq!(logged.lines(&[&line[..], &["status=200", "ms=", "request=\""]].concat()).len(), 1);
    assert_eq!(logged.lines(&["INFO", "answered", "route=/api/runs", "status=422"]).len(), 1);
    assert_eq!(logged.lines(&["answered", "status=404", "route=/nowhere/%1b[31m%0aINFO%20forged"]).len(), 1);
    assert!(
        logged.lines(&["answered", "/healthz"]).is_empty(),
        "a good answer to a probe is not worth a line"
    );
    assert_eq!(logged.lines(&["WARN", "a request was slow", "principal=\"ann\"", "/api/skills"]).len(), 1);
    assert!(!logged.text().contains(SECRET), "{}", logged.text());
}
