//! Scanning skills beside Cisco's Skill Scanner: how long it takes, what is found, and what is found where nothing is.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::artel::Artel;
use super::data::remove;
use super::measure::{best_time, output_of};
use super::report::{Row, milliseconds};
use crate::shell::{program_in, run as run_command, succeeds};

/// Pinned, so that the comparison means the same every day.
const CISCO: &str = "cisco-ai-skill-scanner==2.3.2";
/// Where its environment is made; it needs other versions of much than what else is measured.
const ENVIRONMENT: &str = "target/bench/scanner-venv";
/// Where all skills are put together.
const SKILLS: &str = "target/bench/scan";
/// The skills that the scanner's own tests use.
const FIXTURES: &str = "fixtures/scan";
/// Skills that were written for the comparison alone, in one file.
const APART: &str = "bench/scan/skills.txt";
const SCRIPT: &str = "bench/scan/cisco.py";
const ROUNDS: usize = 5;

/// The parts of the skills: where they are, and whether they are to be flagged.
const PARTS: [(&str, bool); 6] = [
    ("malicious/known", true),
    ("malicious/unseen", true),
    ("malicious/apart", true),
    ("ordinary/known", false),
    ("ordinary/unseen", false),
    ("ordinary/apart", false),
];

/// Measures both scanners on the same folders.
pub(super) fn rows(root: &Path, artel: &Artel) -> Vec<Row> {
    let work = "scan all of them, the start of the program included";
    let own = match make_skills(root).and_then(|()| Judged::by_artel(root, artel)) {
        Ok(own) => own,
        Err(error) => return vec![Row::missing(work, &error, ">= 100 times")],
    };
    let cisco = Judged::by_cisco(root);
    let times = |own: Duration, other: fn(&Judged) -> Duration| {
        let other = other(cisco.as_ref().ok()?);
        Some((format!("Skill Scanner {}", milliseconds(other)), other.as_secs_f64() / own.as_secs_f64()))
    };
    let work = format!("scan {} skills, the start of the program included", own.skills.len());
    let whole = Row::new(&work, milliseconds(own.whole), ">= 100 times");
    let each = Row::new("  a skill, on average", milliseconds(own.each()), "< 10 ms");
    let mut rows = vec![
        Row { compared: times(own.whole, |other| other.whole), ..whole },
        Row { compared: times(own.each(), Judged::each), ..each },
        cold(root, artel, cisco.is_ok(), "< 50 ms"),
    ];
    if let Err(error) = &cisco {
        rows.push(Row::new("", format!("Skill Scanner could not be run: {error:#}"), ""));
    }
    for (part, is_malicious) in PARTS {
        let work = format!("  {part}, {}", if is_malicious { "found" } else { "false alarms" });
        let goal = if is_malicious { "more found" } else { "fewer false alarms" };
        let compared = cisco.as_ref().ok().map(|cisco| {
            let (flagged, theirs) = (own.flagged(part), cisco.flagged(part));
            (format!("Skill Scanner {}", cisco.told(part)), flagged as f64 / theirs.max(1) as f64)
        });
        rows.push(Row { compared, ..Row::new(&work, own.told(part), goal) });
    }
    rows
}

