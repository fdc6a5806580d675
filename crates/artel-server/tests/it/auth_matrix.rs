//! Every endpoint, with every kind of credential that must not be enough. The list of endpoints is the router's own, so
//! none can be forgotten.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::collections::BTreeSet;

use artel_api::{Endpoint, Needs};
use artel_model::access::Scope;
use artel_model::time::Timestamp;
use artel_server::endpoints;
use artel_store::KeyStore as _;
use serde_json::{Value, json};

use crate::client::{Answered, Client};
use crate::place::Place;

/// A server that does not count: the tests fail to get in more often than anybody may.
async fn place() -> Place {
    Place::open_with(&[], |config| {
        config.refused_per_minute = 1_000_000;
        config.requests_per_second = 1_000_000;
        config.request_burst = 1_000_000;
    })
    .await
}

/// Returns a path of the endpoint with something in place of its names.
fn path(endpoint: &Endpoint) -> String {
    let parts = endpoint.path.split('/').map(|part| if part.starts_with('{') { "x" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

async fn call(client: &Client, endpoint: &Endpoint) -> Answered {
    let method = endpoint.method.as_str().to_uppercase();
    client.call(&method, &path(endpoint), &[], None).await
}

fn guarded() -> Vec<Endpoint> {
    endpoints().into_iter().filter(|endpoint| endpoint.needs != Needs::Nothing).collect()
}

async fn key(place: &Place, wish: Value) -> (String, Client) {
    let made = place.admin.post("/api/catalog-api-keys", wish).await.expect(201);
    let id = made["record"]["key_id"].as_str().unwrap().to_owned();
    (id, place.admin.with(made["key"].as_str()))
}

/// Returns the body without what differs from request to request.
fn without_id(answer: &Answered) -> Value {
    let mut body = answer.body.clone();
    body.as_object_mut().unwrap().remove("request_id");
    body
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_not_let_in_cannot_tell_why() {
    let place = place().await;
    let (id, revoked) = key(&place, json!({"label": "revoked", "scopes": ["admin"]})).await;
    let gone = place.admin.call("DELETE", &format!("/api/catalog-api-keys/{id}"), &[], None).await;
    assert_eq!(gone.status, 204);
    let (id, expired) = key(&place, json!({"label": "expired", "scopes": ["admin"]})).await;
    // Nobody can make a key that has expired, so one with the same secret is put beside it.
    let mut row = place.store.key(&id).await.unwrap().unwrap();
    row.expires_at = Some(Timestamp::from_millis(1));
    let secret = expired.credential().unwrap().split_once('.').unwrap().1.to_owned();
    row.key_id = "expiredexpir".to_owned();
    assert!(place.store.create_key(&row, 1000).await.unwrap());
    let expired = place.admin.with(Some(&format!("artel_expiredexpir.{secret}")));
    let unknown = format!("artel_{}.{}", "a".repeat(12), "b".repeat(32));
    let wrong_secret = format!("artel_{id}.{}", "b".repeat(32));
    let clients = [
        ("nothing", place.admin.with(None)),
        ("a wrong token", place.admin.with(Some(&crate::place::ADMIN_TOKEN[1..]))),
        ("an empty token", place.admin.with(Some(""))),
        ("an unknown key", place.admin.with(Some(&unknown))),
        ("a wrong secret", place.admin.with(Some(&wrong_secret))),
        ("an expired key", expired),
        ("a revoked key", revoked),
        ("a token of nobody", place.admin.with(Some("eyJhbGciOiJub25lIn0.e30."))),
    ];
    let mut bodies = BTreeSet::new();
    for (name, client) in &clients {
        for endpoint in &guarded() {
            let answer = call(client, endpoint).await;
            assert_eq!(answer.status, 401, "{name} at {} {}", endpoint.path, answer.text);
            answer.refused(401, "unauthorized");
            assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"artel\"");
            bodies.insert(without_id(&answer).to_string());
        }
    }
    assert_eq!(bodies.len(), 1, "{bodies:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_credentials_are_none() {
    let place = place().await;
    let (_, client) = key(&place, json!({"scopes": ["catalog:read"]})).await;
    let text = client.credential().unwrap();
    let with_header = |client: Client, value: String| async move {
        client.call("GET", "/api/skills", &[("X-Artel-Key", &value)], None).await.status
    };
    assert_eq!(with_header(place.admin.with(None), text.clone()).await, 200);
    assert_eq!(with_header(client.clone(), text.clone()).await, 200, "twice the same");
    assert_eq!(with_header(place.admin.clone(), text.clone()).await, 401);
    assert_eq!(with_header(place.admin.with(None), crate::place::ADMIN_TOKEN.to_owned()).await, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scope_is_needed_and_no_other_helps() {
    let place = place().await;
    for scope in Scope::ALL.into_iter().filter(|scope| *scope != Scope::Admin) {
        let (_, client) = key(&place, json!({"owner_user_id": "ann", "scopes": [scope]})).await;
        for endpoint in &guarded() {
            let answer = call(&client, endpoint).await;
            let may = match endpoint.needs {
                Needs::Nothing | Needs::Credential => true,
                Needs::Scope(needed) => needed == scope,
                Needs::AdminOr(_) | Needs::Metrics | Needs::Person(_) => false,
            };
            let about = format!("{scope} at {} {}: {}", endpoint.method.as_str(), endpoint.path, answer.text);
            assert_ne!(answer.status, 401, "{about}");
            if may {
                // What is refused then is refused by the endpoint itself, about the thing and not the caller's scope.
                assert!(!answer.text.contains("This needs the scope"), "{about}");
            } else {
                answer.refused(403, "forbidden");
            }
            if let Needs::AdminOr(message) = endpoint.needs {
                assert_eq!(answer.body["message"], message);
            }
            assert!(answer.status < 500, "{about}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn not_even_an_administrators_key_manages_keys() {
    let place = place().await;
    let (_, client) = key(&place, json!({"scopes": ["admin"]})).await;
    let persons: Vec<Endpoint> =
        guarded().into_iter().filter(|endpoint| matches!(endpoint.needs, Needs::Person(_))).collect();
    assert!(persons.len() >= 3);
    for endpoint in &persons {
        call(&client, endpoint).await.refused(403, "forbidden");
    }
    assert_eq!(client.get("/api/audit").await.status, 200, "it is an administrator's otherwise");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_refuses_a_parameter_that_it_does_not_have() {
    let place = place().await;
    for endpoint in endpoints() {
        let (method, path) =
            (endpoint.method.as_str().to_uppercase(), format!("{}?odd_one=1", path(&endpoint)));
        let answer = place.admin.call(&method, &path, &[], None).await;
        answer.refused(400, "unknown_parameter");
        assert_eq!(answer.body["details"]["parameter"], "odd_one", "{path}");
        let known: Vec<&str> = answer.body["details"]["known"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one.as_str().unwrap())
            .collect();
        assert_eq!(known, endpoint.query_names(), "{path}");
    }
    let stranger = place.admin.with(None);
    stranger.get("/api/skills?odd_one=1").await.refused(401, "unauthorized");
}
