//! How well skills do, as each caller sees it: bad input counts for nothing, one caller changes nothing for another, and an
//! operator resets a skill of any source.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use serde_json::{Value, json};

use crate::client::Client;
use crate::place::{Place, TestSkill};
use crate::plans::end_of;

/// A script that refuses, gives up, or crashes, as its input says.
const MOODY: &str = r#"read -r request
say() { echo "{\"version\":\"0\",\"type\":$1}"; }
case $request in
*refuse*) say '"error","errorCode":"invalid_input","errorMessage":"not that"'; say '"done","ok":false';;
*quit*) say '"error","errorCode":"ODD","errorMessage":"no"'; exit 3;;
*crash*) kill -9 $$;;
*) say '"done","ok":true';;
esac"#;

async fn run(client: &Client, mood: &str) {
    let run = client.post("/api/runs", json!({"skill": "moody", "params": {"mood": mood}})).await.expect(202);
    end_of(client, &run).await;
}

/// Returns how the only skill does for a caller; nothing is known about one that does well.
async fn health(client: &Client) -> String {
    let list = client.get("/api/skills/health").await.expect(200);
    list["items"]
        .as_array()
        .unwrap()
        .first()
        .map_or("healthy", |item| item["health"].as_str().unwrap())
        .to_owned()
}

async fn place() -> Place {
    Place::open(&[TestSkill("moody", json!({}), MOODY)]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_does_not_count_against_a_skill() {
    let place = place().await;
    let ann = place.person("ann").await;
    for mood in ["refuse", "quit"].repeat(6) {
        run(&ann, mood).await;
    }
    assert_eq!(
        (health(&ann).await, health(&place.admin).await),
        ("healthy".to_owned(), "healthy".to_owned())
    );
    assert_eq!(ann.get("/api/skills/health").await.expect(200), json!({"items": []}));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_caller_degrades_a_skill_for_no_other_and_three_end_it_until_it_is_reset() {
    let place = place().await;
    let [ann, bob, cid, dan] = [
        place.person("ann").await,
        place.person("bob").await,
        place.person("cid").await,
        place.person("dan").await,
    ];
    for _ in 0..7 {
        run(&ann, "crash").await;
    }
    assert_eq!((health(&ann).await, health(&bob).await), ("degraded".to_owned(), "healthy".to_owned()));
    run(&ann, "fine").await;
    assert_eq!(health(&ann).await, "healthy");
    for caller in [&ann, &ann, &bob, &bob, &cid, &cid] {
        run(caller, "crash").await;
    }
    assert_eq!(health(&dan).await, "permanentFailure");
    // What plans are made with follows what is known.
    place.catalogs.refresh(artel_app::Reread::Kept).await.unwrap();
    let refused = dan.post("/api/runs", json!({"skill": "moody"})).await;
    refused.refused(422, "invalid_plan");
    assert!(refused.text.contains("skill_unhealthy"), "{}", refused.text);
    dan.call("DELETE", "/api/skills/default%2Fmoody/health", &[], None).await.refused(403, "forbidden");
    place
        .admin
        .call("DELETE", "/api/skills/default%2Fnothing/health", &[], None)
        .await
        .refused(404, "not_found");
    place.admin.call("DELETE", "/api/skills/default%2Fmoody/health", &[], None).await.expect(204);
    assert_eq!(health(&dan).await, "healthy");
    run(&dan, "fine").await;
    let audit: Value = place.admin.get("/api/audit").await.expect(200);
    assert!(audit.to_string().contains("its failures are forgotten"), "{audit}");
}
