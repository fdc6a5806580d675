//! The effective configuration: defaults, then `artel.toml`, then the environment, then flags.

mod agents;
mod environment;
mod file;
mod load;
mod running;
mod server;

pub(crate) use agents::{AgentSettings, BusChoice, ClientSettings, CommandsWord, HomeWord, LlmSettings};
pub(crate) use environment::Environment;
pub(crate) use load::{Config, Origin, Setting};
pub(crate) use running::{PlannerKind, PlannerProtocol, PlannerSettings, StoreChoice};
