//! Tools that do not end by themselves, or not alone: they are told to end, killed, paused, and cleaned up after.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::fmt::Write as _;
use std::fs;

use artel_engine::process::{AttemptEnd, AttemptHandle, EventSink, run_attempt};
use artel_model::protocol::{StopReason, ToolEvent};
use artel_model::run::{AttemptOutcome, Fault, Retry};
use async_trait::async_trait;
use insta::assert_snapshot;
use serde_json::json;
use tokio::sync::mpsc;

use crate::stage::Stage;
use crate::start::gone;

/// Hands everything on, and waits until it is taken.
struct Channel(mpsc::Sender<Vec<ToolEvent>>);

#[async_trait]
impl EventSink for Channel {
    async fn take(&mut self, events: Vec<ToolEvent>) {
        let _ = self.0.send(events).await;
    }
}

/// A running attempt that said it is ready, and the process number it gave.
struct Ready {
    end: tokio::task::JoinHandle<AttemptEnd>,
    handle: AttemptHandle,
    pid: i32,
}

impl Stage {
    /// Starts a script and waits until it is ready.
    async fn start(&self, script: &str) -> Ready {
        let request = self.request(script, json!({}));
        let (handle, control) = AttemptHandle::new();
        let (sender, mut events) = mpsc::channel(1);
        let launcher = self.launcher.clone();
        let run = async move { run_attempt(&launcher, request, control, &mut Channel(sender)).await };
        let end = tokio::spawn(run);
        let first = events.recv().await.expect("the script says that it is ready");
        let Some(ToolEvent::Log { fields: Some(fields), .. }) = first.first() else { panic!("{first:?}") };
        let pid = fields["pid"].as_i64().unwrap().try_into().unwrap();
        Ready { end, handle, pid }
    }

    /// Starts a script, ends it when it is ready, and shows how it went.
    async fn stop(&self, script: &str, reason: StopReason, grace_ms: u64) -> String {
        let ready = self.start(script).await;
        ready.handle.terminate(reason, grace_ms);
        let end = ready.end.await.unwrap();
        gone(ready.pid).await;
        format!("{script}: {}\n", self.in_words(&end))
    }
}

