//! What can be typed about agents.

use std::str::FromStr;

use artel_model::agent::AgentState;
use artel_model::name::SkillName;
use clap::{Args, Subcommand};

use super::moment::Moment;
use super::run::PageArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Spawn an agent with exactly the skills it may use, and see to its work until that is over
    #[command(
        after_help = "Examples:\n  artel agent spawn --skill navigate location=kitchen\n  artel agent spawn --task \"fetch the cup from the kitchen\" --watch\n  artel agent spawn --label scout --driver external\n  artel agent spawn --task \"write a parser\" --with specification-engine,opencode-implementer --client claude"
    )]
    Spawn(Box<SpawnArgs>),
    /// List agents, the latest first
    #[command(
        visible_alias = "ls",
        after_help = "Examples:\n  artel agent list\n  artel agent list --state running --state paused\n  artel agent list --state error --json"
    )]
    List(AgentListArgs),
    /// Show one agent: what it is, what came of it, and who allowed or forbade it what
    #[command(
        after_help = "Examples:\n  artel agent show scout\n  artel agent show 0197a3 --tool navigate --tool \"Bash(git push)\"\n  artel agent show 0197a3 --events"
    )]
    Show(AgentShowArgs),
    /// Call a tool for an agent that is driven from outside
    #[command(
        after_help = "Examples:\n  artel agent execute scout navigate location=kitchen\n  artel agent execute 0197a3 navigate/run --params '{\"location\": \"kitchen\"}'"
    )]
    Execute(ExecuteArgs),
    /// Let an agent that is free begin anew what it was spawned for, and see to its work until that is over
    #[command(
        after_help = "Examples:\n  artel agent start scout\n  artel agent free 0197a3 && artel agent start 0197a3 --watch"
    )]
    Start(StartArgs),
    /// Make an agent and everything below it stand still
    #[command(after_help = "Example:\n  artel agent pause scout")]
    Pause(AgentArgs),
    /// Let an agent and everything below it go on
    #[command(after_help = "Example:\n  artel agent resume scout")]
    Resume(AgentArgs),
    /// End the work of an agent and of everything below it
    #[command(after_help = "Example:\n  artel agent cancel scout")]
    Cancel(AgentArgs),
    /// End an agent and everything below it for good
    #[command(after_help = "Example:\n  artel agent terminate scout")]
    Terminate(AgentArgs),
    /// Free an agent whose work is done or failed, so that it can be used again
    #[command(after_help = "Example:\n  artel agent free scout")]
    Free(AgentArgs),
    /// Count what an agent called, and how long that took
    #[command(after_help = "Example:\n  artel agent metrics scout --json")]
    Metrics(AgentArgs),
    /// Go on with agents and runs that a process that died left unfinished, and wait until that is over
    #[command(after_help = "Example:\n  artel agent recover")]
    Recover,
    /// Remove agents that ended long ago, and the folders that those which are gone worked in
    #[command(after_help = "Example:\n  artel agent prune --before 30d")]
    Prune {
        /// Remove agents to whom nothing has happened since then: 30d, or a time like 2026-01-31T12:00:00Z
        #[arg(long, value_name = "TIME")]
        before: Moment,
    },
}

/// Which agent.
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// The agent: its id, the beginning of that, or its name
    #[arg(value_name = "AGENT")]
    pub(crate) agent: AgentRef,
}

