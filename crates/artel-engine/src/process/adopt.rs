//! What the launcher asks of the kernel about itself and its children: where its socket is, who has ended, who was left
//! to it. Knows nothing of groups and orders.

use std::io;

use rustix::process::{Pid, Resource, Rlimit, Signal, WaitIdOptions, WaitOptions};

use super::exit::{Exit, ExitStatus, Usage};
use super::group::Stray;
use super::tree;
use super::wire::Socket;

/// The priority of the launcher where it may raise it: it must get a turn even when a fork bomb takes all of them.
const NICE: i32 = -15;
/// Rounds of killing strays before the launcher goes on with its work.
const KILL_ROUNDS_MAX: usize = 1000;

/// Moves the socket away from standard input, and puts nothing there and on standard output instead, so that every
/// descriptor that a child gets is above them.
pub(super) fn socket_from_stdin() -> io::Result<Socket> {
    let stdin = std::io::stdin();
    rustix::net::sockopt::socket_type(&stdin)?;
    let socket = rustix::io::fcntl_dupfd_cloexec(&stdin, 3)?;
    let nothing = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok(Socket::from(socket))
}

/// Raises the launcher's priority where it may, and returns the one that it had: that of its children. A child takes it on
/// just before its program, as the launcher stands still until then.
pub(super) fn raise_priority() -> i32 {
    let own = rustix::process::getpriority_process(None).unwrap_or(0);
    let _ = rustix::process::setpriority_process(None, NICE.min(own));
    own
}

/// Lets the launcher have as many open files as it may: each process that runs takes one.
pub(super) fn raise_open_files() {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let _ = rustix::process::setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Whether a child that has ended is reaped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Reap {
    /// It is, and its number is free.
    Now,
    /// It is kept, and with it its number.
    Later,
}

/// Returns how a child has ended; `None` while it runs.
#[expect(unsafe_code, reason = "only the system call itself also tells what the child has used")]
pub(super) fn take_exit(pid: i32, reap: Reap) -> Option<Exit> {
    // SAFETY: both structures are plain numbers, for which zero is a value.
    let (mut info, mut usage): (libc::siginfo_t, libc::rusage) = unsafe { std::mem::zeroed() };
    let keep = match reap {
        Reap::Now => 0,
        Reap::Later => libc::WNOWAIT,
    };
    let options = libc::WEXITED | libc::WNOHANG | keep;
    // SAFETY: the pointers are to live structures that the call fills.
    let answer =
        unsafe { libc::syscall(libc::SYS_waitid, libc::P_PID, pid, &raw mut info, options, &raw mut usage) };
    // SAFETY: after a wait the structure holds the fields of a child's signal.
    let (ended, status) = unsafe { (info.si_pid(), info.si_status()) };
    if answer != 0 || ended != pid {
        return None;
    }
    let status = match info.si_code {
        libc::CLD_EXITED => ExitStatus::Code(status),
        _ => ExitStatus::Signal(status),
    };
    let max_rss_kib = u64::try_from(usage.ru_maxrss).unwrap_or(0);
    let usage =
        Usage { user_ms: milliseconds(usage.ru_utime), system_ms: milliseconds(usage.ru_stime), max_rss_kib };
    Some(Exit { status, usage, limit: None })
}

fn milliseconds(time: libc::timeval) -> u64 {
    u64::try_from(time.tv_sec * 1000 + time.tv_usec / 1000).unwrap_or(0)
}

/// Reaps a child that has ended.
pub(super) fn reap(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = rustix::process::waitid(rustix::process::WaitId::Pid(pid), WaitIdOptions::EXITED);
    }
}

/// Returns whether the launcher has a child in a group, running or ended. When the leader is reaped this is whether the
/// group exists: what is left of it was handed to the launcher, or descends from what was.
pub(super) fn has_group(group: i32) -> bool {
    let Some(group) = Pid::from_raw(group) else { return false };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    rustix::process::waitid(rustix::process::WaitId::Pgid(Some(group)), options).is_ok()
}

/// Reaps the children of a group that have ended.
pub(super) fn reap_group(group: i32) {
    let Some(group) = Pid::from_raw(group) else { return };
    while let Ok(Some(_)) = rustix::process::waitpgid(group, WaitOptions::NOHANG) {}
}

/// Reaps what was left to the launcher and has ended; returns what still runs. Neither `leaders` nor the members of the
/// groups `held` are touched: they keep the number of their group.
pub(super) fn reap_strays(leaders: &[i32], held: &[i32]) -> Vec<Stray> {
    let strays = tree::own_children().into_iter().filter(|pid| !leaders.contains(pid));
    let strays = strays.filter_map(|pid| Some(Stray { pid, group: tree::group_of(pid)? }));
    strays.filter(|stray| !held.contains(&stray.group) && !is_reaped(stray.pid)).collect()
}

fn is_reaped(pid: i32) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    let Some(pid) = Pid::from_raw(pid) else { return true };
    matches!(rustix::process::waitid(rustix::process::WaitId::Pid(pid), options), Ok(Some(_)) | Err(_))
}

/// Kills what was left to the launcher and is in none of the groups that are kept, and what that leaves behind in turn.
pub(super) fn kill_strays(kept: &[i32]) {
    for _ in 0..KILL_ROUNDS_MAX {
        let strays = reap_strays(kept, kept);
        if strays.is_empty() {
            return;
        }
        for stray in &strays {
            kill(stray.pid);
        }
        // The children of a process are handed over before its end is told, so the next round sees them.
        for stray in &strays {
            reap(stray.pid);
        }
    }
}

/// Kills groups, and then whatever is left to the launcher, until it has no child.
pub(super) fn kill_everything(groups: impl Iterator<Item = i32>) {
    for group in groups.filter_map(Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
    loop {
        for child in tree::own_children() {
            kill(child);
        }
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

fn kill(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}
