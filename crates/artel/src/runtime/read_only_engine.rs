//! For commands that only look at runs, or tell them something: an engine that drives nothing.

use std::sync::Arc;

use artel_agents::IsAlive;
use artel_engine::{Assignment, AttemptControl, Clock, Engine, Hands, Reports};
use artel_model::run::{AttemptOutcome, AttemptReport, ErrorKind, Fault, Retry, StepError, StepSignal};
use artel_store::OwnerId;

use super::open::engine_config;
use super::owners::owners;
use super::store::Store;
use crate::command::Context;
use crate::failure::Failure;

/// Looks at runs, and tells them something, wherever they are driven.
pub(crate) struct ReadOnlyEngine {
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    pub(crate) is_alive: IsAlive,
}

impl ReadOnlyEngine {
    /// Opens the store if there is one.
    pub(crate) async fn open_if_any(context: Context<'_>) -> Result<Option<Self>, Failure> {
        match Store::open_existing(context.config).await? {
            Some(store) => Self::on(context, store).map(Some),
            None => Ok(None),
        }
    }

    /// Opens the store, and makes it where there is none.
    pub(crate) async fn make(context: Context<'_>) -> Result<Self, Failure> {
        Self::on(context, Store::open(context.config).await?)
    }

    fn on(context: Context<'_>, store: Store) -> Result<Self, Failure> {
        let config = engine_config(context.config, OwnerId(String::new()));
        let engine = Engine::start(config, store.runs.clone(), Arc::new(NoHands), Clock::system());
        Ok(Self { engine, store, is_alive: owners(context.config)? })
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
