//! A planner that is a program of the operator: the request on its standard input, a plan on its standard output.
//!
//! The program is trusted as the operator is, so it runs without a sandbox, but in a group of its own, with limits, and
//! not beyond the deadline.

use std::pin::pin;
use std::str::Utf8Error;

use artel_model::limit::PLAN_BYTES_MAX;
use artel_model::plan::PlanDocument;
use async_trait::async_trait;
use camino::Utf8PathBuf;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::time::{Duration, Instant, sleep_until, timeout_at};

use super::ask::{Planned, PlannedBy, Planner, PlanningRequest};
use super::clock;
use super::command_request::CommandRequest;
use super::error::PlanningError;
use super::stamp::stamped;
use crate::process::{
    ChildProcess, Exit, GroupSignal, Launcher, ProcessGroup, ProcessLimits, RunAs, Sandbox, SpawnRequest,
};

/// Bytes of stderr that an error quotes; the last ones.
const STDERR_BYTES_MAX: usize = 4 * 1024;
/// Bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;
/// How long a descendant may hold a stream open after the program has ended.
const STREAM_GRACE_MS: u64 = 100;

/// Which program plans, and with what.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CommandConfig {
    /// The file to execute; it is not looked up in `PATH`.
    pub program: Utf8PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The folder that it starts in.
    pub cwd: Utf8PathBuf,
    /// Its whole environment.
    pub environment: Vec<(String, String)>,
    /// How much it may use.
    pub limits: ProcessLimits,
    /// Milliseconds that one plan may take.
    pub deadline_ms: u64,
}

/// Asks a program for plans.
#[derive(Clone, Debug)]
pub struct CommandPlanner {
    launcher: Launcher,
    config: CommandConfig,
}

/// What a program wrote, and how it ended.
struct Spoken {
    exit: Exit,
    stdout: Result<Vec<u8>, TooMuch>,
    stderr: String,
}

/// More than a plan may have.
struct TooMuch;

impl CommandPlanner {
    /// Makes a planner that runs a program through a launcher.
    pub fn new(launcher: Launcher, config: CommandConfig) -> Self {
        Self { launcher, config }
    }

    async fn ask(&self, ask: &PlanningRequest) -> Result<PlanDocument, PlanningError> {
        let request = CommandRequest::new(ask).to_bytes();
        let program = || self.config.program.clone();
        let child = self.launcher.spawn(self.spawn_request()).await;
        let child =
            child.map_err(|source| PlanningError::Start { program: program(), source: Box::new(source) })?;
        let Spoken { exit, stdout, stderr } = talk(child, request).await;
        let Ok(stdout) = stdout else {
            return Err(PlanningError::TooLarge { program: program(), bytes_max: PLAN_BYTES_MAX });
        };
        if !exit.is_success() {
            let end = exit
                .limit
                .map_or_else(|| exit.status.to_string(), |limit| format!("{}: {limit}", exit.status));
            return Err(PlanningError::Failed { program: program(), end, stderr });
        }
        stamped(parse(&stdout)?, ask)
    }

    fn spawn_request(&self) -> SpawnRequest {
        SpawnRequest {
            program: self.config.program.clone(),
            arguments: self.config.arguments.clone(),
            cwd: self.config.cwd.clone(),
            environment: self.config.environment.clone(),
            run_as: RunAs::Artel,
            sandbox: Sandbox::Off,
            limits: self.config.limits,
        }
    }
}

#[async_trait]
impl Planner for CommandPlanner {
    /// Dropping the conversation kills the program and all that it started.
    async fn plan(&self, ask: &PlanningRequest) -> Result<Planned, PlanningError> {
        let deadline = ask.deadline.min(clock::from_now(self.config.deadline_ms));
        let ask = PlanningRequest { deadline, ..ask.clone() };
        let document = timeout_at(deadline, self.ask(&ask)).await.map_err(|_| PlanningError::Deadline)??;
        Ok(Planned { document, by: PlannedBy::Command, notes: Vec::new() })
    }
}

fn parse(stdout: &[u8]) -> Result<Value, PlanningError> {
    if stdout.trim_ascii().is_empty() {
        return Err(PlanningError::NotJson { what: "it is empty".to_owned() });
    }
    if let Some(byte) = std::str::from_utf8(stdout).err().and_then(cut_at) {
        let what = format!("it ends in the middle of a character, at byte {byte}");
        return Err(PlanningError::NotJson { what });
    }
    serde_json::from_slice(stdout).map_err(|error| PlanningError::NotJson { what: error.to_string() })
}

/// Returns where the last character begins, when it was cut off.
fn cut_at(error: Utf8Error) -> Option<usize> {
    error.error_len().is_none().then(|| error.valid_up_to())
}

/// Tells a program its request and hears it out. What it leaves running is killed.
async fn talk(child: ChildProcess, request: Vec<u8>) -> Spoken {
    let ChildProcess { stdin, stdout, stderr, mut group, .. } = child;
    let mut telling = pin!(tell(stdin, request));
    let mut hearing = pin!(read_capped(stdout));
    let mut noting = pin!(read_tail(stderr));
    let (mut is_told, mut exit, mut heard, mut noted) = (false, None, None, None);
    let mut patience: Option<Instant> = None;
    loop {
        if let (Some(exit), true, true) = (exit, heard.is_some(), noted.is_some()) {
            group.release().await;
            let stdout = heard.unwrap_or(Err(TooMuch));
            return Spoken { exit, stdout, stderr: noted.unwrap_or_default() };
        }
        tokio::select! {
            ended = group.exited(), if exit.is_none() => {
                exit = Some(ended);
                patience = Some(clock::from_now(STREAM_GRACE_MS));
            }
            result = &mut hearing, if heard.is_none() => {
                if result.is_err() {
                    group.signal(GroupSignal::Kill);
                }
                heard = Some(result);
            }
            text = &mut noting, if noted.is_none() => noted = Some(text),
            () = &mut telling, if !is_told => is_told = true,
            () = until(patience) => end(&group, &mut patience),
        }
    }
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// A descendant that holds a stream open is killed, again and again until the stream has ended.
fn end(group: &ProcessGroup, patience: &mut Option<Instant>) {
    group.signal(GroupSignal::Kill);
    *patience = patience.map(|moment| moment + Duration::from_millis(STREAM_GRACE_MS));
}

/// A program may end without reading its request.
async fn tell(mut stdin: pipe::Sender, request: Vec<u8>) {
    let _ = stdin.write_all(&request).await;
}

async fn read_capped(mut stdout: pipe::Receiver) -> Result<Vec<u8>, TooMuch> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; READ_BYTES];
    // An error means that nothing more can be read, as the end does.
    while let Ok(count @ 1..) = stdout.read(&mut buffer).await {
        bytes.extend_from_slice(&buffer[..count]);
        if bytes.len() > PLAN_BYTES_MAX {
            return Err(TooMuch);
        }
    }
    Ok(bytes)
}

async fn read_tail(mut stderr: pipe::Receiver) -> String {
    let mut bytes: Vec<u8> = Vec::new();
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        bytes.extend_from_slice(&buffer[..count]);
        bytes.drain(..bytes.len().saturating_sub(STDERR_BYTES_MAX));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
