//! Whose data scripts see: two people use one skill through every way in, and neither sees or changes what the other kept.

use artel_engine::process::can_run_as;
use artel_model::limit::IDENTITY_CHARS_MAX;
use serde_json::{Value, json};

use crate::client::Client;
use crate::place::{Place, TestSkill};
use crate::plans::end_of;
use crate::skills_place::skill_path;
use crate::ways::Way;

/// A script that counts how often it ran with the same data.
const COUNT: &str = r#"echo x >> "$ARTEL_DATA_DIR/runs"
echo '{"version":"0","type":"done","ok":true,"output":{"n":'$(wc -l < "$ARTEL_DATA_DIR/runs")'}}'"#;

#[tokio::test(flavor = "multi_thread")]
async fn two_people_keep_data_apart_through_every_way_in() {
    let counts = TestSkill("count-things", json!({"description": "Counts things."}), COUNT);
    let place = Place::open(&[counts]).await;
    place.catalogs.rebuild_supervisor();
    // Names that would be paths, and one that is as long as a name may be.
    let long = "ü".repeat(IDENTITY_CHARS_MAX);
    let people = [place.person("../local").await, place.person(&long).await];
    let mut seen = [0_u64; 2];
    for step in 0..10_usize {
        let way = Way::ALL[step % Way::ALL.len()];
        // An order without a pattern that either could rely on.
        let who = (step * step / 3 + step) % 2;
        seen[who] += 1;
        let output = way.output(&people[who], &place, "count-things").await;
        assert_eq!(output["n"], seen[who], "step {step}, {way:?}");
    }
    assert!(seen[0] > 1 && seen[1] > 1, "{seen:?}");
    assert!(!place.path("skills/count-things/data").exists(), "nothing is kept in the skill's own folder");
}

#[tokio::test(flavor = "multi_thread")]
async fn sharing_is_refused_until_the_operator_grants_it() {
    let shared = TestSkill("count", json!({"data_scope": "shared"}), COUNT);
    let place = Place::open(&[shared]).await;
    let refused = place.admin.post("/api/runs", json!({"skill": "count"})).await;
    assert!(
        refused.text.contains("add `default/count` to `shared_data` in `[sandbox_grants]`"),
        "{}",
        refused.text
    );
    refused.refused(422, "invalid_plan");
    let plan = json!({"requestId": uuid::Uuid::new_v4(), "tools": [{"toolId": "a", "skill": "count"}]});
    let checked = place.admin.post("/api/plans/validate", plan).await.expect(200);
    assert_eq!(checked["problems"][0]["code"], json!("sharing_not_granted"), "{checked}");
    assert_eq!(place.admin.get("/api/runs").await.expect(200)["items"], json!([]), "nothing ran");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_steps_of_a_run_share_data_that_goes_with_it() {
    let place = Place::open(&[TestSkill("count", json!({"data_scope": "run"}), COUNT)]).await;
    let tools =
        json!([{"toolId": "a", "skill": "count"}, {"toolId": "b", "skill": "count", "dependencies": ["a"]}]);
    for _ in 0..2 {
        let plan = json!({"requestId": uuid::Uuid::new_v4(), "tools": tools});
        let run = place.admin.post("/api/runs", json!({ "plan": plan })).await.expect(202);
        let told = end_of(&place.admin, &run).await;
        let counts: Vec<&Value> = (0..2).map(|step| &told["executionTrace"][step]["output"]["n"]).collect();
        assert_eq!(counts, [&json!(1), &json!(2)]);
    }
    let left = place.path("data/skill-data/runs").read_dir_utf8().unwrap().count();
    assert_eq!(left, 0, "the data of runs that ended is gone");
}

/// A script that keeps five megabytes.
const KEEP: &str = r#"head -c 5000000 /dev/zero > "$ARTEL_DATA_DIR/kept"
echo '{"version":"0","type":"done","ok":true,"output":{"n":1}}'"#;

#[tokio::test(flavor = "multi_thread")]
async fn data_has_a_quota_and_can_be_removed() {
    let skills = [TestSkill("keep", json!({}), KEEP), TestSkill("count", json!({}), COUNT)];
    let place = Place::open(&skills).await;
    let (ann, bob) = (place.person("ann").await, place.person("bob").await);
    assert_eq!(Way::Run.output(&ann, &place, "keep").await["n"], json!(1));
    // What one skill keeps counts for all, and for no other user.
    let run = ann.post("/api/runs", json!({"skill": "count"})).await.expect(202);
    let told = end_of(&ann, &run).await;
    let error = told["executionTrace"][0]["error"]["message"].as_str().unwrap();
    assert!(error.contains("the quota `data_bytes` is used up") && error.contains("forget-data"), "{error}");
    assert_eq!(Way::Run.output(&bob, &place, "count").await["n"], json!(1));
    let data = |skill: &str| format!("{}/data", skill_path(&format!("default/{skill}")));
    bob.call("DELETE", &data("keep"), &[], None).await;
    let run = ann.post("/api/runs", json!({"skill": "count"})).await.expect(202);
    assert_eq!(end_of(&ann, &run).await["success"], json!(false), "bob removes nothing of ann's");
    assert_eq!(ann.call("DELETE", &data("nothing"), &[], None).await.status, 404);
    assert_eq!(ann.call("DELETE", &data("keep"), &[], None).await.status, 204);
    assert_eq!(Way::Run.output(&ann, &place, "count").await["n"], json!(1));
    assert_eq!(Way::Run.output(&bob, &place, "count").await["n"], json!(2), "and ann nothing of bob's");
}

/// A script that tells as whom it runs, whose its folders are, and what it is left of root.
const WHO: &str = r#"touch "$ARTEL_DATA_DIR/made" made
echo '{"version":"0","type":"done","ok":true,"output":{"user":'$(id -u)',"run":'$(stat -c %u .)',"data":'$(stat -c %u "$ARTEL_DATA_DIR/made")'}}'"#;

async fn who(client: &Client, skill: &str) -> Value {
    let run = client.post("/api/runs", json!({ "skill": skill })).await.expect(202);
    end_of(client, &run).await["executionTrace"][0]["output"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_of_different_owners_run_as_different_users() {
    let skills = [TestSkill("who", json!({}), WHO), TestSkill("other", json!({}), WHO)];
    let place = Place::open(&skills).await;
    let (ann, bob) = (place.person("ann").await, place.person("bob").await);
    let [first, second, again, other] =
        [who(&ann, "who").await, who(&bob, "who").await, who(&ann, "who").await, who(&ann, "other").await];
    assert_eq!(first, again, "the same data is the same user's");
    for seen in [&first, &second, &other] {
        assert!(
            seen["user"].is_u64() && seen["user"] == seen["run"] && seen["user"] == seen["data"],
            "{seen}"
        );
    }
    // Only root can have other users; an ordinary user's scripts run as that user.
    if can_run_as(1_900_000_000..=1_900_999_999).is_ok() {
        assert_ne!(first["user"], second["user"]);
        assert_ne!(first["user"], other["user"]);
        assert_ne!(first["user"], 0);
    } else {
        assert_eq!(first["user"], second["user"]);
    }
}
