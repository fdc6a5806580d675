//! Processes as `/proc` shows them: who descends from whom, and what they use together. Only reads.

use std::fs;

/// What some processes and their descendants use together.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct TreeUsage {
    /// The processes.
    pub(super) pids: Vec<i32>,
    /// Processes and threads.
    pub(super) tasks: u64,
    /// Memory of their own; what several of them share is counted once for each.
    pub(super) memory_bytes: u64,
    /// Processor time, with that of descendants that have ended.
    pub(super) cpu_ms: u64,
}

/// Returns the children of the calling process, which must have one thread only.
pub(super) fn own_children() -> Vec<i32> {
    read_pids("/proc/thread-self/children")
}

/// Measures processes and their descendants, and stops as soon as there are more than `tasks_max` tasks.
pub(super) fn measure(roots: Vec<i32>, tasks_max: u64) -> TreeUsage {
    let mut usage = TreeUsage::default();
    let mut waiting = roots;
    while let Some(pid) = waiting.pop() {
        let Some(process) = Process::read(pid) else { continue };
        usage.pids.push(pid);
        usage.tasks += process.threads;
        usage.cpu_ms += process.cpu_ms;
        usage.memory_bytes += memory_bytes(pid);
        if usage.tasks > tasks_max {
            break;
        }
        waiting.extend(children(pid, process.threads));
    }
    usage
}

/// Returns the memory of processes where what is shared is counted once, divided among those who share it. Slow. What a
/// process shares is counted as its own when it does not let itself be looked at.
pub(super) fn proportional_memory_bytes(pids: &[i32]) -> u64 {
    let bytes = |pid: &i32| match fs::read_to_string(format!("/proc/{pid}/smaps_rollup")) {
        Ok(text) => {
            let parts = ["Pss_Anon:", "Pss_Shmem:", "SwapPss:"];
            parts.iter().map(|name| kib_after(&text, name)).sum::<u64>() * 1024
        }
        Err(_) => memory_bytes(*pid),
    };
    pids.iter().map(bytes).sum()
}

/// Returns whether a process is gone, or has ended and is not reaped.
pub(super) fn has_ended(pid: i32) -> bool {
    Process::read(pid).is_none_or(|process| process.has_ended)
}

/// Returns the parent of a process; `None` when it is gone or has none.
pub(super) fn parent_of(pid: i32) -> Option<i32> {
    Process::read(pid).map(|process| process.parent).filter(|parent| *parent > 0)
}

/// Returns the process group of a process; `None` when it is gone.
pub(super) fn group_of(pid: i32) -> Option<i32> {
    Process::read(pid).map(|process| process.group)
}

/// What `/proc/<pid>/stat` says.
struct Process {
    has_ended: bool,
    parent: i32,
    group: i32,
    threads: u64,
    cpu_ms: u64,
}

impl Process {
    fn read(pid: i32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Fields are counted after the name, which stands in parentheses and may hold anything.
    fn parse(text: &str) -> Option<Self> {
        let fields: Vec<&str> = text[text.rfind(')')? + 1..].split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        let ticks = number(11)? + number(12)? + number(13)? + number(14)?;
        Some(Self {
            has_ended: matches!(*fields.first()?, "Z" | "X"),
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            threads: number(17)?,
            cpu_ms: ticks * 1000 / ticks_per_second(),
        })
    }
}

#[expect(unsafe_code, reason = "the kernel tells this constant only through the C library")]
fn ticks_per_second() -> u64 {
    // SAFETY: takes a number and answers one.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).unwrap_or(100).max(1)
}

fn memory_bytes(pid: i32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    ["RssAnon:", "RssShmem:", "VmSwap:"].iter().map(|name| kib_after(&text, name)).sum::<u64>() * 1024
}

fn kib_after(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_ascii_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Children are listed with the thread that made them.
fn children(pid: i32, threads: u64) -> Vec<i32> {
    if threads == 1 {
        return read_pids(&format!("/proc/{pid}/task/{pid}/children"));
    }
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.flat_map(|task| read_pids(&task.path().join("children").to_string_lossy())).collect()
}

fn read_pids(path: &str) -> Vec<i32> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_may_have_any_name() {
        let text = "42 (a) b (c)) S 1 17 1 0 -1 4194304 1 2 3 4 150 50 7 3 20 0 9 0 123 456 789";
        let process = Process::parse(text).unwrap();
        assert_eq!((process.parent, process.group, process.threads), (1, 17, 9));
        assert_eq!(process.cpu_ms, 210 * 1000 / ticks_per_second());
        assert!(Process::parse("42 (a").is_none());
    }

    #[test]
    fn memory_is_what_a_process_does_not_share_with_files() {
        let text = "Name:\tx\nVmRSS:\t 100 kB\nRssAnon:\t      52 kB\nRssFile:\t 40 kB\nRssShmem:\t   8 kB\n";
        assert_eq!(kib_after(text, "RssAnon:") + kib_after(text, "RssShmem:"), 60);
        assert_eq!(kib_after(text, "Pss_Anon:"), 0);
    }

    #[test]
    fn this_process_can_be_measured() {
        let own = std::process::id() as i32;
        let usage = measure(vec![own], u64::MAX);
        assert!(usage.pids.contains(&own));
        assert!(usage.tasks >= 1 && usage.memory_bytes > 0);
        assert!(proportional_memory_bytes(&[own]) > 0);
        assert_eq!(measure(vec![own], 0).pids, [own]);
        assert!(group_of(own).is_some());
        assert_eq!(measure(vec![i32::MAX], 1), TreeUsage::default());
    }
}
