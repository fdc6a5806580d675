//! What artel keeps: traits per noun, a store in memory, and the suite of tests that every store must pass.
//!
//! Knows nothing of SQL. Absence is `None`, a conflict is a variant, the order of every list is documented.

mod agent;
mod audit;
#[cfg(any(test, feature = "contract"))]
pub mod contract;
mod custom;
mod error;
mod execution;
mod health;
mod hub;
mod key;
mod mail;
mod memory;
mod page;
mod person;
mod run;
mod scan;
mod trail;

pub use agent::{
    AgentAppend, AgentAppendError, AgentFilter, AgentRefused, AgentRow, AgentStore, LoggedAgentEvent,
    NewAgent, may_have_children,
};
pub use audit::{AuditFilter, AuditStore, GenerationStore};
pub use custom::{CustomSkillStore, SaveRefused};
pub use error::StoreError;
pub use execution::{
    ExecutionFilter, ExecutionStats, ExecutionStore, StatsBy, StatsFilter, has_ended, nearest_rank,
};
pub use health::{HealthCount, HealthStore, ProbeClaim, SkillFiles, SkillHealth, due_probes, seen_health};
pub use hub::{HubRefused, HubStore};
pub use key::KeyStore;
pub use mail::{
    MAILBOX_READ_BYTES_MAX, MESSAGE_REMEMBERED_MS, Mail, MailCounts, MailQuery, MailStore, Post, PostRefused,
    Posted, TopicEvent, WaitStore,
};
pub use memory::MemoryStore;
pub use page::{Cursor, Page, PageRequest};
pub use person::PersonStore;
pub use run::{
    AppendError, Claim, ClaimError, Created, Fence, HealthChange, LoggedEvent, NewRun, OwnerId, Revision,
    RunAppend, RunFilter, RunRow, RunStore,
};
pub use scan::{FindingFilter, ScanStore};
pub use trail::{TrailFilter, TrailStore};
