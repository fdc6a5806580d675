//! Traces: what happened because of what. A span is a piece of work with a beginning, an end and the place in a trace that it
//! was begun at; ended spans wait in a queue for whoever sends them to a collector.
//!
//! Like the numbers that are measured, there is one place per process where spans go. While nobody asked for traces, a span
//! costs a look at an empty cell, and a place in a trace that somebody else gave is handed on as it came.
//! Knows nothing of collectors and of how spans are sent.

mod current;
mod metrics;
mod queue;
mod ratio;
mod span;

pub use current::{current, set_outer, within};
pub use metrics::{METRICS, sent, unsent};
pub use queue::{AlreadyTracing, EndedSpans, install};
pub use ratio::{SampleRatio, SampleRatioError};
pub use span::{AttributeValue, EndedSpan, Span, SpanKind, is_on};
