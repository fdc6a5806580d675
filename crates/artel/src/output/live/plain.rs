//! A run as plain lines, one for each thing that happened, for logs and pipes.

use artel_model::plan::StepIndex;
use artel_model::protocol::{LogLevel, ToolEvent};
use artel_model::run::{Interruption, Origin, RunEvent, StampedEvent};

use super::text::harmless;
use super::{IdLength, LiveView, Stage, StepLine};
use crate::output::span;

impl LiveView {
    /// Takes in one event of the run's log, and returns what there is to say about it.
    pub(crate) fn tell(&mut self, event: &StampedEvent) -> Vec<String> {
        self.note(event);
        let mut lines = self.happened(&event.event);
        for step in self.may_have_changed(&event.event) {
            lines.extend(self.change(step));
        }
        let waiting = self.run.awaiting_approval().filter(|step| self.told[*step] == StepLine::Nothing);
        for step in waiting.collect::<Vec<_>>() {
            self.told[step] = StepLine::Waiting;
            lines.push(format!(
                "waiting for approval of {}: {}",
                self.name(step),
                self.how_to_approve(IdLength::Whole)
            ));
        }
        lines
    }

    fn name(&self, step: StepIndex) -> String {
        self.run.plan().steps().get(step).map(|step| harmless(step.id.as_str())).unwrap_or_default()
    }

    /// Says what an event itself says.
    fn happened(&self, event: &RunEvent) -> Vec<String> {
        let line = match event {
            RunEvent::Submitted(_) => {
                let count = self.heard.len();
                format!("plan {}: {count} step{}", self.run.plan().id(), if count == 1 { "" } else { "s" })
            }
            // What a composite does by itself is not worth a line.
            RunEvent::Started { step, .. } if self.gathers(*step) => return Vec::new(),
            RunEvent::Started { step, attempt, .. } => {
                format!("started {} (attempt {attempt})", self.name(*step))
            }
            RunEvent::Emitted { step, events, .. } => {
                let name = self.name(*step);
                return events.iter().filter_map(said).map(|said| format!("{name}: {said}")).collect();
            }
            RunEvent::Ended { step, .. } => return self.retry(*step).into_iter().collect(),
            RunEvent::TimeReached => return Vec::new(),
            RunEvent::CancelRequested { by } => format!("cancelled by {}", who(by)),
            RunEvent::PauseRequested { by } => format!("paused by {}", who(by)),
            RunEvent::ResumeRequested { by } => format!("resumed by {}", who(by)),
            RunEvent::Approved { step, by, note } => {
                format!("{} approved by {}{}", self.name(*step), who(by), why(note.as_deref()))
            }
            RunEvent::Rejected { step, by, note } => {
                format!("{} rejected by {}{}", self.name(*step), who(by), why(note.as_deref()))
            }
            RunEvent::Interrupted { because } => {
                let why = match because {
                    Interruption::OwnerDied => "",
                    Interruption::StoreAway => " while the store could not be written",
                    Interruption::Shutdown => " by shutdown",
                };
                format!("interrupted{why}: what was running is tried again where that is safe")
            }
        };
        vec![line]
    }

    /// Returns the steps that an event may have ended. All are looked at only where it may reach far.
    fn may_have_changed(&self, event: &RunEvent) -> Vec<StepIndex> {
        match event {
            RunEvent::Submitted(_)
            | RunEvent::Started { .. }
            | RunEvent::Emitted { .. }
            | RunEvent::PauseRequested { .. }
            | RunEvent::ResumeRequested { .. }
            | RunEvent::Approved { .. } => Vec::new(),
            RunEvent::Ended { step, .. } if *step >= self.heard.len() => Vec::new(),
            RunEvent::Ended { step, .. } if self.ends_quietly(*step) => vec![*step],
            RunEvent::Ended { .. }
            | RunEvent::TimeReached
            | RunEvent::CancelRequested { .. }
            | RunEvent::Rejected { .. }
            | RunEvent::Interrupted { .. } => (0..self.heard.len()).collect(),
        }
    }

    /// Says whether nothing else can have ended with a step.
    fn ends_quietly(&self, step: StepIndex) -> bool {
        match self.stage(step) {
            Stage::Done => self.run.plan().steps()[step].scope.is_none(),
            Stage::Retry | Stage::Running | Stage::Approval | Stage::Pending => true,
            Stage::Failed | Stage::TimedOut | Stage::Cancelled | Stage::Skipped => false,
        }
    }

    fn change(&mut self, step: StepIndex) -> Option<String> {
        if self.told[step] == StepLine::End {
            return None;
        }
        let name = self.name(step);
        let error = || self.error(step).map(|error| harmless(&error.message)).unwrap_or_default();
        let line = match self.stage(step) {
            Stage::Running | Stage::Approval | Stage::Pending | Stage::Retry => return None,
            Stage::Done => format!("{name} completed{}", self.took(step)),
            Stage::Failed => format!("{name} failed: {}", error()),
            Stage::TimedOut => format!("{name} timed out: {}", error()),
            Stage::Cancelled => format!("{name} cancelled: {}", error()),
            Stage::Skipped => format!("{name} skipped: {}", error()),
        };
        self.told[step] = StepLine::End;
        Some(line)
    }

    fn retry(&self, step: StepIndex) -> Option<String> {
        let heard = self.heard.get(step)?;
        let error = heard.error.as_deref().filter(|_| self.stage(step) == Stage::Retry)?;
        Some(format!("{} failed, and is tried again: {error}", self.name(step)))
    }

    fn took(&self, step: StepIndex) -> String {
        let heard = &self.heard[step];
        match (heard.started_at, heard.ended_at) {
            (Some(started_at), Some(ended_at)) => format!(" in {}", span(ended_at.millis_since(started_at))),
            (Some(_) | None, _) => String::new(),
        }
    }
}

/// Says what a script says; its end and its changes of the state are told otherwise.
fn said(event: &ToolEvent) -> Option<String> {
    match event {
        ToolEvent::Log { level, message, .. } => {
            let level = match level {
                LogLevel::Debug => "debug",
                LogLevel::Info => "info",
                LogLevel::Warn => "warn",
                LogLevel::Error => "error",
            };
            Some(format!("{level} {}", harmless(message)))
        }
        ToolEvent::Error { error_code, error_message, .. } => {
            Some(format!("error {}: {}", harmless(error_code), harmless(error_message)))
        }
        ToolEvent::UiEvent { event, payload, .. } => {
            let payload = payload.as_ref().map(|payload| harmless(&payload.to_string()));
            Some(format!("event {} {}", harmless(event), payload.unwrap_or_default()).trim_end().to_owned())
        }
        ToolEvent::Asset { asset_id, media_type, .. } => {
            Some(format!("asset {} ({})", harmless(asset_id), harmless(media_type)))
        }
        ToolEvent::StatePatch { .. } | ToolEvent::Done { .. } => None,
    }
}

fn who(by: &Origin) -> String {
    harmless(&by.0)
}

fn why(note: Option<&str>) -> String {
    note.map(|note| format!(": {}", harmless(note))).unwrap_or_default()
}
