//! Puts the configuration together, remembering where every value came from.

use std::fmt;
use std::num::NonZero;

use artel_catalog::{Keep, LoadOptions};
use artel_engine::SandboxMode;
use artel_engine::process::{CgroupChoice, ProcessLimits};
use camino::{Utf8Path, Utf8PathBuf};

use super::agents::{AgentSettings, AgentsTable, BusChoice, ClientSettings, ClientsTable, LlmSettings};
use super::chat::{AnsweredBy, ChatTable};
use super::environment::Environment;
use super::file::ConfigFile;
use super::remote::{RemoteSettings, remote};
use super::running::{
    GrantSettings, GrantsTable, PlannerSettings, PlannerTable, RunSettings, RunTable, SandboxUsersChoice,
    ScriptLimitsTable, StoreChoice, sandbox_mode,
};
use super::server::{
    HubSettings, HubsTable, OidcSettings, QuotaSettings, QuotasTable, ScannerSettings, ServerSettings,
};
use super::telemetry::TelemetrySettings;
use crate::cli::{GlobalArgs, SandboxChoice};
use crate::failure::Failure;

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

/// Where a value came from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Origin {
    Default,
    File(Utf8PathBuf),
    Environment(&'static str),
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => path.fmt(f),
            Self::Environment(name) => write!(f, "${name}"),
            Self::Flag(name) => write!(f, "--{name}"),
        }
    }
}

/// The effective configuration.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// The configuration file, if there is one.
    pub(crate) file: Option<Utf8PathBuf>,
    /// Folders to search for skills, the first wins by name.
    pub(crate) skills_dirs: Setting<Vec<Utf8PathBuf>>,
    /// Folder for artel's own data.
    pub(crate) data: Setting<Utf8PathBuf>,
    /// Skills that a prompt lists; all when absent.
    pub(crate) prompt_skills_max: Setting<Option<usize>>,
    /// Environment variables that skills' settings may name.
    pub(crate) skill_env: Setting<Vec<String>>,
    /// How much is taken in when skills are loaded.
    pub(crate) limits: Setting<LoadOptions>,
    /// Where runs are kept.
    pub(crate) store: Setting<StoreChoice>,
    /// Whether scripts run in a sandbox.
    pub(crate) sandbox: Setting<SandboxMode>,
    /// The users that scripts run as where artel is root.
    pub(crate) sandbox_users: Setting<SandboxUsersChoice>,
    /// The control group that scripts are in.
    pub(crate) cgroup: Setting<CgroupChoice>,
    /// Days after which ended runs are removed; never when absent.
    pub(crate) retention_days: Setting<Option<u32>>,
    /// How long runs may take, and how many at once.
    pub(crate) run: Setting<RunSettings>,
    /// What skills may have of what they ask for.
    pub(crate) grants: Setting<GrantSettings>,
    /// How much a script may use.
    pub(crate) script_limits: Setting<ProcessLimits>,
    /// Who makes plans.
    pub(crate) planner: Setting<PlannerSettings>,
    /// How many agents there may be, and what they may do.
    pub(crate) agents: Setting<AgentSettings>,
    /// The model that works for agents.
    pub(crate) llm: Setting<LlmSettings>,
    /// How programs of others work for agents.
    pub(crate) clients: Setting<ClientSettings>,
    /// What carries messages to other processes.
    pub(crate) bus: Setting<BusChoice>,
    /// Where numbers about the process are kept; nowhere when absent.
    pub(crate) metrics: Setting<Option<Utf8PathBuf>>,
    /// Where the server listens, and how it behaves.
    pub(crate) server: Setting<ServerSettings>,
    /// How much each user may have.
    pub(crate) quotas: Setting<QuotaSettings>,
    /// Whose tokens are accepted; nobody's when absent.
    pub(crate) oidc: Setting<Option<OidcSettings>>,
    /// Where hubs may be.
    pub(crate) hubs: Setting<HubSettings>,
    /// Which skills are served.
    pub(crate) scanner: Setting<ScannerSettings>,
    /// Who answers in the chat.
    pub(crate) chat: Setting<AnsweredBy>,
    /// The server that commands work on; the data folder when absent.
    pub(crate) remote: Setting<Option<RemoteSettings>>,
    /// Where traces go.
    pub(crate) telemetry: Setting<TelemetrySettings>,
    /// The environment itself.
    pub(crate) environment: Environment,
    /// The flags, to read the configuration once more.
    args: GlobalArgs,
}

