//! Whose data scripts see: two people use one skill through every way in, and neither sees or changes what the other kept.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use artel_model::limit::IDENTITY_CHARS_MAX;
use serde_json::{Value, json};

use crate::place::{Place, TestSkill};
use crate::plans::end_of;
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
    let run = place.admin.post("/api/runs", json!({"skill": "count"})).await.expect(202);
    let told = end_of(&place.admin, &run).await;
    let error = told["executionTrace"][0]["error"]["message"].as_str().unwrap();
    assert!(error.contains("add `default/count` to `shared_data` in `[sandbox_grants]`"), "{error}");
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
