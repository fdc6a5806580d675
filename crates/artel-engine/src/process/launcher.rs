//! artel's side of the launcher: a handle that starts processes. Knows nothing of what they are for.

use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use camino::Utf8PathBuf;
use thiserror::Error;
use tokio::net::unix::pipe;
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::cgroup::CgroupChoice;
use super::child::{ChildProcess, ProcessGroup};
use super::orphans::ProcessMark;
use super::owner::{Command, NotSpawned, Owner};
use super::report::{Layer, SandboxReport};
use super::request::{Sandbox, SpawnRequest, Strictness};
use super::serve::{LAUNCHER_ARGUMENT, MARK_PREFIX};
use super::wire::{MESSAGE_BYTES_MAX, Stage};
use crate::clock::moment;
use crate::metrics::ProcessMeters;

/// Processes that may be on their way into life at once; further ones wait. Each has three descriptors in the socket.
const SPAWNS_IN_FLIGHT_MAX: usize = 64;
/// Bytes that an empty pipe takes at once on every Linux.
const PIPE_BYTES_MIN: usize = 4096;

/// How to start a launcher.
#[derive(Debug)]
pub struct LauncherConfig {
    /// The program that becomes the launcher.
    pub program: LauncherProgram,
    /// A descriptor that stays open until both artel and the launcher are gone, such as that of a locked file.
    pub guard: Option<OwnedFd>,
}

/// A program whose `main` begins with `run_launcher_if_asked`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LauncherProgram {
    /// The file.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Starts processes. Clones are the same launcher; when all of them and their processes are dropped, it ends.
#[derive(Clone, Debug)]
pub struct Launcher {
    commands: mpsc::UnboundedSender<Command>,
    in_flight: Arc<Semaphore>,
    report: Arc<SandboxReport>,
    meters: Arc<ProcessMeters>,
}

/// Why there is no launcher.
#[derive(Debug, Error)]
pub enum LauncherError {
    /// Its program cannot be started.
    #[error("cannot start the launcher `{}`", path.display())]
    Start {
        /// The program.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It was started and did not answer.
    #[error("the launcher `{}` ended before it was ready", path.display())]
    NotReady {
        /// The program.
        path: PathBuf,
    },
}

/// Why a process was not started.
#[derive(Debug, Error)]
pub enum SpawnError {
    /// The machine lacks a part of the sandbox that the request insists on.
    #[error("this machine cannot run `{program}` in the sandbox: {} missing", list(missing))]
    SandboxUnavailable {
        /// The program.
        program: Utf8PathBuf,
        /// What is missing.
        missing: Vec<Layer>,
        /// What can be done about it.
        hint: &'static str,
    },
    /// Arguments and environment are too large.
    #[error("arguments and environment of `{program}` have {bytes} bytes, {bytes_max} is the limit")]
    TooLarge {
        /// The program.
        program: Utf8PathBuf,
        /// Their size.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// There are no descriptors left for its pipes.
    #[error("cannot make pipes for `{program}`")]
    Pipes {
        /// The program.
        program: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It failed on the way to its program.
    #[error("cannot start `{program}`: {}", told(*stage, source))]
    Failed {
        /// The program.
        program: Utf8PathBuf,
        /// Where.
        stage: Stage,
        /// What the system said.
        source: io::Error,
    },
    /// The launcher could not be started again after it was killed.
    #[error("cannot start `{program}` without a launcher")]
    NoLauncher {
        /// The program.
        program: Utf8PathBuf,
        /// Why there is none.
        source: LauncherError,
    },
    /// The launcher was killed while it was starting the process.
    #[error("the launcher was killed while it was starting `{program}`")]
    LauncherLost {
        /// The program.
        program: Utf8PathBuf,
    },
}

/// What to do where landlock or seccomp is missing.
const SANDBOX_HINT: &str = "run on Linux 5.13 or later with landlock and seccomp, or set `sandbox = \"best-effort\"` \
                            to run with what there is";

impl LauncherProgram {
    /// Returns the running program itself, whatever its file is called or whether it is still there.
    pub fn this_program() -> Self {
        Self { path: PathBuf::from("/proc/self/exe"), arguments: vec![LAUNCHER_ARGUMENT.to_owned()] }
    }

    /// Returns another program that can be a launcher.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), arguments: vec![LAUNCHER_ARGUMENT.to_owned()] }
    }

    /// Returns the same program with another part of the tree of control groups.
    #[must_use]
    pub fn with_cgroup(mut self, choice: &CgroupChoice) -> Self {
        self.arguments.push(choice.to_string());
        self
    }

    /// Returns the same program, whose processes carry a mark.
    #[must_use]
    pub fn with_mark(mut self, mark: ProcessMark) -> Self {
        self.arguments.push(format!("{MARK_PREFIX}{}", mark.value()));
        self
    }
}

impl Launcher {
    /// Starts a launcher and waits until it is ready.
    pub async fn start(config: LauncherConfig) -> Result<Self, LauncherError> {
        // Made before anything is awaited: they belong to who starts the launcher.
        let meters = ProcessMeters::new();
        let (commands, receiver) = mpsc::unbounded_channel();
        let (owner, report) = Owner::begin(config, receiver).await?;
        tokio::spawn(owner.run());
        Ok(Self {
            commands,
            in_flight: Arc::new(Semaphore::new(SPAWNS_IN_FLIGHT_MAX)),
            report: Arc::new(report),
            meters: Arc::new(meters),
        })
    }

