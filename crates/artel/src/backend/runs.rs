//! Runs: found, listed, followed, given commands, counted, removed.

use artel_api::Paged;
use artel_api::client::ApiPath;
use artel_api::runs::{
    ExecutionsQuery, LogPage, LogQuery, PruneRequest, PrunedRuns, RunStatus, RunsQuery, StatsAnswer,
    StatsQuery, Word,
};
use artel_app::operations;
use artel_engine::Command;
use artel_model::id::{RunId, StepId};
use artel_model::run::{ExecutionRecord, ResultDocument, Run, RunSummary};
use artel_model::time::Timestamp;
use artel_store::{LoggedEvent, Revision};

use super::error::BackendError;
use super::events::EventStream;
use super::log::{LOG_PAGE, run_event};
use super::open::Backend;
use super::run_history::RunHistory;
use crate::cli::RunPrefix;
use crate::failure::Failure;

/// Runs that are looked at together when one is searched by the beginning of its id.
const RUNS_PAGE: u32 = 1000;
/// Ids that are shown when several begin alike.
const ALIKE_SHOWN: usize = 5;
/// Where runs are, at a server.
const RUNS: &str = "/api/runs";
/// A query that asks for nothing in particular.
const NO_QUERY: [(&str, &str); 0] = [];

/// Says whether a run goes no further by itself.
pub(crate) fn is_left_over(run: &RunStatus) -> bool {
    !run.state.is_final() && !run.driven
}

