//! What can be typed about skills.

use artel_catalog::shared::{EntryId, EntryIdError};
use artel_catalog::{ExportTarget, Profile, PromptFormat, Template};
use artel_model::catalog::Severity;
use artel_model::name::{LocalName, SkillName};
use artel_model::tool::ToolCall;
use artel_model::version::Version;
use camino::Utf8PathBuf;
use clap::{Args, Subcommand, ValueEnum};

use super::agent::ForAgentArgs;
use super::run::PageArgs;

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
    /// Run a skill
    #[command(
        after_help = "Examples:\n  artel skill run navigate location=kitchen speed=1.5\n  artel skill run detect --params '{\"area\": \"kitchen\"}'\n  artel skill run grasp --chain navigate.location=kitchen detect.area=kitchen grasp.object_id=cup"
    )]
    Run(SkillRunArgs),
    /// Check skills by the letter, and say how to mend them
    #[command(
        after_help = "Examples:\n  artel skill validate my-skill\n  artel skill validate ~/.claude/skills --profile claude\n  artel skill validate my-skill --fix"
    )]
    Validate(ValidateArgs),
    /// Look for harm in skills: in their instructions, scripts and all other files
    #[command(
        after_help = "Examples:\n  artel skill scan my-skill\n  artel skill scan ~/.claude/skills --fail-on medium -v\n  artel skill scan skills --format sarif > skills.sarif\n\nExit codes: 0 nothing reaches the threshold, 1 something does, 2 not everything could be scanned."
    )]
    Scan(ScanArgs),
    /// Pin the skills that this project uses in `artel.lock`
    #[command(
        after_help = "Examples:\n  artel skill lock\n  artel skill lock navigate grasp\n\nWhat is pinned already stays as it is; `artel skill update` pins it again."
    )]
    Lock(LockArgs),
    /// Compare the skills with `artel.lock`, and say what changed
    #[command(
        after_help = "Examples:\n  artel skill verify\n  artel skill verify --strict --json\n\nExit codes: 0 what is used is what was locked, 1 it is not, 2 the lock file is damaged, 3 there is none."
    )]
    Verify(VerifyArgs),
    /// Accept what changed: pin skills again, and say what is different
    #[command(after_help = "Examples:\n  artel skill update navigate\n  artel skill update")]
    Update(LockArgs),
    /// Show what an agent with these skills may call
    #[command(
        after_help = "Examples:\n  artel skill compose specification-engine opencode-implementer\n  artel skill compose memory reputation --strict --tool memory/store\n  artel skill compose navigate --for-agent scout --tool navigate"
    )]
    Compose(ComposeArgs),
    /// Check whether skills can be given to one agent together
    #[command(
        after_help = "Examples:\n  artel skill check specification-engine opencode-implementer\n  artel skill check navigate detect --for-agent scout"
    )]
    Check(CheckArgs),
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
    /// Say what happened to a skill: when its files came, scans, whom it was offered to, who took it up, what came of it
    #[command(
        after_help = "Examples:\n  artel skill trail navigate\n  artel skill trail navigate --limit 100 --json"
    )]
    Trail(TrailArgs),
    /// Switch a skill on, and forget how often it failed; with a version, make that the one that is used
    #[command(
        after_help = "Examples:\n  artel skill enable navigate\n  artel skill enable navigate@1.0.0\n  artel skill enable hub/1f0c1c5e-8f0e-4a57-9a53-3a8a0b3b6b11/navigate"
    )]
    Enable {
        /// The skill, or the id of a hub's or a saved skill whose failures are forgotten
        skill: SkillOrId,
    },
    /// Remove what a skill keeps for you in its data folder
    #[command(after_help = "Example:\n  artel skill forget-data memory")]
    ForgetData {
        /// The skill
        name: SkillName,
    },
    /// Switch a skill off
    #[command(after_help = "Example:\n  artel skill disable navigate")]
    Disable {
        /// The skill
        name: SkillName,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TrailArgs {
    /// The skill
    pub(crate) name: SkillName,
    #[command(flatten)]
    pub(crate) page: PageArgs,
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
pub(crate) struct SkillRunArgs {
    /// The skill, and perhaps its version: NAME or NAME@VERSION
    pub(crate) skill: SkillRef,
    /// Parameters, read as the skill's schema says; `a.b=1` is inside `a`, with `--chain` `SKILL.KEY=VALUE`
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) values: Vec<String>,
    /// All parameters as a JSON object, or @FILE that holds one (@- for stdin)
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) params: Option<String>,
    /// One of the skill's scripts, instead of what it runs by itself
    #[arg(long, value_name = "NAME", conflicts_with = "chain")]
    pub(crate) script: Option<LocalName>,
    /// Run everything that the skill depends on first
    #[arg(long)]
    pub(crate) chain: bool,
    #[command(flatten)]
    pub(crate) how: HowToRun,
}

