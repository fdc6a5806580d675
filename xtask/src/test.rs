//! `cargo xtask test`: every check of the project as a list of steps, run in order until one fails.
//!
//! A step is data (a name, what it does, a function), so that people and continuous integration run the same list.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::servers::Servers;
use crate::shell::{cargo, run as run_command};
use crate::{mcp_clients, tidy, tools};

struct Step {
    name: &'static str,
    about: &'static str,
    run: fn(&Path) -> Result<Outcome>,
}

enum Outcome {
    Passed,
    Skipped(&'static str),
}

const STEPS: &[Step] = &[
    Step { name: "tools", about: "install the cargo tools that are missing", run: tools_step },
    Step { name: "python", about: "install the reference validator into target/venv", run: python_step },
    Step { name: "servers", about: "install the servers that tests need", run: servers_step },
    Step { name: "fmt", about: "check the formatting", run: fmt_step },
    Step { name: "tidy", about: "check the project's own rules", run: tidy_step },
    Step { name: "clippy", about: "lint everything, warnings are errors", run: clippy_step },
    Step { name: "tests", about: "run all tests", run: tests_step },
    Step { name: "doctests", about: "run the examples in the documentation", run: doctests_step },
    Step { name: "doc", about: "build the documentation, warnings are errors", run: doc_step },
    Step {
        name: "cad",
        about: "lint and test artel-cad, whose kernel takes minutes to build once",
        run: cad_step,
    },
    Step { name: "deny", about: "check licences, bans and sources of dependencies", run: deny_step },
];

/// The crate that the other steps leave out, so that those who do not need it do not pay for its kernel.
const CAD: &str = "artel-cad";

/// Prints every step and what it does.
pub(crate) fn list() {
    for step in STEPS {
        println!("{:<10} {}", step.name, step.about);
    }
}

/// Parses `--only STEP` options into step names; none means all steps.
pub(crate) fn parse_only(options: &[&str]) -> Result<Vec<String>> {
    let mut only = Vec::new();
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        if *option != "--only" {
            bail!("unknown option `{option}` of `cargo xtask test`");
        }
        let name = rest.next().context("`--only` needs the name of a step")?;
        if !STEPS.iter().any(|step| step.name == *name) {
            let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
            bail!("no step is called `{name}`; the steps are {}", names.join(", "));
        }
        only.push((*name).to_owned());
    }
    Ok(only)
}

/// Runs the steps named in `only` (all when empty) in their own order, and stops at the first that fails.
pub(crate) fn run(root: &Path, only: &[String]) -> Result<()> {
    let chosen: Vec<&Step> =
        STEPS.iter().filter(|step| only.is_empty() || only.iter().any(|name| name == step.name)).collect();
    for (index, step) in chosen.iter().enumerate() {
        println!("\n=== {} of {}: {} - {}", index + 1, chosen.len(), step.name, step.about);
        let start = Instant::now();
        let outcome = (step.run)(root).with_context(|| format!("step `{}` failed", step.name))?;
        let seconds = start.elapsed().as_secs_f64();
        match outcome {
            Outcome::Passed => println!("=== {}: passed in {seconds:.1} s", step.name),
            Outcome::Skipped(why) => println!("=== {}: SKIPPED, {why}", step.name),
        }
    }
    Ok(())
}

fn tools_step(root: &Path) -> Result<Outcome> {
    tools::install_cargo_tools(root)?;
    Ok(Outcome::Passed)
}

fn python_step(root: &Path) -> Result<Outcome> {
    tools::install_python_tools(root)?;
    mcp_clients::install(root)?;
    Ok(Outcome::Passed)
}

fn servers_step(root: &Path) -> Result<Outcome> {
    tools::install_servers(root)?;
    Ok(Outcome::Passed)
}

fn fmt_step(root: &Path) -> Result<Outcome> {
    run_command(cargo(root, &["fmt", "--all", "--check"]))?;
    Ok(Outcome::Passed)
}

