//! Runs that go on here: submitting, watching, commanding and recovering them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use artel_model::id::{ExecutionId, RunId, StepId};
use artel_model::plan::StepIndex;
use artel_model::run::{Interruption, Origin, Run, RunEvent, RunState, RunSummary, StampedEvent, StepView};
use artel_store::{
    AppendError, Claim, ClaimError, Fence, HealthStore, LoggedEvent, OwnerId, PageRequest, Revision,
    RunAppend, RunFilter, RunRow, RunStore, StoreError,
};
use tokio::sync::{Notify, Semaphore, watch};
use uuid::Uuid;

use crate::clock::Clock;
use crate::driver::{
    Closing, DriveError, Driver, DriverContext, DriverParts, Progress, Replayed, StoreOutage, replay,
};
use crate::hands::Hands;
use crate::metrics::{Raised, RunMeters};
use crate::poller::look_around;
use crate::slots::Slots;

/// Events that are read at once by who follows a run.
const FOLLOW_PAGE: usize = 500;
/// Runs that are looked at together.
pub(crate) const RUNS_PAGE: usize = 200;

/// How long killed processes may take to be gone.
const KILL_PATIENCE: Duration = Duration::from_secs(1);

/// How an engine works.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// The name of this node, for records.
    pub node: String,
    /// Who drives the runs of this engine.
    pub owner: OwnerId,
    /// Processes that may run at once.
    pub processes_max: usize,
    /// Runs that may go on at once; further ones wait.
    pub runs_max: usize,
    /// How often to look for what other processes wrote.
    pub poll_ms: u64,
    /// How long running steps may go on when the engine closes.
    pub closing_grace_ms: u64,
    /// How long steps may take to end once they are told to.
    pub kill_grace_ms: u64,
}

/// A handle of the engine; clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
}

/// What all handles of an engine share.
pub(crate) struct Shared {
    pub(crate) config: EngineConfig,
    pub(crate) context: DriverContext,
    pub(crate) drivers: Mutex<HashMap<RunId, Driven>>,
    closing: watch::Sender<Closing>,
    runs: Arc<Semaphore>,
    /// How well skills do; without it, every run may try what failed.
    pub(crate) health: OnceLock<Arc<dyn HealthStore>>,
}

/// A run that is driven here.
#[derive(Clone)]
pub(crate) struct Driven {
    pub(crate) look: Arc<Notify>,
    pub(crate) progress: watch::Receiver<Progress>,
    failure: Arc<OnceLock<DriveError>>,
}

/// What can be told to a run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Command {
    /// To end.
    Cancel,
    /// To stand still.
    Pause,
    /// To go on.
    Resume,
    /// That a step may start; the only one that waits when none is named.
    Approve {
        /// The step.
        step: Option<StepId>,
        /// What goes with it.
        note: Option<String>,
    },
    /// That a step may not.
    Reject {
        /// The step.
        step: Option<StepId>,
        /// What goes with it.
        note: Option<String>,
    },
}

/// Why a run was not told.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// There is no such run.
    #[error("there is no run {0}")]
    Unknown(RunId),
    /// It is over.
    #[error("the run is over: it {}", over(*.0))]
    Over(RunState),
    /// It is not in a state for that.
    #[error("the run is {}, so it cannot be {told}", .state.as_str())]
    NotNow {
        /// Where it stands.
        state: RunState,
        /// What it was to be.
        told: &'static str,
    },
    /// No step, or not that one, waits for somebody's yes.
    #[error("{}", not_awaiting(asked.as_ref(), awaiting))]
    NotAwaiting {
        /// The step that was named.
        asked: Option<StepId>,
        /// Those that wait.
        awaiting: Vec<StepId>,
    },
    /// The log could not be read or written.
    #[error("cannot tell the run")]
    Drive(#[source] DriveError),
}

fn over(state: RunState) -> &'static str {
    match state {
        RunState::Succeeded => "succeeded",
        RunState::Failed => "failed",
        RunState::Cancelled => "was cancelled",
        RunState::Running | RunState::AwaitingApproval | RunState::Paused | RunState::Stopping => "goes on",
    }
}

fn not_awaiting(asked: Option<&StepId>, awaiting: &[StepId]) -> String {
    let list = awaiting.iter().map(|step| format!("`{step}`")).collect::<Vec<_>>().join(", ");
    match (asked, awaiting) {
        (_, []) => "no step of the run waits for approval".to_owned(),
        (Some(step), _) => format!("step `{step}` does not wait for approval; {list} does"),
        (None, _) => format!("several steps wait for approval: say which of {list}"),
    }
}

