//! What `artel.toml` may say about agents: how many, what they may do, the model that works for them, and the bus.

use std::fmt;
use std::num::NonZero;

use artel_agents::{AtLimit, CLIENTS};
use artel_model::agent::SpawnLimits;
use artel_model::limit;
use artel_model::tool::ToolPattern;
use camino::Utf8PathBuf;
use serde::Deserialize;

use super::running::{PlannerKind, PlannerProtocol, PlannerSettings};
use crate::failure::Failure;

/// Milliseconds that one piece of an agent's work may take, when nobody says otherwise.
const WORK_MS: u64 = 600_000;
/// Milliseconds that a spawn waits for room, when it waits.
const QUEUE_MS: u64 = 30_000;
/// Tokens that a model may use in one piece of work.
const TOKENS_MAX: u64 = 1_000_000;
/// Milliseconds that one answer of a model may take.
const ANSWER_MS: u64 = 120_000;

/// What `[agents]` may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentsTable {
    max_agents: Option<NonZero<usize>>,
    #[serde(default)]
    at_limit: AtLimitWord,
    queue_ms: Option<u64>,
    max_depth: Option<u32>,
    max_children: Option<u32>,
    allowed: Option<Vec<String>>,
    #[serde(default)]
    forbidden: Vec<String>,
    timeout_ms: Option<NonZero<u64>>,
}

/// What happens to a spawn when there are as many agents as there may be.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AtLimitWord {
    #[default]
    Reject,
    Queue,
}

/// How many agents there may be, and what they may do when they are given nothing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct AgentSettings {
    /// How many living agents there may be.
    pub(crate) agents_max: usize,
    /// What happens to a further one.
    pub(crate) at_limit: AtLimit,
    /// How deep and wide agents may spawn agents.
    pub(crate) limits: SpawnLimits,
    /// What agents may do that are given nothing.
    pub(crate) allowed: Vec<ToolPattern>,
    /// What they may not, whatever is allowed.
    pub(crate) forbidden: Vec<ToolPattern>,
    /// Milliseconds that one piece of work may take.
    pub(crate) work_ms: u64,
}

impl AgentsTable {
    pub(super) fn settings(self) -> Result<AgentSettings, Failure> {
        let usual = SpawnLimits::default();
        let everything = || vec!["*".to_owned()];
        Ok(AgentSettings {
            agents_max: self.max_agents.map_or(limit::AGENTS_MAX, NonZero::get),
            at_limit: match self.at_limit {
                AtLimitWord::Reject => AtLimit::Reject,
                AtLimitWord::Queue => AtLimit::Queue { wait_ms: self.queue_ms.unwrap_or(QUEUE_MS) },
            },
            limits: SpawnLimits {
                depth: self.max_depth.unwrap_or(usual.depth),
                children: self.max_children.unwrap_or(usual.children),
            },
            allowed: patterns("allowed", &self.allowed.unwrap_or_else(everything))?,
            forbidden: patterns("forbidden", &self.forbidden)?,
            work_ms: self.timeout_ms.map_or(WORK_MS, NonZero::get),
        })
    }
}

/// A rule that cannot be read is refused, so that it is never taken for none.
fn patterns(name: &str, texts: &[String]) -> Result<Vec<ToolPattern>, Failure> {
    let read = |text: &String| {
        text.parse().map_err(|error| Failure::usage(format!("[agents] {name}: `{text}`: {error}")))
    };
    texts.iter().map(read).collect()
}

/// What `[llm]` may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LlmTable {
    protocol: Option<PlannerProtocol>,
    url: Option<String>,
    model: Option<String>,
    api_key_env: Option<String>,
    models: Option<Vec<String>>,
    turns: Option<NonZero<u32>>,
    tokens: Option<NonZero<u64>>,
    timeout_ms: Option<NonZero<u64>>,
}

