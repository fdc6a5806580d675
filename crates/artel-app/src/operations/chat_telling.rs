//! What the log of a run says to a person in a chat: its plan, where its steps stand, what they ask and what they made. Pure.

use artel_api::chat::{ChatEvent, ChatStep, ChatStepState};
use artel_model::id::RunId;
use artel_model::limit::{CHAT_CHOICES_MAX, CHAT_TEXT_CHARS_MAX};
use artel_model::plan::StepIndex;
use artel_model::protocol::{LogLevel, ToolEvent};
use artel_model::run::{
    AssetRecord, AttemptOutcome, ResultDocument, Run, RunEvent, Settled, StepView, TraceEntry,
};
use artel_store::LoggedEvent;
use serde_json::{Map, Value};

/// What a script says when a person is to choose.
const CHOICE: &str = "narrative_choice";

/// Tells of one run.
pub struct RunTelling {
    id: RunId,
    run: Option<Run>,
    /// Where each step stood when it was last told.
    told: Vec<ChatStepState>,
}

impl RunTelling {
    pub fn new(id: RunId) -> Self {
        Self { id, run: None, told: Vec::new() }
    }

    /// Takes in what is next in the log, and returns what there is to tell of it.
    pub fn tell(&mut self, log: &[LoggedEvent]) -> Vec<ChatEvent> {
        let mut events = Vec::new();
        for logged in log {
            let event = &logged.event;
            match &mut self.run {
                None => {
                    self.run = Run::replay(self.id, [event]);
                    events.extend(self.plan());
                }
                Some(run) => {
                    run.apply(event);
                    // Who only looks keeps no records.
                    run.take_effects("");
                }
            }
            self.add_said(&event.event, &mut events);
            self.add_moved(&event.event, &mut events);
        }
        events
    }

    fn plan(&mut self) -> Option<ChatEvent> {
        let run = self.run.as_ref()?;
        let steps = run.plan().steps();
        self.told = vec![ChatStepState::Pending; steps.len()];
        let shown = steps.iter().enumerate().filter(|(_, step)| step.scope.is_none());
        let shown = shown.map(|(index, step)| ChatStep {
            step: step.id.to_string(),
            skill: run.skill(index).0.to_string(),
        });
        let steps = shown.collect();
        Some(ChatEvent::Plan { run_id: self.id.0, plan_id: run.plan().id().0, steps })
    }

    /// Adds what a script said, and the files it made.
    fn add_said(&self, event: &RunEvent, events: &mut Vec<ChatEvent>) {
        let Some(run) = &self.run else { return };
        match event {
            RunEvent::Emitted { step, events: said, .. } => {
                events.extend(said.iter().filter_map(|said| self.said(run, *step, said)));
            }
            RunEvent::Ended { step, report, .. } => {
                let name = run.plan().steps()[*step].id.to_string();
                events.extend(report.assets.iter().map(|asset| self.asset(&name, asset)));
            }
            RunEvent::Submitted(_)
            | RunEvent::Started { .. }
            | RunEvent::TimeReached
            | RunEvent::CancelRequested { .. }
            | RunEvent::PauseRequested { .. }
            | RunEvent::ResumeRequested { .. }
            | RunEvent::Approved { .. }
            | RunEvent::Rejected { .. }
            | RunEvent::Interrupted { .. } => {}
        }
    }

    fn said(&self, run: &Run, step: StepIndex, said: &ToolEvent) -> Option<ChatEvent> {
        match said {
            ToolEvent::Log { level: LogLevel::Debug, .. }
            | ToolEvent::StatePatch { .. }
            | ToolEvent::Asset { .. }
            | ToolEvent::Done { .. } => None,
            ToolEvent::Log { level: LogLevel::Info | LogLevel::Warn | LogLevel::Error, message, .. }
            | ToolEvent::Error { error_message: message, .. } => {
                Some(self.step(run, step, ChatStepState::Running, Some(message)))
            }
            ToolEvent::UiEvent { event, payload, .. } => {
                let choices = choices(payload.as_ref().filter(|_| event == CHOICE)?);
                let step = run.plan().steps()[step].id.to_string();
                (!choices.is_empty()).then_some(ChatEvent::Choices { run_id: self.id.0, step, choices })
            }
        }
    }

    /// Adds every step that stands somewhere else than it was last told.
    fn add_moved(&mut self, event: &RunEvent, events: &mut Vec<ChatEvent>) {
        let Some(run) = &self.run else { return };
        let shown = run.plan().steps().iter().enumerate().filter(|(_, step)| step.scope.is_none());
        let mut moved = Vec::new();
        for (index, _) in shown {
            let view = run.step(index);
            let state = state(view);
            if self.told[index] != state {
                events.push(self.step(run, index, state, why(index, view, event)));
                moved.push((index, state));
            }
        }
        for (index, state) in moved {
            self.told[index] = state;
        }
    }

    fn step(&self, run: &Run, step: StepIndex, state: ChatStepState, message: Option<&str>) -> ChatEvent {
        ChatEvent::Step {
            run_id: self.id.0,
            step: run.plan().steps()[step].id.to_string(),
            skill: run.skill(step).0.to_string(),
            state,
            message: message.map(shortened),
        }
    }

