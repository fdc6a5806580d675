//! For commands that only look at runs, or tell them something: an engine that drives nothing.

use std::sync::Arc;

use artel_engine::{Assignment, AttemptControl, Clock, Engine, Hands, Reports, is_alive};
use artel_model::id::RunId;
use artel_model::run::{AttemptOutcome, AttemptReport, ErrorKind, Fault, Retry, StepError, StepSignal};
use artel_store::{OwnerId, PageRequest, RunFilter, RunRow};

use super::open::engine_config;
use super::store::Store;
use crate::cli::RunPrefix;
use crate::command::Context;
use crate::failure::Failure;

/// Runs that are looked at together when one is searched by the beginning of its id.
const RUNS_PAGE: usize = 1000;
/// Ids that are shown when several begin alike.
const ALIKE_SHOWN: usize = 5;

/// Looks at runs, and tells them something, wherever they are driven.
pub(crate) struct Teller {
    pub(crate) engine: Engine,
    pub(crate) store: Store,
}

impl Teller {
    /// Opens the store; without one there is no run to be told anything.
    pub(crate) async fn open(context: Context<'_>) -> Result<Self, Failure> {
        let store = Store::open_existing(context.config).await?;
        let store = store.ok_or_else(|| no_store(context))?;
        let config = engine_config(context.config, OwnerId(String::new()));
        let engine = Engine::start(config, store.runs.clone(), Arc::new(NoHands), Clock::system());
        Ok(Self { engine, store })
    }
}

/// Says that nothing was ever run.
fn no_store(context: Context<'_>) -> Failure {
    Failure::failed(format!("nothing was run yet: there is no `{}`", context.config.store.value))
        .hint("`artel skill run` and `artel plan run` run something; `--data` names another data folder")
}

/// Says whether somebody alive drives a run.
pub(crate) fn is_driven(context: Context<'_>, row: &RunRow) -> bool {
    row.owner.as_ref().is_some_and(|owner| is_alive(&context.config.data.value, owner))
}

/// Finds the run whose id begins so.
pub(crate) async fn find_run(store: &Store, prefix: &RunPrefix) -> Result<RunRow, Failure> {
    let unavailable = |error| Failure::unavailable(&error);
    if let Ok(id) = prefix.digits().parse::<RunId>()
        && let Some(row) = store.runs.run(id).await.map_err(unavailable)?
    {
        return Ok(row);
    }
    let mut found: Vec<RunRow> = Vec::new();
    let mut page = PageRequest { after: None, limit: RUNS_PAGE };
    loop {
        let runs = store.runs.runs(&RunFilter::default(), &page).await.map_err(unavailable)?;
        let begins = |row: &RunRow| row.summary.run_id.0.simple().to_string().starts_with(prefix.digits());
        found.extend(runs.items.into_iter().filter(begins));
        match runs.next {
            Some(next) => page.after = Some(next),
            None => break,
        }
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(Failure::failed(format!("there is no run whose id begins with `{}`", prefix.digits()))
            .hint("`artel run list` shows the runs there are")),
        count => {
            let ids: Vec<String> =
                found.iter().take(ALIKE_SHOWN).map(|row| row.summary.run_id.to_string()).collect();
            Err(Failure::failed(format!("the ids of {count} runs begin with `{}`", prefix.digits()))
                .hint(format!("give more of the id: {}", ids.join(", "))))
        }
    }
}

/// Hands of an engine that drives nothing.
struct NoHands;

impl Hands for NoHands {
    fn begin(&self, _: Assignment, reports: Reports) -> Box<dyn AttemptControl> {
        let error = StepError::new(ErrorKind::SpawnFailed, "this process only looks at runs");
        let outcome = AttemptOutcome::Failed { error, retry: Retry::Useless, fault: Fault::Elsewhere };
        let report = AttemptReport { outcome, assets: Vec::new(), stderr: String::new(), dropped_events: 0 };
        tokio::spawn(reports.ended(Vec::new(), report));
        Box::new(NoAttempt)
    }
}

struct NoAttempt;

impl AttemptControl for NoAttempt {
    fn signal(&self, _: StepSignal) {}
}
