//! What `artel.toml` may say about running things: where runs are kept, how long they may take, what scripts may use.

use std::fmt;
use std::num::NonZero;

use artel_engine::SandboxMode;
use artel_engine::process::ProcessLimits;
use artel_model::limit;
use artel_model::user_range::UserRange;
use camino::Utf8PathBuf;
use serde::Deserialize;

use crate::failure::Failure;

/// Where runs are kept.
#[derive(Clone, Eq, PartialEq)]
pub(crate) enum StoreChoice {
    /// In an SQLite file.
    File(Utf8PathBuf),
    /// In a PostgreSQL database.
    Postgres(String),
}

impl StoreChoice {
    pub(super) fn read(text: &str) -> Self {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Self::Postgres(text.to_owned());
        }
        Self::File(text.strip_prefix("sqlite:").unwrap_or(text).into())
    }
}

/// The password of a database is not shown.
impl fmt::Display for StoreChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = match self {
            Self::File(path) => return path.fmt(f),
            Self::Postgres(url) => url,
        };
        let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
        // What stands behind a question mark may be a password too.
        let rest = rest.split('?').next().unwrap_or_default();
        match rest.rsplit_once('@') {
            Some((user, place)) => {
                let user = user.split(':').next().unwrap_or_default();
                write!(f, "{scheme}://{user}@{place}")
            }
            None => write!(f, "{scheme}://{rest}"),
        }
    }
}

impl fmt::Debug for StoreChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Reads how scripts are kept apart from the machine.
pub(super) fn sandbox_mode(text: &str, from: &str) -> Result<SandboxMode, Failure> {
    match text {
        "enforce" => Ok(SandboxMode::Enforce),
        "best-effort" => Ok(SandboxMode::BestEffort),
        "off" => Ok(SandboxMode::Off),
        _ => Err(Failure::usage(format!("{from} must be enforce, best-effort or off, not `{text}`"))),
    }
}

/// Which users scripts run as where artel is root.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SandboxUsersChoice {
    /// Those of the usual range, where the machine has them.
    Auto,
    /// The user who runs artel.
    Off,
    /// Those of this range.
    Range(UserRange),
}

impl SandboxUsersChoice {
    pub(super) fn read(text: &str) -> Result<Self, Failure> {
        match text {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            range => range.parse().map(Self::Range).map_err(|error| {
                Failure::usage(format!(
                    "`sandbox_users` is auto, off or a range of users, not `{range}`: {error}"
                ))
            }),
        }
    }

    /// Returns the range that scripts would get their users from.
    pub(crate) fn range(self) -> Option<UserRange> {
        match self {
            Self::Auto => Some(UserRange::USUAL),
            Self::Off => None,
            Self::Range(range) => Some(range),
        }
    }
}

impl fmt::Display for SandboxUsersChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Off => f.write_str("off"),
            Self::Range(range) => range.fmt(f),
        }
    }
}

/// What `[run]` may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunTable {
    deadline_ms: Option<NonZero<u64>>,
    grace_ms: Option<u64>,
    slots: Option<NonZero<usize>>,
    processes: Option<NonZero<usize>>,
    runs: Option<NonZero<usize>>,
}

/// How long runs may take, and how many at once.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct RunSettings {
    /// Milliseconds a whole run may take.
    pub(crate) deadline_ms: u64,
    /// Milliseconds between SIGTERM and SIGKILL.
    pub(crate) grace_ms: u64,
    /// Steps of one run that may run at once.
    pub(crate) slots: usize,
    /// Processes that may run at once.
    pub(crate) processes: usize,
    /// Runs that may go on at once.
    pub(crate) runs: usize,
}

/// Processes for every core, when nobody says otherwise.
const PROCESSES_PER_CORE: usize = 2;

impl RunTable {
    pub(super) fn settings(&self) -> RunSettings {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        RunSettings {
            deadline_ms: self.deadline_ms.map_or(limit::RUN_DEADLINE_MS, NonZero::get),
            grace_ms: self.grace_ms.unwrap_or(limit::GRACE_MS),
            slots: self.slots.map_or(cores, NonZero::get),
            processes: self.processes.map_or(cores * PROCESSES_PER_CORE, NonZero::get),
            runs: self.runs.map_or(limit::RUNS_MAX, NonZero::get),
        }
    }
}

/// What `[sandbox_grants]` may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GrantsTable {
    #[serde(default)]
    network: Vec<String>,
    #[serde(default)]
    read: Vec<Utf8PathBuf>,
    #[serde(default)]
    write: Vec<Utf8PathBuf>,
    #[serde(default)]
    env: Vec<String>,
    #[serde(default)]
    path: Vec<Utf8PathBuf>,
    #[serde(default)]
    shared_data: Vec<String>,
}

