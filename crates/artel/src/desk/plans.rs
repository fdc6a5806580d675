//! Plans at a server: checked, run, made of words. Here, whoever has the skills makes them.

use artel_api::client::{ApiPath, Client, ClientError};
use artel_api::plans::{AskQuery, AskState, AskStatus, GeneratedPlan, PlanCheck, RunQuery, Wish};
use artel_api::runs::{RunRequest, StartedRun};
use artel_engine::planner::{AttemptSummary, Planned};
use artel_engine::{SubmitError, Submitted};
use artel_model::id::RunId;
use artel_model::plan::PlanProblem;
use artel_model::run::ResultDocument;
use serde_json::{Value, json};
use uuid::Uuid;

use super::log::known;
use super::runs::RunDesk;
use super::see_through::{not_submitted, see_through};
use crate::command::Context;
use crate::failure::{Failure, refused};
use crate::output::Shown;
use crate::workshop::Interrupts;

/// Milliseconds that a server is asked to wait for news at once.
const NEWS_MS: u64 = 30_000;

/// Why nothing was begun.
pub(crate) enum NotBegun {
    /// The plan cannot run.
    Problems(Vec<PlanProblem>),
    /// Everything else.
    Failed(Failure),
}

/// Makes a key that nobody else has: for whoever gave none, so that nothing is begun twice.
pub(crate) fn fresh_key() -> String {
    Uuid::new_v4().to_string()
}

/// Says everything that is wrong with a plan, or how many tools it has.
pub(crate) async fn check_plan(client: &Client, plan: &Value) -> Result<PlanCheck, Failure> {
    let path = ApiPath::new("/api/plans/validate");
    client.post(&path, plan, None).await.map_err(|error| refused(&error))
}

/// Begins to run a plan.
pub(crate) async fn run_plan(
    client: &Client,
    plan: &Value,
    how: &RunQuery,
    key: &str,
) -> Result<StartedRun, NotBegun> {
    let started = client.post_asking(&ApiPath::new("/api/plans/run"), how, plan, Some(key)).await;
    started.map_err(|error| not_begun(&error, key))
}

/// Begins to run a skill.
pub(crate) async fn run_skill(
    client: &Client,
    request: &RunRequest,
    key: &str,
) -> Result<StartedRun, NotBegun> {
    let started = client.post(&ApiPath::new("/api/runs"), request, Some(key)).await;
    started.map_err(|error| not_begun(&error, key))
}

fn not_begun(error: &ClientError, key: &str) -> NotBegun {
    let detail = |name: &str| error.details().map(|details| details[name].clone()).unwrap_or_default();
    match error.code() {
        Some("invalid_plan") => match serde_json::from_value(detail("problems")) {
            Ok(problems) => NotBegun::Problems(problems),
            Err(_) => NotBegun::Failed(refused(error)),
        },
        Some("idempotency_conflict") => match serde_json::from_value::<RunId>(detail("run_id")) {
            Ok(run) => NotBegun::Failed(not_submitted(&SubmitError::KeyTaken { key: key.to_owned(), run })),
            Err(_) => NotBegun::Failed(refused(error)),
        },
        Some(_) | None => NotBegun::Failed(refused(error)),
    }
}

/// Makes a plan of words.
pub(crate) async fn generate(client: &Client, wish: &Wish) -> Result<Planned, Failure> {
    let planned: Result<GeneratedPlan, _> =
        client.post(&ApiPath::new("/api/plans/generate"), wish, None).await;
    let planned = planned.map_err(|error| match error.code() {
        Some("no_plan" | "planning_timeout") => Failure::failed(error.to_string()),
        Some(_) | None => refused(&error),
    })?;
    Ok(Planned { document: planned.plan, by: known(json!(planned.planner))?, notes: planned.notes })
}

/// What came of something that was asked in words, and every plan that was tried.
pub(crate) struct Answered {
    pub(crate) result: ResultDocument,
    pub(crate) attempts: Vec<AttemptSummary>,
}

/// Lets a server answer something that is asked in words, and watches the runs that it begins for it. Ctrl-C cancels such a
/// run; while the server plans, it stops the waiting.
pub(crate) async fn ask(
    context: Context<'_>,
    client: &Client,
    wish: &Wish,
    shown: Shown,
) -> Result<Answered, Failure> {
    let mut interrupts = Interrupts::listen()?;
    let path = ApiPath::new("/api/plans/ask");
    let asked = client.post(&path, wish, Some(&fresh_key())).await;
    let mut status: AskStatus = asked.map_err(|error| refused(&error))?;
    let path = ApiPath::new("/api/plans/asks").name(status.ask_id);
    let desk = RunDesk::There(client.clone());
    let mut seen = 0;
    loop {
        while let Some(run) = status.runs.get(seen) {
            seen += 1;
            see_through(context, &desk, Submitted::New(RunId(*run)), shown, interrupts).await?;
            interrupts = Interrupts::listen()?;
        }
        if status.state == AskState::Answered {
            return answered(status);
        }
        let query = AskQuery { wait_ms: Some(NEWS_MS), known_runs: seen };
        status = tokio::select! {
            news = client.ask(&path, &query) => news.map_err(|error| refused(&error))?,
            () = interrupts.next() => {
                return Err(Failure::failed("stopped waiting while the server plans; it goes on with it"));
            }
        };
    }
}

fn answered(status: AskStatus) -> Result<Answered, Failure> {
    let attempts = status.attempts.into_iter().map(known).collect::<Result<_, _>>()?;
    let result = status.result.ok_or_else(|| Failure::missing("the server has no answer any more"))?;
    Ok(Answered { result, attempts })
}
