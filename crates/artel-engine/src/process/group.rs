//! One process group of the launcher: its leader, what is watched, how it ends. As long as a group may be signalled, one of
//! its processes stays unreaped, so that its number cannot come to mean another group. Knows nothing of the socket.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::adopt::{self, Reap};
use super::cgroup::Cell;
use super::clock::now;
use super::exit::{Exit, ExitStatus, Limit, LimitReached};
use super::machine::Launched;
use super::request::{GroupSignal, ProcessLimits, RunAs, Sandbox, SpawnRequest};
use super::supervisor::Supervisor;
use super::user::ActingAs;
use super::watchdog::Watch;
use super::wire::Rest;

/// A killed group that cannot be killed, as it waits for a disk that does not answer, is given up after this time.
const LINGER_MS_MAX: u64 = 5000;

/// A process group.
pub(super) struct Group {
    leader: Pid,
    /// Open while the leader runs.
    ended: Option<OwnedFd>,
    /// Whether nothing can leave the group.
    together: bool,
    run_as: RunAs,
    limits: ProcessLimits,
    limit: Option<LimitReached>,
    /// Where the kernel bounds it, when it does; goes with the group.
    cell: Option<Cell>,
    /// Answers its calls; goes with the group.
    supervisor: Option<Supervisor>,
    pub(super) state: GroupState,
}

/// How a group stands.
pub(super) enum GroupState {
    /// The leader runs.
    Running(Box<Watch>),
    /// The leader has ended; it or others of the group are kept, unreaped.
    Ended,
    /// Killed and to be forgotten; the leader has not ended yet.
    Leaving,
    /// The leader has ended, others of the group are still dying; all are reaped as they do.
    Lingering { since: Instant },
}

/// A process that was handed to the launcher when its parent ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stray {
    pub(super) pid: i32,
    pub(super) group: i32,
}

impl Group {
    /// Takes charge of a process that was just started; `filtered` says whether the sandbox can refuse system calls.
    pub(super) fn started(
        now: Instant,
        Launched { started, cell, supervisor }: Launched,
        request: &SpawnRequest,
        filtered: bool,
    ) -> Self {
        let folders: Vec<PathBuf> = match &request.sandbox {
            Sandbox::Off => Vec::new(),
            Sandbox::On(profile) => profile.write.iter().map(PathBuf::from).collect(),
        };
        Self {
            leader: Pid::from_raw(started.pid).expect("a process that was made has a number"),
            ended: Some(started.ended),
            together: filtered && matches!(request.sandbox, Sandbox::On(_)),
            run_as: request.run_as,
            limits: request.limits,
            limit: None,
            cell,
            supervisor,
            state: GroupState::Running(Box::new(Watch::begin(now, request.limits, folders))),
        }
    }

    /// Returns the number of the leader and of the group.
    pub(super) fn pid(&self) -> i32 {
        self.leader.as_raw_nonzero().get()
    }

    /// Answers one of its system calls that waits; says whether there is what answers them.
    pub(super) fn answer_call(&self) -> bool {
        let _acting = ActingAs::begin(self.run_as);
        self.supervisor.as_ref().map(Supervisor::answer).is_some()
    }

    /// The last process that could ask is gone.
    pub(super) fn end_supervision(&mut self) {
        self.supervisor = None;
    }

    /// Returns whether nothing can leave the group.
    pub(super) fn keeps_together(&self) -> bool {
        self.together
    }

