//! `artel man`.

use camino::Utf8Path;
use clap::CommandFactory;

use super::context::Context;
use crate::cli::Cli;
use crate::failure::Failure;

pub(crate) fn run(context: Context<'_>, dir: &Utf8Path) -> Result<(), Failure> {
    std::fs::create_dir_all(dir)
        .map_err(|error| Failure::missing(format!("cannot make the folder `{dir}`: {error}")))?;
    clap_mangen::generate_to(Cli::command(), dir)
        .map_err(|error| Failure::missing(format!("cannot write the pages to `{dir}`: {error}")))?;
    context.output.talk(&format!("manual pages written to {dir}"));
    Ok(())
}
