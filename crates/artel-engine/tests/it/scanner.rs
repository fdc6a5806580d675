//! Another scanner, as a program: what it is shown, what it may do, and that it passes nothing when it fails. A script stands
//! in for it and prints what the real one wrote.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use artel_catalog::scan::{ScanCopy, Scanned};
use artel_catalog::{FileTree as _, Keep, Location, MemoryTree, content_hash, load_tree};
use artel_engine::scanner::{SkillScanner, SkillScannerConfig};
use artel_model::catalog::{Severity, SourceKind, VerdictRecord};
use artel_model::time::Timestamp;
use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use crate::start::launcher;

/// What version 2.3.2 wrote about four folders.
const FOUR: &str = include_str!("../../../../fixtures/scan/skill-scanner/four-skills.json");

/// Answers with the recorded output about the two skills it is shown, if it was called as it should be.
const RECORDED: &str = r#"
[ "$1 $3 $4 $5 $6 $7" = "scan-all --recursive --policy balanced --format json" ] || exit 7
[ -e "$PYTHONPATH/sitecustomize.py" ] || exit 6
touch "$2/mine" 2>/dev/null && exit 8
grep -q 'Do it.' "$2/0/good/SKILL.md" && [ -x "$2/1/bad/scripts/run.sh" ] || exit 9
sed -e "s#/skills/good#$2/0/good#" -e "s#/skills/bad#$2/1/bad#" "$(dirname "$0")/four.json"
"#;

/// A program that stands in for the scanner, in a folder of its own.
struct StandIn {
    root: TempDir,
}

impl StandIn {
    fn new(script: &str) -> Self {
        let stand_in = Self { root: tempfile::tempdir().unwrap() };
        let version = r#"[ "$1" = --version ] && { echo "skill-scanner 2.3.2"; exit 0; }"#;
        fs::create_dir(stand_in.path("bin")).unwrap();
        fs::write(stand_in.path("bin/four.json"), FOUR).unwrap();
        let program = stand_in.path("bin/skill-scanner");
        fs::write(&program, format!("#!/bin/sh\n{version}\n{script}\n")).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        stand_in
    }

    fn path(&self, relative: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.root.path()).unwrap().join(relative)
    }

    async fn open(&self, change: impl FnOnce(&mut SkillScannerConfig)) -> SkillScanner {
        let mut config = SkillScannerConfig::new(self.path("bin/skill-scanner"), self.path("work"));
        change(&mut config);
        SkillScanner::open(launcher().await, config).await
    }

    async fn verdicts(&self, scanner: &SkillScanner) -> Vec<VerdictRecord> {
        let scan_copies = vec![scan_copy("good", "echo hello"), scan_copy("bad", "rm -rf /")];
        let verdicts = scanner.scan(scan_copies, Timestamp::from_millis(5)).await;
        assert_eq!(fs::read_dir(self.path("work")).unwrap().count(), 0, "a scan leaves nothing behind");
        verdicts
    }
}

fn scan_copy(name: &str, script: &str) -> ScanCopy {
    let mut tree = MemoryTree::default();
    tree.add("SKILL.md", format!("---\nname: {name}\ndescription: Shows.\n---\nDo it.\n"), false);
    tree.add("scripts/run.sh", format!("#!/bin/sh\n{script}\n"), true);
    let loaded = load_tree(&tree, tree.listing(), Location::Folder(name.into()), Keep::Instructions);
    let content_hash = content_hash(&tree, &tree.listing()).unwrap().to_string();
    let about = Scanned {
        source: SourceKind::Default,
        source_id: None,
        skill_id: format!("default/{name}"),
        content_hash: content_hash.clone(),
    };
    ScanCopy::new(about, Box::new(tree), content_hash, &loaded)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_scanner_says_becomes_a_verdict_about_exactly_these_files() {
    let stand_in = StandIn::new(RECORDED);
    let scanner = stand_in.open(|_| {}).await;
    assert_eq!((scanner.version(), scanner.engine_version()), (Some("2.3.2"), "2.3.2 balanced"));
    let verdicts = stand_in.verdicts(&scanner).await;
    let told: Vec<_> = verdicts.iter().map(|said| (said.is_complete, said.worst, &said.gaps)).collect();
    assert_eq!(told, [(true, None, &Vec::new()), (true, Some(Severity::Critical), &Vec::new())]);
    assert_eq!(verdicts[1].findings[0].skill_id, "default/bad");
    assert_eq!(verdicts[1].content_hash, scan_copy("bad", "rm -rf /").about.content_hash);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scanner_that_fails_is_late_or_talks_nonsense_passes_nothing() {
    let cases = [
        ("exit 1", "the scanner failed (exit code 1)"),
        ("kill -9 $$", "the scanner failed (signal 9 (SIGKILL))"),
        ("echo 'No skills found to scan.'", "the scanner did not answer with its JSON"),
        ("head -c 3000 \"$(dirname \"$0\")/four.json\"", "the scanner did not answer with its JSON"),
        ("cat \"$(dirname \"$0\")/four.json\"", "the scanner did not look at it"),
        ("exec tail -f /dev/null", "the scanner said nothing within 1500 ms"),
    ];
    for (script, reason) in cases {
        let stand_in = StandIn::new(script);
        let scanner = stand_in.open(|config| config.deadline_ms = 1500).await;
        let verdicts = stand_in.verdicts(&scanner).await;
        assert_eq!(verdicts.len(), 2, "{script}");
        for verdict in verdicts {
            assert_eq!((verdict.is_complete, verdict.worst), (false, None), "{script}");
            assert_eq!(verdict.gaps, [reason], "{script}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scanner_that_is_not_there_leaves_everything_unscanned() {
    let stand_in = StandIn::new("exit 0");
    let scanner = stand_in.open(|config| config.program = "/nowhere/skill-scanner".into()).await;
    assert_eq!((scanner.version(), scanner.engine_version()), (None, "unknown balanced"));
    for verdict in stand_in.verdicts(&scanner).await {
        assert_eq!(verdict.gaps, ["the scanner cannot be started"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_policy_is_another_scanner() {
    let stand_in = StandIn::new("exit 0");
    let mut versions = Vec::new();
    for text in ["a: 1\n", "a: 2\n"] {
        let file = stand_in.path("own.yaml");
        fs::write(&file, text).unwrap();
        let policy = file.as_str().parse().unwrap();
        versions.push(stand_in.open(|config| config.policy = policy).await.engine_version().to_owned());
    }
    assert!(versions[0].starts_with("2.3.2 ") && versions[0] != versions[1], "{versions:?}");
}