/// Folders below the working folder that are searched by default.
const PROJECT_DIRS: [&str; 4] = ["skills", ".claude/skills", ".agents/skills", ".cursor/skills"];
/// Folders below the home folder that are searched after them.
const USER_DIRS: [&str; 4] = [".claude/skills", ".agents/skills", ".cursor/skills", ".codex/skills"];
/// Variables that skills' settings may name when nobody says otherwise.
const SKILL_ENV: [&str; 1] = ["ARTEL_SKILL_*"];
/// The database in the data folder.
const DATABASE: &str = "artel.db";

impl Config {
    /// Reads the configuration.
    pub(crate) fn load(args: &GlobalArgs, environment: &Environment) -> Result<Self, Failure> {
        let (file, path) = config_file(args, environment)?;
        let from_file = || Origin::File(path.clone().unwrap_or_default());
        let skills_dirs = skills_dirs(args, environment, file.skills_dirs.map(|value| (value, from_file())));
        let data = first([
            args.data.clone().map(|value| (value, Origin::Flag("data"))),
            environment.get("ARTEL_DATA").map(|text| (text.into(), Origin::Environment("ARTEL_DATA"))),
            file.data.map(|value| (value, from_file())),
        ]);
        let in_prompt = file.max_skill_summaries_in_prompt.map(|value| (value, from_file()));
        let prompt_skills_max = prompt_skills_max(environment, in_prompt)?;
        let skill_env = skill_env(environment, file.skill_env.map(|value| (value, from_file())));
        let limits = first([file.limits.map(|table| (table.options(), from_file()))]);
        let store = store(args, environment, file.store.map(|value| (value, from_file())));
        let sandbox = sandbox(args, environment, file.sandbox.map(|value| (value, from_file())))?;
        let data = data.unwrap_or_else(|| by_default(".artel".into()));
        let planner = file.planner.map(PlannerTable::settings).transpose()?;
        let planner = first([planner.map(|settings| (settings, from_file()))])
            .unwrap_or_else(|| by_default(PlannerSettings::default()));
        let agents = match file.agents {
            Some(table) => Setting { value: table.settings()?, origin: from_file() },
            None => by_default(AgentsTable::default().settings()?),
        };
        let clients = match file.clients {
            Some(table) => Setting { value: table.settings()?, origin: from_file() },
            None => by_default(ClientsTable::default().settings()?),
        };
        let llm_origin = if file.llm.is_some() { from_file() } else { planner.origin.clone() };
        let llm =
            Setting { value: file.llm.unwrap_or_default().settings(&planner.value), origin: llm_origin };
        let bus = bus(args, environment, file.bus.map(|value| (value, from_file())))?;
        let server = file.server.unwrap_or_default().settings(environment, from_file())?;
        let scanner = file.scanner.unwrap_or_default().settings(environment, from_file())?;
        let telemetry = file.telemetry.unwrap_or_default().settings(environment, from_file())?;
        let metrics = metrics(args, environment, file.metrics.map(|value| (value, from_file())));
        Ok(Self {
            store: store.unwrap_or_else(|| by_default(StoreChoice::File(data.value.join(DATABASE)))),
            sandbox: sandbox.unwrap_or_else(|| by_default(SandboxMode::Enforce)),
            sandbox_users: sandbox_users(environment, file.sandbox_users.map(|value| (value, from_file())))?,
            cgroup: cgroup(environment, file.cgroup.map(|value| (value, from_file()))),
            retention_days: optional(file.retention_days.map(NonZero::get), from_file),
            run: table(file.run, from_file, |table: RunTable| table.settings()),
            grants: table(file.sandbox_grants, from_file, |table: GrantsTable| table.settings()),
            script_limits: table(file.script_limits, from_file, |table: ScriptLimitsTable| table.limits()),
            planner,
            agents,
            llm,
            clients,
            bus,
            metrics,
            server,
            quotas: table(file.quotas, from_file, |table: QuotasTable| table.settings()),
            oidc: optional(file.oidc, from_file),
            hubs: table(file.hubs, from_file, |table: HubsTable| table.settings()),
            scanner,
            telemetry,
            chat: table(file.chat, from_file, |table: ChatTable| table.answered_by()),
            remote: remote(args, environment)?,
            file: path,
            skills_dirs: skills_dirs.unwrap_or_else(|| by_default(default_dirs(environment))),
            data,
            prompt_skills_max,
            skill_env,
            limits: limits.unwrap_or_else(|| by_default(LoadOptions::from(Keep::Descriptions))),
            environment: environment.clone(),
            args: args.clone(),
        })
    }

