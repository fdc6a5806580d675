//! From what was typed to the command that does it.

use clap::CommandFactory;

use super::context::Context;
use super::{
    check, compose, config, doctor, export, list, man, new, prompt, search, select, show, switch, validate,
};
use crate::cli::{Cli, Command, SkillCommand};
use crate::config::Config;
use crate::failure::Failure;
use crate::output::Output;

/// Runs a command.
pub(crate) fn run(command: &Command, config: &Config, output: &Output) -> Result<(), Failure> {
    let result = dispatch(command, Context { config, output });
    // What could not be printed matters more than what it would have said.
    output.written().and(result)
}

fn dispatch(command: &Command, context: Context<'_>) -> Result<(), Failure> {
    match command {
        Command::Skill(command) => run_skill(command, context),
        Command::Doctor => doctor::run(context),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "artel", &mut script);
            context.output.data(&String::from_utf8_lossy(&script));
            Ok(())
        }
        Command::Man { dir } => man::run(context, dir),
    }
}

fn run_skill(command: &SkillCommand, context: Context<'_>) -> Result<(), Failure> {
    match command {
        SkillCommand::List(args) => list::run(context, args),
        SkillCommand::Search(args) => search::run(context, args),
        SkillCommand::Show(args) => show::run(context, args),
        SkillCommand::New(args) => new::run(context, args),
        SkillCommand::Validate(args) => validate::run(context, args),
        SkillCommand::Compose(args) => compose::run(context, args),
        SkillCommand::Check { names } => check::run(context, names),
        SkillCommand::Select(args) => select::run(context, args),
        SkillCommand::Prompt(args) => prompt::run(context, args),
        SkillCommand::Export(args) => export::run(context, args),
        SkillCommand::Config(args) => config::run(context, args),
        SkillCommand::Enable { skill } => switch::enable(context, skill),
        SkillCommand::Disable { name } => switch::disable(context, name),
    }
}
