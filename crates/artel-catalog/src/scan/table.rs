//! Findings as rows for people. How they are drawn is up to whoever prints them.

use super::report::ScanReport;
use artel_model::catalog::Severity;

/// One row of a table of findings.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TableRow {
    /// How bad it is; nothing for what was not scanned.
    pub severity: Option<Severity>,
    /// The rule, or `not-scanned`.
    pub rule: &'static str,
    /// `path:line`, or what there is of it.
    pub place: String,
    /// What was found; harmless to show.
    pub message: String,
    /// The text it was found in; harmless to show.
    pub snippet: Option<String>,
    /// What to do about it.
    pub remediation: &'static str,
}

/// Returns the rows of a report: what was not scanned first, then the findings, the worst first.
pub fn table_rows(report: &ScanReport) -> Vec<TableRow> {
    let gaps = report.gaps.iter().map(|gap| TableRow {
        severity: None,
        rule: "not-scanned",
        place: gap.path.as_ref().map(ToString::to_string).unwrap_or_default(),
        message: gap.reason.clone(),
        snippet: None,
        remediation: "make the file readable and smaller, or remove it",
    });
    let findings = report.findings.iter().map(|finding| {
        let decoded = if finding.decoded.is_empty() {
            String::new()
        } else {
            format!(" (in {})", finding.decoded.join(" in "))
        };
        TableRow {
            severity: Some(finding.severity),
            rule: finding.rule.id,
            place: finding
                .line
                .map_or_else(|| finding.path.to_string(), |line| format!("{}:{line}", finding.path)),
            message: format!("{}: {}{decoded}", finding.rule.title, finding.message),
            snippet: finding.snippet.clone(),
            remediation: finding.rule.remediation,
        }
    });
    gaps.chain(findings).collect()
}
