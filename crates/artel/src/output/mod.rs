//! What people see: data on stdout, talk on stderr, colours on terminals only.

mod diagnostics;
mod print;
mod table;

pub(crate) use diagnostics::{Counts, SourceCache};
pub(crate) use print::{Output, Tone};
pub(crate) use table::Table;
