//! What the engine measures about runs, steps and processes: every name in one place, and the handles that count.
//!
//! Handles belong to the recorder that is there when an engine or a launcher is started; without one they cost a
//! comparison. Decides nothing.

use artel_model::metric::{ByLabel, Metric};
use artel_model::run::{AttemptOutcome, ErrorKind, Run, Settled, StepView};
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};
use tokio::time::Instant;

use crate::clock::moment;

const RUNS_SUBMITTED: Metric = Metric::counter("artel_runs_submitted_total", "Runs that were begun.");
const RUNS_ENDED: Metric = Metric::counter("artel_runs_ended_total", "Runs that ended here.")
    .by("state", &["succeeded", "failed", "cancelled"]);
const RUNS_RECOVERED: Metric =
    Metric::counter("artel_runs_recovered_total", "Runs that were taken over from a process that is gone.");
const RUNS_GOING: Metric =
    Metric::gauge("artel_runs_going", "Runs that go on here, those included that wait for their turn.");
const RUNS_STOPPED: Metric = Metric::counter(
    "artel_runs_stopped_total",
    "Runs that could not be driven on, because they cannot be recorded or somebody else took over.",
);
const STEPS_ENDED: Metric = Metric::counter("artel_steps_ended_total", "Steps of the runs that ended here.")
    .by("status", &["completed", "failed", "timed_out", "cancelled", "skipped"]);
const ATTEMPTS_STARTED: Metric =
    Metric::counter("artel_attempts_started_total", "Attempts of scripts that were begun.");
const ATTEMPTS_ENDED: Metric =
    Metric::counter("artel_attempts_ended_total", "Attempts of scripts that ended.").by(
        "outcome",
        &[
            "completed",
            "tool_execution_failed",
            "dependency_failed",
            "timeout",
            "protocol_violation",
            "cancelled",
            "policy_denied",
            "spawn_failed",
        ],
    );
const ATTEMPT_DURATION: Metric = Metric::seconds(
    "artel_attempt_duration_seconds",
    "How long attempts of scripts took, from the decision to the report.",
);
const SLOTS: Metric = Metric::gauge("artel_slots", "Processes that may run at once.");
const SLOTS_IN_USE: Metric = Metric::gauge("artel_slots_in_use", "Slots that attempts have.");
const SLOTS_WAITING: Metric = Metric::gauge("artel_slots_waiting", "Runs that wait for a slot.");
const LOG_EVENTS: Metric =
    Metric::counter("artel_run_events_written_total", "Events that were written into the logs of runs.");
const LOG_RETRIES: Metric = Metric::counter(
    "artel_run_write_retries_total",
    "Writes that were tried again because the store could not be reached.",
);
const PROCESSES_STARTED: Metric =
    Metric::counter("artel_processes_started_total", "Processes that the launcher started.");
const PROCESSES_REFUSED: Metric =
    Metric::counter("artel_processes_refused_total", "Processes that could not be started.");
const PROCESSES_ALIVE: Metric =
    Metric::gauge("artel_processes_alive", "Process groups that were started and are not cleared away.");
const SPAWN_DURATION: Metric =
    Metric::seconds("artel_process_spawn_duration_seconds", "How long it took to start a process.");

/// Everything the engine measures.
pub const METRICS: &[Metric] = &[
    RUNS_SUBMITTED,
    RUNS_ENDED,
    RUNS_RECOVERED,
    RUNS_GOING,
    RUNS_STOPPED,
    STEPS_ENDED,
    ATTEMPTS_STARTED,
    ATTEMPTS_ENDED,
    ATTEMPT_DURATION,
    SLOTS,
    SLOTS_IN_USE,
    SLOTS_WAITING,
    LOG_EVENTS,
    LOG_RETRIES,
    PROCESSES_STARTED,
    PROCESSES_REFUSED,
    PROCESSES_ALIVE,
    SPAWN_DURATION,
];

/// Counts what happens to runs.
pub(crate) struct RunMeters {
    pub(crate) submitted: Counter,
    pub(crate) recovered: Counter,
    pub(crate) stopped: Counter,
    pub(crate) going: Gauge,
    pub(crate) events: Counter,
    pub(crate) retries: Counter,
    runs_ended: ByLabel<Counter>,
    steps_ended: ByLabel<Counter>,
    attempts_started: Counter,
    attempts_ended: ByLabel<Counter>,
    attempt_duration: Histogram,
}