    /// Reads the configuration once more, with the same flags and the same environment.
    pub(crate) fn load_again(&self) -> Result<Self, Failure> {
        Self::load(&self.args, &self.environment)
    }
}

/// Takes what a table of the file says; without one, what an empty one would say.
fn table<T: Default, V>(
    said: Option<T>,
    from_file: impl FnOnce() -> Origin,
    settings: impl FnOnce(T) -> V,
) -> Setting<V> {
    let origin = if said.is_some() { from_file() } else { Origin::Default };
    Setting { value: settings(said.unwrap_or_default()), origin }
}

/// Takes what the file says, or nothing.
fn optional<V>(said: Option<V>, from_file: impl FnOnce() -> Origin) -> Setting<Option<V>> {
    let origin = if said.is_some() { from_file() } else { Origin::Default };
    Setting { value: said, origin }
}

/// Nothing, and zero, mean that all skills are listed.
fn prompt_skills_max(
    environment: &Environment,
    file: Option<(usize, Origin)>,
) -> Result<Setting<Option<usize>>, Failure> {
    const NAME: &str = "MAX_SKILL_SUMMARIES_IN_PROMPT";
    let variable = number(environment, NAME)?.map(|value| (value, Origin::Environment(NAME)));
    Ok(match first([variable, file]) {
        Some(Setting { value, origin }) => Setting { value: (value > 0).then_some(value), origin },
        None => by_default(None),
    })
}

fn skill_env(environment: &Environment, file: Option<(Vec<String>, Origin)>) -> Setting<Vec<String>> {
    const NAME: &str = "ARTEL_SKILL_ENV";
    let variable = environment.get(NAME).map(|text| (list(text), Origin::Environment(NAME)));
    first([variable, file]).unwrap_or_else(|| by_default(SKILL_ENV.map(str::to_owned).to_vec()))
}

fn skills_dirs(
    args: &GlobalArgs,
    environment: &Environment,
    file: Option<(Vec<Utf8PathBuf>, Origin)>,
) -> Option<Setting<Vec<Utf8PathBuf>>> {
    let variable = |name: &'static str| Some((dirs(environment.get(name)?), Origin::Environment(name)));
    let flag = non_empty(&args.skills).map(|value| (value, Origin::Flag("skills")));
    first([flag, variable("ARTEL_SKILLS_DIRS"), variable("SKILLS_DIR"), file])
}

fn store(
    args: &GlobalArgs,
    environment: &Environment,
    file: Option<(String, Origin)>,
) -> Option<Setting<StoreChoice>> {
    let text = |name: &'static str| Some((environment.get(name)?.to_owned(), Origin::Environment(name)));
    let flag = args.store.clone().map(|value| (value, Origin::Flag("store")));
    let Setting { value, origin } = first([flag, text("ARTEL_STORE"), file])?;
    Some(Setting { value: StoreChoice::read(&value), origin })
}