    /// Returns whether the leader has ended and the group waits to be released.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.state, GroupState::Ended)
    }

    /// Returns whether the number is only taken while others of the group are dying.
    pub(super) fn is_lingering(&self) -> bool {
        matches!(self.state, GroupState::Lingering { .. })
    }

    /// Signals the whole group, as long as its number is its own.
    pub(super) fn signal(&self, signal: GroupSignal) {
        let signal = match signal {
            GroupSignal::Terminate => Signal::TERM,
            GroupSignal::Kill => Signal::KILL,
            GroupSignal::Stop => Signal::STOP,
            GroupSignal::Continue => Signal::CONT,
        };
        match &self.state {
            GroupState::Running(_) | GroupState::Ended | GroupState::Leaving => {
                let _ = kill_process_group(self.leader, signal);
                // Also reaches what has left the group.
                if let Some(cell) = self.cell.as_ref().filter(|_| signal == Signal::KILL) {
                    cell.kill();
                }
            }
            GroupState::Lingering { .. } => {}
        }
    }

    /// Returns how the leader has ended, and whether that was all of the group.
    pub(super) fn note_exit(&mut self, now: Instant) -> Option<(Exit, Rest)> {
        let reap = if self.together { Reap::Now } else { Reap::Later };
        let mut exit = adopt::take_exit(self.pid(), reap)?;
        self.ended = None;
        exit.limit = self.limit.or_else(|| self.limit_behind(&exit));
        if self.together && !adopt::has_group(self.pid()) {
            return Some((exit, Rest::Gone));
        }
        self.state = match self.state {
            GroupState::Running(_) | GroupState::Ended => GroupState::Ended,
            GroupState::Leaving | GroupState::Lingering { .. } => GroupState::Lingering { since: now },
        };
        Some((exit, Rest::Left))
    }

    /// Kills what is left of the group; from here on it only has to be gone.
    pub(super) fn release(&mut self, now: Instant) {
        self.signal(GroupSignal::Kill);
        match self.state {
            GroupState::Running(_) => self.state = GroupState::Leaving,
            GroupState::Ended => self.state = GroupState::Lingering { since: now },
            GroupState::Leaving | GroupState::Lingering { .. } => {}
        }
    }

    /// Returns whether nothing is left of a released group.
    pub(super) fn is_gone(&self, now: Instant) -> bool {
        match self.state {
            GroupState::Running(_) | GroupState::Ended | GroupState::Leaving => false,
            GroupState::Lingering { since } => {
                adopt::reap_group(self.pid());
                let empty = test_kill_process_group(self.leader) == Err(rustix::io::Errno::SRCH);
                empty || now.duration_since(since) > Duration::from_millis(LINGER_MS_MAX)
            }
        }
    }

    /// Looks at what the group uses, and kills it when it is too much.
    pub(super) fn look(&mut self, strays: &[Stray]) {
        let leader = self.pid();
        let GroupState::Running(watch) = &mut self.state else { return };
        let own = strays.iter().filter(|stray| stray.group == leader).map(|stray| stray.pid);
        let roots = own.chain([leader]).collect();
        let _acting = ActingAs::begin(self.run_as);
        if let Some(reached) = watch.look(roots, now) {
            self.limit.get_or_insert(reached);
            self.signal(GroupSignal::Kill);
        }
    }

    /// Returns the limit that the kernel has ended the leader for.
    fn limit_behind(&self, exit: &Exit) -> Option<LimitReached> {
        let cpu_ms = exit.usage.user_ms + exit.usage.system_ms;
        let cpu = LimitReached { limit: Limit::Cpu, allowed: self.limits.cpu_s };
        match exit.status {
            ExitStatus::Signal(libc::SIGXCPU) => Some(cpu),
            ExitStatus::Signal(libc::SIGKILL) if cpu_ms >= self.limits.cpu_s.saturating_mul(1000) => {
                Some(cpu)
            }
            ExitStatus::Signal(libc::SIGKILL) if self.cell.as_ref().is_some_and(Cell::ran_out_of_memory) => {
                Some(LimitReached { limit: Limit::Memory, allowed: self.limits.memory_bytes })
            }
            ExitStatus::Signal(libc::SIGXFSZ) => {
                Some(LimitReached { limit: Limit::File, allowed: self.limits.file_bytes })
            }
            ExitStatus::Signal(_) | ExitStatus::Code(_) | ExitStatus::Lost => None,
        }
    }
}
