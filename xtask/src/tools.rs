//! What the checks need beyond cargo, and how to get it: cargo components, cargo-nextest, a Python environment with
//! the reference validator of agentskills.io, servers for tests. System packages are installed only when we are root.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::shell::{cargo, program_in, run, succeeds};

/// The version the project is tested with: a newer one may ask for a newer compiler than ours.
const NEXTEST_VERSION: &str = "0.9.143";
/// The reference validator our own one is compared with, pinned so that the comparison means the same every day.
const SKILLS_REF: &str = "skills-ref==0.1.1";
/// What tries the server with everything that its description allows, and more.
const SCHEMATHESIS: &str = "schemathesis==4.32.5";

/// Adds the cargo components and the test runner when they are missing.
pub(crate) fn install_cargo_tools(root: &Path) -> Result<()> {
    for (subcommand, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if !succeeds(cargo(root, &[subcommand, "--version"])) {
            run(program_in(root, "rustup", &["component", "add", component]))?;
        }
    }
    if has_nextest(root) {
        println!("cargo fmt, cargo clippy and cargo nextest are here");
        return Ok(());
    }
    let version = ["install", "cargo-nextest", "--locked", "--version", NEXTEST_VERSION];
    let features = ["--no-default-features", "--features", "default-no-update"];
    if let Err(error) = run(cargo(root, &[version.as_slice(), features.as_slice()].concat())) {
        println!("{error}: the tests will run with `cargo test`");
    }
    Ok(())
}

/// Returns whether `cargo nextest` can be used.
pub(crate) fn has_nextest(root: &Path) -> bool {
    succeeds(cargo(root, &["nextest", "--version"]))
}

/// Returns whether `cargo deny` can be used.
pub(crate) fn has_deny(root: &Path) -> bool {
    succeeds(cargo(root, &["deny", "--version"]))
}

/// Returns where the reference validator's program is, once `install_python_tools` has run.
pub(crate) fn skills_ref_program(root: &Path) -> PathBuf {
    environment(root).join("bin/agentskills")
}

/// Returns where Schemathesis is, once `install_python_tools` has run.
pub(crate) fn schemathesis_program(root: &Path) -> PathBuf {
    environment(root).join("bin/schemathesis")
}

/// Makes `target/venv` with the reference validator and Schemathesis in it, unless it is there already.
pub(crate) fn install_python_tools(root: &Path) -> Result<()> {
    let stamp = environment(root).join("artel-installed");
    let wanted = format!("{SKILLS_REF} {SCHEMATHESIS}");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted)
        && skills_ref_program(root).is_file()
        && schemathesis_program(root).is_file()
    {
        println!("{wanted} are here");
        return Ok(());
    }
    // The built-in skills are tested with the system's Python, whatever else is on the path.
    let has_system_python = Path::new("/usr/bin/python3").is_file();
    if !has_system_python || !succeeds(program_in(root, "python3", &["-c", "import ensurepip, venv"])) {
        install_system_packages(root, &["python3", "python3-venv"])?;
    }
    run(program_in(root, "python3", &["-m", "venv", "--clear", "target/venv"]))?;
    let pip = environment(root).join("bin/pip");
    run(program_in(
        root,
        pip,
        &["install", "--quiet", "--disable-pip-version-check", SKILLS_REF, SCHEMATHESIS],
    ))?;
    fs::write(&stamp, wanted).with_context(|| format!("cannot write `{}`", stamp.display()))
}

/// Installs the servers that tests start, unless they are here already.
pub(crate) fn install_servers(root: &Path) -> Result<()> {
    if !has_postgres(root) {
        install_system_packages(root, &["postgresql"])?;
    }
    if !has_postgres(root) {
        bail!("PostgreSQL was installed, but its programs are not where `xtask/servers/postgres.sh` looks");
    }
    println!("PostgreSQL is here");
    if !has_redis(root) {
        install_system_packages(root, &["redis-server"])?;
    }
    if !has_redis(root) {
        bail!("Redis was installed, but its programs are not on the path");
    }
    println!("Redis is here");
    Ok(())
}

/// Debian keeps the programs of each version in a folder of its own, which is not on the path.
fn has_postgres(root: &Path) -> bool {
    let found = "ls /usr/lib/postgresql/*/bin/initdb || command -v initdb";
    succeeds(program_in(root, "sh", &["-c", found]))
}

fn has_redis(root: &Path) -> bool {
    succeeds(program_in(root, "sh", &["-c", "command -v redis-server && command -v redis-cli"]))
}

fn environment(root: &Path) -> PathBuf {
    root.join("target/venv")
}

/// Installs packages of the operating system, or says how to.
pub(crate) fn install_system_packages(root: &Path, packages: &[&str]) -> Result<()> {
    let manual = format!("install them yourself: apt-get install {}", packages.join(" "));
    if !is_root() || !Path::new("/usr/bin/apt-get").is_file() {
        bail!("system packages are missing; {manual}");
    }
    run(program_in(root, "apt-get", &["update", "-qq"]))?;
    let mut install = program_in(root, "apt-get", &["install", "-y", "-qq", "--no-install-recommends"]);
    install.args(packages).env("DEBIAN_FRONTEND", "noninteractive");
    run(install).context(manual)
}

/// Our own process belongs to the user we run as; reading it there spares a dependency.
fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}
