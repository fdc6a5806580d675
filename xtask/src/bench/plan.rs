//! Plans of tools that do nothing, beside other programs that run the same tools: what it costs to run a plan.
//!
//! Everything starts one and the same program, as many at once, and drops what it prints.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::artel::Artel;
use super::data::remove;
use super::measure::{best_times, output_of};
use super::plan_data::{Shape, build_file, make_file, make_skill, plan_file, write};
use super::report::{Row, milliseconds};
use crate::shell::{cargo, program_in, run as run_command, succeeds};
use crate::tools::install_system_packages;

/// Runs of every command whose best time counts: the small plan often, the large one less so.
const SHAPES: [(Shape, usize); 2] =
    [(Shape { layers: 10, tools: 20 }, 20), (Shape { layers: 1, tools: 1_000 }, 8)];
/// Where the programs to compare with lie in the repository.
const SOURCES: &str = "bench/plan";

/// Measures plans of several shapes.
pub(super) fn rows(root: &Path, program: &Path, folder: &Path) -> Vec<Row> {
    match Comparison::prepare(root, program, &folder.join("plan")) {
        Ok(comparison) => {
            SHAPES.iter().flat_map(|(shape, rounds)| comparison.measure(shape, *rounds)).collect()
        }
        Err(error) => vec![Row::missing("plans of tools that do nothing", &error, "")],
    }
}

/// Programs that run the same tools.
struct Comparison {
    artel: Artel,
    skills: PathBuf,
    tool: PathBuf,
    floor: PathBuf,
    tokio_loop: PathBuf,
    folder: PathBuf,
    at_once: String,
    ninja: Result<()>,
    make: Result<()>,
}

impl Comparison {
    fn prepare(root: &Path, program: &Path, folder: &Path) -> Result<Self> {
        if folder.exists() {
            remove(folder)?;
        }
        let skills = folder.join("skills");
        let tool = make_skill(&skills)?;
        let floor = folder.join("floor");
        compile(root, "tool.c", &tool)?;
        compile(root, "floor.c", &floor)?;
        let target = root.join("target/bench/tokio-loop");
        let manifest = root.join(SOURCES).join("tokio-loop/Cargo.toml");
        let mut build = cargo(root, &["build", "--release", "--quiet", "--locked"]);
        build.arg("--manifest-path").arg(manifest).arg("--target-dir").arg(&target);
        run_command(build)?;
        Ok(Self {
            artel: Artel { program: program.to_owned(), data: folder.join("data") },
            skills,
            tool,
            floor,
            tokio_loop: target.join("release/tokio-loop"),
            folder: folder.to_owned(),
            at_once: std::thread::available_parallelism()?.to_string(),
            ninja: install(root, "ninja", "ninja-build"),
            make: install(root, "make", "make"),
        })
    }

    fn measure(&self, shape: &Shape, rounds: usize) -> Vec<Row> {
        self.try_measure(shape, rounds)
            .unwrap_or_else(|error| vec![Row::missing(&shape.to_string(), &error, "")])
    }

    fn try_measure(&self, shape: &Shape, rounds: usize) -> Result<Vec<Row>> {
        let plan = self.folder.join(format!("plan-{}.json", shape.count()));
        write(&plan, &plan_file(shape))?;
        let mut commands = vec![
            self.artel(&plan, "enforce"),
            self.artel(&plan, "off"),
            self.loop_of(&self.tokio_loop, shape),
            self.loop_of(&self.floor, shape),
        ];
        let others = self.others(shape)?;
        let mut names = vec!["tokio loop", "posix_spawn in C"];
        let mut missing = Vec::new();
        for (name, command) in others {
            match command {
                Ok(command) => {
                    names.push(name);
                    commands.push(command);
                }
                Err(why) => missing.push(Row::new("", format!("{name} could not be run: {why}"), "")),
            }
        }
        // A plan that fails is done quickly: look at it before its time is taken.
        for command in &mut commands {
            output_of(again(command))?;
        }
        let times = best_times(&mut commands, rounds)?;
        let [on, off, others @ ..] = &times[..] else { return Ok(missing) };
        let mut rows = compared(&format!("{shape}, sandbox on"), *on, &names, others, sandbox_on_goal);
        rows.extend(compared(&format!("{shape}, sandbox off"), *off, &names, others, sandbox_off_goal));
        rows.extend(missing);
        Ok(rows)
    }

    fn artel(&self, plan: &Path, sandbox: &str) -> Command {
        let words = ["plan", "run", "--quiet", "--sandbox", sandbox, "--slots", &self.at_once];
        let mut command = self.artel.command(&words, &[&self.skills]);
        command.arg(plan);
        command
    }

    fn loop_of(&self, program: &Path, shape: &Shape) -> Command {
        let mut command = Command::new(program);
        command.arg(&self.tool).arg(&self.at_once).arg(shape.layers.to_string()).arg(shape.tools.to_string());
        command
    }

    fn others(&self, shape: &Shape) -> Result<[(&'static str, Result<Command, String>); 2]> {
        let folder = self.folder.join(format!("build-{}", shape.count()));
        fs::create_dir_all(&folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
        write(&folder.join("build.ninja"), &build_file(shape, &self.tool))?;
        write(&folder.join("Makefile"), &make_file(shape, &self.tool))?;
        let command = |program: &str, words: &[&str], is_here: &Result<()>| match is_here {
            Ok(()) => {
                let mut command = program_in(&folder, program, words);
                command.arg("-j").arg(&self.at_once);
                Ok(command)
            }
            Err(error) => Err(format!("{error:#}")),
        };
        Ok([
            ("ninja", command("ninja", &["--quiet"], &self.ninja)),
            ("make", command("make", &["--silent", "--no-print-directory"], &self.make)),
        ])
    }
}

/// One row for each program that was compared with; the first one tells the time.
fn compared(
    work: &str,
    time: Duration,
    names: &[&str],
    others: &[Duration],
    goal: fn(&str) -> &'static str,
) -> Vec<Row> {
    let row = |(index, (name, other)): (usize, (&&str, &Duration))| {
        let ratio = time.as_secs_f64() / other.as_secs_f64();
        let compared = Some((format!("{name} {}", milliseconds(*other)), ratio));
        match index {
            0 => Row { compared, ..Row::new(work, milliseconds(time), goal(name)) },
            _ => Row { compared, ..Row::new("", String::new(), goal(name)) },
        }
    };
    names.iter().zip(others).enumerate().map(row).collect()
}

fn sandbox_on_goal(name: &str) -> &'static str {
    match name {
        "tokio loop" => "<= 2",
        "ninja" => "< 1",
        _ => "",
    }
}

fn sandbox_off_goal(name: &str) -> &'static str {
    match name {
        "tokio loop" => "<= 1.5",
        _ => "",
    }
}

fn compile(root: &Path, source: &str, program: &Path) -> Result<()> {
    let mut gcc = program_in(root, "gcc", &["-O2", "-o"]);
    gcc.arg(program).arg(root.join(SOURCES).join(source));
    run_command(gcc)
}

fn install(root: &Path, program: &str, package: &str) -> Result<()> {
    if succeeds(program_in(root, program, &["--version"])) {
        return Ok(());
    }
    install_system_packages(root, &[package])
}

/// The same command once more, as a command can be used up.
fn again(command: &Command) -> Command {
    let mut copy = Command::new(command.get_program());
    copy.args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        copy.current_dir(folder);
    }
    copy
}
