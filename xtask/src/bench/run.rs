//! What is measured, and what for.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use super::agents;
use super::artel::Artel;
use super::data::{SKILLS, SKILLS_PER_GROUP, Skills, make_skills};
use super::http;
use super::inside;
use super::mail;
use super::measure::{best_time, best_times, peak_bytes};
use super::messages;
use super::plan;
use super::report::{Row, milliseconds, table};
use super::scan;
use super::serve;
use super::steps;
use crate::shell::{cargo, program_in, run as run_command, succeeds};
use crate::tools::install_system_packages;

/// Runs of every command whose best time counts.
const ROUNDS: usize = 15;
/// Parts of the skills that show how the time grows.
const GROWTH: [usize; 4] = [1, 2, 4, 8];

/// What can be measured on its own, in the order of the table.
const PARTS: [&str; 12] = [
    "list", "inside", "http", "serve", "scan", "plan", "steps", "messages", "mail", "agents", "start",
    "growth",
];

/// Builds what is shipped, measures it and prints one table: of everything, or of the parts that are named.
pub(crate) fn run(root: &Path, only: &[&str]) -> Result<()> {
    if let Some(unknown) = only.iter().find(|part| !PARTS.contains(part)) {
        bail!("`{unknown}` cannot be measured; there are {}", PARTS.join(", "));
    }
    run_command(cargo(root, &["build", "--release", "--package", "artel"]))?;
    let folder = root.join("target/bench");
    let artel = Artel { program: root.join("target/release/artel"), data: folder.join("data") };
    let skills = make_skills(&folder)?;
    let (mut rows, mut growing) = (Vec::new(), String::new());
    for part in PARTS.iter().filter(|part| only.is_empty() || only.contains(part)) {
        match *part {
            "list" => {
                rows.extend(list(root, &artel, &skills)?);
                rows.push(validate(&artel, &skills)?);
            }
            "inside" => rows.extend(inside::rows(root, &skills)),
            "http" => rows.extend(http::rows(root, &artel, &skills)),
            "serve" => rows.extend(serve::rows(root, &artel, &skills)),
            "scan" => rows.extend(scan::rows(root, &artel)),
            "plan" => rows.extend(plan::rows(root, &artel.program, &folder)),
            "steps" => rows.extend(steps::rows(root)),
            "messages" => rows.extend(messages::rows(root)),
            "mail" => rows.extend(mail::rows(root)),
            "agents" => rows.extend(agents::rows(root)),
            "start" => rows.extend(start(&artel, &folder)?),
            _ => growing = growth(&artel, &skills)?,
        }
    }
    println!("\n{}\n{growing}", table(&rows));
    Ok(())
}

/// A list of all skills reads every file: beside it stands a program that does nothing but read them.
fn list(root: &Path, artel: &Artel, skills: &Skills) -> Result<Vec<Row>> {
    let work = format!("list {SKILLS} skills");
    let goal = "<= 2, and < 1 s";
    let memory = peak_bytes(artel.list(&[&skills.root]))?;
    let memory = format!("{:.0} MiB", memory as f64 / f64::from(1 << 20));
    let row = match install_ripgrep(root) {
        Ok(()) => {
            let mut ripgrep = Command::new("rg");
            ripgrep.args(["--no-ignore", "--count", "zzzz"]).arg(&skills.root);
            let times = best_times(&mut [artel.list(&[&skills.root]), ripgrep], ROUNDS)?;
            let ratio = times[0].as_secs_f64() / times[1].as_secs_f64();
            let compared = Some((format!("ripgrep {}", milliseconds(times[1])), ratio));
            Row { compared, ..Row::new(&work, milliseconds(times[0]), goal) }
        }
        Err(error) => {
            let time = best_time(artel.list(&[&skills.root]), ROUNDS)?;
            let result = format!("{}; ripgrep could not be run: {error:#}", milliseconds(time));
            Row::new(&work, result, goal)
        }
    };
    Ok(vec![row, Row::new("  its peak memory", memory, "< 200 MiB")])
}

fn install_ripgrep(root: &Path) -> Result<()> {
    if succeeds(program_in(root, "rg", &["--version"])) {
        return Ok(());
    }
    install_system_packages(root, &["ripgrep"])
}

fn validate(artel: &Artel, skills: &Skills) -> Result<Row> {
    let mut command = artel.command(&["skill", "validate", "--quiet"], &[]);
    command.arg(&skills.root);
    let time = best_time(command, ROUNDS / 3)?;
    let per_second = SKILLS as f64 / time.as_secs_f64();
    let result = format!("{}, {:.0} a second", milliseconds(time), per_second);
    Ok(Row::new(&format!("validate {SKILLS} skills"), result, ""))
}

fn start(artel: &Artel, folder: &Path) -> Result<[Row; 2]> {
    let empty = folder.join("no-skills");
    std::fs::create_dir_all(&empty)?;
    let version = best_time(artel.command(&["--version"], &[]), ROUNDS)?;
    let builtin = best_time(artel.list(&[&empty]), ROUNDS)?;
    Ok([
        Row::new("start: `artel --version`", milliseconds(version), "< 100 ms"),
        Row::new("start: list of the built-in skills", milliseconds(builtin), "< 100 ms"),
    ])
}

/// The time that a skill costs must not depend on how many there are.
fn growth(artel: &Artel, skills: &Skills) -> Result<String> {
    let mut text = "Growth of the list: linear means the same time per skill.\n\n".to_owned();
    text.push_str("| skills | time     | per skill |\n| ------ | -------- | --------- |\n");
    for groups in GROWTH {
        let folders: Vec<&Path> = skills.groups.iter().take(groups).map(PathBuf::as_path).collect();
        let time = best_time(artel.list(&folders), ROUNDS)?;
        let count = groups * SKILLS_PER_GROUP;
        let each = format!("{:.1} us", time.as_secs_f64() * 1e6 / count as f64);
        text.push_str(&format!("| {count:<6} | {:<8} | {each:<9} |\n", milliseconds(time)));
    }
    Ok(text)
}
