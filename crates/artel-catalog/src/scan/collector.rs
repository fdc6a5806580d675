//! Gathers findings and gaps while a skill is scanned, and keeps them within their limits.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};

use super::finding::ScanFinding;
use super::limits::{FINDINGS_MAX, FINDINGS_PER_RULE_AND_FILE_MAX, FINDINGS_TAKEN_MAX, SNIPPET_CHARS_MAX};
use super::piece::Piece;
use super::report::Gap;
use super::rule::Rule;
use crate::text::visible;
use artel_model::catalog::Severity;

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Collector {
    findings: Vec<ScanFinding>,
    gaps: BTreeSet<Gap>,
    seen: BTreeSet<(&'static str, Utf8PathBuf, Option<u32>)>,
    /// How often a rule was found in a file, and the worst of it.
    taken: BTreeMap<(&'static str, Utf8PathBuf), (usize, Severity)>,
    /// Findings that were not even looked at closely.
    passed_over: usize,
}

impl Collector {
    /// Reports something in a line of a piece, as bad as its rule says.
    pub(super) fn report(
        &mut self,
        piece: &Piece<'_>,
        rule: &'static Rule,
        line: u32,
        message: impl Into<String>,
    ) {
        self.report_as(piece, rule, rule.severity, line, message);
    }

    /// Reports something in a line of a piece.
    pub(super) fn report_as(
        &mut self,
        piece: &Piece<'_>,
        rule: &'static Rule,
        severity: Severity,
        line: u32,
        message: impl Into<String>,
    ) {
        let severity = piece.intent.weigh(severity);
        if self.has_enough(rule, piece.path, severity) {
            return;
        }
        let snippet = Some(piece.text_of_line(line).trim()).filter(|text| !text.is_empty());
        self.add(ScanFinding {
            rule,
            severity,
            path: piece.path.to_owned(),
            line: Some(line),
            message: shorten(&message.into()),
            snippet: snippet.map(shorten),
            decoded: piece.decoded.clone(),
        });
    }

    /// Says whether so much of a rule was found in a file that only something worse would be worth more work.
    fn has_enough(&mut self, rule: &'static Rule, path: &Utf8Path, severity: Severity) -> bool {
        let (count, worst) = self.taken.entry((rule.id, path.to_owned())).or_insert((0, severity));
        if *count >= FINDINGS_TAKEN_MAX && severity <= *worst {
            self.passed_over += 1;
            return true;
        }
        *count += 1;
        *worst = severity.max(*worst);
        false
    }

    /// Reports something about a whole file.
    pub(super) fn report_file(&mut self, path: &Utf8Path, rule: &'static Rule, message: impl Into<String>) {
        self.report_file_as(path, rule, rule.severity, message);
    }

    /// Reports a file that is less bad than the rule says.
    pub(super) fn report_file_as(
        &mut self,
        path: &Utf8Path,
        rule: &'static Rule,
        severity: Severity,
        message: impl Into<String>,
    ) {
        self.add(ScanFinding {
            rule,
            severity,
            path: path.to_owned(),
            line: None,
            message: shorten(&message.into()),
            snippet: None,
            decoded: Vec::new(),
        });
    }

    /// Says that something was not scanned.
    pub(super) fn gap(&mut self, path: Option<&Utf8Path>, reason: impl Into<String>) {
        self.gaps.insert(Gap { path: path.map(Utf8Path::to_owned), reason: shorten(&reason.into()) });
    }

    /// Returns the worst that was found of every rule.
    pub(super) fn worst_by_rule(&self) -> BTreeMap<&'static str, (&'static Rule, Severity)> {
        let mut worst = BTreeMap::new();
        for finding in &self.findings {
            let entry = worst.entry(finding.rule.id).or_insert((finding.rule, finding.severity));
            entry.1 = entry.1.max(finding.severity);
        }
        worst
    }

    /// Returns the findings in their order, how many were left out, and the gaps.
    pub(super) fn finish(mut self) -> (Vec<ScanFinding>, usize, Vec<Gap>) {
        self.findings.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        let mut counts: BTreeMap<(&str, Utf8PathBuf), usize> = BTreeMap::new();
        let all = self.findings.len();
        self.findings.retain(|finding| {
            let count = counts.entry((finding.rule.id, finding.path.clone())).or_default();
            *count += 1;
            *count <= FINDINGS_PER_RULE_AND_FILE_MAX
        });
        self.findings.truncate(FINDINGS_MAX);
        let left_out = all - self.findings.len() + self.passed_over;
        (self.findings, left_out, self.gaps.into_iter().collect())
    }

    /// Keeps one finding of a rule in a line: the worst, and of equals the first.
    fn add(&mut self, finding: ScanFinding) {
        if self.seen.insert((finding.rule.id, finding.path.clone(), finding.line)) {
            self.findings.push(finding);
            return;
        }
        let same = |known: &&mut ScanFinding| {
            known.rule.is(finding.rule) && known.path == finding.path && known.line == finding.line
        };
        if let Some(known) = self.findings.iter_mut().find(same)
            && known.severity < finding.severity
        {
            *known = finding;
        }
    }
}

/// Makes a text that nobody vouches for short and harmless to show.
pub(super) fn shorten(text: &str) -> String {
    let mut short: String = visible(text).chars().take(SNIPPET_CHARS_MAX + 1).collect();
    if short.chars().count() > SNIPPET_CHARS_MAX {
        short = short.chars().take(SNIPPET_CHARS_MAX - 3).collect();
        short.push_str("...");
    }
    short
}