    /// Starts a process in a group of its own, with pipes to its standard streams. A launcher that was killed is
    /// replaced first.
    pub async fn spawn(&self, request: SpawnRequest) -> Result<ChildProcess, SpawnError> {
        let program = request.program.clone();
        let no_pipe = |source| SpawnError::Pipes { program: program.clone(), source };
        let (theirs, ours) = io::pipe().map_err(no_pipe)?;
        let stdin = pipe::Sender::from_owned_fd(ours.into()).map_err(no_pipe)?;
        let Started { pid, stdout, stderr, group } = self.launch(request, theirs.into()).await?;
        Ok(ChildProcess { pid, stdin, stdout, stderr, group })
    }

    /// Starts a process as [`Launcher::spawn`] does, whose whole standard input is known.
    pub(super) async fn spawn_told(
        &self,
        request: SpawnRequest,
        input: Vec<u8>,
    ) -> Result<(Started, Option<Untold>), SpawnError> {
        let program = &request.program;
        let told = tell(input).map_err(|source| SpawnError::Pipes { program: program.clone(), source });
        let (stdin, untold) = told?;
        Ok((self.launch(request, stdin).await?, untold))
    }

    async fn launch(&self, request: SpawnRequest, stdin: OwnedFd) -> Result<Started, SpawnError> {
        let launched = self.try_launch(request, stdin).await;
        if launched.is_err() {
            self.meters.refused();
        }
        launched
    }

    async fn try_launch(&self, request: SpawnRequest, stdin: OwnedFd) -> Result<Started, SpawnError> {
        self.refuse_unsafe(&request)?;
        let _permit = self.in_flight.acquire().await.expect("the semaphore is never closed");
        let since = moment();
        let program = request.program.clone();
        let ([stdout, stderr], ours) =
            pipes().map_err(|source| SpawnError::Pipes { program: program.clone(), source })?;
        let streams = [stdin, stdout, stderr];
        let (reply, answer) = oneshot::channel();
        let (exit, exited) = oneshot::channel();
        // The owner only ends when every sender is gone, and this is one.
        let _ = self.commands.send(Command::Spawn { request: Box::new(request), streams, reply, exit });
        match answer.await {
            Ok(Ok(spawned)) => {
                let alive = self.meters.started(since);
                let group = ProcessGroup::new(spawned.id, self.commands.clone(), exited, alive);
                Ok(Started { pid: spawned.pid, stdout: ours.0, stderr: ours.1, group })
            }
            Ok(Err(reason)) => Err(error(program, reason)),
            Err(_) => Err(SpawnError::LauncherLost { program }),
        }
    }

    /// Returns what the sandbox can do on this machine.
    pub fn report(&self) -> &SandboxReport {
        &self.report
    }

