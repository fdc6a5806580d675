//! Drives one run: append, apply, act. All waiting happens in `next_facts`.
//!
//! Events that follow from each other (an attempt ended, so the next one starts) are decided together and written
//! together; nothing is acted on before it is written. Anybody may write commands into the log: the driver finds them
//! when its own write does not fit any more, or when it is told to look.

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use artel_model::data_scope::OwnerKey;
use artel_model::id::{ExecutionId, RunId};
use artel_model::plan::{StepIndex, Work};
use artel_model::run::{
    Action, AttemptOutcome, Interruption, Run, RunEvent, RunSummary, StampedEvent, StepSignal,
};
use artel_store::{AppendError, Fence, HealthChange, Revision, RunAppend, RunStore, StoreError};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::Instant;

use crate::clock::Clock;
use crate::hands::{Assignment, AttemptControl, Hands, Note, Reports};
use crate::metrics::RunMeters;
use crate::run_spans::RunSpans;
use crate::slots::{Slot, Slots};

mod outage;

pub(crate) use outage::Outages;
pub use outage::StoreOutage;

/// Notes of attempts that may wait to be heard; more make their scripts wait.
const NOTES_MAX: usize = 256;
/// Events read from a log at once.
const LOG_PAGE: usize = 1000;
/// How long a write is tried again while what runs goes on, and after which pause at first; it doubles.
const WRITE_PATIENCE_MS: u64 = 6_000;
const WRITE_RETRY_MS: u64 = 50;

/// What every driver of an engine shares.
#[derive(Clone)]
pub(crate) struct DriverContext {
    pub(crate) store: Arc<dyn RunStore>,
    pub(crate) hands: Arc<dyn Hands>,
    pub(crate) clock: Clock,
    pub(crate) slots: Slots,
    pub(crate) meters: Arc<RunMeters>,
    pub(crate) outages: Arc<Outages>,
    pub(crate) node: Arc<str>,
    pub(crate) new_execution_id: fn() -> ExecutionId,
}

/// How far the end of an engine has come.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Closing {
    /// It goes on.
    Open,
    /// Nothing starts any more; what runs may end by itself.
    NoNewSteps,
    /// What runs is ended.
    EndSteps,
}

/// How far a run has come, for who waits for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Where its log ends.
    pub revision: Revision,
    /// What lists show about it.
    pub summary: RunSummary,
}

/// Why a run is not driven any more, although it is not over.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// Somebody else drives it.
    #[error("somebody else has taken over the run")]
    TakenOver,
    /// It cannot be kept, and waiting for the store does not help.
    #[error("the run cannot be recorded; it stands where its log ends, and can be recovered")]
    Store(#[source] StoreError),
    /// Its log cannot be replayed.
    #[error("the log of the run cannot be replayed")]
    Log,
}

/// A step that runs here.
struct Running {
    attempt: u32,
    control: Box<dyn AttemptControl>,
    /// When its script was begun; gathering is not measured.
    since: Option<Instant>,
    /// Given back when the attempt is over. Gathering needs none.
    _slot: Option<Slot>,
}

/// Events that are decided on together, and what follows from them.
#[derive(Default)]
struct Batch {
    events: Vec<StampedEvent>,
    actions: Vec<Action>,
    slots: HashMap<StepIndex, Slot>,
}

type SlotFuture = Pin<Box<dyn Future<Output = Slot> + Send>>;

/// The driver of one run.
pub(crate) struct Driver {
    context: DriverContext,
    run: Run,
    revision: Revision,
    fence: Fence,
    written: RunSummary,
    running: BTreeMap<StepIndex, Running>,
    notes: mpsc::Receiver<Note>,
    notes_sender: mpsc::Sender<Note>,
    /// Somebody may have written a command.
    look: Arc<Notify>,
    /// The engine shuts down: nothing starts any more.
    closing: watch::Receiver<Closing>,
    progress: watch::Sender<Progress>,
    waiting_for_slot: Option<SlotFuture>,
    spare_slot: Option<Slot>,
    spans: RunSpans,
}

/// What a driver is given besides its context.
pub(crate) struct DriverParts {
    pub(crate) run: Run,
    pub(crate) revision: Revision,
    pub(crate) fence: Fence,
    pub(crate) look: Arc<Notify>,
    pub(crate) closing: watch::Receiver<Closing>,
    pub(crate) progress: watch::Sender<Progress>,
}

