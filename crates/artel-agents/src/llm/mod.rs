//! The driver that lets a language model work: it is told its skills and its task, and calls its tools until it is done.
//!
//! `driver` is the way in, `talk` the loop, `ask` one question to the model, `call` one round of its calls; `prompt` is
//! what it reads, `instructions` where that comes from, `names` what its tools are called, `said` how work goes on after
//! an interruption, `promise` what its last answer must be, `timer` how long all that may take. Knows no protocol: that is
//! the client's.

mod ask;
mod call;
mod config;
mod driver;
mod halt;
mod instructions;
mod names;
mod promise;
mod prompt;
mod said;
mod talk;
mod timer;

pub use config::{LlmDriverConfig, ModelChoice};
pub use driver::LlmDriver;
