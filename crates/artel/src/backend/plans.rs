//! Plans: checked, run, made of words; skills run.

use artel_api::client::ApiPath;
use artel_api::plans::{AskQuery, AskRequest, AskState, AskStatus, GeneratedPlan, PlanCheck, RunQuery};
use artel_api::runs::{RunRequest, StartedRun};
use artel_app::{IdempotencyKey, operations};
use artel_engine::SubmitError;
use artel_engine::planner::AttemptSummary;
use artel_model::id::RunId;
use artel_model::plan::PlanProblem;
use artel_model::run::ResultDocument;
use serde_json::Value;

use super::agents::fresh_key;
use super::error::BackendError;
use super::log::known;
use super::open::Backend;
use crate::command::Context;
use crate::failure::Failure;
use crate::output::Shown;
use crate::runtime::Interrupts;

/// Milliseconds that one request waits for news.
const NEWS_MS: u64 = 30_000;
/// Where plans are, at a server.
const PLANS: &str = "/api/plans";

/// Why nothing was begun.
pub(crate) enum NotBegun {
    /// The plan cannot run.
    Problems(Vec<PlanProblem>),
    /// Everything else.
    Failed(Failure),
}

/// What came of something that was asked in words, and every plan that was tried.
pub(crate) struct Answered {
    pub(crate) result: ResultDocument,
    pub(crate) attempts: Vec<AttemptSummary>,
}

impl Backend {
    /// Says everything that is wrong with a plan, or how many tools it has.
    pub(crate) async fn check_plan(&self, plan: &Value) -> Result<PlanCheck, BackendError> {
        match self {
            Self::Local(local) => Ok(operations::check_plan(&local.app, &local.caller, plan.clone()).await?),
            Self::Remote(client) => {
                Ok(client.post(&ApiPath::new(PLANS).then("validate"), plan, None).await?)
            }
        }
    }

    /// Begins to run a plan. The same key asks for the same run.
    pub(crate) async fn run_plan(
        &self,
        plan: Value,
        how: RunQuery,
        key: Option<&str>,
    ) -> Result<StartedRun, NotBegun> {
        let started = match self {
            Self::Local(local) => {
                let key = local_key(key)?;
                operations::run_plan(&local.app, &local.caller, plan, how, &key)
                    .await
                    .map_err(BackendError::from)
            }
            Self::Remote(client) => {
                let (path, key) = (ApiPath::new(PLANS).then("run"), remote_key(key));
                client.post_asking(&path, &how, &plan, Some(&key)).await.map_err(BackendError::from)
            }
        };
        started.map_err(|error| not_begun(error, key))
    }

    /// Begins to run a skill. The same key asks for the same run.
    pub(crate) async fn run_skill(
        &self,
        request: RunRequest,
        key: Option<&str>,
    ) -> Result<StartedRun, NotBegun> {
        let started = match self {
            Self::Local(local) => {
                let key = local_key(key)?;
                operations::start_run(&local.app, &local.caller, request, &key)
                    .await
                    .map_err(BackendError::from)
            }
            Self::Remote(client) => {
                let key = remote_key(key);
                client
                    .post(&ApiPath::new("/api/runs"), &request, Some(&key))
                    .await
                    .map_err(BackendError::from)
            }
        };
        started.map_err(|error| not_begun(error, key))
    }

    /// Makes a plan of words.
    pub(crate) async fn generate(&self, request: AskRequest) -> Result<GeneratedPlan, Failure> {
        let planned = match self {
            Self::Local(local) => {
                operations::generate(&local.app, &local.caller, request).await.map_err(BackendError::from)
            }
            Self::Remote(client) => client
                .post(&ApiPath::new(PLANS).then("generate"), &request, None)
                .await
                .map_err(BackendError::from),
        };
        planned.map_err(|error| match error.code() {
            Some("no_plan" | "planning_timeout") => Failure::failed(error.message()),
            Some(_) | None => error.into(),
        })
    }

    /// Answers something that is asked in words, and shows the runs that are begun for it. Ctrl-C cancels such a run; while a
    /// plan is made, it stops the waiting.
    pub(crate) async fn ask(
        &self,
        context: Context<'_>,
        request: AskRequest,
        shown: Shown,
    ) -> Result<Answered, Failure> {
        let mut interrupts = Interrupts::listen()?;
        let mut status = self.begin_to_ask(request).await?;
        let mut seen = 0;
        loop {
            while let Some(run) = status.runs.get(seen) {
                seen += 1;
                self.wait_for_run(context, RunId(*run), false, shown, interrupts).await?;
                interrupts = Interrupts::listen()?;
            }
            if status.state == AskState::Answered {
                return answered(status);
            }
            let query = AskQuery { wait_ms: Some(NEWS_MS), known_runs: seen };
            status = tokio::select! {
                news = self.wait_for_ask(status.ask_id, query) => news?,
                () = interrupts.next() => return Err(Failure::failed(match self {
                    Self::Local(_) => "stopped while planning",
                    Self::Remote(_) => "stopped waiting while the server plans; it goes on with it",
                })),
            };
        }
    }

    async fn begin_to_ask(&self, request: AskRequest) -> Result<AskStatus, BackendError> {
        match self {
            Self::Local(local) => Ok(operations::ask(&local.app, &local.caller, request).await?),
            Self::Remote(client) => {
                Ok(client.post(&ApiPath::new(PLANS).then("ask"), &request, Some(&fresh_key())).await?)
            }
        }
    }

    async fn wait_for_ask(&self, ask: uuid::Uuid, query: AskQuery) -> Result<AskStatus, BackendError> {
        match self {
            Self::Local(local) => Ok(operations::wait_for_ask(&local.app, &local.caller, ask, query).await?),
            Self::Remote(client) => {
                Ok(client.ask(&ApiPath::new("/api/plans/asks").name(ask), &query).await?)
            }
        }
    }
}

fn local_key(key: Option<&str>) -> Result<IdempotencyKey, NotBegun> {
    match key {
        None => Ok(IdempotencyKey::none()),
        Some(key) => IdempotencyKey::read(key)
            .map_err(|error| NotBegun::Failed(Failure::from(BackendError::from(error)))),
    }
}

/// A request over a network may be sent again, so it always has a key.
fn remote_key(key: Option<&str>) -> String {
    key.map_or_else(fresh_key, str::to_owned)
}

fn not_begun(error: BackendError, key: Option<&str>) -> NotBegun {
    let detail = |name: &str| error.details().map(|details| details[name].clone()).unwrap_or_default();
    match error.code() {
        Some("invalid_plan") => match serde_json::from_value(detail("problems")) {
            Ok(problems) => NotBegun::Problems(problems),
            Err(_) => NotBegun::Failed(error.into()),
        },
        Some("idempotency_conflict") => match serde_json::from_value::<RunId>(detail("run_id")) {
            Ok(run) => NotBegun::Failed(key_taken(key.unwrap_or_default(), run)),
            Err(_) => NotBegun::Failed(error.into()),
        },
        Some(_) | None => NotBegun::Failed(error.into()),
    }
}

fn key_taken(key: &str, run: RunId) -> Failure {
    Failure::usage(SubmitError::KeyTaken { key: key.to_owned(), run }.to_string())
        .hint(format!("give another `--key`, or look at the earlier run with `artel run show {run}`"))
}

fn answered(status: AskStatus) -> Result<Answered, Failure> {
    let attempts = status.attempts.into_iter().map(known).collect::<Result<_, _>>()?;
    let result = status.result.ok_or_else(|| Failure::missing("there is no answer any more"))?;
    Ok(Answered { result, attempts })
}
