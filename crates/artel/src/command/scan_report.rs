//! What a scan found, for people, for programs and for code hosts; and the exit code that says how it went.

use artel_catalog::scan::cisco::ATTRIBUTION;
use artel_catalog::scan::{
    ScanReport, ScanStatus, ScannedSkill, Severity, TableRow, sarif, table_rows, verdict_rows,
};
use artel_model::catalog::VerdictRecord;
use artel_model::diagnostic::Finding;
use camino::Utf8PathBuf;
use serde_json::json;

use super::context::Context;
use crate::cli::ScanFormat;
use crate::config::ScannerChoice;
use crate::failure::Failure;
use crate::output::{Table, Tone};

/// What a scan of several skills gave.
pub(super) struct Report {
    /// How bad a finding must be to count.
    pub(super) fail_on: Severity,
    /// The skills, in the order they were found.
    pub(super) scanned: Vec<Scanned>,
    /// Where skills may be that were not found.
    pub(super) unsearched: Vec<Finding>,
    /// Folders that hold no skills by their names, and were not searched.
    pub(super) passed_over: Vec<Utf8PathBuf>,
}

/// A skill that was scanned.
pub(super) struct Scanned {
    pub(super) name: String,
    pub(super) location: String,
    /// Paths of findings are below it.
    pub(super) folder: Utf8PathBuf,
    pub(super) report: ScanReport,
    /// What the second scanner said, where one was asked.
    pub(super) second: Option<VerdictRecord>,
}

impl Scanned {
    /// Returns how the skill stands: the worst that anybody found counts, and everybody has to have seen everything.
    fn status(&self, fail_on: Severity) -> ScanStatus {
        let second = self.second.as_ref();
        let worst = self.report.worst().max(second.and_then(|second| second.worst));
        let is_complete = self.report.gaps.is_empty() && second.is_none_or(|second| second.is_complete);
        ScanStatus::of(worst, is_complete, fail_on)
    }

    fn rows(&self) -> Vec<TableRow> {
        let second = self.second.iter().flat_map(verdict_rows);
        table_rows(&self.report).into_iter().chain(second).collect()
    }
}

