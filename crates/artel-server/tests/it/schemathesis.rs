//! The server against everything that its description allows, and more: no answer is one that the description does not know,
//! none is a failure of the server, and what the description allows is not refused because of its shape.
//!
//! Runs when `ARTEL_SCHEMATHESIS` names the program (`cargo xtask test` sets it).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::ffi::OsStr;
use std::process::{Command, Output};

use serde_json::json;

use crate::place::{ADMIN_TOKEN, Place, TestSkill, done};

/// What is not tried: streams have no end, and hubs are somewhere else.
const LEFT_OUT: [&str; 4] = ["watchRun", "watchAgent", "watchTopics", "importSkill"];
const LEFT_OUT_GROUPS: [&str; 1] = ["skill hubs"];
/// What may be refused though the description allows it, and what no schema can say about it.
const NOT_SAID: &[(&str, &str)] = &[
    (
        "startRun",
        "the skill, its script and version must exist, and the parameters fit the skill's own schema",
    ),
    ("runPlan", "the skills and scripts of a plan must exist"),
    ("spawnAgent", "the skills must exist and go together, and the driver fits the rest"),
    ("generatePlan", "a planner may find no plan for the words"),
    ("ask", "a planner may not be configured"),
    ("makeKey", "a key ends in the future"),
    ("createSkill", "the query is for archives only, and files and metadata have rules of their own"),
    ("updateSkill", "files and metadata have rules of their own"),
    ("explainPolicy", "tools have a grammar of their own"),
    ("changeSkillConfig", "settings have the schema of their skill"),
    ("changePersonalSkillConfig", "the same"),
    ("mcpSend", "the Model Context Protocol says what is sent"),
    ("mcpListen", "the same"),
    ("mcpEnd", "the same"),
];
/// What holds for every answer.
const CHECKS: &str =
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";
/// What holds beside that where the description says everything.
const ACCEPTED: &str = "positive_data_acceptance";
/// How often every endpoint is tried.
const EXAMPLES_MAX: &str = "8";

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_is_one_that_the_description_knows() {
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests says where the program is")]
    let Some(program) = std::env::var_os("ARTEL_SCHEMATHESIS") else {
        println!("skipped: ARTEL_SCHEMATHESIS does not name the program");
        return;
    };
    let skills = [TestSkill("navigate", json!({}), &done(r#"{"n":1}"#))];
    let place = Place::open_with(&skills, |config| {
        config.requests_per_second = 100_000;
        config.request_burst = 1_000_000;
    })
    .await;
    let excluded = NOT_SAID.iter().map(|(id, _)| *id).chain(LEFT_OUT);
    let mut all: Vec<String> = excluded.flat_map(|id| ["--exclude-operation-id".into(), id.into()]).collect();
    all.extend(LEFT_OUT_GROUPS.iter().flat_map(|group| ["--exclude-tag".into(), (*group).into()]));
    all.extend(["--checks".into(), format!("{CHECKS},{ACCEPTED}")]);
    let named = NOT_SAID.iter().flat_map(|(id, _)| ["--include-operation-id".into(), (*id).into()]);
    let some: Vec<String> = named.chain(["--checks".into(), CHECKS.into()]).collect();
    let (all, some) =
        tokio::join!(tried(&program, &place, "all", all), tried(&program, &place, "not-said", some),);
    for ran in [all, some] {
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    }
}

/// Runs the program with these arguments, in a folder of that name.
async fn tried(program: &OsStr, place: &Place, folder: &str, arguments: Vec<String>) -> Output {
    let (program, address) = (program.to_owned(), place.address);
    let folder = place.path(folder);
    std::fs::create_dir(&folder).unwrap();
    let ran = tokio::task::spawn_blocking(move || {
        #[expect(clippy::disallowed_methods, reason = "a test may start what it tests with")]
        let mut command = Command::new(program);
        command.current_dir(folder).args(["run", &format!("http://{address}/api/openapi.json")]);
        command.args(["--header", &format!("Authorization: Bearer {ADMIN_TOKEN}")]);
        command.args(["--phases", "examples,coverage,fuzzing", "--max-examples", EXAMPLES_MAX]);
        command.args(["--seed", "1", "--exclude-deprecated", "--workers", "1", "--no-shrink"]);
        command.args(["--continue-on-failure", "--request-timeout", "20", "--suppress-health-check", "all"]);
        command.args(arguments).output().unwrap()
    });
    ran.await.unwrap()
}
