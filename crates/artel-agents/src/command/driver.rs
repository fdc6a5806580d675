//! Lets an agent be a program of somebody else.

use std::error::Error;
use std::sync::Arc;

use artel_engine::process::{ChildProcess, Launcher, LauncherConfig, LauncherProgram, RunAs, SpawnRequest};
use artel_model::agent::{AgentRecord, AgentSpec, SpawnError, WorkEnd};
use artel_model::id::AgentId;
use artel_model::name::SkillName;
use async_trait::async_trait;

use super::answer::work_end;
use super::config::{AfterWork, CommandDriverConfig};
use super::environment::variables;
use super::folder::{Contents, FolderError, Folders, clear_leftovers};
use super::permissions::Permissions;
use super::program::Program;
use super::rules::EffectiveRules;
use super::sandbox::sandbox;
use super::template::Filling;
use super::user;
use super::watch::{Orders, attend};
use crate::agent_tools::AgentTools;
use crate::driver::{Job, WorkDriver};
use crate::work::failed;

/// Starts programs of others for agents, each through a launcher of its own.
///
/// A program runs in the same sandbox as scripts do, with its own folders, within limits, and not beyond its deadline. Where
/// the operator switched the sandbox off a process can leave its group; a launcher that started nothing else still knows
/// whose it is.
#[derive(Clone)]
pub struct CommandDriver {
    launcher: LauncherProgram,
    config: Arc<CommandDriverConfig>,
}

/// A program that is ready to be started.
struct Ready {
    request: SpawnRequest,
    input: Vec<u8>,
    folders: Folders,
}

impl CommandDriver {
    /// Makes a driver that starts programs through launchers.
    pub fn new(launcher: LauncherProgram, config: CommandDriverConfig) -> Self {
        Self { launcher, config: Arc::new(config) }
    }

    async fn start(&self, request: SpawnRequest) -> Result<ChildProcess, String> {
        // A launcher kills all that it started when its socket closes, however artel ended, and no other process holds the
        // socket open. A guard would only tell others that it is not done with that yet; nobody waits for it, as every piece
        // of work has a fresh folder.
        let config = LauncherConfig { program: self.launcher.clone(), guard: None };
        let launcher = Launcher::start(config).await.map_err(|error| chain(&error))?;
        launcher.spawn(request).await.map_err(|error| chain(&error))
    }

    /// Makes all that the program needs. Reading and writing files may take its time, so it has a thread of its own.
    async fn ready(&self, agent_tools: &AgentTools) -> Result<(Program, Ready), String> {
        let (config, shelf, record) = (self.config.clone(), agent_tools.shelf(), agent_tools.agent().clone());
        let making = tokio::task::spawn_blocking(move || {
            let program = Program::find(&config, &record.spec).map_err(|error| error.message)?;
            let skills: Vec<SkillName> = record.spec.skills.clone().unwrap_or_default();
            let permissions = (program.preset.permissions)(&EffectiveRules::of(&record.spec.policy), &skills);
            let contents = Contents {
                shelf: &shelf,
                skills: &skills,
                skills_folder: program.preset.skills,
                target: program.preset.target,
                files: &permissions.files,
            };
            let made = Folders::make(&config.work_root, record.agent_id, &contents);
            let folders = made.map_err(|error: FolderError| chain(&error))?;
            let run_as = user::run_as(&config, record.agent_id, folders.root()).inspect_err(|_| {
                folders.clear(AfterWork::Remove);
            })?;
            let ready = ready(&config, &program, &record, &permissions, folders, run_as);
            Ok((program, ready))
        });
        making.await.map_err(|_| "its folder could not be made".to_owned())?
    }
}

#[async_trait]
impl WorkDriver for CommandDriver {
    fn check(&self, spec: &AgentSpec) -> Result<(), SpawnError> {
        Program::find(&self.config, spec).map(|_| ())
    }

    async fn work(&self, job: Job) -> WorkEnd {
        let Job { agent_tools, mut control, deadline, .. } = job;
        if !control.may_go_on().await {
            return failed("it was told to end before it began");
        }
        let (program, Ready { request, input, folders }) = match self.ready(&agent_tools).await {
            Ok(ready) => ready,
            Err(why) => return failed(why),
        };
        let mut end = match self.start(request).await {
            Err(why) => failed(why),
            Ok(child) => {
                let orders =
                    Orders { input, control: &mut control, deadline, grace_ms: self.config.grace_ms };
                let ended = attend(child, &agent_tools, orders).await;
                let name = program.file.file_name().unwrap_or_default();
                work_end(name, program.preset.answer, &ended, deadline.as_millis())
            }
        };
        let (config, agent) = (self.config.clone(), agent_tools.agent().agent_id);
        let clearing = tokio::task::spawn_blocking(move || {
            let owner = user::owner(&config.work_root, agent);
            let kept = folders.clear(config.after);
            user::free(&config, agent, owner);
            kept
        });
        if let Ok(Some(work)) = clearing.await {
            end.results.insert("work".to_owned(), work.into_string().into());
        }
        end
    }

    fn clear(&self, agent: AgentId) {
        let owner = user::owner(&self.config.work_root, agent);
        clear_leftovers(&self.config.work_root, agent, self.config.after);
        user::free(&self.config, agent, owner);
    }
}

fn ready(
    config: &CommandDriverConfig,
    program: &Program,
    record: &AgentRecord,
    permissions: &Permissions,
    folders: Folders,
    run_as: RunAs,
) -> Ready {
    let (work, task) = (folders.work(), record.spec.task.clone().unwrap_or_default());
    let skills = work.join(program.preset.skills);
    let filling = Filling {
        task: &task,
        model: record.spec.model.as_deref().unwrap_or_default(),
        work: work.as_str(),
        skills: skills.as_str(),
    };
    let request = SpawnRequest {
        program: program.file.clone(),
        arguments: program.arguments(filling, &permissions.arguments),
        cwd: work.clone(),
        environment: variables(config, program.preset, &folders, record),
        run_as,
        sandbox: sandbox(config, program, &folders),
        limits: config.limits,
    };
    let input = if program.reads_task() { task.into_bytes() } else { Vec::new() };
    Ready { request, input, folders }
}

/// Writes an error and its causes on one line.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
