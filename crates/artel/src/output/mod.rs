//! What people see: data on stdout, talk on stderr, colours on terminals only.

mod diagnostics;
mod live;
mod print;
mod progress;
mod result;
mod screen;
mod span;
mod table;
mod watching;

pub(crate) use diagnostics::{Counts, SourceCache};
pub(crate) use print::{Output, Tone};
pub(crate) use progress::Progress;
pub(crate) use span::{ago, span};
pub(crate) use table::Table;
pub(crate) use watching::{Shown, Watching};
