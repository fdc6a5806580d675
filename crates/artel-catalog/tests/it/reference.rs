//! Our `skills-ref` profile against the reference validator itself, verdict by verdict.
//!
//! Runs when `ARTEL_SKILLS_REF` names the validator's program (`cargo xtask test` sets it); its Python lies beside it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use artel_catalog::{Client, Keep, Profile, load_folder};
use camino::{Utf8Path, Utf8PathBuf};

use crate::fixtures::fixtures;
use crate::mutate::{Random, damaged};

/// Reads a folder a line and answers a line each: `ok`, or what is wrong. A crash of the validator is a refusal.
const SCRIPT: &str = r#"
import sys
from skills_ref.validator import validate
for line in sys.stdin:
    try:
        errors = validate(line.rstrip("\n"))
    except Exception as error:
        errors = [f"{type(error).__name__}: {error}"]
    print(ascii(errors[0]) if errors else "ok")
"#;

const DAMAGED_PER_FILE: usize = 5;

/// Where the verdicts are known to differ.
struct KnownDifference {
    /// Why we do not follow.
    reason: &'static str,
    /// What the reference validator says; we say the opposite.
    reference_accepts: bool,
    applies: fn(&str) -> bool,
}

const KNOWN_DIFFERENCES: [KnownDifference; 3] = [
    KnownDifference {
        reason: "YAML 1.2 wants the lines of a quoted text indented; Python's parser does not care",
        reference_accepts: true,
        applies: |text| {
            text.lines().any(|line| line.matches('"').count() % 2 + line.matches('\'').count() % 2 > 0)
        },
    },
    KnownDifference {
        reason: "YAML 1.2 has no byte order mark inside a text without quotes",
        reference_accepts: true,
        applies: |text| text.contains('\u{feff}'),
    },
    KnownDifference {
        reason: "Python's parser ends comments and block texts at line breaks that are text in YAML 1.2",
        reference_accepts: false,
        applies: |text| text.contains(['\u{85}', '\u{2028}', '\u{2029}']),
    },
];

#[test]
fn verdicts_are_those_of_the_reference_validator() {
    let Some(program) = reference_program() else {
        println!("skipped: ARTEL_SKILLS_REF does not name the reference validator");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut folders = skill_folders();
    assert!(folders.len() > 200, "only {} folders were found", folders.len());
    folders.extend(damaged_folders(&folders, Utf8Path::from_path(folder.path()).unwrap()));
    let verdicts = reference_verdicts(&program, &folders);
    let accepted = verdicts.iter().filter(|verdict| *verdict == "ok").count();
    assert!(accepted > 100 && accepted < folders.len() - 100, "{accepted} of {} accepted", folders.len());
    let differences: String =
        folders.iter().zip(&verdicts).map(|(folder, verdict)| difference(folder, verdict)).collect();
    assert!(differences.is_empty(), "\n{differences}");
}

/// Says where our verdict differs from the reference validator's. Our strict profile may refuse more, but not less.
#[expect(clippy::print_stdout, reason = "who reads the output of the test should know what was passed over")]
fn difference(folder: &Utf8Path, verdict: &str) -> String {
    let loaded = load_folder(folder, Keep::Everything);
    let reference_accepts = verdict == "ok";
    let file = ["SKILL.md", "skill.md"].map(|name| std::fs::read(folder.join(name)).ok());
    let has_file = file.iter().any(Option::is_some);
    let text = file.into_iter().flatten().next().unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let (skills_ref, spec) = (Profile::SkillsRef.accepts(&loaded), Profile::Spec.accepts(&loaded));
    let known = KNOWN_DIFFERENCES
        .iter()
        .find(|known| known.reference_accepts == reference_accepts && (known.applies)(&text));
    let mut out = String::new();
    if folder.join("SKILL.md").is_symlink() && !skills_ref {
        println!("known difference: what a link out of the folder leads to is not read");
        return out;
    }
    if skills_ref != reference_accepts
        && let Some(known) = known
    {
        println!("known difference: {}", known.reason);
    } else if skills_ref != reference_accepts {
        let findings = loaded.clients.iter().flat_map(|clients| clients.of_client(Client::SkillsRef));
        let ours: Vec<&str> = findings.map(|finding| finding.message.as_str()).collect();
        writeln!(out, "{folder}\n  reference: {verdict}\n  skills-ref: {ours:?}\n  {text:?}").unwrap();
    }
    if spec && !reference_accepts && has_file {
        writeln!(out, "{folder}\n  reference: {verdict}\n  spec: ok\n  {text:?}").unwrap();
    }
    out
}

#[expect(clippy::disallowed_methods, reason = "the test runner says where the reference validator is")]
fn reference_program() -> Option<Utf8PathBuf> {
    std::env::var("ARTEL_SKILLS_REF").ok().map(Utf8PathBuf::from)
}

/// Every folder of the fixtures that a person could ask about, by path.
fn skill_folders() -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![fixtures()];
    while let Some(folder) = open.pop() {
        for entry in folder.read_dir_utf8().unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path().to_owned());
                found.push(entry.path().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// Writes damaged copies of every `SKILL.md`, each in a folder of the same name.
fn damaged_folders(originals: &[Utf8PathBuf], into: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut random = Random::new(1);
    let mut folders = Vec::new();
    for original in originals {
        let Ok(text) = std::fs::read_to_string(original.join("SKILL.md")) else { continue };
        for _ in 0..DAMAGED_PER_FILE {
            let folder = into.join(folders.len().to_string()).join(original.file_name().unwrap());
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("SKILL.md"), damaged(&text, &mut random)).unwrap();
            folders.push(folder);
        }
    }
    folders
}

/// Asks the reference validator about every folder, in one process because Python starts slowly.
#[expect(clippy::disallowed_methods, reason = "the reference validator is a program")]
fn reference_verdicts(program: &Utf8Path, folders: &[Utf8PathBuf]) -> Vec<String> {
    let mut child = Command::new(program.with_file_name("python"))
        .args(["-X", "utf8", "-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let questions: String = folders.iter().map(|folder| format!("{folder}\n")).collect();
    let writer = std::thread::spawn(move || stdin.write_all(questions.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    let verdicts: Vec<String> =
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(verdicts.len(), folders.len());
    verdicts
}
