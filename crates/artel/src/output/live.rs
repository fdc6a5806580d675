//! A run as it goes: what is known of it from its events, for the picture on a terminal and for plain lines.
//!
//! Pure: no terminal, no clock. What happened comes in as events, the moment as an argument, lines go out.

mod frame;
mod graph;
mod plain;
mod row;
mod text;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use artel_model::id::RunId;
use artel_model::plan::{Plan, PlanParts, StepIndex};
use artel_model::protocol::ToolEvent;
use artel_model::run::{
    AttemptOutcome, AttemptReport, Deadlines, Run, RunEvent, Settled, StampedEvent, StepError, StepView,
    Submission, SubmissionKind,
};
use artel_model::time::Timestamp;
use serde_json::Map;

use graph::Branch;
use text::harmless;

/// Steps that are drawn as a graph at most; of more than that only those that matter are listed.
const GRAPH_STEPS_MAX: usize = 200;
/// Characters of an id that hold its time to the millisecond.
const ID_START_CHARS: usize = 13;

/// A run as it goes.
#[derive(Debug)]
pub(crate) struct LiveView {
    /// The run's own rules say who is skipped, who waits and how it ends.
    run: Run,
    run_id: Option<RunId>,
    heard: Vec<Heard>,
    /// The steps as they are drawn; nothing when they are too many.
    graph: Option<Vec<Branch>>,
    in_colors: bool,
    /// Steps whose end, or whose wait for a yes, was told in a plain line.
    told: Vec<StepLine>,
}

/// What was heard of a step.
#[derive(Clone, Debug, Default)]
struct Heard {
    started_at: Option<Timestamp>,
    ended_at: Option<Timestamp>,
    attempt: u32,
    /// The last thing it said, or what it did in the end.
    said: Option<String>,
    /// Why its last attempt failed.
    error: Option<String>,
}

/// What was told of a step in a plain line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum StepLine {
    Nothing,
    Waiting,
    End,
}

/// How a step stands, for its mark.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Stage {
    Running,
    Approval,
    /// It failed, and waits for its next attempt.
    Retry,
    Failed,
    TimedOut,
    Cancelled,
    Skipped,
    Pending,
    Done,
}

impl LiveView {
    /// Begins with a plan of which nothing has happened.
    pub(crate) fn new(plan: &Plan) -> Self {
        let plan = without_inputs(plan);
        let count = plan.steps().len();
        let graph = (count <= GRAPH_STEPS_MAX).then(|| graph::draw(&plan));
        Self {
            run: begin(plan, Deadlines { run_ms: u64::MAX }, Timestamp::default()),
            run_id: None,
            heard: vec![Heard::default(); count],
            graph,
            in_colors: false,
            told: vec![StepLine::Nothing; count],
        }
    }

    /// Says which run it is, so that a person can be told what to type.
    pub(crate) fn of_run(mut self, run: RunId) -> Self {
        self.run_id = Some(run);
        self
    }

    /// Makes frames colourful.
    pub(crate) fn in_colors(mut self) -> Self {
        self.in_colors = true;
        self
    }

    /// Takes in one event of the run's log.
    pub(crate) fn note(&mut self, event: &StampedEvent) {
        match &event.event {
            RunEvent::Submitted(submission) => {
                self.run = begin(self.run.plan().clone(), submission.deadlines, event.at);
                return;
            }
            // What scripts say changes nothing in the run.
            RunEvent::Emitted { step, events, .. } => return self.hear(*step, events),
            RunEvent::Started { step, attempt, .. } => self.hear_start(*step, *attempt, event.at),
            RunEvent::Ended { step, report, .. } => self.hear_end(*step, &report.outcome, event.at),
            RunEvent::TimeReached
            | RunEvent::CancelRequested { .. }
            | RunEvent::PauseRequested { .. }
            | RunEvent::ResumeRequested { .. }
            | RunEvent::Approved { .. }
            | RunEvent::Rejected { .. }
            | RunEvent::Interrupted { .. } => {}
        }
        self.run.apply(&light(event));
    }

    /// A composite begins when the first of its steps does.
    fn hear_start(&mut self, step: StepIndex, attempt: u32, at: Timestamp) {
        let mut next = Some(step);
        while let Some((index, heard)) = next.and_then(|step| Some((step, self.heard.get_mut(step)?))) {
            heard.started_at.get_or_insert(at);
            next = self.run.plan().steps()[index].scope;
        }
        if let Some(heard) = self.heard.get_mut(step) {
            heard.attempt = attempt;
            heard.ended_at = None;
            heard.said = None;
        }
    }

