//! One attempt at a script: starts it, tells it its request, listens to it, ends it, and says how it went. Knows nothing
//! of plans, retries and stores.
//!
//! Four things go on at once: the request is written, stdout is listened to, stderr is read, and the process is watched.
//! The attempt is over when the process has ended and both streams have; a descendant that holds a stream open is
//! killed after a short grace.

use std::pin::pin;

use artel_model::protocol::{Collector, End, ExitFacts, StopReason, ToolEvent, ToolRequest};
use artel_model::run::{AttemptOutcome, AttemptReport, ErrorKind, Fault, Retry, StepError};
use async_trait::async_trait;
use tokio::io::AsyncWriteExt;
use tokio::sync::watch;
use tokio::time::Duration;

use super::attempt_control::{AttemptControl, Stop};
use super::attempt_listen::{Listener, read_stderr};
use super::child::ProcessGroup;
use super::denial::explain_denial;
use super::exit::{Exit, ExitStatus};
use super::launcher::{Launcher, SpawnError, Started, Untold};
use super::output::Timer;
use super::request::{GroupSignal, Sandbox, SpawnRequest};
use super::wire::Stage;
use crate::asset::{AssetOrigin, AssetStore};

/// How long a descendant may hold a stream open after the script has ended.
const STREAM_GRACE: Duration = Duration::from_millis(100);

/// An attempt to make.
#[derive(Clone, Debug)]
pub struct AttemptRequest {
    /// The process.
    pub spawn: SpawnRequest,
    /// What the script is told.
    pub request: ToolRequest,
    /// Where the files it makes may lie.
    pub origin: AssetOrigin,
    /// Where they are kept.
    pub assets: AssetStore,
    /// Milliseconds between SIGTERM and SIGKILL for a script that violates the protocol.
    pub grace_ms: u64,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptEnd {
    /// The events that were not handed on before.
    pub events: Vec<ToolEvent>,
    /// How it went.
    pub report: AttemptReport,
}

/// Takes the events of an attempt while it runs. As long as it waits, the script's output is not read.
#[async_trait]
pub trait EventSink: Send {
    /// Takes the next events.
    async fn take(&mut self, events: Vec<ToolEvent>);
}

/// Runs a script once, from its start until nothing is left of it.
///
/// Events go to `sink` in batches; the last ones come with the end, so a short script costs one message. Dropping the
/// future kills the script.
pub async fn run_attempt(
    launcher: &Launcher,
    request: AttemptRequest,
    control: AttemptControl,
    sink: &mut dyn EventSink,
) -> AttemptEnd {
    if let Some(stop) = control.stop() {
        return AttemptEnd::without_process(stopped(stop.reason));
    }
    let sandbox = request.spawn.sandbox.clone();
    let started = launcher.spawn_told(request.spawn, request.request.to_bytes()).await;
    let (Started { stdout, stderr, group, .. }, untold) = match started {
        Ok(started) => started,
        Err(error) => return AttemptEnd::without_process(not_started(&error)),
    };
    let (cut, is_cut) = watch::channel(false);
    let listener = Listener::new(request.assets, request.origin);
    let mut listening = pin!(listener.listen(stdout, is_cut.clone(), sink));
    let mut noting = pin!(read_stderr(stderr, is_cut));
    let mut told = untold.is_none();
    let mut telling = pin!(tell(untold));
    let mut watch = Watch::new(group, control, request.grace_ms);
    let (mut listened, mut stderr) = (None, None);
    let exit = loop {
        if let (Some(exit), Some(_), Some(_)) = (watch.exit, &listened, &stderr) {
            break exit;
        }
        tokio::select! {
            biased;
            () = watch.next(&cut) => {}
            listener = &mut listening, if listened.is_none() => {
                if listener.is_over() {
                    watch.terminate();
                }
                listened = Some(listener);
            }
            text = &mut noting, if stderr.is_none() => stderr = Some(text),
            () = &mut telling, if !told => told = true,
        }
    };
    let stop = watch.release().await;
    let (listener, stderr) =
        (listened.expect("the loop waits for it"), stderr.expect("the loop waits for it"));
    listener.conclude(&exit, stop, stderr, &sandbox).await
}

/// Writes what is left of the request, then ends the script's input. A script may end without reading it.
async fn tell(untold: Option<Untold>) {
    if let Some(Untold { mut stdin, input }) = untold {
        let _ = stdin.write_all(&input).await;
    }
}

/// The process of an attempt, and what is to happen to it.
struct Watch {
    group: ProcessGroup,
    control: AttemptControl,
    /// How it ended.
    exit: Option<Exit>,
    /// Why it was told to end, if that came before its own end and before a violation.
    stop: Option<StopReason>,
    is_terminated: bool,
    is_paused: bool,
    /// When what is left of it is killed.
    kill: Timer,
    /// When its streams are cut off.
    cut: Timer,
    grace_ms: u64,
}

impl Watch {
    fn new(group: ProcessGroup, control: AttemptControl, grace_ms: u64) -> Self {
        Self {
            group,
            control,
            exit: None,
            stop: None,
            is_terminated: false,
            is_paused: false,
            kill: Timer::default(),
            cut: Timer::default(),
            grace_ms,
        }
    }