impl Backend {
    /// Returns a run.
    pub(crate) async fn run(&self, id: RunId) -> Result<Option<RunStatus>, Failure> {
        let status = match self {
            Self::Local(local) => {
                operations::run_status(&local.app, &local.caller, id).await.map_err(BackendError::from)
            }
            Self::Remote(client) => client.get(&path(id).then("status")).await.map_err(BackendError::from),
        };
        match status {
            Ok(status) => Ok(Some(status)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Lists runs, the latest first.
    pub(crate) async fn list_runs(&self, query: RunsQuery) -> Result<Paged<RunStatus>, BackendError> {
        match self {
            Self::Local(local) => Ok(operations::list_runs(&local.app, &local.caller, query).await?),
            Self::Remote(client) => Ok(client.ask(&ApiPath::new(RUNS), &query).await?),
        }
    }

    /// Finds the run whose id begins so.
    pub(crate) async fn find_run(&self, prefix: &RunPrefix) -> Result<RunStatus, Failure> {
        if let Ok(id) = prefix.digits().parse::<RunId>()
            && let Some(found) = self.run(id).await?
        {
            return Ok(found);
        }
        let mut found: Vec<RunStatus> = Vec::new();
        let mut query = RunsQuery { limit: Some(RUNS_PAGE), ..RunsQuery::default() };
        loop {
            let runs = self.list_runs(query.clone()).await?;
            let begins = |run: &RunStatus| run.run_id.0.simple().to_string().starts_with(prefix.digits());
            found.extend(runs.items.into_iter().filter(begins));
            match runs.next {
                Some(next) => query.after = Some(next),
                None => return one_of(found, prefix),
            }
        }
    }

    /// Reads a part of a run's log; nothing at its end.
    pub(crate) async fn run_log(&self, run: RunId, after: Revision) -> Result<Vec<LoggedEvent>, Failure> {
        let query = LogQuery { after: Some(after.0), limit: Some(LOG_PAGE) };
        let page: LogPage = match self {
            Self::Local(local) => operations::read_run_log(&local.app, &local.caller, run, query)
                .await
                .map_err(BackendError::from)?,
            Self::Remote(client) => {
                client.ask(&path(run).then("log"), &query).await.map_err(BackendError::from)?
            }
        };
        page.items.into_iter().map(run_event).collect()
    }

    /// Reads the whole log of a run.
    pub(crate) async fn run_history(&self, run: RunId) -> Result<RunHistory, Failure> {
        let mut run_history = RunHistory::new(run);
        let mut after = Revision(0);
        loop {
            let page = self.run_log(run, after).await?;
            let Some(last) = page.last() else { return Ok(run_history) };
            after = last.revision;
            page.iter().for_each(|logged| run_history.note(&logged.event));
        }
    }

    /// Follows a run from its beginning.
    pub(crate) async fn follow_run(&self, run: RunId) -> Result<EventStream, Failure> {
        match self {
            Self::Local(local) => {
                let log = operations::run_log(&local.app, &local.caller, run, None).await;
                Ok(EventStream::local(log.map_err(BackendError::from)?))
            }
            Self::Remote(client) => {
                let events = client.events(&path(run).then("events"), &NO_QUERY, None).await;
                Ok(EventStream::Remote(Box::new(events.map_err(BackendError::from)?)))
            }
        }
    }

    /// Returns a run whose log was read, and what came of it.
    pub(crate) async fn run_result(&self, run_history: RunHistory) -> Result<(Run, ResultDocument), Failure> {
        let id = run_history.id();
        let result = match self {
            Self::Local(local) => {
                operations::read_run(&local.app, &local.caller, id).await.map_err(BackendError::from)?
            }
            Self::Remote(client) => client.get(&path(id)).await.map_err(BackendError::from)?,
        };
        Ok((run_history.into_run()?, result))
    }

    /// Gives a run a command.
    pub(crate) async fn command_run(
        &self,
        run: RunId,
        command: &Command,
    ) -> Result<RunSummary, BackendError> {
        match self {
            Self::Local(local) => Ok(operations::command_run(&local.app, &local.caller, run, command).await?),
            Self::Remote(client) => {
                let summary = match command {
                    Command::Cancel => client.tell(&path(run).then("cancel")).await,
                    Command::Pause => client.tell(&path(run).then("pause")).await,
                    Command::Resume => client.tell(&path(run).then("resume")).await,
                    Command::Approve { step, note } => {
                        client.post(&path(run).then("approve"), &word(step.as_ref(), note), None).await
                    }
                    Command::Reject { step, note } => {
                        client.post(&path(run).then("reject"), &word(step.as_ref(), note), None).await
                    }
                };
                Ok(summary?)
            }
        }
    }

    /// Lists the records of skills that were run, the latest first.
    pub(crate) async fn executions(
        &self,
        query: ExecutionsQuery,
    ) -> Result<Paged<ExecutionRecord>, BackendError> {
        match self {
            Self::Local(local) => Ok(operations::list_executions(&local.app, &local.caller, query).await?),
            Self::Remote(client) => Ok(client.ask(&ApiPath::new("/api/executions"), &query).await?),
        }
    }

    /// Counts executions, the most first.
    pub(crate) async fn stats(&self, query: StatsQuery) -> Result<StatsAnswer, BackendError> {
        match self {
            Self::Local(local) => Ok(operations::count_executions(&local.app, &local.caller, query).await?),
            Self::Remote(client) => Ok(client.ask(&ApiPath::new(RUNS).then("stats"), &query).await?),
        }
    }

    /// Removes the runs that ended before a moment.
    pub(crate) async fn prune_runs(&self, before: Timestamp) -> Result<PrunedRuns, BackendError> {
        let request = PruneRequest { before };
        match self {
            Self::Local(local) => Ok(operations::prune_runs(&local.app, request).await?),
            Self::Remote(client) => {
                Ok(client.post(&ApiPath::new(RUNS).then("prune"), &request, None).await?)
            }
        }
    }
}

/// Says why a run was not given a command, and what to do.
pub(crate) fn not_commanded(error: BackendError) -> Failure {
    let awaiting = error.details().and_then(|details| details["awaiting"].as_array());
    let are_several = awaiting.is_some_and(|steps| !steps.is_empty());
    let failure = Failure::from(error);
    if are_several { failure.hint("`--step` names the step") } else { failure }
}

/// Says that a run was not given a command because it is over.
pub(crate) fn is_over(error: &BackendError) -> bool {
    error.code() == Some("run_over")
}

fn word(step: Option<&StepId>, note: &Option<String>) -> Word {
    Word { step: step.map(ToString::to_string), note: note.clone() }
}

fn path(run: RunId) -> ApiPath {
    ApiPath::new(RUNS).name(run)
}

fn one_of(mut found: Vec<RunStatus>, prefix: &RunPrefix) -> Result<RunStatus, Failure> {
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(Failure::failed(format!("there is no run whose id begins with `{}`", prefix.digits()))
            .hint("`artel run list` shows the runs there are")),
        count => {
            let ids: Vec<String> = found.iter().take(ALIKE_SHOWN).map(|run| run.run_id.to_string()).collect();
            Err(Failure::failed(format!("the ids of {count} runs begin with `{}`", prefix.digits()))
                .hint(format!("give more of the id: {}", ids.join(", "))))
        }
    }
}
