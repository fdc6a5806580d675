//! The spans of one run: its own, one for every step that began, and one for every attempt at it. Decides nothing.

use std::collections::BTreeMap;

use artel_model::plan::StepIndex;
use artel_model::run::{AttemptOutcome, AttemptReport, Run, RunState, Settled, StepView};
use artel_model::trace::TraceParent;

use crate::trace::{Span, SpanKind};

/// The spans of a run that are not over.
pub(crate) struct RunSpans {
    run: Span,
    steps: BTreeMap<StepIndex, Span>,
    attempts: BTreeMap<StepIndex, (u32, Span)>,
}

impl RunSpans {
    /// Begins the span of a run at the place that it was asked for at.
    pub(crate) fn begin(run: &Run, node: &str) -> Self {
        let submission = run.submission();
        let mut span = Span::begin("run", SpanKind::Internal, submission.trace_parent);
        span.set("artel.run.id", run.id().to_string());
        span.set("artel.node", node);
        if let Some(agent) = submission.agent {
            span.set("artel.agent.id", agent.to_string());
        }
        if let Some(viewer) = &submission.viewer {
            span.set("artel.principal", viewer.user.as_str());
        }
        Self { run: span, steps: BTreeMap::new(), attempts: BTreeMap::new() }
    }

    /// Begins the span of an attempt, and returns the place that its work is done at.
    pub(crate) fn attempt_begins(&mut self, run: &Run, step: StepIndex, attempt: u32) -> Option<TraceParent> {
        let within = self.run.place();
        let of_step = self.steps.entry(step).or_insert_with(|| {
            let mut span = Span::begin("step", SpanKind::Internal, within);
            span.set("artel.step.id", run.plan().steps()[step].id.as_str());
            span
        });
        let mut span = Span::begin("attempt", SpanKind::Internal, of_step.place());
        span.set("artel.attempt", i64::from(attempt));
        if let Some(target) = run.script(step) {
            span.set("artel.skill", target.skill.as_str());
            span.set("artel.script", target.script.as_str());
        }
        let place = span.place();
        self.attempts.insert(step, (attempt, span));
        place
    }

    /// Ends the span of an attempt.
    pub(crate) fn attempt_ended(&mut self, step: StepIndex, attempt: u32, report: &AttemptReport) {
        if self.attempts.get(&step).is_none_or(|(known, _)| *known != attempt) {
            return;
        }
        let Some((_, mut span)) = self.attempts.remove(&step) else { return };
        match &report.outcome {
            AttemptOutcome::Completed { .. } => {}
            // What a script says about its failure may hold what went in, so only the kind is told.
            AttemptOutcome::Failed { error, .. } => span.fail(format!("{:?}", error.kind)),
        }
    }

    /// Ends the spans of the steps that are over.
    pub(crate) fn settle(&mut self, run: &Run) {
        self.steps.retain(|step, span| match run.step(*step) {
            StepView::Settled(settled) => {
                if !Settled::is_completed(settled) {
                    span.fail("the step did not complete");
                }
                false
            }
            StepView::Pending | StepView::AwaitingApproval | StepView::Running { .. } => true,
        });
    }

    /// Says how the run ended.
    pub(crate) fn over(&mut self, run: &Run) {
        self.run.set("artel.run.state", run.state().as_str());
        match run.state() {
            RunState::Failed => self.run.fail("the run failed"),
            RunState::Running
            | RunState::AwaitingApproval
            | RunState::Paused
            | RunState::Stopping
            | RunState::Succeeded
            | RunState::Cancelled => {}
        }
    }
}
