//! The tool protocol, version "0": what a script is told, what it may say, and what comes of it. Pure: bytes in, events
//! and an outcome out. Knows nothing of processes and files.

mod collector;
mod event;
mod lines;
mod media_type;
mod outcome;
mod patch;
mod read;
mod request;
#[cfg(test)]
mod tests;
mod violation;

pub use collector::{Collector, Heard};
pub use event::{LogLevel, ProtocolVersion, ToolEvent};
pub use media_type::is_media_type;
pub use outcome::{End, ExitFacts, StopReason};
pub use request::{DependencyResult, Operation, ToolRequest};
pub use violation::{Violation, ViolationKind, quote};
