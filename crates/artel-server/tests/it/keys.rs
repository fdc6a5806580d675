//! API keys over HTTP: made, used, listed, revoked, and who may do that.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use artel_store::KeyStore as _;
use serde_json::{Value, json};

use crate::place::Place;
use crate::provider::Provider;

const KEYS: &str = "/api/catalog-api-keys";

fn id_of(made: &Value) -> String {
    made["record"]["key_id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_shown_once_and_kept_as_a_hash() {
    let place = Place::open(&[]).await;
    let made = place.admin.post(KEYS, json!({"label": " nightly "})).await.expect(201);
    let key = made["key"].as_str().unwrap();
    let (id, secret) = key.strip_prefix("artel_").unwrap().split_once('.').unwrap();
    assert_eq!((id.len(), secret.len()), (12, 32));
    assert_eq!(made["record"]["key_id"], id);
    assert_eq!(made["record"]["label"], "nightly");
    assert_eq!(made["record"]["scopes"], json!(["catalog:read"]));
    assert_eq!(made["record"]["owner_user_id"], "admin");
    let row = place.store.key(id).await.unwrap().unwrap();
    assert!(row.key_hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
    assert!(!row.key_hash.contains(secret));
    let listed = place.admin.get(KEYS).await;
    assert!(!listed.text.contains(secret) && !listed.text.contains("argon2"), "{}", listed.text);
    assert_eq!(listed.expect(200)["items"][0]["key_id"], id);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_good_until_it_is_revoked() {
    let place = Place::open(&[]).await;
    let made = place.admin.post(KEYS, json!({"owner_user_id": "ann"})).await.expect(201);
    let ann = place.admin.with(made["key"].as_str());
    for _ in 0..3 {
        assert_eq!(ann.get("/api/skills").await.status, 200);
    }
    let row = place.store.key(&id_of(&made)).await.unwrap().unwrap();
    let used = row.last_used_at.unwrap();
    assert_eq!(used.as_millis() % 60_000, 0, "to the minute");
    let path = format!("{KEYS}/{}", id_of(&made));
    assert_eq!(place.admin.call("DELETE", &path, &[], None).await.status, 204);
    ann.get("/api/skills").await.refused(401, "unauthorized");
    assert_eq!(place.admin.call("DELETE", &path, &[], None).await.status, 204, "once more changes nothing");
    place.admin.call("DELETE", &format!("{KEYS}/nonexistent1"), &[], None).await.refused(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_a_key_is_not_made() {
    let place = Place::open(&[]).await;
    let wrong = [
        (json!({"expires_at": "2020-01-01T00:00:00Z"}), "already_expired"),
        (json!({"scopes": []}), "no_scopes"),
        (json!({"label": "x".repeat(201)}), "invalid_label"),
        (json!({"label": "two\nlines"}), "invalid_label"),
        (json!({"scopes": ["everything"]}), "invalid_body"),
        (json!({"key_hash": "mine"}), "invalid_body"),
        (json!({"owner_user_id": ""}), "invalid_body"),
    ];
    for (wish, code) in wrong {
        place.admin.post(KEYS, wish).await.refused(422, code);
    }
    assert_eq!(place.admin.get(KEYS).await.expect(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_gives_a_key_more_than_they_have() {
    let provider = Provider::open().await;
    let place = Place::open_with_parts(&[], |parts| provider.trusted_by(parts)).await;
    let ann = place.admin.with(Some(&provider.token("ann", &["blue", "red"])));
    let made = ann.post(KEYS, json!({"scopes": ["catalog:read", "runs:write"]})).await.expect(201);
    assert_eq!(made["record"]["owner_user_id"], "ann");
    assert_eq!(made["record"]["team_ids"], json!(["blue", "red"]), "all of her teams");
    let fewer = ann.post(KEYS, json!({"team_ids": ["red"]})).await.expect(201);
    assert_eq!(fewer["record"]["team_ids"], json!(["red"]));
    for wish in
        [json!({"scopes": ["admin"]}), json!({"team_ids": ["green"]}), json!({"owner_user_id": "bob"})]
    {
        ann.post(KEYS, wish).await.refused(403, "forbidden");
    }
    let boss = place.admin.with(Some(&provider.token("boss", &["bosses"])));
    let others = json!({"owner_user_id": "bob", "team_ids": ["green"], "scopes": ["admin"]});
    assert_eq!(boss.post(KEYS, others).await.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_an_administrator_is_an_ordinary_one_when_its_owner_leaves_the_group() {
    let provider = Provider::open().await;
    let place = Place::open_with_parts(&[], |parts| provider.trusted_by(parts)).await;
    let boss = place.admin.with(Some(&provider.token("ann", &["bosses"])));
    let wish = json!({"scopes": ["admin", "catalog:read"]});
    let made = boss.post(KEYS, wish).await.expect(201);
    let kept = boss.post(KEYS, json!({"scopes": ["admin"]})).await.expect(201);
    let key = |made: &serde_json::Value| place.admin.with(made["key"].as_str());
    key(&kept).get("/api/audit").await.expect(200);
    // The provider says something else, and the key that was made before is used for the first time.
    place.admin.with(Some(&provider.token("ann", &["blue"]))).get("/api/whoami").await.expect(200);
    key(&made).get("/api/audit").await.refused(403, "forbidden");
    assert_eq!(key(&made).get("/api/whoami").await.expect(200)["scopes"], json!(["catalog:read"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_others_do_not_exist() {
    let provider = Provider::open().await;
    let place = Place::open_with_parts(&[], |parts| provider.trusted_by(parts)).await;
    let ann = place.admin.with(Some(&provider.token("ann", &[])));
    let bob = place.admin.with(Some(&provider.token("bob", &[])));
    let made = ann.post(KEYS, json!({})).await.expect(201);
    assert_eq!(bob.get(KEYS).await.expect(200)["items"], json!([]));
    bob.get(&format!("{KEYS}?owner=ann")).await.refused(403, "forbidden");
    let path = format!("{KEYS}/{}", id_of(&made));
    bob.call("DELETE", &path, &[], None).await.refused(404, "not_found");
    assert_eq!(ann.get(KEYS).await.expect(200)["items"].as_array().unwrap().len(), 1);
    assert_eq!(
        place.admin.get(&format!("{KEYS}?owner=ann")).await.expect(200)["items"].as_array().unwrap().len(),
        1
    );
    assert_eq!(ann.call("DELETE", &path, &[], None).await.status, 204);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_acts_for_its_owner_but_not_as_them() {
    let provider = Provider::open().await;
    let place = Place::open_with_parts(&[], |parts| provider.trusted_by(parts)).await;
    let ann = place.admin.with(Some(&provider.token("ann", &[])));
    let made = ann.post(KEYS, json!({})).await.expect(201);
    let key = ann.with(made["key"].as_str());
    assert_eq!(key.get("/api/skills").await.status, 200);
    for answer in [key.get(KEYS).await, key.post(KEYS, json!({})).await] {
        answer.refused(403, "forbidden");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_keys_are_in_the_audit_log() {
    let place = Place::open_with(&[], |config| {
        config.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    })
    .await;
    let from = [("X-Forwarded-For", "10.0.0.1, 203.0.113.7")];
    let wish = json!({"label": "ci", "owner_user_id": "ann"});
    let made = place.admin.call("POST", KEYS, &from, Some(&wish)).await.expect(201);
    let path = format!("{KEYS}/{}", id_of(&made));
    assert_eq!(place.admin.call("DELETE", &path, &[], None).await.status, 204);
    let log = place.admin.get("/api/audit").await;
    assert!(!log.text.contains(made["key"].as_str().unwrap()));
    let items = log.expect(200)["items"].clone();
    let told = |index: usize, field: &str| items[index][field].as_str().unwrap_or_default().to_owned();
    assert_eq!((told(0, "action"), told(1, "action")), ("key_revoked".to_owned(), "key_created".to_owned()));
    assert_eq!((told(0, "from"), told(1, "from")), ("127.0.0.1".to_owned(), "203.0.113.7".to_owned()));
    assert_eq!((told(1, "user"), told(1, "credential")), ("admin".to_owned(), "admin token".to_owned()));
    assert_eq!(told(1, "subject"), id_of(&made));
    let pick = async |query: &str| {
        place.admin.get(&format!("/api/audit?{query}")).await.expect(200)["items"].as_array().unwrap().len()
    };
    assert_eq!(pick("action=key_created").await, 1);
    assert_eq!(pick("user=nobody").await, 0);
    assert_eq!(pick(&format!("subject={}", id_of(&made))).await, 2);
    assert_eq!(pick("until=2020-01-01T00:00:00Z").await, 0);
    let first = place.admin.get("/api/audit?limit=1").await.expect(200);
    let next = first["next"].as_str().unwrap();
    assert_eq!(pick(&format!("limit=1&after={next}")).await, 1);
    for wrong in ["action=odd", "limit=0", "odd=1", "after=odd", "since=yesterday"] {
        assert_eq!(place.admin.get(&format!("/api/audit?{wrong}")).await.status, 400, "{wrong}");
    }
}
