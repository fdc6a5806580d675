//! `cargo xtask tidy`: the promises of ARCHITECTURE.md and STYLE.md that the compiler and clippy cannot check.
//!
//! Every rule is a function from file contents to problems, so it is tested without a disk; only `tree` reads files.

mod check;
mod crates;
mod exceptions;
mod links;
mod manifest;
mod mentions;
mod problem;
mod rules;
mod shape;
mod source;
mod text;
mod tree;

pub(crate) use check::{has_doctests, run};
