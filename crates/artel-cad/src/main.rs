//! The binary: reads the command line, calls one function, prints.

mod cli;

use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;

use artel_cad::config::{Config, cache_folder};
use artel_cad::kernel::{ModuleCache, serve_jobs};
use artel_cad::operation::{Session, render_to};
use artel_cad::rpc::{Table, serve};
use artel_cad::warmup::warm_up;
use clap::Parser as _;
use cli::{Cli, Command, Places};

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
        Command::Serve { places } => {
            let mut session = open(places)?;
            serve(&mut session, io::stdin().lock(), io::stdout().lock())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Call { method, params, places } => call(&method, &params, places),
        Command::Render { source, output, places } => {
            render_to(&config(places)?, &source, &output)?;
            Ok(ExitCode::SUCCESS)
        }
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

/// Opens the workspaces, with the kernel compiled: its first request must not wait for that.
fn open(places: Places) -> Result<Session, Failure> {
    Ok(Session::open(&config(places)?)?)
}

fn config(places: Places) -> Result<Config, Failure> {
    let config = Config::read(places.data, places.files, places.cache, places.time_ms)?;
    warm_up(config.kernel.cache.clone())?;
    Ok(config)
}

fn call(method: &str, params: &str, places: Places) -> Result<ExitCode, Failure> {
    let mut text = params.to_owned();
    if params == "-" {
        text.clear();
        io::stdin().lock().take(artel_cad::limit::LINE_BYTES_MAX as u64).read_to_string(&mut text)?;
    }
    let params = serde_json::from_str(&text).map_err(|error| format!("--params is not JSON: {error}"))?;
    let mut session = open(places)?;
    let result = Table::new().call(&mut session, method, params);
    session.flush_metrics();
    match result {
        Ok(result) => {
            writeln!(io::stdout(), "{result:#}")?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            writeln!(io::stderr(), "{:#}", error.to_json())?;
            Ok(ExitCode::FAILURE)
        }
    }
}
