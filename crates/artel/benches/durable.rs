//! Durable steps that do nothing: what the engine and the SQLite store cost, and nothing else.
//!
//! `cargo bench -p artel --bench durable` prints a table; `cargo xtask bench` puts it beside others.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark measures and prints"
)]

use std::sync::Arc;
use std::time::Instant;

use artel_engine::{Assignment, AttemptControl, Clock, Engine, EngineConfig, Hands, Reports};
use artel_model::id::PlanId;
use artel_model::plan::{
    Approval, Concurrency, Importance, Need, Plan, PlanMetadata, PlanParts, PlanStep, RetryRule,
    ScriptTarget, Stand, Work,
};
use artel_model::run::{
    AttemptOutcome, AttemptReport, Deadlines, RunState, StepSignal, Submission, SubmissionKind,
};
use artel_store::{OwnerId, RunStore};
use artel_store_sqlite::{SqliteOptions, SqliteStore};
use camino::Utf8Path;
use serde_json::Map;

const CHAIN_STEPS: usize = 10_000;
const CHAINS: usize = 1000;
const STEPS_PER_CHAIN: usize = 20;

/// Hands that are done as soon as they begin.
struct NoHands;

struct NoControl;

impl AttemptControl for NoControl {
    fn signal(&self, _signal: StepSignal) {}
}

impl Hands for NoHands {
    fn begin(&self, _assignment: Assignment, reports: Reports) -> Box<dyn AttemptControl> {
        tokio::spawn(async move {
            let outcome =
                AttemptOutcome::Completed { output: Map::new(), patches: Vec::new(), summary: None };
            let report =
                AttemptReport { outcome, assets: Vec::new(), stderr: String::new(), dropped_events: 0 };
            reports.ended(Vec::new(), report).await;
        });
        Box::new(NoControl)
    }
}

fn chain(steps: usize) -> Submission {
    let step = |index: usize| PlanStep {
        id: format!("step-{index}").parse().unwrap(),
        work: Work::Script(ScriptTarget {
            origin: None,
            skill: "demo".parse().unwrap(),
            version: "1.0.0".parse().unwrap(),
            content_hash: "sha256:0".to_owned(),
            script: "run".parse().unwrap(),
            tool_path: "demo/run".to_owned(),
            idempotent: true,
            is_entrypoint: true,
        }),
        input: Map::new(),
        needs: index.checked_sub(1).map(|step| Need { step, shown_as: None }).into_iter().collect(),
        importance: Importance::Required,
        stand: Stand::Beside,
        retry: RetryRule { max_retries: 0, backoff_ms: 0 },
        timeout_ms: 60_000,
        approval: Approval::None,
        scope: None,
        fallback: None,
    };
    let plan = Plan::assemble(PlanParts {
        id: PlanId(uuid::Uuid::nil()),
        narrative: None,
        concurrency: Concurrency::Parallel,
        disabled_skills: Vec::new(),
        metadata: PlanMetadata { generation_attempt: 1, parent_plan_id: None },
        steps: (0..steps).map(step).collect(),
    });
    Submission {
        kind: SubmissionKind::Plan,
        plan: plan.unwrap(),
        state: Map::new(),
        deadlines: Deadlines { run_ms: 600_000 },
        slots: 4,
        agent: None,
        policy: None,
        viewer: None,
        trace_parent: None,
    }
}

async fn steps_per_second(folder: &Utf8Path, name: &str, chains: usize, steps: usize) -> f64 {
    let store = SqliteStore::open(&folder.join(name), SqliteOptions::default()).unwrap();
    let store: Arc<dyn RunStore> = Arc::new(store);
    let config = EngineConfig {
        node: "bench".to_owned(),
        owner: OwnerId("bench".to_owned()),
        processes_max: 4096,
        runs_max: 4096,
        poll_ms: 200,
        closing_grace_ms: 0,
        kill_grace_ms: 0,
    };
    let engine = Engine::start(config, store, Arc::new(NoHands), Clock::system());
    let submission = chain(steps);
    let start = Instant::now();
    let runs = (0..chains).map(|_| {
        let (engine, submission) = (engine.clone(), submission.clone());
        tokio::spawn(async move {
            let run = engine.submit(submission, None).await.unwrap().run();
            let summary = engine.wait(run).await.unwrap();
            assert_eq!(summary.state, RunState::Succeeded);
        })
    });
    for run in runs.collect::<Vec<_>>() {
        run.await.unwrap();
    }
    (chains * steps) as f64 / start.elapsed().as_secs_f64()
}

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir_in(".").unwrap();
    let folder = Utf8Path::from_path(folder.path()).unwrap();
    let one = steps_per_second(folder, "one.db", 1, CHAIN_STEPS).await;
    println!("one chain, written {one:>10.0}");
    let many = steps_per_second(folder, "many.db", CHAINS, STEPS_PER_CHAIN).await;
    println!("1,000 chains at once, written {many:>10.0}");
}
