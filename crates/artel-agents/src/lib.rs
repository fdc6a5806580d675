//! Agents at work: spawning them, driving what they do, stopping them with everything below them.
//!
//! The rules are in `artel-model`: what an agent may do, which states it goes through. Here they meet the store, the engine
//! and the world. Knows nothing of SQL, of HTTP and of what can be typed.

mod agent_tools;
mod agents;
mod announce;
mod call;
mod change;
mod clock;
mod command;
mod config;
mod driver;
mod error;
mod follow;
mod llm;
mod metrics;
mod office;
mod outcome;
mod own_tool;
mod prepare;
mod recover;
mod spawn;
mod task;
mod tree;
mod work;

pub use agent_tools::{AgentTools, ToolOffer};
pub use agents::Agents;
pub use announce::{Announce, Silent};
pub use command::{
    AfterWork, CLIENTS, ClientHome, ClientNetwork, ClientUsers, CommandDriver, CommandDriverConfig,
    EffectiveRules, OwnCommands, prune_work_folders,
};
pub use config::{AgentsConfig, AgentsParts, AtLimit, IsAlive, RoleBook, Stores};
pub use driver::{Control, DriverSignal, Job, WorkDriver};
pub use error::{AgentsError, CallError, CommandRefused, SpawnFailed, StartRefused};
pub use llm::{LlmDriver, LlmDriverConfig, ModelChoice};
pub use metrics::METRICS;
pub use office::{
    Awaited, DeadLetterBox, ListenError, Listener, MailError, Office, OfficeConfig, OfficeCounts,
    OfficeParts, ReadOptions, RequestError, SendError, Sent,
};
pub use spawn::{SpawnCaller, Spawned};