/// Waits until a process is in the state that `/proc` shows by this letter.
async fn is_in_state(pid: i32, letter: char) {
    loop {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        if stat.rsplit(')').next().unwrap().trim_start().starts_with(letter) {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_tool_that_is_told_to_end_ends() {
    let stage = Stage::new("tool-processes").await;
    let timeout = StopReason::Timeout { after_ms: 30_000 };
    let mut shown = stage.stop("sleeps.sh", timeout, 60_000).await;
    shown += &stage.stop("sleeps-in-a-line.sh", StopReason::Cancelled, 60_000).await;
    shown += &stage.stop("handles-term.sh", timeout, 60_000).await;
    shown += &stage.stop("ignores-term.sh", StopReason::Shutdown, 20).await;
    shown += &stage.stop("child-ignores-term.sh", timeout, 60_000).await;
    shown += &stage.stop("sleeps.sh", timeout, 0).await;
    assert_snapshot!(shown, @"
    sleeps.sh: Timeout, may be retried, exit code None: the script took longer than 30000 ms
    sleeps-in-a-line.sh: Cancelled, is not retried, exit code None: the script was cancelled
    handles-term.sh: Timeout, may be retried, exit code None: the script took longer than 30000 ms
    ignores-term.sh: Cancelled, may be retried, exit code None: the script was ended because artel is shutting down
    child-ignores-term.sh: Timeout, may be retried, exit code None: the script took longer than 30000 ms
    sleeps.sh: Timeout, may be retried, exit code None: the script took longer than 30000 ms
    ");
}

#[tokio::test]
async fn an_attempt_that_ends_with_the_launcher_is_interrupted_and_the_next_one_runs() {
    let stage = Stage::new("tool-processes").await;
    let ready = stage.start("sleeps.sh").await;
    let stat = fs::read_to_string(format!("/proc/{}/stat", ready.pid)).unwrap();
    let launcher: i32 = stat.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap();
    let launcher = rustix::process::Pid::from_raw(launcher).unwrap();
    rustix::process::kill_process(launcher, rustix::process::Signal::KILL).unwrap();
    let end = ready.end.await.unwrap();
    let AttemptOutcome::Failed { error, retry, fault } = end.report.outcome else {
        panic!("it cannot complete")
    };
    assert_eq!((retry, fault), (Retry::Interrupted, Fault::Elsewhere));
    assert!(error.message.starts_with("launcher lost: "), "{error}");
    let shown = stage.stop("sleeps.sh", StopReason::Cancelled, 60_000).await;
    assert!(shown.contains("Cancelled"), "{shown}");
}

#[tokio::test]
async fn asked_twice_the_first_reason_and_the_shorter_grace_count() {
    let stage = Stage::new("tool-processes").await;
    let ready = stage.start("ignores-term.sh").await;
    ready.handle.terminate(StopReason::Timeout { after_ms: 7 }, 60_000);
    ready.handle.terminate(StopReason::Cancelled, 0);
    let end = ready.end.await.unwrap();
    assert_snapshot!(stage.in_words(&end), @"Timeout, may be retried, exit code None: the script took longer than 7 ms");
}

#[tokio::test]
async fn a_violation_ends_a_tool_that_does_not_want_to_end() {
    let stage = Stage::new("tool-processes").await;
    let mut request = stage.request("violates-and-ignores-term.sh", json!({}));
    request.grace_ms = 20;
    let (_, end) = stage.run(request).await;
    assert_snapshot!(stage.in_words(&end), @"ProtocolViolation, is not retried, exit code None: line 1 is not JSON: expected value (column 1): oops");
}

#[tokio::test]
async fn what_a_tool_leaves_behind_does_not_delay_it() {
    let stage = Stage::new("tool-processes").await;
    let mut shown = String::new();
    for script in
        ["child-holds-stdout.sh", "child-writes-on.sh", "daemon.py", "exits-early.sh", "count.sh", "count.sh"]
    {
        let (events, mut end) = stage.run(stage.request(script, json!({}))).await;
        // How often the child could write is chance.
        assert!(end.report.dropped_events == 0 || script == "child-writes-on.sh");
        end.report.dropped_events = 0;
        writeln!(shown, "{script}: {} events, {}", events.len(), stage.in_words(&end)).unwrap();
    }
    assert_snapshot!(shown, @r#"
    child-holds-stdout.sh: 1 events, completed {}
    child-writes-on.sh: 1 events, completed {}
    daemon.py: 1 events, completed {}
    exits-early.sh: 0 events, ProtocolViolation, is not retried, exit code Some(0): the script ended without a `done` event
    count.sh: 1 events, completed {"runs":1}
    count.sh: 1 events, completed {"runs":2}
    "#);
}

#[tokio::test]
async fn a_paused_tool_stands_still_and_can_still_be_ended() {
    let stage = Stage::new("tool-processes").await;
    let ready = stage.start("sleeps.sh").await;
    ready.handle.pause();
    is_in_state(ready.pid, 'T').await;
    ready.handle.resume();
    is_in_state(ready.pid, 'S').await;
    ready.handle.pause();
    is_in_state(ready.pid, 'T').await;
    ready.handle.terminate(StopReason::Cancelled, 60_000);
    let end = ready.end.await.unwrap();
    assert_snapshot!(stage.in_words(&end), @"Cancelled, is not retried, exit code None: the script was cancelled");
}

#[tokio::test]
async fn dropping_the_handle_or_the_attempt_kills_the_tool() {
    let stage = Stage::new("tool-processes").await;
    let ready = stage.start("ignores-term.sh").await;
    drop(ready.handle);
    assert_snapshot!(stage.in_words(&ready.end.await.unwrap()), @"Cancelled, is not retried, exit code None: the script was cancelled");
    gone(ready.pid).await;
    let ready = stage.start("ignores-term.sh").await;
    ready.end.abort();
    assert!(ready.end.await.unwrap_err().is_cancelled());
    gone(ready.pid).await;
}

#[tokio::test]
async fn a_slow_sink_slows_the_tool_and_not_more() {
    let stage = Stage::new("tool-violations").await;
    let request = stage.request("much-output.sh", json!({}));
    let (handle, control) = AttemptHandle::new();
    let (sender, mut events) = mpsc::channel(1);
    let launcher = stage.launcher.clone();
    let attempt =
        tokio::spawn(async move { run_attempt(&launcher, request, control, &mut Channel(sender)).await });
    let batch = events.recv().await.unwrap();
    let bytes: usize = batch.iter().map(|event| json!(event).to_string().len()).sum();
    assert!(bytes < 200_000, "a batch of {bytes} bytes");
    // Nobody takes the next batches, and the tool can be ended all the same.
    handle.terminate(StopReason::Cancelled, 60_000);
    let mut taken = 1;
    while events.recv().await.is_some() {
        taken += 1;
    }
    let end = attempt.await.unwrap();
    assert!(taken < 100, "{taken} batches were read ahead");
    assert_snapshot!(stage.in_words(&end), @"Cancelled, is not retried, exit code None: the script was cancelled");
}