impl Driver {
    pub(crate) fn new(context: DriverContext, parts: DriverParts) -> Self {
        let (notes_sender, notes) = mpsc::channel(NOTES_MAX);
        let spans = RunSpans::begin(&parts.run, &context.node);
        Self {
            context,
            written: parts.run.summary(),
            run: parts.run,
            revision: parts.revision,
            fence: parts.fence,
            running: BTreeMap::new(),
            notes,
            notes_sender,
            look: parts.look,
            closing: parts.closing,
            progress: parts.progress,
            waiting_for_slot: None,
            spare_slot: None,
            spans,
        }
    }

    /// Drives the run to its end, or until the engine closes, through every outage of the store. `first` is what happened
    /// before.
    pub(crate) async fn drive(mut self, first: Vec<RunEvent>) -> Result<(), DriveError> {
        let mut came = self.drive_on(first).await;
        while let Err(DriveError::Store(error)) = came {
            if !self.outlast(error).await? {
                return Ok(());
            }
            came = self.drive_on(Vec::new()).await;
        }
        came
    }

    async fn drive_on(&mut self, first: Vec<RunEvent>) -> Result<(), DriveError> {
        self.turn(first).await?;
        while self.run.completed_at().is_none() {
            let closing = *self.closing.borrow();
            if closing == Closing::EndSteps && !self.running.is_empty() {
                self.end_steps().await;
                self.turn(vec![RunEvent::Interrupted { because: Interruption::Shutdown }]).await?;
                continue;
            }
            if closing != Closing::Open && self.running.is_empty() {
                return Ok(());
            }
            let facts = self.next_facts().await?;
            self.turn(facts).await?;
        }
        self.context.store.sync().await.map_err(DriveError::Store)?;
        tracing::info!(run = %self.run.id(), state = self.run.state().as_str(), "the run is over");
        self.context.meters.run_ended(&self.run);
        self.context.hands.run_over(self.run.id());
        self.spans.over(&self.run);
        self.tell_progress();
        Ok(())
    }

    /// Asks what runs to end and waits for it. What comes of it is not written: the steps were interrupted.
    async fn end_steps(&mut self) {
        for running in self.running.values() {
            running.control.signal(StepSignal::Terminate);
        }
        while !self.running.is_empty() {
            let Some(note) = self.notes.recv().await else { return };
            drop(self.facts_of(note));
        }
    }

    /// Waits until something happened. The only place that waits for anything but the store.
    async fn next_facts(&mut self) -> Result<Vec<RunEvent>, DriveError> {
        self.want_slot();
        let slot = async {
            match &mut self.waiting_for_slot {
                Some(waiting) => waiting.await,
                None => std::future::pending().await,
            }
        };
        let mut notes = Vec::new();
        tokio::select! {
            biased;
            _ = self.notes.recv_many(&mut notes, NOTES_MAX) => {}
            () = self.look.notified() => self.look_for_commands().await?,
            slot = slot => {
                self.waiting_for_slot = None;
                self.spare_slot = Some(slot);
            }
            () = self.context.clock.wait_until(self.run.next_wake()) => return Ok(vec![RunEvent::TimeReached]),
            _ = self.closing.changed() => {}
        }
        Ok(notes.into_iter().flat_map(|note| self.facts_of(note)).collect())
    }

    fn facts_of(&mut self, note: Note) -> Vec<RunEvent> {
        match note {
            Note::Emitted { step, attempt, events } => vec![RunEvent::Emitted { step, attempt, events }],
            Note::Ended { step, attempt, events, report } => {
                if self.running.get(&step).is_some_and(|running| running.attempt == attempt)
                    && let Some(since) = self.running.remove(&step).and_then(|running| running.since)
                {
                    self.context.meters.attempt_ended(since, &report.outcome);
                }
                self.spans.attempt_ended(step, attempt, &report);
                let (run, id) = (self.run.id(), &self.run.plan().steps()[step].id);
                match &report.outcome {
                    AttemptOutcome::Completed { .. } => {
                        tracing::debug!(%run, step = %id, attempt, "the step completed")
                    }
                    AttemptOutcome::Failed { error, .. } => {
                        tracing::info!(%run, step = %id, attempt, kind = ?error.kind, "the attempt failed");
                    }
                }
                let said = (!events.is_empty()).then_some(RunEvent::Emitted { step, attempt, events });
                said.into_iter().chain([RunEvent::Ended { step, attempt, report }]).collect()
            }
        }
    }

