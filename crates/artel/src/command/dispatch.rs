//! From what was typed to the command that does it.

use artel_engine::Command as Telling;
use clap::CommandFactory;

use super::context::Context;
use super::{
    agent, check, compose, config, db, doctor, export, hub, key, list, lock, man, mcp, message, new, plan,
    prompt, runs, scan, search, select, serve, show, skill_run, switch, trail, validate,
};
use crate::backend::Telling as ToAgent;
use crate::cli::{
    AgentCommand, Cli, Command, DbCommand, HubCommand, KeyCommand, MessageCommand, PlanCommand, RunCommand,
    SkillCommand,
};
use crate::config::Config;
use crate::failure::Failure;
use crate::output::Output;

/// Why nobody recovers anything through a server.
const GOES_ON: &str = "a server goes on with what was left unfinished by itself";

/// Runs a command.
pub(crate) fn run(command: &Command, config: &Config, output: &Output) -> Result<(), Failure> {
    let result = dispatch(command, Context { config, output });
    // What could not be printed matters more than what it would have said.
    output.written().and(result)
}

fn dispatch(command: &Command, context: Context<'_>) -> Result<(), Failure> {
    match command {
        Command::Serve(args) => {
            context.must_be_here("serve", "a server is started beside its data; leave the other one out")?;
            serve::run(context, args)
        }
        Command::Skill(command) => run_skill(command, context),
        Command::Plan(command) => run_plan(command, context),
        Command::Run(command) => run_runs(command, context),
        Command::Agent(command) => run_agents(command, context),
        Command::Message(command) => run_messages(command, context),
        Command::Hub(command) => run_hubs(command, context),
        Command::Key(command) => run_keys(command, context),
        Command::Mcp => mcp::run(context),
        Command::Db(command) => {
            context.must_be_here("db", "whoever has the server's data in hand copies and checks it there")?;
            match command {
                DbCommand::Backup { file } => db::backup(context, file),
                DbCommand::Check => db::check(context),
            }
        }
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
        SkillCommand::Run(args) => skill_run::run(context, args),
        SkillCommand::Validate(args) => validate::run(context, args),
        SkillCommand::Scan(args) => scan::run(context, args),
        SkillCommand::Lock(args) => lock::lock(context, args),
        SkillCommand::Verify(args) => lock::verify(context, args),
        SkillCommand::Update(args) => lock::update(context, args),
        SkillCommand::Compose(args) => compose::run(context, args),
        SkillCommand::Check(args) => check::run(context, args),
        SkillCommand::Select(args) => select::run(context, args),
        SkillCommand::Prompt(args) => prompt::run(context, args),
        SkillCommand::Export(args) => export::run(context, args),
        SkillCommand::Config(args) => config::run(context, args),
        SkillCommand::Trail(args) => trail::run(context, args),
        SkillCommand::Enable { skill } => switch::enable(context, skill),
        SkillCommand::ForgetData { name } => switch::forget_data(context, name),
        SkillCommand::Disable { name } => switch::disable(context, name),
    }
}

fn run_plan(command: &PlanCommand, context: Context<'_>) -> Result<(), Failure> {
    match command {
        PlanCommand::Validate { file } => plan::validate(context, file),
        PlanCommand::Run(args) => plan::run(context, args),
        PlanCommand::Generate(args) => plan::generate(context, args),
        PlanCommand::Ask(args) => plan::ask(context, args),
    }
}

fn run_runs(command: &RunCommand, context: Context<'_>) -> Result<(), Failure> {
    match command {
        RunCommand::List(args) => runs::list(context, args),
        RunCommand::Show(args) => runs::show(context, args),
        RunCommand::Watch { id } => runs::watch(context, id),
        RunCommand::Cancel { id } => runs::tell(context, id, &Telling::Cancel),
        RunCommand::Pause { id } => runs::tell(context, id, &Telling::Pause),
        RunCommand::Resume { id } => runs::tell(context, id, &Telling::Resume),
        RunCommand::Approve(args) => {
            let (step, note) = (args.step.clone(), args.note.clone());
            runs::tell(context, &args.id, &Telling::Approve { step, note })
        }
        RunCommand::Reject(args) => {
            let (step, note) = (args.step.clone(), args.note.clone());
            runs::tell(context, &args.id, &Telling::Reject { step, note })
        }
        RunCommand::Stats(args) => runs::stats(context, args),
        RunCommand::Executions(args) => runs::executions(context, args),
        RunCommand::Recover => {
            context.must_be_here("run recover", GOES_ON)?;
            runs::recover(context, runs::RecoverWhat::Runs)
        }
        RunCommand::Prune(args) => runs::prune(context, args),
    }
}

fn run_agents(command: &AgentCommand, context: Context<'_>) -> Result<(), Failure> {
    match command {
        AgentCommand::Spawn(args) => agent::spawn(context, args),
        AgentCommand::List(args) => agent::list(context, args),
        AgentCommand::Show(args) => agent::show(context, args),
        AgentCommand::Execute(args) => agent::execute(context, args),
        AgentCommand::Start(args) => agent::start(context, args),
        AgentCommand::Pause(args) => agent::tell(context, args, ToAgent::Pause),
        AgentCommand::Resume(args) => agent::tell(context, args, ToAgent::Resume),
        AgentCommand::Cancel(args) => agent::tell(context, args, ToAgent::Cancel),
        AgentCommand::Terminate(args) => agent::tell(context, args, ToAgent::Terminate),
        AgentCommand::Free(args) => agent::tell(context, args, ToAgent::Free),
        AgentCommand::Metrics(args) => agent::metrics(context, args),
        AgentCommand::Recover => {
            context.must_be_here("agent recover", GOES_ON)?;
            runs::recover(context, runs::RecoverWhat::Agents)
        }
        AgentCommand::Prune { before } => agent::prune(context, *before),
    }
}

fn run_messages(command: &MessageCommand, context: Context<'_>) -> Result<(), Failure> {
    match command {
        MessageCommand::Send(args) => message::send(context, args),
        MessageCommand::Publish(args) => message::publish(context, args),
        MessageCommand::Request(args) => message::request(context, args),
        MessageCommand::Read(args) => message::read(context, args),
        MessageCommand::Listen(args) => message::listen(context, args),
        MessageCommand::Dead(args) => message::dead(context, args),
        MessageCommand::Counts => message::counts(context),
    }
}

fn run_hubs(command: &HubCommand, context: Context<'_>) -> Result<(), Failure> {
    match command {
        HubCommand::Crawl(args) => hub::crawl(context, args),
        HubCommand::Add(args) => hub::add(context, args),
        HubCommand::List => hub::list(context),
        HubCommand::Refresh { hub: Some(hub) } => hub::refresh(context, hub),
        HubCommand::Refresh { hub: None } => hub::refresh_all(context),
        HubCommand::Change(args) => hub::change(context, args),
        HubCommand::Enable { hub } => hub::enable(context, hub),
        HubCommand::Disable { hub } => hub::disable(context, hub),
        HubCommand::Remove { hub } => hub::remove(context, hub),
    }
}

fn run_keys(command: &KeyCommand, context: Context<'_>) -> Result<(), Failure> {
    match command {
        KeyCommand::Create(args) => key::create(context, args),
        KeyCommand::List(args) => key::list(context, args),
        KeyCommand::Revoke { id } => key::revoke(context, id),
    }
}
