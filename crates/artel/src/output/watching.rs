//! What is shown of a run while it goes on: nothing, what its scripts say, a line for everything, or a picture.

use artel_model::id::{RunId, StepId};
use artel_model::protocol::{LogLevel, ToolEvent};
use artel_model::run::{RunEvent, StampedEvent};
use artel_model::time::Timestamp;
use serde_json::Value;

use super::live::LiveView;
use super::print::{Output, Tone};
use super::screen::Screen;

/// What is shown of a run while it goes on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Shown {
    /// Nothing.
    Nothing,
    /// What its scripts say.
    Said,
    /// Every step: a picture on a terminal, lines otherwise.
    Steps,
    /// Every step, as lines of data.
    Data,
}

/// Somebody who watches a run.
pub(crate) struct Watching<'o> {
    output: &'o Output,
    shown: Shown,
    steps: Vec<StepId>,
    view: Option<LiveView>,
    screen: Option<Screen>,
    is_interrupted: bool,
}

impl<'o> Watching<'o> {
    /// Begins to watch.
    pub(crate) fn new(output: &'o Output, shown: Shown) -> Self {
        let screen = (shown == Shown::Steps && output.stderr_is_terminal).then(Screen::new);
        Self { output, shown, steps: Vec::new(), view: None, screen, is_interrupted: false }
    }

    /// Says whether anything is shown before the end.
    pub(crate) fn is_live(&self) -> bool {
        self.shown != Shown::Nothing
    }

    /// Says whether there is a picture that has to be drawn again and again.
    pub(crate) fn is_drawn(&self) -> bool {
        self.screen.is_some()
    }

    /// Notes that somebody wants an end.
    pub(crate) fn interrupted(&mut self) {
        self.is_interrupted = true;
    }

    /// Says whether somebody wanted an end before.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    /// Shows one event of the run's log.
    pub(crate) fn note(&mut self, run: RunId, event: &StampedEvent) {
        if let RunEvent::Submitted(submission) = &event.event {
            self.steps = submission.plan.steps().iter().map(|step| step.id.clone()).collect();
            let view = LiveView::new(&submission.plan).of_run(run);
            self.view = Some(if self.output.colors_on_stderr { view.in_colors() } else { view });
            if self.shown == Shown::Steps && self.screen.is_none() {
                self.output.talk(&format!("run {run}"));
            }
        }
        match (self.shown, &mut self.view) {
            (Shown::Nothing, _) | (_, None) => {}
            (Shown::Said, Some(_)) => self.say(&event.event),
            (Shown::Steps, Some(view)) if self.screen.is_some() => view.note(event),
            (Shown::Steps, Some(view)) => view.tell(event).iter().for_each(|line| self.output.talk(line)),
            (Shown::Data, Some(view)) => view.tell(event).iter().for_each(|line| self.output.line(line)),
        }
    }

    /// Shows what a script says; of a run of several, which one.
    fn say(&self, event: &RunEvent) {
        let name = |step: usize| self.steps.get(step).filter(|_| self.steps.len() > 1);
        match event {
            RunEvent::Started { step, attempt: attempt @ 2.., .. } => {
                let name = name(*step).map(|step| format!("{step}: ")).unwrap_or_default();
                self.output.talk(&format!("{name}attempt {attempt}"));
            }
            RunEvent::Emitted { step, events, .. } => {
                events.iter().for_each(|event| self.output.said(name(*step), event));
            }
            RunEvent::Started { .. }
            | RunEvent::Submitted(_)
            | RunEvent::Ended { .. }
            | RunEvent::TimeReached
            | RunEvent::CancelRequested { .. }
            | RunEvent::PauseRequested { .. }
            | RunEvent::ResumeRequested { .. }
            | RunEvent::Approved { .. }
            | RunEvent::Rejected { .. }
            | RunEvent::Interrupted { .. } => {}
        }
    }

    /// Draws the picture.
    pub(crate) fn draw(&mut self, now: Timestamp) {
        if let (Some(screen), Some(view)) = (&mut self.screen, &self.view) {
            screen.draw(|width, height| view.frame(now, width, height));
        }
    }

    /// Makes room for something to be said: the picture so far stays, and the next one is drawn below.
    pub(crate) fn stand_aside(&mut self) {
        if let Some(screen) = &mut self.screen {
            screen.leave();
        }
    }

    /// Draws the last picture, which stays.
    pub(crate) fn end(&mut self, now: Timestamp) {
        self.draw(now);
        self.stand_aside();
    }
}

impl Output {
    /// Says what a script said, if it is for people.
    pub(crate) fn said(&self, step: Option<&StepId>, event: &ToolEvent) {
        let name = step.map(|step| format!("{step}: ")).unwrap_or_default();
        match event {
            ToolEvent::Log { level: LogLevel::Debug, .. } if !self.verbose => {}
            ToolEvent::Log { level: LogLevel::Debug | LogLevel::Info, message, .. } => {
                self.talk(&format!("{name}{message}"));
            }
            ToolEvent::Log { level: LogLevel::Warn, message, .. } => {
                self.remark("warning:", Tone::Warning, &format!("{name}{message}"));
            }
            ToolEvent::Log { level: LogLevel::Error, message, .. } => {
                self.remark("error:", Tone::Error, &format!("{name}{message}"));
            }
            ToolEvent::Error { error_code, error_message, .. } => {
                self.remark("error:", Tone::Error, &format!("{name}{error_message} ({error_code})"));
            }
            ToolEvent::UiEvent { event, payload, .. } => {
                let payload = payload.as_ref().map(|payload| format!(" {payload}")).unwrap_or_default();
                match event.as_str() {
                    "narrative_choice" => self.choices(&name, &payload),
                    event => self.talk(&format!("{name}{event}{payload}")),
                }
            }
            ToolEvent::StatePatch { .. } | ToolEvent::Asset { .. } | ToolEvent::Done { .. } => {}
        }
    }

    fn choices(&self, name: &str, payload: &str) {
        let document: Value = serde_json::from_str(payload.trim()).unwrap_or_default();
        let choices = document["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (index, choice) in choices.iter().enumerate() {
            let text = choice.as_str().map_or_else(|| choice.to_string(), str::to_owned);
            self.talk(&format!("{name}{}. {text}", index + 1));
        }
    }
}