#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    #[command(flatten)]
    pub(crate) which: AgentArgs,
    /// Show what happens while it happens
    #[arg(long)]
    pub(crate) watch: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SpawnArgs {
    /// What it is for, in words
    #[arg(long, value_name = "TEXT")]
    pub(crate) task: Option<String>,
    /// The skill that it runs
    #[arg(long, value_name = "NAME")]
    pub(crate) skill: Option<SkillName>,
    /// Parameters of that skill, read as its schema says; with `--chain` `SKILL.KEY=VALUE`
    #[arg(value_name = "KEY=VALUE", requires = "skill")]
    pub(crate) values: Vec<String>,
    /// All parameters as a JSON object, or @FILE that holds one (@- for stdin)
    #[arg(long, value_name = "JSON|@FILE", requires = "skill")]
    pub(crate) params: Option<String>,
    /// Run everything that the skill depends on first
    #[arg(long, requires = "skill")]
    pub(crate) chain: bool,
    /// The skills it gets, which say what it may call [default: as its parent, else as configured]
    #[arg(long, value_name = "SKILL,...", value_delimiter = ',', conflicts_with = "no_skills")]
    pub(crate) with: Option<Vec<String>>,
    /// It gets no skills, so it may call nothing
    #[arg(long)]
    pub(crate) no_skills: bool,
    /// The file with the plan that it runs, or - for stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<String>,
    /// What makes it act [default: what follows from the rest]
    #[arg(long, value_name = "KIND", value_parser = ["skill", "plan", "llm", "command", "external"])]
    pub(crate) driver: Option<String>,
    /// The program that works on its task: claude, codex, goose or opencode
    #[arg(long, value_name = "CLIENT")]
    pub(crate) client: Option<String>,
    /// Any program that works on its task, with its arguments; comes last. `{task}`, `{model}`, `{work}` and `{skills}`
    /// stand for what they name
    #[arg(long, value_name = "PROGRAM", num_args = 1.., allow_hyphen_values = true)]
    pub(crate) command: Option<Vec<String>>,
    /// What to call it
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
    /// Its role in a team
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Option<String>,
    /// The agent above it, which it can never surpass: an id, the beginning of one, or a name
    #[arg(long, value_name = "AGENT")]
    pub(crate) parent: Option<AgentRef>,
    /// The model it should use
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How long the model should think
    #[arg(long, value_name = "LEVEL", value_parser = ["off", "minimal", "low", "medium", "high", "xhigh"])]
    pub(crate) thinking: Option<String>,
    /// Seconds that its work may take
    #[arg(long, value_name = "S")]
    pub(crate) timeout: Option<u64>,
    /// How many living children it may have
    #[arg(long, value_name = "N")]
    pub(crate) max_children: Option<u64>,
    /// Something to remember about it (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) meta: Vec<String>,
    /// The whole request as a JSON object, or @FILE that holds one; what the flags say counts more
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) request: Option<String>,
    /// Show what happens while it happens
    #[arg(long)]
    pub(crate) watch: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AgentListArgs {
    /// Only agents in this state (repeatable): idle, running or working, paused, completed, failed or error, cancelled,
    /// terminated
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Vec<AgentStateChoice>,
    /// Only children of this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) parent: Option<AgentRef>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AgentShowArgs {
    #[command(flatten)]
    pub(crate) which: AgentArgs,
    /// Say whether it may call this, and who decided (repeatable), for example `navigate` or `Bash(git push)`
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: Vec<String>,
    /// Show what happened to it, with times and causes
    #[arg(long, conflicts_with = "tool")]
    pub(crate) events: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExecuteArgs {
    #[command(flatten)]
    pub(crate) which: AgentArgs,
    /// The tool: a skill, `SKILL/SCRIPT`, or one of artel's own
    #[arg(value_name = "OPERATION")]
    pub(crate) operation: String,
    /// Parameters, read as the tool's schema says; `a.b=1` is inside `a`
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) values: Vec<String>,
    /// All parameters as a JSON object, or @FILE that holds one (@- for stdin)
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) params: Option<String>,
}

/// An agent as it is typed: its id, the beginning of that, or its name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct AgentRef(String);

/// Digits that the beginning of an id needs at least.
const PREFIX_DIGITS_MIN: usize = 4;
const ID_DIGITS: usize = 32;

impl AgentRef {
    /// Returns what was typed.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Returns the digits, without hyphens and in lower case, if it can be the beginning of an id.
    pub(crate) fn digits(&self) -> Option<String> {
        let digits: String = self.0.chars().filter(|c| *c != '-').map(|c| c.to_ascii_lowercase()).collect();
        let fits = (PREFIX_DIGITS_MIN..=ID_DIGITS).contains(&digits.len());
        (fits && digits.chars().all(|c| c.is_ascii_hexdigit())).then_some(digits)
    }
}

impl FromStr for AgentRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "" => Err("give the agent's id, the beginning of it, or its name".to_owned()),
            text => Ok(Self(text.to_owned())),
        }
    }
}

/// The state of an agent, as it is typed: also in the words that teams use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct AgentStateChoice(pub(crate) AgentState);

impl FromStr for AgentStateChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_it = |state: &&AgentState| state.as_str() == text || state.team_word() == text;
        let words: Vec<&str> = AgentState::ALL.iter().map(|state| state.as_str()).collect();
        let found = AgentState::ALL.iter().find(is_it);
        found.copied().map(Self).ok_or_else(|| format!("it is one of {}", words.join(", ")))
    }
}

/// For whom a set of skills would be.
#[derive(Debug, Args)]
pub(crate) struct ForAgentArgs {
    /// Show what a child of this agent with these skills could call: an id, the beginning of one, or a name
    #[arg(long, value_name = "AGENT")]
    pub(crate) for_agent: Option<AgentRef>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_in_both_words() {
        for &state in AgentState::ALL {
            assert_eq!(state.as_str().parse(), Ok(AgentStateChoice(state)));
            assert_eq!(state.team_word().parse(), Ok(AgentStateChoice(state)));
        }
        assert!("busy".parse::<AgentStateChoice>().unwrap_err().contains("running"));
    }

    #[test]
    fn only_digits_can_be_the_beginning_of_an_id() {
        let digits = |text: &str| text.parse::<AgentRef>().unwrap().digits();
        assert_eq!(digits("0197A3b2-51"), Some("0197a3b251".to_owned()));
        assert_eq!((digits("019"), digits("scout"), digits(&"0".repeat(33))), (None, None, None));
        assert!(" ".parse::<AgentRef>().is_err());
    }
}
