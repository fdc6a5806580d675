//! The effective configuration: defaults, then `artel.toml`, then the environment, then flags.

mod agents;
mod chat;
mod environment;
mod file;
mod load;
mod remote;
mod running;
mod server;
mod telemetry;

pub(crate) use agents::{
    AgentSettings, BusChoice, ClientSettings, ClientUser, CommandsWord, HomeWord, LlmSettings, NetworkWord,
};
pub(crate) use chat::AnsweredBy;
pub(crate) use environment::Environment;
pub(crate) use load::{Config, Origin, Setting};
pub(crate) use remote::RemoteSettings;
pub(crate) use running::{PlannerKind, PlannerProtocol, PlannerSettings, SandboxUsersChoice, StoreChoice};
pub(crate) use server::{OidcSettings, SECOND_SCANNER, ScannerChoice, ScannerSettings, ServerSettings};
pub(crate) use telemetry::TelemetrySettings;