impl Report {
    /// Prints the report, and says how it went.
    pub(super) fn print<'a>(&'a self, context: Context<'_>, format: ScanFormat) -> Result<(), Failure> {
        match format {
            ScanFormat::Table => self.print_table(context),
            ScanFormat::Json => self.print_json(context),
            ScanFormat::Sarif => {
                let skill = |scanned: &'a Scanned| ScannedSkill {
                    folder: &scanned.folder,
                    report: &scanned.report,
                    second: scanned.second.as_ref(),
                };
                let skills: Vec<ScannedSkill<'_>> = self.scanned.iter().map(skill).collect();
                context.output.document(&sarif(&skills));
            }
        }
        for finding in &self.unsearched {
            let text = format!("{}: {}", finding.path, finding.message);
            context.output.remark("not searched", Tone::Warning, &text);
        }
        for folder in &self.passed_over {
            context.output.talk(&format!("not searched: {folder}, the folder of git itself"));
        }
        context.output.talk(&self.summary(context));
        if self.has_second() {
            context.output.talk(&format!("rules of `skill-scanner/` are those of {ATTRIBUTION}"));
            let second = context.config.scanner.value.second.as_ref();
            if let Some(found) = second.filter(|second| second.chosen == ScannerChoice::Installed) {
                let off = "`[scanner] program = \"off\"` switches it off";
                context.output.talk(&format!("it was asked because `{}` is installed; {off}", found.program));
            }
        }
        match self.status() {
            ScanStatus::Passed => Ok(()),
            ScanStatus::Flagged => Err(Failure::reported()),
            ScanStatus::Unscanned => Err(Failure::reported_usage()),
        }
    }

    /// How all skills stand together. What is flagged is known, whatever else was not scanned.
    fn status(&self) -> ScanStatus {
        if self.count(ScanStatus::Flagged) > 0 {
            ScanStatus::Flagged
        } else if self.count(ScanStatus::Unscanned) > 0 || !self.unsearched.is_empty() {
            ScanStatus::Unscanned
        } else {
            ScanStatus::Passed
        }
    }

    fn has_second(&self) -> bool {
        self.scanned.iter().any(|scanned| scanned.second.is_some())
    }

    fn count(&self, status: ScanStatus) -> usize {
        self.scanned.iter().filter(|scanned| scanned.status(self.fail_on) == status).count()
    }

    fn summary(&self, context: Context<'_>) -> String {
        let number = self.scanned.len();
        let plural = if number == 1 { "" } else { "s" };
        let counts: Vec<String> = [ScanStatus::Flagged, ScanStatus::Unscanned, ScanStatus::Passed]
            .into_iter()
            .filter(|status| self.count(*status) > 0)
            .map(|status| format!("{} {}", self.count(status), status.as_str()))
            .collect();
        let has_findings =
            self.scanned.iter().any(|scanned| scanned.rows().iter().any(|row| row.severity.is_some()));
        let hint = if has_findings && !context.output.verbose { "; `-v` shows what to do" } else { "" };
        format!(
            "{number} skill{plural} scanned: {} (what is {} or worse counts){hint}",
            counts.join(", "),
            self.fail_on
        )
    }

    fn print_json(&self, context: Context<'_>) {
        let skill = |scanned: &Scanned| {
            let mut skill = json!({
                "name": scanned.name,
                "location": scanned.location,
                "scan_status": scanned.status(self.fail_on),
                "scan": scanned.report,
            });
            if let Some(second) = &scanned.second {
                skill["second_scan"] = json!(second);
            }
            skill
        };
        let place = |finding: &Finding| json!({"path": finding.path, "message": finding.message});
        let mut document = json!({
            "fail_on": self.fail_on,
            "scan_status": self.status(),
            "passed": self.count(ScanStatus::Passed),
            "flagged": self.count(ScanStatus::Flagged),
            "unscanned": self.count(ScanStatus::Unscanned),
            "skills": self.scanned.iter().map(skill).collect::<Vec<_>>(),
            "not_searched": self.unsearched.iter().map(place).collect::<Vec<_>>(),
            "passed_over": self.passed_over,
        });
        if self.has_second() {
            document["attribution"] = json!(ATTRIBUTION);
        }
        context.output.document(&document);
    }

    fn print_table(&self, context: Context<'_>) {
        let output = context.output;
        for scanned in &self.scanned {
            let status = scanned.status(self.fail_on);
            let tone = match status {
                ScanStatus::Passed => Tone::Good,
                ScanStatus::Flagged => Tone::Error,
                ScanStatus::Unscanned => Tone::Warning,
            };
            output.line(&format!(
                "{} {}  {}",
                output.paint(&format!("{:<9}", status.as_str()), tone),
                output.paint(&scanned.name, Tone::Strong),
                output.paint(&scanned.location, Tone::Faint)
            ));
            output.data(&rows(context, &scanned.rows()));
            if scanned.report.left_out > 0 {
                output.line(&format!("  and {} more, which are not shown", scanned.report.left_out));
            }
        }
    }
}

/// Writes the rows of one skill, on a terminal cut to fit; in full, with what to do about them, when asked to say more.
fn rows(context: Context<'_>, rows: &[TableRow]) -> String {
    let mut table = Table::new(&[Tone::Plain, Tone::Plain, Tone::Plain, Tone::Accent, Tone::Plain]);
    for row in rows {
        let message = if context.output.verbose { "" } else { &row.message };
        table.row(["", word(row), &row.rule, &row.place, message]);
    }
    let text = table.render(context.output);
    let mut out = String::new();
    for (row, line) in rows.iter().zip(text.lines()) {
        out.push_str(&line.replacen(word(row), &context.output.paint(word(row), tone(row)), 1));
        out.push('\n');
        if context.output.verbose {
            out.push_str(&details(context, row));
        }
    }
    out
}

fn details(context: Context<'_>, row: &TableRow) -> String {
    let output = context.output;
    let line = |mark: &str, text: &str| {
        format!("      {} {}\n", output.paint(mark, Tone::Accent), output.paint(text, Tone::Plain))
    };
    let snippet = row.snippet.iter().map(|snippet| line("|", snippet));
    let message = [line("=", &row.message)];
    message.into_iter().chain(snippet).chain([line("= hint:", &row.remediation)]).collect()
}

fn word(row: &TableRow) -> &'static str {
    row.severity.map_or("unread", Severity::as_str)
}

fn tone(row: &TableRow) -> Tone {
    match row.severity {
        Some(Severity::Critical | Severity::High) => Tone::Error,
        Some(Severity::Medium) | None => Tone::Warning,
        Some(Severity::Low | Severity::Info) => Tone::Faint,
    }
}
