//! How long the scanner takes: the first skill (patterns and grammars are made ready), and every skill after it, over the
//! corpus in `fixtures/scan`.
//!
//! An argument that is a folder is scanned instead. It prints numbers and judges nothing.
#![expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use artel_catalog::DiskTree;
use artel_catalog::scan::{ScanOptions, scan_skill};
use camino::{Utf8Path, Utf8PathBuf};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/scan");
const ROUNDS: usize = 10;

fn main() {
    let given = std::env::args().skip(1).map(Utf8PathBuf::from).find(|path| path.is_dir());
    let root = given.unwrap_or_else(|| Utf8PathBuf::from(FIXTURES));
    let mut skills = Vec::new();
    find_skills(&root, &mut skills);
    skills.sort();
    let Some(first) = skills.first() else {
        println!("no skills in {root}");
        return;
    };
    println!("{} skills in {root}", skills.len());
    println!("first skill: {:.2} ms", milliseconds(time(first)));
    let mut times: Vec<(Duration, &Utf8PathBuf)> =
        (0..ROUNDS).flat_map(|_| skills.iter().map(|skill| (time(skill), skill))).collect();
    times.sort_unstable();
    let at = |share: f64| milliseconds(times[((times.len() - 1) as f64 * share) as usize].0);
    println!(
        "a skill: median {:.2} ms, p95 {:.2} ms, p99 {:.2} ms, most {:.2} ms",
        at(0.5),
        at(0.95),
        at(0.99),
        at(1.0)
    );
    if let Some((_, slowest)) = times.last() {
        println!("the slowest: {slowest}");
    }
}

fn time(skill: &Utf8Path) -> Duration {
    let started = Instant::now();
    black_box(scan_skill(&DiskTree::new(skill), &ScanOptions::default()));
    started.elapsed()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Collects the folders that hold a `SKILL.md`.
fn find_skills(folder: &Utf8Path, skills: &mut Vec<Utf8PathBuf>) {
    if folder.join("SKILL.md").is_file() {
        skills.push(folder.to_owned());
        return;
    }
    let Ok(entries) = folder.read_dir_utf8() else { return };
    for entry in entries.flatten().filter(|entry| entry.path().is_dir()) {
        find_skills(entry.path(), skills);
    }
}
