//! What callers can do, apart from how they ask: over HTTP, MCP or in a chat. Every function knows who calls, and what is not
//! theirs does not exist for them.

mod agents;
mod ask;
mod audit_log;
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
mod refusal;
mod runs;
mod skills;
mod stats;
mod story;
mod topics;

pub(crate) use agents::{
    Telling, agent_log, execute, list_agents, look_into_mailbox, metrics, read_agent, spawn, start, tell,
};
pub(crate) use ask::{Asks, ask, read_ask};
pub(crate) use audit_log::list_audit;
pub(crate) use chat::chat;
pub(crate) use discovery::{Publishing, publication};
pub(crate) use executions::{list_executions, read_execution};
pub use keys::KeyDesk;
pub(crate) use messages::{counts, dead_letters, mark_read, publish, read_mail, request, send};
pub(crate) use plans::{check_plan, generate};
pub(crate) use policy::explain;
pub(crate) use runs::{command_run, list_runs, read_run, run_log, run_plan, start_run};
pub(crate) use skills::{is_runnable, read_skill_file, served};
pub(crate) use stats::count_executions;
pub(crate) use topics::topic_log;