impl RunMeters {
    pub(crate) fn new() -> Self {
        Self {
            submitted: counter!(RUNS_SUBMITTED.name),
            recovered: counter!(RUNS_RECOVERED.name),
            stopped: counter!(RUNS_STOPPED.name),
            going: gauge!(RUNS_GOING.name),
            events: counter!(LOG_EVENTS.name),
            retries: counter!(LOG_RETRIES.name),
            runs_ended: counters(&RUNS_ENDED),
            steps_ended: counters(&STEPS_ENDED),
            attempts_started: counter!(ATTEMPTS_STARTED.name),
            attempts_ended: counters(&ATTEMPTS_ENDED),
            attempt_duration: histogram!(ATTEMPT_DURATION.name),
        }
    }

    /// Counts the end of a run and of its steps.
    pub(crate) fn run_ended(&self, run: &Run) {
        count(&self.runs_ended, run.state().as_str());
        for step in 0..run.plan().steps().len() {
            match run.step(step) {
                StepView::Settled(settled) => count(&self.steps_ended, status(settled)),
                StepView::Pending | StepView::AwaitingApproval | StepView::Running { .. } => {}
            }
        }
    }

    /// Counts the begin of an attempt, and returns when that was.
    pub(crate) fn attempt_started(&self) -> Instant {
        self.attempts_started.increment(1);
        moment()
    }

    /// Counts the end of an attempt.
    pub(crate) fn attempt_ended(&self, since: Instant, came: &AttemptOutcome) {
        count(&self.attempts_ended, outcome(came));
        self.attempt_duration.record(since.elapsed());
    }
}

/// Counts slots.
#[derive(Clone)]
pub(crate) struct SlotMeters {
    pub(crate) in_use: Gauge,
    pub(crate) waiting: Gauge,
}

impl SlotMeters {
    /// Makes them for that many slots.
    pub(crate) fn new(slots: usize) -> Self {
        gauge!(SLOTS.name).set(u32::try_from(slots).unwrap_or(u32::MAX));
        Self { in_use: gauge!(SLOTS_IN_USE.name), waiting: gauge!(SLOTS_WAITING.name) }
    }
}

/// Counts processes.
#[derive(Debug)]
pub(crate) struct ProcessMeters {
    started: Counter,
    refused: Counter,
    alive: Gauge,
    duration: Histogram,
}

impl ProcessMeters {
    pub(crate) fn new() -> Self {
        Self {
            started: counter!(PROCESSES_STARTED.name),
            refused: counter!(PROCESSES_REFUSED.name),
            alive: gauge!(PROCESSES_ALIVE.name),
            duration: histogram!(SPAWN_DURATION.name),
        }
    }

    /// Counts a process that was started, and that it is alive until what is returned is dropped.
    pub(crate) fn started(&self, since: Instant) -> Raised {
        self.started.increment(1);
        self.duration.record(since.elapsed());
        Raised::new(&self.alive)
    }

    /// Counts a process that was not started.
    pub(crate) fn refused(&self) {
        self.refused.increment(1);
    }
}

/// A gauge that is one higher until this is dropped.
#[derive(Debug)]
pub(crate) struct Raised(Gauge);

impl Raised {
    pub(crate) fn new(gauge: &Gauge) -> Self {
        gauge.increment(1);
        Self(gauge.clone())
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        self.0.decrement(1);
    }
}

fn counters(metric: &Metric) -> ByLabel<Counter> {
    metric.by_label(|label, value| counter!(metric.name, label => value))
}

fn count(counters: &ByLabel<Counter>, value: &str) {
    if let Some(counter) = counters.get(value) {
        counter.increment(1);
    }
}

fn status(settled: &Settled) -> &'static str {
    match settled {
        Settled::Completed { .. } => "completed",
        Settled::Failed(_) => "failed",
        Settled::TimedOut(_) => "timed_out",
        Settled::Cancelled(_) => "cancelled",
        Settled::Skipped(_) => "skipped",
    }
}

fn outcome(came: &AttemptOutcome) -> &'static str {
    match came {
        AttemptOutcome::Completed { .. } => "completed",
        AttemptOutcome::Failed { error, .. } => match error.kind {
            ErrorKind::ToolExecutionFailed => "tool_execution_failed",
            ErrorKind::DependencyFailed => "dependency_failed",
            ErrorKind::Timeout => "timeout",
            ErrorKind::ProtocolViolation => "protocol_violation",
            ErrorKind::Cancelled => "cancelled",
            ErrorKind::PolicyDenied => "policy_denied",
            ErrorKind::SpawnFailed => "spawn_failed",
        },
    }
}
