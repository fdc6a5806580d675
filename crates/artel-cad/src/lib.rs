//! A CAD environment that agents design with: exact solids from a real geometry kernel, sketches with solved constraints,
//! and workspaces that branch and merge like code. It is a program of its own and speaks JSON-RPC on stdin and stdout.

pub mod clock;
pub mod config;
pub mod entity;
pub mod error;
pub mod file;
pub mod geometry;
pub mod kernel;
pub mod limit;
pub mod operation;
pub mod rpc;
pub mod sketch;
pub mod store;
pub mod warmup;
pub mod workspace;
