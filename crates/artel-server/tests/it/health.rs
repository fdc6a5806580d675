//! How well skills do, as each caller sees it: bad input counts for nothing, one caller changes nothing for another, and an
//! operator resets a skill of any source.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use artel_model::data_scope::OwnerKey;
use artel_model::health::RunOutcome;
use artel_model::limit::{HEALTH_KEPT_MS, HEALTH_PROBE_MS};
use artel_model::time::Timestamp;
use artel_store::{HealthChange, HealthStore as _, RunAppend, RunStore as _};
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
*wait*) until [ -e "$ARTEL_DATA_DIR/go" ]; do sleep 0.02; done; say '"done","ok":true';;
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

/// Writes two failures of each of three people with some files, so long ago.
async fn failed(place: &Place, skill: &str, content_hash: &str, ago_ms: u64) {
    let run = place
        .admin
        .post("/api/runs", json!({"skill": "moody", "params": {"mood": "fine"}}))
        .await
        .expect(202);
    end_of(&place.admin, &run).await;
    let id = run["run_id"].as_str().unwrap().parse().unwrap();
    let row = place.store.run(id).await.unwrap().unwrap();
    let now = artel_engine::Clock::system().now().as_millis();
    let at = Timestamp::from_millis(now - i64::try_from(ago_ms).unwrap());
    let change = |who: &str| HealthChange {
        skill: skill.parse().unwrap(),
        content_hash: content_hash.to_owned(),
        principal: OwnerKey::of(Some(&who.parse().unwrap())),
        outcome: RunOutcome::Failure,
        at,
    };
    let health = ["ann", "ann", "bob", "bob", "cid", "cid"].map(change).to_vec();
    let (run, expected, fence) = (id, row.revision, Some(row.fence));
    let append =
        RunAppend { run, expected, fence, events: Vec::new(), summary: None, executions: Vec::new(), health };
    place.store.append(append).await.unwrap();
    place.catalogs.refresh(artel_app::Reread::Kept).await.unwrap();
}

async fn content_hash(place: &Place, id: &str) -> String {
    let path = crate::skills_place::skill_path(id);
    place.admin.get(&path).await.expect(200)["content_hash"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_run_tries_a_skill_again_and_the_others_wait_for_it() {
    let place = place().await;
    let ann = place.person("ann").await;
    failed(&place, "moody", &content_hash(&place, "default/moody").await, HEALTH_PROBE_MS).await;
    assert_eq!(health(&ann).await, "degraded", "its time has come");
    let wait = json!({"skill": "moody", "params": {"mood": "wait"}});
    let probe = place.admin.post("/api/runs", wait.clone()).await.expect(202);
    for client in [&ann, &place.admin] {
        let refused = client.post("/api/runs", json!({"skill": "moody"})).await;
        refused.refused(409, "skill_unhealthy");
        assert!(refused.text.contains("another run is trying it again"), "{}", refused.text);
    }
    ann.post("/api/agents", json!({"skill": "moody"})).await.refused(409, "skill_unhealthy");
    place.go("moody");
    assert_eq!(end_of(&place.admin, &probe).await["success"], json!(true));
    place.catalogs.refresh(artel_app::Reread::Kept).await.unwrap();
    run(&ann, "fine").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_of_saved_skills_are_reset_by_id_and_those_of_files_that_are_gone_are_pruned() {
    let mut hubs = None;
    let place = Place::open_with_parts(&[TestSkill("moody", json!({}), MOODY)], |parts| {
        hubs.clone_from(&parts.app.hubs);
        parts
    })
    .await;
    let draft = json!({"name": "bake", "description": "Bakes.", "content": "Bake.", "visibility": "global"});
    let saved = place.admin.post("/api/skills", draft).await.expect(201)["id"].as_str().unwrap().to_owned();
    failed(&place, "bake", &content_hash(&place, &saved).await, 2 * HEALTH_KEPT_MS).await;
    failed(&place, "gone", "some-earlier-hash", 2 * HEALTH_KEPT_MS).await;
    failed(&place, "fresh", "another-hash", 1000).await;
    hubs.unwrap().prune_health().await;
    let counted = || async {
        let counts = place.store.health_counts().await.unwrap();
        let names: std::collections::BTreeSet<String> =
            counts.iter().map(|count| count.skill.to_string()).collect();
        names.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(counted().await, ["bake", "fresh"], "what is gone and old");
    let path = format!("{}/health", crate::skills_place::skill_path(&saved));
    place.person("ann").await.call("DELETE", &path, &[], None).await.refused(403, "forbidden");
    place.admin.call("DELETE", &path, &[], None).await.expect(204);
    assert_eq!(counted().await, ["fresh"]);
}
