//! What an operator sets about skills, how well they do, and who is asking: as it travels. Never a secret.

use std::collections::{BTreeMap, BTreeSet};

use artel_model::access::{Scope, TeamId, UserId};
use artel_model::health::Health;
use artel_model::limit::BUNDLE_SKILLS_MAX;
use artel_model::name::SkillName;
use artel_model::version::Version;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::shapes;
use crate::skills::SkillFile;

/// Skills whose files are asked for.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"ids": ["default/make-tea"]}))]
pub struct BundleRequest {
    /// Their ids.
    #[schemars(length(min = 1, max = BUNDLE_SKILLS_MAX))]
    pub ids: Vec<String>,
}

/// How well skills do that the caller sees; what is not there has not run.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct SkillHealthList {
    /// The skills, by name.
    pub items: Vec<SkillHealthEntry>,
}

/// How well a skill does.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct SkillHealthEntry {
    /// The skill.
    pub skill: SkillName,
    /// The hash of the files that did so well or badly.
    pub content_hash: String,
    /// How well.
    #[schemars(extend("enum" = Health::WORDS))]
    pub health: String,
    /// Failures since the last success.
    pub failures: u32,
}

/// What is set for a skill, with secrets masked.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct SkillSettings {
    /// Every setting there is; none when the skill has no `config-schema.json`.
    pub items: Vec<SkillSetting>,
    /// What a script of it would get in a run of the caller; nothing when that is nothing, or cannot be said because of problems.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<Map<String, Value>>,
    /// Why no script of it could start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Variables that the settings name and that scripts do not get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Where they are kept on the server; told only to whoever changed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_in: Option<String>,
}

/// One setting of a skill.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct SkillSetting {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it means.
    pub description: Option<String>,
    /// Whether it must be set.
    pub required: bool,
    /// Whether its value is never shown.
    pub sensitive: bool,
    /// The environment variable that sets it when nobody does.
    pub env_var: Option<String>,
    /// Where a form puts it.
    pub category: Option<String>,
    /// The value it has when nobody sets it.
    pub default: Option<Value>,
    /// What the operator set, for every caller.
    pub value: Option<Value>,
    /// What the caller set, for their own runs and agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub personal: Option<Value>,
    /// Whether callers may have a value of their own.
    #[serde(default)]
    pub may_be_personal: bool,
}

/// What is to be changed of a skill's settings; what is not named stays.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"set": {"style": "noir"}, "unset": ["volume"]}))]
pub struct SettingsChange {
    /// Values by the names of settings.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub set: Map<String, Value>,
    /// Settings to be forgotten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unset: Vec<String>,
}

/// What is switched off, and which versions were chosen.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct SkillSwitches {
    /// Skills that are off, also those that are gone.
    pub disabled: Vec<SkillName>,
    /// Versions that look-ups by name give.
    #[schemars(with = "BTreeMap<String, String>")]
    pub chosen: BTreeMap<SkillName, Version>,
    /// Those that are off and there: they are in no list, and can be fetched by their ids.
    pub off: Vec<SwitchedOff>,
}

/// A skill that is switched off.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct SwitchedOff {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: SkillName,
    /// The hash over all its files.
    pub content_hash: String,
    /// Its files.
    pub files: Vec<SkillFile>,
}

/// How a skill is to be switched.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"enabled": true, "version": "1.2.0"}))]
pub struct SwitchChange {
    /// Whether it is on.
    pub enabled: bool,
    /// The version that its name shall mean; without one, that of a skill that is switched on is the usual one again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "shapes::version")]
    pub version: Option<Version>,
}

/// How a skill is switched.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct SkillSwitch {
    /// The skill.
    pub name: SkillName,
    /// Whether it is on.
    pub enabled: bool,
    /// The version that was chosen.
    #[schemars(schema_with = "shapes::version_or_null")]
    pub version: Option<Version>,
}

/// Who is asking.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Whoami {
    /// The user.
    pub user: UserId,
    /// The teams the user belongs to.
    pub teams: BTreeSet<TeamId>,
    /// What the credential may be used for.
    pub scopes: BTreeSet<Scope>,
    /// How they proved it, in words; nothing secret.
    pub credential: String,
    /// The server's version.
    pub version: String,
}
