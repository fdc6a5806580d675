//! The trails of skills: when their files were first served, what scanners said, to whom they were offered and why, who took
//! them up, and what came of running them.
//!
//! Writing a trail never holds up whoever reads skills: what happened is put into a queue, and kept in batches. Knows
//! nothing of how skills are served.

mod installs;
mod note;
mod reading;
mod recent;
mod recorder;

pub use reading::{TrailQuestion, read_trail};
pub use recorder::Trail;
