//! Runs: started, listed, read, told something, followed.

use std::collections::BTreeMap;

use artel_api::Paged;
use artel_api::plans::RunQuery;
use artel_api::runs::{
    LogLine, LogPage, LogQuery, PruneRequest, PrunedRuns, RunRequest, RunStatus, RunsQuery, StartedRun,
};
use artel_engine::{Command, Follow, Pruned, SkillShelf, Submitted};
use artel_model::access::Principal;
use artel_model::id::{PlanId, RunId};
use artel_model::name::SkillName;
use artel_model::plan::{
    ChainRequest, Plan, PlanProblem, SkillChoice, SkillRequest, chain_plan, resolve_value, skill_plan,
};
use artel_model::run::{Deadlines, Origin, ResultDocument, RunState, RunSummary, Submission, SubmissionKind};
use artel_store::{LoggedEvent, Revision, RunFilter, RunRow};
use async_trait::async_trait;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::owned::{own_run, owner_filter};
use super::page::{limit, page_request, paged, words};
use super::quotas::room_for_run;
use super::refusal::invalid_plan;
use super::run_history::read_history;
use crate::app::App;
use crate::error::OperationError;
use crate::idempotency::IdempotencyKey;
use crate::stream::{Next, Source, StreamEvent};

/// Runs a plan. The same key asks for the same run.
pub async fn run_plan(
    app: &App,
    caller: &Principal,
    document: Value,
    how: RunQuery,
    key: &IdempotencyKey,
) -> Result<StartedRun, OperationError> {
    if how.slots == Some(0) {
        return Err(OperationError::bad_request("invalid_query", "`slots` is at least 1"));
    }
    let plan = resolve_on_shelf(app, caller, move |shelf| resolve_value(&document, shelf)).await?;
    let run_ms = how.timeout_ms.unwrap_or(app.run_settings().deadline_ms);
    let mut submission = submission(app, caller, SubmissionKind::Plan, plan, run_ms);
    submission.slots = how.slots.unwrap_or(submission.slots);
    submit(app, caller, submission, key).await
}

/// Runs a skill or a plan.
pub async fn start_run(
    app: &App,
    caller: &Principal,
    request: RunRequest,
    key: &IdempotencyKey,
) -> Result<StartedRun, OperationError> {
    let is_plan_alone =
        request.version.is_none() && request.script.is_none() && request.params.is_empty() && !request.chain;
    match (request.skill.clone(), request.plan.clone()) {
        (Some(skill), None) => run_skill(app, caller, skill, request, key).await,
        (None, Some(plan)) if is_plan_alone => {
            let how = RunQuery { timeout_ms: request.timeout_ms, slots: None };
            run_plan(app, caller, Value::Object(plan), how, key).await
        }
        (None, Some(_)) => Err(OperationError::unprocessable(
            "invalid_body",
            "`version`, `script`, `params` and `chain` go with `skill`, not with `plan`",
        )),
        (Some(_), Some(_)) | (None, None) => Err(OperationError::unprocessable(
            "invalid_body",
            "say what is to be run: either `skill` or `plan`",
        )),
    }
}

async fn run_skill(
    app: &App,
    caller: &Principal,
    skill: SkillName,
    request: RunRequest,
    key: &IdempotencyKey,
) -> Result<StartedRun, OperationError> {
    let kind = SubmissionKind::Skill { skill: skill.clone() };
    let timeout_ms = request.timeout_ms;
    let plan = if request.chain {
        let params = chain_params(&request)?;
        resolve_on_shelf(app, caller, move |shelf| {
            let chain = ChainRequest { id: fresh_plan(), skill: &skill, params };
            chain_plan(&chain, shelf.catalog().registry(), shelf)
        })
        .await?
    } else {
        resolve_on_shelf(app, caller, move |shelf| {
            let choice = SkillChoice { name: skill, version: request.version };
            let script = request.script.as_ref();
            skill_plan(
                SkillRequest { id: fresh_plan(), skill: &choice, script, params: request.params },
                shelf,
            )
        })
        .await?
    };
    // A skill that may take long by itself is not cut short by what is usual for plans.
    let needed =
        plan.steps().iter().map(|step| step.timeout_ms.saturating_mul(u64::from(step.retry.max_retries) + 1));
    let needed = needed.fold(0, u64::saturating_add);
    let run_ms = timeout_ms.unwrap_or(needed.max(app.run_settings().deadline_ms));
    submit(app, caller, submission(app, caller, kind, plan, run_ms), key).await
}

/// Takes the parameters of a chain apart: an object for each skill.
fn chain_params(request: &RunRequest) -> Result<BTreeMap<SkillName, Map<String, Value>>, OperationError> {
    if request.version.is_some() || request.script.is_some() {
        return Err(OperationError::unprocessable(
            "invalid_body",
            "`version` and `script` do not go with `chain`",
        ));
    }
    let wrong = |name: &str, what: String| {
        OperationError::unprocessable("invalid_body", format!("/params/{name}: {what}"))
    };
    let params = request.params.iter().map(|(name, value)| {
        let skill = name.parse::<SkillName>().map_err(|error| wrong(name, error.to_string()))?;
        let Value::Object(params) = value else {
            return Err(wrong(name, "with `chain` there is an object for each skill".to_owned()));
        };
        Ok((skill, params.clone()))
    });
    params.collect()
}

pub(super) fn fresh_plan() -> PlanId {
    PlanId(Uuid::new_v4())
}

