//! Reads what Skill Scanner, provided by Cisco AI Defense, says of skills: the JSON of `skill-scanner scan-all`.
//!
//! Only reads; who starts the program, and for how long, is decided elsewhere. Whatever is missing, cut, skipped or not
//! understood makes a verdict incomplete, never better.

use artel_model::catalog::{Severity, VerdictRecord};
use artel_model::time::Timestamp;
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use serde_json::Value;

use super::collector::shorten;
use super::limits::FINDINGS_MAX;
use super::verdict::{Said, Scanned, Speaker, verdict};

/// The name of this scanner in findings.
pub const ENGINE: &str = "skill-scanner";

/// Whose work its findings are, and what they are worth: said wherever they are shown.
pub const ATTRIBUTION: &str = "Skill Scanner, provided by Cisco AI Defense \
     (https://github.com/cisco-ai-defense/skill-scanner, Apache-2.0). Results are best-effort and no guarantee.";

/// The part of the scanner that must have looked at a skill.
const ANALYZER: &str = "static_analyzer";

/// A skill that the program was asked about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ScanRequest {
    /// Its folder, as the program was told.
    pub folder: Utf8PathBuf,
    /// What it is.
    pub about: Scanned,
}

#[derive(Deserialize)]
struct Output {
    summary: Summary,
    results: Vec<Value>,
}

#[derive(Deserialize)]
struct Summary {
    total_skills_scanned: usize,
    #[serde(default)]
    skills_skipped: Vec<Skipped>,
}

#[derive(Deserialize)]
struct Skipped {
    skill: Utf8PathBuf,
}

#[derive(Deserialize)]
struct SkillResult {
    skill_path: Utf8PathBuf,
    max_severity: String,
    findings_count: usize,
    findings: Vec<Finding>,
    analyzers_used: Vec<String>,
    #[serde(default)]
    analyzers_failed: Vec<Value>,
}

#[derive(Deserialize)]
struct Finding {
    rule_id: String,
    severity: String,
    title: String,
    #[serde(default)]
    file_path: Option<String>,
    #[serde(default)]
    line_number: Option<u32>,
    #[serde(default)]
    remediation: Option<String>,
}

/// Returns a verdict for every skill that was asked about, in that order, from what the program wrote to stdout. The version
/// is that of the program, with everything that decides what it finds, as the policy does.
pub fn verdicts(
    output: &[u8],
    asked: &[ScanRequest],
    engine_version: &str,
    now: Timestamp,
) -> Vec<VerdictRecord> {
    let output = match serde_json::from_slice::<Output>(output) {
        Ok(output) if output.summary.total_skills_scanned == output.results.len() => output,
        Ok(_) => {
            return all_failed(asked, "the scanner counts other skills than it names", engine_version, now);
        }
        Err(_) => return all_failed(asked, "the scanner did not answer with its JSON", engine_version, now),
    };
    let speaker = Speaker { engine: ENGINE, engine_version, now };
    asked.iter().map(|asked| output.verdict(asked, speaker)).collect()
}

/// Returns the verdict about a skill that could not be scanned; the reason is harmless to show.
pub fn failed(about: &Scanned, reason: &str, engine_version: &str, now: Timestamp) -> VerdictRecord {
    let speaker = Speaker { engine: ENGINE, engine_version, now };
    verdict(about, speaker, Vec::new(), vec![shorten(reason)])
}

fn all_failed(
    asked: &[ScanRequest],
    reason: &str,
    engine_version: &str,
    now: Timestamp,
) -> Vec<VerdictRecord> {
    asked.iter().map(|asked| failed(&asked.about, reason, engine_version, now)).collect()
}

impl Output {
    /// A skill inside a skill belongs to the one that is published, so what was found in it counts, too.
    fn verdict(&self, asked: &ScanRequest, speaker: Speaker<'_>) -> VerdictRecord {
        let mut gaps = Vec::new();
        if self.summary.skills_skipped.iter().any(|skipped| skipped.skill.starts_with(&asked.folder)) {
            gaps.push("the scanner skipped it".to_owned());
        }
        let (mut said, mut is_named) = (Vec::new(), false);
        for result in self.results.iter().filter(|result| is_inside(result, &asked.folder)) {
            match serde_json::from_value::<SkillResult>(result.clone()) {
                Ok(result) => {
                    is_named |= result.skill_path == asked.folder;
                    gaps.extend(result.gaps());
                    said.extend(result.findings.into_iter().filter_map(Finding::said));
                }
                Err(_) => gaps.push("the scanner's answer about it is not understood".to_owned()),
            }
        }
        if !is_named && gaps.is_empty() {
            gaps.push("the scanner did not look at it".to_owned());
        }
        said.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        said.truncate(FINDINGS_MAX);
        gaps.sort();
        gaps.dedup();
        verdict(&asked.about, speaker, said, gaps)
    }
}

fn is_inside(result: &Value, folder: &Utf8Path) -> bool {
    let path = result.get("skill_path").and_then(Value::as_str);
    path.is_some_and(|path| Utf8Path::new(path).starts_with(folder))
}

fn sort_key(said: &Said) -> impl Ord + '_ {
    (
        std::cmp::Reverse(said.severity),
        said.path.as_deref(),
        said.line,
        said.rule_id.as_str(),
        said.message.as_str(),
    )
}