/// What skills may have of what they ask for beyond the usual.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct GrantSettings {
    /// Skills that may use the network; `*` stands for anything.
    pub(crate) network: Vec<String>,
    /// Folders below which skills may read.
    pub(crate) read: Vec<Utf8PathBuf>,
    /// Folders below which skills may write.
    pub(crate) write: Vec<Utf8PathBuf>,
    /// Environment variables that skills may see; `*` stands for anything.
    pub(crate) env: Vec<String>,
    /// Folders with programs that scripts find besides the system's.
    pub(crate) path: Vec<Utf8PathBuf>,
    /// Ids of skills that may share their data with every caller.
    pub(crate) shared_data: Vec<String>,
}

impl GrantsTable {
    pub(super) fn settings(self) -> GrantSettings {
        let Self { network, read, write, env, path, shared_data } = self;
        GrantSettings { network, read, write, env, path, shared_data }
    }
}

/// What `[script_limits]` may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptLimitsTable {
    cpu_s: Option<NonZero<u64>>,
    memory_bytes: Option<NonZero<u64>>,
    open_files: Option<NonZero<u64>>,
    processes: Option<NonZero<u64>>,
    file_bytes: Option<NonZero<u64>>,
    folder_bytes: Option<NonZero<u64>>,
}

impl ScriptLimitsTable {
    pub(super) fn limits(&self) -> ProcessLimits {
        let or = |value: Option<NonZero<u64>>, usual: u64| value.map_or(usual, NonZero::get);
        ProcessLimits {
            cpu_s: or(self.cpu_s, limit::SCRIPT_CPU_S),
            memory_bytes: or(self.memory_bytes, limit::SCRIPT_MEMORY_BYTES),
            open_files: or(self.open_files, limit::SCRIPT_OPEN_FILES),
            processes: or(self.processes, limit::SCRIPT_PROCESSES),
            file_bytes: or(self.file_bytes, limit::SCRIPT_FILE_BYTES),
            folder_bytes: or(self.folder_bytes, limit::SCRIPT_FOLDER_BYTES),
        }
    }
}

/// What `[planner]` may say.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlannerTable {
    #[serde(default)]
    kind: PlannerKind,
    #[serde(default)]
    protocol: PlannerProtocol,
    url: Option<String>,
    model: Option<String>,
    api_key_env: Option<String>,
    #[serde(default)]
    command: Vec<String>,
    timeout_ms: Option<NonZero<u64>>,
}

/// Who makes plans.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PlannerKind {
    /// Words and schemas, without any network.
    #[default]
    Pattern,
    /// A language model.
    Llm,
    /// A program of the operator.
    Command,
}

/// How a language model is spoken to.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PlannerProtocol {
    /// As OpenAI's, and of servers that do as it does.
    #[default]
    Openai,
    /// As Anthropic's.
    Anthropic,
}

/// Who makes plans, and how they are reached.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct PlannerSettings {
    pub(crate) kind: PlannerKind,
    pub(crate) protocol: PlannerProtocol,
    /// Where the model is.
    pub(crate) url: Option<String>,
    /// Which model.
    pub(crate) model: Option<String>,
    /// The environment variable that holds the key.
    pub(crate) api_key_env: Option<String>,
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    /// Milliseconds one plan may take to make.
    pub(crate) timeout_ms: Option<u64>,
}

impl PlannerTable {
    pub(super) fn settings(self) -> Result<PlannerSettings, Failure> {
        let missing = |what: &str, kind: &str| {
            Err(Failure::usage(format!("[planner] of the kind {kind} needs `{what}`")))
        };
        match self.kind {
            PlannerKind::Pattern => {}
            PlannerKind::Llm if self.model.is_none() => return missing("model", "llm"),
            PlannerKind::Command if self.command.is_empty() => return missing("command", "command"),
            PlannerKind::Llm | PlannerKind::Command => {}
        }
        Ok(PlannerSettings {
            kind: self.kind,
            protocol: self.protocol,
            url: self.url,
            model: self.model,
            api_key_env: self.api_key_env,
            command: self.command,
            timeout_ms: self.timeout_ms.map(NonZero::get),
        })
    }
}

impl PlannerKind {
    /// Returns the word that people use.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Pattern => "pattern",
            Self::Llm => "llm",
            Self::Command => "command",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let shown = |text: &str| StoreChoice::read(text).to_string();
        assert_eq!(shown("postgres://ada:secret@db.example/runs"), "postgres://ada@db.example/runs");
        assert_eq!(shown("postgresql://ada:p@ss@db/runs?password=secret"), "postgresql://ada@db/runs");
        assert_eq!(shown("postgres://db/runs"), "postgres://db/runs");
        assert_eq!(shown("runs.db"), "runs.db");
        assert_eq!(StoreChoice::read("sqlite:runs.db"), StoreChoice::File("runs.db".into()));
    }
}