fn tidy_step(root: &Path) -> Result<Outcome> {
    tidy::run(root)?;
    Ok(Outcome::Passed)
}

fn clippy_step(root: &Path) -> Result<Outcome> {
    run_command(cargo(
        root,
        &["clippy", "--workspace", "--exclude", CAD, "--all-targets", "--", "-D", "warnings"],
    ))?;
    Ok(Outcome::Passed)
}

fn tests_step(root: &Path) -> Result<Outcome> {
    let mut command = if tools::has_nextest(root) {
        cargo(root, &["nextest", "run", "--workspace", "--exclude", CAD])
    } else {
        cargo(root, &["test", "--workspace", "--exclude", CAD, "--tests", "--no-fail-fast"])
    };
    let validator = tools::skills_ref_program(root);
    if validator.is_file() {
        command.env("ARTEL_SKILLS_REF", validator);
    }
    let schemathesis = tools::schemathesis_program(root);
    if schemathesis.is_file() {
        command.env("ARTEL_SCHEMATHESIS", schemathesis);
    }
    mcp_clients::tell(root, &mut command);
    let servers = Servers::start(root)?;
    servers.tell(&mut command);
    run_command(command)?;
    Ok(Outcome::Passed)
}

/// Building the documentation's examples takes a pass over every crate, so it is skipped when there are none.
fn doctests_step(root: &Path) -> Result<Outcome> {
    if !tidy::has_doctests(root)? {
        return Ok(Outcome::Skipped("no documentation holds an example"));
    }
    run_command(cargo(root, &["test", "--doc", "--workspace", "--exclude", CAD]))?;
    Ok(Outcome::Passed)
}

fn doc_step(root: &Path) -> Result<Outcome> {
    let mut command = cargo(root, &["doc", "--workspace", "--exclude", CAD, "--no-deps"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    run_command(command)?;
    Ok(Outcome::Passed)
}

/// The kernel is compiled before the tests start, because each of them has a time limit. The compiled module stays in the
/// target folder, under a name with its version.
fn cad_step(root: &Path) -> Result<Outcome> {
    run_command(cargo(root, &["clippy", "--package", CAD, "--all-targets", "--", "-D", "warnings"]))?;
    let cache = target_folder(root).join("tmp/artel-cad-kernel");
    let mut warmup = cargo(root, &["run", "--package", CAD, "--", "warmup", "--cache"]);
    warmup.arg(cache);
    run_command(warmup)?;
    let tests = if tools::has_nextest(root) {
        cargo(root, &["nextest", "run", "--package", CAD])
    } else {
        cargo(root, &["test", "--package", CAD, "--tests", "--no-fail-fast"])
    };
    run_command(tests)?;
    let mut doc = cargo(root, &["doc", "--package", CAD, "--no-deps"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    run_command(doc)?;
    Ok(Outcome::Passed)
}

/// Returns where cargo builds.
fn target_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}

fn deny_step(root: &Path) -> Result<Outcome> {
    if !tools::has_deny(root) {
        return Ok(Outcome::Skipped("cargo-deny is not installed (cargo install cargo-deny --locked)"));
    }
    run_command(cargo(root, &["deny", "check", "bans", "licenses", "sources"]))?;
    Ok(Outcome::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_takes_known_steps() {
        assert_eq!(parse_only(&[]).unwrap(), Vec::<String>::new());
        assert_eq!(parse_only(&["--only", "fmt", "--only", "tidy"]).unwrap(), ["fmt", "tidy"]);
    }

    #[test]
    fn mistakes_are_explained() {
        let message = |options: &[&str]| parse_only(options).unwrap_err().to_string();
        assert_eq!(message(&["--fast"]), "unknown option `--fast` of `cargo xtask test`");
        assert_eq!(message(&["--only"]), "`--only` needs the name of a step");
        assert!(
            message(&["--only", "lint"]).starts_with("no step is called `lint`; the steps are tools, python")
        );
    }
}