    /// Waits for whatever comes next, and acts on it. May be dropped while it waits.
    async fn next(&mut self, cut: &watch::Sender<bool>) {
        tokio::select! {
            biased;
            () = self.control.changed() => self.obey(),
            exit = self.group.exited(), if self.exit.is_none() => {
                self.exit = Some(exit);
                self.kill.clear();
                self.cut.set_earliest(STREAM_GRACE);
            }
            () = self.kill.wait() => self.group.signal(GroupSignal::Kill),
            () = self.cut.wait() => {
                self.group.signal(GroupSignal::Kill);
                // What the script wrote is in the pipes, and is still read.
                let _ = cut.send(true);
            }
        }
    }

    fn obey(&mut self) {
        if self.exit.is_some() {
            return;
        }
        if let Some(Stop { reason, grace_ms }) = self.control.stop() {
            if !self.is_terminated {
                self.stop = Some(reason);
            }
            return self.terminate_within(grace_ms);
        }
        let is_paused = self.control.is_paused();
        if is_paused != self.is_paused && !self.is_terminated {
            self.is_paused = is_paused;
            self.group.signal(if is_paused { GroupSignal::Stop } else { GroupSignal::Continue });
        }
    }

    /// Ends a script that is not listened to any more.
    fn terminate(&mut self) {
        if self.exit.is_none() {
            self.terminate_within(self.grace_ms);
        }
    }

    /// SIGTERM once, SIGKILL at the earliest moment that anybody asked for.
    fn terminate_within(&mut self, grace_ms: u64) {
        self.kill.set_earliest(Duration::from_millis(grace_ms));
        if !self.is_terminated {
            self.is_terminated = true;
            self.group.signal(GroupSignal::Terminate);
            // A process that stands still would not notice.
            self.group.signal(GroupSignal::Continue);
        }
    }

    /// Kills what is left, and says why the script was told to end.
    async fn release(self) -> Option<StopReason> {
        self.group.release().await;
        self.stop
    }
}

impl Listener {
    /// Says how the attempt went.
    async fn conclude(
        mut self,
        exit: &Exit,
        stop: Option<StopReason>,
        stderr: String,
        sandbox: &Sandbox,
    ) -> AttemptEnd {
        self.end(exit.is_success() && stop.is_none()).await;
        let explanation = self.explanation(exit, &stderr, sandbox);
        let end = match exit.status {
            ExitStatus::Code(code) => End::Code(code),
            ExitStatus::Signal(_) | ExitStatus::Lost => End::Otherwise(exit.status.to_string()),
        };
        let dropped_events = self.collector.dropped_events();
        let outcome = match (self.trouble.take(), stop) {
            (_, None) if exit.status == ExitStatus::Lost => lost(),
            (Some(error), None) => {
                AttemptOutcome::Failed { error, retry: Retry::Useful, fault: Fault::Elsewhere }
            }
            (Some(_) | None, stop) => {
                self.collector.finish(ExitFacts { end, stop, stderr: &stderr, explanation })
            }
        };
        let report = AttemptReport { outcome, assets: self.kept, stderr, dropped_events };
        AttemptEnd { events: self.batch.take(), report }
    }