    /// Takes facts in, decides what starts, writes all of it, and acts.
    async fn turn(&mut self, facts: Vec<RunEvent>) -> Result<(), DriveError> {
        let now = self.context.clock.now();
        let mut facts: Vec<StampedEvent> =
            facts.into_iter().map(|event| StampedEvent { at: now, event }).collect();
        loop {
            let mut batch = Batch::default();
            for event in facts {
                self.take(event, &mut batch);
            }
            self.start_what_may(&mut batch);
            if batch.events.is_empty() {
                return Ok(());
            }
            match self.write(&mut batch).await {
                Ok(revision) => {
                    self.revision = revision;
                    self.perform(batch);
                    self.spans.settle(&self.run);
                    self.tell_progress();
                    return Ok(());
                }
                // What was decided is not what was written: begin again from the log, with what really happened.
                Err(AppendError::Conflict { .. }) => {
                    let written = self.reload(std::mem::take(&mut batch.slots)).await?;
                    facts = batch.into_facts(&written);
                }
                Err(AppendError::Store(error)) => return Err(DriveError::Store(error)),
                Err(AppendError::Fenced | AppendError::Unknown) => return Err(DriveError::TakenOver),
            }
        }
    }

    fn take(&mut self, event: StampedEvent, batch: &mut Batch) {
        batch.actions.extend(self.run.apply(&event));
        batch.events.push(event);
    }

    fn start_what_may(&mut self, batch: &mut Batch) {
        if *self.closing.borrow() != Closing::Open {
            return;
        }
        while let Some((step, attempt)) = self.run.next_startable() {
            if self.run.script(step).is_some() {
                let Some(slot) = self.take_slot() else { return };
                batch.slots.insert(step, slot);
            }
            let execution = (self.context.new_execution_id)();
            let event = RunEvent::Started { step, attempt, execution };
            self.take(StampedEvent { at: self.context.clock.now(), event }, batch);
        }
    }

    fn take_slot(&mut self) -> Option<Slot> {
        self.spare_slot.take().or_else(|| self.context.slots.try_take())
    }

    /// A run waits for one slot at a time, so that runs get slots in turn, whatever their size.
    fn want_slot(&mut self) {
        let wants = self.run.next_startable().is_some() && *self.closing.borrow() == Closing::Open;
        if wants && self.waiting_for_slot.is_none() && self.spare_slot.is_none() {
            self.waiting_for_slot = Some(Box::pin(self.context.slots.clone().take()));
        }
        if !wants {
            self.waiting_for_slot = None;
            self.spare_slot = None;
        }
    }

    async fn write(&mut self, batch: &mut Batch) -> Result<Revision, AppendError> {
        let effects = self.run.take_effects(&self.context.node);
        let summary = self.run.summary();
        let (principal, at) = (self.owner_key(), self.context.clock.now());
        let health = effects.outcomes.into_iter().map(|(target, outcome)| HealthChange {
            skill: target.skill,
            content_hash: target.content_hash,
            principal: principal.clone(),
            outcome,
            at,
        });
        let append = RunAppend {
            run: self.run.id(),
            expected: self.revision,
            fence: Some(self.fence),
            events: std::mem::take(&mut batch.events),
            summary: (summary != self.written).then(|| summary.clone()),
            executions: effects.executions,
            health: health.collect(),
        };
        let clock = self.context.clock;
        let (since, mut retries) = (clock.now(), 0);
        let result = loop {
            match self.context.store.append(append.clone()).await {
                Err(AppendError::Store(StoreError::Unavailable { .. } | StoreError::Full { .. }))
                    if clock.now().millis_since(since) < WRITE_PATIENCE_MS =>
                {
                    self.context.meters.retries.increment(1);
                    tokio::time::sleep(Duration::from_millis(WRITE_RETRY_MS << retries)).await;
                    retries += 1;
                }
                result => break result,
            }
        };
        // What was not written may have to be decided again.
        batch.events = append.events;
        let revision = result?;
        self.context.meters.events.increment(batch.events.len() as u64);
        self.written = summary;
        Ok(revision)
    }

    /// Returns who owns the run, as the health of skills is counted.
    fn owner_key(&self) -> OwnerKey {
        OwnerKey::of(self.run.submission().viewer.as_ref().map(|viewer| &viewer.user))
    }

    /// Hands the work off; never waits for what comes of it.
    fn perform(&mut self, mut batch: Batch) {
        for action in batch.actions {
            match action {
                Action::Launch { step, attempt } => self.launch(step, attempt, batch.slots.remove(&step)),
                Action::Signal { step, attempt, signal } => self.signal(step, attempt, signal),
                Action::Finish => {}
            }
        }
    }