fn bus(
    args: &GlobalArgs,
    environment: &Environment,
    file: Option<(String, Origin)>,
) -> Result<Setting<BusChoice>, Failure> {
    let flag = args.bus.clone().map(|value| (value, Origin::Flag("bus")));
    let variable =
        environment.get("ARTEL_BUS").map(|text| (text.to_owned(), Origin::Environment("ARTEL_BUS")));
    match first([flag, variable, file]) {
        Some(Setting { value, origin }) => Ok(Setting { value: BusChoice::read(&value)?, origin }),
        None => Ok(by_default(BusChoice::InProcess)),
    }
}

fn sandbox_users(
    environment: &Environment,
    file: Option<(String, Origin)>,
) -> Result<Setting<SandboxUsersChoice>, Failure> {
    const NAME: &str = "ARTEL_SANDBOX_USERS";
    let variable = environment.get(NAME).map(|text| (text.to_owned(), Origin::Environment(NAME)));
    match first([variable, file]) {
        Some(Setting { value, origin }) => Ok(Setting { value: SandboxUsersChoice::read(&value)?, origin }),
        None => Ok(by_default(SandboxUsersChoice::Auto)),
    }
}

fn cgroup(environment: &Environment, file: Option<(String, Origin)>) -> Setting<CgroupChoice> {
    const NAME: &str = "ARTEL_CGROUP";
    let variable = environment.get(NAME).map(|text| (text.to_owned(), Origin::Environment(NAME)));
    match first([variable, file]) {
        Some(Setting { value, origin }) => Setting { value: CgroupChoice::read(&value), origin },
        None => by_default(CgroupChoice::Auto),
    }
}

fn metrics(
    args: &GlobalArgs,
    environment: &Environment,
    file: Option<(Utf8PathBuf, Origin)>,
) -> Setting<Option<Utf8PathBuf>> {
    let flag = args.metrics.clone().map(|value| (value, Origin::Flag("metrics")));
    let variable =
        environment.get("ARTEL_METRICS").map(|text| (text.into(), Origin::Environment("ARTEL_METRICS")));
    match first([flag, variable, file]) {
        Some(Setting { value, origin }) => Setting { value: Some(value), origin },
        None => by_default(None),
    }
}

fn sandbox(
    args: &GlobalArgs,
    environment: &Environment,
    file: Option<(String, Origin)>,
) -> Result<Option<Setting<SandboxMode>>, Failure> {
    if let Some(choice) = args.sandbox {
        return Ok(Some(Setting { value: mode(choice), origin: Origin::Flag("sandbox") }));
    }
    let variable =
        environment.get("ARTEL_SANDBOX").map(|text| (text.to_owned(), Origin::Environment("ARTEL_SANDBOX")));
    let Some(Setting { value, origin }) = first([variable, file]) else { return Ok(None) };
    let from = match origin {
        Origin::Environment(name) => format!("${name}"),
        Origin::Default | Origin::File(_) | Origin::Flag(_) => "`sandbox`".to_owned(),
    };
    Ok(Some(Setting { value: sandbox_mode(&value, &from)?, origin }))
}

fn mode(choice: SandboxChoice) -> SandboxMode {
    match choice {
        SandboxChoice::Enforce => SandboxMode::Enforce,
        SandboxChoice::BestEffort => SandboxMode::BestEffort,
        SandboxChoice::Off => SandboxMode::Off,
    }
}

fn config_file(
    args: &GlobalArgs,
    environment: &Environment,
) -> Result<(ConfigFile, Option<Utf8PathBuf>), Failure> {
    let named = args.config.clone().or_else(|| environment.get("ARTEL_CONFIG").map(Utf8PathBuf::from));
    match named {
        Some(path) => Ok((ConfigFile::read(&path)?, Some(path))),
        None if Utf8Path::new("artel.toml").exists() => {
            let path = Utf8PathBuf::from("artel.toml");
            Ok((ConfigFile::read(&path)?, Some(path)))
        }
        None => Ok((ConfigFile::default(), None)),
    }
}

