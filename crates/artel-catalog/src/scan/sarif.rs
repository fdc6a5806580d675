//! Reports as SARIF 2.1.0, which code hosts and editors show beside the code.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use super::cisco::ATTRIBUTION;
use super::finding::ScanFinding;
use super::report::{Gap, ScanReport};
use super::rule::Rule;
use artel_model::catalog::{FindingRecord, Severity, VerdictRecord};

/// A skill that was scanned, for a report about several.
#[derive(Clone, Copy, Debug)]
pub struct ScannedSkill<'a> {
    /// The skill's folder; paths of findings are given below it.
    pub folder: &'a Utf8Path,
    /// What the scan gave.
    pub report: &'a ScanReport,
    /// What another scanner said, where one was asked.
    pub second: Option<&'a VerdictRecord>,
}

/// Returns one SARIF log about all skills.
pub fn sarif(skills: &[ScannedSkill<'_>]) -> Value {
    let mut used: BTreeMap<&str, &'static Rule> = BTreeMap::new();
    for finding in skills.iter().flat_map(|skill| &skill.report.findings) {
        used.insert(finding.rule.id, finding.rule);
    }
    let places: BTreeMap<&str, usize> = used.keys().enumerate().map(|(index, id)| (*id, index)).collect();
    let results: Vec<Value> = skills
        .iter()
        .flat_map(|skill| skill.report.findings.iter().map(|finding| result(skill, finding, &places)))
        .collect();
    let is_complete = skills.iter().all(|skill| skill.report.gaps.is_empty());
    let notices: Vec<Value> = skills
        .iter()
        .flat_map(|skill| skill.report.gaps.iter().map(|gap| notice(skill.folder, gap)))
        .collect();
    let own = json!({
        "tool": { "driver": {
            "name": "artel",
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": used.values().map(|rule| descriptor(rule)).collect::<Vec<Value>>(),
        }},
        "invocations": [{ "executionSuccessful": is_complete, "toolExecutionNotifications": notices }],
        "results": results,
    });
    let runs: Vec<Value> = [own].into_iter().chain(second_run(skills)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": runs,
    })
}

/// Returns what another scanner said, as a run of its own; nothing when none was asked.
fn second_run(skills: &[ScannedSkill<'_>]) -> Option<Value> {
    let said: Vec<(&Utf8Path, &VerdictRecord)> =
        skills.iter().filter_map(|skill| Some((skill.folder, skill.second?))).collect();
    let (_, first) = said.first()?;
    let results = said.iter().flat_map(|(folder, verdict)| {
        verdict.findings.iter().map(|finding| second_result(folder, finding)).collect::<Vec<Value>>()
    });
    let notices = said.iter().flat_map(|(folder, verdict)| {
        let gap = |reason: &String| notice(folder, &Gap { path: None, reason: reason.clone() });
        verdict.gaps.iter().map(gap).collect::<Vec<Value>>()
    });
    Some(json!({
        "tool": { "driver": {
            "name": first.engine,
            "version": first.engine_version,
            "fullDescription": { "text": ATTRIBUTION },
        }},
        "invocations": [{
            "executionSuccessful": said.iter().all(|(_, verdict)| verdict.is_complete),
            "toolExecutionNotifications": notices.collect::<Vec<Value>>(),
        }],
        "results": results.collect::<Vec<Value>>(),
    }))
}

fn second_result(folder: &Utf8Path, finding: &FindingRecord) -> Value {
    let path = finding.path.as_ref().map_or_else(|| folder.to_owned(), |path| folder.join(path));
    let mut place = json!({ "artifactLocation": { "uri": uri(&path) } });
    if let Some(line) = finding.line {
        place["region"] = json!({ "startLine": line.max(1) });
    }
    json!({
        "ruleId": finding.rule_id,
        "level": level(finding.severity),
        "message": { "text": finding.message },
        "locations": [{ "physicalLocation": place }],
        "properties": { "severity": finding.severity.as_str(), "security-severity": score(finding.severity) },
    })
}

fn descriptor(rule: &Rule) -> Value {
    let risk = rule.category.owasp();
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.title },
        "fullDescription": { "text": rule.explanation },
        "help": { "text": rule.remediation },
        "defaultConfiguration": { "level": level(rule.severity) },
        "properties": {
            "security-severity": score(rule.severity),
            "tags": ["security", rule.category.as_str(), format!("{} {}", risk.id(), risk.name())],
        },
    })
}

fn result(skill: &ScannedSkill<'_>, finding: &ScanFinding, places: &BTreeMap<&str, usize>) -> Value {
    let path = skill.folder.join(&finding.path);
    let mut place = json!({ "artifactLocation": { "uri": uri(&path) } });
    if let Some(line) = finding.line {
        place["region"] = json!({ "startLine": line.max(1) });
        if let Some(snippet) = &finding.snippet {
            place["region"]["snippet"] = json!({ "text": snippet });
        }
    }
    let key = format!("{}|{}|{}", finding.rule.id, finding.path, finding.message);
    json!({
        "ruleId": finding.rule.id,
        "ruleIndex": places.get(finding.rule.id),
        "level": level(finding.severity),
        "message": { "text": format!("{}: {}", finding.rule.title, finding.message) },
        "locations": [{ "physicalLocation": place }],
        "partialFingerprints": { "artelFinding/v1": crate::source::file_hash(key.as_bytes()).to_string() },
        "properties": { "severity": finding.severity.as_str(), "security-severity": score(finding.severity) },
    })
}

fn notice(folder: &Utf8Path, gap: &Gap) -> Value {
    let path = gap.path.as_ref().map_or_else(|| folder.to_owned(), |path| folder.join(path));
    json!({
        "level": "error",
        "message": { "text": format!("not scanned: {}", gap.reason) },
        "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri(&path) } } }],
    })
}

/// Writes a path as a relative URI.
fn uri(path: &Utf8PathBuf) -> String {
    let mut out = String::new();
    for byte in path.as_str().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'!' => {
                out.push(char::from(byte))
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Info | Severity::Low => "note",
        Severity::Medium => "warning",
        Severity::High | Severity::Critical => "error",
    }
}

/// The number that code hosts sort by.
fn score(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "0.0",
        Severity::Low => "3.0",
        Severity::Medium => "5.5",
        Severity::High => "8.0",
        Severity::Critical => "9.5",
    }
}