/// The model that works for agents.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct LlmSettings {
    pub(crate) protocol: PlannerProtocol,
    /// Where it is.
    pub(crate) url: Option<String>,
    /// Which one; without it an agent has to name one.
    pub(crate) model: Option<String>,
    /// The environment variable that holds the key.
    pub(crate) api_key_env: Option<String>,
    /// Other models that agents may ask for; `*` stands for any.
    pub(crate) models: Vec<String>,
    /// Answers in one piece of work.
    pub(crate) turns_max: u32,
    /// Tokens in one piece of work.
    pub(crate) tokens_max: u64,
    /// Milliseconds that one answer may take.
    pub(crate) answer_ms: u64,
}

impl LlmTable {
    /// What is not said is as it is for planning, if a model plans.
    pub(super) fn settings(self, planner: &PlannerSettings) -> LlmSettings {
        let planner =
            if planner.kind == PlannerKind::Llm { planner.clone() } else { PlannerSettings::default() };
        LlmSettings {
            protocol: self.protocol.unwrap_or(planner.protocol),
            url: self.url.or(planner.url),
            model: self.model.or(planner.model),
            api_key_env: self.api_key_env.or(planner.api_key_env),
            models: self.models.unwrap_or_default(),
            turns_max: self.turns.map_or(limit::AGENT_TURNS_MAX, NonZero::get),
            tokens_max: self.tokens.map_or(TOKENS_MAX, NonZero::get),
            answer_ms: self.timeout_ms.map_or(ANSWER_MS, NonZero::get),
        }
    }
}

/// What `[clients]` may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClientsTable {
    #[serde(default)]
    allowed: Vec<String>,
    #[serde(default)]
    home: HomeWord,
    #[serde(default)]
    pass: Vec<String>,
    #[serde(default)]
    commands: CommandsWord,
    #[serde(default)]
    keep: bool,
    #[serde(default)]
    programs: Vec<Utf8PathBuf>,
    user: Option<ClientUser>,
    #[serde(default)]
    network: NetworkWord,
}

/// The user that programs of others run as.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum ClientUser {
    /// By name.
    Name(String),
    /// By number.
    Number(u32),
}

impl<'de> Deserialize<'de> for ClientUser {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = toml::Value::deserialize(deserializer)?;
        let wrong = |why: &str| <D::Error as serde::de::Error>::custom(why);
        match (value.as_str(), value.as_integer()) {
            (Some(name), None) if !name.is_empty() => Ok(Self::Name(name.to_owned())),
            (None, Some(number)) => {
                u32::try_from(number).map(Self::Number).map_err(|_| wrong("no user has this number"))
            }
            (Some(_), _) | (None, None) => Err(wrong("a user is a name or a number")),
        }
    }
}

impl fmt::Display for ClientUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Number(number) => number.fmt(f),
        }
    }
}

/// Which network programs of others get.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NetworkWord {
    /// What each client needs.
    #[default]
    Preset,
    /// None.
    None,
}

/// Which home folder programs of others get.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HomeWord {
    /// A fresh one.
    #[default]
    Private,
    /// That of who runs artel.
    Own,
}

/// Which programs of others may be started.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CommandsWord {
    /// Any command line.
    #[default]
    Any,
    /// Only the known clients.
    Known,
}

/// How programs of others work for agents.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ClientSettings {
    /// The clients that a call over the network may have started; on the command line of this machine all may be.
    pub(crate) allowed: Vec<String>,
    pub(crate) home: HomeWord,
    /// Environment variables that they get beside the usual ones.
    pub(crate) pass: Vec<String>,
    pub(crate) commands: CommandsWord,
    /// Whether the folders they worked in are kept.
    pub(crate) keep: bool,
    /// Folders that they may execute from, beside those where they are installed.
    pub(crate) programs: Vec<Utf8PathBuf>,
    /// The user that they run as; without it one of the sandbox's users, or artel's own.
    pub(crate) user: Option<ClientUser>,
    pub(crate) network: NetworkWord,
}

