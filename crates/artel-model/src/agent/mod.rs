//! Agents: what they may do, how they come to be, and where they stand.
//!
//! [`Policy`] says what an agent may call, [`admit`] is the one function that every call passes, [`SpawnRequest`] becomes
//! an [`AgentSpec`], and [`Agent`] is the state machine whose log is the truth about an agent.

mod client_rule;
mod document;
mod event;
mod gate;
mod machine;
mod policy;
mod record;
mod role;
mod spawn;
mod spawn_read;
mod spec;
#[cfg(test)]
mod tests;

pub use client_rule::{CallOrigin, admit_command};
pub use document::{AgentDocument, PolicyDocument, PolicyRule};
pub use event::{AgentEvent, Cause, OperationEnd, StampedAgentEvent, WorkEnd};
pub(crate) use gate::admit_tool;
pub use gate::{Access, AgentView, Denial, DenialCode, SkillTool, ToolUse, WorkspaceAccess, admit};
pub use machine::{Agent, DENIED_IN_A_ROW_MAX, InvalidTransition, Transition};
pub use policy::{Allowance, Layer, LayerGrant, LayerOrigin, Policy, Rank, Verdict};
pub use record::{AgentPhase, AgentRecord, AgentState, ErrorEntry, ResultEntry, Work, WorkOutcome};
pub use role::{Role, RoleName, RoleNameError};
pub use spawn::{Parent, SpawnContext, SpawnError, SpawnErrorCode, SpawnLimits, SpawnRefused, prepare};
pub use spawn_read::SpawnRequest;
pub use spec::{AgentSpec, CommandLine, Driver, DriverKind, SkillContract, Thinking};
