//! What can be typed. The comments are the manual.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// A CAD environment that agents design with: exact solids, solved sketches, workspaces that branch and merge.
#[derive(Debug, Parser)]
#[command(version, about)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compile the geometry kernel, which is needed once for each machine and takes about a minute
    Warmup {
        /// The folder of the compiled geometry kernel [default: $ARTEL_CAD_CACHE, then ~/.cache/artel-cad]
        #[arg(long, value_name = "DIR")]
        cache: Option<PathBuf>,
    },
    /// Work for another artel-cad process; not for people
    #[command(hide = true)]
    Kernel {
        /// The folder of the compiled kernel.
        #[arg(long)]
        cache: PathBuf,
        /// How long one job may take.
        #[arg(long)]
        time_ms: u64,
        /// How much memory the kernel may use.
        #[arg(long)]
        memory_bytes: usize,
    },
}
