//! Listens to one attempt: bytes of stdout in, events out, and what came of it at the end. Holds every rule of the tool
//! protocol that needs to know what was said before. Knows nothing of processes and files.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::event::ToolEvent;
use super::lines::Lines;
use super::patch::Patches;
use super::read::{is_blank, read_event};
use super::violation::{Violation, ViolationKind};
use crate::limit::EVENTS_PER_ATTEMPT_MAX;

/// Listens to one attempt.
#[derive(Debug, Default)]
pub struct Collector {
    lines: Lines,
    pub(super) said: Said,
}

/// An event and where it stood.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// Its line, from 1.
    pub line: u64,
    /// How many bytes the line had.
    pub bytes: usize,
    /// The event.
    pub event: ToolEvent,
}

/// What an attempt has said.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// How many events, the dropped ones included.
    events: usize,
    asset_ids: BTreeSet<String>,
    pub(super) patches: Patches,
    pub(super) last_error: Option<LastError>,
    pub(super) done: Option<Done>,
    dropped: u64,
    pub(super) violation: Option<Violation>,
}

/// The last `error` event.
#[derive(Debug)]
pub(super) struct LastError {
    pub(super) code: String,
    pub(super) message: String,
}

/// The `done` event.
#[derive(Debug)]
pub(super) struct Done {
    line: u64,
    pub(super) ok: bool,
    pub(super) summary: Option<String>,
    pub(super) output: Option<Map<String, Value>>,
}

impl Collector {
    /// Takes the next bytes of stdout and appends the events that end in them to `heard`.
    ///
    /// After a violation nothing more is taken: the attempt has failed, and its process is to be ended.
    pub fn push(&mut self, bytes: &[u8], heard: &mut Vec<Heard>) -> Result<(), Violation> {
        self.said.still_good()?;
        let said = &mut self.said;
        let taken = self.lines.push(bytes, |number, line| {
            heard.extend(said.line(number, line)?);
            Ok(())
        });
        taken.map_err(|violation| self.refuse(violation))
    }

    /// Takes the last line, when stdout ended without a newline.
    pub fn last_line(&mut self, heard: &mut Vec<Heard>) -> Result<(), Violation> {
        self.said.still_good()?;
        if let Some((number, line)) = self.lines.last() {
            let taken = self.said.line(number, &line).map_err(|violation| self.refuse(violation))?;
            heard.extend(taken);
        }
        Ok(())
    }

    /// Takes the last line of a process that did not end well: it may have been cut off, which is nobody's mistake.
    pub fn last_line_cut_off(&mut self, heard: &mut Vec<Heard>) -> Result<(), Violation> {
        self.said.still_good()?;
        if let Some((number, line)) = self.lines.last() {
            heard.extend(self.said.line(number, &line).ok().flatten());
        }
        Ok(())
    }

    /// Notes a violation, also one that somebody else found, and returns the one that counts: that of the first line.
    pub fn refuse(&mut self, violation: Violation) -> Violation {
        let known = self.said.violation.take().filter(|known| known.line <= violation.line);
        self.said.violation.insert(known.unwrap_or(violation)).clone()
    }

    /// Returns what the script itself said about its failure, its last error first.
    pub fn own_words(&self) -> Vec<&str> {
        let error = self.said.last_error.as_ref().map(|error| error.message.as_str());
        let summary = self.said.done.as_ref().and_then(|done| done.summary.as_deref());
        error.into_iter().chain(summary).collect()
    }

    /// Returns whether the script itself says that it failed.
    pub fn says_it_failed(&self) -> bool {
        self.said.done.as_ref().is_some_and(|done| !done.ok)
    }

    /// Returns how many events came after `done` and were dropped.
    pub fn dropped_events(&self) -> u64 {
        self.said.dropped
    }
}

impl Said {
    fn still_good(&self) -> Result<(), Violation> {
        self.violation.clone().map_or(Ok(()), Err)
    }

    fn line(&mut self, number: u64, line: &[u8]) -> Result<Option<Heard>, Violation> {
        if is_blank(line) {
            return Ok(None);
        }
        let fail = |kind| Violation::at(number, kind, line);
        if self.events == EVENTS_PER_ATTEMPT_MAX {
            return Err(fail(ViolationKind::TooManyEvents));
        }
        let event = read_event(line).map_err(fail)?;
        self.events += 1;
        if let Some(done) = &self.done {
            if let ToolEvent::Done { .. } = event {
                return Err(fail(ViolationKind::SecondDone { first: done.line }));
            }
            self.dropped += 1;
            return Ok(None);
        }
        self.note(number, &event).map_err(fail)?;
        Ok(Some(Heard { line: number, bytes: line.len(), event }))
    }

    fn note(&mut self, line: u64, event: &ToolEvent) -> Result<(), ViolationKind> {
        match event {
            ToolEvent::Log { .. } | ToolEvent::UiEvent { .. } => {}
            ToolEvent::StatePatch { patch, .. } => self
                .patches
                .add(patch)
                .map_err(|too_deep| ViolationKind::NotJson { problem: too_deep.to_string(), column: 1 })?,
            ToolEvent::Asset { asset_id, .. } => {
                if !self.asset_ids.insert(asset_id.clone()) {
                    return Err(ViolationKind::DuplicateAsset { id: format!("`{}`", quote(asset_id)) });
                }
            }
            ToolEvent::Error { error_code, error_message, .. } => {
                self.last_error =
                    Some(LastError { code: error_code.clone(), message: error_message.clone() });
            }
            ToolEvent::Done { ok, summary, output, .. } => {
                self.done = Some(Done { line, ok: *ok, summary: summary.clone(), output: output.clone() });
            }
        }
        Ok(())
    }
}

fn quote(text: &str) -> String {
    super::violation::quote(text.as_bytes())
}
