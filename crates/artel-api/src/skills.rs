//! Skills of the shared catalog, as they travel.

use std::collections::BTreeSet;

use artel_model::access::{TeamId, UserId};
use artel_model::catalog::{HubKind, Override, ScanStatus, Severity, SourceKind};
use artel_model::limit::{CATALOG_PAGE_SIZE_MAX, CUSTOM_SKILL_FILES_MAX};
use artel_model::name::SkillName;
use artel_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::shapes;

/// What to list.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SkillQuery {
    /// Words to search for.
    pub q: Option<String>,
    /// Which page, from 1.
    #[schemars(range(min = 1))]
    pub page: Option<u32>,
    /// Skills on a page.
    #[schemars(range(min = 1, max = CATALOG_PAGE_SIZE_MAX))]
    pub page_size: Option<u32>,
    /// Only of that source.
    #[schemars(with = "Option<SourceKind>")]
    pub source: Option<String>,
    /// Only what so many see.
    #[serde(default)]
    #[schemars(schema_with = "shapes::visibility")]
    pub visibility: Option<String>,
    /// Only what stands so with scanners.
    #[schemars(with = "Option<ScanStatus>")]
    pub scan_status: Option<String>,
    /// Only what has all these tags, with commas between them.
    pub tags: Option<String>,
    /// Whether instructions and the contents of files come with the skills.
    pub include_content: Option<bool>,
}

/// What to tell of a skill.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EntryQuery {
    /// Whether the contents of files come with it.
    pub include_content: Option<bool>,
}

/// A page of skills.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct SkillList {
    /// The skills.
    pub skills: Vec<SkillEntry>,
    /// Skills that the caller saved and that are held back because of what scanners found; they cannot be run. On the first
    /// page only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_back: Vec<SkillEntry>,
    /// About the list.
    pub meta: SkillListMeta,
}

/// About a list of skills.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct SkillListMeta {
    /// How many skills match altogether.
    pub total: usize,
    /// Which page this is.
    pub page: u32,
    /// Skills on a page.
    pub page_size: usize,
    /// Whether there are further pages.
    pub has_more: bool,
    /// The sources whose content is in the list.
    pub sources_loaded: Vec<String>,
    /// The sources whose content is missing or old.
    pub unavailable_sources: Vec<UnavailableSource>,
    /// `no_matches` when something was asked for and nothing matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// A number that grows whenever something changes that the caller sees; for administrators the number of the catalog.
    pub generation: u64,
}

/// A source whose content is missing or old.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct UnavailableSource {
    /// What kind of source.
    pub source: SourceKind,
    /// Which one, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<String>,
    /// What people call it.
    pub label: String,
    /// `stale` when its last good content is shown, `unavailable` when there is none.
    #[schemars(extend("enum" = ["stale", "unavailable"]))]
    pub state: String,
    /// Since when it is stale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Why.
    pub reason: String,
}

/// A skill.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct SkillEntry {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// Where it comes from.
    pub source: SourceKind,
    /// What people call that.
    pub source_label: String,
    /// The hub or the saved skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<String>,
    /// Its instructions, when they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// What else its files say.
    pub metadata: Map<String, Value>,
    /// Who sees it.
    #[schemars(schema_with = "shapes::visibility")]
    pub visibility: String,
    /// The teams that see it.
    pub team_ids: BTreeSet<TeamId>,
    /// The person who sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_user_id: Option<UserId>,
    /// When it was first there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// When it last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// The hash over all its files.
    pub content_hash: String,
    /// Its files.
    pub files: Vec<SkillFile>,
    /// How many files come without their contents though contents were asked for: they are too large, do not fit into
    /// one answer any more, or have changed; each can be read on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents_left_out: Option<usize>,
    /// How it stands with scanners.
    pub scan_status: ScanStatus,
    /// What scanners said.
    pub scan: SkillScan,
    /// The skill of the same name that is listed instead, when this one is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadowed_by: Option<String>,
    /// Skills of the same name that the caller may see and that are not listed because of this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shadows: Vec<String>,
    /// Whether it is held back because of what scanners found: only its owner sees it, and it cannot be run.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_held_back: bool,
    /// The number of its last change, which its `ETag` begins with; only saved skills have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// What is not wrong but should be known, like a size near the limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// A file of a skill.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct SkillFile {
    /// Its path below the skill's folder.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// The hash of its content.
    pub hash: String,
    /// Whether it may be executed.
    pub is_executable: bool,
    /// Its content, when it was asked for and is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its content in base64, when it was asked for and is not text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

/// What scanners said of a skill.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct SkillScan {
    /// How bad the worst finding is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_severity: Option<Severity>,
    /// Who looked.
    pub engines: Vec<SkillScanEngine>,
    /// Whether rules have changed since, or nobody has looked.
    pub is_stale: bool,
    /// An administrator's word that these files are fine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overridden: Option<Override>,
}

/// What one scanner said of a skill.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct SkillScanEngine {
    /// The scanner.
    pub engine: String,
    /// The version of its rules.
    pub version: String,
    /// How bad the worst finding is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_severity: Option<Severity>,
    /// Whether everything was scanned.
    pub is_complete: bool,
    /// What was not, and why.
    pub gaps: Vec<String>,
    /// When it looked.
    pub scanned_at: Timestamp,
}

