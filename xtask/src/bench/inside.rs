//! What is measured inside a process, by benchmarks of the crates themselves: searching beside tantivy, ordering, and making
//! the snapshot of a catalog.

use std::path::Path;

use anyhow::Result;

use super::data::{SKILLS, Skills};
use super::measure::output_of;
use super::report::{Row, micros, numbers};
use crate::shell::{cargo, run as run_command};

const SEARCH: &str = "search 100,000 skills, p50 and p99";
const SEARCH_GOAL: &str = "p99 < 10 ms, <= 2";
/// What tantivy prints for words as they are, and for what we look for: beginnings and typos as well.
const TANTIVY: [(&str, &str); 2] = [("tantivy", "tantivy "), ("tantivy, whole words only", "whole words ")];
/// What the snapshot benchmark prints, and what is said about it.
const STEPS: [(&str, &str); 7] = [
    ("all of these ", "all sources read, hashed and made a snapshot"),
    ("folders are read ", "  folders are read"),
    ("files are hashed ", "  files are hashed"),
    ("a snapshot is made ", "  a snapshot is made"),
    ("somebody's view, the first time ", "  what somebody sees, the first time; later"),
    ("a page of 50 ", "  a page of 50"),
    ("the index for searches ", "  the index for searches"),
];

/// Measures what happens inside a process.
pub(super) fn rows(root: &Path, skills: &Skills) -> Vec<Row> {
    // One call builds both, with the same features of what they share.
    let packages = ["bench", "--package", "artel-catalog", "--package", "artel-model"];
    let benches = ["--bench", "search", "--bench", "order"];
    let output = output_of(cargo(root, &[packages.as_slice(), &benches].concat()));
    let mut rows = search(&output, &tantivy(root));
    rows.push(measured("order of 10,000 skills, 100,000 dependencies", "< 50 ms", || {
        numbers(output.as_deref().map_err(told)?, "10000 and 99990 ").map(|numbers| micros(numbers[0]))
    }));
    rows.extend(snapshot(root, skills));
    rows
}

fn search(own: &Result<String>, tantivy: &Result<String>) -> Vec<Row> {
    let times = |output: &Result<String>, title: &str| -> Result<[f64; 2]> {
        let numbers = numbers(output.as_deref().map_err(told)?, title)?;
        let at = |place: usize| numbers.get(place).copied().unwrap_or_default();
        Ok([at(0), at(2)])
    };
    let told = |[p50, p99]: [f64; 2]| format!("{}, {}", micros(p50), micros(p99));
    let own = match times(own, "1-4 words, Mixed ") {
        Ok(own) => own,
        Err(error) => return vec![Row::missing(SEARCH, &error, SEARCH_GOAL)],
    };
    let mut rows = vec![Row::new(SEARCH, told(own), SEARCH_GOAL)];
    for (index, (name, title)) in TANTIVY.into_iter().enumerate() {
        match times(tantivy, title) {
            Ok(other) => {
                let compared = Some((format!("{name} {}", told(other)), own[1] / other[1]));
                match index {
                    0 => rows[0].compared = compared,
                    _ => rows.push(Row { compared, ..Row::new("", String::new(), "") }),
                }
            }
            Err(error) => rows.push(Row::new("", format!("{name}: {error:#}"), "")),
        }
    }
    rows
}

fn tantivy(root: &Path) -> Result<String> {
    let target = root.join("target/bench/tantivy");
    let mut build = cargo(root, &["build", "--release", "--quiet", "--locked"]);
    build.arg("--manifest-path").arg(root.join("bench/search/tantivy/Cargo.toml"));
    build.arg("--target-dir").arg(&target);
    run_command(build)?;
    output_of(std::process::Command::new(target.join("release/tantivy-search")))
}

fn snapshot(root: &Path, skills: &Skills) -> Vec<Row> {
    let mut bench = cargo(root, &["bench", "--package", "artel-catalog", "--bench", "snapshot", "--"]);
    bench.arg(&skills.root);
    let output = output_of(bench);
    let step = |(title, work): (&str, &str)| {
        let work = if work.starts_with(' ') { work.to_owned() } else { format!("{SKILLS} skills: {work}") };
        measured(&work, "", || {
            let output = output.as_deref().map_err(told)?;
            let time = micros(numbers(output, title)?[0]);
            if title.ends_with("the first time ") {
                let later = numbers(output, "somebody's view, later ")?[0];
                return Ok(format!("{time}; {later:.2} us"));
            }
            Ok(time)
        })
    };
    STEPS.into_iter().map(step).collect()
}

fn measured(work: &str, goal: &'static str, measure: impl FnOnce() -> Result<String>) -> Row {
    match measure() {
        Ok(result) => Row::new(work, result, goal),
        Err(error) => Row::missing(work, &error, goal),
    }
}

/// The same error once more, as several rows tell it.
fn told(error: &anyhow::Error) -> anyhow::Error {
    anyhow::anyhow!("{error:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_stand_beside_tantivy() {
        let own = Ok("1-4 words, Mixed   1000   2000 3000 4000 5\n".to_owned());
        let other = Ok("whole words 100 1000 1500 9 1\ntantivy 2000 4000 6000 9 1\n".to_owned());
        let rows = search(&own, &other);
        assert_eq!(rows[0].result, "1.0 ms, 3.0 ms");
        assert_eq!(rows[0].compared, Some(("tantivy 2.0 ms, 6.0 ms".to_owned(), 0.5)));
        assert_eq!(rows[1].compared.as_ref().map(|(_, ratio)| *ratio), Some(2.0));
        let missing = search(&own, &Err(anyhow::anyhow!("no network")));
        assert_eq!(missing[1].result, "tantivy: no network");
    }
}
