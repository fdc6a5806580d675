//! API keys: what is asked for, and what may be shown of them.

use std::collections::BTreeSet;

use artel_model::access::{Scope, TeamId, UserId};
use artel_model::limit::{API_PAGE_ITEMS_MAX, CUSTOM_TEAMS_MAX};
use artel_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::shapes;

/// An API key that somebody wants.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"label": "nightly build", "scopes": ["catalog:read", "runs:write"]}))]
pub struct KeyRequest {
    /// What it is for.
    #[serde(default)]
    #[schemars(schema_with = "shapes::key_label")]
    pub label: String,
    /// What it may be used for: `catalog:read` when absent, and never more than its maker may do.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub scopes: Option<BTreeSet<Scope>>,
    /// The teams whose skills it sees: all of its maker's when absent, and never others.
    #[serde(default)]
    #[schemars(length(max = CUSTOM_TEAMS_MAX))]
    pub team_ids: Option<BTreeSet<TeamId>>,
    /// Until when it is good; for ever when absent.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// Whose it is: an administrator's to say, everybody else makes their own.
    #[serde(default)]
    pub owner_user_id: Option<UserId>,
}

/// An API key, without its secret.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Key {
    /// The part that may be shown.
    pub key_id: String,
    /// What it is for.
    pub label: String,
    /// Whose it is.
    pub owner_user_id: UserId,
    /// The teams whose skills it sees.
    pub team_ids: BTreeSet<TeamId>,
    /// What it may be used for.
    pub scopes: BTreeSet<Scope>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Until when it is good; nothing for ever.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
}

/// An API key that was just made.
#[derive(Clone, Deserialize, JsonSchema, Serialize)]
pub struct MadeKey {
    /// The key itself. It is shown here and never again.
    pub key: String,
    /// What is kept of it.
    pub record: Key,
}

/// Which keys a list holds.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct KeysQuery {
    /// Whose; an administrator's to say, everybody else sees their own.
    #[serde(default)]
    #[schemars(with = "Option<UserId>")]
    pub owner: Option<String>,
    /// Where the page begins: the `next` of the page before.
    #[serde(default)]
    #[schemars(schema_with = "shapes::cursor")]
    pub after: Option<String>,
    /// Keys on a page.
    #[serde(default)]
    #[schemars(range(min = 1, max = API_PAGE_ITEMS_MAX))]
    pub limit: Option<u32>,
}
