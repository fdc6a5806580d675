//! What callers can do, apart from how they ask: over HTTP, MCP or in a chat. Every function knows who calls, and what is not
//! theirs does not exist for them.

mod agents;
mod ask;
mod assets;
mod audit_log;
mod bundle;
mod chat;
mod chat_stream;
mod chat_telling;
mod discovery;
mod executions;
mod keys;
mod messages;
mod owned;
mod page;
mod plans;
mod policy;
mod quotas;
mod refusal;
mod rendered;
mod run_history;
mod runs;
mod settings;
mod skills;
mod stats;
mod switches;
mod topics;
mod trail;

pub use agents::{
    Telling, agent_log, execute, left_over, list_agents, look_into_mailbox, metrics, prune_agents,
    read_agent, read_agent_log, spawn, start, tell,
};
pub use ask::{Asks, ask, wait_for_ask};
pub use assets::run_asset;
pub use audit_log::list_audit;
pub use bundle::{bundle, reset_skill_health, skill_health};
pub use chat::chat;
pub use chat_telling::{RunTelling, shortened};
pub use discovery::{Publishing, publication};
pub use executions::{list_executions, read_execution};
pub use keys::KeyOperations;
pub use messages::{counts, dead_letters, mark_read, publish, read_mail, request, send};
pub use plans::{check_plan, generate};
pub use policy::explain;
pub use refusal::draining;
pub use rendered::Rendered;
pub use runs::{
    command_run, list_runs, prune_runs, read_run, read_run_log, run_log, run_plan, run_status, start_run,
};
pub use settings::{SettingsOperations, SettingsRefused, SettingsRules, all_problems};
pub use settings::{change_personal_settings, change_settings, forget_data, skill_settings};
pub use skills::{Contents, is_runnable, read_skill_file, served, with_contents};
pub use stats::count_executions;
pub use switches::{switch, switches};
pub use topics::topic_log;
pub use trail::{skill_trail, trail_of};
