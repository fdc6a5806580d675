//! Traces of this process, sent to a collector by OTLP over HTTP, when one is named. What is traced is the business of the
//! crates that work; here is only the way out.

mod otlp;
mod sending;

pub(crate) use sending::traced;
