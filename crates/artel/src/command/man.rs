//! `artel man`.

use camino::Utf8Path;
use clap::CommandFactory;

use super::context::Context;
use crate::cli::Cli;
use crate::failure::Failure;

pub(crate) fn run(context: Context<'_>, dir: &Utf8Path) -> Result<(), Failure> {
    std::fs::create_dir_all(dir)
        .map_err(|error| Failure::unavailable(&error).hint(format!("cannot make `{dir}`")))?;
    clap_mangen::generate_to(Cli::command(), dir).map_err(|error| Failure::unavailable(&error))?;
    context.output.talk(&format!("manual pages written to {dir}"));
    Ok(())
}
