//! A planner that is a program: what it is told, what it may answer, and how it is stopped.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use artel_catalog::{Catalog, CatalogRequest, Keep, LoadOptions};
use artel_engine::planner::{
    CommandConfig, CommandPlanner, CommandRequest, PlanCheck, Planned, PlannedBy, Planner, PlanningError,
    PlanningRequest, offers,
};
use artel_model::id::PlanId;
use artel_model::plan::{PlanDocument, PlanProblem};
use artel_model::schema::{Quote, Schema};
use camino::Utf8Path;
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::Instant;

use crate::start::{exists, launcher, limits};

const PLAN_ID: &str = "8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c";
const PARENT_ID: &str = "123e4567-e89b-42d3-a456-426614174000";

struct NoCheck;

impl PlanCheck for NoCheck {
    fn problems(&self, _document: &PlanDocument) -> Vec<PlanProblem> {
        Vec::new()
    }
}

fn request(deadline: Duration) -> PlanningRequest {
    let catalog = Catalog::load(&CatalogRequest {
        roots: Vec::new(),
        options: LoadOptions::from(Keep::Instructions),
        disabled: BTreeSet::new(),
        chosen: Vec::new(),
    });
    PlanningRequest {
        text: "roll 2d6".to_owned(),
        offers: offers(&catalog, |_| true),
        disabled: BTreeSet::from(["memory".parse().expect("a name")]),
        plan_id: PLAN_ID.parse().expect("an id"),
        attempt: 2,
        parent: Some(PARENT_ID.parse().expect("an id")),
        feedback: vec!["tool `a` failed".to_owned()],
        deadline: Instant::now() + deadline,
        check: Arc::new(NoCheck),
    }
}

/// A planner that is a shell script, in a folder of its own.
struct Program {
    folder: TempDir,
    planner: CommandPlanner,
}

impl Program {
    async fn new(script: &str) -> Self {
        Self::within(60_000, script).await
    }

    async fn within(deadline_ms: u64, script: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let config = CommandConfig {
            program: "/bin/bash".into(),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            cwd: Utf8Path::from_path(folder.path()).expect("UTF-8").to_owned(),
            environment: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
            limits: limits(),
            deadline_ms,
        };
        Self { planner: CommandPlanner::new(launcher().await, config), folder }
    }

    async fn plan(&self, deadline: Duration) -> Result<Planned, PlanningError> {
        self.planner.plan(&request(deadline)).await
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).expect("a file")
    }
}

async fn planned(script: &str) -> Result<Planned, PlanningError> {
    Program::new(script).await.plan(Duration::from_secs(60)).await
}

async fn error(script: &str) -> String {
    planned(script).await.expect_err("there is no plan").to_string()
}

