//! Tests of the whole program and of the kernel: the real binary, real workspaces, a second kernel as a second opinion.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "tests say what is wrong by panicking"
)]

mod battery;
mod constraints;
mod csg;
mod curves;
mod docs;
mod faults;
mod files;
mod fuzz;
mod limits;
mod oracle;
mod protocol;
mod second_kernel;
mod serve;
mod solids;
mod workspaces;