    fn launch(&mut self, step: StepIndex, attempt: u32, slot: Option<Slot>) {
        let plan = &self.run.plan().steps()[step];
        let work = match self.run.script(step) {
            Some(target) => Work::Script(target.clone()),
            None => plan.work.clone(),
        };
        let assignment = Assignment {
            run: self.run.id(),
            owner: self.run.submission().viewer.clone(),
            plan: self.run.plan().id(),
            step: plan.id.clone(),
            attempt,
            timeout_ms: self.run.timeout_ms(step),
            gathered: match work {
                Work::Gather { .. } => self.run.gathered(step),
                Work::Script(_) => serde_json::Map::new(),
            },
            work,
            input: self.run.input(step),
            state: self.run.merged_state(),
            dependencies: self.run.dependencies(step),
            trace_parent: self.spans.attempt_begins(&self.run, step, attempt),
        };
        tracing::debug!(run = %assignment.run, step = %assignment.step, attempt, "the step starts");
        let reports = Reports::new(step, attempt, self.notes_sender.clone());
        let since = match assignment.work {
            Work::Script(_) => Some(self.context.meters.attempt_started()),
            Work::Gather { .. } => None,
        };
        let control = self.context.hands.begin(assignment, reports);
        self.running.insert(step, Running { attempt, control, since, _slot: slot });
    }

    fn signal(&self, step: StepIndex, attempt: u32, signal: StepSignal) {
        if let Some(running) = self.running.get(&step).filter(|running| running.attempt == attempt) {
            running.control.signal(signal);
        }
    }

    async fn look_for_commands(&mut self) -> Result<(), DriveError> {
        let row = self.context.store.run(self.run.id()).await.map_err(DriveError::Store)?;
        let row = row.ok_or(DriveError::TakenOver)?;
        if row.fence != self.fence {
            return Err(DriveError::TakenOver);
        }
        if row.revision > self.revision {
            self.reload(HashMap::new()).await?;
        }
        Ok(())
    }

    /// Takes the state from the log. What somebody else wrote there has been kept by them, and is acted on here: it may
    /// be this driver's own write whose answer got lost, which needs the slots it was decided with.
    async fn reload(&mut self, slots: HashMap<StepIndex, Slot>) -> Result<Vec<StampedEvent>, DriveError> {
        let known = self.revision;
        let replayed = replay(&*self.context.store, self.run.id(), known).await?.ok_or(DriveError::Log)?;
        let (mut run, foreign) = (replayed.run, replayed.rest);
        let mut actions = Vec::new();
        for event in &foreign {
            actions.extend(run.apply(event));
        }
        run.take_effects(&self.context.node);
        self.run = run;
        self.revision = Revision(known.0 + foreign.len() as u64);
        self.written = self.run.summary();
        self.perform(Batch { actions, slots, ..Batch::default() });
        self.tell_progress();
        Ok(foreign)
    }

    fn tell_progress(&self) {
        self.progress.send_replace(Progress { revision: self.revision, summary: self.run.summary() });
    }
}

impl Batch {
    /// Returns what happened and is not written yet; what was decided is left out.
    fn into_facts(self, written: &[StampedEvent]) -> Vec<StampedEvent> {
        let is_fact = |event: &StampedEvent| {
            !matches!(event.event, RunEvent::Started { .. }) && !written.contains(event)
        };
        self.events.into_iter().filter(is_fact).collect()
    }
}

/// A log that was replayed.
pub(crate) struct Replayed {
    pub(crate) run: Run,
    /// Where the replay ended.
    pub(crate) revision: Revision,
    /// The events after that.
    pub(crate) rest: Vec<StampedEvent>,
}

/// Replays a log until `until`.
pub(crate) async fn replay(
    store: &dyn RunStore,
    id: RunId,
    until: Revision,
) -> Result<Option<Replayed>, DriveError> {
    let mut after = Revision(0);
    let mut replayed: Option<Replayed> = None;
    loop {
        let page = store.events(id, after, LOG_PAGE).await.map_err(DriveError::Store)?;
        let Some(last) = page.last().map(|event| event.revision) else { return Ok(replayed) };
        for logged in page {
            let Some(replayed) = &mut replayed else {
                let run = Run::replay(id, [&logged.event]).ok_or(DriveError::Log)?;
                replayed = Some(Replayed { run, revision: logged.revision, rest: Vec::new() });
                continue;
            };
            if logged.revision <= until {
                replayed.run.apply(&logged.event);
                replayed.revision = logged.revision;
            } else {
                replayed.rest.push(logged.event);
            }
        }
        after = last;
    }
}