impl ClientsTable {
    pub(super) fn settings(self) -> Result<ClientSettings, Failure> {
        if let Some(name) = self.allowed.iter().find(|name| !CLIENTS.contains(&name.as_str())) {
            let known = CLIENTS.map(|client| format!("`{client}`")).join(", ");
            return Err(Failure::usage(format!("[clients] allowed: `{name}` is no client"))
                .hint(format!("artel knows {known}")));
        }
        if let Some(name) = self.pass.iter().find(|name| is_of_artel(name)) {
            return Err(Failure::usage(format!("[clients] pass: `{name}` cannot be passed to a program"))
                .hint("variables of artel and of the dynamic linker stay with artel"));
        }
        if let Some(folder) = self.programs.iter().find(|folder| !folder.is_absolute()) {
            return Err(Failure::usage(format!("[clients] programs: `{folder}` is no whole path"))
                .hint("write it from the root on, such as `/opt/tools`"));
        }
        Ok(ClientSettings {
            allowed: self.allowed,
            home: self.home,
            pass: self.pass,
            commands: self.commands,
            keep: self.keep,
            programs: self.programs,
            user: self.user,
            network: self.network,
        })
    }
}

/// Says whether a variable is artel's own, or loads code into programs.
fn is_of_artel(name: &str) -> bool {
    name.starts_with("ARTEL_") || name.starts_with("LD_") || name == "GLIBC_TUNABLES"
}

/// What carries messages to other processes.
#[derive(Clone, Eq, PartialEq)]
pub(crate) enum BusChoice {
    /// Nothing: they are found in the store.
    InProcess,
    /// A Redis.
    Redis(String),
}

impl BusChoice {
    pub(super) fn read(text: &str) -> Result<Self, Failure> {
        let is_redis = ["redis://", "rediss://", "redis+unix://", "unix://"]
            .iter()
            .any(|scheme| text.starts_with(scheme));
        match text {
            "in-process" => Ok(Self::InProcess),
            url if is_redis => Ok(Self::Redis(url.to_owned())),
            _ => Err(Failure::usage(
                "the bus is `in-process`, or the address of a Redis like `redis://localhost:6379`",
            )
            .hint("it is said by `--bus`, $ARTEL_BUS or `bus` in artel.toml")),
        }
    }
}

/// A user and a password are not shown.
impl fmt::Display for BusChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = match self {
            Self::InProcess => return f.write_str("in-process"),
            Self::Redis(url) => url,
        };
        let (scheme, rest) = url.split_once("://").unwrap_or(("redis", url));
        let rest = rest.split('?').next().unwrap_or_default();
        let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
        write!(f, "{scheme}://{place}")
    }
}

impl fmt::Debug for BusChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_a_bus_are_not_shown() {
        let shown = |text: &str| BusChoice::read(text).unwrap().to_string();
        assert_eq!(shown("redis://ada:secret@cache:6379/1"), "redis://cache:6379/1");
        assert_eq!(shown("redis://:p@ss@cache?password=secret"), "redis://cache");
        assert_eq!(shown("in-process"), "in-process");
        assert_eq!(BusChoice::read("nats://x").unwrap_err().exit_code(), 2);
    }

    #[test]
    fn what_is_not_said_about_the_model_is_as_for_planning() {
        let planner = PlannerSettings {
            kind: PlannerKind::Llm,
            model: Some("qwen3".to_owned()),
            api_key_env: Some("KEY".to_owned()),
            ..PlannerSettings::default()
        };
        let table = LlmTable { api_key_env: Some("OTHER".to_owned()), ..LlmTable::default() };
        let settings = table.settings(&planner);
        assert_eq!(
            (settings.model.as_deref(), settings.api_key_env.as_deref()),
            (Some("qwen3"), Some("OTHER"))
        );
        let pattern = PlannerSettings { kind: PlannerKind::Pattern, ..planner };
        assert_eq!(LlmTable::default().settings(&pattern).model, None);
    }

    #[test]
    fn a_rule_that_cannot_be_read_is_refused() {
        let table = AgentsTable { forbidden: vec!["a b(".to_owned()], ..AgentsTable::default() };
        assert_eq!(table.settings().unwrap_err().exit_code(), 2);
        assert_eq!(AgentsTable::default().settings().unwrap().allowed.len(), 1);
    }
}
