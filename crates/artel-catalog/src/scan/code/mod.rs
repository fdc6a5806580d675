//! Follows what code does with data, on its syntax tree: where it comes from, where it goes, what is run.
//!
//! Shell has an evaluator of its own; Python and JavaScript become one small form that another one follows. Nothing is
//! run, and everything is bounded.

mod address;
mod calls;
mod file;
mod flow;
mod flow_act;
mod flow_call;
mod flow_value;
mod form;
mod javascript;
mod judge;
mod python;
mod shell;
mod shell_command;
mod shell_harm;
mod shell_network;
mod shell_run;
mod syntax;
mod value;

pub(super) use address::{Address, address_of, addresses};
pub(super) use flow::{scan_javascript, scan_python};
pub(super) use shell::{ShellMemory, scan_shell};
pub(super) use value::unhex;
