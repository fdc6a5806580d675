//! Every case in `fixtures/skills`, by every profile, against its own table of what must be said.

use std::fmt::Write;

use artel_catalog::{Keep, Loaded, Profile, check_set, discover};
use artel_model::diagnostic::{Diagnostic, Severity};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

/// The table of a case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    about: String,
    usable: Vec<String>,
    #[serde(default)]
    roots: Vec<String>,
    verdict: Verdicts,
    #[serde(default)]
    diagnostic: Vec<ExpectedDiagnostic>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Verdicts {
    spec: String,
    skills_ref: String,
    claude: String,
    codex: String,
    lenient: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedDiagnostic {
    severity: String,
    code: String,
    path: String,
    line: Option<u32>,
    column: Option<u32>,
    contains: Option<String>,
}

pub(crate) fn fixtures() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/skills")
}

fn load(case: &Utf8Path, expected: &Expected) -> Vec<Loaded> {
    let roots = match expected.roots.as_slice() {
        [] => vec![case.to_owned()],
        names => names.iter().map(|name| case.join(name)).collect(),
    };
    let mut found: Vec<Vec<Loaded>> = roots
        .iter()
        .map(|root| {
            let discovery = discover(root, Keep::Everything);
            assert_eq!(discovery.findings, [], "{case}");
            discovery.loaded
        })
        .collect();
    // A case whose only folder holds no skill is loaded by name, as a person would.
    if found.iter().all(Vec::is_empty) {
        let folders = case.read_dir_utf8().unwrap().map(|entry| entry.unwrap());
        let folder = folders.into_iter().find(|entry| entry.file_type().unwrap().is_dir()).unwrap();
        found = vec![vec![artel_catalog::load_folder(folder.path(), Keep::Everything)]];
    }
    check_set(&mut found, &[]);
    found.into_iter().flatten().collect()
}

fn line(diagnostic: &Diagnostic, case: &Utf8Path) -> String {
    let finding = &diagnostic.finding;
    let path = finding.path.strip_prefix(case).unwrap_or(&finding.path);
    let at = finding.position.map(|p| format!(":{}:{}", p.line, p.column)).unwrap_or_default();
    format!("{} {} {path}{at}  {}", diagnostic.severity.as_str(), finding.code, finding.message)
}

fn fits(expected: &ExpectedDiagnostic, actual: &Diagnostic, case: &Utf8Path) -> bool {
    let finding = &actual.finding;
    let path = finding.path.strip_prefix(case).unwrap_or(&finding.path);
    expected.severity == actual.severity.as_str()
        && expected.code == finding.code.as_str()
        && expected.path == path.as_str()
        && expected.line.is_none_or(|line| finding.position.is_some_and(|position| position.line == line))
        && expected
            .column
            .is_none_or(|column| finding.position.is_some_and(|position| position.column == column))
        && expected.contains.as_ref().is_none_or(|text| finding.message.contains(text))
}

/// Compares one case with its table; returns what differs.
fn differences(case: &Utf8Path) -> String {
    let mut out = String::new();
    let table = std::fs::read_to_string(case.join("expect.toml")).unwrap();
    let expected: Expected = toml::from_str(&table).unwrap_or_else(|error| panic!("{case}: {error}"));
    let loaded = load(case, &expected);

    let mut usable: Vec<String> =
        loaded.iter().filter_map(Loaded::usable).map(|skill| skill.name.to_string()).collect();
    usable.sort();
    usable.dedup();
    if usable != expected.usable {
        writeln!(out, "  usable: expected {:?}, found {usable:?}", expected.usable).unwrap();
    }
    let verdicts = [
        (Profile::Spec, &expected.verdict.spec),
        (Profile::SkillsRef, &expected.verdict.skills_ref),
        (Profile::Claude, &expected.verdict.claude),
        (Profile::Codex, &expected.verdict.codex),
        (Profile::Lenient, &expected.verdict.lenient),
    ];
    for (profile, expected) in verdicts {
        let verdict = if loaded.iter().all(|loaded| profile.accepts(loaded)) { "ok" } else { "error" };
        if verdict != expected {
            writeln!(out, "  {profile}: expected {expected}, found {verdict}").unwrap();
            for diagnostic in loaded.iter().flat_map(|loaded| profile.diagnose(loaded)) {
                if diagnostic.severity == Severity::Error {
                    writeln!(out, "      {}", line(&diagnostic, case)).unwrap();
                }
            }
        }
    }
    let mut actual: Vec<Diagnostic> =
        loaded.iter().flat_map(|loaded| Profile::Spec.diagnose(loaded)).collect();
    for wanted in &expected.diagnostic {
        match actual.iter().position(|diagnostic| fits(wanted, diagnostic, case)) {
            Some(at) => {
                actual.remove(at);
            }
            None => writeln!(out, "  missing: {wanted:?}").unwrap(),
        }
    }
    for diagnostic in &actual {
        writeln!(out, "  unexpected: {}", line(diagnostic, case)).unwrap();
    }
    if out.is_empty() { out } else { format!("{} ({})\n{out}", case.file_name().unwrap(), expected.about) }
}

#[test]
fn every_case_is_judged_as_its_table_says() {
    let mut cases: Vec<Utf8PathBuf> =
        fixtures().read_dir_utf8().unwrap().map(|entry| entry.unwrap().path().to_owned()).collect();
    cases.sort();
    assert!(cases.len() >= 200, "only {} cases were found", cases.len());
    let differences: String = cases.iter().map(|case| differences(case)).collect();
    assert!(differences.is_empty(), "\n{differences}");
}