    fn hear(&mut self, step: StepIndex, events: &[ToolEvent]) {
        let said = events.iter().rev().find_map(|event| match event {
            ToolEvent::Log { message, .. } => Some(harmless(message)),
            ToolEvent::Error { error_message, .. } => Some(harmless(error_message)),
            ToolEvent::UiEvent { event, .. } => Some(harmless(event)),
            ToolEvent::StatePatch { .. } | ToolEvent::Asset { .. } | ToolEvent::Done { .. } => None,
        });
        if let (Some(said), Some(heard)) = (said, self.heard.get_mut(step)) {
            heard.said = Some(said);
        }
    }

    fn hear_end(&mut self, step: StepIndex, outcome: &AttemptOutcome, at: Timestamp) {
        let Some(heard) = self.heard.get_mut(step) else { return };
        heard.ended_at = Some(at);
        match outcome {
            AttemptOutcome::Completed { summary, .. } => {
                heard.said = summary.as_deref().map(harmless);
                heard.error = None;
            }
            AttemptOutcome::Failed { error, .. } => heard.error = Some(harmless(&error.message)),
        }
    }

    fn stage(&self, step: StepIndex) -> Stage {
        match self.run.step(step) {
            StepView::Pending if self.heard[step].error.is_some() => Stage::Retry,
            StepView::Pending if self.is_gathering(step) => Stage::Running,
            StepView::Pending => Stage::Pending,
            StepView::AwaitingApproval => Stage::Approval,
            StepView::Running { .. } => Stage::Running,
            StepView::Settled(settled) => match settled {
                Settled::Completed { .. } => Stage::Done,
                Settled::Failed(_) => Stage::Failed,
                Settled::TimedOut(_) => Stage::TimedOut,
                Settled::Cancelled(_) => Stage::Cancelled,
                Settled::Skipped(_) => Stage::Skipped,
            },
        }
    }

    /// Says whether steps of this composite have begun.
    fn is_gathering(&self, step: StepIndex) -> bool {
        self.gathers(step) && self.heard[step].started_at.is_some()
    }

    fn gathers(&self, step: StepIndex) -> bool {
        graph::gathers(self.run.plan(), step)
    }

    /// Returns why a settled step did not complete.
    fn error(&self, step: StepIndex) -> Option<&StepError> {
        match self.run.step(step) {
            StepView::Settled(settled) => settled.error(),
            StepView::Pending | StepView::AwaitingApproval | StepView::Running { .. } => None,
        }
    }

    /// Returns what a person types to say yes.
    fn how_to_approve(&self, id_length: IdLength) -> String {
        let id = self.run_id.map(|id| id.to_string()).unwrap_or_default();
        let length = match id_length {
            IdLength::Whole => id.len(),
            IdLength::Start => ID_START_CHARS.min(id.len()),
        };
        format!("artel run approve {}", &id[..length]).trim_end().to_owned()
    }
}

/// How much of a run's id is shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum IdLength {
    /// All of it.
    Whole,
    /// As much as usually tells runs apart: ids begin with their time.
    Start,
}

/// Who looks at a run needs no inputs, and they may be large.
fn without_inputs(plan: &Plan) -> Plan {
    let parts = plan.parts();
    let steps = parts.steps.iter().map(|step| {
        let mut step = step.clone();
        step.input = Map::new();
        step.fallback.iter_mut().for_each(|fallback| fallback.input = Map::new());
        step
    });
    let parts = PlanParts { steps: steps.collect(), ..parts.clone() };
    Plan::assemble(parts).expect("a plan without its inputs can run in the same order")
}

fn begin(plan: Plan, deadlines: Deadlines, at: Timestamp) -> Run {
    // Who may start is decided by who drives the run, so slots do not matter.
    let submission = Submission {
        kind: SubmissionKind::Plan,
        plan,
        state: Map::new(),
        deadlines,
        slots: 1,
        agent: None,
        policy: None,
        viewer: None,
        trace_parent: None,
    };
    let unnamed = "00000000-0000-0000-0000-000000000000".parse().expect("a UUID of zeros");
    Run::begin(unnamed, submission, at).0
}

/// Returns an event without what scripts gave, which may be large and is not shown.
fn light(event: &StampedEvent) -> StampedEvent {
    let RunEvent::Ended { step, attempt, report } = &event.event else { return event.clone() };
    let outcome = match &report.outcome {
        AttemptOutcome::Completed { .. } => {
            AttemptOutcome::Completed { output: Map::new(), patches: Vec::new(), summary: None }
        }
        AttemptOutcome::Failed { error, retry, fault } => {
            AttemptOutcome::Failed { error: error.clone(), retry: *retry, fault: *fault }
        }
    };
    let report = AttemptReport { outcome, assets: Vec::new(), stderr: String::new(), dropped_events: 0 };
    let event_without = RunEvent::Ended { step: *step, attempt: *attempt, report: Box::new(report) };
    StampedEvent { at: event.at, event: event_without }
}