impl SkillResult {
    /// Returns why not everything was scanned, or why what is said cannot be trusted.
    fn gaps(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        if !self.analyzers_failed.is_empty() {
            gaps.push("a part of the scanner failed on it".to_owned());
        }
        if !self.analyzers_used.iter().any(|used| used == ANALYZER) {
            gaps.push("the scanner did not look at its files".to_owned());
        }
        let severities: Option<Vec<Severity>> =
            self.findings.iter().map(|finding| severity(&finding.severity)).collect();
        let is_clear = match severities {
            Some(severities) => {
                let worst = severities.iter().max().map_or("safe", |worst| worst.as_str());
                worst.eq_ignore_ascii_case(&self.max_severity) && severities.len() == self.findings_count
            }
            None => false,
        };
        if !is_clear {
            gaps.push("the scanner's answer about it does not fit together".to_owned());
        }
        gaps
    }
}

impl Finding {
    /// Titles are the scanner's own words; what it quotes of the files may be a secret and is left out. A severity that
    /// nobody knows makes the verdict incomplete, and is not taken for anything.
    fn said(self) -> Option<Said> {
        Some(Said {
            severity: severity(&self.severity)?,
            rule_id: shorten(&self.rule_id),
            path: self.file_path.as_deref().map(shorten),
            line: self.line_number.filter(|line| *line > 0),
            message: shorten(&self.title),
            remediation: self.remediation.as_deref().map(shorten),
        })
    }
}

fn severity(word: &str) -> Option<Severity> {
    Severity::ALL.into_iter().find(|severity| severity.as_str().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use artel_model::catalog::SourceKind;
    use serde_json::json;

    use super::*;

    /// What version 2.3.2 wrote about four folders; the paths are made short.
    const FOUR: &str = include_str!("../../../../fixtures/scan/skill-scanner/four-skills.json");
    /// What it wrote about one folder without findings.
    const CLEAN: &str = include_str!("../../../../fixtures/scan/skill-scanner/clean.json");

    fn asked(folder: &str) -> ScanRequest {
        let about = Scanned {
            source: SourceKind::Hub,
            source_id: Some("hub".to_owned()),
            skill_id: format!("hub/hub{folder}"),
            content_hash: format!("sha256:{folder}"),
        };
        ScanRequest { folder: folder.into(), about }
    }

    fn one(output: &str, folder: &str) -> VerdictRecord {
        verdicts(output.as_bytes(), &[asked(folder)], "2.3.2 balanced", Timestamp::from_millis(3)).remove(0)
    }

    #[test]
    fn what_the_scanner_really_writes_is_understood() {
        let bad = one(FOUR, "/skills/bad");
        assert_eq!((bad.worst, bad.is_complete, bad.findings.len()), (Some(Severity::Critical), true, 9));
        let first = &bad.findings[0];
        assert_eq!(
            (first.rule_id.as_str(), first.severity),
            ("YARA_prompt_injection_generic", Severity::Critical)
        );
        assert_eq!((first.path.as_deref(), first.line), (Some("SKILL.md"), Some(3)));
        assert_eq!(first.message, "PROMPT INJECTION detected by YARA");
        assert_eq!((first.engine.as_str(), bad.engine_version.as_str()), (ENGINE, "2.3.2 balanced"));
        assert!(bad.findings.is_sorted_by_key(|finding| std::cmp::Reverse(finding.severity)));

        let good = one(FOUR, "/skills/good");
        assert_eq!((good.worst, good.is_complete, good.findings.len()), (None, true, 0));
        // It was read though its frontmatter is none: that is said, but not everything was looked at.
        let broken = one(FOUR, "/skills/broken");
        assert_eq!((broken.worst, broken.is_complete), (Some(Severity::Info), false));
        assert_eq!(broken.gaps, ["a part of the scanner failed on it"]);
        // A skill inside another counts for it, but is no answer about it.
        let outer = one(FOUR, "/skills/nested");
        assert_eq!(
            (outer.is_complete, outer.gaps),
            (false, vec!["the scanner did not look at it".to_owned()])
        );
        assert!(one(CLEAN, "/skills/good").is_complete);
    }

    #[test]
    fn whatever_is_not_an_answer_is_no_pass() {
        for output in [
            "",
            "No skills found to scan.\n",
            "{}",
            "[]",
            "null",
            "{\"summary\": {}, \"results\": []}",
            &FOUR[..4000],
        ] {
            assert!(!one(output, "/skills/good").is_complete, "{output:.40}");
        }
        let unknown = one(FOUR, "/skills/goo");
        assert_eq!((unknown.is_complete, unknown.gaps.len()), (false, 1));
    }

    #[test]
    fn every_contradiction_makes_a_verdict_incomplete() {
        let check = |change: &dyn Fn(&mut Value), gap: &str| {
            let mut output: Value = serde_json::from_str(CLEAN).unwrap();
            change(&mut output);
            let verdict = one(&output.to_string(), "/skills/good");
            assert!(!verdict.is_complete && verdict.gaps[0].contains(gap), "{gap}: {:?}", verdict.gaps);
        };
        check(&|output| output["summary"]["total_skills_scanned"] = json!(2), "counts other skills");
        check(
            &|output| {
                output["summary"]["skills_skipped"] = json!([{"skill": "/skills/good", "reason": "no"}])
            },
            "skipped",
        );
        check(&|output| output["summary"]["skills_skipped"] = json!("all"), "did not answer");
        let result = |key: &'static str, value: Value| {
            move |output: &mut Value| output["results"][0][key] = value.clone()
        };
        check(&result("analyzers_used", json!([])), "did not look at its files");
        check(&result("analyzers_failed", json!([{"analyzer": "x", "error": "y"}])), "failed");
        check(&result("findings_count", json!(1)), "does not fit");
        check(&result("max_severity", json!("HIGH")), "does not fit");
        check(&result("findings", json!(null)), "not understood");
        check(&result("skill_path", json!("/skills/other")), "did not look at it");
        let odd = json!([{"rule_id": "X", "severity": "APOCALYPTIC", "title": "t"}]);
        check(&result("findings", odd), "does not fit");
    }
}
