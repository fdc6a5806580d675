//! How well the scanner tells malicious skills from ordinary ones, on the corpus in `fixtures/scan`, on the built-in
//! skills and on the examples.

use artel_catalog::scan::{ScanOptions, ScanReport, ScanStatus, Severity, scan_skill, table_rows};
use artel_catalog::{DiskTree, embedded_skills};
use camino::{Utf8Path, Utf8PathBuf};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/scan");
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

fn scan_folder(path: &Utf8Path) -> ScanReport {
    scan_skill(&DiskTree::new(path), &ScanOptions::default())
}

fn folders(path: &Utf8Path) -> Vec<Utf8PathBuf> {
    let entries = path.read_dir_utf8().unwrap().map(|entry| entry.unwrap().into_path());
    let mut folders: Vec<Utf8PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// What scanning a part of the corpus gave.
struct Outcome {
    all: Vec<String>,
    flagged: Vec<String>,
    lines: Vec<String>,
}

fn scan_part(part: &str) -> Outcome {
    let mut outcome = Outcome { all: Vec::new(), flagged: Vec::new(), lines: Vec::new() };
    for folder in folders(&Utf8Path::new(FIXTURES).join(part)) {
        let report = scan_folder(&folder);
        let name = folder.file_name().unwrap().to_owned();
        let status = report.status(Severity::High);
        assert_ne!(status, ScanStatus::Unscanned, "{part}/{name}: {:?}", report.gaps);
        outcome.lines.push(format!("{part}/{name}: {}", status.as_str()));
        let rows = table_rows(&report).into_iter();
        outcome.lines.extend(rows.map(|row| format!("    {:?} {} {}", row.severity, row.rule, row.place)));
        if status == ScanStatus::Flagged {
            outcome.flagged.push(name.clone());
        }
        outcome.all.push(name);
    }
    outcome
}

/// Skills of the corpus that are judged wrongly. They are named so that a change either way is seen.
const MISSED: &[&str] =
    &["btc-price", "password-checker", "cron-jobs", "focus-timer", "homework-helper", "wifi-password"];
const FALSE_ALARMS: &[&str] = &[];

#[test]
fn the_corpus_is_told_apart() {
    let mut missed = Vec::new();
    let mut alarms = Vec::new();
    println!(
        "{:<8} {:>12} {:>16} {:>12} {:>16}",
        "half", "malicious", "of them found", "ordinary", "of them flagged"
    );
    for half in ["known", "unseen"] {
        let malicious = scan_part(&format!("malicious/{half}"));
        let ordinary = scan_part(&format!("ordinary/{half}"));
        for line in malicious.lines.iter().chain(&ordinary.lines) {
            println!("{line}");
        }
        let (found, flagged) = (malicious.flagged.len(), ordinary.flagged.len());
        println!(
            "{half:<8} {:>12} {found:>16} {:>12} {flagged:>16}",
            malicious.all.len(),
            ordinary.all.len()
        );
        missed.extend(malicious.all.into_iter().filter(|name| !malicious.flagged.contains(name)));
        alarms.extend(ordinary.flagged);
    }
    assert_eq!(missed, MISSED);
    assert_eq!(alarms, FALSE_ALARMS);
}

#[test]
fn what_we_ship_passes() {
    for (name, tree) in embedded_skills() {
        let report = scan_skill(&tree, &ScanOptions::default());
        assert_eq!(report.status(Severity::Low), ScanStatus::Passed, "{name}: {:#?}", table_rows(&report));
    }
    for example in folders(Utf8Path::new(EXAMPLES)) {
        let skills = example.join("skills");
        for folder in if skills.is_dir() { folders(&skills) } else { Vec::new() } {
            let report = scan_folder(&folder);
            assert_eq!(
                report.status(Severity::Low),
                ScanStatus::Passed,
                "{folder}: {:#?}",
                table_rows(&report)
            );
        }
    }
}

#[test]
fn a_link_out_of_the_folder_is_found_and_not_followed() {
    let place = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(place.path()).unwrap();
    std::fs::create_dir(root.join("demo")).unwrap();
    std::fs::write(root.join("secret"), "rm -rf ~/\n").unwrap();
    std::fs::write(root.join("demo/SKILL.md"), "---\nname: demo\ndescription: Counts.\n---\nCounts.\n")
        .unwrap();
    std::os::unix::fs::symlink("../secret", root.join("demo/notes.txt")).unwrap();
    let report = scan_folder(&root.join("demo"));
    let found: Vec<_> =
        report.findings.iter().map(|finding| (finding.rule.id, finding.path.as_str())).collect();
    assert_eq!(found, [("link-leads-out", "notes.txt")]);
}
