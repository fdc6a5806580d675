//! The picture of a run on a terminal: a header, then every step where it belongs, or only those that matter.

use std::collections::BTreeMap;

use artel_model::plan::StepIndex;
use artel_model::run::RunState;
use artel_model::time::Timestamp;

use super::graph::Branch;
use super::row::Row;
use super::text::{harmless, number};
use super::{IdLength, LiveView, Stage};
use crate::output::{Tone, span};

const SPINNER: [char; 10] = [
    '\u{280b}', '\u{2819}', '\u{2839}', '\u{2838}', '\u{283c}', '\u{2834}', '\u{2826}', '\u{2827}',
    '\u{2807}', '\u{280f}',
];
/// Milliseconds each picture of the spinner stays.
const SPINNER_MS: i64 = 100;
/// Columns for how long something took.
const SPAN_COLUMNS: usize = 10;
/// Columns of the bar: all of it where there is room, none where there is too little.
const BAR_COLUMNS: std::ops::RangeInclusive<usize> = 5..=20;

impl LiveView {
    /// Draws the run at a moment: at most `height` lines, none wider than `width`.
    pub(crate) fn frame(&self, now: Timestamp, width: u16, height: u16) -> Vec<String> {
        let (width, height) = (usize::from(width), usize::from(height));
        let room = height.saturating_sub(1);
        let mut rows = vec![self.header(now, width)];
        match self.graph.as_ref().filter(|graph| graph.len() <= room) {
            Some(graph) => rows.extend(self.graph_rows(graph, now, width)),
            None => rows.extend(self.digest(now, width, room)),
        }
        rows.truncate(height);
        rows.into_iter().map(|row| row.render(width, self.in_colors)).collect()
    }

    fn header(&self, now: Timestamp, width: usize) -> Row {
        let summary = self.run.summary();
        let (state, tone) = match summary.state {
            RunState::Running => ("running", Tone::Accent),
            RunState::AwaitingApproval => ("waiting for approval", Tone::Warning),
            RunState::Paused => ("paused", Tone::Warning),
            RunState::Stopping => ("stopping", Tone::Warning),
            RunState::Succeeded => ("succeeded", Tone::Good),
            RunState::Failed => ("failed", Tone::Error),
            RunState::Cancelled => ("cancelled", Tone::Error),
        };
        let since = if summary.created_at == Timestamp::default() { now } else { summary.created_at };
        let elapsed = summary.completed_at.unwrap_or(now).millis_since(since);
        let mut row = Row::default();
        row.push("plan ", Tone::Faint);
        row.push(short(&summary.plan_id.to_string()), Tone::Strong);
        row.push(format!("  {state}"), tone);
        row.push(format!("  {}", span(elapsed)), Tone::Plain);
        let counts = self.counts();
        let counted = format!("  {}", counted(&counts));
        let room = width.saturating_sub(row.width() + counted.len() + 2).min(*BAR_COLUMNS.end());
        if BAR_COLUMNS.contains(&room) {
            bar(&counts, room, &mut row);
        }
        row.push(counted, Tone::Plain);
        row
    }

    fn counts(&self) -> BTreeMap<Stage, usize> {
        let mut counts = BTreeMap::new();
        for step in self.scripts() {
            *counts.entry(self.stage(step)).or_insert(0) += 1;
        }
        counts
    }

    /// Composites only gather, so they are not counted.
    fn scripts(&self) -> impl Iterator<Item = StepIndex> {
        (0..self.heard.len()).filter(|&step| !self.gathers(step))
    }

    fn graph_rows(&self, graph: &[Branch], now: Timestamp, width: usize) -> Vec<Row> {
        let heads: Vec<Row> = graph.iter().map(|branch| self.head(branch, now)).collect();
        let columns = name_columns(&heads, width);
        let rows = graph
            .iter()
            .zip(heads)
            .map(|(branch, head)| self.row(branch.step, head, columns, &branch.after, now));
        rows.collect()
    }

    fn head(&self, branch: &Branch, now: Timestamp) -> Row {
        let (mark, tone) = mark(self.stage(branch.step), now);
        let mut row = Row::default();
        row.push(branch.prefix.clone(), Tone::Faint);
        row.push(format!("{mark} "), tone);
        row.push(harmless(&branch.name), if self.gathers(branch.step) { Tone::Strong } else { Tone::Plain });
        row
    }

    fn row(&self, step: StepIndex, mut row: Row, columns: usize, after: &[String], now: Timestamp) -> Row {
        row.fill(columns);
        let elapsed = self.elapsed(step, now).map(span).unwrap_or_default();
        row.push(format!("{elapsed:>SPAN_COLUMNS$}"), Tone::Faint);
        if self.heard[step].attempt > 1 {
            row.push(format!("  attempt {}", self.heard[step].attempt), Tone::Warning);
        }
        if let Some((text, tone)) = self.detail(step, after) {
            row.push("  ", Tone::Plain);
            row.push(text, tone);
        }
        row
    }

    fn elapsed(&self, step: StepIndex, now: Timestamp) -> Option<u64> {
        let heard = &self.heard[step];
        let until = match self.stage(step) {
            Stage::Running | Stage::Retry => now,
            Stage::Approval | Stage::Pending | Stage::Skipped => return None,
            Stage::Failed | Stage::TimedOut | Stage::Cancelled | Stage::Done => heard.ended_at?,
        };
        Some(until.millis_since(heard.started_at?))
    }

