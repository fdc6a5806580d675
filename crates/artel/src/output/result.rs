//! What came of a run, for people.

use artel_model::plan::PlanProblem;
use artel_model::protocol::{LogLevel, ToolEvent};
use artel_model::run::{ResultDocument, ToolState, TraceEntry};
use serde_json::{Map, Value};

use super::print::{Output, Tone};
use super::span::span;
use super::table::Table;

/// Steps that are listed; of more, only those that did not complete.
const STEPS_LISTED_MAX: usize = 100;

impl Output {
    /// Prints what came out of a skill: a line for each field.
    pub(crate) fn fields(&self, output: &Map<String, Value>) {
        let mut table = Table::new(&[Tone::Accent, Tone::Plain]);
        for (name, value) in output {
            table.row([name.clone(), shown(value)]);
        }
        self.data(&table.render(self));
    }

    /// Prints the text that goes with a result.
    pub(crate) fn narrative(&self, result: &ResultDocument) {
        if let Some(narrative) = &result.narrative {
            self.content(format!("{}\n", narrative.trim_end()).as_bytes());
        }
    }

    /// Prints every step of a run, and what became of it.
    pub(crate) fn steps(&self, result: &ResultDocument) {
        let trace = &result.execution_trace;
        let are_many = trace.len() > STEPS_LISTED_MAX;
        let mut table = Table::new(&[Tone::Plain, Tone::Strong, Tone::Faint, Tone::Plain]);
        let mut left_out = 0;
        for entry in trace {
            if are_many && entry.ok {
                left_out += 1;
                continue;
            }
            let took = if entry.attempts.is_empty() { String::new() } else { span(entry.execution_time_ms) };
            table.row([entry.state.as_str().to_owned(), entry.tool_id.to_string(), took, what(entry)]);
        }
        self.data(&table.render(self));
        if left_out > 0 {
            self.line(&format!("{left_out} more completed"));
        }
    }

    /// Prints what is wrong with a plan.
    pub(crate) fn problems(&self, problems: &[PlanProblem]) {
        for problem in problems {
            let head = self.paint(&format!("error[{}]", problem.code), Tone::Error);
            let place = if problem.path.is_empty() { "/" } else { &problem.path };
            let arrow = self.paint("-->", Tone::Accent);
            self.line(&format!("{head}: {}", self.paint(&problem.message, Tone::Plain)));
            self.line(&format!("  {arrow} {}", self.paint(place, Tone::Plain)));
            if let Some(hint) = &problem.hint {
                let word = self.paint("= hint:", Tone::Accent);
                self.line(&format!("   {word} {}", self.paint(hint, Tone::Plain)));
            }
        }
    }

    /// Says what scripts warned of.
    pub(crate) fn warnings(&self, result: &ResultDocument) {
        for entry in &result.execution_trace {
            for event in &entry.events {
                match event {
                    ToolEvent::Log { level: LogLevel::Warn | LogLevel::Error, .. }
                    | ToolEvent::Error { .. } => {
                        self.said(Some(&entry.tool_id), event);
                    }
                    ToolEvent::Log { level: LogLevel::Debug | LogLevel::Info, .. }
                    | ToolEvent::StatePatch { .. }
                    | ToolEvent::Asset { .. }
                    | ToolEvent::UiEvent { .. }
                    | ToolEvent::Done { .. } => {}
                }
            }
        }
    }

    /// Says how a run ended, on one line.
    pub(crate) fn verdict(&self, result: &ResultDocument) {
        let count =
            |state: ToolState| result.execution_trace.iter().filter(|entry| entry.state == state).count();
        let states = [
            ToolState::Completed,
            ToolState::Failed,
            ToolState::Timeout,
            ToolState::Skipped,
            ToolState::Cancelled,
            ToolState::Running,
            ToolState::Pending,
        ];
        let counts: Vec<String> = states
            .into_iter()
            .map(|state| (state, count(state)))
            .filter(|(_, count)| *count > 0)
            .map(|(state, count)| format!("{count} {}", state.as_str()))
            .collect();
        let (word, tone) = if result.success { ("done", Tone::Good) } else { ("failed", Tone::Error) };
        let reason =
            result.failure_reason.map(|reason| format!(" ({})", word_of(reason))).unwrap_or_default();
        let run = result.run_id.map(|run| format!(", run {run}")).unwrap_or_default();
        let counts = if counts.is_empty() { "nothing to do".to_owned() } else { counts.join(", ") };
        let took = span(result.total_execution_time_ms);
        self.remark(&format!("{word}{reason}:"), tone, &format!("{counts} in {took}{run}"));
    }
}

fn word_of(reason: artel_model::plan::FailureReason) -> String {
    serde_json::to_value(reason).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Text as it is, everything else as JSON.
pub(crate) fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Says what a step did, or why it did not.
fn what(entry: &TraceEntry) -> String {
    if let Some(error) = &entry.error {
        return match entry.retry_count {
            0 => error.message.clone(),
            retries => format!("{} (after {} attempts)", error.message, retries + 1),
        };
    }
    let summary = entry.events.iter().rev().find_map(|event| match event {
        ToolEvent::Done { summary, .. } => Some(summary.clone()),
        ToolEvent::Log { .. }
        | ToolEvent::StatePatch { .. }
        | ToolEvent::Asset { .. }
        | ToolEvent::UiEvent { .. }
        | ToolEvent::Error { .. } => None,
    });
    summary.flatten().unwrap_or_default()
}
