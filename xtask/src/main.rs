//! The project's own automation: `cargo xtask tidy`, `cargo xtask test` and `cargo xtask bench`.
//!
//! It knows the repository's files and the tools around it (cargo, python), and nothing of artel's own crates: it
//! must build quickly and run even when they do not compile.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a build script for people: it starts tools, times them and prints"
)]

mod bench;
mod mcp_clients;
mod servers;
mod shell;
mod test;
mod tidy;
mod tools;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

const USAGE: &str = "\
cargo xtask tidy                     check the rules that the compiler cannot
cargo xtask test                     install what the tests need and check everything
cargo xtask test --only STEP         run one step (may be repeated)
cargo xtask test --list              list the steps
cargo xtask bench                    measure how fast it is, beside other programs
cargo xtask bench PART...            measure only some of it, such as `http` or `scan`";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<()> {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the root of the repository")?;
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["tidy"] => tidy::run(root),
        ["bench", parts @ ..] => bench::run(root, parts),
        ["test", "--list"] => {
            test::list();
            Ok(())
        }
        ["test", options @ ..] => test::run(root, &test::parse_only(options)?),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        [] => bail!("no command given\n\n{USAGE}"),
        [command, ..] => bail!("unknown command `{command}`\n\n{USAGE}"),
    }
}