impl Engine {
    /// Makes an engine. Nothing is recovered until [`Engine::recover`].
    pub fn start(
        config: EngineConfig,
        store: Arc<dyn RunStore>,
        hands: Arc<dyn Hands>,
        clock: Clock,
    ) -> Self {
        let context = DriverContext {
            store,
            hands,
            clock,
            slots: Slots::new(config.processes_max),
            meters: Arc::new(RunMeters::new()),
            outages: Arc::default(),
            node: config.node.as_str().into(),
            new_execution_id: || ExecutionId(Uuid::now_v7()),
        };
        let shared = Arc::new(Shared {
            runs: Arc::new(Semaphore::new(config.runs_max.max(1))),
            config,
            context,
            drivers: Mutex::default(),
            closing: watch::Sender::new(Closing::Open),
            health: OnceLock::new(),
        });
        tokio::spawn(look_around(Arc::downgrade(&shared)));
        Self { shared }
    }

    /// Lets one run at a time try a skill again that failed too often, as this store knows it. The first one that is given counts.
    #[must_use]
    pub fn with_health(self, health: Arc<dyn HealthStore>) -> Self {
        let _ = self.shared.health.set(health);
        self
    }

    /// Takes over every unfinished run whose driver is gone, and goes on with it.
    pub async fn recover(&self, is_alive: &dyn Fn(&OwnerId) -> bool) -> Result<Vec<RunId>, DriveError> {
        let states = RunState::ALL.iter().copied().filter(|state| !state.is_final()).collect();
        let filter = RunFilter { states, ..RunFilter::default() };
        let mut recovered = Vec::new();
        let mut page = PageRequest { after: None, limit: RUNS_PAGE };
        loop {
            let runs = self.shared.context.store.runs(&filter, &page).await.map_err(DriveError::Store)?;
            for row in runs.items {
                let is_driven =
                    self.driven(row.summary.run_id).is_some() || row.owner.as_ref().is_some_and(is_alive);
                if !is_driven && self.take_over(&row).await? {
                    recovered.push(row.summary.run_id);
                }
            }
            match runs.next {
                Some(next) => page.after = Some(next),
                None => return Ok(recovered),
            }
        }
    }

    async fn take_over(&self, row: &RunRow) -> Result<bool, DriveError> {
        let run = row.summary.run_id;
        let claim = Claim { run, seen: row.fence, owner: self.shared.config.owner.clone() };
        let store = &self.shared.context.store;
        let fence = match store.claim(claim).await {
            Ok(fence) => fence,
            Err(ClaimError::Taken | ClaimError::Unknown) => return Ok(false),
            Err(ClaimError::Store(error)) => return Err(DriveError::Store(error)),
        };
        let mut replayed = replay(&**store, run, Revision(u64::MAX)).await?.ok_or(DriveError::Log)?;
        replayed.run.take_effects(&self.shared.config.node);
        tracing::info!(run = %row.summary.run_id, "the run is taken over from a driver that is gone");
        self.shared.context.meters.recovered.increment(1);
        self.drive(
            replayed.run,
            replayed.revision,
            fence,
            vec![RunEvent::Interrupted { because: Interruption::OwnerDied }],
        );
        Ok(true)
    }

    pub(crate) fn drive(&self, run: Run, revision: Revision, fence: Fence, first: Vec<RunEvent>) {
        let id = run.id();
        let (progress, receiver) = watch::channel(Progress { revision, summary: run.summary() });
        let driven = Driven { look: Arc::default(), progress: receiver, failure: Arc::default() };
        // Whoever waits learns of the end when this is dropped, and then looks for a failure.
        let open = progress.clone();
        self.drivers().insert(id, driven.clone());
        let parts = DriverParts {
            run,
            revision,
            fence,
            look: driven.look,
            closing: self.shared.closing.subscribe(),
            progress,
        };
        let driver = Driver::new(self.shared.context.clone(), parts);
        let (shared, runs) = (self.shared.clone(), self.shared.runs.clone());
        let mut closing = self.shared.closing.subscribe();
        let going = Raised::new(&self.shared.context.meters.going);
        tokio::spawn(async move {
            let turn = tokio::select! {
                biased;
                turn = runs.acquire_owned() => turn.ok(),
                // It has not begun, so there is nothing to end: whoever recovers it begins it.
                _ = closing.wait_for(|closing| *closing != Closing::Open) => None,
            };
            if turn.is_some()
                && let Err(error) = driver.drive(first).await
            {
                tracing::error!(run = %id, error = &error as &dyn std::error::Error, "the run is not driven any more");
                shared.context.meters.stopped.increment(1);
                let _ = driven.failure.set(error);
            }
            drop(going);
            shared.drivers.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            drop(open);
        });
    }

