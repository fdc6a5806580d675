//! What the tools of artel take, and what those answer whose answer is no document of the API.

use artel_api::runs::RunRequest;
use artel_model::catalog::{ScanStatus, SourceKind};
use artel_model::message::MessageDocument;
use artel_model::name::{LocalName, SkillName};
use artel_model::run::{ResultDocument, RunState};
use artel_model::version::Version;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

/// Which skills are looked for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchSkills {
    /// What is to be done, in a few words; everything is listed when absent.
    #[serde(default)]
    pub(super) query: Option<String>,
    /// Which page, from 1.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(super) page: Option<u32>,
    /// Skills on a page.
    #[serde(default)]
    #[schemars(range(min = 1, max = 50))]
    pub(super) page_size: Option<u32>,
    /// Only skills with all these tags.
    #[serde(default)]
    pub(super) tags: Vec<String>,
}

/// A skill that was found.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct FoundSkill {
    /// Its name, for the other tools.
    pub(super) name: String,
    /// What people call it.
    pub(super) title: String,
    /// What it does, and when to use it.
    pub(super) description: String,
    /// Labels.
    pub(super) tags: Vec<String>,
    /// Where it comes from.
    pub(super) source: SourceKind,
    /// How it stands with scanners.
    pub(super) scan_status: ScanStatus,
    /// Whether `run_skill` runs it; otherwise it is instructions to be read.
    pub(super) runnable: bool,
}

/// Skills that were found.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct FoundSkills {
    /// The best first.
    pub(super) skills: Vec<FoundSkill>,
    /// How many there are altogether.
    pub(super) total: usize,
    /// Which page this is.
    pub(super) page: u32,
    /// Whether there are further pages.
    pub(super) has_more: bool,
}

/// A skill to be read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadSkill {
    /// Its name.
    #[schemars(with = "String")]
    pub(super) skill: SkillName,
    /// From which byte of the instructions on; the `next_offset` of the call before.
    #[serde(default)]
    pub(super) offset: u64,
}

/// A skill with its instructions, or a part of them.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct SkillText {
    /// Its name.
    pub(super) name: String,
    /// What people call it.
    pub(super) title: String,
    /// What it does, and when to use it.
    pub(super) description: String,
    /// Its version.
    pub(super) version: Option<String>,
    /// The hash over all its files.
    pub(super) content_hash: String,
    /// How it stands with scanners.
    pub(super) scan_status: ScanStatus,
    /// Whether `run_skill` runs it.
    pub(super) runnable: bool,
    /// The JSON Schema of its parameters, when it can be run.
    pub(super) parameters: Option<Value>,
    /// Its files, for `read_skill_file`.
    pub(super) files: Vec<SkillTextFile>,
    /// How many further files it has.
    pub(super) files_left_out: usize,
    /// The instructions, from `offset` on.
    pub(super) content: String,
    /// Where they go on; nothing at the end.
    pub(super) next_offset: Option<u64>,
}

/// A file of a skill.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct SkillTextFile {
    /// Its path.
    pub(super) path: String,
    /// Its size in bytes.
    pub(super) size: u64,
    /// The SHA-256 of its content.
    pub(super) digest: String,
}

/// A file of a skill to be read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadSkillFile {
    /// The skill.
    #[schemars(with = "String")]
    pub(super) skill: SkillName,
    /// The file's path, as `read_skill` lists it.
    pub(super) path: String,
    /// From which byte on; the `next_offset` of the call before.
    #[serde(default)]
    pub(super) offset: u64,
}

/// A file of a skill, or a part of it.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct FilePart {
    /// The file's path.
    pub(super) path: String,
    /// Its size in bytes.
    pub(super) size: u64,
    /// The SHA-256 of all of it.
    pub(super) digest: String,
    /// From which byte on this is.
    pub(super) offset: u64,
    /// The content, when it is text.
    pub(super) text: Option<String>,
    /// The content in base64, when it is not.
    pub(super) base64: Option<String>,
    /// Where it goes on; nothing at the end.
    pub(super) next_offset: Option<u64>,
}

/// A skill to be run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunSkill {
    /// Its name.
    #[schemars(with = "String")]
    pub(super) skill: SkillName,
    /// Its version; the usual one when absent.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub(super) version: Option<Version>,
    /// The script of the skill; the one that it runs by itself when absent.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub(super) script: Option<LocalName>,
    /// The parameters; with `chain`, an object for each skill by its name.
    #[serde(default)]
    pub(super) params: Map<String, Value>,
    /// Whether everything that the skill depends on runs first.
    #[serde(default)]
    pub(super) chain: bool,
    /// Milliseconds that the run may take.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(super) timeout_ms: Option<u64>,
    /// Milliseconds to wait for the end; 0 answers at once, and `get_run` tells the rest.
    #[serde(default)]
    #[schemars(range(min = 0, max = 600_000))]
    pub(super) wait_ms: Option<u64>,
}

impl RunSkill {
    /// Returns what is to be run.
    pub(super) fn request(self) -> RunRequest {
        RunRequest {
            skill: Some(self.skill),
            version: self.version,
            script: self.script,
            params: self.params,
            chain: self.chain,
            plan: None,
            timeout_ms: self.timeout_ms,
        }
    }
}

/// A plan to be run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunPlan {
    /// The plan: `{"requestId": "…", "tools": [{"toolId": "…", "skill": "…", "input": {…}, "dependencies": […]}], …}`.
    pub(super) plan: Map<String, Value>,
    /// Milliseconds that the run may take.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(super) timeout_ms: Option<u64>,
    /// Milliseconds to wait for the end; 0 answers at once, and `get_run` tells the rest.
    #[serde(default)]
    #[schemars(range(min = 0, max = 600_000))]
    pub(super) wait_ms: Option<u64>,
}

/// A run to be read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetRun {
    /// The run.
    pub(super) run_id: Uuid,
    /// Milliseconds to wait for its end; not at all when absent.
    #[serde(default)]
    #[schemars(range(min = 0, max = 600_000))]
    pub(super) wait_ms: Option<u64>,
}

/// Where a run stands, and what came of it.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct RunAnswer {
    /// The run.
    pub(super) run_id: Uuid,
    /// Where it stands.
    pub(super) state: RunState,
    /// Whether it is over.
    pub(super) is_over: bool,
    /// What came of it so far; nothing when that is too large.
    pub(super) result: Option<ResultDocument>,
    /// What else is to be known: why something is left out, and how to get it.
    pub(super) note: Option<String>,
}

/// Messages of a mailbox.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Mail {
    /// The most urgent first, of those the earliest.
    pub(super) items: Vec<MessageDocument>,
    /// Whether there was more than fits into one answer; it is still in the mailbox.
    pub(super) has_more: bool,
}
