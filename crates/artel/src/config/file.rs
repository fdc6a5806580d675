//! `artel.toml`.

use std::num::NonZero;

use artel_catalog::{FolderLimits, Keep, LoadOptions};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use super::agents::{AgentsTable, ClientsTable, LlmTable};
use super::chat::ChatTable;
use super::running::{GrantsTable, PlannerTable, RunTable, ScriptLimitsTable};
use super::server::{HubsTable, OidcSettings, QuotasTable, ScannerTable, ServerTable};
use super::telemetry::TelemetryTable;
use crate::failure::Failure;

/// What `artel.toml` may say. Unknown keys are refused, so that a misspelt one is not ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfigFile {
    /// Folders to search for skills.
    pub(super) skills_dirs: Option<Vec<Utf8PathBuf>>,
    /// Folder for artel's own data.
    pub(super) data: Option<Utf8PathBuf>,
    /// Skills that a prompt lists; 0 for all.
    pub(super) max_skill_summaries_in_prompt: Option<usize>,
    /// Environment variables that skills' settings may name; `*` stands for anything.
    pub(super) skill_env: Option<Vec<String>>,
    /// How much is taken in.
    pub(super) limits: Option<LimitsTable>,
    /// Where runs are kept: a file, or `postgres://...`.
    pub(super) store: Option<String>,
    /// How scripts are kept apart from the machine: enforce, best-effort or off.
    pub(super) sandbox: Option<String>,
    /// The users that scripts run as where artel is root: auto, off, or a range of numbers.
    pub(super) sandbox_users: Option<String>,
    /// The control group for scripts: auto, off, or a folder.
    pub(super) cgroup: Option<String>,
    /// Days after which ended runs are removed; without it they are kept.
    pub(super) retention_days: Option<NonZero<u32>>,
    /// How long runs may take, and how many at once.
    pub(super) run: Option<RunTable>,
    /// What skills may have of what they ask for.
    pub(super) sandbox_grants: Option<GrantsTable>,
    /// How much a script may use.
    pub(super) script_limits: Option<ScriptLimitsTable>,
    /// Who makes plans.
    pub(super) planner: Option<PlannerTable>,
    /// How many agents there may be, and what they may do.
    pub(super) agents: Option<AgentsTable>,
    /// The model that works for agents.
    pub(super) llm: Option<LlmTable>,
    /// How programs of others work for agents.
    pub(super) clients: Option<ClientsTable>,
    /// What carries messages to other processes: `redis://...`.
    pub(super) bus: Option<String>,
    /// Where numbers about the process are kept.
    pub(super) metrics: Option<Utf8PathBuf>,
    /// Where the server listens, and how it behaves.
    pub(super) server: Option<ServerTable>,
    /// How much each user may have.
    pub(super) quotas: Option<QuotasTable>,
    /// Whose tokens are accepted.
    pub(super) oidc: Option<OidcSettings>,
    /// Where hubs may be.
    pub(super) hubs: Option<HubsTable>,
    /// Which skills are served.
    pub(super) scanner: Option<ScannerTable>,
    /// Who answers in the chat.
    pub(super) chat: Option<ChatTable>,
    /// Where traces go.
    pub(super) telemetry: Option<TelemetryTable>,
}

/// Every key, for who misspelt one.
const KEYS: &str = "skills_dirs, data, max_skill_summaries_in_prompt, skill_env, limits, store, sandbox, sandbox_users, \
                    cgroup, retention_days, run, sandbox_grants, script_limits, planner, agents, llm, clients, bus, \
                    metrics, server, quotas, oidc, hubs, scanner, chat, telemetry";

/// What `[limits]` may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitsTable {
    /// Files in one skill's folder.
    pub(super) skill_files: Option<NonZero<usize>>,
    /// Bytes of all files in one skill's folder.
    pub(super) skill_bytes: Option<NonZero<u64>>,
    /// Folders visited in one search for skills.
    pub(super) discovery_folders: Option<NonZero<usize>>,
    /// Levels below a skills folder that are searched.
    pub(super) discovery_depth: Option<NonZero<usize>>,
}

impl LimitsTable {
    /// Returns the usual limits with what the table says instead.
    pub(super) fn options(&self) -> LoadOptions {
        let usual = LoadOptions::from(Keep::Descriptions);
        LoadOptions {
            folder: FolderLimits {
                files_max: self.skill_files.map_or(usual.folder.files_max, NonZero::get),
                bytes_max: self.skill_bytes.map_or(usual.folder.bytes_max, NonZero::get),
            },
            folders_max: self.discovery_folders.map_or(usual.folders_max, NonZero::get),
            depth_max: self.discovery_depth.map_or(usual.depth_max, NonZero::get),
            ..usual
        }
    }
}

impl ConfigFile {
    /// Reads the file at `path`.
    pub(super) fn read(path: &Utf8Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::missing(format!("cannot read the configuration `{path}`: {error}")))?;
        toml::from_str(&text).map_err(|error| {
            let place = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
            let at = place.map(|line| format!(":{line}")).unwrap_or_default();
            Failure::usage(format!("{path}{at}: {}", error.message())).hint(format!("the keys are: {KEYS}"))
        })
    }
}
