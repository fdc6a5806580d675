//! The server against everything that its description allows, and more: no answer is one that the description does not know,
//! and none is a failure of the server.
//!
//! Runs when `ARTEL_SCHEMATHESIS` names the program (`cargo xtask test` sets it).

use std::process::Command;

use serde_json::json;

use crate::place::{ADMIN_TOKEN, Place, TestSkill, done};

/// What is not tried: streams have no end, and hubs are somewhere else.
const LEFT_OUT: [&str; 3] = ["watchRun", "watchAgent", "watchTopics"];
const LEFT_OUT_GROUPS: [&str; 1] = ["skill hubs"];
/// How often every endpoint is tried.
const EXAMPLES_MAX: &str = "8";

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_is_one_that_the_description_knows() {
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests says where the program is")]
    let Some(program) = std::env::var_os("ARTEL_SCHEMATHESIS") else {
        println!("skipped: ARTEL_SCHEMATHESIS does not name the program");
        return;
    };
    let skills = [TestSkill("greet", json!({}), &done(r#"{"n":1}"#))];
    let place = Place::open_with(&skills, |config| {
        config.requests_per_second = 100_000;
        config.request_burst = 1_000_000;
    })
    .await;
    let address = place.address;
    let folder = place.path("schemathesis");
    std::fs::create_dir(&folder).unwrap();
    let ran = tokio::task::spawn_blocking(move || {
        #[expect(clippy::disallowed_methods, reason = "a test may start what it tests with")]
        let mut command = Command::new(program);
        command.current_dir(folder).args(["run", &format!("http://{address}/api/openapi.json")]);
        command.args(["--header", &format!("Authorization: Bearer {ADMIN_TOKEN}")]);
        command.args([
            "--phases",
            "examples,coverage,fuzzing",
            "--max-examples",
            EXAMPLES_MAX,
            "--seed",
            "1",
        ]);
        let checks =
            "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";
        command.args(["--checks", checks, "--exclude-deprecated", "--workers", "2", "--no-shrink"]);
        command.args(["--continue-on-failure", "--request-timeout", "20", "--suppress-health-check", "all"]);
        for id in LEFT_OUT {
            command.args(["--exclude-operation-id", id]);
        }
        for group in LEFT_OUT_GROUPS {
            command.args(["--exclude-tag", group]);
        }
        command.output().unwrap()
    });
    let ran = ran.await.unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}
