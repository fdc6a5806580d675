//! What can be typed about plans.

use std::num::NonZero;

use clap::{Args, Subcommand, ValueEnum};

use super::skill::HowToRun;

#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// Say everything that is wrong with a plan, without running it
    #[command(
        after_help = "Examples:\n  artel plan validate plan.json\n  generate-plan | artel plan validate -"
    )]
    Validate {
        /// The file with the plan, or - for stdin
        file: String,
    },
    /// Run a plan
    #[command(
        after_help = "Examples:\n  artel plan run plan.json --watch\n  artel plan run plan.json --slots 8 --timeout 600000 --json"
    )]
    Run(PlanRunArgs),
    /// Make a plan of a request in words, without running it
    #[command(
        after_help = "Examples:\n  artel plan generate \"fetch the cup from the kitchen\"\n  artel plan generate \"roll two dice\" | artel plan run -"
    )]
    Generate(GenerateArgs),
    /// Make a plan of a request in words, run it, and plan again when it fails
    #[command(after_help = "Example:\n  artel plan ask \"fetch the cup from the kitchen\" --watch")]
    Ask(AskArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PlanRunArgs {
    /// The file with the plan, or - for stdin
    pub(crate) file: String,
    /// Tools that may run at once [default: as many as there are processor cores]
    #[arg(long, value_name = "N")]
    pub(crate) slots: Option<NonZero<usize>>,
    #[command(flatten)]
    pub(crate) how: HowToRun,
}

#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// The request, in words
    #[arg(required = true)]
    pub(crate) request: Vec<String>,
    /// Who makes the plan: rules without any network, a model, or a program [default: as configured, else pattern]
    #[arg(long, value_name = "KIND")]
    pub(crate) planner: Option<PlannerChoice>,
}

#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    #[command(flatten)]
    pub(crate) what: GenerateArgs,
    /// Show what happens while it happens
    #[arg(long)]
    pub(crate) watch: bool,
    /// Milliseconds that everything together may take
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
}

/// Who makes plans.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum PlannerChoice {
    Pattern,
    Llm,
    Command,
}
