//! The artel binary: reads the configuration, wires the parts together, prints.

mod backend;
mod cli;
mod command;
mod config;
mod failure;
mod logging;
mod metrics;
mod output;
mod runtime;
mod telemetry;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;
use crate::config::{Config, Environment};
use crate::output::Output;

/// A catalog is many small texts, made by several threads at once: with the system's allocator a list of 10,000 skills
/// takes a third longer.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The same program is the launcher of scripts, and then it is nothing else.
    if let Some(code) = artel_engine::process::run_launcher_if_asked() {
        return code;
    }
    artel_engine::process::refuse_huge_pages();
    let cli = Cli::parse();
    let environment = Environment::of_process();
    let output = Output::new(&cli.global, &environment);
    let result = logging::start(&environment, &cli.command)
        .and_then(|()| Config::load(&cli.global, &environment))
        .and_then(|config| {
            let file = config.metrics.value.as_deref();
            let work = || command::run(&cli.command, &config, &output);
            metrics::measured(file, || telemetry::traced(&config, work))
        });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output.failure(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}
