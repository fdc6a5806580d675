//! What can be typed about runs.

use std::str::FromStr;

use artel_model::id::{AgentId, StepId};
use artel_model::name::SkillName;
use artel_model::run::{ExecutionStatus, RunState};
use clap::{Args, Subcommand, ValueEnum};

use super::moment::Moment;

#[derive(Debug, Subcommand)]
pub(crate) enum RunCommand {
    /// List runs, the latest first
    #[command(
        visible_alias = "ls",
        after_help = "Examples:\n  artel run list\n  artel run list --state failed --since 24h"
    )]
    List(RunListArgs),
    /// Show one run: its steps, their attempts and what came of it
    #[command(after_help = "Examples:\n  artel run show 0197a3\n  artel run show 0197a3 --json")]
    Show(RunShowArgs),
    /// Show what happens in a run while it happens, wherever it runs
    #[command(after_help = "Example:\n  artel run watch 0197a3")]
    Watch {
        /// The run; the beginning of its id is enough
        id: RunPrefix,
    },
    /// End a run
    #[command(after_help = "Example:\n  artel run cancel 0197a3")]
    Cancel {
        /// The run; the beginning of its id is enough
        id: RunPrefix,
    },
    /// Make a run stand still: nothing starts, what runs is stopped
    #[command(after_help = "Example:\n  artel run pause 0197a3")]
    Pause {
        /// The run; the beginning of its id is enough
        id: RunPrefix,
    },
    /// Let a run go on that stands still
    #[command(after_help = "Example:\n  artel run resume 0197a3")]
    Resume {
        /// The run; the beginning of its id is enough
        id: RunPrefix,
    },
    /// Say yes to a step that waits for somebody
    #[command(after_help = "Example:\n  artel run approve 0197a3 --step deploy --note \"looks good\"")]
    Approve(ApprovalArgs),
    /// Say no to a step that waits for somebody
    #[command(after_help = "Example:\n  artel run reject 0197a3 --note \"not today\"")]
    Reject(ApprovalArgs),
    /// Count what was run, and how long it took
    #[command(after_help = "Examples:\n  artel run stats\n  artel run stats --by agent --since 24h")]
    Stats(StatsArgs),
    /// List the records of skills that were run, the latest first
    #[command(
        after_help = "Examples:\n  artel run executions --skill navigate\n  artel run executions --status failed --since 7d --json"
    )]
    Executions(ExecutionsArgs),
    /// Go on with what a process that died left unfinished, and wait until that is over
    #[command(after_help = "Example:\n  artel run recover")]
    Recover,
    /// Remove what ended long ago
    #[command(after_help = "Example:\n  artel run prune --before 30d")]
    Prune(PruneArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RunListArgs {
    /// Only runs in this state (repeatable)
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Vec<StateChoice>,
    /// Only runs that were asked for since then: 24h, 7d, or a time like 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<Moment>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

/// Which page of a long list.
#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
    /// Go on where another page ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RunShowArgs {
    /// The run; the beginning of its id is enough
    pub(crate) id: RunPrefix,
    /// Print the run's log instead: every event, one JSON object a line
    #[arg(long)]
    pub(crate) events: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalArgs {
    /// The run; the beginning of its id is enough
    pub(crate) id: RunPrefix,
    /// The step; needed when several wait
    #[arg(long)]
    pub(crate) step: Option<StepId>,
    /// What goes with it
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// By what
    #[arg(long, value_name = "WHAT", default_value = "skill")]
    pub(crate) by: StatsChoice,
    /// Only what began since then: 24h, 7d, or a time like 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<Moment>,
}

#[derive(Debug, Args)]
pub(crate) struct ExecutionsArgs {
    /// Only of this skill
    #[arg(long, value_name = "NAME")]
    pub(crate) skill: Option<SkillName>,
    /// Only for this agent
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<AgentId>,
    /// Only of this run; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<RunPrefix>,
    /// Only with this status (repeatable)
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Vec<StatusChoice>,
    /// Only what began since then: 24h, 7d, or a time like 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<Moment>,
    /// Only what began before then
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<Moment>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    /// Remove runs that ended before then: 30d, or a time like 2026-01-31T12:00:00Z [default: `retention_days`]
    #[arg(long, value_name = "TIME")]
    pub(crate) before: Option<Moment>,
}

/// By what executions are counted.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum StatsChoice {
    Skill,
    Agent,
}

/// The state of a run, as it is typed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct StateChoice(pub(crate) RunState);

impl FromStr for StateChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = text.replace('-', "_");
        let found = RunState::ALL.iter().find(|state| state.as_str() == wanted);
        found.copied().map(Self).ok_or_else(|| one_of(RunState::ALL.iter().map(|state| state.as_str())))
    }
}

/// The status of an execution, as it is typed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct StatusChoice(pub(crate) ExecutionStatus);

impl FromStr for StatusChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = ExecutionStatus::ALL.iter().find(|status| status.as_str() == text);
        let all = || one_of(ExecutionStatus::ALL.iter().map(|status| status.as_str()));
        found.copied().map(Self).ok_or_else(all)
    }
}

fn one_of<'a>(words: impl Iterator<Item = &'a str>) -> String {
    format!("it is one of {}", words.collect::<Vec<_>>().join(", "))
}

/// The beginning of a run's id: hexadecimal digits, with or without hyphens.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct RunPrefix(String);

/// Digits that a prefix needs at least; a shorter one is no more than a slip of the finger.
const PREFIX_DIGITS_MIN: usize = 4;
const ID_DIGITS: usize = 32;

impl RunPrefix {
    /// Returns the digits, without hyphens and in lower case.
    pub(crate) fn digits(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunPrefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits: String = text.chars().filter(|c| *c != '-').map(|c| c.to_ascii_lowercase()).collect();
        let is_id = digits.chars().all(|c| c.is_ascii_hexdigit()) && digits.len() <= ID_DIGITS;
        match digits.len() {
            _ if !is_id => Err("a run's id looks like 0197a3b2-51c4-7d2e-9b1c-2d3e4f5a6b7c".to_owned()),
            0..PREFIX_DIGITS_MIN => Err(format!("give at least {PREFIX_DIGITS_MIN} digits of the id")),
            _ => Ok(Self(digits)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_an_id_is_read_with_and_without_hyphens() {
        let digits = |text: &str| text.parse::<RunPrefix>().map(|prefix| prefix.digits().to_owned());
        assert_eq!(digits("0197A3b2-51"), Ok("0197a3b251".to_owned()));
        assert!(digits("019").is_err());
        assert!(digits("latest").is_err());
        assert!(digits(&"0".repeat(33)).is_err());
    }

    #[test]
    fn states_are_read_as_they_are_shown() {
        for &state in RunState::ALL {
            assert_eq!(state.as_str().parse::<StateChoice>(), Ok(StateChoice(state)));
        }
        assert_eq!("awaiting-approval".parse(), Ok(StateChoice(RunState::AwaitingApproval)));
        assert!("done".parse::<StateChoice>().unwrap_err().contains("succeeded"));
        assert!("ok".parse::<StatusChoice>().unwrap_err().contains("success"));
    }
}
