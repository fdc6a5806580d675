//! The launcher alone, for the tests of this crate: artel itself is its own launcher, but a test is not.

use std::process::ExitCode;

fn main() -> ExitCode {
    artel_engine::process::run_launcher_if_asked().unwrap_or(ExitCode::FAILURE)
}
