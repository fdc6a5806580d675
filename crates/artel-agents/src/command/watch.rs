//! A program from its start to its end: its task goes in, its output comes out, it is told what its agent is told, and nothing
//! of it is left. Knows nothing of what it is for.

use std::pin::pin;
use std::time::Duration;

use artel_engine::process::{ChildProcess, Exit, GroupSignal, ProcessGroup};
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe;
use tokio::time::{Instant, sleep_until, timeout};

use super::output::{Output, listen};
use crate::agent_tools::AgentTools;
use crate::clock::{from_now, now};
use crate::driver::{Control, DriverSignal};

/// How long a descendant may hold a stream open after the program has ended, before it is killed.
const STREAM_GRACE: Duration = Duration::from_millis(100);
/// How long what was written may take into the record after all processes are gone.
const STREAM_CUT: Duration = Duration::from_secs(10);
/// Milliseconds between two times that a program is killed which does not go.
const KILL_AGAIN_MS: u64 = 100;

/// What a program is told while it runs.
pub(super) struct Orders<'a> {
    /// What it reads from its standard input.
    pub(super) input: Vec<u8>,
    /// What its agent is told.
    pub(super) control: &'a mut Control,
    /// How long it may take, while it does not stand still.
    pub(super) deadline: Duration,
    /// Milliseconds between SIGTERM and SIGKILL.
    pub(super) grace_ms: u64,
}

/// A program that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) exit: Exit,
    pub(super) stopped: Option<Stopped>,
    pub(super) output: Output,
}

/// Why a program was made to end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stopped {
    /// It took too long.
    TimedOut,
    /// Its agent was told to end.
    Told,
}

/// Where a program stands.
#[derive(Clone, Copy, Debug)]
enum Phase {
    Going { until: Instant },
    Still { left: Duration },
    Ending { kill: Instant },
}

struct Watch {
    phase: Phase,
    stopped: Option<Stopped>,
    grace_ms: u64,
}

/// Attends to a program until it and all that it started are gone.
pub(super) async fn attend(child: ChildProcess, agent_tools: &AgentTools, orders: Orders<'_>) -> Ended {
    let ChildProcess { stdin, stdout, stderr, mut group, .. } = child;
    let Orders { input, control, deadline, grace_ms } = orders;
    let mut output = Output::default();
    let mut watch = Watch { phase: Phase::Going { until: now() + deadline }, stopped: None, grace_ms };
    let exit = {
        let mut listening = pin!(listen(agent_tools, stdout, stderr, &mut output));
        let mut telling = pin!(tell(stdin, input));
        let (mut is_told, mut is_heard) = (false, false);
        let exit = loop {
            tokio::select! {
                exit = group.exited() => break exit,
                () = &mut listening, if !is_heard => is_heard = true,
                () = &mut telling, if !is_told => is_told = true,
                signal = control.changed(), if watch.can_be_told() => send_signals(&group, watch.heed(signal)),
                () = watch.due() => send_signals(&group, watch.act()),
            }
        };
        if !is_heard {
            is_heard = timeout(STREAM_GRACE, &mut listening).await.is_ok();
        }
        // What holds a stream open is killed with the group, so that the streams end.
        let hearing_out = async {
            if !is_heard {
                let _ = timeout(STREAM_CUT, listening).await;
            }
        };
        tokio::join!(group.release(), hearing_out);
        exit
    };
    Ended { exit, stopped: watch.stopped, output }
}

/// A program may end without reading its task.
async fn tell(mut stdin: pipe::Sender, input: Vec<u8>) {
    let _ = stdin.write_all(&input).await;
}

impl Watch {
    fn can_be_told(&self) -> bool {
        match self.phase {
            Phase::Going { .. } | Phase::Still { .. } => true,
            Phase::Ending { .. } => false,
        }
    }

    /// Takes note of what the agent is told, and returns what to signal.
    fn heed(&mut self, signal: DriverSignal) -> &'static [GroupSignal] {
        match (signal, self.phase) {
            (DriverSignal::End, _) => self.end(Stopped::Told),
            (DriverSignal::Pause, Phase::Going { until }) => {
                self.phase = Phase::Still { left: until.saturating_duration_since(now()) };
                &[GroupSignal::Stop]
            }
            (DriverSignal::Go, Phase::Still { left }) => {
                self.phase = Phase::Going { until: now() + left };
                &[GroupSignal::Continue]
            }
            (DriverSignal::Pause | DriverSignal::Go, _) => &[],
        }
    }

    fn end(&mut self, why: Stopped) -> &'static [GroupSignal] {
        self.stopped = Some(why);
        self.phase = Phase::Ending { kill: from_now(self.grace_ms) };
        // A process that stands still would not notice.
        &[GroupSignal::Terminate, GroupSignal::Continue]
    }

    /// Waits until something is due.
    async fn due(&self) {
        match self.phase {
            Phase::Going { until: moment } | Phase::Ending { kill: moment } => sleep_until(moment).await,
            Phase::Still { .. } => std::future::pending().await,
        }
    }

    /// Takes note that something is due, and returns what to signal. What does not go is killed again and again, because it
    /// may have started something meanwhile.
    fn act(&mut self) -> &'static [GroupSignal] {
        match self.phase {
            Phase::Going { .. } => self.end(Stopped::TimedOut),
            Phase::Still { .. } => &[],
            Phase::Ending { .. } => {
                self.phase = Phase::Ending { kill: from_now(KILL_AGAIN_MS) };
                &[GroupSignal::Kill]
            }
        }
    }
}

fn send_signals(group: &ProcessGroup, signals: &[GroupSignal]) {
    signals.iter().for_each(|signal| group.signal(*signal));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch() -> Watch {
        Watch { phase: Phase::Going { until: from_now(1000) }, stopped: None, grace_ms: 200 }
    }

    async fn millis_until_due(watch: &Watch) -> Option<u128> {
        let before = now();
        let wait = tokio::time::timeout(Duration::from_secs(3600), watch.due()).await;
        wait.ok().map(|()| (now() - before).as_millis())
    }

    #[tokio::test(start_paused = true)]
    async fn the_clock_stands_still_with_the_program() {
        let mut watch = watch();
        tokio::time::advance(Duration::from_millis(400)).await;
        assert_eq!(watch.heed(DriverSignal::Pause), [GroupSignal::Stop]);
        assert_eq!(millis_until_due(&watch).await, None);
        assert_eq!(watch.heed(DriverSignal::Pause), []);
        assert_eq!(watch.heed(DriverSignal::Go), [GroupSignal::Continue]);
        assert_eq!(millis_until_due(&watch).await, Some(600));
        assert_eq!(
            (watch.act(), watch.stopped),
            (&[GroupSignal::Terminate, GroupSignal::Continue][..], Some(Stopped::TimedOut))
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_does_not_end_is_killed_after_its_grace() {
        let mut watch = watch();
        watch.heed(DriverSignal::Pause);
        assert_eq!(watch.heed(DriverSignal::End), [GroupSignal::Terminate, GroupSignal::Continue]);
        assert!(!watch.can_be_told());
        assert_eq!(millis_until_due(&watch).await, Some(200));
        assert_eq!(watch.act(), [GroupSignal::Kill]);
        assert_eq!(millis_until_due(&watch).await, Some(100));
        assert_eq!((watch.act(), watch.stopped), (&[GroupSignal::Kill][..], Some(Stopped::Told)));
    }
}
