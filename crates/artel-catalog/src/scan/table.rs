//! Findings as rows for people. How they are drawn is up to whoever prints them.

use super::report::ScanReport;
use artel_model::catalog::{Severity, VerdictRecord};

/// What stands for the rule of something that was not scanned.
const NOT_SCANNED: &str = "not-scanned";

/// One row of a table of findings.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TableRow {
    /// How bad it is; nothing for what was not scanned.
    pub severity: Option<Severity>,
    /// The rule, or `not-scanned`; that of another scanner has its name in front.
    pub rule: String,
    /// `path:line`, or what there is of it.
    pub place: String,
    /// What was found; harmless to show.
    pub message: String,
    /// The text it was found in; harmless to show.
    pub snippet: Option<String>,
    /// What to do about it.
    pub remediation: String,
}

/// Returns the rows of a report: what was not scanned first, then the findings, the worst first.
pub fn table_rows(report: &ScanReport) -> Vec<TableRow> {
    let gaps = report.gaps.iter().map(|gap| TableRow {
        severity: None,
        rule: NOT_SCANNED.to_owned(),
        place: gap.path.as_ref().map(ToString::to_string).unwrap_or_default(),
        message: gap.reason.clone(),
        snippet: None,
        remediation: "make the file readable and smaller, or remove it".to_owned(),
    });
    let findings = report.findings.iter().map(|finding| {
        let decoded = if finding.decoded.is_empty() {
            String::new()
        } else {
            format!(" (in {})", finding.decoded.join(" in "))
        };
        TableRow {
            severity: Some(finding.severity),
            rule: finding.rule.id.to_owned(),
            place: place(Some(finding.path.as_str()), finding.line),
            message: format!("{}: {}{decoded}", finding.rule.title, finding.message),
            snippet: finding.snippet.clone(),
            remediation: finding.rule.remediation.to_owned(),
        }
    });
    gaps.chain(findings).collect()
}

/// Returns the rows of what another scanner said, in the same order.
pub fn verdict_rows(verdict: &VerdictRecord) -> Vec<TableRow> {
    let rule = |rule: &str| format!("{}/{rule}", verdict.engine);
    let gaps = verdict.gaps.iter().map(|gap| TableRow {
        severity: None,
        rule: rule(NOT_SCANNED),
        place: String::new(),
        message: gap.clone(),
        snippet: None,
        remediation: "`artel doctor` says whether the scanner is there".to_owned(),
    });
    let findings = verdict.findings.iter().map(|finding| TableRow {
        severity: Some(finding.severity),
        rule: rule(&finding.rule_id),
        place: place(finding.path.as_deref(), finding.line),
        message: finding.message.clone(),
        snippet: None,
        remediation: finding.remediation.clone().unwrap_or_default(),
    });
    gaps.chain(findings).collect()
}

fn place(path: Option<&str>, line: Option<u32>) -> String {
    let path = path.unwrap_or_default();
    line.map_or_else(|| path.to_owned(), |line| format!("{path}:{line}"))
}
