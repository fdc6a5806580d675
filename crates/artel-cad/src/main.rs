//! The binary: reads the command line, calls one function, prints.

mod cli;

use std::io::{self, Write as _};
use std::process::ExitCode;

use artel_cad::config::cache_folder;
use artel_cad::kernel::{ModuleCache, serve_jobs};
use artel_cad::warmup::warm_up;
use clap::Parser as _;
use cli::{Cli, Command};

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(code) => code,
        Err(error) => {
            let mut text = format!("artel-cad: {error}");
            let mut source = error.source();
            while let Some(cause) = source {
                text.push_str(&format!(": {cause}"));
                source = cause.source();
            }
            // Nothing can be done about a closed stderr.
            let _ = writeln!(io::stderr(), "{text}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Warmup { cache } => {
            let cache = cache_folder(cache)?;
            warm_up(cache.clone())?;
            writeln!(
                io::stdout(),
                "the geometry kernel is ready in {}",
                ModuleCache::new(cache).path().display()
            )?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Kernel { cache, time_ms, memory_bytes } => {
            serve_jobs(&ModuleCache::new(cache), time_ms, memory_bytes, io::stdin().lock(), io::stdout())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
