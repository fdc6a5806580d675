//! What can be typed: commands, flags and their help. The help is the manual.

use artel_catalog::{ExportTarget, Profile, PromptFormat, Template};
use artel_model::name::SkillName;
use artel_model::tool::ToolCall;
use artel_model::version::Version;
use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// Gives AI agents their skills and puts them to work.
#[derive(Debug, Parser)]
#[command(
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = "Examples:\n  artel skill list\n  artel skill new demo && artel skill validate demo\n  artel doctor\n\nExit codes: 0 done, 1 what was asked for failed, 2 wrong usage, 3 something needed cannot be opened."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Args)]
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

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Work with skills
    #[command(subcommand)]
    Skill(SkillCommand),
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
pub(crate) enum SkillCommand {
    /// List the skills there are
    #[command(
        visible_alias = "ls",
        after_help = "Examples:\n  artel skill list\n  artel skill list --tag motion --json"
    )]
    List(ListArgs),
    /// Find skills by words; prefixes and typing errors are forgiven
    #[command(
        after_help = "Examples:\n  artel skill search roll dice\n  artel skill search naviagte --explain"
    )]
    Search(SearchArgs),
    /// Show everything about one skill
    #[command(
        after_help = "Examples:\n  artel skill show navigate\n  artel skill show navigate@1.0.0 --json\n  artel skill show navigate --instructions"
    )]
    Show(ShowArgs),
    /// Make a new skill that works at once
    #[command(after_help = "Example:\n  artel skill new demo && artel skill validate demo")]
    New(NewArgs),
    /// Check skills by the letter, and say how to mend them
    #[command(
        after_help = "Examples:\n  artel skill validate my-skill\n  artel skill validate ~/.claude/skills --profile claude\n  artel skill validate my-skill --fix"
    )]
    Validate(ValidateArgs),
    /// Show what an agent with these skills may call
    #[command(
        after_help = "Examples:\n  artel skill compose specification-engine opencode-implementer\n  artel skill compose memory reputation --strict --tool memory/store"
    )]
    Compose(ComposeArgs),
    /// Check whether skills can be given to one agent together
    #[command(after_help = "Example:\n  artel skill check specification-engine opencode-implementer")]
    Check {
        /// The skills
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Choose skills for a task
    #[command(
        after_help = "Examples:\n  artel skill select \"fetch the cup from the kitchen\"\n  artel skill select \"write a parser\" --coding"
    )]
    Select(SelectArgs),
    /// Print the skills for a model's prompt
    #[command(
        after_help = "Examples:\n  artel skill prompt\n  artel skill prompt --format markdown --budget 4000"
    )]
    Prompt(PromptArgs),
    /// Write skills as folders for a client that reads folders
    #[command(
        after_help = "Examples:\n  artel skill export .claude/skills --for claude\n  artel skill export /tmp/skills navigate detect"
    )]
    Export(ExportArgs),
    /// Show or change the settings of a skill
    #[command(
        after_help = "Examples:\n  artel skill config storyteller\n  artel skill config storyteller set style=noir\n  artel skill config storyteller unset style"
    )]
    Config(ConfigArgs),
    /// Switch a skill on; with a version, make that the one that is used
    #[command(after_help = "Examples:\n  artel skill enable navigate\n  artel skill enable navigate@1.0.0")]
    Enable {
        /// The skill
        skill: SkillRef,
    },
    /// Switch a skill off
    #[command(after_help = "Example:\n  artel skill disable navigate")]
    Disable {
        /// The skill
        name: SkillName,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only skills with this tag (repeatable: with all of them)
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Show what each skill depends on instead
    #[arg(long)]
    pub(crate) graph: bool,
    /// Print the list again whenever a skill changes
    #[arg(long)]
    pub(crate) watch: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// What to look for
    #[arg(required = true)]
    pub(crate) words: Vec<String>,
    /// How many results at most
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) limit: usize,
    /// Show what each score is made of
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The skill, and perhaps its version: NAME or NAME@VERSION
    pub(crate) skill: SkillRef,
    /// Print the instructions only
    #[arg(long, conflicts_with = "file")]
    pub(crate) instructions: bool,
    /// Print one file of the skill only
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<Utf8PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// The skill's name: lower-case letters, digits and single hyphens
    pub(crate) name: SkillName,
    /// What it starts with: python, shell or instructions
    #[arg(long, default_value = "python")]
    pub(crate) template: Template,
    /// Make its folder here
    #[arg(long = "in", value_name = "DIR", default_value = ".")]
    pub(crate) parent: Utf8PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// Skill folders, folders of skills, or registry files
    #[arg(default_value = ".")]
    pub(crate) paths: Vec<Utf8PathBuf>,
    /// By whose rules: spec, skills-ref, claude, codex or lenient
    #[arg(long, default_value = "spec")]
    pub(crate) profile: Profile,
    /// Mend what can be mended safely, then check
    #[arg(long)]
    pub(crate) fix: bool,
    /// Check again whenever a file changes
    #[arg(long, conflicts_with = "fix")]
    pub(crate) watch: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ComposeArgs {
    /// The skills
    pub(crate) names: Vec<String>,
    /// Allow only what every skill allows
    #[arg(long)]
    pub(crate) strict: bool,
    /// Decide this call too (repeatable), for example `memory/store` or `Bash(git status)`
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: Vec<ToolCall>,
}

