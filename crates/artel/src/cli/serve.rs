//! `artel serve`.

use std::net::SocketAddr;

use clap::Args;

/// What `serve` takes.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Where to listen [default: 127.0.0.1:7420]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
    /// Forget the administrator's token and print a fresh one
    #[arg(long)]
    pub(crate) new_token: bool,
}
