//! Who does a step's work. The engine decides; hands act, and report what came of it.

use std::collections::BTreeMap;

use artel_model::access::Viewer;
use artel_model::id::{PlanId, RunId, StepId};
use artel_model::plan::{StepIndex, Work};
use artel_model::protocol::{DependencyResult, ToolEvent};
use artel_model::run::{AttemptReport, StepError, StepSignal};
use artel_model::trace::TraceParent;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

/// Does steps' work.
pub trait Hands: Send + Sync + 'static {
    /// Begins an attempt and returns at once. Whatever happens, the attempt's reports end with [`Reports::ended`].
    fn begin(&self, assignment: Assignment, reports: Reports) -> Box<dyn AttemptControl>;

    /// Clears away what was kept for the steps of a run, which is over.
    fn run_over(&self, _run: RunId) {}
}

/// A running attempt, to be told something. Dropping it ends the attempt for certain.
pub trait AttemptControl: Send {
    /// Tells the attempt's processes something.
    fn signal(&self, signal: StepSignal);
}

/// One attempt at a step.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The run.
    pub run: RunId,
    /// Who owns it; nothing for the local owner.
    pub owner: Option<Viewer>,
    /// Its plan.
    pub plan: PlanId,
    /// The step.
    pub step: StepId,
    /// Which try, from 1.
    pub attempt: u32,
    /// Milliseconds it may take; the engine watches over that.
    pub timeout_ms: u64,
    /// What is to be done.
    pub work: Work,
    /// What goes in, references filled in; an error when they cannot be.
    pub input: Result<Map<String, Value>, StepError>,
    /// The run's state.
    pub state: Map<String, Value>,
    /// The results of what the step waited for.
    pub dependencies: BTreeMap<String, Option<DependencyResult>>,
    /// For a composite: the outputs of its steps.
    pub gathered: Map<String, Value>,
    /// The place in a trace that the attempt is made at.
    pub trace_parent: Option<TraceParent>,
}

/// Where hands report to.
#[derive(Clone, Debug)]
pub struct Reports {
    step: StepIndex,
    attempt: u32,
    notes: mpsc::Sender<Note>,
}

/// What an attempt reports.
#[derive(Debug)]
pub(crate) enum Note {
    /// Its script said something.
    Emitted { step: StepIndex, attempt: u32, events: Vec<ToolEvent> },
    /// It is over, and this is what was said last.
    Ended { step: StepIndex, attempt: u32, events: Vec<ToolEvent>, report: Box<AttemptReport> },
}

impl Reports {
    pub(crate) fn new(step: StepIndex, attempt: u32, notes: mpsc::Sender<Note>) -> Self {
        Self { step, attempt, notes }
    }

    /// Reports what the script said. Waits while the engine is behind, and so does the script.
    pub async fn emitted(&self, events: Vec<ToolEvent>) {
        if !events.is_empty() {
            let (step, attempt) = (self.step, self.attempt);
            // When nobody listens, the run is not driven here any more.
            let _ = self.notes.send(Note::Emitted { step, attempt, events }).await;
        }
    }

    /// Reports that the attempt is over, with what was said last.
    pub async fn ended(self, events: Vec<ToolEvent>, report: AttemptReport) {
        let (step, attempt) = (self.step, self.attempt);
        let note = Note::Ended { step, attempt, events, report: Box::new(report) };
        // When nobody listens, the run is not driven here any more.
        let _ = self.notes.send(note).await;
    }
}