#[derive(Debug, Args)]
pub(crate) struct SelectArgs {
    /// The task, in words
    pub(crate) task: String,
    /// The task is about writing code
    #[arg(long)]
    pub(crate) coding: bool,
    /// How much the task may put at risk
    #[arg(long, default_value = "low")]
    pub(crate) risk: RiskChoice,
    /// How many skills at most
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub(crate) limit: usize,
}

/// How much a task may put at risk.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum RiskChoice {
    Low,
    Medium,
    High,
}

#[derive(Debug, Args)]
pub(crate) struct PromptArgs {
    /// How to write it: xml, xml-lines (as the reference library does) or markdown
    #[arg(long, default_value = "xml")]
    pub(crate) format: PromptFormat,
    /// List at most so many skills (0: all)
    #[arg(long, value_name = "N")]
    pub(crate) max: Option<usize>,
    /// Write at most so many characters
    #[arg(long, value_name = "CHARS")]
    pub(crate) budget: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The folder to write into
    pub(crate) dir: Utf8PathBuf,
    /// Only these skills; all by default
    pub(crate) names: Vec<SkillName>,
    /// The client: claude, cursor, codex or agents; without it, skills are grouped by source
    #[arg(long = "for", value_name = "CLIENT")]
    pub(crate) client: Option<ExportTarget>,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// The skill
    pub(crate) name: SkillName,
    #[command(subcommand)]
    pub(crate) action: Option<ConfigAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Set values: KEY=VALUE; a value may be `${VARIABLE}`
    Set {
        /// The values
        #[arg(required = true, value_name = "KEY=VALUE")]
        values: Vec<String>,
    },
    /// Remove values
    Unset {
        /// The keys
        #[arg(required = true, value_name = "KEY")]
        keys: Vec<String>,
    },
}

/// A skill, and perhaps its version.
#[derive(Clone, Debug)]
pub(crate) struct SkillRef {
    pub(crate) name: SkillName,
    pub(crate) version: Option<Version>,
}

impl std::str::FromStr for SkillRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, version) = match text.split_once('@') {
            Some((name, version)) => {
                let version =
                    version.parse().map_err(|_| format!("`{version}` is not a version like 1.2.3"))?;
                (name, Some(version))
            }
            None => (text, None),
        };
        let name = name.parse().map_err(|error: artel_model::name::NameError| error.to_string())?;
        Ok(Self { name, version })
    }
}