    fn detail(&self, step: StepIndex, after: &[String]) -> Option<(String, Tone)> {
        let heard = &self.heard[step];
        let error = || self.error(step).map(|error| harmless(&error.message));
        match self.stage(step) {
            Stage::Running | Stage::Done => Some((heard.said.clone()?, Tone::Faint)),
            Stage::Retry => Some((format!("again soon: {}", heard.error.as_deref()?), Tone::Warning)),
            Stage::Approval => {
                Some((format!("waits for a yes: {}", self.how_to_approve(IdLength::Start)), Tone::Warning))
            }
            Stage::Failed | Stage::TimedOut => Some((error()?, Tone::Error)),
            Stage::Cancelled | Stage::Skipped => Some((error()?, Tone::Faint)),
            Stage::Pending if after.is_empty() => None,
            Stage::Pending => Some((format!("after {}", harmless(&after.join(", "))), Tone::Faint)),
        }
    }

    /// Lists what runs, waits for somebody or failed, and counts the rest.
    fn digest(&self, now: Timestamp, width: usize, room: usize) -> Vec<Row> {
        let mut steps: Vec<(Stage, StepIndex)> = self
            .scripts()
            .map(|step| (self.stage(step), step))
            .filter(|(stage, _)| matters(*stage))
            .collect();
        steps.sort_unstable();
        let mut left = self.counts();
        let is_all = steps.len() == left.values().sum::<usize>() && steps.len() <= room;
        steps.truncate(if is_all { room } else { room.saturating_sub(1) });
        let heads: Vec<Row> = steps.iter().map(|(_, step)| self.head(&self.alone(*step), now)).collect();
        let columns = name_columns(&heads, width);
        let mut rows = Vec::with_capacity(steps.len() + 1);
        for ((stage, step), head) in steps.into_iter().zip(heads) {
            *left.entry(stage).or_default() -= 1;
            rows.push(self.row(step, head, columns, &[], now));
        }
        rows.extend(summary(&left).map(|text| {
            let mut row = Row::default();
            row.push(text, Tone::Faint);
            row
        }));
        rows
    }

    fn alone(&self, step: StepIndex) -> Branch {
        let name = self.run.plan().steps()[step].id.to_string();
        Branch { step, prefix: String::new(), name, after: Vec::new() }
    }
}

fn bar(counts: &BTreeMap<Stage, usize>, width: usize, row: &mut Row) {
    let total: usize = counts.values().sum();
    let count = |stages: &[Stage]| stages.iter().filter_map(|stage| counts.get(stage)).sum::<usize>();
    // A plan without steps is done.
    let columns = |count: usize| (count * width).checked_div(total).unwrap_or(width);
    let done = count(&[Stage::Done]);
    let settled = done + count(&[Stage::Failed, Stage::TimedOut, Stage::Cancelled, Stage::Skipped]);
    let (done, settled) = (columns(done), columns(settled));
    row.push("  ", Tone::Plain);
    row.push("\u{2501}".repeat(done), Tone::Good);
    row.push("\u{2501}".repeat(settled - done), Tone::Error);
    row.push("\u{2500}".repeat(width - settled), Tone::Faint);
}

fn counted(counts: &BTreeMap<Stage, usize>) -> String {
    let count = |stage: Stage| counts.get(&stage).copied().unwrap_or(0);
    let total: usize = counts.values().sum();
    let mut text = format!("{}/{} done", number(count(Stage::Done)), number(total));
    for (count, word) in [
        (count(Stage::Failed) + count(Stage::TimedOut), "failed"),
        (count(Stage::Skipped), "skipped"),
        (count(Stage::Cancelled), "cancelled"),
        (count(Stage::Running), "running"),
    ] {
        if count > 0 {
            text.push_str(&format!(", {} {word}", number(count)));
        }
    }
    text
}

/// Says whether a step is worth a line when there are too many.
fn matters(stage: Stage) -> bool {
    match stage {
        Stage::Running | Stage::Approval | Stage::Retry | Stage::Failed | Stage::TimedOut => true,
        Stage::Cancelled | Stage::Skipped | Stage::Pending | Stage::Done => false,
    }
}

/// Counts what is not shown.
fn summary(left: &BTreeMap<Stage, usize>) -> Option<String> {
    let word = |stage: Stage| match stage {
        Stage::Running => "running",
        Stage::Approval => "waiting for a yes",
        Stage::Retry => "waiting for another attempt",
        Stage::Failed => "failed",
        Stage::TimedOut => "timed out",
        Stage::Cancelled => "cancelled",
        Stage::Skipped => "skipped",
        Stage::Pending => "pending",
        Stage::Done => "done",
    };
    let counts: Vec<String> = left
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(stage, count)| format!("{} {}", number(*count), word(*stage)))
        .collect();
    (!counts.is_empty()).then(|| format!("\u{2026} {}", counts.join(", ")))
}

/// Names get as much room as the longest needs, but never more than half of the line.
fn name_columns(heads: &[Row], width: usize) -> usize {
    heads.iter().map(Row::width).max().unwrap_or(0).min(width / 2)
}

fn mark(stage: Stage, now: Timestamp) -> (char, Tone) {
    let turn = now.as_millis().div_euclid(SPINNER_MS).rem_euclid(10);
    match stage {
        Stage::Running => (SPINNER[usize::try_from(turn).unwrap_or(0)], Tone::Accent),
        Stage::Approval => ('\u{23f8}', Tone::Warning),
        Stage::Retry => ('\u{21bb}', Tone::Warning),
        Stage::Failed => ('\u{2717}', Tone::Error),
        Stage::TimedOut => ('\u{23f1}', Tone::Error),
        Stage::Cancelled => ('\u{25a0}', Tone::Faint),
        Stage::Skipped => ('\u{2298}', Tone::Faint),
        Stage::Pending => ('\u{b7}', Tone::Faint),
        Stage::Done => ('\u{2713}', Tone::Good),
    }
}

/// The first part of an id is enough for a person.
fn short(id: &str) -> String {
    id.split('-').next().unwrap_or(id).to_owned()
}