/// What to do before answering.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RefreshQuery {
    /// Whether hubs are fetched as well.
    pub include_hubs: Option<bool>,
}

/// What came of reading all sources again.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Refreshed {
    /// How often the supervisor was built.
    pub graph_generation: u64,
    /// How many skills it has.
    pub skills_loaded_count: usize,
    /// The number of the catalog.
    pub generation: u64,
    /// The hash over its content.
    pub content_hash: String,
    /// The sources whose content is missing or old.
    pub unavailable_sources: Vec<UnavailableSource>,
}

/// A saved skill's file, as it is sent: either `text` or `base64`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(transform = shapes::text_or_base64)]
pub struct SentFile {
    /// Its path below the skill's folder.
    #[schemars(schema_with = "shapes::file_path")]
    pub path: String,
    /// Its content, when it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its content in base64, when it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "shapes::base64")]
    pub base64: Option<String>,
    /// Whether it may be executed.
    #[serde(default)]
    pub is_executable: bool,
}

/// A skill to be saved. What is not here cannot be set: who owns it, where it comes from and how it stands with scanners is
/// the server's to say.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(transform = shapes::teams_with_visibility)]
#[schemars(example = json!({
    "name": "make-tea", "title": "Make tea", "description": "Makes tea. Use it when a guest is thirsty.",
    "content": "Boil water, wait until it has 95 degrees, and pour it over the leaves.", "metadata": {"version": "1.0.0"},
    "files": [{"path": "references/kinds.md", "text": "green: 80 degrees"}],
}))]
pub struct SkillDraft {
    /// Its name.
    #[schemars(with = "SkillName")]
    pub name: String,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "shapes::title")]
    pub title: Option<String>,
    /// What it is for.
    #[schemars(schema_with = "shapes::description")]
    pub description: String,
    /// Its instructions.
    #[schemars(schema_with = "shapes::instructions")]
    pub content: String,
    /// Further fields of the frontmatter.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(schema_with = "shapes::metadata")]
    pub metadata: Map<String, Value>,
    /// Who sees it.
    #[serde(default = "personal")]
    #[schemars(schema_with = "shapes::visibility")]
    pub visibility: String,
    /// The teams that see it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "shapes::team_ids")]
    pub team_ids: Vec<String>,
    /// Its other files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = CUSTOM_SKILL_FILES_MAX - 1))]
    pub files: Vec<SentFile>,
}

fn personal() -> String {
    "personal".to_owned()
}

/// One change of a saved skill.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct SkillHistoryEntry {
    /// The number of the change.
    pub revision: u64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: UserId,
    /// Whether it was deleted.
    pub is_deleted: bool,
    /// What it said; nothing when it was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<SkillDraft>,
    /// The hash over all its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
}

/// Which page of a long list.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistoryQuery {
    /// Where the page begins: the `next` of the page before; nothing for the first.
    #[serde(default)]
    #[schemars(schema_with = "shapes::cursor")]
    pub after: Option<String>,
    /// Changes on a page.
    #[schemars(range(min = 1, max = CATALOG_PAGE_SIZE_MAX))]
    pub limit: Option<usize>,
}

/// What an uploaded archive says otherwise; only for `application/zip`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArchiveQuery {
    /// The skill's name, instead of the one in its `SKILL.md`.
    #[schemars(with = "Option<SkillName>")]
    pub name: Option<String>,
    /// What people call it, instead of what its `SKILL.md` says.
    #[serde(default)]
    #[schemars(schema_with = "shapes::title")]
    pub title: Option<String>,
    /// Who sees it; its owner alone when absent.
    #[serde(default)]
    #[schemars(schema_with = "shapes::visibility")]
    pub visibility: Option<String>,
    /// The teams that see it, with commas between them; for the visibility `team`.
    #[serde(default)]
    #[schemars(schema_with = "shapes::team_list")]
    pub team_ids: Option<String>,
}

/// How a file of a saved skill is put there.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FilePutQuery {
    /// Whether the file may be executed; a file that is replaced stays what it was when nothing is said.
    pub executable: Option<bool>,
}

/// A skill to be taken over from a repository: a copy of what is there at this moment.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(transform = shapes::teams_with_visibility)]
#[schemars(example = json!({"type": "github", "location": "example/skills", "path": "make-tea"}))]
pub struct SkillImport {
    /// What kind of place it is.
    #[serde(rename = "type", default = "github")]
    #[schemars(with = "HubKind")]
    pub kind: String,
    /// Where it is: `owner/repository` at GitHub, or a URL.
    #[schemars(schema_with = "shapes::location")]
    pub location: String,
    /// A branch, a tag or a commit; nothing for the usual branch.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "shapes::reference")]
    pub reference: Option<String>,
    /// The skill's folder in the repository; needed when there are several skills.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The name of the environment variable with the token; administrators only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "shapes::credentials_ref")]
    pub credentials_ref: Option<String>,
    /// Who sees it.
    #[serde(default = "personal")]
    #[schemars(schema_with = "shapes::visibility")]
    pub visibility: String,
    /// The teams that see it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "shapes::team_ids")]
    pub team_ids: Vec<String>,
}

fn github() -> String {
    "github".to_owned()
}
