//! Finds and ends processes that outlived both artel and its launcher: killed at the same instant, they can end nothing.
//!
//! Every process of a data folder carries a mark: its limit of POSIX message queues, which the sandbox refuses anyway.
//! Descendants inherit it, it is not in memory where a program could overwrite it, and the filter of system calls keeps a
//! sandboxed process from changing it.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Resource, Signal, getrlimit, pidfd_open, pidfd_send_signal};

use super::serve::LAUNCHER_ARGUMENT;
use super::tree;

/// Marks are below the limit that Linux gives to every user, so that every user can set them.
const MARKS: u64 = 800_000;
/// Rounds of looking for processes, as those that are found may have made others meanwhile.
const ROUNDS_MAX: usize = 100;
/// Seconds that a killed process may take to end; one that waits for a disk may take longer.
const END_S_MAX: i64 = 1;
/// Ancestors that are looked at.
const ANCESTORS_MAX: usize = 1000;

/// What the processes of one data folder have in common.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ProcessMark(u64);

impl ProcessMark {
    /// Returns the mark of the processes of an owner's data folder: the part before the dot names the folder.
    pub fn of_owner(owner: &str) -> Self {
        let folder = owner.split('.').next().unwrap_or(owner);
        // FNV-1a: the same in every version of artel.
        let hash = folder.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        Self(1 + hash % (MARKS - 1))
    }

    pub(super) fn value(self) -> u64 {
        self.0
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        text.parse().ok().filter(|value| (1..MARKS).contains(value)).map(Self)
    }
}

/// Ends processes with this mark that no launcher is in charge of, and returns how many. The caller knows that an owner of
/// the data folder is gone; processes of other owners that live are left alone.
pub fn end_orphans(mark: ProcessMark) -> usize {
    // Where no process can have been given the mark, it says nothing.
    if getrlimit(Resource::Msgqueue).maximum.is_some_and(|maximum| maximum < mark.0) {
        return 0;
    }
    let mut ended = 0;
    for _ in 0..ROUNDS_MAX {
        let orphans: Vec<i32> =
            pids().into_iter().filter(|pid| has_mark(*pid, mark) && is_orphan(*pid, mark)).collect();
        if orphans.is_empty() {
            break;
        }
        // Their end is waited for, so that the next round sees what they made last.
        let killed: Vec<OwnedFd> = orphans.iter().filter_map(|pid| kill(*pid, mark)).collect();
        ended += killed.iter().filter(|process| has_ended(process)).count();
    }
    ended
}

fn pids() -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn has_mark(pid: i32, mark: ProcessMark) -> bool {
    if tree::has_ended(pid) {
        return false;
    }
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap_or_default();
    mark_in(&limits) == Some(mark)
}

fn mark_in(limits: &str) -> Option<ProcessMark> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max msgqueue size"))?;
    let mut values = line.split_ascii_whitespace();
    let (soft, hard) = (values.next()?, values.next()?);
    ProcessMark::parse(hard).filter(|_| soft == hard)
}

/// Says whether the nearest ancestor without the mark is no launcher. A process cannot lose its mark, so that no process
/// of a script can pass for that ancestor.
fn is_orphan(pid: i32, mark: ProcessMark) -> bool {
    let mut current = pid;
    for _ in 0..ANCESTORS_MAX {
        // A process that has ended is none.
        let Some(parent) = tree::parent_of(current) else { return false };
        if !has_mark(parent, mark) {
            return !is_launcher(parent);
        }
        current = parent;
    }
    false
}

fn is_launcher(pid: i32) -> bool {
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    arguments.split(|byte| *byte == 0).nth(1) == Some(LAUNCHER_ARGUMENT.as_bytes())
}

/// Kills a process, unless its number has come to mean another one.
fn kill(pid: i32, mark: ProcessMark) -> Option<OwnedFd> {
    let process = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
    let killed = has_mark(pid, mark) && pidfd_send_signal(&process, Signal::KILL).is_ok();
    killed.then_some(process)
}

/// Waits for the end of a process that was killed, and returns whether it came.
fn has_ended(process: &OwnedFd) -> bool {
    let mut events = [PollFd::new(process, PollFlags::IN)];
    poll(&mut events, Some(&Timespec { tv_sec: END_S_MAX, tv_nsec: 0 })).is_ok_and(|count| count == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_of_one_folder_share_a_mark() {
        let one = ProcessMark::of_owner("0123456789ab.f00");
        assert_eq!(one, ProcessMark::of_owner("0123456789ab.ba5"));
        assert_ne!(one, ProcessMark::of_owner("0123456789ac.f00"));
        assert_eq!(ProcessMark::parse(&one.value().to_string()), Some(one));
        for text in ["0", "800000", "819200", "unlimited", ""] {
            assert_eq!(ProcessMark::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_mark_is_read_as_the_kernel_writes_it() {
        let limits = |soft: &str, hard: &str| {
            format!(
                "Max pending signals       1      2      signals\nMax msgqueue size         {soft}   {hard}   bytes\n"
            )
        };
        assert_eq!(mark_in(&limits("4242", "4242")), Some(ProcessMark(4242)));
        assert_eq!(mark_in(&limits("4242", "819200")), None);
        assert_eq!(mark_in(""), None);
    }

    #[test]
    fn nothing_is_ended_that_has_no_mark() {
        assert_eq!(end_orphans(ProcessMark(799_999)), 0);
    }
}