/// Puts all skills into one folder.
fn make_skills(root: &Path) -> Result<()> {
    let folder = root.join(SKILLS);
    if folder.exists() {
        remove(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    for kind in ["malicious", "ordinary"] {
        let mut copy = program_in(root, "cp", &["-r"]);
        copy.arg(root.join(FIXTURES).join(kind)).arg(&folder);
        run_command(copy)?;
    }
    let text = fs::read_to_string(root.join(APART)).with_context(|| format!("cannot read `{APART}`"))?;
    for (path, content) in files_in(&text) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
        fs::write(&path, content).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(())
}

/// Returns the files that a text holds: each begins with a line that names it.
fn files_in(text: &str) -> Vec<(&str, String)> {
    let parts = text.split("\n=== ").skip(1);
    parts
        .filter_map(|part| part.split_once('\n'))
        .map(|(path, content)| (path, format!("{content}\n")))
        .collect()
}

/// The first skill of a program that has just begun.
fn cold(root: &Path, artel: &Artel, has_cisco: bool, goal: &'static str) -> Row {
    let work = "  one skill, the start of the program included";
    let skill = root.join(SKILLS).join("ordinary/known");
    let one = fs::read_dir(&skill).ok().and_then(|mut skills| skills.next()?.ok());
    let Some(skill) = one.map(|one| one.path()) else {
        return Row::missing(work, &anyhow::anyhow!("there is no skill"), goal);
    };
    let mut own = artel.command(&["skill", "scan"], &[]);
    own.arg(&skill);
    match best_time(own, ROUNDS) {
        Ok(own) => {
            let mut row = Row::new(work, milliseconds(own), goal);
            let mut cisco = program_in(root, scanner(root), &["scan"]);
            cisco.arg(&skill);
            if has_cisco && let Ok(cisco) = best_time(cisco, 1) {
                let times = cisco.as_secs_f64() / own.as_secs_f64();
                row.compared = Some((format!("Skill Scanner {}", milliseconds(cisco)), times));
            }
            row
        }
        Err(error) => Row::missing(work, &error, goal),
    }
}

/// What a scanner said about all skills.
struct Judged {
    /// By the folder of the skill: whether it was flagged, which is to have a finding that is high or critical.
    skills: BTreeMap<String, bool>,
    /// From the start of the program to its end.
    whole: Duration,
    /// Without what the program needs to begin.
    scanning: Duration,
}

impl Judged {
    fn by_artel(root: &Path, artel: &Artel) -> Result<Self> {
        let command = || {
            let mut command = artel.command(&["skill", "scan"], &[]);
            command.arg(root.join(SKILLS));
            command
        };
        let whole = best_time(command(), ROUNDS)?;
        let start = best_time(artel.command(&["--version"], &[]), ROUNDS)?;
        // That something was found is told by the exit code, so what it printed counts.
        let output = command().output().context("cannot start artel")?;
        let output = String::from_utf8(output.stdout).context("it printed something that is not text")?;
        let skills = output.lines().filter_map(|line| line_of_artel(line, root)).collect();
        Self { skills, whole, scanning: whole.saturating_sub(start) }.complete()
    }

    fn by_cisco(root: &Path) -> Result<Self> {
        let program = install(root)?;
        let python = root.join(ENVIRONMENT).join("bin/python");
        let mut command = program_in(root, python, &[SCRIPT]);
        command.arg(program).arg(root.join(SKILLS));
        let started = Instant::now();
        let output = output_of(command)?;
        let whole = started.elapsed();
        let (mut skills, mut seconds) = (BTreeMap::new(), 0.0);
        for line in output.lines() {
            let (skill, flagged, took) = line_of_cisco(line, root).with_context(|| format!("`{line}`"))?;
            skills.insert(skill, flagged);
            seconds += took;
        }
        Self { skills, whole, scanning: Duration::from_secs_f64(seconds) }.complete()
    }

    /// Refuses what says nothing about some part.
    fn complete(self) -> Result<Self> {
        for (part, _) in PARTS {
            if self.of(part).count() == 0 {
                bail!("nothing was said about {part}");
            }
        }
        Ok(self)
    }

    fn of(&self, part: &str) -> impl Iterator<Item = bool> {
        self.skills.iter().filter(move |(skill, _)| skill.starts_with(part)).map(|(_, flagged)| *flagged)
    }

    fn flagged(&self, part: &str) -> usize {
        self.of(part).filter(|flagged| *flagged).count()
    }

    fn told(&self, part: &str) -> String {
        format!("{} of {}", self.flagged(part), self.of(part).count())
    }

    fn each(&self) -> Duration {
        self.scanning / u32::try_from(self.skills.len()).unwrap_or(u32::MAX)
    }
}

/// A line of artel's table about a skill: the verdict, its name, its folder.
fn line_of_artel(line: &str, root: &Path) -> Option<(String, bool)> {
    let verdict = line.split_whitespace().next().filter(|word| ["passed", "flagged"].contains(word))?;
    let folder = line.split_whitespace().last()?;
    Some((below(folder, root)?, verdict == "flagged"))
}

/// A line of the script: the folder, the worst severity, the seconds.
fn line_of_cisco(line: &str, root: &Path) -> Option<(String, bool, f64)> {
    let mut words = line.rsplitn(3, ' ');
    let seconds = words.next()?.parse().ok()?;
    let is_flagged = ["high", "critical"].contains(&words.next()?);
    Some((below(words.next()?, root)?, is_flagged, seconds))
}

fn below(folder: &str, root: &Path) -> Option<String> {
    let folder = root.join(folder);
    Some(folder.strip_prefix(root.join(SKILLS)).ok()?.display().to_string())
}

fn scanner(root: &Path) -> PathBuf {
    root.join(ENVIRONMENT).join("bin/skill-scanner")
}

fn install(root: &Path) -> Result<PathBuf> {
    let (program, python) = (scanner(root), root.join(ENVIRONMENT).join("bin/python"));
    let version = CISCO.rsplit('=').next().context("a version is pinned")?;
    let is_here = format!(
        "from importlib.metadata import version; assert version('cisco-ai-skill-scanner') == '{version}'"
    );
    if !succeeds(program_in(root, &python, &["-c", &is_here])) {
        run_command(program_in(root, "python3", &["-m", "venv", "--clear", ENVIRONMENT]))?;
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", CISCO];
        run_command(program_in(root, &python, &pip))?;
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_are_read() {
        let root = Path::new("/a");
        let own = "flagged   steal  /a/target/bench/scan/malicious/known/steal";
        assert_eq!(line_of_artel(own, root), Some(("malicious/known/steal".to_owned(), true)));
        assert_eq!(line_of_artel("2 skills scanned: 2 passed", root), None);
        let cisco = "/a/target/bench/scan/ordinary/known/mail medium 0.25";
        assert_eq!(line_of_cisco(cisco, root), Some(("ordinary/known/mail".to_owned(), false, 0.25)));
    }

    #[test]
    fn files_are_found_in_a_text() {
        let text = "about it\n\n=== a/b/SKILL.md\n---\nname: b\n=== a/b/x.sh\ntrue";
        let files = files_in(text);
        assert_eq!(files, [("a/b/SKILL.md", "---\nname: b\n".to_owned()), ("a/b/x.sh", "true\n".to_owned())]);
    }
}
