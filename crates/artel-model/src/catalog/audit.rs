//! The audit log: who changed what, when, and from where.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::UserId;
use crate::time::Timestamp;

/// What was done.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditAction {
    /// A hub was registered.
    HubCreated,
    /// A hub was changed.
    HubUpdated,
    /// A hub was removed.
    HubDeleted,
    /// The skills of a hub were scanned again.
    HubRescanned,
    /// An API key was made.
    KeyCreated,
    /// An API key was revoked.
    KeyRevoked,
    /// A skill was saved for the first time.
    SkillCreated,
    /// A skill was saved again.
    SkillUpdated,
    /// A skill was deleted.
    SkillDeleted,
    /// A skill was scanned again.
    SkillRescanned,
    /// A verdict was overridden.
    OverrideCreated,
    /// An override was taken back.
    OverrideDeleted,
    /// What an agent may call was decided: it was spawned.
    PolicyCreated,
    /// A setting or a switch of a skill was changed.
    SettingChanged,
    /// Runs that ended long ago were removed.
    RunsPruned,
    /// Agents that ended long ago were removed.
    AgentsPruned,
}

impl AuditAction {
    /// Every action.
    pub const ALL: [Self; 16] = [
        Self::HubCreated,
        Self::HubUpdated,
        Self::HubDeleted,
        Self::HubRescanned,
        Self::KeyCreated,
        Self::KeyRevoked,
        Self::SkillCreated,
        Self::SkillUpdated,
        Self::SkillDeleted,
        Self::SkillRescanned,
        Self::OverrideCreated,
        Self::OverrideDeleted,
        Self::PolicyCreated,
        Self::SettingChanged,
        Self::RunsPruned,
        Self::AgentsPruned,
    ];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HubCreated => "hub_created",
            Self::HubUpdated => "hub_updated",
            Self::HubDeleted => "hub_deleted",
            Self::HubRescanned => "hub_rescanned",
            Self::KeyCreated => "key_created",
            Self::KeyRevoked => "key_revoked",
            Self::SkillCreated => "skill_created",
            Self::SkillUpdated => "skill_updated",
            Self::SkillDeleted => "skill_deleted",
            Self::SkillRescanned => "skill_rescanned",
            Self::OverrideCreated => "override_created",
            Self::OverrideDeleted => "override_deleted",
            Self::PolicyCreated => "policy_created",
            Self::SettingChanged => "setting_changed",
            Self::RunsPruned => "runs_pruned",
            Self::AgentsPruned => "agents_pruned",
        }
    }
}

/// One entry.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct AuditEntry {
    /// Its id.
    pub id: Uuid,
    /// When.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// Who.
    pub user: UserId,
    /// How they proved who they are; nothing secret.
    pub credential: String,
    /// From where: the address of the caller; nothing for somebody at the machine itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What.
    pub action: AuditAction,
    /// To what: the id of the hub, the key, the skill or the agent, or a hash.
    pub subject: String,
    /// In words, for people; nothing secret.
    pub summary: String,
}
