//! Nothing that is secret gets into logs, answers or the store, whatever is called and however it fails.

use artel_store::{AuditFilter, AuditStore as _, KeyStore as _, PageRequest};
use serde_json::json;

use crate::logged::Logged;
use crate::place::{ADMIN_TOKEN, Place};
use crate::provider::Provider;

const METRICS_TOKEN: &str = "the-token-for-the-numbers";
const WRONG_TOKEN: &str = "a-token-that-somebody-mistyped";

#[tokio::test(flavor = "multi_thread")]
async fn nothing_secret_is_logged_answered_or_kept() {
    let logged = Logged::begin(tracing::Level::TRACE);
    let provider = Provider::open().await;
    let place = Place::open_with_parts(&[], |parts| {
        let mut parts = provider.trusted_by(parts);
        parts.http.authenticator = parts.http.authenticator.with_metrics_token(METRICS_TOKEN);
        parts
    })
    .await;
    let made = place.admin.post("/api/catalog-api-keys", json!({"scopes": ["admin"]})).await.expect(201);
    let key = made["key"].as_str().unwrap().to_owned();
    let secret = key.split_once('.').unwrap().1.to_owned();
    let wrong_secret = "w".repeat(32);
    let wrong_key = format!("{}.{wrong_secret}", key.split_once('.').unwrap().0);
    let ann = provider.token("ann", &["blue"]);
    let broken = format!("{ann}x");
    let credentials = [ADMIN_TOKEN, &key, &wrong_key, &ann, &broken, METRICS_TOKEN, WRONG_TOKEN];
    let mut answers = String::new();
    for credential in credentials {
        let client = place.admin.with(Some(credential));
        for path in ["/api/skills", "/api/audit", "/metrics", "/api/catalog-api-keys", "/nowhere"] {
            answers.push_str(&client.get(path).await.text);
        }
        for body in [json!({"scopes": "odd"}), json!({"odd": 1}), json!([])] {
            answers.push_str(&client.post("/api/catalog-api-keys", body).await.text);
        }
        let header = [("X-Artel-Key", credential)];
        answers.push_str(&place.admin.with(None).call("GET", "/api/skills", &header, None).await.text);
    }
    let log = logged.text();
    assert!(log.contains("answered"), "something was logged");
    let page = PageRequest { after: None, limit: 1000 };
    let keys = place.store.keys(None, &page).await.unwrap();
    let audit = place.store.audit(&AuditFilter::default(), &page).await.unwrap();
    let kept = format!("{keys:?} {audit:?} {:?}", place.store.admin_token_hash().await.unwrap());
    let mut secrets =
        vec![ADMIN_TOKEN.to_owned(), secret, wrong_secret, METRICS_TOKEN.to_owned(), WRONG_TOKEN.to_owned()];
    secrets.extend(provider.given().iter().map(|token| token.rsplit_once('.').unwrap().1.to_owned()));
    for secret in secrets {
        for (place, text) in [("the log", &log), ("an answer", &answers), ("the store", &kept)] {
            assert!(!text.contains(&secret), "{place} holds {secret}");
        }
    }
}