    /// Says what probably made the script fail, when it was a limit or the sandbox.
    fn explanation(&self, exit: &Exit, stderr: &str, sandbox: &Sandbox) -> Option<String> {
        let profile = match sandbox {
            Sandbox::On(profile) => profile,
            Sandbox::Off => return exit.limit.map(|limit| limit.to_string()),
        };
        let words = self.collector.own_words();
        let told = [&[stderr], &words[..]].concat().join("\n");
        // A script that reports its failure in its own words may end with code 0.
        let is_failure = exit.is_success() && self.collector.says_it_failed();
        let status = if is_failure { ExitStatus::Code(1) } else { exit.status };
        explain_denial(&told, &Exit { status, ..*exit }, profile)
    }
}

impl AttemptEnd {
    fn without_process(outcome: AttemptOutcome) -> Self {
        let report = AttemptReport { outcome, assets: Vec::new(), stderr: String::new(), dropped_events: 0 };
        Self { events: Vec::new(), report }
    }
}

/// The launcher was killed, and the script with it: that says nothing about the script.
fn lost() -> AttemptOutcome {
    let message = "launcher lost: the process that starts scripts was killed while the step was running, so its end is \
                   not known";
    let error = StepError::new(ErrorKind::ToolExecutionFailed, message);
    AttemptOutcome::Failed { error, retry: Retry::Interrupted, fault: Fault::Elsewhere }
}

fn stopped(reason: StopReason) -> AttemptOutcome {
    let end = End::Otherwise("no start".to_owned());
    Collector::default().finish(ExitFacts { end, stop: Some(reason), stderr: "", explanation: None })
}

fn not_started(error: &SpawnError) -> AttemptOutcome {
    let mut message = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        message.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    let (retry, fault) = match error {
        SpawnError::SandboxUnavailable { hint, .. } => {
            message.push_str(&format!("; {hint}"));
            (Retry::Useless, Fault::Elsewhere)
        }
        SpawnError::TooLarge { .. } => (Retry::Useless, Fault::Elsewhere),
        SpawnError::Failed { stage, source, .. } => after(*stage, source),
        SpawnError::Pipes { .. } | SpawnError::NoLauncher { .. } => (Retry::Useful, Fault::Elsewhere),
        // It may have begun.
        SpawnError::LauncherLost { .. } => (Retry::Interrupted, Fault::Elsewhere),
    };
    AttemptOutcome::Failed { error: StepError::new(ErrorKind::SpawnFailed, message), retry, fault }
}

/// What is wrong with the file stays wrong, and is the skill's fault; what the machine lacks at the moment may be there
/// the next time.
fn after(stage: Stage, error: &std::io::Error) -> (Retry, Fault) {
    match (stage, error.raw_os_error()) {
        (Stage::Execute, Some(libc::EAGAIN | libc::ENOMEM | libc::ETXTBSY | libc::EMFILE | libc::ENFILE)) => {
            (Retry::Useful, Fault::Elsewhere)
        }
        (Stage::Execute, _) => (Retry::Useless, Fault::Skill),
        (Stage::Request | Stage::Landlock | Stage::Seccomp | Stage::User, _) => {
            (Retry::Useless, Fault::Elsewhere)
        }
        (Stage::Rules | Stage::Clone | Stage::Group | Stage::Cgroup | Stage::Streams | Stage::Folder, _)
        | (Stage::Limits | Stage::Privileges, _) => (Retry::Useful, Fault::Elsewhere),
    }
}