    fn drivers(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, Driven>> {
        self.shared.drivers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn driven(&self, run: RunId) -> Option<Driven> {
        self.drivers().get(&run).cloned()
    }

    /// Says whether runs are driven here.
    pub fn has_runs(&self) -> bool {
        !self.drivers().is_empty()
    }

    /// Says whether a run goes on: by a driver that lives here, or by another owner that is alive.
    pub fn is_driven(&self, row: &RunRow, is_alive: impl Fn(&OwnerId) -> bool) -> bool {
        match &row.owner {
            Some(owner) if *owner == self.shared.config.owner => self.driven(row.summary.run_id).is_some(),
            Some(owner) => is_alive(owner),
            None => false,
        }
    }

    /// Returns the outage of the store that runs wait for, if they do.
    pub fn store_outage(&self) -> Option<StoreOutage> {
        self.shared.context.outages.current()
    }

    /// Returns a run that is followed from `after` on.
    pub fn follow(&self, run: RunId, after: Revision) -> Follow {
        Follow { engine: self.clone(), run, after, driven: self.driven(run) }
    }

    /// Waits until a run is over, and returns what lists show about it.
    pub async fn wait(&self, run: RunId) -> Result<RunSummary, FollowError> {
        // A run that is driven here tells its end itself: nothing is read on the way.
        if let Some(mut driven) = self.driven(run) {
            while driven.progress.changed().await.is_ok() {}
            if let Some(error) = driven.failure.get() {
                return Err(FollowError::Stopped(error.to_string()));
            }
            let summary = driven.progress.borrow().summary.clone();
            if summary.state.is_final() {
                return Ok(summary);
            }
            return Err(FollowError::Stopped("artel is closing".to_owned()));
        }
        let mut follow = self.follow(run, Revision(0));
        loop {
            let row = follow.row().await?;
            if row.summary.state.is_final() && follow.is_told_done() {
                return Ok(row.summary);
            }
            follow.change().await?;
        }
    }

    /// Tells a run something, wherever it is driven. When this returns, it survives a power cut.
    pub async fn command(
        &self,
        run: RunId,
        command: &Command,
        by: Origin,
    ) -> Result<RunSummary, CommandError> {
        let store = &self.shared.context.store;
        loop {
            let replayed = replay(&**store, run, Revision(u64::MAX)).await.map_err(CommandError::Drive)?;
            let Replayed { run: mut state, revision, .. } = replayed.ok_or(CommandError::Unknown(run))?;
            state.take_effects(&self.shared.config.node);
            let event = command.event(&state, by.clone())?;
            let event = StampedEvent { at: self.shared.context.clock.now(), event };
            state.apply(&event);
            let effects = state.take_effects(&self.shared.config.node);
            let append = RunAppend {
                run,
                expected: revision,
                fence: None,
                events: vec![event],
                summary: Some(state.summary()),
                executions: effects.executions,
                health: Vec::new(),
            };
            match store.append(append).await {
                Ok(_) => break,
                Err(AppendError::Conflict { .. } | AppendError::Fenced) => {}
                Err(AppendError::Unknown) => return Err(CommandError::Unknown(run)),
                Err(AppendError::Store(error)) => return Err(store_failed(error)),
            }
        }
        store.sync().await.map_err(store_failed)?;
        if let Some(driven) = self.driven(run) {
            driven.look.notify_one();
        }
        let row = store.run(run).await.map_err(store_failed)?.ok_or(CommandError::Unknown(run))?;
        Ok(row.summary)
    }

    /// Lets what runs come to its end for a while, then ends it; starts nothing more, and leaves the rest to be recovered.
    pub async fn close(&self) {
        let EngineConfig { closing_grace_ms, kill_grace_ms, .. } = self.shared.config;
        // Scripts that do not end when they are asked to are killed after their grace by who runs them.
        let killed = Duration::from_millis(kill_grace_ms) + KILL_PATIENCE;
        let phases =
            [(Closing::NoNewSteps, Duration::from_millis(closing_grace_ms)), (Closing::EndSteps, killed)];
        for (closing, patience) in phases {
            self.close_further(closing);
            if tokio::time::timeout(patience, self.drivers_gone()).await.is_ok() {
                return;
            }
        }
    }

    /// Ends what runs at once, also when the engine is being closed.
    pub fn end_steps_now(&self) {
        self.close_further(Closing::EndSteps);
    }

    /// Says whether the engine is being closed, so that nothing new begins.
    pub fn is_closing(&self) -> bool {
        *self.shared.closing.borrow() != Closing::Open
    }

    fn close_further(&self, closing: Closing) {
        self.shared.closing.send_if_modified(|current| {
            let goes_further = closing > *current;
            if goes_further {
                *current = closing;
            }
            goes_further
        });
    }

    async fn drivers_gone(&self) {
        let drivers: Vec<Driven> = self.drivers().values().cloned().collect();
        for mut driven in drivers {
            // It ends when the driver is gone.
            while driven.progress.changed().await.is_ok() {}
        }
    }
}

fn store_failed(error: StoreError) -> CommandError {
    CommandError::Drive(DriveError::Store(error))
}

impl Command {
    fn event(&self, run: &Run, by: Origin) -> Result<RunEvent, CommandError> {
        let state = run.state();
        if state.is_final() {
            return Err(CommandError::Over(state));
        }
        let not_now = |told| Err(CommandError::NotNow { state, told });
        match self {
            Self::Cancel => Ok(RunEvent::CancelRequested { by }),
            Self::Pause if matches!(state, RunState::Paused | RunState::Stopping) => not_now("paused"),
            Self::Pause => Ok(RunEvent::PauseRequested { by }),
            Self::Resume if state != RunState::Paused => not_now("resumed"),
            Self::Resume => Ok(RunEvent::ResumeRequested { by }),
            Self::Approve { step, note } => {
                Ok(RunEvent::Approved { step: awaiting(run, step.as_ref())?, by, note: note.clone() })
            }
            Self::Reject { step, note } => {
                Ok(RunEvent::Rejected { step: awaiting(run, step.as_ref())?, by, note: note.clone() })
            }
        }
    }
}

/// Returns the step that waits for somebody's yes: the one that is named, or the only one.
fn awaiting(run: &Run, asked: Option<&StepId>) -> Result<StepIndex, CommandError> {
    let waiting: Vec<StepIndex> = run.awaiting_approval().collect();
    let named = asked.and_then(|step| run.plan().index_of(step));
    match (asked, named, waiting.as_slice()) {
        (Some(_), Some(step), _) if run.step(step) == StepView::AwaitingApproval => Ok(step),
        (None, _, [only]) => Ok(*only),
        _ => Err(CommandError::NotAwaiting {
            asked: asked.cloned(),
            awaiting: waiting.iter().map(|step| run.plan().steps()[*step].id.clone()).collect(),
        }),
    }
}

/// Somebody who follows a run, here or in another process.
pub struct Follow {
    engine: Engine,
    run: RunId,
    after: Revision,
    driven: Option<Driven>,
}

/// Why a run cannot be followed any further.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// There is no such run.
    #[error("there is no run {0}")]
    Unknown(RunId),
    /// It was driven here and is not any more.
    #[error("the run stopped before its end: {0}")]
    Stopped(String),
    /// The store failed.
    #[error("cannot read the run")]
    Store(#[source] StoreError),
}

impl Follow {
    /// Waits for further events of the run. Nothing more comes after the run is over.
    pub async fn next(&mut self) -> Result<Vec<LoggedEvent>, FollowError> {
        loop {
            let row = self.row().await?;
            let store = &self.engine.shared.context.store;
            let events = store.events(self.run, self.after, FOLLOW_PAGE).await.map_err(FollowError::Store)?;
            if let Some(last) = events.last() {
                self.after = last.revision;
                return Ok(events);
            }
            if row.summary.state.is_final() && self.is_told_done() {
                return Ok(Vec::new());
            }
            self.change().await?;
        }
    }

    /// Returns what is kept about the run.
    pub async fn row(&self) -> Result<RunRow, FollowError> {
        let row = self.engine.shared.context.store.run(self.run).await.map_err(FollowError::Store)?;
        row.ok_or(FollowError::Unknown(self.run))
    }

    /// A run that ends here is told to be over when that survives a power cut: when its driver is gone.
    fn is_told_done(&self) -> bool {
        self.driven.as_ref().is_none_or(|driven| driven.progress.has_changed().is_err())
    }

    /// Waits until something may have changed.
    async fn change(&mut self) -> Result<(), FollowError> {
        let poll = Duration::from_millis(self.engine.shared.config.poll_ms);
        let Some(driven) = &mut self.driven else {
            tokio::time::sleep(poll).await;
            self.driven = self.engine.driven(self.run);
            return Ok(());
        };
        if driven.progress.changed().await.is_ok() {
            return Ok(());
        }
        match driven.failure.get() {
            Some(error) => Err(FollowError::Stopped(error.to_string())),
            None if *self.engine.shared.closing.borrow() != Closing::Open => {
                Err(FollowError::Stopped("artel is closing".to_owned()))
            }
            None => {
                self.driven = None;
                Ok(())
            }
        }
    }
}
