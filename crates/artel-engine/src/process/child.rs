//! A process that was started, as the rest of the engine holds it: its streams, its end, its signals. Dropping it kills
//! it. Knows nothing of the launcher but its commands.

use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};

use super::exit::Exit;
use super::owner::Command;
use super::request::GroupSignal;
use super::wire::Rest;
use crate::metrics::Raised;

/// A running process. Its parts can be taken and used apart; the group is what keeps it alive.
#[derive(Debug)]
pub struct ChildProcess {
    /// Its process number, which is also that of its group.
    pub pid: i32,
    /// Where it reads from. Dropping it is the end of its input.
    pub stdin: pipe::Sender,
    /// What it writes.
    pub stdout: pipe::Receiver,
    /// What it writes about itself.
    pub stderr: pipe::Receiver,
    /// The process and all its descendants.
    pub group: ProcessGroup,
}

/// A process and its descendants. Dropping it kills them.
#[derive(Debug)]
pub struct ProcessGroup {
    id: u64,
    commands: mpsc::UnboundedSender<Command>,
    end: End,
    _alive: Raised,
}

/// How the first process of a group ended, and whether any other is left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) exit: Exit,
    pub(super) rest: Rest,
}

impl Ended {
    /// The launcher is gone, and took the group with it.
    pub(super) fn lost() -> Self {
        Self { exit: Exit::lost(), rest: Rest::Gone }
    }
}

#[derive(Debug)]
enum End {
    Awaited(oneshot::Receiver<Ended>),
    Known(Ended),
}

impl ProcessGroup {
    pub(super) fn new(
        id: u64,
        commands: mpsc::UnboundedSender<Command>,
        exit: oneshot::Receiver<Ended>,
        alive: Raised,
    ) -> Self {
        Self { id, commands, end: End::Awaited(exit), _alive: alive }
    }

    /// Waits until the first process of the group has ended; its descendants may still run. May be called again, and
    /// dropped while it waits.
    pub async fn exited(&mut self) -> Exit {
        let ended = match &mut self.end {
            End::Known(ended) => return ended.exit,
            End::Awaited(exit) => exit.await.unwrap_or_else(|_| Ended::lost()),
        };
        self.end = End::Known(ended);
        ended.exit
    }

    /// Signals the whole group. A group that is gone is not an error.
    pub fn signal(&self, signal: GroupSignal) {
        self.send(Command::Signal { id: self.id, signal });
    }

    /// Kills what is left of the group and waits until nothing is.
    pub async fn release(self) {
        if self.is_gone() {
            return;
        }
        let (done, gone) = oneshot::channel();
        self.send(Command::Release { id: self.id, done: Some(done) });
        // The launcher's own death ends the wait too.
        let _ = gone.await;
    }

    /// Says whether nothing is left of the group, as far as is known here.
    fn is_gone(&self) -> bool {
        match &self.end {
            End::Awaited(_) => false,
            End::Known(ended) => match ended.rest {
                Rest::Gone => true,
                Rest::Left => false,
            },
        }
    }

    /// The owner only ends when every sender is gone, and this is one.
    fn send(&self, command: Command) {
        let _ = self.commands.send(command);
    }
}

impl Drop for ProcessGroup {
    /// A second release, after `release`, finds nothing and does nothing.
    fn drop(&mut self) {
        if !self.is_gone() {
            self.send(Command::Release { id: self.id, done: None });
        }
    }
}