/// Makes a plan with the skills that the caller sees. Their files are read for it, so it is done where waiting is fine.
async fn resolve_on_shelf(
    app: &App,
    caller: &Principal,
    make: impl FnOnce(&SkillShelf) -> Result<Plan, Vec<PlanProblem>> + Send + 'static,
) -> Result<Plan, OperationError> {
    let shelf = app.shelves().shelf(Some(&caller.viewer));
    let made = tokio::task::spawn_blocking(move || make(&shelf)).await;
    let made = made.map_err(|_| OperationError::unavailable("interrupted", "the request was interrupted"))?;
    made.map_err(|problems| invalid_plan(&problems))
}

/// Asks the engine for a run.
async fn submit(
    app: &App,
    caller: &Principal,
    submission: Submission,
    key: &IdempotencyKey,
) -> Result<StartedRun, OperationError> {
    let room = room_for_run(app, caller).await?;
    let submitted = app.engine().submit(submission, key.scoped(caller)).await?;
    drop(room);
    let (run, is_repeated) = match submitted {
        Submitted::New(run) => (run, false),
        Submitted::Existing(run) => (run, true),
    };
    let row = app.stores().runs.run(run).await?.ok_or_else(|| OperationError::not_found("run"))?;
    Ok(StartedRun::of(row.summary, is_repeated))
}

pub(super) fn submission(
    app: &App,
    caller: &Principal,
    kind: SubmissionKind,
    plan: Plan,
    run_ms: u64,
) -> Submission {
    Submission {
        kind,
        plan,
        state: Map::new(),
        deadlines: Deadlines { run_ms },
        slots: app.run_settings().slots,
        agent: None,
        policy: None,
        viewer: caller.owner().cloned(),
        trace_parent: None,
    }
}

/// Lists runs, the latest first.
pub async fn list_runs(
    app: &App,
    caller: &Principal,
    query: RunsQuery,
) -> Result<Paged<RunStatus>, OperationError> {
    let filter = RunFilter {
        states: words("state", query.state.as_deref(), RunState::ALL, RunState::as_str)?,
        created_from: query.since,
        created_before: query.until,
        owner: owner_filter(caller, query.owner.as_deref())?,
    };
    let page = app.stores().runs.runs(&filter, &page_request(query.after, query.limit)?).await?;
    Ok(paged(page, |row| status(app, row)))
}

/// Says where a run stands.
pub async fn run_status(app: &App, caller: &Principal, id: RunId) -> Result<RunStatus, OperationError> {
    Ok(status(app, own_run(app, caller, id).await?))
}

fn status(app: &App, row: RunRow) -> RunStatus {
    let is_driven = app.engine().is_driven(&row, |owner| app.agents().is_alive(owner));
    let is_over = row.summary.state.is_final();
    RunStatus::of(row.summary, is_driven && !is_over)
}

/// Reads a part of a run's log.
pub async fn read_run_log(
    app: &App,
    caller: &Principal,
    id: RunId,
    query: LogQuery,
) -> Result<LogPage, OperationError> {
    own_run(app, caller, id).await?;
    let after = Revision(query.after.unwrap_or(0));
    let events = app.stores().runs.events(id, after, limit(query.limit)?).await?;
    Ok(LogPage { items: events.iter().map(line).collect() })
}

/// Removes runs that ended long ago, whoever's they are.
pub async fn prune_runs(app: &App, wish: PruneRequest) -> Result<PrunedRuns, OperationError> {
    let room = app.artifact_dirs();
    let pruned = artel_engine::prune(&*app.stores().runs, &room.assets, &room.data, wish.before).await;
    let Pruned { runs, assets } = pruned?;
    Ok(PrunedRuns { removed: runs, assets })
}

/// Returns what came of a run so far.
pub async fn read_run(app: &App, caller: &Principal, id: RunId) -> Result<ResultDocument, OperationError> {
    own_run(app, caller, id).await?;
    Ok(read_history(app, id).await?.1)
}

/// Tells a run something.
pub async fn command_run(
    app: &App,
    caller: &Principal,
    id: RunId,
    command: &Command,
) -> Result<RunSummary, OperationError> {
    own_run(app, caller, id).await?;
    let by = Origin(caller.viewer.user.to_string());
    Ok(app.engine().command(id, command, by).await?)
}

/// The log of a run as a stream.
pub struct RunLog {
    follow: Follow,
    after: u64,
}

/// Follows the log of a run after a revision.
pub async fn run_log(
    app: &App,
    caller: &Principal,
    id: RunId,
    after: Option<u64>,
) -> Result<RunLog, OperationError> {
    own_run(app, caller, id).await?;
    let after = after.unwrap_or(0);
    Ok(RunLog { follow: app.engine().follow(id, Revision(after)), after })
}

#[async_trait]
impl Source for RunLog {
    async fn next(&mut self) -> Next {
        let events = match self.follow.next().await {
            Ok(events) => events,
            // Whoever comes back finds out where the run stands then.
            Err(error) => {
                tracing::debug!(%error, "a run cannot be followed any further");
                return Next::Over;
            }
        };
        if let Some(last) = events.last() {
            self.after = last.revision.0;
            return Next::Events(events.iter().map(written).collect());
        }
        match self.follow.row().await {
            Ok(row) => Next::Last(StreamEvent::new(self.after, "end", &row.summary)),
            Err(error) => {
                tracing::debug!(%error, "a run is gone");
                Next::Over
            }
        }
    }
}

fn written(logged: &LoggedEvent) -> StreamEvent {
    let line = line(logged);
    let kind = line.event.get("type").and_then(Value::as_str).unwrap_or("event");
    StreamEvent::new(line.revision, kind, &line)
}

fn line(logged: &LoggedEvent) -> LogLine {
    let event = match serde_json::to_value(&logged.event.event) {
        Ok(Value::Object(event)) => event,
        Ok(_) | Err(_) => Map::new(),
    };
    LogLine { revision: logged.revision.0, at: logged.event.at, event }
}
