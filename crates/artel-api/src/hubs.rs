//! Hubs, as they travel. Never a secret: credentials are the name of a variable.

use artel_model::access::UserId;
use artel_model::catalog::HubKind;
use artel_model::limit::HUB_PATH_RULES_MAX;
use artel_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::shapes;

/// A hub to be registered, or to be looked at without being saved.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(transform = shapes::teams_with_visibility)]
#[schemars(example = json!({"type": "github", "location": "example/skills", "include_paths": ["kitchen"]}))]
pub struct HubDraft {
    /// What kind of place.
    #[serde(rename = "type")]
    #[schemars(with = "HubKind")]
    pub kind: String,
    /// Where: `owner/repo`, or a URL.
    #[schemars(schema_with = "shapes::location")]
    pub location: String,
    /// A branch, a tag or a commit; nothing for the usual branch.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "shapes::reference")]
    pub reference: Option<String>,
    /// Folders to look in; none for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "shapes::folders")]
    pub include_paths: Vec<String>,
    /// Whether its skills are in the catalog.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// The name of the environment variable of the server that holds its token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "shapes::credentials_ref")]
    pub credentials_ref: Option<String>,
    /// Who sees its skills.
    #[serde(default = "global")]
    #[schemars(schema_with = "shapes::visibility")]
    pub visibility: String,
    /// The teams that see its skills.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "shapes::team_ids")]
    pub team_ids: Vec<String>,
    /// The person who sees its skills; nothing for the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<UserId>")]
    pub owner_user_id: Option<String>,
    /// Who sees the skills in some of its folders; the innermost folder counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = HUB_PATH_RULES_MAX))]
    pub paths: Vec<HubPathRule>,
}

/// Who sees the skills in a folder of a hub.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(transform = shapes::teams_with_visibility)]
pub struct HubPathRule {
    /// The folder.
    pub path: String,
    /// Who sees them.
    #[schemars(schema_with = "shapes::visibility")]
    pub visibility: String,
    /// The teams that see them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "shapes::team_ids")]
    pub team_ids: Vec<String>,
    /// The person who sees them; nothing for who registered the hub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<UserId>")]
    pub owner_user_id: Option<String>,
}

fn global() -> String {
    "global".to_owned()
}

fn yes() -> bool {
    true
}

/// What is to be changed of a hub; what is not said stays.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"enabled": false, "ref": "stable"}))]
pub struct HubChange {
    /// Whether its skills are in the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// A branch, a tag or a commit; empty for the usual branch.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "shapes::reference_or_empty")]
    pub reference: Option<String>,
    /// Folders to look in; none for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "shapes::folders")]
    pub include_paths: Option<Vec<String>>,
    /// The name of the variable that holds its token; empty for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "shapes::credentials_ref_or_empty")]
    pub credentials_ref: Option<String>,
    /// Who sees its skills; `team_ids` and `owner_user_id` are taken with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "shapes::visibility")]
    pub visibility: Option<String>,
    /// The teams that see its skills; only with `visibility`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "shapes::team_ids")]
    pub team_ids: Vec<String>,
    /// The person who sees its skills; only with `visibility`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<UserId>")]
    pub owner_user_id: Option<String>,
    /// Who sees the skills in some of its folders, instead of all rules so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = HUB_PATH_RULES_MAX))]
    pub paths: Option<Vec<HubPathRule>>,
}

/// A hub.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct HubView {
    /// Its id.
    pub id: String,
    /// What kind of place it is.
    #[serde(rename = "type")]
    #[schemars(with = "HubKind")]
    pub kind: String,
    /// Where it is.
    pub location: String,
    /// A branch, a tag or a commit.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Folders to look in; none for all.
    pub include_paths: Vec<String>,
    /// Whether its skills are in the catalog.
    pub enabled: bool,
    /// The name of the variable that holds its token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials_ref: Option<String>,
    /// Who sees its skills.
    #[serde(default = "global")]
    #[schemars(schema_with = "shapes::visibility")]
    pub visibility: String,
    /// The teams that see its skills.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "shapes::team_ids")]
    pub team_ids: Vec<String>,
    /// The person who sees its skills.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<UserId>")]
    pub owner_user_id: Option<String>,
    /// Who sees the skills in some of its folders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<HubPathRule>,
    /// When its content was last known to be current.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_success_at: Option<Timestamp>,
    /// When it last failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure_at: Option<Timestamp>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure_message: Option<String>,
    /// What is published of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// How many skills it has.
    pub skills_count: u64,
    /// Caps that were reached and skills that were skipped.
    pub warnings: Vec<String>,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When somebody last changed it.
    pub updated_at: Timestamp,
    /// Who registered it.
    pub created_by: UserId,
}

/// All hubs, in the order in which they were registered.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct HubList {
    /// The hubs.
    pub hubs: Vec<HubView>,
}

/// What a hub would give, without saving it.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct CrawlAnswer {
    /// The folders of skills.
    pub paths: Vec<String>,
    /// The skills.
    pub skills_preview: Vec<CrawledSkill>,
    /// Caps that were reached and skills that were skipped.
    pub warnings: Vec<String>,
    /// Why there is nothing to see.
    pub error: Option<String>,
}

/// A skill that a hub would give.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct CrawledSkill {
    /// Its folder.
    pub path: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// How many other files it has.
    pub ancillary_file_count: usize,
}

/// One line of a crawl that is streamed.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum CrawlEvent {
    /// It goes on.
    Progress {
        /// What is being done.
        message: String,
        /// How far it has come.
        step: CrawlStep,
    },
    /// It is over.
    Done {
        /// What the hub would give.
        result: CrawlAnswer,
    },
}

/// How far a crawl has come.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum CrawlStep {
    /// The hub is asked what it has.
    Resolving,
    /// Its content arrives.
    Fetching {
        /// How much has arrived.
        bytes: u64,
    },
    /// Its content is read.
    Reading {
        /// Files that were read.
        done: usize,
        /// Files there are.
        total: usize,
    },
    /// Everything was read.
    Done {
        /// Skills that were found.
        skills: usize,
    },
}
