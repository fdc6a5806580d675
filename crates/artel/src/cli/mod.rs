//! What can be typed: commands, flags and their help. The help is the manual.

mod agent;
mod message;
mod moment;
mod plan;
mod root;
mod run;
mod skill;

pub(crate) use agent::{
    AgentArgs, AgentCommand, AgentListArgs, AgentRef, AgentShowArgs, ExecuteArgs, SpawnArgs,
};
pub(crate) use message::{
    ContentArgs, DeadArgs, ListenArgs, MessageCommand, PublishArgs, ReadArgs, Recipient, RequestArgs,
    SendArgs,
};
pub(crate) use moment::Moment;
pub(crate) use plan::{AskArgs, GenerateArgs, PlanCommand, PlanRunArgs, PlannerChoice};
pub(crate) use root::{Cli, ColorChoice, Command, DbCommand, GlobalArgs, SandboxChoice};
pub(crate) use run::{
    ExecutionsArgs, PageArgs, PruneArgs, RunCommand, RunListArgs, RunPrefix, RunShowArgs, StatsArgs,
    StatsChoice,
};
pub(crate) use skill::{
    CheckArgs, ComposeArgs, ConfigAction, ConfigArgs, ExportArgs, ListArgs, NewArgs, PromptArgs, RiskChoice,
    SearchArgs, SelectArgs, ShowArgs, SkillCommand, SkillRef, SkillRunArgs, ValidateArgs,
};
