//! What can be typed. The comments are the manual.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// A CAD environment that agents design with: exact solids, solved sketches, workspaces that branch and merge.
#[derive(Debug, Parser)]
#[command(version, about)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Where things are.
#[derive(Args, Clone, Debug)]
pub(crate) struct Places {
    /// The folder of the workspaces [default: $ARTEL_CAD_DATA, then ~/.local/share/artel-cad]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// The folder that files are exported to and imported from [default: $ARTEL_CAD_FILES, then `files` in the data folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) files: Option<PathBuf>,
    /// The folder of the compiled geometry kernel [default: $ARTEL_CAD_CACHE, then ~/.cache/artel-cad]
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    /// How long the kernel may work on one request, in milliseconds [default: 8000]
    #[arg(long, value_name = "MS")]
    pub(crate) time_ms: Option<u64>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Answer JSON-RPC 2.0 requests, one on each line of stdin, until it ends
    Serve {
        /// Where things are.
        #[command(flatten)]
        places: Places,
    },
    /// Call one method and print its result; errors end with exit code 1
    Call {
        /// The method, for example solid.primitive; rpc.discover lists all of them
        method: String,
        /// Its parameters as a JSON object; `-` reads them from stdin
        #[arg(long, default_value = "{}")]
        params: String,
        /// Where things are.
        #[command(flatten)]
        places: Places,
    },
    /// Draw a workspace, or a STEP or JSON file: as a shaded picture (.png), or as a drawing with dimensions (.svg)
    Render {
        /// A file, or else the name of a workspace
        source: String,
        /// Where to
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Where things are.
        #[command(flatten)]
        places: Places,
    },
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