#[tokio::test]
async fn a_program_reads_the_request_and_writes_a_plan() {
    let plan = r#"{"narrative": "hi", "tools": [{"toolId": "a", "skill": "dice-roller", "input": {"expression": "2d6"}}]}"#;
    let program = Program::new(&format!("cat > request.json; echo talk >&2; echo '{plan}'")).await;
    let planned = program.plan(Duration::from_secs(60)).await.unwrap();
    assert_eq!((planned.by, planned.document.tools.len()), (PlannedBy::Command, 1));
    assert_eq!(planned.document.request_id, PLAN_ID.parse::<PlanId>().unwrap());
    assert_eq!(planned.document.metadata.generation_attempt, 2);
    assert_eq!(planned.document.metadata.parent_plan_id, Some(PARENT_ID.parse().unwrap()));
    assert_eq!(planned.document.disabled_skills, ["memory".parse().unwrap()]);

    let told: Value = serde_json::from_str(&program.file("request.json")).unwrap();
    let schema = Schema::parse(CommandRequest::json_schema()).unwrap();
    assert_eq!(schema.violations(&told, Quote::Values), []);
    for (field, expected) in [("version", "0"), ("request", "roll 2d6"), ("planId", PLAN_ID)] {
        assert_eq!(told[field], expected);
    }
    assert_eq!(told["attempt"], 2);
    assert_eq!(told["feedback"][0], "tool `a` failed");
    assert_eq!(told["disabledSkills"][0], "memory");
    assert!((1..=60_000).contains(&told["deadlineMs"].as_u64().unwrap()));
    let names: Vec<&str> =
        told["skills"].as_array().unwrap().iter().map(|skill| skill["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"dice-roller") && !names.contains(&"memory"), "{names:?}");
}

#[tokio::test]
async fn a_program_need_not_read_its_request() {
    assert!(planned("echo '{\"tools\": []}'").await.unwrap().document.tools.is_empty());
}

#[tokio::test]
async fn what_a_program_leaves_running_does_not_hold_up_its_plan() {
    let program = Program::new("sleep 1000 & echo $! > pid; echo '{\"tools\": []}'").await;
    program.plan(Duration::from_secs(60)).await.unwrap();
    assert!(!exists(program.file("pid").trim().parse().unwrap()));
}

#[tokio::test]
async fn failures_say_what_and_where() {
    assert_eq!(
        error("echo no luck >&2; exit 3").await,
        "the planner `/bin/bash` ended with exit code 3: no luck"
    );
    assert_eq!(error("kill -TERM $$").await, "the planner `/bin/bash` ended with signal 15 (SIGTERM)");
    assert_eq!(error("true").await, "the planner's answer is no JSON object: it is empty");
    let open = "the planner's answer is no JSON object: EOF while parsing a list at line 2 column 0";
    assert_eq!(error("echo '{\"tools\": ['").await, open);
    let cut = "the planner's answer is no JSON object: it ends in the middle of a character, at byte 8";
    assert_eq!(error(r"printf '{\x22a\x22:\x22\xc3\xa9\xe2\x82'").await, cut);
    assert_eq!(error("echo '[]'").await, "the planner's answer is no JSON object: it is a list");
    let shape = "the planner's answer is no plan: /tools/0: ";
    assert!(error("echo '{\"tools\": [{\"toolId\": \"a\"}]}'").await.starts_with(shape));
    let two = error("echo '{\"tool\": [], \"x\": 1}'").await;
    assert!(two.ends_with("more)"), "{two}");
    let large = "the planner `/bin/bash` wrote more than 16777216 bytes";
    assert_eq!(error("head -c 20000000 /dev/zero; sleep 1000").await, large);
    let endless = error("head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1").await;
    assert!(endless.len() < 5000, "{}", endless.len());
}

#[tokio::test]
async fn a_program_has_no_longer_than_is_configured() {
    let program = Program::within(100, "cat > request.json; sleep 1000").await;
    let error = program.plan(Duration::from_secs(60)).await.unwrap_err();
    assert!(matches!(error, PlanningError::Deadline), "{error}");
    let told: Value = serde_json::from_str(&program.file("request.json")).unwrap();
    assert!((1..=100).contains(&told["deadlineMs"].as_u64().unwrap()), "{}", told["deadlineMs"]);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told() {
    let config = CommandConfig {
        program: "/nowhere/planner".into(),
        arguments: Vec::new(),
        cwd: "/".into(),
        environment: Vec::new(),
        limits: limits(),
        deadline_ms: 60_000,
    };
    let planner = CommandPlanner::new(launcher().await, config);
    let error = planner.plan(&request(Duration::from_secs(60))).await.unwrap_err();
    assert_eq!(error.to_string(), "the planner `/nowhere/planner` cannot be started");
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("there is no such file"), "{source}");
}

#[tokio::test]
async fn a_program_is_stopped_at_the_deadline_with_all_it_started() {
    let program =
        Program::new("trap '' TERM; sleep 1000 & echo $! > pid; echo $$ > own; wait; sleep 1000").await;
    let come_to_the_deadline = async {
        while !program.folder.path().join("own").exists() || program.file("own").is_empty() {
            tokio::task::yield_now().await;
        }
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(61)).await;
        tokio::time::resume();
    };
    let (planned, ()) = tokio::join!(program.plan(Duration::from_secs(60)), come_to_the_deadline);
    let error = planned.unwrap_err();
    assert!(matches!(error, PlanningError::Deadline), "{error}");
    for name in ["pid", "own"] {
        let pid = program.file(name).trim().parse().unwrap();
        while exists(pid) {
            tokio::task::yield_now().await;
        }
    }
}
