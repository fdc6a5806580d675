//! How often somebody may ask, and how often somebody may fail to get in.

use serde_json::json;

use crate::place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asks_too_often_is_told_when_to_come_back() {
    let place = Place::open_with(&[], |config| {
        config.requests_per_second = 1;
        config.request_burst = 5;
    })
    .await;
    let ann = place.somebody("ann", &["catalog:read"]).await;
    let also_ann = place.somebody("ann", &["catalog:read"]).await;
    let bob = place.somebody("bob", &["catalog:read"]).await;
    let mut statuses = Vec::new();
    for _ in 0..8 {
        statuses.push(ann.get("/api/skills").await.status);
    }
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 5, "{statuses:?}");
    let answer = also_ann.get("/api/skills").await;
    answer.refused(429, "rate_limited");
    assert_eq!(answer.header("retry-after"), "1");
    assert_eq!(bob.get("/api/skills").await.status, 200, "others are not held up");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_says_not_who_they_are_is_counted_by_address() {
    let place = Place::open_with(&[], |config| {
        config.requests_per_second = 1;
        config.request_burst = 3;
        config.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    })
    .await;
    let nobody = place.admin.with(None);
    let from = async |address: &str| {
        nobody.call("GET", "/readyz", &[("X-Forwarded-For", address)], None).await.status
    };
    for _ in 0..3 {
        assert_eq!(from("203.0.113.1").await, 200);
    }
    assert_eq!(from("203.0.113.1").await, 429);
    assert_eq!(from("203.0.113.2").await, 200);
    let alive = nobody.call("GET", "/healthz", &[("X-Forwarded-For", "203.0.113.1")], None).await;
    assert_eq!(alive.status, 200, "a monitor at the same address still sees that the server lives");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_fails_too_often_slows_down_wrong_credentials_only() {
    let place = Place::open_with(&[], |config| {
        config.refused_per_minute = 3;
        config.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    })
    .await;
    let made = place.admin.post("/api/catalog-api-keys", json!({"owner_user_id": "ann"})).await.expect(201);
    let (ann, nobody) = (place.admin.with(made["key"].as_str()), place.admin.with(None));
    let wrong = format!("artel_{}.{}", "a".repeat(12), "b".repeat(32));
    let here = [("X-Forwarded-For", "203.0.113.1")];
    assert_eq!(ann.call("GET", "/api/skills", &here, None).await.status, 200);
    for _ in 0..3 {
        let with_key = [here[0], ("X-Artel-Key", wrong.as_str())];
        assert_eq!(nobody.call("GET", "/api/skills", &with_key, None).await.status, 401);
    }
    for presented in [wrong.as_str(), "", "nonsense"] {
        let answer = nobody.call("GET", "/api/skills", &[here[0], ("X-Artel-Key", presented)], None).await;
        answer.refused(429, "rate_limited");
        assert!(answer.header("retry-after").parse::<u64>().unwrap() <= 20);
    }
    assert_eq!(ann.call("GET", "/api/skills", &here, None).await.status, 200, "who is known is let in");
    assert_eq!(place.admin.call("GET", "/api/skills", &here, None).await.status, 200);
    let made = place.admin.post("/api/catalog-api-keys", json!({"owner_user_id": "bob"})).await.expect(201);
    let bob = place.admin.with(made["key"].as_str());
    assert_eq!(
        bob.call("GET", "/api/skills", &here, None).await.status,
        200,
        "a right key that was never seen is let in, whatever others at its address do"
    );
    let (id, _) = made["key"].as_str().unwrap().split_once('.').unwrap();
    let wrong_secret = format!("{id}.{}", "b".repeat(32));
    let with_wrong = [here[0], ("X-Artel-Key", wrong_secret.as_str())];
    nobody.call("GET", "/api/skills", &with_wrong, None).await.refused(429, "rate_limited");
    let elsewhere = [("X-Forwarded-For", "203.0.113.2"), ("X-Artel-Key", wrong.as_str())];
    assert_eq!(
        nobody.call("GET", "/api/skills", &elsewhere, None).await.status,
        401,
        "others are not held up"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn many_first_requests_with_one_key_all_get_in() {
    let place = Place::open_with(&[], |config| config.refused_per_minute = 3).await;
    let ann = place.somebody("ann", &["catalog:read"]).await;
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let ann = ann.clone();
            tokio::spawn(async move { ann.get("/api/skills").await.status })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), 200);
    }
}