/// How something is run.
#[derive(Debug, Args)]
pub(crate) struct HowToRun {
    /// Show what happens while it happens
    #[arg(long)]
    pub(crate) watch: bool,
    /// Milliseconds that the whole run may take
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
    /// A key of your own: a second run with the same key is the first one
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
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
pub(crate) struct ScanArgs {
    /// Skill folders, folders of skills, or a skill's file; all skills there are by default
    pub(crate) paths: Vec<Utf8PathBuf>,
    /// How bad a finding must be to count: info, low, medium, high or critical [default: high]
    #[arg(long, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<Severity>,
    /// How to print what was found; SARIF 2.1.0 is for code hosts and editors [default: table]
    #[arg(long)]
    pub(crate) format: Option<ScanFormat>,
}

/// How a report about a scan is printed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum ScanFormat {
    Table,
    Json,
    Sarif,
}

#[derive(Debug, Args)]
pub(crate) struct LockArgs {
    /// Only these skills, with those they build on; all by default
    pub(crate) names: Vec<SkillName>,
    /// The lock file
    #[arg(long, value_name = "FILE", default_value = LOCK_FILE)]
    pub(crate) file: Utf8PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Let nothing pass that is not locked exactly so: also skills that are not locked, or come from elsewhere
    #[arg(long)]
    pub(crate) strict: bool,
    /// The lock file
    #[arg(long, value_name = "FILE", default_value = LOCK_FILE)]
    pub(crate) file: Utf8PathBuf,
}

/// The lock file of a project.
const LOCK_FILE: &str = "artel.lock";

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
    #[command(flatten)]
    pub(crate) child: ForAgentArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The skills
    #[arg(required = true)]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) child: ForAgentArgs,
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
        /// Set them for your own runs and agents on a server, over what its operator set
        #[arg(long)]
        personal: bool,
    },
    /// Remove values
    Unset {
        /// The keys
        #[arg(required = true, value_name = "KEY")]
        keys: Vec<String>,
        /// Remove your own values on a server, so that those of its operator count again
        #[arg(long)]
        personal: bool,
    },
}

/// A skill, and perhaps its version.
#[derive(Clone, Debug)]
pub(crate) struct SkillRef {
    pub(crate) name: SkillName,
    pub(crate) version: Option<Version>,
}

/// A skill by its name, or one of any source by its id in the catalog.
#[derive(Clone, Debug)]
pub(crate) enum SkillOrId {
    Skill(SkillRef),
    Id(EntryId),
}

impl std::str::FromStr for SkillOrId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.contains('/') {
            return text.parse().map(Self::Skill);
        }
        match text.parse().map_err(|error: EntryIdError| error.to_string())? {
            EntryId::Default(name) => Ok(Self::Skill(SkillRef { name, version: None })),
            id @ (EntryId::Custom(_) | EntryId::Hub(..)) => Ok(Self::Id(id)),
        }
    }
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