fn default_dirs(environment: &Environment) -> Vec<Utf8PathBuf> {
    let mut dirs: Vec<Utf8PathBuf> = PROJECT_DIRS.iter().map(Utf8PathBuf::from).collect();
    if let Some(home) = environment.get("HOME").map(Utf8Path::new) {
        dirs.extend(USER_DIRS.iter().map(|dir| home.join(dir)));
    }
    dirs
}

fn first<T, const N: usize>(candidates: [Option<(T, Origin)>; N]) -> Option<Setting<T>> {
    candidates.into_iter().flatten().next().map(|(value, origin)| Setting { value, origin })
}

fn by_default<T>(value: T) -> Setting<T> {
    Setting { value, origin: Origin::Default }
}

fn non_empty(dirs: &[Utf8PathBuf]) -> Option<Vec<Utf8PathBuf>> {
    (!dirs.is_empty()).then(|| dirs.to_vec())
}

fn dirs(text: &str) -> Vec<Utf8PathBuf> {
    text.split(':').filter(|dir| !dir.is_empty()).map(Utf8PathBuf::from).collect()
}

fn list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

fn number(environment: &Environment, name: &'static str) -> Result<Option<usize>, Failure> {
    let parse = |text: &str| {
        text.parse().map_err(|_| Failure::usage(format!("${name} must be a whole number, not `{text}`")))
    };
    environment.get(name).map(parse).transpose()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Cli;

    fn load(args: &[&str], variables: &[(&str, &str)]) -> Result<Config, Failure> {
        let cli = Cli::parse_from(["artel"].iter().chain(args).chain(&["doctor"]));
        Config::load(&cli.global, &Environment::of(variables))
    }

    #[test]
    fn flags_win_over_the_environment_and_it_over_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("artel.toml");
        std::fs::write(&path, "skills_dirs = ['from-file']\ndata = 'd'\n").unwrap();
        let path = path.to_str().unwrap();
        let config = load(&["--config", path], &[]).unwrap();
        assert_eq!(config.skills_dirs.value, ["from-file"]);
        assert_eq!(config.data.origin, Origin::File(path.into()));
        let config = load(&["--config", path], &[("SKILLS_DIR", "a:b")]).unwrap();
        assert_eq!(config.skills_dirs.value, ["a", "b"]);
        let config = load(&["--config", path, "--skills", "c"], &[("SKILLS_DIR", "a:b")]).unwrap();
        assert_eq!(
            (config.skills_dirs.value, config.skills_dirs.origin),
            (vec!["c".into()], Origin::Flag("skills"))
        );
    }

    #[test]
    fn everything_has_a_default() {
        let config = load(&[], &[("HOME", "/home/ada")]).unwrap();
        assert_eq!(config.data.value, ".artel");
        assert_eq!(config.skills_dirs.value[0], "skills");
        assert_eq!(config.skills_dirs.value[4], "/home/ada/.claude/skills");
        assert_eq!(config.prompt_skills_max.value, None);
    }

    #[test]
    fn zero_means_no_cap_and_nonsense_is_refused() {
        let config = load(&[], &[("MAX_SKILL_SUMMARIES_IN_PROMPT", "0")]).unwrap();
        assert_eq!(config.prompt_skills_max.value, None);
        let failure = load(&[], &[("MAX_SKILL_SUMMARIES_IN_PROMPT", "many")]).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
    }

    #[test]
    fn a_misspelt_key_is_refused_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("artel.toml");
        std::fs::write(&path, "data = 'd'\nskill_dirs = ['x']\n").unwrap();
        let failure = load(&["--config", path.to_str().unwrap()], &[]).unwrap_err();
        assert!(failure.message.contains("artel.toml:2: unknown field `skill_dirs`"), "{}", failure.message);
    }
}