    /// Where the script put the file is not said: it is a path of the server.
    fn asset(&self, step: &str, asset: &AssetRecord) -> ChatEvent {
        ChatEvent::Asset {
            run_id: self.id.0,
            step: step.to_owned(),
            asset_id: asset.asset_id.clone(),
            kind: asset.kind.clone(),
            media_type: asset.media_type.clone(),
            hash: asset.hash.clone(),
            size: asset.size,
        }
    }
}

fn state(view: StepView<'_>) -> ChatStepState {
    match view {
        StepView::Pending => ChatStepState::Pending,
        StepView::AwaitingApproval => ChatStepState::AwaitingApproval,
        StepView::Running { .. } => ChatStepState::Running,
        StepView::Settled(Settled::Completed { .. }) => ChatStepState::Completed,
        StepView::Settled(Settled::Failed(_)) => ChatStepState::Failed,
        StepView::Settled(Settled::Skipped(_)) => ChatStepState::Skipped,
        StepView::Settled(Settled::TimedOut(_)) => ChatStepState::Timeout,
        StepView::Settled(Settled::Cancelled(_)) => ChatStepState::Cancelled,
    }
}

/// Returns what goes with where a step stands: what it did, or why it did not.
fn why<'a>(index: StepIndex, view: StepView<'a>, event: &'a RunEvent) -> Option<&'a str> {
    if let StepView::Settled(settled) = view
        && let Some(error) = settled.error()
    {
        return Some(&error.message);
    }
    if let RunEvent::Ended { step, report, .. } = event
        && *step == index
    {
        return match &report.outcome {
            AttemptOutcome::Completed { summary, .. } => summary.as_deref(),
            AttemptOutcome::Failed { error, .. } => Some(&error.message),
        };
    }
    None
}

/// Returns what there is to choose from: texts, or things that have one.
fn choices(payload: &Value) -> Vec<String> {
    let list = payload.get("choices").and_then(Value::as_array).into_iter().flatten();
    let text = |choice: &Value| {
        let inside = || ["message", "text", "label", "title"].into_iter().find_map(|name| choice.get(name));
        choice.as_str().or_else(|| inside().and_then(Value::as_str)).map(|text| shortened(text.trim()))
    };
    list.filter_map(text).filter(|text| !text.is_empty()).take(CHAT_CHOICES_MAX).collect()
}

/// Returns what is said at the end: the answer, or why there is none.
pub(super) fn conclusion(result: &ResultDocument) -> ChatEvent {
    let narrative = result.narrative.as_deref().filter(|text| !text.trim().is_empty());
    if result.success {
        let outputs = result.execution_trace.iter().filter_map(output);
        let texts: Vec<String> = narrative.map(str::to_owned).into_iter().chain(outputs).collect();
        let text = if texts.is_empty() { "Done.".to_owned() } else { texts.join("\n\n") };
        return ChatEvent::Text { text: shortened(&text) };
    }
    let failed = result.execution_trace.iter().find_map(|entry| entry.error.as_ref());
    let why = narrative.or(failed.map(|error| error.message.as_str()));
    let code = result.failure_reason.and_then(|reason| serde_json::to_value(reason).ok());
    ChatEvent::Error {
        code: code.as_ref().and_then(Value::as_str).unwrap_or("failed").to_owned(),
        message: shortened(why.unwrap_or("It did not succeed.")),
    }
}

/// Says what a tool did and what came out of it.
fn output(entry: &TraceEntry) -> Option<String> {
    let summary = entry.events.iter().rev().find_map(|event| match event {
        ToolEvent::Done { summary, .. } => summary.clone(),
        ToolEvent::Log { .. }
        | ToolEvent::StatePatch { .. }
        | ToolEvent::Asset { .. }
        | ToolEvent::UiEvent { .. }
        | ToolEvent::Error { .. } => None,
    });
    let output = entry.output.as_ref().filter(|output| !output.is_empty()).map(plain);
    let texts: Vec<String> = summary.into_iter().chain(output).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// An output that is one text is that text.
fn plain(output: &Map<String, Value>) -> String {
    let mut values = output.values();
    match (values.next(), values.next()) {
        (Some(Value::String(text)), None) => text.clone(),
        _ => serde_json::to_string_pretty(output).unwrap_or_default(),
    }
}

/// Returns a text that is no longer than a chat shows.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(CHAT_TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_choice_is_a_text_or_has_one() {
        let mixed = json!({"choices": ["a ", {"label": "b"}, {"title": "x", "message": "c"}, 7, {}, " "]});
        assert_eq!(choices(&mixed), ["a", "b", "c"]);
        assert!(choices(&json!({"choices": "a"})).is_empty());
        assert!(choices(&json!(null)).is_empty());
        let many: Vec<String> = (0..CHAT_CHOICES_MAX + 5).map(|number| number.to_string()).collect();
        assert_eq!(choices(&json!({"choices": many})).len(), CHAT_CHOICES_MAX);
    }

    #[test]
    fn an_output_of_one_text_is_that_text() {
        let output = |value: Value| plain(value.as_object().unwrap());
        assert_eq!(output(json!({"said": "hello"})), "hello");
        assert_eq!(output(json!({"n": 1})), "{\n  \"n\": 1\n}");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let text = "ü".repeat(CHAT_TEXT_CHARS_MAX + 1);
        assert_eq!(shortened(&text).chars().count(), CHAT_TEXT_CHARS_MAX + 1);
        assert!(shortened(&text).ends_with('…'));
    }
}
