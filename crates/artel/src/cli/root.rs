//! The program itself, and the flags that every command takes.

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::agent::AgentCommand;
use super::hub::HubCommand;
use super::key::KeyCommand;
use super::message::MessageCommand;
use super::plan::PlanCommand;
use super::run::RunCommand;
use super::serve::ServeArgs;
use super::skill::SkillCommand;

/// Gives AI agents their skills and puts them to work.
#[derive(Debug, Parser)]
#[command(
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = "Examples:\n  artel skill list\n  artel skill run navigate location=kitchen\n  artel plan run plan.json --watch\n  artel run list\n  artel agent spawn --task \"fetch the cup from the kitchen\"\n  artel doctor\n\nExit codes: 0 done, 1 what was asked for failed, 2 wrong usage, 3 something needed cannot be opened, 4 the store may have lost writes: start again."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that every command takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct GlobalArgs {
    /// Print data as JSON on stdout
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say only what was asked for
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
    /// Search this folder for skills, instead of the usual ones (repeatable; the first wins by name)
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) skills: Vec<Utf8PathBuf>,
    /// Folder for artel's own data [default: ./.artel]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<Utf8PathBuf>,
    /// Where runs are kept: a file, or `postgres://...` [default: artel.db in the data folder]
    #[arg(long, global = true, value_name = "STORE")]
    pub(crate) store: Option<String>,
    /// What carries messages to other processes: `redis://...` [default: in-process, they are found in the store]
    #[arg(long, global = true, value_name = "BUS")]
    pub(crate) bus: Option<String>,
    /// Whether scripts run in a sandbox: always, as far as this machine can, or not [default: enforce]
    #[arg(long, global = true, value_name = "MODE")]
    pub(crate) sandbox: Option<SandboxChoice>,
    /// Keep numbers about this process in a file, for Prometheus (a textfile collector reads `*.prom`)
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) metrics: Option<Utf8PathBuf>,
    /// Work on this server instead of the data folder; the token is read from `ARTEL_TOKEN` [default: $ARTEL_SERVER]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Configuration file [default: ./artel.toml]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<Utf8PathBuf>,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}

/// Whether scripts run in a sandbox.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum SandboxChoice {
    Enforce,
    BestEffort,
    Off,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the catalog, runs, agents and messages to others
    #[command(
        after_help = "Examples:\n  artel serve\n  artel serve --listen 0.0.0.0:7420 --skills ./skills\n  artel --store postgres://db/artel --bus redis://cache serve"
    )]
    Serve(ServeArgs),
    /// Work with skills, and run them
    #[command(subcommand)]
    Skill(SkillCommand),
    /// Check, run and make plans
    #[command(subcommand)]
    Plan(PlanCommand),
    /// Look at runs, and tell them what to do
    #[command(subcommand)]
    Run(RunCommand),
    /// Spawn agents, look at them, and tell them what to do
    #[command(subcommand)]
    Agent(AgentCommand),
    /// Send, read and listen to messages
    #[command(subcommand)]
    Message(MessageCommand),
    /// Look at hubs, and take skills from them
    #[command(subcommand)]
    Hub(HubCommand),
    /// Make, list and revoke API keys for the server
    #[command(subcommand)]
    Key(KeyCommand),
    /// Serve a client of the Model Context Protocol over stdin and stdout
    #[command(
        after_help = "The client starts it. Its configuration says, for example:\n  {\"mcpServers\": {\"artel\": {\"command\": \"artel\", \"args\": [\"mcp\", \"--data\", \"/home/ann/.artel\"]}}}\n\nWith `--server` it passes on what is said to a server and back, as the owner of `ARTEL_TOKEN`:\n  {\"mcpServers\": {\"artel\": {\"command\": \"artel\", \"args\": [\"mcp\", \"--server\", \"https://artel.example.org\"]}}}"
    )]
    Mcp,
    /// Look after the store
    #[command(subcommand)]
    Db(DbCommand),
    /// Show the effective configuration and check this machine
    #[command(after_help = "Example:\n  artel doctor")]
    Doctor,
    /// Print completions for a shell
    #[command(after_help = "Example:\n  artel completions bash > /etc/bash_completion.d/artel")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write manual pages into a folder
    #[command(after_help = "Example:\n  artel man /usr/local/share/man/man1")]
    Man {
        /// The folder
        dir: Utf8PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum DbCommand {
    /// Copy the store into a file, while it is in use
    #[command(after_help = "Example:\n  artel db backup runs-2026-01-31.db")]
    Backup {
        /// The file to make
        file: Utf8PathBuf,
    },
    /// Read everything in the store and say what is wrong with it
    #[command(after_help = "Example:\n  artel db check")]
    Check,
}
