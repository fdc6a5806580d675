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
mod runs;
mod settings;
mod skills;
mod stats;
mod story;
mod switches;
mod topics;
mod trail;

pub(crate) use agents::{
    Telling, agent_log, execute, left_over, list_agents, look_into_mailbox, metrics, prune_agents,
    read_agent, read_agent_log, spawn, start, tell,
};
pub(crate) use ask::{Asks, ask, wait_for_ask};
pub(crate) use assets::run_asset;
pub(crate) use audit_log::list_audit;
pub(crate) use bundle::{bundle, reset_skill_health, skill_health};
pub(crate) use chat::chat;
pub(crate) use chat_telling::{RunTelling, shortened};
pub(crate) use discovery::{Publishing, publication};
pub(crate) use executions::{list_executions, read_execution};
pub use keys::KeyDesk;
pub(crate) use messages::{counts, dead_letters, mark_read, publish, read_mail, request, send};
pub(crate) use plans::{check_plan, generate};
pub(crate) use policy::explain;
pub(crate) use refusal::draining;
pub(crate) use rendered::Rendered;
pub(crate) use runs::{
    command_run, list_runs, prune_runs, read_run, read_run_log, run_log, run_plan, run_status, start_run,
};
pub use settings::{SettingsDesk, SettingsRefused, SettingsRules, all_problems};
pub(crate) use settings::{change_personal_settings, change_settings, forget_data, skill_settings};
pub(crate) use skills::{Contents, is_runnable, read_skill_file, served, with_contents};
pub(crate) use stats::count_executions;
pub(crate) use switches::{switch, switches};
pub(crate) use topics::topic_log;
pub(crate) use trail::skill_trail;
