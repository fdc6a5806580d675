//! What can be typed: commands, flags and their help. The help is the manual.

mod agent;
mod hub;
mod key;
mod message;
mod moment;
mod plan;
mod root;
mod run;
mod serve;
mod skill;

pub(crate) use agent::{
    AgentArgs, AgentCommand, AgentListArgs, AgentRef, AgentShowArgs, ExecuteArgs, SpawnArgs, StartArgs,
};
pub(crate) use hub::{HubAddArgs, HubChangeArgs, HubCommand, HubPlaceArgs, PathVisibility};
pub(crate) use key::{KeyCommand, KeyCreateArgs, KeyListArgs};
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
pub(crate) use serve::ServeArgs;
pub(crate) use skill::{
    CheckArgs, ComposeArgs, ConfigAction, ConfigArgs, ExportArgs, ListArgs, LockArgs, NewArgs, PromptArgs,
    RiskChoice, ScanArgs, ScanFormat, SearchArgs, SelectArgs, ShowArgs, SkillCommand, SkillOrId,
    SkillRunArgs, TrailArgs, ValidateArgs, VerifyArgs,
};