    fn refuse_unsafe(&self, request: &SpawnRequest) -> Result<(), SpawnError> {
        let enforced = match &request.sandbox {
            Sandbox::Off => false,
            Sandbox::On(profile) => profile.strictness == Strictness::Enforce,
        };
        let missing = self.report.missing();
        if !enforced || missing.is_empty() {
            return Ok(());
        }
        Err(SpawnError::SandboxUnavailable { program: request.program.clone(), missing, hint: SANDBOX_HINT })
    }
}

/// A process that runs, without its standard input.
pub(super) struct Started {
    pub(super) pid: i32,
    pub(super) stdout: pipe::Receiver,
    pub(super) stderr: pipe::Receiver,
    pub(super) group: ProcessGroup,
}

/// Input that does not fit into an empty pipe, and the pipe.
pub(super) struct Untold {
    pub(super) stdin: pipe::Sender,
    pub(super) input: Vec<u8>,
}

/// Returns a pipe to read from that holds the input; what is short is in it before anybody reads, so that a process finds
/// all of its input and its end, and nobody has to wait for it.
fn tell(input: Vec<u8>) -> io::Result<(OwnedFd, Option<Untold>)> {
    let (theirs, mut ours) = io::pipe()?;
    if input.len() <= PIPE_BYTES_MIN {
        ours.write_all(&input)?;
        return Ok((theirs.into(), None));
    }
    let stdin = pipe::Sender::from_owned_fd(ours.into())?;
    Ok((theirs.into(), Some(Untold { stdin, input })))
}

/// Makes the pipes for what a process writes: its ends of standard output and error, and ours.
fn pipes() -> io::Result<([OwnedFd; 2], (pipe::Receiver, pipe::Receiver))> {
    let (from_stdout, stdout) = io::pipe()?;
    let (from_stderr, stderr) = io::pipe()?;
    let ours = (
        pipe::Receiver::from_owned_fd(from_stdout.into())?,
        pipe::Receiver::from_owned_fd(from_stderr.into())?,
    );
    Ok(([stdout.into(), stderr.into()], ours))
}

fn error(program: Utf8PathBuf, reason: NotSpawned) -> SpawnError {
    match reason {
        NotSpawned::TooLarge { bytes } => {
            SpawnError::TooLarge { program, bytes, bytes_max: MESSAGE_BYTES_MAX }
        }
        NotSpawned::Failed { stage, errno } => {
            SpawnError::Failed { program, stage, source: io::Error::from_raw_os_error(errno) }
        }
        NotSpawned::NoLauncher(source) => SpawnError::NoLauncher { program, source },
        NotSpawned::LauncherLost => SpawnError::LauncherLost { program },
    }
}

/// Says what went wrong in words; the system's own text is the error's source.
fn told(stage: Stage, error: &io::Error) -> &'static str {
    match (stage, error.raw_os_error()) {
        (Stage::Execute, Some(libc::ENOENT)) => {
            "there is no such file, or the interpreter in its first line is missing"
        }
        (Stage::Execute, Some(libc::EACCES)) => {
            "it is not executable, or lies in a folder that the sandbox does not execute from"
        }
        (Stage::Execute, Some(libc::ENOEXEC)) => "it is no program for this machine and has no `#!` line",
        (Stage::Execute, Some(libc::E2BIG)) => "its arguments and environment are too large for the system",
        (Stage::Execute, _) => "it cannot be executed",
        (Stage::Folder, _) => "its working folder cannot be entered",
        (Stage::Request, Some(libc::EBADF)) => "the launcher has no descriptors left for its streams",
        (Stage::Request, _) => "an argument or variable holds a NUL byte",
        (Stage::Rules | Stage::Landlock, _) => "its files cannot be restricted",
        (Stage::Seccomp, _) => "its system calls cannot be restricted",
        (Stage::Clone, _) => "no process can be made",
        (Stage::User, Some(libc::EINVAL)) => "only a process in the sandbox can run as another user",
        (Stage::User, _) => "it cannot run as another user",
        (Stage::Group | Stage::Cgroup | Stage::Streams | Stage::Limits | Stage::Privileges, _) => {
            "it cannot be prepared"
        }
    }
}

fn list(layers: &[Layer]) -> String {
    layers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}
